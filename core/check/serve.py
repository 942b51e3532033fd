"""The commands that start a server with what passed: vLLM's, and SGLang's and llama.cpp's where the names are known.

vLLM's flags rest on answers that came back. SGLang and llama.cpp are not run here: their flags are names out of the
family's record and out of their documentation, and say so.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from prompt_debugger.core.check.judge import Cell
from prompt_debugger.core.check.recommend import needs_reasoning
from prompt_debugger.core.check.run import Check
from prompt_debugger.core.check.way_out import PLUGIN_FILE
from prompt_debugger.core.formats import TABLES
from prompt_debugger.core.plugin.write import PARSER_NAME

_NOT_RUN = "not tried here: check it with one request"


@dataclass(frozen=True, slots=True)
class Flag:
    """One flag of a command.

    Attributes:
        words: The flag and its value.
        reason: Why it is there, a sentence.
        passed: Answers that prove it; none for a flag that is not proved.
        failed: Answers that do not come back all the same.
    """

    words: tuple[str, ...]
    reason: str
    passed: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ServeCommand:
    """What starts one engine.

    Attributes:
        engine: Which, `kind` of its record in `core.complete.engines`.
        start: Program and model.
        flags: What comes behind.
        is_tried: Whether this engine's own parsers were asked.
        note: What is to be known of it; "" for nothing.
    """

    engine: str
    start: tuple[str, ...]
    flags: tuple[Flag, ...]
    is_tried: bool = False
    note: str = ""

    @property
    def command(self) -> str:
        """The command to copy."""
        return shlex.join([*self.start, *(word for flag in self.flags for word in flag.words)])


def serve_command(check: Check) -> str | None:
    """Return the command for vLLM; `None` if no parser reads the calls."""
    return next((one.command for one in serve_commands(check) if one.engine == "vllm"), None)


def serve_commands(check: Check) -> tuple[ServeCommand, ...]:
    """Return a command for each engine that may serve the model; none where nothing is known to read its calls."""
    return tuple(one for one in (_vllm(check), _sglang(check), _llama_cpp(check)) if one is not None)


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
    way = check.recommendation.way_out
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


def _vllm(check: Check) -> ServeCommand | None:
    chosen = check.recommendation
    if chosen.tool_parser is None:
        return None
    source, _, revision = _source(check).partition("@")
    row = check.cells.get(chosen.name or "", {})
    with_calls = {ideal.answer.name for ideal in check.ideals if ideal.answer.calls}
    flags = [Flag(("--revision", revision), "It is the revision that was checked.")] if revision else []
    flags.append(Flag(("--enable-auto-tool-choice",), "Without it vLLM refuses requests that let the model choose."))
    flags.append(_proved(("--tool-call-parser", chosen.tool_parser), row, with_calls, "Answers with calls"))
    if check.parser_file:
        flags.append(Flag(("--tool-parser-plugin", check.parser_file), "The parser is registered there."))
    if chosen.reasoning_parser is not None:
        with_reasoning = {ideal.answer.name for ideal in check.ideals if ideal.answer.reasoning is not None}
        words = ("--reasoning-parser", chosen.reasoning_parser)
        flags.append(_proved(words, row, with_reasoning, "Answers with reasoning"))
    if check.model.template_file is not None:
        flags.append(_own_template("--chat-template", check.model.template_file))
    return ServeCommand("vllm", ("vllm", "serve", source), tuple(flags), is_tried=True)


def _proved(words: tuple[str, ...], row: Mapping[str, Cell], named: set[str], what: str) -> Flag:
    passed = tuple(name for name, cell in row.items() if name in named and cell.is_passed)
    failed = tuple(name for name, cell in row.items() if name in named and not cell.is_passed)
    usable = sum(cell.is_usable for name, cell in row.items() if name in named)
    more = "" if not failed else f", {usable} streamed token by token"
    asked = len(row.keys() & named)
    return Flag(words, f"{what} that come back in every chunking: {len(passed)} of {asked}{more}.", passed, failed)


def _sglang(check: Check) -> ServeCommand | None:
    family, chosen = check.family or "", check.recommendation.tool_parser
    tool = _like(TABLES.sglang_tool_parsers.get(family, ()), chosen)
    if tool is None or chosen not in TABLES.tool_parsers.get(family, ()):
        return None  # unless a parser made for the family read its calls, the family is a guess
    source, _, revision = _source(check).partition("@")
    flags = [Flag(("--revision", revision), "It is the revision that was checked.")] if revision else []
    reason = f"SGLang's name for the calls of `{family}`, by its own table; {_NOT_RUN}."
    flags.append(Flag(("--tool-call-parser", tool), reason))
    known = TABLES.sglang_reasoning_parsers.get(family, ())
    has_reasoning = any(ideal.answer.reasoning is not None and ideal.is_whole for ideal in check.ideals)
    if has_reasoning and (reasoning := _like(known, check.recommendation.reasoning_parser)) is not None:
        flags.append(Flag(("--reasoning-parser", reasoning), f"SGLang's name for its reasoning, likewise {_NOT_RUN}."))
    if check.model.template_file is not None:
        flags.append(_own_template("--chat-template", check.model.template_file))
    note = "SGLang's parsers are its own; that vLLM's read an answer proves nothing for them."
    return ServeCommand(
        "sglang", ("python", "-m", "sglang.launch_server", "--model-path", source), tuple(flags), note=note
    )


def _llama_cpp(check: Check) -> ServeCommand | None:
    if check.recommendation.tool_parser is None:
        return None  # nothing is known to read the calls
    flags = [Flag(("--jinja",), "It renders with the template and reads calls by it; newer builds do so by default.")]
    if check.model.template_file is not None:
        flags.append(_own_template("--chat-template-file", check.model.template_file))
    note = f"llama.cpp chooses its parser by the template and has no flag for it; {_NOT_RUN}."
    return ServeCommand("llama.cpp", ("llama-server", "-m", "MODEL.gguf"), tuple(flags), note=note)


def _own_template(name: str, file: str) -> Flag:
    return Flag((name, file), "This file was checked, not the model's own template.")


def _like(names: Sequence[str], parser: str | None) -> str | None:
    """Return the name that means the same as vLLM's, else the first; `None` of none."""
    alike: Iterator[str] = (name for name in names if parser is not None and _squeezed(name) == _squeezed(parser))
    return next(alike, next(iter(names), None))


def _squeezed(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


def _source(check: Check) -> str:
    """Return what a server is started with: the model's own name, or a word in its place."""
    model = check.model
    if model.server is not None:
        return model.server.model_root or model.server.model or "MODEL"
    return model.name if model.folder is not None else "MODEL"
