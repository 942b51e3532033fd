"""Hold what a parser returned against the answer that went in: is it the same, and if not, what happened to it?"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from prompt_debugger.core.base.errors import shorten
from prompt_debugger.core.base.json_values import same_json
from prompt_debugger.core.base.types import JSON, JSONObject, ParserOutcome, VllmOutcome
from prompt_debugger.core.formats import TABLES
from prompt_debugger.core.tools.check.answers import Answer

_SHOWN = 60


@dataclass(frozen=True, slots=True)
class Cell:
    """One parser on one answer.

    Attributes:
        whole: Whether the whole output comes back as the answer that went in.
        streamed: Whether every chunking streams to the same; `None` if that was not tried.
        problem: What comes back changed, in plain words; `None` if nothing does.
        remark: What is different and no fault, such as another order of keys; `None` if nothing is.
        split: Deltas of the smallest chunking that streams differently.
        outcome: What came back.
        streamed_usual: Whether it streams right token by token, as servers usually do; `None` if that was not tried.
        leaves_reasoning: Whether the output contains reasoning that no one was asked to take out of the content.
    """

    whole: bool
    streamed: bool | None
    problem: str | None
    remark: str | None = None
    split: tuple[str, ...] = ()
    outcome: ParserOutcome | None = None
    streamed_usual: bool | None = None
    leaves_reasoning: bool = False

    @property
    def is_usable(self) -> bool:
        """Whether it comes back whole and token by token, whatever larger deltas do."""
        return self.whole and self.streamed_usual is not False and not self.leaves_reasoning

    @property
    def is_passed(self) -> bool:
        """Whether nothing was found wrong, whole or streamed."""
        return self.whole and self.streamed is not False and not self.leaves_reasoning


def _ran_out_of_time(outcome: ParserOutcome) -> bool:
    """Return whether streaming was stopped by the clock, which says nothing about the parser."""
    return (outcome.first_unequal or "").startswith("streaming took longer")


class _Said(NamedTuple):
    problems: tuple[str, ...]
    remarks: tuple[str, ...]


def judge(
    answer: Answer, outcome: ParserOutcome, raw: str, *, splits_reasoning: bool, reads_calls: bool = True
) -> Cell:
    """Judge what a parser made of an ideal output, by the answer less what the template does not print.

    Without a reasoning parser (`splits_reasoning`) reasoning stays in the content.
    """
    if outcome.error is not None:
        return Cell(False, None, f"it fails: {outcome.error}", outcome=outcome)  # noqa: FBT003  # no value of ours
    comparison = _compare(answer, outcome, raw, splits_reasoning=splits_reasoning, reads_calls=reads_calls)
    problem = "; ".join(comparison.problems) or None
    vllms = outcome if isinstance(outcome, VllmOutcome) else None
    split = vllms.smallest_split if vllms is not None else ()
    streamed = None if comparison.problems or _ran_out_of_time(outcome) else outcome.stream_equal
    if problem is None and streamed is False:
        problem = f"streamed differently: {outcome.first_unequal}"
    leaves_reasoning = not splits_reasoning and _has_reasoning(raw)
    if problem is None and leaves_reasoning:
        problem = "reasoning stays in the content: no reasoning parser is used"
    usual = vllms.usual_stream_equal if vllms is not None and streamed is not None else None
    remark = "; ".join(comparison.remarks) or None
    return Cell(not comparison.problems, streamed, problem, remark, split, outcome, usual, leaves_reasoning)


def _compare(answer: Answer, outcome: ParserOutcome, raw: str, *, splits_reasoning: bool, reads_calls: bool) -> _Said:
    problems: list[str] = []
    remarks: list[str] = []
    if reads_calls:
        calls = _calls_said(answer, outcome)
        problems += calls.problems
        remarks += calls.remarks
    if splits_reasoning:
        comparison = _text_said("reasoning", answer.reasoning, outcome.reasoning)
        problems += comparison.problems
        remarks += comparison.remarks
    comparison = _content_said(
        answer, outcome.content, is_strict=splits_reasoning or not _has_reasoning(raw), reads_calls=reads_calls
    )
    return _Said((*problems, *comparison.problems), (*remarks, *comparison.remarks))


def _has_reasoning(raw: str) -> bool:
    return any(tag in raw for pair in TABLES.prompt_pairs for tag in pair)


def _content_said(answer: Answer, content: str | None, *, is_strict: bool, reads_calls: bool) -> _Said:
    """Compare the content; reasoning and calls that no one was asked to take out stay in it."""
    if not reads_calls and answer.calls:
        lacks_calls = any(call.name not in (content or "") for call in answer.calls)
        return _Said(("the calls are not left for a tool parser to read",) if lacks_calls else (), ())
    if is_strict:
        return _text_said("content", answer.content, content)
    wanted = (answer.content or "").strip()
    if wanted not in (content or ""):
        return _Said((_lost("content", wanted),), ())
    if reads_calls and any(call.name in (content or "") for call in answer.calls):
        return _Said((f"calls are left in the content: {shorten(content, _SHOWN)}",), ())
    return _Said((), ())


def _calls_said(answer: Answer, outcome: ParserOutcome) -> _Said:
    got = [_function(call) for call in outcome.tool_calls]
    if len(got) != len(answer.calls):
        if not answer.calls:
            return _Said((f"{_count(len(got))} come back although none was written",), ())
        where = " (they are left in the content)" if _are_in_content(answer, outcome) else ""
        return _Said((f"{len(got)} of {_count(len(answer.calls))} come back{where}",), ())
    problems: list[str] = []
    remarks: list[str] = []
    for index, (want, (name, arguments)) in enumerate(zip(answer.calls, got, strict=True)):
        at = f"call {index + 1}: " if len(got) > 1 else ""
        if name != want.name:
            problems.append(f"{at}its name is {shorten(name, _SHOWN)} instead of {want.name!r}")
        reported = _arguments_said(want.arguments, arguments)
        problems += [f"{at}{one}" for one in reported.problems]
        remarks += [f"{at}{one}" for one in reported.remarks]
    return _Said(tuple(problems), tuple(remarks))


def _are_in_content(answer: Answer, outcome: ParserOutcome) -> bool:
    return any(call.name in (outcome.content or "") for call in answer.calls)


def _function(call: JSONObject) -> tuple[str, JSON]:
    function = call.get("function")
    return (str(function.get("name")), function.get("arguments")) if isinstance(function, dict) else ("", None)


def _arguments_said(want: JSONObject, text: JSON) -> _Said:
    if not isinstance(text, str):
        return _Said((f"its arguments are {shorten(text, _SHOWN)}, not a string",), ())
    try:
        got: JSON = json.loads(text)
    except (ValueError, RecursionError):
        return _Said((f"its arguments are not JSON: {shorten(text, _SHOWN)}",), ())
    if not isinstance(got, dict):
        return _Said((f"its arguments are {_kind(got)}, not an object",), ())
    problems = tuple(_differences("", want, got))
    is_reordered = not problems and list(want) != list(got)
    return _Said(problems, ("arguments come back in a different order",) if is_reordered else ())


def _differences(path: str, want: JSON, got: JSON) -> Iterator[str]:
    """Yield how a value changed, at the place at which it did."""
    if isinstance(want, dict) and isinstance(got, dict):
        for key in want:
            where = f"{path}.{key}" if path else key
            if key not in got:
                yield f"argument `{where}` is lost"
            else:
                yield from _differences(where, want[key], got[key])
        yield from (f"argument `{f'{path}.{key}' if path else key}` is invented" for key in got if key not in want)
    elif isinstance(want, list) and isinstance(got, list) and len(want) == len(got):
        for index, (left, right) in enumerate(zip(want, got, strict=True)):
            yield from _differences(f"{path}[{index}]", left, right)
    elif not same_json(want, got):
        yield f"argument `{path}` {_change(want, got)}"


def _change(want: JSON, got: JSON) -> str:
    if _kind(want) != _kind(got):
        return f"changes its type: {_kind(want)} {shorten(want, _SHOWN)} becomes {_kind(got)} {shorten(got, _SHOWN)}"
    if isinstance(want, str) and isinstance(got, str) and want.strip() == got.strip():
        return f"loses whitespace: {shorten(want, _SHOWN)} becomes {shorten(got, _SHOWN)}"
    return f"changes: {shorten(want, _SHOWN)} becomes {shorten(got, _SHOWN)}"


def _kind(value: JSON) -> str:
    if value is None:
        return "null"
    for kind, word in ((bool, "boolean"), (str, "text"), (list, "array"), (dict, "object")):
        if isinstance(value, kind):
            return word
    return "number"


def _text_said(name: str, want: str | None, got: str | None) -> _Said:
    """Compare a text; whitespace around it belongs to the markup, so losing or keeping it is not a fault."""
    want, got = want or "", got or ""
    if want == got:
        return _Said((), ())
    if want.strip() == got.strip():
        return _Said((), (f"{name} has different whitespace around it: {shorten(got, _SHOWN)}",))
    if want.strip() and want.strip() not in got:
        return _Said((_lost(name, want) + (f": {shorten(got, _SHOWN)}" if got.strip() else ""),), ())
    if not want.strip():
        return _Said((f"{name} is {shorten(got, _SHOWN)} although none was written",), ())
    return _Said((f"{name} contains additional text: {shorten(got, _SHOWN)}",), ())


def _lost(name: str, want: str) -> str:
    return f"{name} lacks {shorten(want, _SHOWN)}"


def _count(calls: int) -> str:
    return f"{calls} call{'' if calls == 1 else 's'}"
