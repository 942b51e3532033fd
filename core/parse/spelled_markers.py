"""Texts of control tokens that the model spelled in ordinary tokens: where the ids are known, they are text.

    A call begins with <|tool_call_begin|> …          spelled: `<`, `|`, `tool`, …
    <|tool_call_begin|>functions.f:0 …                the token itself, one id

The readers look for texts. So a spelled marker gets another first character before they read, one that the output
does not hold, and what they read gets it back; no position changes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from prompt_debugger.core.base.types import (
    JSON,
    FormatScore,
    ParsedMessage,
    Token,
    TokenKind,
    TokenTable,
    ToolCallAttempt,
)
from prompt_debugger.core.base.types.frozen import replace, value

_PRIVATE = range(0xE000, 0xF8FF)  # code points that no standard gives a meaning to
_CONTROL = (TokenKind.SPECIAL, TokenKind.ADDED)


@value(frozen=True, slots=True)
class HiddenMarkers:
    """An output whose spelled markers are hidden from the readers.

    Attributes:
        text: The output, of the same length.
        originals: The first character of the markers, by the code point that stands for it.
    """

    text: str
    originals: Mapping[int, str]

    def shown(self, text: str) -> str:
        """Return a text that was read from the output as the output has it."""
        return text.translate(dict(self.originals))

    def show_reading(self, parsed: ParsedMessage) -> ParsedMessage:
        """Return a reading with the texts as the output has them."""
        return replace(
            parsed,
            reasoning=None if parsed.reasoning is None else self.shown(parsed.reasoning),
            content=None if parsed.content is None else self.shown(parsed.content),
            calls=tuple(self._show_call(call) for call in parsed.calls),
        )

    def show_scores(self, scores: Mapping[str, FormatScore]) -> dict[str, FormatScore]:
        """Return scores whose evidence quotes the output as it is."""
        return {name: FormatScore(one.score, self.shown(one.evidence)) for name, one in scores.items()}

    def _show_call(self, call: ToolCallAttempt) -> ToolCallAttempt:
        arguments = self._show_value(call.arguments_json)
        return replace(
            call,
            name=None if call.name is None else self.shown(call.name),
            id=None if call.id is None else self.shown(call.id),
            arguments=self.shown(call.arguments),
            arguments_json=arguments if isinstance(arguments, dict) else None,
            problem=None if call.problem is None else self.shown(call.problem),
            deviation=None if call.deviation is None else self.shown(call.deviation),
        )

    def _show_value(self, item: JSON) -> JSON:
        if isinstance(item, str):
            return self.shown(item)
        if isinstance(item, list):
            return [self._show_value(one) for one in item]
        if isinstance(item, dict):
            return {self.shown(key): self._show_value(one) for key, one in item.items()}
        return item


def hide_spelled_markers(raw: str, tokens: Sequence[Token], special_texts: Iterable[str]) -> HiddenMarkers | None:
    """Hide texts of special tokens that no control token of the output wrote; `None` if there are none."""
    written: set[int] = set()
    if isinstance(tokens, TokenTable):  # whose tokens need not be made to learn their kinds
        for index, kind in enumerate(tokens.kinds):
            if kind in _CONTROL:
                written.update(range(tokens.edges[index], tokens.edges[index + 1]))
    else:
        written.update(place for token in tokens if token.kind in _CONTROL for place in range(*token.char_span))
    starts = sorted({start for text in special_texts if text for start in _places(raw, text)} - written)
    if not starts:
        return None
    free = (code for code in _PRIVATE if chr(code) not in raw)
    codes: dict[str, int] = {}
    pieces, position = [], 0
    for start in starts:
        first = raw[start]
        code = codes.get(first) or next(free, None)
        if code is None:
            return None
        codes[first] = code
        pieces += [raw[position:start], chr(code)]
        position = start + 1
    return HiddenMarkers("".join([*pieces, raw[position:]]), {code: first for first, code in codes.items()})


def _places(raw: str, text: str) -> Iterable[int]:
    start = raw.find(text)
    while start != -1:
        yield start
        start = raw.find(text, start + len(text))
