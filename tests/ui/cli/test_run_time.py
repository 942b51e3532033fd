"""How long a run may take: one option of every command that runs requests against a server."""

import pytest

from prompt_debugger.core.pipeline import RUN_S
from prompt_debugger.ui.cli.main import build_parser
from prompt_debugger.ui.cli.target_options import target_from_options

COMMANDS = {"run": ["run", "x"], "ui": ["ui"], "shrink": ["shrink", "x"]}


def target(name, *options):
    arguments = [*COMMANDS[name], "--endpoint", "http://127.0.0.1:9/v1", *options]
    return target_from_options(build_parser().parse_args(arguments))


@pytest.mark.parametrize("name", COMMANDS)
def test_a_run_has_the_time_that_is_given_to_it(name):
    assert (target(name).run_s, target(name, "--run-time", "7.5").run_s) == (RUN_S, 7.5)


@pytest.mark.parametrize("text", ["0", "-1", "inf", "nan", "soon"])
def test_what_is_not_a_time_is_refused(text, capsys):
    with pytest.raises(SystemExit):
        target("run", "--run-time", text)

    assert "--run-time" in capsys.readouterr().err
