"""Why an engine's parser does not read an output: what must be changed about it, one thing at a time, until it does.

A cause is shown by trial: the same parser reads the output once that one thing is gone, and our own reader still finds
whole calls in it. What no trial explains stays unexplained.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from prompt_debugger.core.base.protocols import ReadContext
from prompt_debugger.core.base.types import JSON, Fate, JSONObject, Parse, VllmOutcome
from prompt_debugger.core.formats import FORMATS
from prompt_debugger.core.parse.engines import RawOutput, VllmEngine
from prompt_debugger.core.pipeline import add_accounts
from prompt_debugger.core.pipeline.census import read_raw

_ODD = re.compile(r"</?[\w|:=/]{1,40}>|\\.|[^\x00-\x7f]|['()\[\]{}<>]")
_HEADER = re.compile(r"(<\|tool_call_begin\|>)\s*(?:functions[.:])?([\w-]+?)(?::\w*)?\s*(<\|tool_call_argument_begin)")
_TYPES: Mapping[type, str] = {bool: "boolean", int: "integer", float: "number", list: "array", dict: "object"}


@dataclass(frozen=True, slots=True)
class Output:
    """An output as a parser is asked about it, and our own reading of it."""

    asked: RawOutput
    parse: Parse

    def replace_raw(self, raw: str) -> Output:
        """Return the same with another text."""
        context = ReadContext(prompt_tail=self.asked.prompt_text or "")
        parse = read_raw(raw, context, message=None)
        return Output(replace(self.asked, raw=raw, called=tuple(call.name or "" for call in parse.parsed.calls)), parse)


_REASONED = "<|channel|>analysis<|message|>They ask.<|end|><|start|>assistant"  # of harmony, before a call


@dataclass(frozen=True, slots=True)
class Trial:
    """One thing that is changed about an output.

    Attributes:
        cause: What is wrong with the parser if the change helps, a clause about it.
        change: Makes the change; `None` where there is nothing to change.
    """

    cause: str
    change: Callable[[Output], Output | None]


def is_read(outcome: VllmOutcome) -> bool:
    """Return whether a parser returned every call as it was written."""
    return outcome.account is not None and outcome.account.is_right


async def cause_of(engine: VllmEngine, name: str, output: Output, family: str) -> str:
    """Return why a parser does not read an output, or streams it to something else; "" if no trial shows it.

    Args:
        engine: Whose parser it is.
        name: The parser.
        output: What it does not read, or does not stream alike.
        family: Whose sample shows whether it reads anything.
    """
    first = await _ask(engine, name, output)
    if first.error is not None and "ImportError" in first.error:
        return "it needs a package that is not here"
    streams = is_read(first)
    if not streams and not await _reads_sample(engine, name, output, family):
        return "it does not read a plain call of this family either, with an approximate vocabulary"
    if streams and await _is_equal(engine, name, output, is_space_free=True):
        return "only whitespace or the spelling of its JSON is streamed otherwise"
    for trial in TRIALS:
        changed = trial.change(output)
        if changed is None or not _holds_whole_calls(changed.parse):
            continue
        outcome = await _ask(engine, name, changed)
        if is_read(outcome) and (not streams or await _is_equal(engine, name, changed, is_space_free=True)):
            return trial.cause
    return ""


async def _ask(engine: VllmEngine, name: str, output: Output) -> VllmOutcome:
    outcomes = await engine.parse_with([name], output.asked, streaming=False)
    outcome = add_accounts(output.parse, outcomes)[name]
    assert isinstance(outcome, VllmOutcome)
    return outcome


async def _is_equal(engine: VllmEngine, name: str, output: Output, *, is_space_free: bool) -> bool:
    outcome = (await engine.parse_with([name], output.asked, is_space_free=is_space_free))[name]
    return outcome.stream_equal is not False


async def _reads_sample(engine: VllmEngine, name: str, output: Output, family: str) -> bool:
    sample = FORMATS[family].facts.sample if family in FORMATS else ""
    if not sample:
        return True
    samples = [sample, _REASONED + sample] if FORMATS[family].facts.thinks_first else [sample]
    return any([is_read(await _ask(engine, name.partition("+")[0], output.replace_raw(one))) for one in samples])


def _holds_whole_calls(parse: Parse) -> bool:
    calls = parse.parsed.calls
    return bool(calls) and all(call.name and call.status.value == "complete" for call in calls)


def _without(output: Output, fates: frozenset[Fate]) -> Output | None:
    raw, entries = output.parse.raw, output.parse.ledger.entries
    kept = "".join(raw[one.char_span.start : one.char_span.stop] for one in entries if one.fate not in fates)
    return None if kept == raw else output.replace_raw(kept)


def _as_written(output: Output) -> Output | None:
    """Return an output whose calls begin as the family's models write them, not as their template prints them."""
    written = FORMATS[output.parse.parsed.format].facts.written_calls
    raw = output.parse.raw if written is None else re.sub(written.printed, written.written, output.parse.raw)
    return None if raw == output.parse.raw else output.replace_raw(raw)


def _numbered(output: Output) -> Output | None:
    """Return it with headers as Kimi K2's parsers want them."""
    count = itertools.count()
    raw = _HEADER.sub(lambda found: f"{found[1]}functions.{found[2]}:{next(count)}{found[3]}", output.parse.raw)
    return None if raw == output.parse.raw else output.replace_raw(raw)


def _typed(output: Output) -> Output:
    """Return it with tools whose parameters have the types that the calls' values have."""
    tools: dict[str, JSONObject] = {}
    for call in output.parse.parsed.calls:
        properties: JSONObject = {
            key: {"type": _TYPES.get(type(value), "string")} for key, value in (call.arguments_json or {}).items()
        }
        known = tools.setdefault(call.name or "", {})
        tools[call.name or ""] = {**known, **properties}
    made: list[JSON] = [
        {"type": "function", "function": {"name": name, "parameters": {"type": "object", "properties": properties}}}
        for name, properties in tools.items()
    ]
    return replace(output, asked=replace(output.asked, tools=tuple(one for one in made if isinstance(one, dict))))


def _plain_values(output: Output) -> Output | None:
    """Return it with what is odd in its values as plain letters."""
    raw = output.parse.raw
    for call in reversed(output.parse.parsed.calls):
        for value in _texts(call.arguments_json or {}):
            if _ODD.search(value) and (at := raw.find(value, call.char_span.start, call.char_span.stop)) >= 0:
                raw = raw[:at] + _ODD.sub("x", value) + raw[at + len(value) :]
        start, stop = call.char_span.start, call.char_span.stop
        raw = raw[:start] + re.sub(r'\\"|[^\x00-\x7f｜▁]', "x", raw[start:stop]) + raw[stop:]
    return None if raw == output.parse.raw else output.replace_raw(raw)


def _texts(value: JSON) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for one in value.values() if isinstance(value, dict) else value:
            yield from _texts(one)


def _one_call(output: Output) -> Output | None:
    calls = output.parse.parsed.calls
    raw = output.parse.raw
    for call in reversed(calls[1:]):
        raw = raw[: call.char_span.start] + raw[call.char_span.stop :]
    return None if raw == output.parse.raw else output.replace_raw(raw)


def _plain_and_typed(output: Output) -> Output | None:
    plain = _plain_values(output)
    return None if plain is None else _typed(plain)


def _bare_and_typed(output: Output) -> Output | None:
    bare = _without(output, frozenset({Fate.REASONING, Fate.CONTENT}))
    return None if bare is None else _typed(bare)


TRIALS = (
    Trial("it wants a call as the model usually writes it, not as its template prints it", _as_written),
    Trial("it refuses a header of a call that is not `functions.NAME:N`", _numbered),
    Trial("it types values by the tool's schema, and takes them for texts where the schema has no types", _typed),
    Trial("something in a value (a tag, a quote, a letter beyond ASCII) misleads it", _plain_values),
    Trial("something in a value misleads it, besides the types that the tool's schema lacks", _plain_and_typed),
    Trial("the reasoning before the call misleads it", lambda one: _without(one, frozenset({Fate.REASONING}))),
    Trial("the text around the call misleads it", lambda one: _without(one, frozenset({Fate.CONTENT}))),
    Trial("it reads one call, and not several", _one_call),
    Trial("what stands around the call misleads it, besides the types that the tool's schema lacks", _bare_and_typed),
)
