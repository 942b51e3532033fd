"""A check → the document of the outside contract."""

from __future__ import annotations

from collections.abc import Sequence

from prompt_debugger.core.base.types import JSONObject
from prompt_debugger.core.complete import StartCommand
from prompt_debugger.core.render.probes import ProbeAnswer
from prompt_debugger.core.report.wire import dump_document
from prompt_debugger.core.report.wire.check import (
    AnswerCallRecord,
    AnswerRecord,
    CellRecord,
    ChangeRecord,
    CheckDocument,
    CheckedServerRecord,
    CommandRecord,
    ConversationRecord,
    EnginesRecord,
    FlagRecord,
    ParserRecord,
    PluginRecord,
    ProbeRecord,
    RecommendedRecord,
    SmallestRecord,
    TemplateRecord,
)
from prompt_debugger.core.tools.check.agreement import Engines
from prompt_debugger.core.tools.check.changes import Change
from prompt_debugger.core.tools.check.ideal import Ideal
from prompt_debugger.core.tools.check.judge import Cell
from prompt_debugger.core.tools.check.model import CheckedModel
from prompt_debugger.core.tools.check.recommend import Recommendation
from prompt_debugger.core.tools.check.run import Check
from prompt_debugger.core.tools.check.serve import plugin_commands, serve_commands
from prompt_debugger.core.tools.check.smaller import Smaller


def check_to_json(check: Check, changes: Sequence[Change] | None = None) -> JSONObject:
    """Return the `check` document of the contract.

    Args:
        check: The check.
        changes: What changed since a lock; `None` if it was compared with none.
    """
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
            probes={one.name: _probe(one) for one in check.template.probes},
            findings=check.template.findings,
        ),
        engines=_engines(check.engines),
        server=_server(check.model),
        findings=check.findings,
        changes=None
        if changes is None
        else tuple(ChangeRecord(sentence=one.sentence, is_worse=one.is_worse) for one in changes),
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


def _engines(engines: Engines) -> EnginesRecord:
    rows = (
        ConversationRecord(
            name=one.name,
            about=one.about,
            request=one.request,
            agrees=one.agrees,
            causes=one.causes,
            transformers=one.transformers,
            engine=one.engine,
            refusals=dict(one.refusals),
            loss=one.loss or None,
        )
        for one in engines.conversations
    )
    return EnginesRecord(
        engine=engines.engine, skipped=engines.skipped or None, note=engines.note or None, conversations=tuple(rows)
    )


def _command(kind: str, one: StartCommand) -> CommandRecord:
    return CommandRecord(
        engine=kind,
        command=one.command,
        tried=one.is_tried,
        flags=tuple(
            FlagRecord(words=flag.words, reason=flag.reason, passed=flag.passed, failed=flag.failed)
            for flag in one.flags
        ),
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


def _probe(one: ProbeAnswer) -> ProbeRecord:
    return ProbeRecord(support=one.support.value, detail=one.detail, quote=one.quote, template_line=one.template_line)


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


def _calls(ideal: Ideal) -> tuple[AnswerCallRecord, ...]:
    return tuple(AnswerCallRecord(name=call.name, arguments=call.arguments) for call in ideal.answer.calls)


def _answer(ideal: Ideal) -> AnswerRecord:
    return AnswerRecord(
        name=ideal.answer.name,
        about=ideal.answer.about,
        raw=ideal.raw,
        prompt_tail=ideal.prompt_tail,
        calls=_calls(ideal),
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
            calls=_calls(smaller.ideal),
            problem=smaller.cell.problem or "",
            split=smaller.cell.split if smaller.cell.streamed is False else (),
        ),
    )
