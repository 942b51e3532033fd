"""The commands that start a server with what passed, one for each server software whose record knows how.

Flags of an engine whose parsers were asked rest on answers that came back. Those of others are names out of the records
of family and server, and say so.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from prompt_debugger.core.complete import (
    ENGINES,
    PARSER_NAMES,
    ParserNames,
    Proof,
    StartCommand,
    StartWith,
    parser_names_of,
)
from prompt_debugger.core.formats import TABLES
from prompt_debugger.core.tools.check.judge import Cell
from prompt_debugger.core.tools.check.plugin_fallback import PLUGIN_FILE
from prompt_debugger.core.tools.check.recommend import needs_reasoning
from prompt_debugger.core.tools.check.run import Check
from prompt_debugger.core.tools.plugin.write import PARSER_NAME


def serve_commands(check: Check) -> dict[str, StartCommand]:
    """Return by `kind` a command for each server software, those first whose parsers were asked.

    There is none where nothing is known to read the model's calls; the recommended engine's comes first.
    """
    made = ((kind, one.start(given)) for kind, one in ENGINES.items() if one.start and (given := _given(check, kind)))
    found = {kind: one for kind, one in made if one is not None}
    return dict(sorted(found.items(), key=lambda item: (not item[1].is_tried, item[0] != check.engine)))


@dataclass(frozen=True, slots=True)
class PluginCommands:
    """From our own reader to a server that uses it, each a command to copy.

    Attributes:
        write: Writes the plugin.
        check: Checks it as any parser.
        serve: Starts vLLM with it.
    """

    write: str
    check: str
    serve: str


def plugin_commands(check: Check) -> PluginCommands | None:
    """Return how our own reader is served as a plugin; `None` where it reads no more than vLLM's parsers."""
    way = check.recommendation.plugin_fallback
    if way is None or not way.write_command:
        return None
    source, _, revision = _source(check).partition("@")
    serve = ["vllm", "serve", source, *(["--revision", revision] if revision else []), "--enable-auto-tool-choice"]
    serve += ["--tool-parser-plugin", PLUGIN_FILE, "--tool-call-parser", PARSER_NAME]
    if needs_reasoning(check.ideals):
        serve += ["--reasoning-parser-plugin", PLUGIN_FILE, "--reasoning-parser", PARSER_NAME]
    file = check.model.template_file
    own = [] if file is None else ["--chat-template", file]
    named = [] if check.model.folder is None and check.model.server is None else [check.model.name]
    again = ["prompt-debugger", "check", *named, *own, "--parser-file", PLUGIN_FILE]
    return PluginCommands(shlex.join(way.write_command), shlex.join(again), shlex.join([*serve, *own]))


def _given(check: Check, kind: str) -> StartWith | None:
    """Return how a kind of server is started; `None` where no parser reads the calls."""
    source, _, revision = _source(check).partition("@")
    is_tried = kind in check.asked
    asked = check.asked.get(kind if is_tried else "vllm")
    parser = None if asked is None else asked.recommendation.tool_parser
    if asked is None or parser is None:
        return None
    chosen, row = asked.recommendation, asked.row
    names = ParserNames((parser,), _own(chosen.reasoning_parser)) if is_tried else _names(check, parser, kind)
    with_calls = {ideal.answer.name for ideal in check.ideals if ideal.answer.calls}
    with_reasoning = {ideal.answer.name for ideal in check.ideals if ideal.answer.reasoning is not None}
    has_reasoning = any(ideal.answer.reasoning is not None and ideal.is_whole for ideal in check.ideals)
    return StartWith(
        source,
        parser,
        chosen.reasoning_parser,
        tool_name=_like(names.tools, parser),
        reasoning_name=_like(names.reasonings, chosen.reasoning_parser) if has_reasoning or is_tried else None,
        family=check.family,
        revision=revision,
        template_file=check.model.template_file,
        parser_file=check.parser_file,
        tool_proof=_proof(row, with_calls),
        reasoning_proof=_proof(row, with_reasoning),
        is_tried=is_tried,
        release=asked.release,
    )


def _own(parser: str | None) -> tuple[str, ...]:
    return () if parser is None else (parser,)


def _names(check: Check, parser: str, kind: str) -> ParserNames:
    """Return what a kind of server calls the family's parsers."""
    family = check.family or ""
    if parser not in TABLES.tool_parsers.get(family, ()):
        return ParserNames()  # unless a parser made for the family read its calls, the family is a guess
    return parser_names_of(kind, family, check.checkpoint) if PARSER_NAMES[kind] else ParserNames()


def _proof(row: Mapping[str, Cell], named: set[str]) -> Proof:
    return Proof(
        passed=tuple(name for name, cell in row.items() if name in named and cell.is_passed),
        failed=tuple(name for name, cell in row.items() if name in named and not cell.is_passed),
        usable=sum(cell.is_usable for name, cell in row.items() if name in named),
    )


def _like(names: Sequence[str], parser: str | None) -> str | None:
    """Return the name that means the same as vLLM's, else the first; `None` of none."""
    alike: Iterator[str] = (
        name for name in names if parser is not None and _letters_and_digits(name) == _letters_and_digits(parser)
    )
    return next(alike, next(iter(names), None))


def _letters_and_digits(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


def _source(check: Check) -> str:
    """Return what a server is started with: the model's own name, or a word in its place."""
    model = check.model
    if model.server is not None:
        return model.server.model_root or model.server.model or "MODEL"
    return model.name if model.folder is not None else "MODEL"
