"""A check → the document of the outside contract: as in `core.report.wire`, fields are added and none is removed."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from prompt_debugger.core.base.types import JSON, SCHEMA_VERSION, Finding, JSONObject
from prompt_debugger.core.base.types.base import LEFT_OUT_IF_EMPTY, LEFT_OUT_IF_NONE
from prompt_debugger.core.complete import StartCommand
from prompt_debugger.core.complete.engines import Flag
from prompt_debugger.core.render.probes import ProbeAnswer
from prompt_debugger.core.report.wire import ErrorDocument, dump_document
from prompt_debugger.core.report.wire.documents import WIRE
from prompt_debugger.core.tools.check.agreement import Engines
from prompt_debugger.core.tools.check.answers import AnswerCall
from prompt_debugger.core.tools.check.changes import Change
from prompt_debugger.core.tools.check.ideal import Ideal
from prompt_debugger.core.tools.check.judge import Cell
from prompt_debugger.core.tools.check.model import CheckedModel
from prompt_debugger.core.tools.check.recommend import Recommendation
from prompt_debugger.core.tools.check.run import Check
from prompt_debugger.core.tools.check.serve import plugin_commands, serve_commands
from prompt_debugger.core.tools.check.smaller import Smaller


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandRecord:
    """What starts one engine.

    Attributes:
        engine: Which.
        command: To copy.
        tried: Whether this engine's own parsers were asked.
        flags: Its flags, each with its reason.
        note: What is to be known of it.
    """

    engine: str
    command: str
    tried: bool
    flags: tuple[Flag, ...]
    note: str | None = dataclasses.field(default=None, metadata=LEFT_OUT_IF_NONE)


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginRecord:
    """The way out where parsers fall short: this program's own reader as a parser plugin for vLLM.

    Attributes:
        family: Format that it reads.
        read: Answers that it reads as they went in, whole; the plugin itself was not run.
        asked: Answers with calls.
        write: The command that writes the plugin.
        check: The command that checks it as any parser, whole and streamed.
        serve: The command that starts vLLM with it.
    """

    family: str
    read: int
    asked: int
    write: str
    check: str
    serve: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RecommendedRecord:
    """What to start a server with.

    Attributes:
        tool_parser: Name for `--tool-call-parser`; `null` if none reads the calls.
        reasoning_parser: Name for `--reasoning-parser`; `null` if none is needed or none works.
        command: The command that starts the server; `null` if nothing works.
        reasons: Why, a sentence each.
        verdict: How well it works; `unknown` if no parser was asked (`--template-only`), or none reads the calls, but
            they had an approximate vocabulary, which some cannot read their markers with.
        commands: One per engine that may serve the model and whose command is known; that of `engine` is `command`.
        plugin: This program's own reader, where it reads more of the answers than vLLM's parsers; else `null`.
        engine: Whose parsers they are.
    """

    tool_parser: str | None
    reasoning_parser: str | None
    command: str | None
    reasons: tuple[str, ...]
    verdict: Literal["works", "works-with-limits", "unknown", "nothing-works"]
    commands: tuple[CommandRecord, ...] = ()
    plugin: PluginRecord | None = None
    engine: str = "vllm"


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerRecord:
    """An answer, and what the model would have written to give it.

    Attributes:
        name: Stable name.
        about: What it tries.
        raw: The ideal raw output; "" where the template refuses.
        prompt_tail: End of the prompt in front of it.
        calls: The calls that must come back.
        content: The text that must come back; `null` for none.
        reasoning: The reasoning that must come back; `null` for none.
        lost: What the template does not print of it: `calls`, `content`, `reasoning`.
        refusal: Why the template gives no output.
        template_kwargs: Template kwargs of the request.
        has_own_closer: True if the end of reasoning in `raw` is ours, because the template leaves it out.
    """

    name: str
    about: str
    raw: str
    prompt_tail: str
    calls: tuple[AnswerCall, ...]
    content: str | None
    reasoning: str | None
    lost: tuple[str, ...] = dataclasses.field(default=(), metadata=LEFT_OUT_IF_EMPTY)
    refusal: str | None = dataclasses.field(default=None, metadata=LEFT_OUT_IF_NONE)
    template_kwargs: Mapping[str, JSON] = dataclasses.field(default_factory=dict)
    has_own_closer: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SmallestRecord:
    """The smallest answer found with which the same parser has the same problem.

    Attributes:
        raw: Its ideal output.
        prompt_tail: End of the prompt in front of it.
        calls: The call in it.
        problem: What comes back changed.
        split: Deltas of the smallest chunking that streams differently.
    """

    raw: str
    prompt_tail: str
    calls: tuple[AnswerCall, ...]
    problem: str
    split: tuple[str, ...] = dataclasses.field(default=(), metadata=LEFT_OUT_IF_EMPTY)


@dataclass(frozen=True, slots=True, kw_only=True)
class CellRecord:
    """One parser on one answer.

    Attributes:
        whole: Whether the whole output comes back as the answer that went in.
        streamed: Whether every chunking streams to the same; `null` if that was not tried.
        problem: What comes back changed; `null` if nothing does.
        streamed_usual: Whether it streams right token by token, as servers usually do; `null` if that was not tried.
        remark: What is different and no fault.
        split: Deltas of the smallest chunking that streams differently.
        got: The message that came back, where there is a problem.
        smallest: Of a drawn answer, the smallest that fails alike.
    """

    whole: bool
    streamed: bool | None
    problem: str | None
    streamed_usual: bool | None
    remark: str | None = dataclasses.field(default=None, metadata=LEFT_OUT_IF_NONE)
    split: tuple[str, ...] = dataclasses.field(default=(), metadata=LEFT_OUT_IF_EMPTY)
    got: JSONObject | None = dataclasses.field(default=None, metadata=LEFT_OUT_IF_NONE)
    smallest: SmallestRecord | None = dataclasses.field(default=None, metadata=LEFT_OUT_IF_NONE)


@dataclass(frozen=True, slots=True, kw_only=True)
class ParserRecord:
    """One parser, or a pair of a tool parser and a reasoning parser.

    Attributes:
        passed: Answers that come back as they went in, whole and streamed.
        failed: Answers that do not.
        cells: Each answer, by name.
    """

    passed: int
    failed: int
    cells: Mapping[str, CellRecord]


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateRecord:
    """What the template supports.

    Attributes:
        supports: By name of the probe; a name that is not there could not be found out.
        probes: The same at length, by name.
        findings: What is wrong with it, worst first.
    """

    supports: Mapping[str, bool]
    probes: Mapping[str, ProbeAnswer] = dataclasses.field(default_factory=dict)
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedServerRecord:
    """The running server that was checked.

    Attributes:
        base_url: Its address.
        kind: Which server software.
        version: Its version, where it says.
        model: Model name that requests use.
        tool_parser: Name of its tool parser, where it says.
        reasoning_parser: Name of its reasoning parser, likewise.
        evidence: On what it rests which template and tokenizer it has, a sentence each.
    """

    base_url: str
    kind: str
    version: str | None
    model: str | None
    tool_parser: str | None
    reasoning_parser: str | None
    evidence: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckDocument:
    """What `check` prints: which parsers and flags a model's template works with.

    Attributes:
        schema_version: Raised if a meaning changes.
        model: What was checked.
        release: Version of the vLLM whose parsers were asked.
        family: Format that the model writes in; `null` if none is known.
        tokenizer: Whether the model's own vocabulary was used; without one, a stand-in.
        recommended: What to start a server with.
        tools: Tools that every request offered.
        answers: What was asked of the template.
        parsers: What parsers made of it, by name such as `vllm:hermes+qwen3`.
        template: What the template supports.
        engines: Whether transformers and an engine's own renderer give the same prompts.
        server: The running server, if MODEL is one.
        findings: What is wrong with template, engines and parsers, worst first.
        changes: What changed since the lock, or from the other model, what got worse first; with `--against`.
        error: Why there is no check.
    """

    __pydantic_config__ = WIRE

    schema_version: int = SCHEMA_VERSION
    model: str
    release: str
    family: str | None = None
    tokenizer: bool = False
    recommended: RecommendedRecord
    tools: tuple[JSONObject, ...] = ()
    answers: tuple[AnswerRecord, ...]
    parsers: Mapping[str, ParserRecord]
    template: TemplateRecord
    engines: Engines = dataclasses.field(default_factory=Engines)
    server: CheckedServerRecord | None = dataclasses.field(default=None, metadata=LEFT_OUT_IF_NONE)
    findings: tuple[Finding, ...] = ()
    changes: tuple[Change, ...] | None = dataclasses.field(default=None, metadata=LEFT_OUT_IF_NONE)
    error: ErrorDocument | None = None


def check_to_json(check: Check, changes: Sequence[Change] | None = None) -> JSONObject:
    """Return the `check` document of the contract; `changes` since a lock are `None` if it was compared with none."""
    chosen = check.recommendation
    document = CheckDocument(
        model=check.model.name,
        release=check.release,
        family=check.family,
        tokenizer=check.has_vocabulary,
        recommended=_recommended(check, check.engine, chosen),
        tools=check.tools,
        answers=tuple(map(_answer, check.ideals)),
        parsers={
            name: ParserRecord(
                passed=sum(cell.is_passed for cell in cells.values()),
                failed=sum(not cell.is_passed for cell in cells.values()),
                cells={answer: _cell(cell, check.smaller.get(name, {}).get(answer)) for answer, cell in cells.items()},
            )
            for name, cells in check.cells.items()
        },
        template=TemplateRecord(
            supports=dict(check.template.supports),
            probes={one.name: one for one in check.template.probes},
            findings=check.template.findings,
        ),
        engines=check.engines,
        server=_server(check.model),
        findings=check.findings,
        changes=None if changes is None else tuple(changes),
    )
    dumped = dump_document(document)
    if check.others and isinstance(engines := dumped["engines"], dict):
        own = {kind: dump_document(_recommended(check, kind, one.recommendation)) for kind, one in check.asked.items()}
        engines |= own
    return dumped


def _recommended(check: Check, kind: str, chosen: Recommendation) -> RecommendedRecord:
    commands = serve_commands(check)
    is_best = kind == check.engine
    return RecommendedRecord(
        tool_parser=chosen.tool_parser,
        reasoning_parser=chosen.reasoning_parser,
        command=commands[kind].command if kind in commands else None,
        reasons=chosen.reasons,
        verdict=chosen.verdict,
        commands=tuple(_command(name, one) for name, one in commands.items() if is_best or name == kind),
        plugin=_plugin(check) if is_best else None,
        engine=kind,
    )


def _command(kind: str, one: StartCommand) -> CommandRecord:
    return CommandRecord(
        engine=kind,
        command=one.command,
        tried=one.is_tried,
        flags=one.flags,
        note=one.note or None,
    )


def _plugin(check: Check) -> PluginRecord | None:
    way, commands = check.recommendation.plugin_fallback, plugin_commands(check)
    if way is None or way.family is None or commands is None:
        return None
    return PluginRecord(
        family=way.family,
        read=way.read,
        asked=way.asked,
        write=commands.write,
        check=commands.check,
        serve=commands.serve,
    )


def _server(model: CheckedModel) -> CheckedServerRecord | None:
    server = model.server
    if server is None:
        return None
    return CheckedServerRecord(
        base_url=server.base_url,
        kind=server.kind,
        version=server.version,
        model=server.model,
        tool_parser=server.tool_parser,
        reasoning_parser=server.reasoning_parser,
        evidence=model.evidence,
    )


def _answer(ideal: Ideal) -> AnswerRecord:
    return AnswerRecord(
        name=ideal.answer.name,
        about=ideal.answer.about,
        raw=ideal.raw,
        prompt_tail=ideal.prompt_tail,
        calls=ideal.answer.calls,
        content=ideal.answer.content,
        reasoning=ideal.answer.reasoning,
        lost=ideal.lost,
        refusal=None if ideal.refusal is None else ideal.refusal.message,
        template_kwargs=dict(ideal.form.kwargs),
        has_own_closer=ideal.has_own_closer,
    )


def _cell(cell: Cell, smaller: Smaller | None = None) -> CellRecord:
    outcome = cell.outcome
    got: JSONObject | None = None
    if outcome is not None and not cell.whole and outcome.error is None:
        got = {
            "reasoning": outcome.reasoning,
            "content": outcome.content,
            "tool_calls": [call.get("function") for call in outcome.tool_calls],
        }
    return CellRecord(
        whole=cell.whole,
        streamed=cell.streamed,
        problem=cell.problem,
        streamed_usual=cell.streamed_usual,
        remark=cell.remark,
        split=cell.split if cell.streamed is False else (),
        got=got,
        smallest=None
        if smaller is None
        else SmallestRecord(
            raw=smaller.ideal.raw,
            prompt_tail=smaller.ideal.prompt_tail,
            calls=smaller.ideal.answer.calls,
            problem=smaller.cell.problem or "",
            split=smaller.cell.split if smaller.cell.streamed is False else (),
        ),
    )
