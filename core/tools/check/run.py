"""The whole check, in order: answers → ideal outputs → parsers → what to start a server with."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from prompt_debugger.core.base.errors import EngineError, RequestError, shorten
from prompt_debugger.core.base.types import Finding, JSONObject, Severity, VllmOutcome
from prompt_debugger.core.complete import title_of
from prompt_debugger.core.formats import FORMATS, TABLES, Checkpoint, checkpoint_in
from prompt_debugger.core.parse.engines import (
    CHECKED,
    EngineLimits,
    VllmEngine,
    WheelEngine,
    bring_wheel,
    find_release,
    read_parser_name,
    write_parser_name,
)
from prompt_debugger.core.render.local import Renderer
from prompt_debugger.core.tools.check.agreement import Engines, compare_engines, engine_findings
from prompt_debugger.core.tools.check.answers import PLAIN_TOOLS, SIMPLEST_CALL, TOOLS, answers
from prompt_debugger.core.tools.check.engine_choice import Asked, best_engine, choice_sentence
from prompt_debugger.core.tools.check.ideal import Ideal, Writer
from prompt_debugger.core.tools.check.judge import Cell
from prompt_debugger.core.tools.check.markers import words_of, words_on_bare_tools, words_on_parts, words_on_refused
from prompt_debugger.core.tools.check.model import CheckedModel, as_served
from prompt_debugger.core.tools.check.own_renderer import words_on_renderer
from prompt_debugger.core.tools.check.plugin_fallback import plugin_fallback
from prompt_debugger.core.tools.check.recommend import (
    Ranking,
    Recommendation,
    family_of,
    needs_reasoning,
    reads_calls,
    recommend,
)
from prompt_debugger.core.tools.check.round_trip import Question, RoundTrip, reasoning_names, tool_names
from prompt_debugger.core.tools.check.served import ServerRenderer
from prompt_debugger.core.tools.check.smaller import Smaller, smaller_answers
from prompt_debugger.core.tools.check.taught import write_as_model
from prompt_debugger.core.tools.check.template import TemplateCheck, check_template

OnStep = Callable[[str], None]
_CONTROL_TOKEN = re.compile(
    r"<\|[^|<>\s]{1,60}\|?>|<[^|<>\s]{1,60}\|>|<｜[^<>]{1,60}｜>|\[/?[A-Z_]{3,40}\]|</?\w{2,30}:\w{2,30}>"
)
_HELPERS = 2  # half a gigabyte each; more than two bring little on the machines that this runs on
_LIMITS = EngineLimits(request_s=600.0, parser_s=20.0)  # of a check, everything waits for the slowest parser
_PAIRED_TOOLS, _PAIRED_REASONINGS = 2, 2
_ALONE = (
    "This vocabulary is used in place of the model's files, from which some parsers read their markers, so this does "
    "not show that none works: check the model's folder to be sure."
)


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the caller asks for.

    Attributes:
        tool_parsers: The only tool parsers to check; `None` for all.
        reasoning_parser: The only reasoning parser to check; `None` for all.
        is_thorough: Whether to try more answers and more chunkings.
        parser_file: Plugin file that the tool parsers come from; "" for none.
        release: vLLM that the engines must be; `None` for any.
    """

    tool_parsers: tuple[str, ...] | None = None
    reasoning_parser: str | None = None
    is_thorough: bool = False
    parser_file: str = ""
    release: str | None = None


@dataclass(frozen=True, slots=True)
class Check:
    """What a check found.

    Attributes:
        model: What was checked.
        release: Version of the engine that is recommended.
        ideals: What the template makes of each answer.
        tools: The tools that every request offered.
        cells: By name of the parsers, then of the answer.
        recommendation: What to start a server with.
        family: Format that the model writes in, where it is known.
        template: What the template supports.
        parser_file: Plugin file that the tool parsers come from; "" for none.
        has_vocabulary: Whether its parsers had the model's own vocabulary, not a stand-in.
        engines: Whether transformers and vLLM render alike.
        is_narrowed: Whether the tool parsers were chosen by name.
        smaller: Smaller answers that fail alike, by name of the parsers and of the drawn answer.
        engine: The engine that is recommended.
        others: What the parsers of the other engines made of the answers, by engine.
        checkpoint: Which of the family's models it is, where template or vocabulary show it.
    """

    model: CheckedModel
    release: str
    ideals: tuple[Ideal, ...]
    tools: tuple[JSONObject, ...]
    cells: Mapping[str, Mapping[str, Cell]]
    recommendation: Recommendation
    family: str | None = None
    template: TemplateCheck = field(default_factory=TemplateCheck)
    parser_file: str = ""
    has_vocabulary: bool = False
    engines: Engines = field(default_factory=Engines)
    is_narrowed: bool = False
    smaller: Mapping[str, Mapping[str, Smaller]] = field(default_factory=dict)
    engine: str = "vllm"
    others: Mapping[str, Asked] = field(default_factory=dict)
    checkpoint: Checkpoint | None = None

    @property
    def asked(self) -> Mapping[str, Asked]:
        """What each engine's parsers made of the answers, the recommended one first."""
        row = self.cells.get(self.recommendation.name or "", {})
        return {self.engine: Asked(self.release, self.recommendation, row, self.has_vocabulary), **self.others}

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What is wrong with template, engines and parsers, worst first."""
        every = (*self.template.findings, *engine_findings(self.engines))
        return tuple(sorted(every, key=lambda one: list(Severity).index(one.severity)))


@contextmanager
def open_engines(release: str | None = None, engine: str = "vllm") -> Iterator[tuple[list[VllmEngine], list[str]]]:
    """Give helpers that share a check, and why engines are not among them, a sentence each.

    Args:
        release: Of the engine; by default the installed vLLM, of others the newest that was fetched.
        engine: Whose parsers: `vllm`, one of `CHECKED`, or `all` of them that are here.

    Raises:
        EngineError: There is no such engine, or the engine, or every one, is not here.
    """
    known = ("vllm", *CHECKED, "all")
    if engine not in known:
        raise EngineError(f"{shorten(engine)} is not an engine.", f"Choose one of {', '.join(known)}.")
    with ExitStack() as stack:
        wheels: list[VllmEngine] = []
        absent: list[str] = []
        for kind in (one for one in CHECKED if engine in (one, "all")):
            try:
                wheels.append(WheelEngine(kind, bring_wheel(kind, release), limits=_LIMITS))
            except EngineError as error:
                absent.append(str(error))
                if engine == kind:
                    raise
        vllms: list[VllmEngine] = []
        if engine not in CHECKED:
            folder = None if release is None else find_release(release)
            overlay = () if folder is None else (str(folder),)
            vllms = [VllmEngine(overlay=overlay, limits=_LIMITS) for _ in range(_HELPERS)]
        for one in (*vllms, *wheels):
            stack.callback(one.close)
        yield [*vllms, *wheels], absent


def refuse_choice(engine: str, chosen: Mapping[str, str | None]) -> None:
    """Refuse what has no meaning for all engines at once, such as the name of one parser.

    Raises:
        RequestError: Something was chosen, and `engine` is `all`; names the first.
    """
    if engine == "all" and (given := next((name for name, value in chosen.items() if value), None)):
        raise RequestError(f"{given} cannot be used with all engines.", "Name the engine that it belongs to.")


@dataclass
class Checker:
    """Checks models with the parsers of one engine or several; keeps them warm from one model to the next.

    The key for a running server is never shown; `absent` says why further engines are not asked.
    """

    engines: Sequence[VllmEngine]
    report: OnStep = field(default=lambda _: None)
    api_key: str | None = field(default=None, repr=False)
    absent: Sequence[str] = ()

    async def check(self, model: CheckedModel, wanted: Wanted = Wanted()) -> Check:  # frozen
        """Check one model.

        Raises:
            EngineError: An engine is not here, or another release than is wanted, or a helper failed.
        """
        kinds, absent = await self._present(wanted.release)
        model = await asyncio.to_thread(as_served, model)
        tools, printed = await asyncio.to_thread(write_answers, model, is_thorough=wanted.is_thorough)
        ideals, family, inferred = await asyncio.to_thread(write_as_model, printed, model)
        markers = single_tokens(ideals, family)
        thinks_first = family is not None and FORMATS[family].facts.thinks_first
        question = Question(ideals, _vocabulary_of(model), wanted.is_thorough, markers, thinks_first)
        checkpoint, shown_by = checkpoint_in(family, words_of(model, ideals)) or (None, "")
        trips: dict[str, RoundTrip] = {}
        asked: dict[str, Asked] = {}
        for kind in kinds:
            trips[kind] = RoundTrip(self._helpers(kind), question, tools, self._report_of(kind))
            asked[kind] = await self._judge(
                trips[kind], Ranking(family, model.name, kind, checkpoint, shown_by), wanted
            )
        self.report("the template")
        has_plain_tools = tools is PLAIN_TOOLS
        template = await asyncio.to_thread(check_template, model, printed, has_plain_tools=has_plain_tools)
        self.report("transformers and the engine's renderer")
        engines = await self._compare(model, printed, tools, family)
        best = best_engine(asked)
        chosen = asked[best].recommendation
        bare = await asyncio.to_thread(words_on_bare_tools, model, ideals)
        refused = words_on_refused(model.template, ideals, best)
        reasons = (*chosen.reasons, refused, bare, words_on_parts(model))
        sentences = (choice_sentence(asked, best), inferred, *reasons, *self.absent, *absent)
        return Check(
            model,
            asked[best].release,
            ideals,
            tools,
            {name: row for trip in trips.values() for name, row in trip.cells.items()},
            replace(chosen, reasons=tuple(filter(None, sentences))),
            family,
            template,
            wanted.parser_file,
            has_vocabulary=asked[best].has_vocabulary,
            engines=engines,
            is_narrowed=wanted.tool_parsers is not None,
            smaller=await self._make_smaller(model, trips[best], chosen.name),
            engine=best,
            others={kind: one for kind, one in asked.items() if kind != best},
            checkpoint=checkpoint,
        )

    async def _present(self, release: str | None) -> tuple[list[str], list[str]]:
        """Return the engines that start, and why others do not; one must, and be of the release."""
        kinds, absent = [], []
        every = list(dict.fromkeys(engine.engine for engine in self.engines))
        for kind in every:
            try:
                await self._helpers(kind)[0].parsers()
                kinds.append(kind)
            except EngineError as error:
                title = title_of(kind)
                absent.append(str(error) if title in error.message else f"{title} was not asked: {error}")
                if not kinds and kind == every[-1]:
                    raise
        known = (await self._helpers(kinds[0])[0].parsers()).version
        if release not in (None, known, known.partition("+")[0]):
            raise EngineError(
                f"vLLM {release} is neither installed nor among the releases already downloaded.",
                f"Download it with `python -m prompt_debugger.core.parse.engines {release}`.",
            )
        return kinds, absent

    def _helpers(self, kind: str) -> list[VllmEngine]:
        return [engine for engine in self.engines if engine.engine == kind]

    def _report_of(self, kind: str) -> OnStep:
        """Return what tells how far one engine's parsers are; of several the engine is named."""
        if all(engine.engine == kind for engine in self.engines):
            return self.report
        return lambda words: self.report(f"{title_of(kind)}, {words}")

    async def _judge(self, trip: RoundTrip, ranking: Ranking, wanted: Wanted) -> Asked:
        """Ask one engine's parsers, and say which of them to take."""
        release = (await trip.engines[0].parsers()).version
        order = await self._ask(trip, ranking, wanted)
        ideals, has_vocabulary = trip.question.ideals, trip.question.tokenizer is not None
        chosen = recommend(ideals, trip.cells, order, ranking, has_vocabulary=has_vocabulary)
        row = trip.cells.get(chosen.name or "", {})
        if chosen.verdict != "works" and wanted.tool_parsers is None and ranking.engine == "vllm":
            more = await asyncio.to_thread(plugin_fallback, ideals, trip.tools, ranking.family, row)
            hints = [more.sentence] if more.sentence else []
            chosen = replace(chosen, reasons=(*chosen.reasons, *hints), plugin_fallback=more)
        if chosen.name is None and not has_vocabulary and any(SIMPLEST_CALL in one for one in trip.cells.values()):
            chosen = replace(chosen, verdict="unknown", reasons=(*chosen.reasons, _ALONE))
        is_own = has_vocabulary or (bool(row) and not any(_stood_in(cell) for cell in row.values()))
        lacked = "" if ranking.made_for() else ranking.family or ""
        return Asked(release, chosen, row, is_own, any(SIMPLEST_CALL in one for one in trip.cells.values()), lacked)

    async def _make_smaller(
        self, model: CheckedModel, trip: RoundTrip, name: str | None
    ) -> dict[str, dict[str, Smaller]]:
        """Make smaller what was drawn and fails with the recommended parsers."""
        if name is None or not trip.question.is_thorough:
            return {}
        self.report("smaller answers that fail in the same way")

        async def again(ideal: Ideal, is_streamed: bool) -> Cell:  # noqa: FBT001
            return await trip.again(ideal, name, streaming=is_streamed)

        writer = Writer(model.renderer(), model.end_texts, trip.tools)
        return {name: await smaller_answers(writer, trip.question.ideals, trip.cells[name], again)}

    async def _compare(
        self,
        model: CheckedModel,
        ideals: Sequence[Ideal],
        tools: Sequence[JSONObject],
        family: str | None,
    ) -> Engines:
        """Hold transformers against the server that is checked, where it renders, else against vLLM's renderer."""
        if model.server is not None and (server := ServerRenderer(model, self.api_key)).asked:
            kind = model.server.kind
            return await compare_engines(server, model, ideals, tools, name=server.name, kind=kind)
        helpers = self._helpers("vllm")
        if not helpers:
            return Engines(title_of(self.engines[0].engine), skipped="its renderer needs the engine itself.")
        try:
            name = f"vLLM {(await helpers[0].parsers()).version}"
        except EngineError as error:
            return Engines("vLLM", skipped=str(error))
        words = await words_on_renderer(helpers[0], model, family, name)
        if words.skipped:
            return Engines(name, skipped=words.skipped)
        return replace(await compare_engines(helpers[0], model, ideals, tools, name=name), note=words.note)

    async def _ask(self, trip: RoundTrip, ranking: Ranking, wanted: Wanted) -> list[str]:
        """Ask tool parsers, reasoning parsers and pairs of the best; return what may be recommended, best first."""
        engine, kind = trip.engines[0], ranking.engine
        one_reasoning = None if wanted.reasoning_parser is None else [wanted.reasoning_parser]
        alone = await tool_names(engine, wanted.tool_parsers)
        await trip.ask(alone, "tool parsers")
        if not needs_reasoning(trip.question.ideals) and one_reasoning is None:
            return ranking.best({name: trip.cells[name] for name in alone}, len(alone))
        thinking = await reasoning_names(engine, one_reasoning)
        await trip.ask(thinking, "reasoning parsers")
        best_alone = ranking.best({name: trip.cells[name] for name in alone}, _PAIRED_TOOLS)
        own = ranking.own_tool(name for name in alone if reads_calls(trip.cells[name]))
        if own is not None and (name := write_parser_name(own, None, engine=kind)) not in best_alone:
            best_alone.append(name)
        best_thinking = ranking.best({name: trip.cells[name] for name in thinking}, _PAIRED_REASONINGS)
        best_thinking += [
            name
            for own in ranking.own_reasoning()
            if (name := write_parser_name(None, own, engine=kind)) in trip.cells and name not in best_thinking
        ]
        pairs = [
            write_parser_name(read_parser_name(tool).tool, read_parser_name(reasoning).reasoning, engine=kind)
            for tool in best_alone
            for reasoning in best_thinking
        ]
        await trip.ask(pairs, "pairs of them")
        return ranking.best({name: trip.cells[name] for name in (*pairs, *best_alone)}, len(pairs) + len(best_alone))


def check_without_parsers(model: CheckedModel, *, is_thorough: bool = False) -> Check:
    """Return what a template alone shows, where there is no vLLM to ask; nothing is recommended."""
    tools, ideals = write_answers(model := as_served(model), is_thorough=is_thorough)
    template = check_template(model, ideals, has_plain_tools=tools is PLAIN_TOOLS)
    unasked = Recommendation(None, None, None, "unknown", ("Only the template was checked: no parser was asked.",))
    return Check(model, "", ideals, tools, {}, unasked, family_of(ideals), template)


def write_answers(
    model: CheckedModel, *, is_thorough: bool, renderer: Renderer | None = None
) -> tuple[tuple[JSONObject, ...], tuple[Ideal, ...]]:
    """Return the tools of the requests, and what the template makes of each answer."""
    wanted = answers(is_thorough=is_thorough)
    for tools in (TOOLS, PLAIN_TOOLS):
        writer = Writer(model.renderer(renderer), model.end_texts, tools)
        first = writer.write(wanted[0])
        if first.refusal is None:
            return tools, (first, *map(writer.write, wanted[1:]))
    writer = Writer(model.renderer(renderer), model.end_texts)
    return TOOLS, tuple(map(writer.write, wanted))


def _stood_in(cell: Cell) -> bool:
    """Return whether a parser had an approximate vocabulary for an answer."""
    return not isinstance(cell.outcome, VllmOutcome) or cell.outcome.stand_in is not None


def _vocabulary_of(model: CheckedModel) -> Path | None:
    """Return the folder of a vocabulary that vLLM loads without running code of the model."""
    return model.folder if model.folder is not None and (model.folder / "tokenizer.json").is_file() else None


def single_tokens(ideals: Sequence[Ideal], family: str | None) -> tuple[str, ...]:
    """Return the marks of some outputs that are one token in vocabularies: the family's own, and what looks alike."""
    text = "\n".join(ideal.prompt_tail + ideal.raw for ideal in ideals)
    known = {*(tag for pair in TABLES.reasoning_pairs for tag in pair), *TABLES.end_texts, *TABLES.turn_markers}
    if family is not None:
        known |= FORMATS[family].conventions.markers
    return tuple(sorted({one for one in known if one in text and " " not in one} | {*_CONTROL_TOKEN.findall(text)}))
