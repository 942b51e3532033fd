"""What a grammar would say if each marker were read by its id, and not by its text.

XGrammar's tags are about text, so a server that enforces them cannot distinguish a marker from the same text in
ordinary tokens; a parser that reads ids can. Each marker that is one token becomes one control character, in the tag
and in the output, which no JSON string may contain.
"""

from __future__ import annotations

import re

from prompt_debugger.core.base.errors import EngineError
from prompt_debugger.core.base.protocols import Tokenizer
from prompt_debugger.core.base.structural_tag import GrammarPlan
from prompt_debugger.core.base.types import JSONObject
from prompt_debugger.core.tools.grammar.matcher import GrammarMatcher, GrammarRefusedError
from prompt_debugger.core.tools.grammar.output import Output
from prompt_debugger.core.tools.grammar.tags import replace_strings, strings_of
from prompt_debugger.core.tools.grammar.verdict import GrammarStatus, GrammarVerdict, TokenReading

_MARKER = re.compile(r"<[^<>\s]+>")
_CONTROLS = tuple(chr(code) for code in range(1, 32) if chr(code) not in "\t\n\r")
_OTHER = "\x7f"  # in place of a sign that the output itself contains


def read_by_tokens(
    matcher: GrammarMatcher, plan: GrammarPlan, output: Output, tokenizer: Tokenizer, verdict: GrammarVerdict
) -> TokenReading | None:
    """Return what differs from `verdict` if markers are read by id, `None` if nothing does or it is unknown."""
    try:
        tag = matcher.tag(plan)
        return _compare(matcher, tag, output, tokenizer, verdict)
    except (GrammarRefusedError, EngineError):
        return None


def _compare(
    matcher: GrammarMatcher, tag: JSONObject, output: Output, tokenizer: Tokenizer, verdict: GrammarVerdict
) -> TokenReading | None:
    texts = dict.fromkeys(marker for text in strings_of(tag) for marker in _MARKER.findall(text))
    atoms = {text: ids[0] for text in texts if len(ids := tokenizer.encode(text)) == 1}
    signs = dict(zip(atoms, _CONTROLS, strict=False))
    sign_of_id = {atoms[text]: sign for text, sign in signs.items()}
    data, starts = _write(output, sign_of_id)
    walk = matcher.walk_tag(replace_strings(tag, signs), data)
    place = next((index for index, start in reversed(starts) if start <= walk.accepted), None)
    status = GrammarStatus.LEGAL if walk.is_completed else GrammarStatus.INCOMPLETE
    if walk.accepted < len(data) or (status is GrammarStatus.INCOMPLETE and output.is_ended):
        status = GrammarStatus.STEERED
    if place is None or walk.accepted == len(data):
        if status is verdict.status:
            return None
        return TokenReading(status, None, None, "The text spells a marker that is not in the ids.")
    first = verdict.first
    if status is verdict.status and first is not None and first.token_index in (None, place):
        return None
    token = output.tokens[place]
    sentence = (
        f"Token {place} ({token.text!r}) is where a marker would have to be a single token, or is a marker "
        "where text is expected; the text alone does not show it."
    )
    return TokenReading(status, token.char_span.start, place, sentence)


def _write(output: Output, sign_of_id: dict[int, str]) -> tuple[bytes, list[tuple[int, int]]]:
    """Return the output with signs in place of markers, and index and first byte of each token in it."""
    foreign = {ord(sign): ord(_OTHER) for sign in sign_of_id.values()}
    data, starts = bytearray(), []
    for index, token in enumerate(output.tokens):
        if token.char_span.start < output.start_char or token.char_span.start >= output.end_char:
            continue
        starts.append((index, len(data)))
        sign = sign_of_id.get(token.id)
        data += sign.encode() if sign else bytes(foreign.get(byte, byte) for byte in token.piece)
    return bytes(data), starts
