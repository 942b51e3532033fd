"""Names, lists and samples of errors, daemons' logs and other data say nothing of a request; reports of them do."""

from __future__ import annotations

import pytest

from prompt_debugger.core.evidence import read_evidence
from prompt_debugger.core.evidence.evidence import Evidence
from prompt_debugger.core.evidence.no_errors.catalogues import is_catalogue
from prompt_debugger.core.evidence.no_errors.names import drop_headed, drop_listed_names, drop_names, has_come
from tests.attacks.growth import grows_linearly
from tests.core.evidence.pasted import findings

BODY = '{"error": {"message": "messages is required", "type": "invalid_request_error"}}'
ANSWER = '{"id": "x", "choices": [{"message": {"role": "assistant", "content": "Hi"}, "finish_reason": "stop"}]}'

SILENT = {
    "names that are caught": "Catch `RateLimitError` and `APITimeoutError` around the call, then sleep.\n",
    "a hierarchy in a sentence": "All errors derive from `OpenAIError`: `BadRequestError`, `RateLimitError`.\n",
    "a list with dashes": "Exceptions of the library\n\n- RateLimitError - raised at the limit\n"
    "- ContextWindowExceededError - raised when the prompt is too long\n",
    "a list with colons": "Exceptions:\n\n- RateLimitError: too many requests\n"
    "- InvalidToolCallError: the model named a tool that is absent\n",
    "a table": "| Exception | Parent | Raised |\n|---|---|---|\n| `ModelHTTPError` | `RunError` | on 4xx or 5xx |\n"
    "| `UsageLimitExceeded` | `RunError` | above the limit of requests |\n",
    "one that is raised when": "RateLimitError - raised when the provider limits the requests of an API key\n",
    "a status that is slept on": "It sleeps on `429 Too Many Requests` and on nothing else, and all is green.\n",
    "a status by design": 'The gateway answers "429 Too Many Requests" by design once a budget is used up.\n',
    "a status of a check": 'The health check returns "503 Service Unavailable" until the model is loaded, then 200.\n',
    "a limit": "# Rate limits\n\nA key may send 60 requests. Above that the API answers `429 Too Many Requests`.\n",
    "a heading": "### Error 400: Bad Request\n\nThe body is not valid JSON, or a field is absent. Validate it first.\n",
    "changes": '## 2.4.0\n\n- Fixed error "tool call arguments are not valid JSON" in streams\n'
    "- Fixed getting 400 when `tools` is empty\n- New option `retries`\n",
    "changes of users": 'Fixes\n - fixed users getting "No endpoints found that support tool use"\n'
    " - fixed error 500 in /v1/chat/completions with an empty list of tools\n",
    "commits": "Changed\nfix: getting a `RateLimitError` now waits\nfix: error when the model returned nothing\n",
    "a database": '2026-03-02 10:12:01.123 UTC [44] FATAL:  password authentication failed for user "app"\n',
    "a database that is full": "2026-03-02 10:12:01.123 UTC [44] FATAL:  sorry, too many clients already\n",
    "a worker": "[2026-03-02 10:12:01 +0000] [7] [CRITICAL] WORKER TIMEOUT (pid:12)\n",
    "a container": "Error response from daemon: manifest for shop/api:9.9 not found: manifest unknown\n",
    "a form's faults": '[{"code": "too_small", "path": ["email"], "message": "String must contain 1 character(s)"}]',
    "a cart's faults": 'ZodError: [\n  {"code": "invalid_type", "path": ["cart", 0, "price"], "message": "Expected '
    'number, received string"}\n]\n    at get error (/srv/shop/index.js:587:31)\n',
    "a sample for each status": f"## Responses\n\n**200 OK**\n\n```json\n{ANSWER}\n```\n\n**400 Bad Request**\n\n"
    f"```json\n{BODY}\n```\n",
    "a section of samples": f"Request:\n\n```json\n{ANSWER}\n```\n\nResponse:\n\n```json\n{ANSWER}\n```\n\n"
    f"## Errors\n\n```json\n{BODY}\n```\n",
    "an interface": f"openapi: 3.1.0\npaths:\n  /v1/chat/completions:\n    post:\n      responses:\n        '400':\n"
    f"          example: {BODY}\n",
    "a printed call": "{'name': 'get_weather', 'args': {'city': 'Graz'}}",
    "other data": '{"function": "sin", "args": [1]}',
    "a schema": '{"tool": "search", "parameters": {"type": "object", "properties": {"q": {"type": "string"}}}}',
}
REPORTED = {
    "a list of what came": "I get these at random:\n- RateLimitError: too many requests\n- APITimeoutError: no\n",
    "a list with bodies": "- BadRequestError: Error code: 400 - {'error': {'message': 'tools is empty'}}\n"
    "- RateLimitError: Error code: 429 - {'error': {'message': 'too many requests'}}\n",
    "a status alone": "429 Too Many Requests\n",
    "a status that came": "The chat fails in the evening. It prints `429 Too Many Requests` for each message.\n",
    "a status with a line": "Returned status 429: Too Many Requests for model m\n",
    "a heading with its error": "### Error 400: Bad Request\n\ntool_call_id of message 3 is unknown to the server\n",
    "a change and an error": "- Fixed the key\n- Added a proxy\n\nopenai.RateLimitError: rate limit reached\n",
    "a change that I got": "1. Fixed the key\n2. Added a proxy, and I am getting `429 Too Many Requests` again\n",
    "a daemon of an engine": "Mar 02 10:12:01 host systemd[1]: Started vllm.service.\nMar 02 10:12:03 host vllm[8]: "
    "ERROR: Authentication failed for model m: invalid API key\n",
    "a container of an engine": "Error response from daemon: manifest for vllm/vllm-openai:v99 not found: manifest "
    "unknown\n",
    "a request's faults": '[{"code": "invalid_type", "path": ["messages"], "message": "Required"}]',
    "a form's faults, by a server": 'API Error: 400 [{"code": "invalid_type", "path": ["metadata"], "message": '
    '"Expected object"}]\n',
    "one error with its status": f"**400 Bad Request**\n\n```json\n{BODY}\n```\n",
    "what a person got": f"I send\n\n**200 OK**\n\n```json\n{ANSWER}\n```\n\nand then\n\n**400 Bad Request**\n\n"
    f"```json\n{BODY}\n```\n",
}


@pytest.mark.parametrize("text", SILENT.values(), ids=SILENT)
async def test_what_only_names_errors_reports_none(text: str) -> None:
    assert await findings(text) == []


@pytest.mark.parametrize("text", REPORTED.values(), ids=REPORTED)
async def test_an_error_that_came_is_reported(text: str) -> None:
    assert [one[:5] for one in await findings(text)] == ["PD100"]


async def test_a_printed_copy_of_a_call_in_an_answer_is_named_so() -> None:
    content = "Tool call:\\n{'name': 'get_weather', 'args': {'city': 'Graz'}}"
    (found,) = await findings(ANSWER.replace("Hi", content))

    assert (
        found == "PD426 A tool call to `get_weather` is in content as a printed copy of a call that no server parses."
    )


def _read(text: str) -> Evidence:
    return read_evidence(text)


def test_an_address_alone_names_no_server() -> None:
    command = "curl http://127.0.0.1:1234/v1/chat/completions -d '{\"messages\": []}'\n"

    assert "lm-studio" not in repr(_read(f"{command}\n{ANSWER}").server)
    assert "lm-studio" in repr(_read(f"LM Studio 0.3.30:\n\n{command}\n{ANSWER}").server)


def test_straight_quotation_marks_are_called_single() -> None:
    call = "{'name': 'get_weather', 'args': {'city': 'Graz'}, 'id': 'call_1', 'type': 'tool_call'}"

    assert _read(call).notes == ('Single quotes were read as `"`, the only ones that JSON allows.',)


@pytest.mark.parametrize(
    "text",
    [
        "- aError: ",
        "- `a.bError` ",
        "| aError ",
        "| `aError` | x\n",
        "429 Too Many Requests ",
        "aError.",
        "## 400 Bad Request\nThe body ",
        "**200 OK**\n",
        "```\n",
        "Response ",
        "- fix: getting ",
        '"openapi": "3',
    ],
)
def test_long_texts_are_read_in_linear_time(text: str) -> None:
    def run(size: int) -> None:
        long = text * (size // len(text))
        drop_headed(drop_listed_names(drop_names(long)))
        is_catalogue("{" + long)
        has_come(long)

    assert grows_linearly(run, first=4_000)
