"""What copying puts around a text, taken off again: colours, quote marks, line numbers, log prefixes, escapes.

Each is taken off only where all of the text shows it, so that a text that was copied well stays as it is.
"""

from __future__ import annotations

import ast
import html
import json
import re
import textwrap
from collections.abc import Callable, Sequence
from itertools import islice
from typing import NamedTuple

from prompt_debugger.core.base.text import has_any
from prompt_debugger.core.evidence.copying.escaping import escape_content
from prompt_debugger.core.evidence.copying.json_strings import (
    assigned_text,
    decode_below_command,
    decode_lines,
    decode_only_line,
    decode_text,
)
from prompt_debugger.core.evidence.copying.line_starts import (
    CODE_START,
    drop_comment_marks,
    drop_diff_signs,
    drop_item,
    drop_labels,
    drop_numbers,
    drop_prefixes,
    drop_prefixes_below,
    drop_prompts,
    drop_quote_marks,
    first_line,
)
from prompt_debugger.core.evidence.copying.markdown_table import unfold_tables
from prompt_debugger.core.evidence.copying.other_notations import (
    close_dsml,
    join_printed_pieces,
    printed_as_json,
    yaml_as_json,
)
from prompt_debugger.core.evidence.copying.transcripts import (
    as_prompts,
    drop_bars,
    lines_of_docker,
    notebook_as_session,
    output_of_command,
)
from prompt_debugger.core.evidence.copying.wrapped import (
    join_escapes,
    join_full_lines,
    join_print,
    unwrap,
    unwrap_escaped,
    unwrap_paragraphs,
)
from prompt_debugger.core.evidence.logs.columns import joined_entries
from prompt_debugger.core.evidence.no_errors.transcripts import drop_code_errors
from prompt_debugger.core.evidence.values.json_of import json_of

_ANSI = re.compile(r"\x1b(?:\[[0-?]*+[ -/]*+[@-~]|\][^\x07\x1b\n]*+(?:\x07|\x1b\\)?|[@-Z\\-_])")
_CURLY = str.maketrans({"\u201c": '"', "\u201d": '"', "\u201e": '"', "\u2018": "'", "\u2019": "'", "\u201a": "'"})
_SINGLE_KEY = re.compile("[{,]\\s{0,8}\u2018[^\u2018\u2019\n]{1,80}\u2019\\s{0,4}:")  # of a printed dict
_CLOSING_QUOTE = re.compile("\u2019(?=\\s{0,8}[:,}\\])])")  # the others are apostrophes
_INDENT = re.compile(r"(?m)^[ \t]*+\u00a0[ \t\u00a0]*+")  # as web pages indent code
_CARETS = re.compile(r"(?<=\S)\^M(?=\^\[|\n|\Z)\n?")  # a carriage return, as `cat -v` and editors show it
# Colours whose escape character was lost in a copy: `[31mError[0m`.
_COLOUR = re.compile(r"(?:\^\[|\u241b)?(?<!\\u001b)(?<!\\x1b)(?<!\\033)(?<!\\e)\[\d{1,3}(?:;\d{1,3}){0,4}m")
_RESETS = ("[0m", "[0;0m")
_MIN_COLOURS = 2
_SHOWN = re.compile(
    r"\s*+<(?:pre|code)\b[^<>\n]{0,200}>(?:<code\b[^<>\n]{0,200}>)?(?P<code>(?:(?!</?(?:pre|code)\b)[^\0])++)"
    r"(?:</code>\s{0,4})?(?:</pre>)?\s*"
)
_GLUED = re.compile(r"(?m)^[ \t]{0,8}(?:json|JSON)(?=(?:\{|\[[ \t]*\n?[ \t]*\{)\s)")  # the language of a code box
_INVISIBLE = re.compile("[\ufeff\u200b\u2060]")
# What a person wrote after a line of JSON: `"content": null,   <---- missing`.
_REMARK = re.compile(r"(?m)(?<=[,{}\[\]\"\w])[ \t]{1,40}(?:<[-=]|---|\u2190)[^\n\"{}\[\]]{0,120}$")
_LEAD = re.compile(r"[^{}\[\]\n]{1,400}(?:\n[^{}\[\]\n]{1,400}){0,8}\n\s{0,20}(?=[{\[])")
_MAX_EVENTS = 20_000
_TAG_BREAK = re.compile(r">\\n\s{0,4}</?[\w|]")
_BARE_QUOTE = re.compile(r'(?<!\\)(?:\\\\)*"')
_SPACED_KEY = re.compile("[\"']:\u00a0")  # behind every key of JSON
_KEY = re.compile("[\"']: ")
_WITHIN = re.compile(r"\S {1,8}\S")  # blanks that indent nothing
_BLANK_LINE = re.compile(r"\n[ \t]*\n")
_MAX_PARAGRAPHS = 50
_BOX = "\u2503\u2502|"
_CORNERS = "\u256d\u250c\u250f\u2554"
_EDGE = re.compile(r"[\u2500-\u257f]{2,}(?:[^\n\u2500-\u257f]{1,80}[\u2500-\u257f]{2,})?")  # or with a title in it
_LITERAL = re.compile(r"'(?:[^'\\\n]|\\.)*+',?|\"(?:[^\"\\\n]|\\.)*+\",?")
_PYDANTIC_GAP = re.compile(r"(?<=[\w\])])\n\n(?=[\w.\[\]]{1,80}\n[ \t]{0,8}[A-Z][^\n]{1,300}\[type=\w)")
_MAX_LITERALS = 200  # lines


Step = tuple[str, Callable[[str], str | None]]


_SPEAKER = re.compile(r"\s*+(?:Roo|Cline|Kilo(?: Code)?|Zoo) (?:said|says):?[ \t]*\n(?=\s{0,8}[\[<{])")


class Cleaned(NamedTuple):
    """A text without what copying put around it.

    Attributes:
        text: The rest.
        notes: What was taken off, a sentence each.
    """

    text: str
    notes: tuple[str, ...]


def clean(text: str) -> Cleaned:
    """Remove what a copy or a terminal added to a text as a whole, and no one wrote."""
    text, notes = _after(_STEPS, text)
    parts = _BLANK_LINE.split(text)
    if not 1 < len(parts) <= _MAX_PARAGRAPHS:
        return Cleaned(text, tuple(dict.fromkeys(notes)))
    cleaned = [_after(_OF_A_PART, part) for part in parts]  # several things, each copied in its own way
    kept = [one if CODE_START.match(one[0].lstrip()) else (part, []) for one, part in zip(cleaned, parts, strict=True)]
    if any(inner for _, inner in kept):
        text = "\n\n".join(part for part, _ in kept)
        notes += [note for _, inner in kept for note in inner]
    return Cleaned(text, tuple(dict.fromkeys(notes)))


def _after(steps: Sequence[Step], text: str) -> tuple[str, list[str]]:
    """Return a text after steps, and what is to be said of those that changed it."""
    notes: list[str] = []
    for note, change in steps:
        changed = change(text)
        if changed is not None:
            text = changed
            notes += [note] if note else []
    return text, notes


def _uncoloured(text: str) -> str | None:
    if "^M" in text and _CARETS.search(text) is not None:
        text = _CARETS.sub("\n", text)
    if "\x1b" in text:
        return _ANSI.sub("", text)
    if not any(reset in text for reset in _RESETS) or len(_COLOUR.findall(text)) < _MIN_COLOURS:
        return None
    return _COLOUR.sub("", text)


def _spaced(text: str) -> str | None:
    """Turn back the no-break spaces of a text that has no others, or of its indentation."""
    if "\u00a0" not in text:
        return None
    if " " not in text or (_SPACED_KEY.search(text) is not None and _KEY.search(text) is None):
        return text.replace("\u00a0", " ")
    if _BLANK_LINE.search(text) is not None:  # several things, one of them copied from a page
        parts = _BLANK_LINE.split(text)
        spaced = "\n\n".join(part if _WITHIN.search(part) else part.replace("\u00a0", " ") for part in parts)
        if spaced != text:
            return spaced
    return _INDENT.sub(_blanks, text) if _INDENT.search(text) is not None else None


def _unspoken(text: str) -> str | None:
    """Return the answer that a user copied from an agent's window, without the line that says who speaks."""
    found = _SPEAKER.match(text)
    return None if found is None else text[found.end() :]


def _drop_language(text: str) -> str | None:
    """Return a text without the language of a code box that a copy glued to its JSON: `json{`."""
    if "json{" not in text and "json[" not in text:
        return None
    changed = _GLUED.sub("", text)
    return None if changed == text else changed


def _blanks(match: re.Match[str]) -> str:
    return match[0].replace("\u00a0", " ")


def _unprinted(text: str) -> str | None:
    """Return events that Python printed as dicts, one per line, as JSON."""
    if not first_line(text).lstrip().startswith("{'type': '"):
        return None
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    if not 1 < len(lines) <= _MAX_EVENTS or not all(line.startswith("{'type': '") for line in lines):
        return None
    try:
        return "\n".join(json.dumps(ast.literal_eval(line)) for line in lines)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None


def _joined_literals(text: str) -> str | None:
    """Return strings that were copied out of a program, one below the other, as the text that they make."""
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    if not 1 < len(lines) <= _MAX_LITERALS or not all(map(_LITERAL.fullmatch, lines)):
        return None
    if any(line.endswith(",") for line in lines[:-1]) or "\n\n" in text.strip():
        return None  # members of a list, or things shown one after the other
    try:
        joined = ast.literal_eval(f"({text.strip().rstrip(',')})")
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None
    return joined if isinstance(joined, str) else None


def _unescaped_once(text: str) -> str | None:
    """Undo the escapes of a text that was copied out of a JSON string: all of its quotes are escaped."""
    text = text.replace('\\\n"', '\\"')  # a width broke an escape
    if not (has_any(text, ('\\"', "\\u201")) or _breaks_between_tags(text)) or _BARE_QUOTE.search(text) is not None:
        return None
    text = join_full_lines(text.strip("\n")) or text  # a terminal wrapped a text that had no line ends
    inside = text.rstrip("\\").replace("\n", "\\n").replace("\t", "\\t")
    inner = json_of(f'"{inside}"')
    if isinstance(inner, str):
        return inner
    return text.replace('\\"', '"') if text.lstrip().startswith(('{\\"', '[{\\"')) else None


def _breaks_between_tags(text: str) -> bool:
    """Return whether a line has the escapes of line breaks between its tags, as a string has them and no output."""
    if "\n" in text.strip() or has_any(text, ("'", '"')):
        return False  # or in one that Python printed with what is around it
    return sum(1 for _ in islice(_TAG_BREAK.finditer(text), 2)) == 2


def _unremarked(text: str) -> str | None:
    """Remove what is not JSON at the ends of lines, if all that remains is JSON, but for a sentence above it."""
    lead = _LEAD.match(text)
    start = 0 if lead is None else lead.end()
    if _REMARK.search(text, start) is None or json_of(text[start:]) is not None:
        return None
    bare = _REMARK.sub("", text[start:])
    return f"{text[:start]}{bare}" if json_of(bare) is not None else None


def _uncommented(text: str) -> str | None:
    """Remove comment lines between objects that are written one per line."""
    if not first_line(text).lstrip().startswith(("{", "//", "#")):
        return None
    lines = [line for line in text.split("\n") if line.strip()]
    kept = [line for line in lines if not line.lstrip().startswith(("//", "#"))]
    if len(lines) == len(kept) or len(kept) < 2 or not all(line.lstrip().startswith("{") for line in kept):
        return None
    return "\n".join(kept) if all(json_of(line) is not None for line in kept) else None


def _unboxed(text: str) -> str | None:
    """Take off the sides of a box that a terminal's program drew around every line; a copy may end within the last."""
    if first_line(text).lstrip()[:1] not in (*_BOX, *_CORNERS):
        return None
    lines = [line.strip() for line in text.split("\n") if line.strip() and _EDGE.fullmatch(line.strip()) is None]
    if lines and lines[-1][0] in _BOX[:2] and lines[-1][-1] != lines[-1][0]:
        lines[-1] = f"{lines[-1]} {lines[-1][0]}"
    if len(lines) < 3 or not all(len(line) > 1 and line[0] == line[-1] and line[0] in _BOX for line in lines):
        return None
    if any("|" in line[1:-1] or not line.strip("|-: ") for line in lines if line[0] == "|"):
        return None  # a table
    return "\n".join(line[1:-1].strip() for line in lines)


def _unindented(text: str) -> str:
    """Take off the margin that two or more lines have in common, as of an indented block of Markdown."""
    if not first_line(text).startswith(("  ", "\t")):
        return text
    lines = [line for line in text.split("\n") if line.strip()]
    if len(lines) < 2 or not all(line.startswith(("  ", "\t")) for line in lines):
        return text
    return textwrap.dedent(text)


def _unescaped(text: str) -> str | None:
    """Undo the HTML escaping of a whole text: it contains no character that would have been escaped."""
    if "&" not in text or "<" in text:
        return None
    has_quotes = "&quot;" in text or "&#34;" in text or "&#39;" in text or "&#x27;" in text
    if has_quotes and '"' not in text:
        return unwrap_escaped(text) or html.unescape(join_escapes(text))
    is_json = text.lstrip().startswith(("{", "[", "data:")) and '"' in text  # with typographic quotes it is a page's
    return html.unescape(text) if "&lt;" in text and not is_json else None


def _untagged(text: str) -> str | None:
    """Return what a page shows as code, where that is all of a text."""
    found = _SHOWN.fullmatch(text) if "<pre" in text or "<code" in text else None
    return None if found is None else html.unescape(found["code"])


def _straightened(text: str) -> str | None:
    """Turn back the quotes of a text whose quotes are typographic without exception: double ones, or Python's."""
    if '"' in text:
        return None
    if "\u201c" in text or "\u201d" in text:
        return text.translate(_CURLY)
    if "'" in text or _SINGLE_KEY.search(text) is None:
        return None
    return _CLOSING_QUOTE.sub("'", text.replace("\u2018", "'"))


def _put_together(text: str) -> str | None:
    """Put a text together that a Go program has in pieces, as its raw strings cannot hold a backtick."""
    return text.replace(_GO_BACKTICK, "`") if _GO_BACKTICK in text else None


def _closed_up(text: str) -> str | None:
    """Remove the empty lines within a message of pydantic that a page set as paragraphs."""
    return _PYDANTIC_GAP.sub("\n", text) if "\n\n" in text and " validation error" in text else None


def _use_line_feeds(text: str) -> str | None:
    bare = text.replace("\r\n", "\n") if text.count("\r\n") == text.count("\n") else text
    return bare.lstrip("\ufeff\u200b")


_GO_BACKTICK = '` + "`" + `'
# The steps in order, each with its note; a change that no one can see has none.
_STEPS: tuple[Step, ...] = (
    ("Terminal colours were removed.", _uncoloured),
    ("Errors of code that an agent's model wrote were left out: they went back to the model.", drop_code_errors),
    ("", _use_line_feeds),
    ("Backticks that a Go program concatenates were put back into the text.", _put_together),
    ("", _closed_up),
    ("", joined_entries),
    ("No-break spaces were replaced by plain ones.", _spaced),
    ("Quotation marks within `content` were not escaped; they were read as a part of it.", escape_content),
    ("The line that says who spoke was removed.", _unspoken),
    ("The language of a code box, which a copy glued to its JSON, was removed.", _drop_language),
    ("Line breaks from wrapping were removed.", join_print),
    ("Line numbers at the beginning of each line were removed.", drop_numbers),
    ("The signs of a diff at the beginning of each line were removed.", drop_diff_signs),
    ("The lines that Docker keeps as JSON were unwrapped.", lines_of_docker),
    ("The cells of the notebook were written one below the other.", notebook_as_session),
    ("", as_prompts),
    ("The command above the text and the prompt below it were removed.", output_of_command),
    ("Quote marks at the beginning of each line were removed.", drop_quote_marks),
    ("Quote marks at the beginning of each line were removed.", drop_bars),
    ("The marks of a comment at the beginning of each line were removed.", drop_comment_marks),
    ("A shell's prompts at the beginning of each line were removed.", drop_prompts),
    ("Log prefixes at the beginning of each line were removed.", drop_prefixes),
    ("Log prefixes at the beginning of each line were removed.", drop_prefixes_below),
    ("The same words at the beginning of each line were removed.", drop_labels),
    ("", _unprinted),
    ("The sign of a list's item before the text was removed.", drop_item),
    ("", _unindented),
    ("No-break spaces were replaced by plain ones.", _spaced),
    ("A frame around each line was removed.", _unboxed),
    ("The table around the text was removed.", unfold_tables),
    ("", join_printed_pieces),
    ("Blanks in the marks of DeepSeek's tags were taken out.", close_dsml),
    ("The tags of a page around the text were removed.", _untagged),
    ("HTML escapes were decoded.", _unescaped),
    ("Typographic quotes were replaced by plain ones.", _straightened),
    ("The strings of a program, one below the other, were joined.", _joined_literals),
    ("The string was taken out of the line of Python that assigns it.", assigned_text),
    ("The JSON string around the text was unwrapped.", decode_text),
    ("The JSON string below the command was unwrapped.", decode_below_command),
    ("The text above a JSON string was left out, and the string was unwrapped.", decode_only_line),
    ("The JSON string around the text was unwrapped.", decode_lines),
    ("Escapes of a JSON string around the text were decoded.", _unescaped_once),
    ("Typographic quotes were replaced by plain ones.", _straightened),
    ("The table around the text was removed.", unfold_tables),
    ("No-break spaces were replaced by plain ones.", _spaced),
    ("Remarks next to lines of JSON were removed.", _unremarked),
    ("Comments between lines of JSON were removed.", _uncommented),
    ("What a program in another language printed was read as JSON.", printed_as_json),
    ("The text is YAML; it was read as JSON.", yaml_as_json),
    ("Line breaks from wrapping were removed.", unwrap),
    ("Line breaks from wrapping were removed.", unwrap_paragraphs),
)
# Of several things below one another, what each may carry.
_OF_A_PART: tuple[Step, ...] = tuple(
    step
    for step in _STEPS
    if step[1]
    in (
        drop_numbers,
        drop_diff_signs,
        output_of_command,
        drop_prefixes,
        _unescaped,
        _straightened,
        decode_text,
        decode_below_command,
        decode_only_line,
        _unescaped_once,
    )
)
