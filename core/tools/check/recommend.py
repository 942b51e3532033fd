"""Which parsers to start a server with: the most answers right, and of equals the one made for the model.

Equal is what comes back whole and token by token; larger deltas decide last.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from prompt_debugger.core.base.protocols import ReadContext
from prompt_debugger.core.complete import ParserNames, parser_names_of, title_of
from prompt_debugger.core.formats import FORMATS, TABLES, Checkpoint, score_formats
from prompt_debugger.core.parse.engines import read_parser_name, write_parser_name
from prompt_debugger.core.tools.check.answers import REASONED_CALL, SIMPLEST_CALL
from prompt_debugger.core.tools.check.ideal import Ideal
from prompt_debugger.core.tools.check.judge import Cell
from prompt_debugger.core.tools.check.named import has_base_name_of, has_name_of, twin_parsers
from prompt_debugger.core.tools.check.plugin_fallback import PluginFallback

_MANY = 20  # parsers that give no answer back: then the fault is hardly theirs
_MOST_RAW = 160  # characters of an output in a sentence
Verdict = Literal["works", "works-with-limits", "unknown", "nothing-works"]
VERDICTS: tuple[Verdict, ...] = ("works", "works-with-limits", "unknown", "nothing-works")  # best first


@dataclass(frozen=True, slots=True)
class Recommendation:
    """What to start a server with.

    Attributes:
        tool_parser: Name for `--tool-call-parser`; `None` if none reads the calls.
        reasoning_parser: Name for `--reasoning-parser`; `None` if none is needed or none works.
        name: The pair as it is in the matrix; `None` if nothing works.
        verdict: How well it works.
        reasons: Why, a sentence each, the most telling first.
        plugin_fallback: Our own reader, where parsers fall short; `None` where no one looked.
    """

    tool_parser: str | None
    reasoning_parser: str | None
    name: str | None
    verdict: Verdict
    reasons: tuple[str, ...]
    plugin_fallback: PluginFallback | None = None


def family_of(ideals: Iterable[Ideal]) -> str | None:
    """Return the format that explains most outputs with calls; `None` if none does."""
    votes: Counter[str] = Counter()
    for ideal in ideals:
        if ideal.answer.calls and ideal.is_whole:
            name, score = next(iter(score_formats(ideal.raw, ReadContext(prompt_tail=ideal.prompt_tail)).items()))
            alone = score_formats(ideal.raw, ReadContext())[name]  # a prompt's end alone shows no notation of calls
            votes[name] += score.score > 0 and alone.score > 0
    return next((name for name, count in votes.most_common(1) if count), None)


def needs_reasoning(ideals: Iterable[Ideal]) -> bool:
    """Return whether outputs hold reasoning or the marks of an empty block of it, or prompts the tag that opens one.

    A prompt has that tag where it ends in an empty block, as with thinking switched off, or tells the model to think.
    """
    return any(
        ideal.answer.reasoning is not None
        or any(tag in ideal.raw for pair in TABLES.prompt_pairs for tag in pair)
        or any(pair.opener in ideal.prompt for pair in TABLES.reasoning_pairs)
        for ideal in ideals
        if ideal.is_whole
    )


@dataclass(frozen=True, slots=True)
class Ranking:
    """Puts parsers in order.

    Attributes:
        family: Format of the model's outputs, where it is known.
        model: Name of the model: of equals the parser that bears its name wins.
        engine: Whose parsers they are.
        checkpoint: Which of the family's models it is, where template or vocabulary show it.
        shown_by: What in them shows it; "" where nothing does.
    """

    family: str | None
    model: str
    engine: str = "vllm"
    checkpoint: Checkpoint | None = None
    shown_by: str = ""

    @property
    def thinks_first(self) -> bool:
        """Whether models of the family write reasoning before each call."""
        return (one := FORMATS.get(self.family or "")) is not None and one.facts.thinks_first

    @property
    def _own(self) -> ParserNames:
        """What the engine calls the family's parsers."""
        return parser_names_of(self.engine, self.family, self.checkpoint)

    @property
    def _shown(self) -> ParserNames:
        """What the engine calls the parsers of the model that is shown."""
        return (
            ParserNames() if self.checkpoint is None else self.checkpoint.parser_names.get(self.engine, ParserNames())
        )

    def best(self, cells: Mapping[str, Mapping[str, Cell]], most: int) -> list[str]:
        """Return the names that read most, best first, those that read nothing left out."""
        ranked = sorted(cells, key=lambda name: self._key(name, cells[name]), reverse=True)
        return [name for name in ranked if any(cell.whole for cell in cells[name].values())][:most]

    def _key(self, name: str, cells: Mapping[str, Cell]) -> tuple[float, ...]:
        pair, every = read_parser_name(name), cells.values()
        reads, plain = float(reads_calls(cells)), sum(cell.is_passed and cell.remark is None for cell in every)
        passed, usable = sum(cell.is_passed for cell in every), sum(cell.is_usable for cell in every)
        whole = sum(cell.whole for cell in every)
        made = self._made_for(pair.tool, self._own.tools, self._shown.tools)
        made += self._made_for(pair.reasoning, self._own.reasonings, self._shown.reasonings)
        return reads, usable, whole, made, passed, plain

    def _made_for(self, parser: str | None, known: Sequence[str], shown: Sequence[str]) -> float:
        """Return how surely a parser was made for this model: by what shows, by its name, by its place in the list."""
        if parser is None:
            return 0.0
        named = 2.0 if has_name_of(self.model, parser) else 1.5 if has_base_name_of(self.model, parser) else 0.0
        if parser in shown:
            named = 3.0
        return named + (1.0 - known.index(parser) / 100 if parser in known else 0.0)

    def own_tool(self, names: Iterable[str]) -> str | None:
        """Return the tool parser of some names that was most surely made for this model; `None` if none was."""
        known = self.made_for()
        tools = {tool for name in names if (tool := read_parser_name(name).tool) is not None}
        own = sorted(tool for tool in tools if tool in known or has_name_of(self.model, tool))
        return max(own, key=lambda tool: self._made_for(tool, self._own.tools, self._shown.tools), default=None)

    def own_reasoning(self) -> tuple[str, ...]:
        """Return the reasoning parser that the family's record names first, if any."""
        return self._own.reasonings[:1]

    def shown_reasonings(self) -> tuple[str, ...]:
        """Return the reasoning parsers of the model that the files show."""
        return self._shown.reasonings

    def made_for(self) -> tuple[str, ...]:
        """Return the tool parsers that the family's record names."""
        return self._own.tools

    def words_on_model(self, tool: str | None, reasoning: str | None) -> str:
        """Return what shows that some parsers are the model's own; "" if nothing does, or they are others."""
        own = [
            name for name, shown in ((tool, self._shown.tools), (reasoning, self._shown.reasonings)) if name in shown
        ]
        if not own:
            return ""
        names = " and ".join(f"`{name}`" for name in dict.fromkeys(own))
        shown = " ".join(self.shown_by.split())
        return f"The model's files contain `{shown}`: {title_of(self.engine)} has {names} for models with that."

    def words_on_notation(self, name: str) -> str:
        """Return what a parser of the family's record is for: a notation, which does not show whose model it is."""
        return f"the parser for outputs read as `{self.family}`" if name in self._own.tools else "for the same notation"

    def words_on_preferred(self, chosen: str) -> str:
        """Return why some parsers go before others that return as many answers."""
        pair = read_parser_name(chosen)
        for one in filter(None, (pair.tool, pair.reasoning)):
            if has_name_of(self.model, one) or has_base_name_of(self.model, one):
                return f"the model's name contains that of `{one}`"
            if one in (*self._shown.tools, *self._shown.reasonings):
                return f"the model's files point to `{one}`"
        return f"`{_shown(chosen)}` comes first for outputs read as `{self.family}`"


def recommend(
    ideals: Sequence[Ideal],
    cells: Mapping[str, Mapping[str, Cell]],
    order: Sequence[str],
    ranking: Ranking,
    *,
    has_vocabulary: bool = True,
) -> Recommendation:
    """Return what to start a server with; `order` has the names that may be recommended, best first."""
    name = next((one for one in order if _may_be_named(one, cells[one], ranking)), None)
    if name is None:
        simplest = next((ideal for ideal in ideals if ideal.answer.name == SIMPLEST_CALL), None)
        was_asked = any(SIMPLEST_CALL in row for row in cells.values())
        verdict_of_none: Verdict = "nothing-works" if was_asked else "unknown"
        return Recommendation(
            None,
            None,
            None,
            verdict_of_none,
            (
                *_why_nothing(simplest, cells, ranking, has_vocabulary=has_vocabulary),
                *_reads_without_arguments(ideals, cells, ranking),
            ),
        )
    pair, row = read_parser_name(name), cells[name]
    verdict: Verdict = "works" if all(cell.is_passed for cell in row.values()) else "works-with-limits"
    shown = ranking.words_on_model(pair.tool, pair.reasoning)
    others = (*_rivals(cells, name, ranking), *_visitors(cells, name, order, ranking))
    texts = {ideal.answer.name: ideal.answer.content for ideal in ideals if ideal.answer.reasoning is None}
    at_once = _at_once(ideals, row) if ranking.thinks_first else {}
    reasons = [_tally(name, row), *([shown] if shown else ()), *_words_on_calls_at_once(at_once)]
    reasons += _failures({key: one for key, one in row.items() if key not in at_once}, cells, texts)
    return Recommendation(pair.tool, pair.reasoning, name, verdict, (*reasons, *others))


def _at_once(ideals: Sequence[Ideal], row: Mapping[str, Cell]) -> dict[str, Cell]:
    """Return the answers that fail because a call is not preceded by reasoning: with it the call comes back."""
    after, simplest = row.get(REASONED_CALL), row.get(SIMPLEST_CALL)
    if after is None or not after.is_usable or simplest is None or simplest.is_usable:
        return {}
    bare = {ideal.answer.name for ideal in ideals if ideal.answer.calls and ideal.answer.reasoning is None}
    return {name: cell for name, cell in row.items() if name in bare and not cell.is_usable}


def _words_on_calls_at_once(failed: Mapping[str, Cell]) -> Iterator[str]:
    if failed:
        first, *others = failed
        more = f" and {len(others)} more" if others else ""
        yield (
            f"It returns calls after reasoning, which this model usually writes first, and not where an output "
            f"begins with a call: `{first}`{more}; {failed[first].problem}."
        )


def _tally(name: str, row: Mapping[str, Cell]) -> str:
    """Return in numbers what came back."""
    whole = sum(cell.whole and not cell.leaves_reasoning for cell in row.values())
    usual, passed = sum(cell.is_usable for cell in row.values()), sum(cell.is_passed for cell in row.values())
    if all(cell.streamed is None for cell in row.values()):
        count = f"all {whole}" if whole == len(row) else f"{whole} of {len(row)}"
        return f"`{_shown(name)}` returns {count} answers correctly when whole; nothing was streamed."
    if passed == len(row):
        return f"`{_shown(name)}` returns all {passed} answers correctly, whole and in every chunking."
    return (
        f"`{_shown(name)}` returns {whole} of {len(row)} answers correctly when whole, {usual} streamed "
        f"token by token, {passed} in every chunking."
    )


def _failures(
    row: Mapping[str, Cell], cells: Mapping[str, Mapping[str, Cell]], texts: Mapping[str, str | None]
) -> Iterator[str]:
    """Say what fails: one by one, but in one sentence what only fails in larger deltas."""
    for answer, cell in row.items():
        if not cell.is_usable:
            asked = [other[answer] for other in cells.values() if answer in other]
            is_blurred = len(asked) >= _MANY and not any(one.whole for one in asked)
            blame = " No tested parser returns it: the template may lose it." if is_blurred else ""
            if is_blurred and _is_taken_for_reasoning(texts.get(answer), cell):
                blame = " No tested parser returns it: the template prints this text as it prints reasoning."
            yield f"It fails for `{answer}`: {cell.problem}.{blame}"
    larger = {answer: cell for answer, cell in row.items() if cell.is_usable and not cell.is_passed}
    if larger:
        first, cell = next(iter(larger.items()))
        others = f" Likewise {', '.join(f'`{name}`' for name in list(larger)[1:])}." if len(larger) > 1 else ""
        yield (
            "In larger deltas, as sent by a busy server or with speculative decoding, some come back "
            f"differently: `{first}`, {cell.problem}.{others}"
        )


def _is_taken_for_reasoning(text: str | None, cell: Cell) -> bool:
    reasoning = None if cell.outcome is None else cell.outcome.reasoning
    return bool(text) and text == (reasoning or "").strip()


def reads_calls(row: Mapping[str, Cell]) -> bool:
    """Return whether the simplest call comes back whole; without it nothing is recommended."""
    return (cell := row.get(SIMPLEST_CALL)) is not None and cell.whole


def _may_be_named(name: str, row: Mapping[str, Cell], ranking: Ranking) -> bool:
    """Return whether a parser may be recommended: one that was not made for the family must stream as well.

    One that was must return some answer as it should, were it a text alone; where the model always thinks first, a call
    after reasoning is enough.
    """
    cell, after = row.get(SIMPLEST_CALL), row.get(REASONED_CALL)
    is_own = read_parser_name(name).tool in ranking.made_for() and any(one.is_usable for one in row.values())
    if cell is not None and not cell.whole and is_own and ranking.thinks_first:
        return after is not None and after.is_usable
    return cell is not None and cell.whole and (cell.streamed_usual is not False or is_own)


def _rivals(cells: Mapping[str, Mapping[str, Cell]], chosen: str, ranking: Ranking) -> Iterable[str]:
    """Say why the parser that was made for the model was not chosen: what it does not give back, alone or paired."""
    own, pair = ranking.own_tool(cells), read_parser_name(chosen)
    thinks = next((one for one in ranking.shown_reasonings() if pair.reasoning is not None), None)
    is_own_tool = own is None or own == pair.tool
    if is_own_tool and (thinks is None or pair.reasoning in ranking.shown_reasonings()):
        return
    if is_own_tool:
        rows = [write_parser_name(pair.tool, thinks, engine=ranking.engine)]
        known = True
    else:
        rows = sorted(name for name in cells if read_parser_name(name).tool == own)
        known = own in ranking.made_for()
    for name in reversed(rows):  # pairs first: they are what a server is started with
        every = cells.get(name, {})
        failed = next(((answer, cell) for answer, cell in every.items() if not cell.is_passed), None)
        if failed is not None:
            why = ranking.words_on_notation(own) if own is not None and known else "which has the model's name"
            yield f"`{_shown(name)}`, {why}, fails for `{failed[0]}`: {failed[1].problem}."
            return


def _visitors(
    cells: Mapping[str, Mapping[str, Cell]], chosen: str, order: Sequence[str], ranking: Ranking
) -> Iterable[str]:
    """Name a parser that returns as many answers and streams more of them in larger deltas, but was not chosen."""
    own = cells[chosen].values()
    usable, passed = sum(cell.is_usable for cell in own), sum(cell.is_passed for cell in own)
    for name in order:
        every = cells[name].values()
        more = sum(cell.is_passed for cell in every)
        if (
            more > passed
            and sum(cell.is_usable for cell in every) == usable
            and _may_be_named(name, cells[name], ranking)
        ):
            yield (
                f"`{_shown(name)}` returns as many token by token and {more} in every chunking, but "
                f"{ranking.words_on_preferred(chosen)}."
            )
            return


def _why_nothing(
    simplest: Ideal | None, cells: Mapping[str, Mapping[str, Cell]], ranking: Ranking, *, has_vocabulary: bool
) -> Iterable[str]:
    if not any(SIMPLEST_CALL in row for row in cells.values()):
        if simplest is not None and simplest.refusal is not None:
            yield f"The template fails for the simplest call: {simplest.refusal.message.rstrip('.')}."
        else:
            shows_tools = simplest is not None and any(call.name in simplest.prompt for call in simplest.answer.calls)
            yield (
                "The template does not print tool calls, and nothing shows how the model writes them, so no parser "
                "was judged: give one of its outputs to `parse --parsers all`."
            )
            if not shows_tools:
                yield "The template does not print the tools of a request either: the model does not see them."
        return
    is_read = any(reads_calls(row) for row in cells.values())
    with_what = "No" if has_vocabulary else "With an approximate vocabulary, no"
    streamed = " when it is streamed" if is_read else ""
    yield f"{with_what} parser of this release returns the simplest call correctly{streamed}."
    for name in dict.fromkeys((*ranking.made_for(), *twin_parsers(ranking.engine, ranking.family))):
        cell = cells.get(write_parser_name(name, None, engine=ranking.engine), {}).get(SIMPLEST_CALL)
        if cell is not None and cell.problem is not None:
            yield f"`{name}`, {ranking.words_on_notation(name)}: {cell.problem}."


def _reads_without_arguments(
    ideals: Sequence[Ideal], cells: Mapping[str, Mapping[str, Cell]], ranking: Ranking
) -> Iterable[str]:
    """Say which parsers return calls, but only those without arguments: then it is how these are printed."""
    with_calls = [ideal for ideal in ideals if ideal.is_whole and ideal.answer.calls]
    bare = {one.answer.name for one in with_calls if not any(call.arguments for call in one.answer.calls)}
    full = {one.answer.name: one for one in with_calls if one.answer.name not in bare}
    if not bare or SIMPLEST_CALL not in full:
        return
    readers = {
        tool: None
        for name in ranking.best(cells, len(cells))
        if (tool := read_parser_name(name).tool) is not None
        and any(answer in bare and cell.whole for answer, cell in cells[name].items())
    }
    if not readers or any(cell.whole for row in cells.values() for answer, cell in row.items() if answer in full):
        return
    names, raw = [f"`{tool}`" for tool in readers][:2], full[SIMPLEST_CALL].raw
    printed = raw if len(raw) <= _MOST_RAW else raw[:_MOST_RAW] + "…"
    yield (
        f"{' and '.join(names)} {'return' if len(names) > 1 else 'returns'} a call without arguments, but no parser "
        f"returns a call with arguments, which the template prints like this: {printed!r}."
    )


def _shown(name: str) -> str:
    return name.removeprefix("vllm:")
