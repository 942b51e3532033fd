"""Consoles of AutoGen's AgentChat: each section is an event, and the model's last one is the answer."""

from __future__ import annotations

import pytest

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.evidence import read_evidence
from tests.attacks.growth import grows_linearly
from tests.core.evidence.pasted import shown

ASKED = "---------- TextMessage (user) ----------\nWhat is the weather in Oslo?\n"
MEMORY = (
    "---------- MemoryQueryEvent (helper) ----------\n[MemoryContent(content='x', mime_type=<Mime.TEXT: 'text'>)]\n"
)
RESULT = (
    "---------- ToolCallExecutionEvent (helper) ----------\n"
    "[FunctionExecutionResult(content='3 °C', name='get_weather', call_id='call_1', is_error=False)]\n"
)


def called(arguments: str) -> str:
    call = f"[FunctionCall(id='call_1', arguments='{arguments}', name='get_weather')]"
    return f"---------- ToolCallRequestEvent (helper) ----------\n{call}\n[Prompt tokens: 71, Completion tokens: 18]\n"


def test_calls_and_results_are_a_history_and_the_last_text_is_the_answer() -> None:
    said = "---------- TextMessage (helper) ----------\nIt is 3 °C.\n"
    trace = shown(f"{ASKED}{MEMORY}{called('{}')}{RESULT}{said}".replace("{}", '{"city": "Oslo"}'))

    assert [one["role"] for one in trace.request.messages] == ["user", "assistant", "tool"]
    assert trace.chat is not None
    assert trace.chat.message["content"] == "It is 3 °C."
    assert trace.findings == ()


def test_a_call_that_ends_the_console_is_the_answer() -> None:
    trace = shown(ASKED + called('{"city": "Oslo"'))

    assert trace.chat is not None
    assert "get_weather" in trace.findings[0].title


@pytest.mark.parametrize(
    "text", ["---------- Notes (mine) ----------\nNothing.", "----- TextMessage -----\nHello there."]
)
def test_other_headings_are_no_console(text: str) -> None:
    with pytest.raises(RequestError):
        read_evidence(text)


def test_a_flood_of_sections_is_read_in_linear_time() -> None:
    assert grows_linearly(lambda size: read_evidence(ASKED * (size // len(ASKED))), first=4_000)
