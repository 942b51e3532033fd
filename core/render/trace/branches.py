"""Where a template can go this way or that, and how often a render went there.

The places come from the tokens of the source, because Jinja's syntax tree does not
say where an `else` is; the counters are written into the generated code.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache

from prompt_debugger.core.base.types import Branch
from prompt_debugger.core.render.trace.lexer import Position

_OPENING = ("if", "for", "macro", "call")
_MIDDLE = ("elif", "else")
_CLOSING = {"endif": "if", "endfor": "for", "endmacro": "macro", "endcall": "call"}
_OPEN_BRACKETS, _CLOSE_BRACKETS = "([{", ")]}"


@dataclass(slots=True)
class Place:
    """One branch in the source.

    Attributes:
        kind: As `core.base.types.Branch.kind`.
        expression: Its condition, iteration or signature as written.
        start: Offset of its tag.
        stop: Offset after its body.
        statement: Index of the first branch of the same statement.
        is_counted: Whether the generated code counts it.
    """

    kind: str
    expression: str
    start: int
    stop: int
    statement: int
    is_counted: bool = False


_MAX_KNOWN = 64  # ways through a template that are remembered


@dataclass(slots=True)
class BranchMap:
    """The branches of one template and the counters of the render under way.

    Attributes:
        places: In order of appearance, inline conditions last.
        by_keyword: Indices of a statement's branches, by the offset of its first keyword.
        counts: Two numbers for each place, see `runs_slot` and `reached_slot`.
    """

    places: list[Place] = field(default_factory=list)
    by_keyword: dict[int, list[int]] = field(default_factory=dict)
    counts: list[int] = field(default_factory=list)
    _known: dict[tuple[str, tuple[int, ...]], tuple[Branch, ...]] = field(default_factory=dict)

    def add(self, kind: str, expression: str, start: int, stop: int, statement: int | None = None) -> int:
        """Note a place and return its index."""
        index = len(self.places)
        self.places.append(Place(kind, expression, start, stop, index if statement is None else statement))
        self.counts.extend((0, 0))
        return index

    def add_inline(self, source: str, start: int, stop: int) -> int:
        """Note both ways of an inline condition whose `if` is the last one in `source[start:stop]`."""
        keyword = source.rfind("if", start, stop)
        if keyword < 0:
            keyword = start
        end = _expression_end(source, keyword + 2)
        expression = source[keyword + 2 : end].strip()
        first = self.add("inline-if", expression, keyword, end)
        second = self.add("inline-else", expression, keyword, end, first)
        self.places[first].is_counted = self.places[second].is_counted = True
        return first

    def clear(self) -> None:
        """Set the counters back to zero."""
        self.counts[:] = [0] * len(self.counts)

    def branches(self, source: str) -> tuple[Branch, ...]:
        """Return the branches with their counts, by their place in the source."""
        key = source, tuple(self.counts)
        found = self._known.get(key)  # requests of one kind go the same ways
        if found is None:
            counted = [(place, index) for index, place in enumerate(self.places) if place.is_counted]
            counted.sort(key=_sort_key)
            found = tuple(self._branch(source, place, index) for place, index in counted)
            if len(self._known) >= _MAX_KNOWN:
                self._known.clear()
            self._known[key] = found
        return found

    def _branch(self, source: str, place: Place, index: int) -> Branch:
        runs = self.counts[runs_slot(index)]
        reached = self.counts[reached_slot(place.statement)]
        line, column, end_line = _lines(source, place.start, place.stop)
        return Branch(
            kind=place.kind,
            expression=place.expression,
            line=line,
            column=column,
            end_line=end_line,
            runs=runs,
            skips=reached if place.kind == "for" else max(0, reached - runs),
        )


@lru_cache(maxsize=1024)
def _lines(source: str, start: int, stop: int) -> tuple[int, int, int]:
    """Return line and column of the start, from 1, and the line of the stop; every render of a template asks."""
    before = source.count("\n", 0, start) + 1
    return before, start - source.rfind("\n", 0, start), source.count("\n", 0, stop) + 1


def runs_slot(index: int) -> int:
    """Return the counter of how often the body of a place ran."""
    return 2 * index


def reached_slot(index: int) -> int:
    """Return the counter of how often a statement was reached; of a loop, how often with nothing to go through."""
    return 2 * index + 1


def find_branches(tokens: Iterable[tuple[int, str, str]], source: str) -> BranchMap:
    """Return the branches of a template; `tokens` are numbered by `Position`, newlines of `source` normalised."""
    found = BranchMap()
    open_statements: list[tuple[str, list[int]]] = []
    for tag_start, keyword, name, stop in _tags(tokens):
        expression = source[keyword.stop : stop].strip().strip("-+").strip()
        if name in _OPENING:
            index = found.add(name, expression, tag_start, keyword.stop)
            found.by_keyword[keyword.start] = [index]
            open_statements.append((name, found.by_keyword[keyword.start]))
        elif name in _MIDDLE and open_statements:
            kind, indices = open_statements[-1]
            _close(found, indices, tag_start, source)
            # A loop's `else` is reached as often as the loop, which counts something else itself.
            statement = None if kind == "for" else indices[0]
            indices.append(found.add(name, expression, tag_start, keyword.stop, statement))
        elif name in _CLOSING and open_statements and open_statements[-1][0] == _CLOSING[name]:
            _close(found, open_statements.pop()[1], tag_start, source)
    return found


def _close(found: BranchMap, indices: list[int], tag_start: int, source: str) -> None:
    place = found.places[indices[-1]]
    place.stop = max(place.stop, len(source[:tag_start].rstrip()))


def _tags(tokens: Iterable[tuple[int, str, str]]) -> Iterator[tuple[int, Position, str, int]]:
    """Yield every block tag: offset of its start, position of its keyword, keyword, offset of its closing mark."""
    tag_start = -1
    keyword: Position | None = None
    name = ""
    for line, token, value in tokens:
        assert isinstance(line, Position)
        if token == "block_begin":
            tag_start, keyword = line.start, None
        elif token == "name" and tag_start >= 0 and keyword is None:
            keyword, name = line, value
        elif token == "block_end" and tag_start >= 0:
            if keyword is not None:
                yield tag_start, keyword, name, line.start
            tag_start = -1


def _expression_end(source: str, start: int) -> int:
    """Return where an inline condition ends: at its `else`, a closing bracket, a comma or the end of the tag."""
    depth, position = 0, start
    while position < len(source):
        char = source[position]
        if char in "\"'":
            position = _skip_string(source, position)
            continue
        if depth == 0 and (char == "," or source.startswith(("%}", "-%}", "-}}", "+%}"), position)):
            break
        if char in _CLOSE_BRACKETS:
            if depth == 0:
                break
            depth -= 1
        depth += char in _OPEN_BRACKETS
        if depth == 0 and source.startswith("else", position) and not _is_word(source, position - 1, position + 4):
            break
        position += 1
    return len(source[:position].rstrip())


def _is_word(source: str, *positions: int) -> bool:
    return any(
        source[position : position + 1].isalnum() or source[position : position + 1] == "_" for position in positions
    )


def _skip_string(source: str, start: int) -> int:
    position = start + 1
    while position < len(source) and source[position] != source[start]:
        position += 2 if source[position] == "\\" else 1
    return position + 1


def _sort_key(entry: tuple[Place, int]) -> tuple[int, int]:
    return entry[0].start, entry[1]
