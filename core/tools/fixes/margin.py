"""How close a tool call was: the marker that opens one against its best rival, where a call could have begun.

Looked at is the first token of the answer behind any reasoning; where a call was written, the token that began it.
A marker may be one token or several: of several the first one counts, if it is long enough to mean anything else.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from pydantic import computed_field

from prompt_debugger.core.base.types import JSONObject, Parse, Place, SegmentKind, TokenLogprob, Trace
from prompt_debugger.core.formats import FORMATS, TABLES
from prompt_debugger.core.report.wire.form import dump_document

_ALTERNATIVES = 5  # the server is asked for, where the request does not say
_MIN_CHARS = 3  # characters of a marker's first token: "<" alone may begin anything


@dataclass(frozen=True, slots=True)
class TriggerMargin:
    """How likely a call was where one could have begun.

    Attributes:
        token_index: Index of that token in the output, from 0.
        wrote: Text of the token that was written there.
        marker: The marker that opens a call; of several tokens the first.
        probability: Its probability, 0 to 1; where it is not among those that the server lists, the most it can be.
        is_listed: Whether the server lists it.
        rival: Text of the likeliest other token.
        rival_probability: Its probability.
    """

    token_index: int
    wrote: str
    marker: str
    probability: float
    is_listed: bool
    rival: str
    rival_probability: float

    @computed_field  # type: ignore[prop-decorator]  # what pydantic documents
    @property
    def margin(self) -> float:
        """Probability of the marker less that of its best rival; below 0 where a call was the less likely."""
        return self.probability - self.rival_probability

    @computed_field  # type: ignore[prop-decorator]  # as above
    @property
    def sentence(self) -> str:
        """What it says, in one sentence."""
        most = "" if self.is_listed else "at most "
        return (
            f"Where a call could have begun (token {self.token_index}), `{self.marker}` had "
            f"{most}{self.probability:.1%}, its strongest rival `{self.rival}` {self.rival_probability:.1%}."
        )

    def to_json(self) -> JSONObject:
        """Return it as the run document has it."""
        return dump_document(self)


def trigger_margin(trace: Trace) -> TriggerMargin | None:
    """Return how close a call was; `None` without tools, a reading, or log probabilities with alternatives."""
    body = trace.request.body
    logprobs = _logprobs(trace)
    if trace.parse is None or logprobs is None or not body.get("tools") or body.get("tool_choice") == "none":
        return None
    index = _token_at(trace, logprobs, _start_of_call(trace.parse))
    markers = _markers(trace)
    if index is None or not markers or len(logprobs[index].top) < 2:
        return None
    return _margin(index, logprobs[index], markers)


def ask_logprobs(body: JSONObject) -> JSONObject:
    """Return a request that asks for log probabilities with alternatives, as far as it does not already."""
    return {"top_logprobs": _ALTERNATIVES, **body, "logprobs": True}


def asks_for_margin(trace: Trace) -> bool:
    """Return whether an answer is prose though it could have been a call, and no log probabilities were requested."""
    body = trace.request.body
    could_call = bool(body.get("tools")) and body.get("tool_choice") != "none"
    return could_call and not body.get("logprobs") and trace.chat is not None and not _has_call(trace)


def margin_of_prose(trace: Trace) -> TriggerMargin | None:
    """Return how close a call was where the model wrote and returned none; `None` where one was, or that is unknown."""
    return None if _has_call(trace) else trigger_margin(trace)


def _has_call(trace: Trace) -> bool:
    """Return whether a call was written or returned; also where no one knows, as there is no reading."""
    if trace.parse is None or (trace.chat is not None and trace.chat.message.get("tool_calls")):
        return True
    return any(call.place is Place.BODY for call in trace.parse.parsed.calls)


def _margin(index: int, token: TokenLogprob, markers: Sequence[str]) -> TriggerMargin:
    listed = {token.text: token.logprob} | dict(token.top)
    opening = [text for text in listed if _opens(text, markers)]
    rivals = [text for text in listed if text not in opening]
    marker = max(opening, key=lambda text: listed[text], default=None)
    rival = max(rivals, key=lambda text: listed[text], default="")
    return TriggerMargin(
        token_index=index,
        wrote=token.text,
        marker=markers[0] if marker is None else marker,
        probability=_most_left(listed.values()) if marker is None else math.exp(listed[marker]),
        is_listed=marker is not None,
        rival=rival,
        rival_probability=math.exp(listed[rival]) if rivals else 0.0,
    )


def _most_left(logprobs: Collection[float]) -> float:
    """Return how probable a token can be at most that is not listed: no likelier than the least, nor than the rest."""
    probabilities = [math.exp(one) for one in logprobs]
    return max(0.0, min(min(probabilities), 1.0 - sum(probabilities)))


def _opens(text: str, markers: Sequence[str]) -> bool:
    bare = text.strip()
    return len(bare) >= _MIN_CHARS and any(marker.startswith(bare) or bare.startswith(marker) for marker in markers)


def _markers(trace: Trace) -> tuple[str, ...]:
    """Return the markers that open calls in the family of this run: of the server's parser, else of what was read."""
    parser = trace.tool_parser
    families = [name for name, parsers in TABLES.tool_parsers.items() if parser in parsers[:1]]
    if not families and trace.parse is not None:
        families = [trace.parse.parsed.format]
    found = [text for name in families if name in FORMATS for text in FORMATS[name].call_markers]
    return tuple(dict.fromkeys(sorted(filter(_is_opening, found), key=_rank)))


def _is_opening(marker: str) -> bool:
    word = marker.lower()
    return not marker.startswith("</") and "end" not in word and "|/" not in word and "argument" not in word


def _rank(marker: str) -> tuple[bool, int]:
    """Sort what opens a section of calls before what opens a single one."""
    return "section" not in marker and "calls" not in marker.lower(), -len(marker)


def _start_of_call(parse: Parse) -> int:
    """Return the character at which the first call of the body begins, its section's marker included; else the body."""
    segments = parse.parsed.segments
    first = next((call for call in parse.parsed.calls if call.place is Place.BODY), None)
    if first is not None:
        start = first.char_span.start
        for segment in reversed(segments):
            if segment.char_span.stop == start and segment.kind is SegmentKind.MARKUP:
                start = segment.char_span.start
        return start
    thoughts = [number for number, one in enumerate(segments) if one.kind is SegmentKind.REASONING]
    rest = segments[thoughts[-1] + 1 :] if thoughts else segments
    after = [one for one in rest if one.kind is not SegmentKind.MARKUP]
    return after[0].char_span.start if after else (segments[-1].char_span.stop if segments else 0)


def _logprobs(trace: Trace) -> tuple[TokenLogprob, ...] | None:
    return next((one.logprobs for one in (trace.raw, trace.chat) if one is not None and one.logprobs), None)


def _token_at(trace: Trace, logprobs: Sequence[TokenLogprob], char: int) -> int | None:
    """Return the index of the token that begins at a character; `None` if tokens and probabilities do not agree."""
    tokens = None if trace.raw is None else trace.raw.tokens
    if tokens is not None:
        if len(tokens) - len(logprobs) not in (0, 1):
            return None
        index = next((number for number, one in enumerate(tokens) if one.char_span.start >= char), None)
        return index if index is not None and index < len(logprobs) else None
    position = 0
    for number, one in enumerate(logprobs):
        if position >= char:
            return number
        position += len(one.text)
    return None
