"""Errors that a command printed below itself, pages of advice, and logs that are told by a line and not by a value."""

from __future__ import annotations

import pytest

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.evidence import read_evidence
from tests.core.evidence.pasted import shown

FENCE = "```"


def titles(text: str) -> str:
    return " ".join(finding.title for finding in shown(text).findings)


@pytest.mark.parametrize(
    "printed",
    [
        "error: invalid argument: -zz",
        "llama-server: error: unrecognized arguments: --zz",
        "error: unknown argument: --zz",
    ],
)
def test_an_error_that_a_command_printed_below_itself_is_of_the_command(printed: str) -> None:
    typed = "$ llama-server \\\n    -zz some/model \\\n    --port 8012"
    text = f"It does not start:\n\n{FENCE}\n{typed}\n{printed}\n{FENCE}\n"

    assert "has an option that it does not know" in titles(text)
    assert shown(text).server is not None


@pytest.mark.parametrize("printed", ["main: server is listening on 8012", "error: it is late", "no error: all is well"])
def test_what_else_a_command_prints_is_no_error_of_an_option(printed: str) -> None:
    assert "option" not in titles(f"{FENCE}\n$ llama-server -m a.gguf --port 8012\n{printed}\n{FENCE}\n")


def test_a_value_that_an_option_lacks_is_of_the_command() -> None:
    found = titles("I tried it:\n./small.llamafile --grammar\nerror: invalid parameter for argument: --grammar\n")

    assert "An option of the command" in found
    assert "value in the request" not in found


ADVICE = """\
Template errors explained
You send a chat request to your vLLM server and get:
KeyError: 'system' role not supported in chat template
The endpoint makes one text of the list of messages. If the template is incompatible with your messages, it fails.
How a template works
The text begins with <|start_header_id|>system<|end_header_id|> for one family and with <|im_start|> for another.
"""


def test_a_page_of_advice_reports_nothing() -> None:
    with pytest.raises(RequestError):
        read_evidence(ADVICE)


def test_the_same_error_that_a_person_got_is_one() -> None:
    report = ADVICE.replace("You send a chat request to your", "I sent a chat request to my").split("How a template")[0]

    assert "exclude each other" not in titles(report)


def test_a_log_s_sign_within_a_message_does_not_name_the_server() -> None:
    body = (
        '{"model": "m", "messages": [{"role": "user", "content": "[LM STUDIO SERVER] Server accepting connections"}]}'
    )
    log = 'srv    operator(): got exception: {"error":{"code":500,"message":"Jinja Exception: Conversation roles must '
    log += 'alternate user/assistant/user/assistant/...","type":"server_error"}}'

    evidence = read_evidence(f"The log:\n\n{FENCE}\n{log}\n{FENCE}\n\nWhat is sent:\n\n{FENCE}\n{body}\n{FENCE}\n")

    assert "LM Studio" not in evidence.words
    assert evidence.request is not None


def test_an_object_behind_a_stray_quotation_mark_is_read() -> None:
    answer = '{"id":"cmpl-1","object":"text_completion","model":"m","choices":[{"text":"The Moon is","index":0,'
    answer += '"finish_reason":"length"}]}'

    trace = shown(f'The answer is:\n"{answer}\n"\nWhy is it so short?\n')

    assert [finding.code for finding in trace.findings] == ["PD322"]


def test_blocks_of_thought_that_were_changed_are_named() -> None:
    error = '{"type":"error","error":{"type":"invalid_request_error","message":"messages.7.content.2: `thinking` or '
    error += (
        "`redacted_thinking` blocks in the latest assistant message cannot be modified. These blocks must remain as "
    )
    error += 'they were in the original response."}}'

    assert "exactly as they came" in " ".join(finding.fix for finding in shown(error).findings)


def test_backticks_that_a_program_has_apart_are_put_together() -> None:
    tick = '` + "`" + `'
    error = (
        f'{{"error": {{"message": "The {tick}reasoning_content{tick} in the thinking mode must be passed back to the '
    )
    error += 'API.", "type": "invalid_request_error", "param": null, "code": "invalid_request_error"}}'

    assert "The `reasoning_content` in the thinking mode" in titles(f"API error (400): {error}\n")


def test_an_answer_above_a_template_s_error_is_of_another_request() -> None:
    answer = (
        '{"choices": [{"index": 0, "finish_reason": "length", "message": {"role": "assistant", "content": "The Mo"}}]}'
    )
    error = 'Error rendering prompt with jinja template: "Unknown StringValue filter: safe".'

    found = {one.code: one for one in shown(f"Generated prediction: {answer}\n\nError: {error}\n").findings}

    assert {"PD221", "PD322"} <= {*found}
    assert found["PD322"].follows is None
    assert "max_tokens" in found["PD322"].fix
