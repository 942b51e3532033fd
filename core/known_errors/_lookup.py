"""The known sentences as they are looked up: by a word that a text must have to say one.

There are more than a thousand. A text is read once, into its words, and only the sentences with one word among
them are looked for in it.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from prompt_debugger.core.known_errors.base import KnownError, pattern_of

_WORD = re.compile(r"\w+")
_WHOLE_WORD = re.compile(r"(?<=\W)\w+(?=\W)")  # whatever surrounds the part that has it


@dataclass(frozen=True)
class Sentence:
    """A known sentence, made ready to be looked for.

    Attributes:
        error: The sentence.
        maker: Who says it.
        place: Its place among all, in the order in which they are written.
        is_bare: Whether it is looked for without its code marks.
    """

    error: KnownError
    maker: str
    place: int
    is_bare: bool

    @cached_property
    def folded_parts(self) -> tuple[str, ...]:
        """The parts that do not vary, in small letters."""
        parts = self.error.bare_literals if self.is_bare else self.error.literals
        return tuple(part.lower() for part in parts)

    @cached_property
    def needles(self) -> tuple[str, ...]:
        """What each text that says it has, in small letters."""
        return tuple(part.strip() for part in self.folded_parts)

    @cached_property
    def weight(self) -> int:
        """How much of it does not vary."""
        return self.error.weight

    @property
    def pattern(self) -> re.Pattern[str]:
        """Its pattern."""
        return pattern_of(self.error.says.replace("`", "") if self.is_bare else self.error.says)


class Sentences:
    """Sentences by a word of each.

    Attributes:
        in_order: All of them, as they are written.
    """

    def __init__(self, sentences: Iterable[Sentence]) -> None:
        self.in_order = tuple(sentences)
        words = [{word for part in one.needles for word in _WHOLE_WORD.findall(part)} for one in self.in_order]
        said_by = Counter(word for of_one in words for word in of_one)
        by_word: dict[str, list[Sentence]] = defaultdict(list)
        for one, of_one in zip(self.in_order, words, strict=True):
            rarest = min(of_one, key=lambda word: (said_by[word], word), default="")
            by_word[rarest].append(one)
        self._wordless = by_word.pop("", [])
        self._by_word = by_word

    def heaviest_in(self, folded: str) -> Iterator[Sentence]:
        """Yield those whose fixed parts a text has, the heaviest first, of equal ones the first.

        Args:
            folded: The text in small letters.
        """
        near = [*self._wordless]
        for word in set(_WORD.findall(folded)) & self._by_word.keys():
            near += self._by_word[word]
        near.sort(key=lambda one: (-one.weight, one.place))
        return (one for one in near if all(needle in folded for needle in one.needles))


class SentenceIndex:
    """All known sentences, as they are written and without their code marks."""

    def __init__(self, tables: Mapping[str, tuple[KnownError, ...]]) -> None:
        self._all = [(maker, error) for maker, errors in tables.items() for error in errors]

    @cached_property
    def exact(self) -> Sentences:
        """The sentences as they are written."""
        return Sentences(self._sentence(place, is_bare=False) for place in range(len(self._all)))

    @cached_property
    def bare(self) -> Sentences:
        """Those that have code marks, without them."""
        marked = (place for place, (_, error) in enumerate(self._all) if "`" in error.says)
        return Sentences(self._sentence(place, is_bare=True) for place in marked)

    def _sentence(self, place: int, *, is_bare: bool) -> Sentence:
        maker, error = self._all[place]
        return Sentence(error, maker, place, is_bare)
