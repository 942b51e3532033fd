"""Every parser on every ideal output: whole, and where that is right, streamed in every chunking that matters.

tool parsers alone        every answer whose calls the template prints
reasoning parsers alone   the answers without calls
pairs                     the best of both on every answer: what a server would be started with
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from prompt_debugger.core.base.types import JSONObject, ParserOutcome
from prompt_debugger.core.parse.engines import WHEELS, RawOutput, VllmEngine, read_parser_name, write_parser_name
from prompt_debugger.core.tools.check.answers import SIMPLEST_CALL, TOOLS
from prompt_debugger.core.tools.check.ideal import Ideal
from prompt_debugger.core.tools.check.judge import Cell, judge

Cells = dict[str, dict[str, Cell]]


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked about one model.

    Attributes:
        ideals: What the template makes of each answer.
        tokenizer: Folder of its tokenizer; an approximate vocabulary serves without one.
        is_thorough: Whether to stream in many more chunkings.
        markers: Texts that an approximate vocabulary takes for one token each.
        thinks_first: Whether the model writes reasoning before calls: who fails for a call alone may read that.
    """

    ideals: tuple[Ideal, ...]
    tokenizer: Path | None = None
    is_thorough: bool = False
    markers: tuple[str, ...] = ()
    thinks_first: bool = False


@dataclass
class RoundTrip:
    """Asks some helpers at once; keeps what came back.

    Attributes:
        engines: Helpers with the same parsers.
        question: What is asked; without the tokenizer once vLLM has turned out not to load it.
        tools: What every request offered.
        report: Gets lines of progress.
        cells: By name of the parser, then of the answer.
        reads_no_call: Parsers that do not read the simplest call: there is no point in streaming to them.
    """

    engines: Sequence[VllmEngine]
    question: Question
    tools: tuple[JSONObject, ...] = TOOLS
    report: Callable[[str], None] = field(default=lambda _: None)
    cells: Cells = field(default_factory=dict)
    reads_no_call: frozenset[str] = frozenset()

    async def ask(self, names: Sequence[str], title: str) -> None:
        """Ask some parsers about every answer that the template writes whole."""
        ideals = [ideal for ideal in self.question.ideals if ideal.is_whole]
        for name in names:
            self.cells.setdefault(name, {})
        waiting = list(reversed(ideals))

        async def work(engine: VllmEngine) -> None:
            while waiting:
                ideal = waiting.pop()
                self.report(f"{title}: answer {len(ideals) - len(waiting)} of {len(ideals)}")
                await self._ask_one(engine, ideal, [name for name in names if _is_asked(name, ideal)])

        self.reads_no_call = frozenset()
        if simplest := next((one for one in ideals if one.answer.name == SIMPLEST_CALL), None):
            waiting.remove(simplest)
            asked = [name for name in names if _is_asked(name, simplest)]
            await self._ask_one(self.engines[0], simplest, asked)
            if self.question.tokenizer is not None and self._has_failed(asked):
                self.question = replace(self.question, tokenizer=None)
                await self._ask_one(self.engines[0], simplest, asked)
            self.reads_no_call = frozenset(
                name for name in names if (cell := self.cells[name].get(SIMPLEST_CALL)) and not cell.whole
            )
        await asyncio.gather(*map(work, self.engines))
        order = {ideal.answer.name: index for index, ideal in enumerate(ideals)}
        for name in names:
            self.cells[name] = dict(sorted(self.cells[name].items(), key=lambda cell: order[cell[0]]))

    def _has_failed(self, names: Sequence[str]) -> bool:
        """Return whether every parser failed alike: then it is the vocabulary that vLLM cannot load."""
        cells = [self.cells[name][SIMPLEST_CALL] for name in names]
        errors = {cell.outcome.error for cell in cells if cell.outcome is not None}
        return len(cells) > 1 and len(errors) == 1 and None not in errors

    async def _ask_one(self, engine: VllmEngine, ideal: Ideal, names: Sequence[str]) -> None:
        if not names:
            return
        whole = await self._outcomes(engine, ideal, names, streaming=False)
        unread = frozenset[str]() if self.question.thinks_first else self.reads_no_call
        right = [name for name in names if name not in unread and _judged(ideal, name, whole[name]).whole]
        streamed = await self._outcomes(engine, ideal, right, streaming=True) if right else {}
        for name in names:
            self.cells[name][ideal.answer.name] = _judged(ideal, name, streamed.get(name, whole[name]))

    async def again(self, ideal: Ideal, name: str, *, streaming: bool) -> Cell:
        """Ask one parser about one more output, which has no place in the matrix."""
        outcomes = await self._outcomes(self.engines[0], ideal, [name], streaming=streaming)
        return _judged(ideal, name, outcomes[name])

    async def _outcomes(
        self, engine: VllmEngine, ideal: Ideal, names: Sequence[str], *, streaming: bool
    ) -> dict[str, ParserOutcome]:
        request: JSONObject = {"tools": list(self.tools)}
        if ideal.form.kwargs:
            request["chat_template_kwargs"] = dict(ideal.form.kwargs)
        if ideal.raw.count(ideal.end) == 1:
            request["stop"] = [ideal.end]  # a server takes it off, whether it is a token of the vocabulary or not
        # An end that also occurs within the turn does not end generation: what does is not known, and was taken off.
        is_unended = ideal.has_inner_end and self.question.tokenizer is None
        output = RawOutput(
            ideal.raw.removesuffix(ideal.end) if is_unended else ideal.raw,
            request=request,
            prompt_text=ideal.prompt_tail,
            tokenizer=self.question.tokenizer,
            finish_reason="stop",
            markers=self.question.markers,
        )
        is_thorough = streaming and self.question.is_thorough
        return await engine.parse_with(names, output, streaming=streaming, thorough=is_thorough, is_space_free=True)


def _judged(ideal: Ideal, name: str, outcome: ParserOutcome) -> Cell:
    pair = read_parser_name(name)
    splits_by_itself = pair.engine in WHEELS and WHEELS[pair.engine].splits_reasoning
    return judge(
        ideal.answer,
        outcome,
        ideal.raw,
        splits_reasoning=pair.reasoning is not None or splits_by_itself,
        reads_calls=pair.tool is not None,
    )


def _is_asked(name: str, ideal: Ideal) -> bool:
    """Return whether a parser has anything to do with an answer."""
    return read_parser_name(name).tool is not None or not ideal.answer.calls or ideal.answer.reasoning is not None


async def tool_names(engine: VllmEngine, wanted: Sequence[str] | None) -> list[str]:
    """Return the names of the tool parsers to ask."""
    known = (await engine.parsers()).tool_parsers if wanted is None else wanted
    return [write_parser_name(tool, None, engine=engine.engine) for tool in known]


async def reasoning_names(engine: VllmEngine, wanted: Sequence[str] | None) -> list[str]:
    """Return the names of the reasoning parsers to ask."""
    known = (await engine.parsers()).reasoning_parsers if wanted is None else wanted
    return [write_parser_name(None, reasoning, engine=engine.engine) for reasoning in known]
