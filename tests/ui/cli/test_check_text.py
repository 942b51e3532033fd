"""What `check` prints for people."""

from prompt_debugger.core.tools.check import Change
from prompt_debugger.ui.cli.check_text import check_to_terminal
from tests.core.tools.check.checks import STREAMS_WRONG, WRONG, check_of


def test_the_command_the_reasons_and_the_matrix():
    text = check_to_terminal(check_of(cells={"two-calls": WRONG, "types": STREAMS_WRONG}))

    lines = text.splitlines()
    assert lines[0] == "ours: WORKS, WITH LIMITS with vLLM 0.32.0 (an approximate vocabulary)"
    assert "  vllm serve MODEL --enable-auto-tool-choice --tool-call-parser hermes" in lines
    assert "  It fails for `types`: streamed otherwise." in lines
    assert "  hermes  + + + - + ~ + + + + + + + + + + +  <- recommended" in lines
    assert "since the lock" not in text


def test_changes_are_reported_and_what_is_worse_is_marked():
    text = check_to_terminal(check_of(), [Change("It broke.", True), Change("It moved.", False)])

    assert "  worse   It broke.\n          It moved.\n" in text
    assert "nothing has changed" in check_to_terminal(check_of(), ())
