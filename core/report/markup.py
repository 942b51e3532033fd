"""Text of a run inside Markdown: shown as it is written, never obeyed.

What a model, a server or a stranger's bundle wrote must not become a link, an image, HTML, a heading or a mention in
someone's issue. Marks of Markdown are escaped. Against what trackers look for in finished text, such as `@name`,
`#123` and addresses, an escape does not help; words that contain it become code. Blocks are fenced by more backticks
than any run inside. Secrets are taken out of each text before it is written.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from prompt_debugger.core.base.text import printable
from prompt_debugger.core.report.redact import redact_text

_MARKS = re.compile(r"[\\`*\[\]<>|~$&]|(?<![^\W_])_|_(?![^\W_])|^(?:[-+=#](?=\s|$|#|=|-)|\d+(?=[.)]$))")
# What trackers act on in text that is not code: mentions, references, addresses, commits, emoji.
_ACTIVE = re.compile(
    r"@\w|[#!%~]\d|\bGH-\d|://|\b(?:www\.|mailto:|xmpp:|data:|javascript:)|\b[0-9a-f]{7,40}\b|:[\w+-]+:", re.IGNORECASE
)
_ENTITIES = {"<": "&lt;", ">": "&gt;", "&": "&amp;"}
_RUNS = re.compile("`+")
_SPAN = re.compile(r"`[^`]+`")  # as our sentences name things; its content is written once more
_BARS = re.compile(r"(?<!\\)(\\*+)\|")


def prose(text: str, most: int | None = None) -> str:
    """Return a text on one line, as Markdown that shows it, cut to `most` characters with the number left out."""
    shown = " ".join(redact_text(_cut(text, most)).split())
    pieces: list[str] = []
    end = 0
    for span in _SPAN.finditer(shown):
        pieces += (_words(shown[end : span.start()], is_first=end == 0), code(span.group()[1:-1]))
        end = span.end()
    pieces.append(_words(shown[end:], is_first=end == 0))
    return "".join(_separate_backticks(filter(None, pieces)))


def _separate_backticks(pieces: Iterable[str]) -> Iterator[str]:
    """Yield pieces with a space where backticks would meet and become one longer mark."""
    before = ""
    for piece in pieces:
        if before.endswith("`") and piece.startswith("`"):
            yield " "
        yield piece
        before = piece


def _words(text: str, *, is_first: bool) -> str:
    words = text.split(" ")
    return " ".join(
        _word(printable(word, on_one_line=True), is_first=is_first and index == 0) for index, word in enumerate(words)
    )


def cell(text: str, most: int | None = None) -> str:
    """Return a text for a cell of a table, where a bar ends the cell even inside code."""
    return _escape_bars(prose(text, most))


def code_cell(text: str, most: int) -> str:
    """Return a text as code in a cell of a table."""
    return _escape_bars(code(redact_text(_cut(text, most))))


def code(text: str) -> str:
    """Return a text on one line as code."""
    shown = printable(" ".join(text.split()), on_one_line=True)
    mark = "`" * (1 + _longest_run(shown))
    edge = " " if shown[:1] in ("`", " ", "") or shown[-1:] in ("`", " ") else ""
    return f"{mark}{edge}{shown}{edge}{mark}"


def fenced(text: str, language: str = "") -> Iterator[str]:
    """Yield the lines of a code block that nothing inside it ends."""
    shown = printable(redact_text(text))
    fence = fence_of(shown)
    yield fence + language
    yield shown
    yield fence


def fence_of(text: str) -> str:
    """Return a fence longer than any run of backticks in a text."""
    return "`" * max(3, 1 + _longest_run(text))


def _escape_bars(text: str) -> str:
    """Return Markdown with an odd number of backslashes before every bar: an even one would end the cell."""
    return _BARS.sub(lambda bar: bar.group() if len(bar.group(1)) % 2 else rf"{bar.group(1)}\|", text)


def _longest_run(text: str) -> int:
    return max((len(run) for run in _RUNS.findall(text)), default=0)


def _word(word: str, *, is_first: bool) -> str:
    if _ACTIVE.search(word):
        return code(word)
    return _MARKS.sub(lambda mark: _escaped(mark, is_first=is_first), word)


def _escaped(mark: re.Match[str], *, is_first: bool) -> str:
    text = mark.group()
    if text in _ENTITIES:
        return _ENTITIES[text]
    if text.isdigit():  # "1." begins a list
        return f"{text}\\" if is_first else text
    return text if text in ("-", "+", "=", "#") and not is_first else f"\\{text}"


def _cut(text: str, most: int | None) -> str:
    if most is None or len(text) <= most:
        return text
    return f"{text[:most]}… ({len(text) - most} more characters)"
