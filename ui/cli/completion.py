"""Print what a shell needs to complete this program's commands and options: bash, zsh or fish."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

from prompt_debugger.ui.cli.output import OK, print_text

_PROGRAM = "prompt-debugger"


class _Option(NamedTuple):
    names: tuple[str, ...]
    choices: tuple[str, ...]
    takes_value: bool
    summary: str


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "shell", choices=tuple(_WRITERS), help="shell to write the completion for; docs/agents.md says where it goes"
    )
    parser.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    print_text(write_completion(options.whole_parser, options.shell))
    return OK


def write_completion(parser: argparse.ArgumentParser, shell: str) -> str:
    """Return the completion of a parser's commands for a shell."""
    return _WRITERS[shell](dict(_commands(parser)))


def _commands(parser: argparse.ArgumentParser) -> Iterator[tuple[str, tuple[str, list[_Option]]]]:
    """Yield each command with its summary and options."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, command in action.choices.items():
                yield name, (command.description or "", [*_options(command)])


def _options(command: argparse.ArgumentParser) -> Iterator[_Option]:
    for action in command._actions:
        choices = tuple(str(one) for one in action.choices or ())
        summary = " ".join((action.help or "").replace("%%", "%").split())
        if action.option_strings and action.help is not argparse.SUPPRESS:
            yield _Option(tuple(action.option_strings), choices, action.nargs != 0, summary)
        elif choices:
            yield _Option((), choices, takes_value=True, summary=summary)


def _bash(commands: Mapping[str, tuple[str, list[_Option]]]) -> str:
    cases, values = [], []
    for name, (_, options) in commands.items():
        words = " ".join(word for option in options for word in (option.names or option.choices))
        cases.append(f"    {name}) words={shlex.quote(words)} ;;")
        for option in options:
            if option.choices and option.names:
                spelled = "|".join(f"{name}:{one}" for one in option.names)
                values.append(f"    {spelled}) words={shlex.quote(' '.join(option.choices))} ;;")
    return f"""_prompt_debugger() {{
  local current="${{COMP_WORDS[COMP_CWORD]}}" before="${{COMP_WORDS[COMP_CWORD-1]}}"
  local command="${{COMP_WORDS[1]}}" words=""
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W {shlex.quote(" ".join(commands))} -- "$current"))
    return
  fi
  case "$command" in
{chr(10).join(cases)}
  esac
  case "$command:$before" in
{chr(10).join(values)}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}}
complete -o default -F _prompt_debugger {_PROGRAM}
"""


def _zsh(commands: Mapping[str, tuple[str, list[_Option]]]) -> str:
    """Return the body of the function that zsh loads with its first use; the file is named `_prompt-debugger`."""
    cases, values = [], []
    for name, (_, options) in commands.items():
        spelled = _zsh_words((word, option.summary) for option in options for word in option.names)
        places = _zsh_words((one, "") for option in options if not option.names for one in option.choices)
        cases.append(f"  {name}) options=({spelled}) offered=({places}) ;;")
        values += [
            f"  {name}:{word}) options=() offered=({_zsh_words((one, '') for one in option.choices)}) ;;"
            for option in options
            for word in option.names
            if option.choices
        ]
    named = _zsh_words((name, summary) for name, (summary, _) in commands.items())
    return f"""#compdef {_PROGRAM}
local -a options offered
if (( CURRENT == 2 )); then
  offered=({named})
  _describe command offered
  return
fi
case $words[2] in
{chr(10).join(cases)}
esac
case "$words[2]:$words[CURRENT-1]" in
{chr(10).join(values)}
esac
if [[ $words[CURRENT] == -* ]]; then
  _describe -o option options
elif (( $#offered )); then
  _describe value offered
else
  _files
fi
"""


def _zsh_words(reported: Iterable[tuple[str, str]]) -> str:
    escaped = ((word.replace(":", "\\:"), summary) for word, summary in reported)
    return " ".join(shlex.quote(f"{word}:{summary}" if summary else word) for word, summary in escaped)


def _fish(commands: Mapping[str, tuple[str, list[_Option]]]) -> str:
    head = f"complete -c {_PROGRAM}"
    lines = [f"{head} -n __fish_use_subcommand -f"]  # no files where a command is expected
    for name, (summary, options) in commands.items():
        lines.append(f"{head} -n __fish_use_subcommand -a {name} -d {_fish_text(summary)}")
        seen = f"-n '__fish_seen_subcommand_from {name}'"
        for option in options:
            spelled = " ".join(
                f"-l {one.removeprefix('--')}" if one.startswith("--") else f"-s {one.removeprefix('-')}"
                for one in option.names
            )
            values = f" -x -a {_fish_text(' '.join(option.choices))}" if option.choices else ""
            takes = " -r" if option.takes_value and not option.choices else ""
            lines.append(f"{head} {seen} {spelled}{takes}{values} -d {_fish_text(option.summary)}".replace("  ", " "))
    return "\n".join(lines) + "\n"


def _fish_text(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


_WRITERS: Mapping[str, Callable[[Mapping[str, tuple[str, list[_Option]]]], str]] = {
    "bash": _bash,
    "zsh": _zsh,
    "fish": _fish,
}
