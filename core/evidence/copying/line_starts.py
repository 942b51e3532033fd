"""What copying or a log puts before each line of a text, taken off again.

12 | {"role": …        line numbers, where they rise by one
> {"role": …           quote marks
$ curl …               a shell's prompt
vllm-1  | INFO …       a container's or pod's name, a journal's or a container's time
chunk: {"id": …        the same words on every line
+ {"role": …           the signs of a diff
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from prompt_debugger.core.evidence.logs.lines import has_entries

_QUOTE = re.compile(r"[ \t]{0,3}>(?!>>) ?")
_MAX_QUOTED = 5  # times
_DOLLAR = re.compile(r"[ \t]{0,3}\$ ")
_NUMBER = re.compile(r"[ \t]*+(\d{1,7})(?:[ \t]*+[|:│→][ \t]?|\t| {1,2})")
_CONTAINER = re.compile(r"[A-Za-z][\w.-]{0,80}[ \t]++\| ?")
_POD = re.compile(r"\[pod/[\w./-]{1,200}\] ?")
_STAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d) (?:std(?:out|err) [FP] )?")
_JOURNAL = re.compile(r"[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \S{1,80} [^\s\[:]{1,80}(?:\[\d{1,9}\])?: ")
_NAMED = re.compile(r"(?=[\w./-]{0,60}[-_\d])[A-Za-z][\w./-]{1,60}:? ")  # of a container, between its time and a line
_ITEM = re.compile(r"[ \t]{0,3}(?:\d{1,2}[.)]|[-*+\u2022]) {1,3}")
_COMMENT = re.compile(r"[ \t]*+(?:#|//) ?")
_RANK = re.compile(r"\([\w. -]{1,60} pid=\d{1,9}\) ?")
_CHILD = re.compile(r"\[\d{5}\] ")  # the port of a llama-server that another one has started
_PREFIXES = (_CONTAINER, _POD, _JOURNAL, _STAMP, _RANK, _CHILD)
_PREFIXED = re.compile(f"(?m)^(?:{'|'.join(prefix.pattern for prefix in _PREFIXES)})")
_LABEL = re.compile(r"[^\s{}\[\]<>\"'][^{}<>\"'\n]{1,80}?(?:: |\| |> |\] |\) |- )(?=[\[{<\"]|data:|[A-Z]\w{1,40}\()")
_NUMBERED = re.compile(
    r"[ \t]{0,8}(?:[-*] )?\[?(?:(?:sse|stream|streamed) )?(?:chunk|event|delta|piece|frame)[ #\[]{0,2}(\d{1,5})"
    r"\]{0,2}[ ]?(?::|->|=>|=|-)[ ]?(?=\{)",
    re.IGNORECASE,
)
_MIN_LABELLED = 3  # lines
_MIN_SHARE = 0.9  # of the lines; a prefix may be missing where a terminal wrapped one
CODE_START = re.compile(r"[{\[<]|data:|(?:analysis|commentary)[A-Z ]|[A-Za-z]\w{1,40}\(")


def strip_prefix(line: str) -> str:
    """Return a line of a log without what containers, pods and journals put before it."""
    for _ in range(3):
        if not line[:1].isalnum() and not line.startswith(("[", "(")):
            return line  # as no prefix begins
        found = next((match for prefix in _PREFIXES if (match := prefix.match(line)) is not None), None)
        if found is None:
            return line
        line = line[found.end() :]
    return line


def strip_prefixes(text: str) -> str:
    """Return a log without what containers, pods and journals put before its lines."""
    return text if _PREFIXED.search(text) is None else "\n".join(map(strip_prefix, text.split("\n")))


def first_line(text: str) -> str:
    """Return the first line of a text that is not blank: what it does not show, not all lines show."""
    start = len(text) - len(text.lstrip())
    end = text.find("\n", start)
    return text[text.rfind("\n", 0, start) + 1 : end if end >= 0 else len(text)]


def drop_numbers(text: str) -> str | None:
    """Take off line numbers that rise by one from line to line."""
    if (_NUMBER.match(first_line(text)) or _bare_number(first_line(text))) is None:
        return None
    lines = text.split("\n")
    found = [_NUMBER.match(line) or _bare_number(line) for line in lines]
    numbers = [int(match[1]) for match in found if match is not None]
    filled = sum(1 for line in lines if line.strip())
    if not numbers or len(numbers) < filled:
        return None
    if len(numbers) == 1 and not CODE_START.match(lines[0][found[0].end() :] if found[0] is not None else ""):
        return None
    if any(after != before + 1 for before, after in pairwise(numbers)):
        return None
    kept = (line if match is None else line[match.end() :] for line, match in zip(lines, found, strict=True))
    return "\n".join(kept)


def _bare_number(line: str) -> re.Match[str] | None:
    return re.fullmatch(r"[ \t]*+(\d{1,7})[ \t]*+[|:│→]?", line)


def drop_quote_marks(text: str) -> str | None:
    """Take off the quote marks of mail and Markdown, as often as the text was quoted."""
    changed = None
    for _ in range(_MAX_QUOTED):
        found = _strip_lines(text, _QUOTE)
        if found is not None and found.startswith("<|") and text.lstrip().startswith("><|"):
            break  # the end of the tag before
        if found is None:
            break
        changed = text = found
    return changed


def drop_prompts(text: str) -> str | None:
    """Remove a shell prompt from the start of every line of a text that is not a command."""
    if _DOLLAR.match(first_line(text)) is None:
        return None
    first, *rest = text.split("\n")
    if rest and _DOLLAR.match(first) and all(line.startswith(">") for line in rest if line.strip()):
        return "\n".join([_DOLLAR.sub("", first, count=1), *(_QUOTE.sub("", line, count=1) for line in rest)])
    bare = _strip_lines(text, _DOLLAR)
    is_data = bare is not None and (CODE_START.match(bare.lstrip()) is not None or bare.count("\n") > 0)
    return bare if is_data else None


def drop_prefixes(text: str) -> str | None:
    """Take off what containers, pods and journals put before every line."""
    changed = None
    for _ in range(3):
        found = next((one for prefix in _PREFIXES if (one := _strip_lines(text, prefix)) is not None), None)
        if found is None:
            break
        is_stamped = _STAMP.match(first_line(text)) is not None
        changed = text = (_drop_name(found) if is_stamped else None) or found
    return changed


def _drop_name(text: str) -> str | None:
    """Take off the name that every line has in common, as logs of several containers have it; `None` without one."""
    lines = [line for line in text.split("\n") if line.strip()]
    found = _NAMED.match(lines[0]) if len(lines) >= _MIN_LABELLED else None
    if found is None or not all(line.startswith(found[0].rstrip()) for line in lines):
        return None
    return "\n".join(line[found.end() :] for line in text.split("\n"))


def drop_item(text: str) -> str | None:
    """Take off the sign of a list's item before data, where all lines below it are indented to be its own."""
    found = _ITEM.match(text)
    if found is None or CODE_START.match(text, found.end()) is None:
        return None
    first, *below = text.split("\n")
    filled = [line for line in below if line.strip()]
    if not filled or not all(line.startswith(("  ", "\t")) for line in filled):
        return None
    margin = min(found.end(), *(len(line) - len(line.lstrip()) for line in filled))
    return "\n".join([first[found.end() :], *(line[margin:] for line in below)])


def drop_comment_marks(text: str) -> str | None:
    """Take off the marks of a program's comments, where every line has one and they are data or a log without it."""
    mark = first_line(text).lstrip()[:2]
    lines = [line.lstrip() for line in text.split("\n") if line.strip()] if mark in ("# ", "//") else []
    if len(lines) < _MIN_LABELLED or not all(line.startswith(mark.rstrip()) for line in lines):
        return None
    bare = "\n".join(_COMMENT.sub("", line, count=1) for line in text.split("\n"))
    return bare if CODE_START.match(bare) is not None or has_entries(bare) else None


def drop_prefixes_below(text: str) -> str | None:
    """Take off the container's name before every line but the first, whose beginning was not copied."""
    first, *below = text.strip("\n").split("\n")
    filled = [line for line in below if line.strip()]
    found = _CONTAINER.match(filled[0]) if len(filled) > 1 else None
    if found is None or first.lstrip().startswith(found[0].strip()):
        return None
    name = found[0].rstrip()
    if not all(line.startswith(name) for line in filled):
        return None
    return "\n".join([first, *(_CONTAINER.sub("", line, count=1) for line in below)])


def drop_labels(text: str) -> str | None:
    """Remove the words that precede the data on every line: `Processed chunk: {…}`."""
    if _LABEL.match(first_line(text)) is None and _NUMBERED.match(first_line(text)) is None:
        return None
    lines = [line for line in text.split("\n") if line.strip()]
    if _are_numbered(lines):
        return "\n".join(_NUMBERED.sub("", line, count=1) for line in text.split("\n"))
    found = _LABEL.match(lines[0]) if len(lines) >= _MIN_LABELLED else None
    if found is None or found[0].startswith(("data:", "event:")) or has_entries(text):
        return None  # what a log says before its data is known
    if not all(line.startswith(found[0]) and CODE_START.match(line, found.end()) for line in lines):
        return None
    return "\n".join(line[found.end() :] for line in text.split("\n"))


def _are_numbered(lines: Sequence[str]) -> bool:
    """Return whether every line is a piece of a stream after its number, one following the other: `Chunk 1: {…}`."""
    numbers = [int(found[1]) for line in lines if (found := _NUMBERED.match(line)) is not None]
    is_counted = all(after == before + 1 for before, after in pairwise(numbers))
    return len(lines) == len(numbers) > 1 and is_counted and numbers[0] in (0, 1)


def drop_diff_signs(text: str) -> str | None:
    """Take off the sign of an added or a removed line, where every line has the same and they are data without it."""
    lines = [line for line in text.split("\n") if line]
    sign = lines[0][:1] if lines else ""
    if sign not in ("+", "-") or not sign or not all(line.startswith(sign) for line in lines):
        return None
    bare = "\n".join(line[1:] for line in text.split("\n"))
    return bare if bare.startswith("|") or CODE_START.match(bare) is not None else None


def _strip_lines(text: str, prefix: re.Pattern[str]) -> str | None:
    """Take a prefix off every line; `None` unless nearly all lines have it."""
    if prefix.match(first_line(text)) is None:
        return None
    lines = text.split("\n")
    filled = sum(1 for line in lines if line.strip())
    found = [prefix.match(line) for line in lines]
    count = sum(1 for match in found if match is not None)
    if count < filled * _MIN_SHARE:
        return None
    return "\n".join(line if match is None else line[match.end() :] for line, match in zip(lines, found, strict=True))
