"""What OpenAI's client for .NET prints of an error: status and field above a blank line, the words below it."""

from __future__ import annotations

import asyncio

import pytest

from prompt_debugger.core.evidence import gather_evidence, show_evidence
from prompt_debugger.core.evidence.errors.dotnet import error_of_dotnet
from tests.attacks.growth import grows_linearly

HEAD = "Unhandled exception. System.ClientModel.ClientResultException: "
STACK = (
    "   at OpenAI.ClientPipelineExtensions.ProcessMessage(ClientPipeline pipeline)\n   at Shop.Program.Main() in P.cs\n"
)
ORPHAN = (
    "HTTP 400 (invalid_request_error: )\nParameter: messages.[4].role\n\n"
    "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.\n"
)


def findings_of(text):
    return {one.code: one for one in asyncio.run(show_evidence(gather_evidence([text]))).findings}


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_the_words_below_the_field_are_the_error(line_end: str) -> None:
    found = findings_of((HEAD + ORPHAN + STACK).replace("\n", line_end))["PD100"]

    assert found.title.startswith("A tool result has no call before it")
    assert "`messages[4].role`" in found.detail
    assert "Parameter:" not in found.title


def test_a_field_that_is_not_named_is_no_hindrance() -> None:
    error = error_of_dotnet(f"{HEAD}HTTP 400 (api_error: )\n\nnimbus-3b does not support tools\n{STACK}")

    assert error is not None
    assert (error.status, error.field, error.message) == (400, None, "nimbus-3b does not support tools")


def test_the_quotation_marks_of_a_debugger_are_left_out() -> None:
    said = "'HTTP 400 (invalid_request_error: too_many)\nParameter: tools\n\nInvalid 'tools': array too long.'"
    error = error_of_dotnet(said)

    assert error is not None
    assert error.message == "Invalid 'tools': array too long."
    assert error.code == "too_many"


@pytest.mark.parametrize(
    "text",
    [
        "HTTP 400 (Bad Request)\n\nSee the log.",
        "HTTP 400 (invalid_request_error: )\n   at OpenAI.Chat.ChatClient.Run()",
    ],
)
def test_other_lines_with_a_status_are_not_this_form(text: str) -> None:
    assert error_of_dotnet(text) is None


def test_a_flood_is_read_in_linear_time() -> None:
    assert grows_linearly(lambda size: error_of_dotnet("HTTP 400 (a: b)\nParameter: x\n" * (size // 30)), first=2_000)
