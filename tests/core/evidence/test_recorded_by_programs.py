"""What programs record of healthy runs: agents' events, transcripts and trajectories, and their traces."""

import asyncio
import json

import pytest

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.evidence import read_evidence, show_evidence
from prompt_debugger.core.evidence.errors.copied import error_of_text


def codes_of(text):
    trace = asyncio.run(show_evidence(read_evidence(text)))
    return {finding.code for finding in trace.findings if finding.severity.value != "note"}


def error_in(text):
    try:
        found = read_evidence(text).error
    except RequestError:
        return None
    return None if found is None else found.message


REQUIRED = "Required parameter of `write` command, with the text of the file."
FAILED = "ERROR: Nothing was replaced: `old` is missing in the file, and the parameter `new` is required."


@pytest.mark.parametrize(
    "value",
    [
        {"id": 4, "observation": "edit", "content": FAILED, "extras": {"path": "/a"}},
        {"id": 0, "action": "system", "args": {"toolbox": [{"function": {"name": "w", "description": REQUIRED}}]}},
        {
            "details": {"generated_tokens": 10, "seed": None},
            "generated_text": "Error: could not connect to the server.",
        },
    ],
    ids=["what a tool printed", "a definition", "what a model wrote"],
)
def test_an_error_that_no_server_reported_is_none(value):
    assert error_in(json.dumps(value)) is None


def test_an_error_in_the_text_of_an_unknown_object_is_still_read():
    body = {"kind": "job", "lines": [{"text": "Completion failed: the chat completion request got 429 Rate limit"}]}

    assert error_in(json.dumps(body)) is not None


TURNS = """\
user: Hi! I want my money back for order 5.
assistant: I will look it up.
tool: Error: payment method should be either the first one or a gift card
user: {"street": "442 Hill Drive", "zip": "92125"}
assistant: Then I use the first one.
"""


def test_an_error_of_a_tool_in_a_transcript_is_not_the_servers():
    assert error_in(TURNS) is None
    assert error_in(f"{TURNS}\nBadRequestError: Error code: 400 - {{'error': {{'message': 'no such model x'}}}}\n")


def test_a_models_judgement_of_its_user_is_no_error():
    words = (
        "Error, not enough was given. The user's aim is to compute a height. The user has named a speed and no "
        "required parameter for gravity, so the request of the user cannot be resolved with this tool call."
    )

    assert error_of_text(words) is None
    assert error_of_text("Error: the prompt is too long. The user asked for 9000 tokens of context_length 8192.")


def test_a_line_that_raises_in_a_models_code_is_no_error():
    text = (
        "Call it so:\n\n```python\nif not x:\n    raise ValueError('Missing required parameters')\n```\n\nThat is all."
    )

    assert error_in(text) is None


def test_a_note_to_the_reader_of_a_page_is_no_error():
    note = "> [!TIP]\n> You must have `x` installed: run `pip install 'x[openai]'` if the model is missing."
    page = f"Use the client with any model of the chat completions API.\n\n{note}\n"

    assert error_in(page) is None
    assert error_in(f"{page}\nopenai.BadRequestError: Error code: 400 - {{'error': {{'message': 'no model x'}}}}\n")


def test_the_level_of_an_error_is_not_cut_in_half():
    found = error_of_text("ERROR: No model is loaded on this server for the chat completion request.")

    assert not found.refusal.message.startswith("OR:")


def call(call_id, name="read"):
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": '{"path": "a"}'}}


def observed(call_id):
    ids = {"tool_call_ids": [call_id]} if call_id else {}
    return {"role": "tool", "content": "12 lines", "agent": "main", "message_type": "observation", **ids}


def thought(call_id):
    own = {"thought": "I read it.", "action": "read a", "agent": "main", "message_type": "action"}
    return {"role": "assistant", "content": "I read it.", "tool_calls": [call(call_id)], **own}


def trajectory(*ids):
    steps = [one for call_id, back in ids for one in (thought(call_id), observed(back))]
    return json.dumps({"messages": [{"role": "user", "content": "Mend it."}, *steps, {"role": "user", "content": "?"}]})


def test_the_results_of_a_trajectory_name_their_calls_in_a_list():
    assert codes_of(trajectory(("a", "a"), ("b", "b"))) == set()
    assert "PD106" in codes_of(trajectory(("a", "a"), ("b", "c")))


PARTS = [
    {"role": "user", "parts": [{"type": "text", "content": "A joke, please."}]},
    {
        "role": "assistant",
        "parts": [{"type": "tool_call", "id": "a", "name": "joke", "arguments": {"topic": "tea"}}],
    },
    {"role": "user", "parts": [{"type": "tool_call_response", "id": "a", "name": "joke", "result": "Ha."}]},
]


@pytest.mark.parametrize("key", ["input", "messages", None])
def test_parts_of_telemetry_are_messages(key):
    text = json.dumps(PARTS if key is None else {key: PARTS})

    evidence = read_evidence(text)

    asked = evidence.request.body["messages"]
    assert [one["role"] for one in asked] == ["user", "assistant", "tool"]
    assert asked[0]["content"] == "A joke, please."
    assert asked[1]["tool_calls"][0]["function"] == {"name": "joke", "arguments": '{"topic": "tea"}'}
    assert codes_of(text) == set()


def test_calls_that_langchain_keeps_aside_are_calls_of_the_history():
    def history(result_id):
        aside = {"role": "assistant", "content": "", "additional_kwargs": {"tool_calls": [call("a")], "refusal": None}}
        return json.dumps([{"role": "user", "content": "Read."}, aside, observed_plain(result_id)])

    def observed_plain(result_id):
        return {"role": "tool", "tool_call_id": result_id, "content": "12 lines"}

    assert codes_of(history("a")) == set()
    assert "PD106" in codes_of(history("b"))


def test_what_tgi_generates_is_a_raw_output():
    evidence = read_evidence(json.dumps({"generated_text": "<think>Hm", "details": {"finish_reason": "length"}}))

    assert (evidence.raw, evidence.raw_reason or evidence.finish_reason) == ("<think>Hm", "length")


async def test_a_limit_of_the_account_is_no_limit_of_the_context():
    words = (
        "This request would exceed your organization's rate limit of 9,000,000 prompt bytes per hour. Please reduce "
        "the prompt length, or try again later."
    )

    trace = await show_evidence(read_evidence(json.dumps({"type": "error", "error": {"message": words}})))

    assert "rate limit" in trace.findings[0].title
    near = {"error": {"message": "The prompt is too long: reduce the length of the messages to 8192 tokens."}}
    assert "context" in (await show_evidence(read_evidence(json.dumps(near)))).findings[0].title
