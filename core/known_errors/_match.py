"""Which known sentence a text says."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from prompt_debugger.core.known_errors._lookup import SentenceIndex, Sentences
from prompt_debugger.core.known_errors.base import KnownError, is_cut_within

MAX_CHARS = 8_000  # of a text; its sentence is at the beginning
_QUOTES = str.maketrans({"‘": "'", "’": "'", "“": '"', "”": '"'})
_END = re.compile(r"(?<=[.!?])(?:\s|$|(?=['\"\\]))|(?=['\"]\))|\s(?=[{\[]%?)")
CUT = "…"  # at the end of words whose rest was not copied
_MIN_OF_CUT = 25  # characters before the end of a text that are known to be the middle of a sentence
_MAX_SAID = 200  # characters after the part that is known
_OPENED = re.compile(r"(?<![^\s:(])'[^'\s]{1,20} ?\Z")  # a quotation that is open where the known part begins
_MAX_BEFORE = 24  # characters
_SUBSCRIPT = re.compile(r"\{([a-z_]+)\}")


@dataclass(frozen=True, slots=True)
class Recognised:
    """A known sentence that was found in a text.

    Attributes:
        error: The sentence.
        maker: Who says it.
        parts: The texts of its variable parts, by name.
        sentence: Its words in the text, up to the end of the sentence.
    """

    error: KnownError
    maker: str
    parts: Mapping[str, str]
    sentence: str = ""

    @property
    def field(self) -> str | None:
        """Path of the request field that it names, such as `messages[2].content`."""
        path = _SUBSCRIPT.sub(lambda name: self.parts.get(name[1], ""), self.error.field)
        return path or None


def words_as_one_line(text: str) -> str:
    """Return the beginning of a text with plain quotation marks and single blanks, as sentences are compared."""
    return " ".join(text[:MAX_CHARS].split()).translate(_QUOTES)


def find_sentence(text: str, index: SentenceIndex) -> Recognised | None:
    """Return the known sentence that a text says; of several, the one with the most fixed text.

    Args:
        text: What someone said.
        index: The sentences, as they are looked up.
    """
    line = words_as_one_line(text)
    folded = line.lower()
    found = _find(line, folded, index.exact)
    if found is None and "`" not in line.replace("```", ""):
        found = _find(line, folded, index.bare)  # copied from a page that shows code marks as another font
    return found or (_cut_sentence(line, folded, index.exact) if line.endswith(CUT) else None)


def _cut_sentence(line: str, folded: str, sentences: Sentences) -> Recognised | None:
    """Return the known sentence that a text breaks off in; `None` if several fit that mean different things."""
    tail = line.rstrip(" .…")[-_MIN_OF_CUT:].lower()
    if len(tail) < _MIN_OF_CUT:
        return None
    cut: list[Recognised] = []
    for one in sentences.in_order:
        part = next((part for part in one.folded_parts if tail in part), None)
        if part is None or one.error.is_general:
            continue
        begins = part[: part.index(tail) + _MIN_OF_CUT].lstrip()
        at = folded.rfind(begins)
        if at >= 0:
            cut.append(Recognised(one.error, one.maker, {}, line[at:].rstrip(" .…")))
    remedies = {one.error.remedy for one in cut}
    return cut[0] if len(remedies) == 1 else None


def _find(line: str, folded: str, sentences: Sentences) -> Recognised | None:
    for one in sentences.heaviest_in(folded):
        found = one.pattern.search(line)
        if found is not None and not is_cut_within(found):
            parts = {name: text for name, text in found.groupdict().items() if text}
            return Recognised(one.error, one.maker, parts, _sentence(line, found.start(), found.end()))
    return None


def _sentence(line: str, start: int, stop: int) -> str:
    """Return a stretch of a line up to the end of its sentence, where that is near, with the quotation it begins in."""
    if (quoted := _OPENED.search(line, max(0, start - _MAX_BEFORE), start)) is not None:
        start = quoted.start()
    if line.count("`", 0, start) % 2 and (close := line.find("`", stop, stop + _MAX_SAID)) >= 0:
        stop = close  # it is quoted as code
    elif line[stop - 1] not in ".!?":
        end = _END.search(line, stop, stop + _MAX_SAID)
        stop = end.start() if end is not None else min(len(line), stop + _MAX_SAID)
    sentence = line[start:stop].strip().rstrip(" .:,")
    return sentence.removesuffix('"') if sentence.count('"') % 2 else sentence
