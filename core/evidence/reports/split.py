"""A text of several things → its blocks: fenced code, JSON, streams, commands, interactive sessions, and prose.

    ```json … ```    {"model": …}    data: {…}    $ curl …    >>> print(x)

Every character is looked at a bounded number of times; what a block holds is not decided here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace

from prompt_debugger.core.base.json_values import is_json
from prompt_debugger.core.base.types import JSON
from prompt_debugger.core.evidence.answers.read import is_answer, is_event_list
from prompt_debugger.core.evidence.answers.shapes import chunk_of_delta, is_chunk
from prompt_debugger.core.evidence.reports.blocks import MAX_BLOCKS, Block, BlockKind
from prompt_debugger.core.evidence.reports.http_heads import join_heads
from prompt_debugger.core.evidence.reports.ruled_sections import section_at
from prompt_debugger.core.evidence.values.json_of import json_of
from prompt_debugger.core.evidence.values.objects_within import (
    MAX_OF_SCRIPT,
    are_bare_calls,
    closed,
    end_of_json,
    ends_in_an_event,
    is_labelled,
    is_printed,
    line_of_no_python,
)
from prompt_debugger.core.evidence.values.python_repr import plain, read_printed

_FENCE = re.compile(r"[ \t]{0,12}(`{3,}|~{3,})[ \t]*(?!tool_c|['\"])([\w+./-]{0,40})[^\n`]{0,80}$")
_INLINE_FENCE = re.compile(r"(?<!`)(?P<mark>`{3,}+)[ \t]{0,4}(?:json|jsonc|tool_call|tool_code)?[ \t]{0,4}(?=[{\[])")
_CODE_LINE = re.compile(
    r"[ \t]{0,8}`(?P<inner>(?:content=['\"][^\n]{0,60000} (?:additional_kwargs|response_metadata)=|"
    r"(?:ChatCompletion|AIMessage|ModelResponse)\w{0,20}\()[^\n]*[}\])'\"])`[ \t]*$"
)
_QUOTED = re.compile(r"[ \t]{0,3}>(?: |$)")
_JSON = re.compile(r"[ \t]*+(?:`|\"(?=\{\"\w))?(?=\{\s*+[\"}]|\[\s*+[\[{\"\]])")
_KEYS = "id|role|content|choices|refusal|tool_calls"
_NAMED = (
    rf"[A-Za-z_]\w{{0,40}}(?: \w{{1,40}}){{0,2}} (?=\{{['\"](?:{_KEYS})['\"]: ?)"  # as `print(name, value)` shows it
)
_LABEL = re.compile(
    r"[ \t]*+(?!data:|event:)(?:[\w\[(]|\*\*\w)[^\n{}\"'<]{0,100}?(?:[:=]|=>)[ \t]{0,4}(?=[{\[]\s*+[\"{\[])|"
    rf"{_NAMED}"
)
_ARROW = re.compile(r"[^\n]{1,200}?(?:->|=>|[\u2192\u21d2])[ \t]{0,4}(?=[{\[]\s*+[\"{\[])")  # after what was asked
_SPEAKER = re.compile(
    r"\W{0,6}(?:agent|assistant|ai|bot|model|llm|助手|模型|\u30a2\u30b7\u30b9\u30bf\u30f3\u30c8)\W{0,4}[:：]",
    re.IGNORECASE,
)
_CALL_TAG = re.compile(r"[ \t]{0,8}<[|\uff5c]?[\w:|\uff5c\u2581]{1,60}>[ \t]{0,8}$")  # a call follows below it
_STREAM = re.compile(
    r"[ \t]*+(?:data:|event:|id: |retry:|: ?\w|:$|(?:(?://|#) )?(?:\.{3,}|…|<snip>|\[\.\.\.\]|\(truncated\))[ \t]*+$)"
)
_DATA = re.compile(r"[ \t]*+(?:data:|event:)")
_COMMAND = re.compile(
    r"[ \t]*+`?(?:[\w.~/@:-]{0,60}[$#%❯>][ \t]+)?"
    r"(?=(?:sudo |time |exec |nohup |[A-Z_]+=\S+ ){0,8}(?:curl(?:\.exe)?|vllm|docker|podman|llama-server|llama-cli|"
    r"\S{0,120}/(?:llama-server|vllm(?=[ ]serve))|python3? -m|sglang|ollama (?:run|serve)|ExecStart=)[ \t=])"
)
# A sentence that begins with the name of a server: `llama-server returns no calls`.
_SENTENCE = re.compile(
    r"[ \t#>]*+(?:vllm|llama-server|llama-cli|sglang)[ \t]+(?!serve\b|bench\b|chat\b|complete\b|collect-env\b)[a-z]"
    r"(?![^\n]{0,2000}(?:[ \t]-|\\$))"
)
_PROGRAMS = (
    "curl",
    "vllm",
    "docker",
    "podman",
    "llama-server",
    "llama-cli",
    "python",
    "sglang",
    "ollama",
    "ExecStart=",
)
_PROMPT = re.compile(r"[ \t]*+(?:>>>|\.\.\.)(?: |$)")
_SHELL = re.compile(r"(?:[\w.~/@:-]{0,60})[$❯][ \t]+\S")
_TAG = re.compile(r"(?<![ \t])[ \t]*+</?(?:details|summary|p|br|div|pre|code|b|i)\b[^<>]{0,80}>", re.IGNORECASE)
_WORDS = re.compile(r"""(?:[^'"\\\n]++|\\.|'[^']*+'|"(?:[^"\\]++|\\.)*+")*+""", re.DOTALL)
_IMPORT = re.compile(
    r"from (?:openai|anthropic|litellm|langchain\w{0,20}|transformers|vllm|requests|httpx)[\w.]{0,60} import |"
    r"import (?:openai|anthropic|litellm|requests|httpx|json|os)\b|"
    r"\w{1,40} = (?:self\.)?\w{1,40}\.apply_chat_template\("
)
# What a script printed, though it is Python, too: an answer of a client's class at the margin, with its fields.
_PRINT_CALL = re.compile(r"print\([^\n]{1,300}\)")
_SHOWN = re.compile(
    r"(?:Parsed)?(?:ChatCompletion(?:Message)?|ModelResponse|RequestOutput|AIMessage|Message)\(\w{1,20}="
)
_MAX_QUOTED = 5  # times, within a quotation
_MAX_TRIES = 8  # ends of a script that are tried
# An object as JavaScript prints it: its first key has no quotes, and its last line is a bracket below the first one.
_PRINTED = re.compile(
    r"(?P<margin>[ \t]{0,12})(?P<label>[\w .\[\]]{1,60}[:=]?[ \t]{0,4})?\{[ \t]*\n[ \t]{1,16}[A-Za-z_]\w{0,40}: "
)
_PRINTED_KEY = re.compile(r"(?m)^[ \t]{1,16}(?:role|message|choices|content|tool_calls|finish_reason|done_reason): ")
_DICT = re.compile(rf"(?P<label>[\w .\[\]()]{{1,60}}[:=][ \t]{{0,4}}|{_NAMED})?(?=\[?\{{')")  # as Python prints it
_MEMBER = re.compile(r"[ \t]{0,8}\"(?:arguments|tool_calls)\"[ \t]{0,4}:[ \t]{0,4}[\"\[]")
_MAX_BROKEN = 6  # lines of such a member
_MAX_OF_PRINTED = 2_000  # lines
# Something that was left out, or a remark of the person who pasted it: what no string holds by chance.
_SHORTENED = re.compile(
    r"[{\[,:]\s{0,40}(?:\.{3,}|\u2026)\s{0,40}[,}\]]|[,{\[\]}\"\d][ \t]{1,20}(?:#|//)[ \t][^\n]{1,200}\n[ \t]*[\"}\]]"
)
_DECODER = json.JSONDecoder()
_BLANKS = re.compile(r"\s*+")
_STRING_OR_END = re.compile(r"\s*+(?:\"(?:[^\"\\]|\\.)*+\\?)?\Z", re.DOTALL)  # of a text that was cut
_MAX_READ = 6  # times the text, for JSON that is begun and never ends
_MIN_ROWS = 3  # objects, one per line: of two, one may be a request and one its answer


def split(text: str) -> tuple[Block, ...]:
    """Return the blocks of a text in order, without blank ones; at most `MAX_BLOCKS`, the rest is one of prose."""
    blocks: list[Block] = []
    _Splitter(text, blocks).run()
    lead = ""
    found: list[Block] = []
    for block in join_heads(blocks):
        if not block.text.strip():
            continue
        found.append(replace(block, lead=lead))
        if block.kind is BlockKind.PROSE:
            lead = next((line.strip() for line in reversed(block.text.split("\n")) if line.strip()), lead)[-200:]
    return tuple(found)


class _Splitter:
    """Goes through the lines once; what no other block takes becomes prose."""

    def __init__(self, text: str, blocks: list[Block]) -> None:
        self._text = text
        self._blocks = blocks
        self._lines = _line_starts(text)
        self._texts = text.split("\n")
        self._width = max(map(len, self._texts))
        self._left = _MAX_READ * len(text)
        self._known = 0  # JSON that begins before was found to be broken
        self._prose: list[str] = []

    def run(self) -> None:
        """Fill the list of blocks."""
        at = 0
        takers = self._takers()
        while at < len(self._lines):
            line = self._texts[at]
            stop = at
            for take in takers if len(self._blocks) < MAX_BLOCKS and line.strip() else ():
                stop = take(at, line)
                if stop > at:
                    break
            if stop <= at:
                self._prose.append(_TAG.sub("", line) if "<" in line else line)
                stop = at + 1
            at = stop
        self._end_prose()

    def _takers(self) -> list[Callable[[int, str], int]]:
        """Return what may take a line of this text: it contains no sign of any of the others."""
        signs: tuple[tuple[tuple[str, ...], Callable[[int, str], int]], ...] = (
            (("```", "~~~"), self._fence),
            (("`content=", "`ChatCompletion", "`AIMessage", "`ModelResponse"), self._code_line),
            (("---", "===", "***"), self._section),
            ((">",), self._quote),
            (("data:", "event:"), self._stream),
            (("{", "["), self._json),
            (("{\n",), self._printed),
            (("{'",), self._dict),
            (('"arguments"', '"tool_calls"'), self._member),
            (_PROGRAMS, self._command),
            ((">>>", "...", "$", "❯"), self._python),
            (("import ", "apply_chat_template("), self._script),
            (("```",), self._inline_fence),
        )
        return [take for texts, take in signs if any(sign in self._text for sign in texts)]

    def _line(self, at: int) -> str:
        return self._texts[at]

    def _add(self, text: str, kind: BlockKind) -> None:
        self._end_prose()
        self._blocks.append(Block(text, kind))

    def _end_prose(self) -> None:
        if self._prose:
            self._blocks.append(Block("\n".join(self._prose), BlockKind.PROSE))
            self._prose = []

    def _fence(self, at: int, line: str) -> int:
        found = _FENCE.match(line)
        if found is None:
            return at
        mark = found[1]
        lines: list[str] = []
        margin = len(line) - len(line.lstrip())
        for number in range(at + 1, len(self._lines)):
            inner = self._line(number)
            if inner.strip().startswith(mark) and not inner.strip().strip(mark[0]):
                self._add("\n".join(lines), BlockKind.FENCED)
                return number + 1
            if inner.rstrip().endswith(mark) and mark not in inner.rstrip()[: -len(mark)]:
                lines.append(inner.rstrip()[: -len(mark)])  # copied without the line end before its fence
                self._add("\n".join(lines), BlockKind.FENCED)
                return number + 1
            if lines and margin and inner[:1].strip() and len(self._line(number - 1)) == self._width:
                lines[-1] += inner  # a terminal broke the line above, whose margin this one lacks
                continue
            lines.append(inner[margin:] if not inner[:margin].strip() else inner)
        self._add("\n".join(lines), BlockKind.FENCED)  # cut before its end
        return len(self._lines)

    def _section(self, at: int, line: str) -> int:
        """Take an output between lines that name it; the second of them may name another."""
        found = section_at(self._texts, at)
        if found is None:
            return at
        self._prose.append(line)
        self._add(found.text, BlockKind.FENCED)
        return found.end

    def _code_line(self, at: int, line: str) -> int:
        """Take a line that is an answer in backticks from end to end, as Python prints it."""
        found = _CODE_LINE.match(line)
        if found is None:
            return at
        self._add(found["inner"], BlockKind.FENCED)
        return at + 1

    def _inline_fence(self, at: int, line: str) -> int:
        """Take JSON whose fences a program printed without their line ends, on the line of its own words."""
        opened = _INLINE_FENCE.search(line)
        end = -1 if opened is None else line.find(opened["mark"], opened.end())
        if opened is None or end < 0 or not is_json(line[opened.end() : end]):
            return at
        self._prose.append(line[: opened.start()])
        self._add(line[opened.end() : end].strip(), BlockKind.FENCED)
        if rest := line[end + len(opened["mark"]) :].strip():
            self._prose.append(rest)
        return at + 1

    def _quote(self, at: int, line: str) -> int:
        stop = at
        lines: list[str] = []
        while stop < len(self._lines) and (found := _QUOTED.match(self._line(stop))) is not None:
            lines.append(self._line(stop)[found.end() :])
            stop += 1
        if stop > at:
            inner: list[Block] = []
            lines = _strip_common_marks(lines)
            _Splitter("\n".join(one for one in lines if not _QUOTED.match(one)), inner).run()
            self._end_prose()
            self._blocks.extend(inner)
        return stop

    def _stream(self, at: int, line: str) -> int:
        if not _DATA.match(line):
            return at
        stop = at
        while stop < len(self._lines) and (not self._line(stop).strip() or _STREAM.match(self._line(stop))):
            stop += 1
        text = "\n".join(self._line(number) for number in range(at, stop))
        self._add(text.rstrip() if ends_in_an_event(text) else f"{text}\n", BlockKind.STREAM)
        return stop

    def _json(self, at: int, line: str) -> int:
        labelled = _LABEL.match(self._text, self._lines[at]) or _ARROW.match(self._text, self._lines[at])
        found = labelled or _JSON.match(self._text, self._lines[at])
        if found is None or found.end() < self._known or self._left <= 0:
            return at
        if self._prose and _CALL_TAG.match(self._prose[-1]) is not None:
            return at
        try:
            value, stop = _DECODER.raw_decode(self._text, found.end())
        except json.JSONDecodeError as error:
            self._known = error.pos
            self._left -= 2 * max(error.pos - found.end(), error.pos // 16)
            return self._open_json(at, found.end(), error.pos) or self._shortened_json(at, found.end()) or at
        except (ValueError, RecursionError):
            self._left = 0
            return at
        self._left -= stop - found.end()
        is_said = labelled is not None and _SPEAKER.match(line) is not None and are_bare_calls(value)
        if labelled is not None and not is_said and not is_labelled(value):
            return at
        if labelled is None and (end := self._end_of_deltas(value, stop)) > stop:
            self._add(self._text[found.end() : end], BlockKind.JSON)
            return self._line_of(end, at) + 1
        rows = self._rows(at)
        if rows >= _MIN_ROWS:
            self._add("\n".join(self._line(number) for number in range(at, at + rows)), BlockKind.JSON)
            return at + rows
        if labelled is not None:
            self._prose.append(labelled.group())
        self._add(self._text[found.end() : stop], BlockKind.JSON)
        last = self._line_of(stop, at)
        rest = self._text[stop : self._lines[last + 1] if last + 1 < len(self._lines) else len(self._text)].strip(
            " ,;`\n"
        )
        if rest:
            self._prose.append(rest)
        return last + 1

    def _next_text(self, at: int) -> int:
        found = _BLANKS.match(self._text, at)
        return at if found is None else found.end()

    def _end_of_deltas(self, value: JSON, stop: int) -> int:
        """Return where the deltas end that follow one another from a value on; where that ends if they are none."""
        values, end = [value], stop
        is_begun = isinstance(value, dict) and (is_chunk(value) or value.get("role") == "assistant")
        while is_begun and self._left > 0:
            try:
                following, end_of_it = _DECODER.raw_decode(self._text, self._next_text(end))
            except (ValueError, RecursionError):
                break
            self._left -= end_of_it - end
            if chunk_of_delta(following) is None:
                break
            values.append(following)
            end = end_of_it
        return end if is_event_list(values) and len(values) >= _MIN_ROWS else stop

    def _printed(self, at: int, line: str) -> int:
        """Take an object of a server's answer that JavaScript printed over several lines."""
        found = _PRINTED.match(self._text, self._lines[at])
        if found is None or self._left <= 0:
            return at
        end = f"{found['margin']}}}"
        stop = min(len(self._lines), at + _MAX_OF_PRINTED)
        last = next((number for number in range(at + 1, stop) if self._line(number).rstrip(" \t,;)") == end), None)
        if last is None:
            self._left -= self._lines[stop - 1] - self._lines[at]
            return at
        start = self._text.index("{", self._lines[at])
        text = self._text[start : self._lines[last]] + "}"
        self._left -= len(text)
        if _PRINTED_KEY.search(text) is None:
            return at
        if (found["label"] or "").strip():
            self._prose.append(line[: line.index("{")])
        self._add(text, BlockKind.JSON)
        return last + 1

    def _member(self, at: int, line: str) -> int:
        """Take one member of an answer that a sentence quotes, between blank lines; an editor may have broken it."""
        found = _MEMBER.match(line)
        before = self._line(at - 1).strip() if at else "."
        if found is None or before or not (self._prose and any(one.strip() for one in self._prose)):
            return at
        for lines in range(1, _MAX_BROKEN):
            text = "".join(
                one if not number else one.lstrip() for number, one in enumerate(self._texts[at : at + lines])
            )
            rest = self._line(at + lines).strip() if at + lines < len(self._lines) else ""
            if not rest:
                if not is_json("{" + text.strip().rstrip(",") + "}"):
                    return at
                self._add(text.strip().rstrip(","), BlockKind.JSON)
                return at + lines
        return at

    def _dict(self, at: int, line: str) -> int:
        """Take a dict of a server's answer that Python printed: on one line, or with its other lines indented."""
        found = _DICT.match(line)
        if found is None or self._left <= 0:
            return at
        stop = at + 1
        while stop < min(len(self._lines), at + _MAX_OF_PRINTED) and self._line(stop).startswith(" "):
            stop += 1
        end = self._lines[stop] if stop < len(self._lines) else len(self._text)
        text = self._text[self._lines[at] + found.end() : end].strip()
        self._left -= len(text)
        is_cut = end == len(self._text) and self._is_cut_answer(self._lines[at] + found.end())
        if not (is_cut or is_printed(text, is_said=_SPEAKER.match(line) is not None)):
            return at
        if found["label"]:
            self._prose.append(found["label"])
        self._add(text, BlockKind.JSON)
        return stop

    def _open_json(self, at: int, start: int, stop: int) -> int:
        """Take JSON that was copied without its last brackets: up to prose on its own line, or to the end; else 0."""
        piece = self._text[start:stop].rstrip()
        last = self._line_of(stop, at)
        is_end = _STRING_OR_END.match(self._text, stop) is not None
        if is_end and self._is_cut_answer(start):
            self._add(self._text[start:], BlockKind.JSON)
            return len(self._lines)
        is_followed = not is_end and not self._text[self._lines[last] : stop].strip() and "\n" in piece
        if not (is_end or is_followed):
            return 0
        value = json_of(closed(piece))
        if value is None or not (is_answer(value) or (is_followed and piece.endswith(("}", "]")))):
            return 0
        self._add(piece, BlockKind.JSON)
        return len(self._lines) if is_end else last

    def _is_cut_answer(self, start: int) -> bool:
        """Return whether an answer, in JSON or printed by Python, begins at a place and is open where the text ends."""
        read = read_printed(self._text, start) if self._left > 0 else None
        self._left -= len(self._text) - start
        if read is None or not read.is_cut or self._text[read.stop :].strip():
            return False
        return is_answer(plain(read.value))

    def _shortened_json(self, at: int, start: int) -> int:
        """Take JSON with something elided, `{"usage": { ... }}`, up to its last bracket; else 0."""
        stop = end_of_json(self._text, start)
        self._left -= stop - start
        piece = self._text[start:stop]
        if "\n" not in piece or not piece.endswith(("}", "]")) or _SHORTENED.search(piece) is None:
            return 0
        self._add(piece, BlockKind.JSON)
        return self._line_of(stop, at) + 1

    def _rows(self, at: int) -> int:
        """Return how many lines from one on are an object each, as in a log of JSON lines or a session."""
        stop = at
        while stop < len(self._lines) and self._left > 0:
            line = self._line(stop).strip()
            self._left -= len(line)
            if not (line.startswith('{"') and line.endswith("}")) or (stop - at < _MIN_ROWS and not is_json(line)):
                break
            stop += 1
        return stop - at

    def _line_of(self, place: int, at: int) -> int:
        while at + 1 < len(self._lines) and self._lines[at + 1] <= place:
            at += 1
        return at

    def _command(self, at: int, line: str) -> int:
        found = _COMMAND.match(line)
        if found is None or _SENTENCE.match(line) is not None:
            return at
        start = self._lines[at] + found.end()
        stop = self._end_of_command(start)
        is_code = line.lstrip().startswith("`") and not line.lstrip().startswith("``")
        command = self._text[start:stop]
        self._add(command.rstrip().removesuffix("`") if is_code else command, BlockKind.COMMAND)
        return self._line_of(stop, at) + 1

    def _end_of_command(self, start: int) -> int:
        """Return where a command ends: at the first line end that is neither quoted nor escaped."""
        found = _WORDS.match(self._text, start) if self._left > 0 else None
        stop = start if found is None else found.end()
        self._left -= 2 * (stop - start)
        if stop < len(self._text) and self._text[stop] == "\n":
            return stop
        if stop < len(self._text):  # a quote that is never closed: the command is its first line
            self._left -= len(self._text) - stop
            end = self._text.find("\n", start)
            return len(self._text) if end < 0 else end
        return stop

    def _script(self, at: int, line: str) -> int:
        """Take a script that begins with an import, or renders at once, up to the first line that is not Python."""
        if _IMPORT.match(line) is None or self._left <= 0:
            return at
        stop = next(
            (row for row in range(at + 1, len(self._lines)) if self._is_shown(row)),
            len(self._lines),
        )
        for _ in range(_MAX_TRIES):
            end = self._lines[stop] if stop < len(self._lines) else len(self._text)
            text = self._text[self._lines[at] : min(end, self._lines[at] + MAX_OF_SCRIPT)]
            self._left -= len(text)
            wrong = line_of_no_python(text)
            if wrong == 0 and at < stop and end - self._lines[at] <= MAX_OF_SCRIPT:
                self._add(text, BlockKind.PYTHON)
                return stop
            if not wrong or wrong <= 1 or at + wrong - 1 >= stop:
                return at
            stop = at + wrong - 1
        return at

    def _is_shown(self, row: int) -> bool:
        """Return whether a line is no part of a script: it is marked as something shown, or opens what was printed."""
        if _SHOWN.match(self._text, self._lines[row]) is not None:
            return True
        return self._line(row).rstrip() == "{" and _PRINT_CALL.fullmatch(self._line(row - 1).rstrip()) is not None

    def _python(self, at: int, line: str) -> int:
        """Take an interactive session of Python or a shell: what was typed is one block, what it printed another."""
        if line.strip() in ("...", "…"):
            return at  # something left out, not the second line of what was typed
        if _SHELL.match(line):
            return at + 1  # a command of no interest
        stop = at
        lines: list[str] = []
        while stop < len(self._lines) and (found := _PROMPT.match(self._line(stop))) is not None:
            lines.append(self._line(stop)[found.end() :])
            stop += 1
        if stop > at:
            self._add("\n".join(lines), BlockKind.PYTHON)
        return stop


def _strip_common_marks(lines: list[str]) -> list[str]:
    """Return quoted lines without the marks that all of them still have: nothing newer is quoted beside them."""
    for _ in range(_MAX_QUOTED):
        if not any(one.strip() for one in lines) or not all(_QUOTED.match(one) for one in lines if one.strip()):
            break
        lines = [_QUOTED.sub("", one, count=1) for one in lines]
    return lines


def _line_starts(text: str) -> list[int]:
    return [0, *(found.end() for found in re.finditer("\n", text))]
