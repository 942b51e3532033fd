"""Read calls whose arguments are tagged values rather than JSON.

    <function=NAME>                      <invoke name="NAME">
    <parameter=KEY>VALUE</parameter>     <parameter name="KEY">VALUE</parameter>
    </function>                          </invoke>

Values are text as it is; their types come from the tool's schema or from an
attribute. A closing tag inside a value does no harm as long as what follows it
is not a structure.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from prompt_debugger.core.base.protocols import ReadContext
from prompt_debugger.core.base.types import CallStatus, Place, Span, ToolCallAttempt
from prompt_debugger.core.base.types.frozen import replace
from prompt_debugger.core.parse.arguments import Arguments
from prompt_debugger.core.parse.header_calls import Header, build_call
from prompt_debugger.core.parse.json_scan import scan_json
from prompt_debugger.core.parse.mentions import is_sure
from prompt_debugger.core.parse.reading import Scan
from prompt_debugger.core.parse.scan import PatternFinder, QuoteGuard, skip_space, stop_pattern, trim_span
from prompt_debugger.core.parse.tag_values import TagValue, decode_values
from prompt_debugger.core.parse.tools import parameter_schemas, tool_names

_MAX_CLOSERS = 64  # closing tags inside one value that are looked at
_MAX_PROSE = 400  # characters between a wrapper and the call in it
_HALF_TAG = re.compile(r"<[a-z][^<>|]{0,80}\Z")
_PARTIAL_TAG = re.compile(r"</?[^<>]{0,80}\Z")
_SPACE = re.compile(r"\s*+")
_NEVER = re.compile(r"(?!)")
_STRAY = re.compile(r"[^<\n]{1,8}+")  # between the JSON of a call and its closing tag


@dataclass(frozen=True, slots=True)
class TagCalls:
    """A scanner for one family's tags, all regular expressions.

    Attributes:
        opener: Opens a call; group `name`. It may end at the end of the text, then the call was cut there.
        closer: Closes a call.
        parameter: Opens a value; group `key`, and `string` or `type` where an attribute tells the type.
        parameter_closer: Closes a value.
        wrapper: Markup around calls; belongs to none.
        partial: What a value that is cut inside its opening looks like at the end of the text.
        trims_breaks: Line breaks at either end of a value that are framing, at most.
        trims_pairs: True if line breaks are framing only where a value has them at both ends.
        wraps_each: True if the wrapper holds exactly one call and belongs to it.
        cut_wrapper: Wrappers that announce a call where the text ends after them.
        guards_prose: True if the tags are ordinary text that a sentence may mention.
        decodes_untyped: True if a value that no schema types is decoded as JSON where it is JSON.
        exact_tags: True if no text contains one of its tags by accident: a value ends at the next one, closed or not.
        only_json: True if the arguments are always one JSON object, so that half of one is not stray text.
        unescapes: Entities in keys and names, with their characters.
        filler: What may come between tags.
    """

    opener: re.Pattern[str]
    closer: re.Pattern[str]
    parameter: re.Pattern[str]
    parameter_closer: re.Pattern[str]
    wrapper: re.Pattern[str] = _NEVER
    cut_wrapper: re.Pattern[str] = _NEVER
    partial: re.Pattern[str] = _PARTIAL_TAG
    trims_breaks: int = 0
    trims_pairs: bool = False
    wraps_each: bool = False
    guards_prose: bool = False
    decodes_untyped: bool = False
    exact_tags: bool = False
    only_json: bool = False
    unescapes: tuple[tuple[str, str], ...] = field(default=())
    filler: re.Pattern[str] = _SPACE

    def scan(self, text: str, region: Span, context: ReadContext) -> Scan:
        """Find the calls in `text[region]`; never raises."""
        return _TagScan(self, text, region, context).run()


class _TagScan:
    def __init__(self, family: TagCalls, text: str, region: Span, context: ReadContext) -> None:
        self._family = family
        self._text = text
        self._region = region
        self._finder = PatternFinder(text, region.stop)
        self._guard = QuoteGuard(text, region.start, region.stop)
        self._context = context
        self._stops = stop_pattern(context.ends)
        self._is_cut = context.finish_reason == "length"
        self._names = tool_names(context.tools)
        self._calls: list[ToolCallAttempt] = []
        self._markup: list[Span] = []
        self._pending: list[Span] = []

    def run(self) -> Scan:
        position = self._region.start
        while True:
            opener = self._finder.next(self._family.opener, position)
            wrapper = self._finder.next(self._family.wrapper, position)
            if wrapper is not None and (opener is None or wrapper.start() < opener.start()):
                self._take_wrapper(Span(*wrapper.span()))
                position = max(wrapper.end(), position + 1)
            elif opener is not None:
                position = self._take_call(opener)
            else:
                break
        self._take_cut_wrapper()
        return Scan(tuple(self._calls), tuple(sorted(self._markup)))

    def _take_wrapper(self, span: Span) -> None:
        """Take a wrapper, or hold it back until it is clear whether a call is next to it."""
        if not self._family.guards_prose:
            if not self._guard.is_quoted(span):
                self._markup.append(span)
            return
        last = max((s.stop for s in (*self._markup[-1:], *(c.char_span for c in self._calls[-1:]))), default=-1)
        if last != -1 and not self._text[last : span.start].strip():
            self._markup.append(span)
            self._guard.skip(span.stop)
            return
        if self._pending and self._text[self._pending[-1].stop : span.start].strip():
            self._pending.clear()
        self._pending.append(span)

    def _take_call(self, opener: re.Match[str]) -> int:
        call = self._read_call(opener)
        if call is None:
            return max(opener.end(), opener.start() + 1)
        stop = call.char_span.stop
        start = call.char_span.start
        is_next = bool(self._pending) and self._is_next_to(self._pending[-1].stop, opener.start())
        wrappers = self._pending if is_next or self._holds_prose(start, stop) else []
        if self._family.wraps_each:
            previous = wrappers or ([self._markup[-1]] if self._markup else [])
            opens = bool(previous) and not self._text.startswith("</", previous[-1].start)
            if opens and self._is_next_to(previous[-1].stop, start) and not self._owns(previous[-1]):
                start = previous[-1].start
                (wrappers if wrappers else self._markup).pop()
            closing = self._family.wrapper.match(
                self._text, skip_space(self._text, stop, self._region.stop), self._region.stop
            )
            stop = closing.end() if closing is not None and closing.group().startswith("</") else stop
        span = Span(wrappers[0].start if wrappers and is_next else start, stop)
        guards = self._family.guards_prose and not is_sure(self._text, call, span, self._names)
        if self._guard.is_quoted(span, in_sentence=guards):
            self._pending.clear()
            return max(stop, opener.end())
        self._markup += wrappers
        self._pending = []
        self._calls.append(replace(call, char_span=Span(start, stop)))
        self._guard.skip(stop)
        return max(stop, opener.end())

    def _holds_prose(self, start: int, stop: int) -> bool:
        """Return whether one wrapper, opened on a line of its own, holds a sentence, this call, and its closing tag."""
        opened = self._pending[0] if len(self._pending) == 1 else None
        if opened is None or not opened.stop <= start <= opened.stop + _MAX_PROSE:
            return False
        at_line_start = opened.start == self._region.start or self._text[opened.start - 1] == "\n"
        if not at_line_start or self._text.startswith("</", opened.start) or "<" in self._text[opened.stop : start]:
            return False
        closing = self._family.wrapper.match(self._text, skip_space(self._text, stop, self._region.stop))
        return closing is not None and closing.group().startswith("</")

    def _owns(self, span: Span) -> bool:
        return bool(self._calls) and self._calls[-1].char_span.stop >= span.stop

    def _is_next_to(self, stop: int, start: int) -> bool:
        return stop <= start and not self._text[stop:start].strip()

    def _take_cut_wrapper(self) -> None:
        """Take a wrapper that opens at the very end of the text: a call was about to come."""
        if not self._pending and self._markup:
            self._pending = [self._markup.pop()]
            self._take_cut_wrapper()
            self._markup += self._pending
            return
        if not self._pending or self._text[self._pending[-1].stop : self._region.stop].strip():
            return
        span = self._pending[-1]
        before = self._text[self._region.start : span.start]
        at_line_start = not before.strip(" ") or before.endswith("\n")
        if self._family.cut_wrapper.fullmatch(self._text, *span) is None:
            return
        if self._family.guards_prose and not (at_line_start or self._is_cut or self._is_cut_in_tag()):
            return
        self._markup += self._pending[:-1]
        self._pending = []
        problem = "cut after its opening tag"
        self._calls.append(
            ToolCallAttempt(None, "", None, None, CallStatus.TRUNCATED, Place.BODY, span, problem=problem)
        )

    def _is_cut_in_tag(self) -> bool:
        """Return whether half a tag, which belongs to no stretch, follows this one at the end of the text."""
        return self._region.stop < len(self._text) and _HALF_TAG.match(self._text, self._region.stop) is not None

    def _read_call(self, opener: re.Match[str]) -> ToolCallAttempt | None:
        behind = self._text[opener.end() : opener.end() + 2]
        if self._family.guards_prose and behind[:1] == " " and behind[1:].islower():
            span = Span(*opener.span())
            if self._guard.is_quoted(span, in_sentence=True):
                return None  # a sentence continues after a tag without parameters
        name_span = trim_span(self._text, *opener.span("name"))
        name = self._unescape(self._text[name_span.start : name_span.stop])
        if opener.end() == self._region.stop and not self._text.endswith((">", "]", "\n"), 0, opener.end()):
            at_end = Arguments(
                Span(opener.end(), opener.end()), None, CallStatus.TRUNCATED, "cut inside its name", opener.end()
            )
            return build_call(self._text, opener.start(), Header(name or None, name_span), at_end)
        if opener.group().endswith("/>"):
            nothing = Arguments(Span(opener.end(), opener.end()), {}, CallStatus.COMPLETE, None, opener.end())
            return build_call(self._text, opener.start(), Header(name or None, name_span if name else None), nothing)
        start = skip_space(self._text, opener.end(), self._region.stop)
        header = Header(name or None, name_span if name else None, problem=None if name else "the name is missing")
        is_json = self._text.startswith("{", start) and start < self._region.stop
        arguments = self._read_json(start) if is_json else None
        arguments = arguments or self._read_values(start, name)
        is_empty = arguments.span.start == arguments.span.stop and arguments.problem is not None
        if (
            is_empty
            and self._family.guards_prose
            and arguments.status is not CallStatus.TRUNCATED
            and self._goes_on(start)
        ):
            return None
        return build_call(self._text, opener.start(), header, arguments)

    def _goes_on(self, position: int) -> bool:
        """Return whether text without structure follows."""
        return position < self._region.stop and not self._is_structure(position)

    def _read_json(self, start: int) -> Arguments | None:
        """Read arguments that are written as JSON where tags are usual."""
        scan = scan_json(self._text, start, self._region.stop)
        if self._family.only_json and scan.status is CallStatus.TRUNCATED:
            end = self._finder.next(self._stops, start)
            span = Span(start, scan.span.stop if end is None else end.start())
            status = scan.status if end is None else CallStatus.MALFORMED
            return Arguments(span, None, status, f"cut inside the arguments: {scan.problem}", span.stop)
        if scan.status is not CallStatus.COMPLETE or not isinstance(scan.value, dict):
            return None
        behind = skip_space(self._text, scan.span.stop, self._region.stop)
        closer = self._family.closer.match(self._text, behind, self._region.stop)
        stop = scan.span.stop if closer is None else closer.end()
        problem = None if closer is not None else "its closing tag is missing"
        if closer is None and (stray := _STRAY.match(self._text, behind, self._region.stop)) is not None:
            closer = self._family.closer.match(self._text, stray.end(), self._region.stop)
            if closer is not None:
                stop, problem = closer.end(), f"stray text before its closing tag: {stray[0].strip()!r}"
        return Arguments(scan.span, scan.value, CallStatus.COMPLETE, problem, stop)

    def _read_values(self, start: int, name: str) -> Arguments:
        values: list[TagValue] = []
        problems: list[str] = []
        position = start
        end = start
        keys = frozenset(parameter_schemas(self._context.tools, name))
        while True:
            position = self._skip_filler(position)
            parameter = self._family.parameter.match(self._text, position, self._region.stop)
            if parameter is None:
                closer = self._find_close(position)
                if closer is not None or position >= self._region.stop:
                    break
                if self._family.partial.match(self._text, position, self._region.stop):
                    problems.append("cut inside a tag")
                    position = self._region.stop
                    break
                skipped = self._skip_stray(position)
                if skipped is None:
                    break
                problems.append(f"stray text between its values: {self._text[position:skipped][:40].strip()!r}")
                position = end = skipped
                continue
            value = self._read_value(parameter, keys)
            values.append(value)
            if not value.is_closed:
                problems.append(f"the value of {value.key!r} is not closed")
            position = end = value.stop
        return self._finish(start, end, position, values, name, problems)

    def _finish(
        self, start: int, end: int, position: int, values: list[TagValue], name: str, problems: list[str]
    ) -> Arguments:
        closer = self._find_close(position)
        span = trim_span(self._text, start, end)
        decoded = decode_values(values, name, self._context.tools, decodes_untyped=self._family.decodes_untyped)
        at_end = position >= self._region.stop
        if at_end and (problems or not values or self._is_cut):
            return Arguments(
                span,
                None if problems or not values else decoded,
                CallStatus.TRUNCATED,
                "cut inside its arguments",
                position,
            )
        if closer is None:
            ends_here = self._text[position : position + 30].strip()
            note = (
                "its closing tag is missing"
                if at_end or not ends_here
                else f"its closing tag is missing before {ends_here!r}"
            )
            problems_all = "; ".join([*problems, note])
            is_begun = not values and self._family.opener.match(self._text, position, self._region.stop) is not None
            status = CallStatus.MALFORMED if problems or is_begun else CallStatus.COMPLETE
            return Arguments(span, decoded, status, problems_all, end)
        status = CallStatus.MALFORMED if problems else CallStatus.COMPLETE
        if self._family.parameter_closer.fullmatch(closer.group()):
            problems.append(f"it is closed by {closer.group()!r}")
        return Arguments(span, decoded, status, "; ".join(problems) or None, closer.end())

    def _find_close(self, position: int) -> re.Match[str] | None:
        return self._family.closer.match(self._text, position, self._region.stop)

    def _skip_stray(self, position: int) -> int | None:
        """Return where structure continues after stray text in a call; `None` if it does not."""
        candidates = [self._finder.next(pattern, position) for pattern in (self._family.parameter, self._family.closer)]
        limits = [
            self._finder.next(pattern, position) for pattern in (self._family.opener, self._family.wrapper, self._stops)
        ]
        found = min((match.start() for match in candidates if match is not None), default=None)
        limit = min((match.start() for match in limits if match is not None), default=self._region.stop)
        return found if found is not None and found <= limit else None

    def _read_value(self, parameter: re.Match[str], keys: frozenset[str]) -> TagValue:
        groups = parameter.groupdict()
        kind = groups.get("type")
        if groups.get("string") is not None:
            kind = "string" if groups["string"] == "true" else "json"
        start = parameter.end()
        stop, after, is_closed = self._value_end(start, keys, groups["key"].strip())
        text = self._text[start:stop]
        for _ in range(self._family.trims_breaks):
            if self._family.trims_pairs and not (text.startswith("\n") and text.endswith("\n")):
                break
            text = text.removeprefix("\n").removesuffix("\n") if text != "\n" else ""
        return TagValue(self._unescape(groups["key"].strip()), text, after, is_closed, kind)

    def _value_end(self, start: int, keys: frozenset[str], key: str) -> tuple[int, int, bool]:
        """Return where a value ends, where its closing tag ends, and whether it has one.

        A further declared parameter on a line of its own, before any closing tag, ends a value that nothing closes.
        One that is not declared, or is this value's own, is text.
        """
        following = self._finder.next(self._family.parameter, start)
        position, first = start, None
        closer = self._finder.next(self._family.parameter_closer, start)
        if following is not None and closer is not None and following.start() < closer.start():
            on_own_line = self._text.endswith("\n", start, following.start())
            is_declared = following.group("key").strip() in keys - {key}
            if (self._family.exact_tags and (is_declared or not keys)) or (on_own_line and is_declared):
                return following.start(), following.start(), False
        for _ in range(_MAX_CLOSERS):
            closer = self._finder.next(self._family.parameter_closer, position)
            if closer is None:
                break
            first = first or closer
            if self._is_structure(closer.end()):
                goes_on = following is not None and self._follows_stray_text(first, following, closer)
                return self._end_before_call_end(start, first if goes_on else closer)
            position = closer.end()
        if first is not None:
            return self._end_before_call_end(start, first)
        limit = self._limit(start)
        return limit, limit, False

    def _follows_stray_text(self, first: re.Match[str], following: re.Match[str], closer: re.Match[str]) -> bool:
        """Return whether a further value begins between two closing tags, and not in the middle of a sentence."""
        is_between = first is not closer and first.end() <= following.start() < closer.start()
        behind = self._text[following.end() : following.end() + 1]
        return is_between and not (behind == " " and self._text[following.start() - 1] == " ")

    def _end_before_call_end(self, start: int, closer: re.Match[str]) -> tuple[int, int, bool]:
        """Return a value's end, unless the whole call ends before its closing tag."""
        end = self._finder.next(self._family.closer, start)
        if end is not None and end.start() < closer.start() and self._is_outside(end.end()):
            return end.start(), end.start(), False
        return closer.start(), closer.end(), True

    def _limit(self, start: int) -> int:
        patterns = (self._family.closer, self._family.parameter, self._family.opener, self._stops)
        matches = (self._finder.next(pattern, start) for pattern in patterns)
        return min((match.start() for match in matches if match is not None), default=self._region.stop)

    def _is_structure(self, position: int) -> bool:
        """Return whether the next thing is a value, the end of the call, or the end of the text."""
        position = self._skip_filler(position)
        if position >= self._region.stop:
            return True
        patterns = (self._family.parameter, self._family.closer, self._family.wrapper, self._family.opener, self._stops)
        return any(pattern.match(self._text, position, self._region.stop) for pattern in patterns)

    def _skip_filler(self, position: int) -> int:
        match = self._family.filler.match(self._text, position, self._region.stop)
        return position if match is None else match.end()

    def _is_outside(self, position: int) -> bool:
        """Return whether what comes next is not part of a call."""
        position = skip_space(self._text, position, self._region.stop)
        if position >= self._region.stop:
            return True
        patterns = (self._family.wrapper, self._family.opener, self._stops)
        return any(pattern.match(self._text, position, self._region.stop) for pattern in patterns)

    def _unescape(self, text: str) -> str:
        for entity, char in self._family.unescapes:
            text = text.replace(entity, char)
        return text
