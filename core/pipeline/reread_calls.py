"""Read again what a parser took for calls: a call whose name and values stand in the text was not invented.

A parser knows its family's notation, also where the family's own markers are missing; so does the family's
reader, once it is known that it is that family. Three readings are tried: by the families of the parser, without
the code fence around all of the text, and by looking for the very calls that were returned.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from prompt_debugger.core.base.protocols import ReadContext
from prompt_debugger.core.base.types import (
    CallOutcome,
    FormatScore,
    JSONObject,
    ParsedMessage,
    SegmentKind,
    Server,
    Span,
    ToolCallAttempt,
)
from prompt_debugger.core.base.types.frozen import replace
from prompt_debugger.core.complete import ENGINES, families_of_parser
from prompt_debugger.core.formats import FORMATS, GENERIC, TABLES, read_scored
from prompt_debugger.core.parse.call_segments import segments_of_call
from prompt_debugger.core.parse.matching import MessageCall, match_calls, message_calls
from prompt_debugger.core.parse.reading import assemble_message
from prompt_debugger.core.parse.returned_text import forced_in_text, returned_in_text
from prompt_debugger.core.parse.tiling import Stretch

_FENCED = re.compile(r"\s*(?P<open>```[\w+\-]*[ \t]*)\n(?P<inside>(?:(?!```).)*)(?P<close>```)\s*\Z", re.DOTALL)
_IN_FENCE = "it is inside a code fence"
_BARE = "it is bare, without the family's markers"
_BY_PARSER = FormatScore(0.6, "its parser returned calls that the text contains")


class Believed(NamedTuple):
    """A reading that has what was returned, and the scores that go with it."""

    scores: dict[str, FormatScore]
    parsed: ParsedMessage


def families_of(server: Server | None) -> tuple[str, ...]:
    """Return the families that a server's tool parser is made for; none if that is not known."""
    if server is None or server.tool_parser is None:
        return ()
    if server.parser_families is not None:
        return server.parser_families
    made_for = [family for family, names in TABLES.tool_parsers.items() if server.tool_parser in names]
    return tuple(sorted(made_for, key=lambda family: TABLES.tool_parsers[family].index(server.tool_parser or "")))


def families_of_name(name: str) -> tuple[str, ...]:
    """Return the families of a parser by its name, such as `vllm:olmo3` or `sglang@0.5.23:pythonic+qwen3`."""
    engine, _, pair = name.partition(":")
    kind, tool = engine.partition("@")[0], pair.partition("+")[0]
    if kind not in ENGINES or not tool:
        return ()
    return families_of(Server("", kind, None, tool_parser=tool, parser_families=families_of_parser(kind, tool)))


def believe(
    raw: str,
    reading: Believed,
    message: JSONObject,
    context: ReadContext,
    families: Sequence[str] = (),
    forced: str | None = None,
) -> Believed:
    """Return the reading that has most of the calls which a message returned: the given one, unless one has more.

    `families` are those that the parser is made for, if it is known; `forced` is the tool that must be called.
    """
    returned = message_calls(message)
    missing = _missing(reading.parsed, returned)
    if forced and missing and (call := forced_in_text(raw, reading.parsed, forced, missing)) is not None:
        return Believed(reading.scores, _add_calls(raw, reading.parsed, (call,), reading.parsed.format))
    for better in _readings(raw, reading, context, families, missing) if missing else ():
        left = _missing(better.parsed, returned)
        if len(left) < len(missing) and len(better.parsed.calls) >= len(reading.parsed.calls):
            return better
    return reading


def _missing(parsed: ParsedMessage, returned: Sequence[MessageCall]) -> list[MessageCall]:
    matches = match_calls(parsed.calls, returned)
    indices = [one.message_index for one in matches if one.outcome is CallOutcome.INVENTED]
    return [returned[index] for index in indices if index is not None]


def _readings(
    raw: str, reading: Believed, context: ReadContext, families: Sequence[str], missing: Sequence[MessageCall]
) -> Iterator[Believed]:
    scores, parsed = reading
    for family in families:
        if family in FORMATS and family != parsed.format:
            yield Believed(_add_family(scores, family), FORMATS[family].read(raw, context))
    if (unfenced := _blank_fence(raw, parsed)) is not None:
        inner = read_scored(unfenced, context)[1]
        calls = tuple(
            replace(call, deviation="; ".join(filter(None, (call.deviation, _IN_FENCE)))) for call in inner.calls
        )
        yield Believed(scores, replace(inner, calls=calls))
        reading = Believed(scores, FORMATS[GENERIC.name].read(unfenced, context))
        if found := returned_in_text(unfenced, reading.parsed, missing):
            yield Believed(scores, _add_calls(unfenced, reading.parsed, found, parsed.format))
    if found := returned_in_text(raw, parsed, missing):
        known = next((family for family in families if family in FORMATS), parsed.format)
        is_of_family = parsed.format == GENERIC.name and known != parsed.format
        name = known if is_of_family else parsed.format
        if is_of_family and FORMATS[known].call_markers and not FORMATS[known].bare_score:
            found = tuple(replace(call, deviation=_BARE) for call in found)
        yield Believed(_add_family(scores, name) if is_of_family else scores, _add_calls(raw, parsed, found, name))


def _add_family(scores: dict[str, FormatScore], family: str) -> dict[str, FormatScore]:
    """Return the scores with that of a family that its parser shows, best first."""
    known = scores.get(family)
    shown = known if known is not None and known.score >= _BY_PARSER.score else _BY_PARSER
    return dict(sorted({**scores, family: shown}.items(), key=lambda item: -item[1].score))


def _blank_fence(raw: str, parsed: ParsedMessage) -> str | None:
    """Return the text with the code fence around all of its content blanked, of the same length; `None` if none is."""
    content = [segment.char_span for segment in parsed.segments if segment.kind is SegmentKind.CONTENT]
    if parsed.calls or len(content) != 1:
        return None
    match = _FENCED.match(raw[: content[0].stop], content[0].start)
    if match is None:
        return None
    opener, closer = match.span("open"), match.span("close")
    blank = (" " * (stop - start) for start, stop in (opener, closer))
    return raw[: opener[0]] + next(blank) + raw[opener[1] : closer[0]] + next(blank) + raw[closer[1] :]


def _add_calls(raw: str, parsed: ParsedMessage, found: Sequence[ToolCallAttempt], name: str) -> ParsedMessage:
    """Return a reading with further calls, which it has as text."""
    calls = tuple(sorted((*parsed.calls, *found), key=lambda call: call.char_span))
    number = {id(call): index for index, call in enumerate(calls)}
    stretches: list[Stretch] = []
    for segment in parsed.segments:
        if segment.kind is SegmentKind.CONTENT:
            continue
        its = None if segment.call_index is None else number[id(parsed.calls[segment.call_index])]
        start = segment.char_span.start
        for call in found if segment.kind is SegmentKind.REASONING else ():
            if segment.char_span.start <= call.char_span.start < segment.char_span.stop:
                stretches.append(Stretch(replace(segment, char_span=Span(start, call.char_span.start))))
                start = max(start, call.char_span.stop)
        rest = Span(start, max(start, segment.char_span.stop))
        stretches.append(Stretch(replace(segment, char_span=rest, call_index=its), frames_call=its is not None))
    for call in found:
        stretches += [Stretch(piece, frames_call=True) for piece in segments_of_call(call, number[id(call)])]
    conventions = FORMATS[parsed.format].conventions if parsed.format in FORMATS else FORMATS[GENERIC.name].conventions
    return assemble_message(
        name, raw, stretches, calls, ReadContext(), conventions, has_reasoning=parsed.reasoning is not None
    )
