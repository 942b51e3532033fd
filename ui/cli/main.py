"""Read the arguments, hand over to a command, turn errors into exit status 2."""

from __future__ import annotations

import argparse
import os
import platform
import sys
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from importlib.metadata import PackageNotFoundError, version

from prompt_debugger import __version__
from prompt_debugger.core.base.descriptors import raise_descriptor_limit
from prompt_debugger.core.complete import ENGINES
from prompt_debugger.ui.cli import (
    capture,
    check,
    completion,
    inspect,
    lab,
    mcp,
    page,
    parse,
    plugin,
    render,
    report,
    run,
    sessions,
    shrink,
    verify,
    watch,
)
from prompt_debugger.ui.cli.front import ask
from prompt_debugger.ui.cli.output import OK, print_text

_COMMANDS = {
    "ui": page,
    "render": render,
    "parse": parse,
    "run": run,
    "inspect": inspect,
    "verify": verify,
    "capture": capture,
    "watch": watch,
    "sessions": sessions,
    "check": check,
    "plugin": plugin,
    "report": report,
    "shrink": shrink,
    "mcp": mcp,
    "lab": lab,
    "completion": completion,
}
_TASKS = """
what do you want to do?
  a call vanished, an answer at hand     inspect answer.json --request request.json
  a call vanished, a server at hand      run request.json --endpoint http://localhost:8000/v1
  see the prompt of a request            render request.json --tokenizer org/model
  see the calls of a raw output          parse raw.txt --parser vllm:hermes
  which parser and flags for a model     check org/model
  is a server good enough                verify requests.jsonl --endpoint URL --fail-if 'dropped_rate > 0.5%%'
  see what an agent framework sends      capture --upstream http://localhost:8000/v1
  what makes the prefix cache break      sessions FILE
  try the fixes of a run                 run request.json --experiments
  report a fault to maintainers          shrink request.json; report out/trace.json --upstream-test vllm
  look at it in a browser                ui
  use it from a client of MCP            mcp

`COMMAND --help` lists the options of a command; docs/agents.md has it all on one page.
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the program with `argv`, by default that of the process, and return its exit status.

    Returns:
        The exit status.
    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    _open_closed_streams()
    if arguments == ["--version"]:
        print_text(versions())
        return OK
    options = parse_arguments(arguments)
    raise_descriptor_limit()
    return ask(options)


def _open_closed_streams() -> None:
    """Let what is printed go nowhere where the caller closed an output (`>&-`)."""
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w")  # noqa: PTH123, SIM115  # stays open
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: PTH123, SIM115


def parse_arguments(arguments: Sequence[str]) -> argparse.Namespace:
    """Return the options of a command line; one that names no command opens the page.

    Raises:
        SystemExit: An argument is unknown or missing, or help was asked for; argparse has printed why.
    """
    named = bool(arguments) and (not arguments[0].startswith("-") or arguments[0] in ("-h", "--help"))
    parser = build_parser()
    options, unknown = parser.parse_known_args([*arguments] if named else ["ui", *arguments])
    if unknown:
        command: argparse.ArgumentParser = options.command_parser
        command.error(f"unrecognized arguments: {' '.join(unknown)}{_suggestion(unknown, command)}")
    return options


def _suggestion(unknown: Sequence[str], command: argparse.ArgumentParser) -> str:
    """Return the option that an unknown one may have meant; "" where none is near."""
    known = [name for action in command._actions for name in action.option_strings]
    for name in unknown:
        near = get_close_matches(name.partition("=")[0], known, 1) if name.startswith("-") else []
        if near:
            return f"; did you mean {near[0]}?"
    return ""


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of all commands."""
    parser = argparse.ArgumentParser(
        prog="prompt-debugger",
        description="See what a chat request becomes: prompt, completion, message, and where something got lost.",
        epilog=_TASKS,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="store_true", help="print the versions that a bug report needs")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, command in _COMMANDS.items():
        summary = (command.__doc__ or "").splitlines()[0]
        own = commands.add_parser(name, help=summary, description=summary)
        command.add_arguments(own)
        own.set_defaults(command_parser=own)  # for what it does not know
    parser.set_defaults(whole_parser=parser)  # for `completion`
    return parser


_LIBRARIES = ("gradio", "transformers", "tokenizers", "httpx")


def versions() -> str:
    """Return the program's version on the first line, then those of what it runs on."""
    engines = (name for engine in ENGINES.values() for name in engine.distributions)
    lines = [
        f"prompt-debugger {__version__}",
        f"Python {sys.version.split()[0]} on {platform.system()} {platform.machine()}",
        *(f"{name} {found}" for name, found in _installed((*_LIBRARIES, *engines))),
    ]
    return "\n".join(lines) + "\n"


def _installed(names: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    for name in names:
        try:
            yield name, version(name)
        except PackageNotFoundError:
            continue
