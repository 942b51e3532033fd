"""A message as it comes: content, names and arguments, each as soon as it is certain.

The readers read whole texts. So a text that grows is read again, but only when it
has grown by a thirty-second part, and not at all while it is plain words or inside
the JSON of arguments, which are passed on as they come: the work stays linear in
the length of the output.
"""

from __future__ import annotations

import re
import uuid
from dataclasses import replace

from prompt_debugger.core.base.protocols import ReadContext
from prompt_debugger.core.base.types import CallStatus, ParsedMessage, Place, SegmentKind, ToolCallAttempt
from prompt_debugger.core.formats import FORMATS, TABLES, TextFormat, score_formats
from prompt_debugger.core.parse.cut_markers import BegunMarkers
from prompt_debugger.core.tools.plugin.inside.arguments import (
    JSONTail,
    begins_as_json,
    begun_arguments,
    whole_arguments,
)
from prompt_debugger.core.tools.plugin.inside.certainty import (
    ENOUGH,
    certain_stop,
    has_plain_word_markers,
    may_be_quoted,
)
from prompt_debugger.core.tools.plugin.inside.deltas import CallDelta, Delta

_GROWTH = 32
_PROSE = ".,;!?'-()*#"
_PLAIN = re.compile(rf"[\w\s{re.escape(''.join(set(_PROSE).difference(TABLES.first_signs)))}]*\Z")
_TAGS = frozenset(tag.strip() for pair in TABLES.reasoning_pairs for tag in pair)


class CallStream:
    """Reads one output as it comes.

    Args:
        family: Format to read with, `auto` for the one that the output betrays.
        context: Tools, end of the prompt, special tokens.
        splits_reasoning: Whether reasoning is given as such; else it stays in the content, tags and all.
        calls_before: How many calls the conversation holds.
        is_patient: Whether `finish` is sure to be called; then a call that ends the text so far may wait for it.

    Behind reasoning that someone else took away, line breaks at the start are framing.
    """

    def __init__(
        self,
        family: str,
        context: ReadContext,
        *,
        splits_reasoning: bool = True,
        calls_before: int = 0,
        is_patient: bool = True,
    ) -> None:
        self._family = family
        self._context = context
        self._splits_reasoning = splits_reasoning
        self._calls_before = calls_before
        self._is_patient = is_patient
        self._parts: list[str] = []
        self._length = 0
        self._next_read = 1
        self._sent = Delta()
        self._sent_arguments: list[str] = []
        self._tail: JSONTail | None = None
        self._is_plain = False
        self._framing = _breaks_after_reasoning(family) if splits_reasoning else 0
        markers = FORMATS[family].conventions.markup if family in FORMATS else _markup_of_all()
        self._begun = BegunMarkers(markers)

    def feed(self, text: str) -> Delta:
        """Take the next piece of the output; return what is certain now and was not before."""
        text = self._begin(text)
        if not text:
            return Delta()
        self._parts.append(text)
        self._length += len(text)
        if self._tail is not None:
            return self._more_arguments(text)
        if self._is_plain and self._goes_on_plain(text):
            return self._content(text)
        if self._length < self._next_read:
            self._is_plain = False
            return Delta()
        self._next_read = self._length + max(1, self._length // _GROWTH)
        return self._read(is_end=False)

    def finish(self) -> Delta:
        """Say that the output ends here; return what was held back."""
        return self._read(is_end=True) if self._length else Delta()

    def _begin(self, text: str) -> str:
        """Take line breaks at the start away, as many as frame reasoning in front."""
        while self._framing and text:
            if text[0] != "\n":
                self._framing = 0
                break
            text, self._framing = text[1:], self._framing - 1
        return text

    def _goes_on_plain(self, text: str) -> bool:
        if has_plain_word_markers(FORMATS.get(self._family)):
            return False
        return _PLAIN.match(text) is not None and not text[-1].isspace() and not any(self._begun.at_end_of(text))

    def _content(self, text: str) -> Delta:
        self._sent = replace(self._sent, content=self._sent.content + text)
        return Delta(content=text)

    def _more_arguments(self, text: str) -> Delta:
        assert self._tail is not None
        made, _ = self._tail.feed(text)
        index = len(self._sent_arguments) - 1
        self._sent_arguments[index] += made
        if self._tail.is_done:
            self._tail = None
            self._next_read = self._length
        return Delta(calls=(CallDelta(index, arguments=made),)) if made else Delta()

    def _read(self, *, is_end: bool) -> Delta:
        raw = "".join(self._parts)
        self._parts = [raw]
        context = self._context if is_end else replace(self._context, finish_reason="length")
        family = self._choose(raw, context)
        reading = family.read(raw, context)
        calls = [call for call in reading.calls if call.place is Place.BODY and call.name]
        made = self._call_deltas(raw, family, calls, is_end=is_end)
        content, reasoning = self._texts(raw, reading, is_end=is_end)
        return Delta(content, reasoning, tuple(made))

    def _choose(self, raw: str, context: ReadContext) -> TextFormat:
        if self._family in FORMATS:
            return FORMATS[self._family]
        name = next(iter(score_formats(raw, context)))
        if self._sent_arguments:
            self._family = name  # what is given out cannot be taken back
        return FORMATS[name]

    def _call_deltas(
        self, raw: str, family: TextFormat, calls: list[ToolCallAttempt], *, is_end: bool
    ) -> list[CallDelta]:
        made: list[CallDelta] = []
        first = max(0, len(self._sent_arguments) - 1)
        for index, call in enumerate(calls[first:], first):
            is_over = is_end or index < len(calls) - 1 or self._is_over(raw, call)
            if index == len(self._sent_arguments):
                if not is_end and (may_be_quoted(raw, call, family) or not (is_over or _shows_arguments(call))):
                    break
                made.append(CallDelta(index, call.name, id_of_call(family, call, self._calls_before + index)))
                self._sent_arguments.append("")
                self._family = family.name
            if piece := self._arguments(raw, call, index, is_over=is_over):
                made.append(CallDelta(index, arguments=piece))
        return made

    def _is_over(self, raw: str, call: ToolCallAttempt) -> bool:
        """Return whether nothing that follows can make another call of the last one."""
        if call.status is not CallStatus.COMPLETE:
            return False
        is_sure = begins_as_json(call.arguments) and not call.arguments.lstrip().startswith("{}")
        return is_sure or not self._is_patient or len(raw) - call.char_span.stop >= ENOUGH

    def _arguments(self, raw: str, call: ToolCallAttempt, index: int, *, is_over: bool) -> str:
        sent = self._sent_arguments[index]
        if is_over and call.status is not CallStatus.TRUNCATED:
            now = whole_arguments(call)
        elif begins_as_json(call.arguments):
            tail = JSONTail()
            now, _ = tail.feed(call.arguments.lstrip())
            span = call.arguments_span
            if not is_over and not tail.is_done and span is not None and span.stop == len(raw):
                self._tail = tail
        else:
            now = begun_arguments(call)
        if not now.startswith(sent):
            return ""
        self._sent_arguments[index] = now
        return now[len(sent) :]

    def _texts(self, raw: str, reading: ParsedMessage, *, is_end: bool) -> tuple[str, str]:
        """Return new content and new reasoning."""
        content, reasoning = self._certain(raw, reading, is_end=is_end)
        if is_end:
            content += "".join(raw[slice(*call.char_span)] for call in reading.calls if _is_nameless(call))
        sent = self._sent
        more = content[len(sent.content) :] if content.startswith(sent.content) else ""
        thought = reasoning[len(sent.reasoning) :] if reasoning.startswith(sent.reasoning) else ""
        self._sent = Delta(sent.content + more, sent.reasoning + thought)
        return more, thought

    def _certain(self, raw: str, reading: ParsedMessage, *, is_end: bool) -> tuple[str, str]:
        """Return content and reasoning as far as they will stay; notes whether the text ends in plain words."""
        content: list[str] = []
        reasoning: list[str] = []
        self._is_plain = False
        calls_stop = max((call.char_span.stop for call in reading.calls), default=0)
        settled = len(raw) if is_end else calls_stop
        for segment in reading.segments:
            start, stop = segment.char_span
            is_content = segment.kind is SegmentKind.CONTENT or self._is_shown(raw[start:stop], segment.kind)
            if not is_content and segment.kind is not SegmentKind.REASONING:
                continue
            into = content if is_content else reasoning
            if start >= settled:
                if reading.calls and not self._is_over(raw, reading.calls[-1]):
                    break
                family = FORMATS.get(self._family)
                sure = certain_stop(raw, segment.char_span, family, follows_call=bool(reading.calls))
                if sure < stop:
                    into.append(raw[start:sure])
                    break
                self._is_plain = stop == len(raw) and not reading.calls and is_content
            into.append(raw[start:stop])
        return "".join(content), "".join(reasoning)

    def _is_shown(self, text: str, kind: SegmentKind) -> bool:
        """Return whether a stretch of reasoning, or a tag of it, is content here."""
        if self._splits_reasoning:
            return False
        return kind is SegmentKind.REASONING or (kind is SegmentKind.MARKUP and text.strip() in _TAGS)


def _is_nameless(call: ToolCallAttempt) -> bool:
    return call.place is Place.BODY and not call.name


def _breaks_after_reasoning(family: str) -> int:
    if family not in FORMATS:
        return 2
    tags = FORMATS[family].conventions.reasoning
    return 0 if tags is None else tags.after_close


def _markup_of_all() -> frozenset[str]:
    return frozenset(text for one in FORMATS.values() for text in one.conventions.markup)


def _shows_arguments(call: ToolCallAttempt) -> bool:
    """Return whether a call has arguments that show it to be one: JSON, or tags."""
    return begins_as_json(call.arguments) or call.arguments.lstrip().startswith("<")


_WITH_SHORT_IDS = frozenset({"mistral", "mistral_v11"})  # of nine letters and digits, else the template refuses them


def id_of_call(family: TextFormat, call: ToolCallAttempt, number: int) -> str:
    """Return the id to give a call of a family; `number` is how many calls the conversation has before it."""
    problem_of = family.facts.id_problem
    if problem_of is not None:
        return call.id if call.id and problem_of(call.id) is None else f"functions.{call.name}:{number}"
    if call.id:
        return call.id
    made = uuid.uuid4().hex
    return made[:9] if family.name in _WITH_SHORT_IDS else f"call_{made[:24]}"
