"""A few lines of code, and pieces of a page, report no error; the same words from a program do."""

from __future__ import annotations

import pytest

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.evidence import read_evidence, show_evidence
from prompt_debugger.core.evidence.errors.spoken import spoken_error
from prompt_debugger.core.evidence.no_errors.snippets import is_snippet
from prompt_debugger.core.evidence.no_errors.wording import is_faq, is_of_page
from tests.attacks.growth import grows_linearly

CODE = (
    '    pytest.xfail(f"{provider} doesn\'t support tool calls yet")',
    '        error = TooLongError("Prompt length 90 is greater than max_seq_len 80")\n'
    "        data = Namespace(key=None)\n\n        async def collect(*args, **kwargs):\n            raise error",
    '      JSON.stringify({\n        status: "failed",\n        message: "The model went wrong",\n      }),',
    '        } catch (error) {\n          if (error.code === "ECONNREFUSED") {\n            console.warn(`No ollama`)',
    "export interface State {\n  error: Error | null;\n  model: string;\n}",
    "class Job(BaseModel):\n    model: str\n    status: Literal['queued', 'failed']\n    error: Error | None = None",
    '            logger.error("No answer from the model: %s", error)\n            return Response(\n'
    '                response=b\'{"error": "Service unavailable"}\',',
    'let pool = match kind {\n    // others\n    Kind::Model => {\n        bail!("`kind` is not supported")',
    "                name: {{ required \"Value 'model.name' must be defined\" .Values.model.name }}\n",
    "                if costs.of(\n                    user=key\n                ) > costs.limit(user=key):\n"
    '                    raise HTTPException(\n                        status_code=429, detail={"error": '
    '"budget of the model exceeded"}\n                    )',
    'f"""Chat template {chat_template} was unable to be loaded directly into guidance.\n'
    '    Use another for your model.""",\n    stacklevel=2,\n)\n\n# By default, the ChatML template is used.',
    "/**\n * The count of your prompt's tokens plus `max_tokens` cannot exceed the model's context length.\n */\n"
    "export type Request = {",
)
PAGES = (
    "Some errors of the model are retried by default, after a short wait, with exponential backoff:\n"
    "errors of the connection (for example, due to a problem of the network), 408 Request Timeout, 409 Conflict,\n"
    "429 Rate Limit, and >=500 Internal errors are all retried by default.\n",
    "By default, the gateway retries a model's request on the status codes `[429, 500, 502, 503, 504]`.",
    "When the model is out of reach, a subclass of `groq.APIConnectionError` is raised.",
    "Error codes of the model are as follows:\n\n| Code | Type |\n| --- | --- |\n| 400 | `BadRequestError` |\n"
    "| 401 | `AuthenticationError` |\n| 429 | `RateLimitError` |\n",
    "Every model has its rules. For instance, `max_tokens` is required for Anthropic and not for OpenAI.",
    "Failed attempts to call the model are rate-limited on two levels:\n\n* by address\n* by key\n",
    "This line is why the examples of an agent work: drop `raise_exceptions=True` there.",
    "## `Error executing tool <name>: <message>` and `Unknown tool: <name>`\n\nYou read a result of an agent's tool.",
    "# Invalid Model Index\n\nHere the index does not define a field, and the model's card is loaded without it.",
    '                "name": {\n  "description": "Whether the argument of the prompt must be provided.",\n "type": "x"',
    "1. Why does the model stop?\n   It has a limit.\n2. It says `insufficient quota`. What now?\n   Buy some.\n"
    "3. It says \"invalid character '<' looking for beginning of value\". Why?\n   A proxy answers.\n",
    "    # deployment_name is required by azure openai, model is required by openai.\n    deployment_name: a\n"
    "    model: b\n    question: ${inputs.q}\n",
    "- `acall`: Call the function in the chat. This is required to handle the `AsyncCall` output.\n",
    "# TODO: Add optional error handling to this method of the agent",
    "It answers `Hi! You've successfully authenticated, but this model does not provide shell access.` then.",
    '"args": {\n  "model": "m",\n  "steps": "50"\n  }\n},\n"env": {\n  "python": "3.12",\n',
    "- `model`: the id\n- optional: `temperature`, `functions`, `function_call`, `top_p`, `n`\n\n```json\n"
    '{"model": "m", "messages": [{"role": "user", "content": "Hello"}]}\n```\n',
    '    body:\n      string: \'data: {"id": "c", "choices": []}\n\n\n        data: [DONE]\n\n        \'\n',
    "[[autodoc]] InferenceTimeoutError",
    "CRITICAL: This tool MUST be called alone. Do NOT call it beside other tools in the same turn: the agent fails.",
    "Though it is listed, [this error](https://example.com/q/modulenotfounderror-no-module-named-imp) occurs with "
    "vertex ai on Python 3.12.",
)
REPORTED = (
    'HTTP/1.1 503 Service Unavailable\n\n{"error": "Service unavailable"}',
    "ERROR: Failed to call the model: connection refused",
    "openai.RateLimitError: Error code: 429 - {'error': {'message': 'Rate limit reached'}}",
    "The agent stops with `Unknown tool: get_weather` at once.",
    "2026-01-02 10:00:00 CRITICAL vllm: Failed to load the model: out of memory",
    "max_tokens is required for Anthropic and not for OpenAI.",
    "Error: insufficient quota",
)


async def _codes(text: str) -> list[str]:
    try:
        trace = await show_evidence(read_evidence(text))
    except RequestError:
        return []
    return [one.code for one in trace.findings]


@pytest.mark.parametrize("text", CODE)
async def test_code_reports_no_error(text: str) -> None:
    assert await _codes(text) == []


@pytest.mark.parametrize("text", PAGES)
async def test_a_piece_of_a_page_reports_no_error(text: str) -> None:
    assert await _codes(text) == []


@pytest.mark.parametrize("text", REPORTED)
async def test_words_of_a_program_are_an_error(text: str) -> None:
    assert [one for one in await _codes(text) if one in ("PD100", "PD445")]


@pytest.mark.parametrize(
    "text",
    [
        "ChatCompletion(id='a', choices=[])",
        '{"error": {"message": "x"}}',
        "response = client.create(a)\nError: 400",
        "# BadRequestError: no\nx = f(a)",
        'x = f(a)\nraise E("b")\n\n{"error": {"message": "model is required", "code": 400}}',
        "a: b\nc: d",
    ],
)
def test_what_a_program_printed_is_no_snippet(text: str) -> None:
    assert not is_snippet(text)


@pytest.mark.parametrize(
    "unit", ["a.b(", "x = ", "await ", "(", "error: Error | ", "# A ", "1. Why?\n", "if a: ", "word"]
)
def test_a_flood_is_read_in_linear_time(unit: str) -> None:
    def read(count: int) -> None:
        flood = unit * count
        is_snippet(flood), is_snippet(flood[:6_000]), is_of_page(flood), is_faq(flood)

    assert grows_linearly(read, first=2_000)


@pytest.mark.parametrize("unit", ["x1", "word", "# word", "A line, "])
def test_a_long_line_above_an_error_is_read_in_linear_time(unit: str) -> None:
    assert grows_linearly(lambda count: spoken_error(unit * count + "1\nError: no such thing"), first=2_000)


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        (
            "### What version of Acme is running?\n\n2\n\n### Which model were you using?\n\nA\n\n### What happened?\n",
            False,
        ),
        ("- What platform is your computer?\n- What issue are you seeing?\n- How can we reproduce the bug?\n", False),
        ("### What is a token limit?\n### Which key do I need?\n### Why is my model slow?\n", True),
        ("### What version is it?\n### Why does it say 429?\n### When is it back?\n### How long does it take?\n", True),
    ],
)
def test_the_questions_of_a_trackers_form_are_no_list_of_common_questions(text: str, is_one: bool) -> None:
    assert is_faq(text) is is_one


def test_an_error_below_the_questions_of_a_trackers_form_is_read() -> None:
    form = "### What version of A is running?\n\n2\n\n### Which model is it?\n\nA\n\n### What issue are you seeing?\n"
    error = "API Error: 400 {'error': {'message': 'tools[0].function.name: a name is required', 'code': 400}}"

    assert read_evidence(f"{form}\n```\n{error}\n```\n").error is not None


def test_questions_are_told_apart_in_linear_time() -> None:
    assert grows_linearly(lambda count: is_faq("## What a " + "b " * count + "?\n## " + "what " * count), first=2_000)
