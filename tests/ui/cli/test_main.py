"""What is said of arguments that no command knows."""

from __future__ import annotations

import pytest

from prompt_debugger.ui.cli.main import parse_arguments


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["capture", "--upstream", "http://x", "--output", "y"], "--output y; did you mean --out?\n"),
        (["ui", "--tokenzer=y"], "--tokenzer=y; did you mean --tokenizer?\n"),
        (["sessions", "a.json", "--zz"], "--zz\n"),
    ],
)
def test_an_unknown_option_is_answered_by_its_command_with_the_nearest_one(arguments, said, capsys):
    with pytest.raises(SystemExit):
        parse_arguments(arguments)

    assert f"{arguments[0]}: error: unrecognized arguments: {said}" in capsys.readouterr().err
