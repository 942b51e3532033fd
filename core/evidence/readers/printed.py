"""Objects that Python printed: answers of the openai and anthropic packages, LangChain, LiteLLM, vLLM's offline runs.

    ChatCompletion(id='…', choices=[Choice(finish_reason='tool_calls', …)], …)
    {'choices': [{'message': {'content': None, 'tool_calls': […]}}]}

Which classes there are and what becomes of them is in `core.evidence.values.printed_objects`.
"""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import islice

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.base.json_values import as_object
from prompt_debugger.core.base.text import has_any
from prompt_debugger.core.base.types import JSON, JSONObject
from prompt_debugger.core.diagnose.markers import find_used_markers
from prompt_debugger.core.evidence.answers.read import read_answer, read_stream
from prompt_debugger.core.evidence.copying.gap_signs import has_no_reason
from prompt_debugger.core.evidence.evidence import Evidence
from prompt_debugger.core.evidence.forms import Form
from prompt_debugger.core.evidence.no_errors.built_objects import is_built
from prompt_debugger.core.evidence.no_errors.programs import is_script
from prompt_debugger.core.evidence.no_errors.transcripts import harmless
from prompt_debugger.core.evidence.readers.base import Paste, Reader
from prompt_debugger.core.evidence.taking import (
    CUT_NOTE,
    add_answer,
    as_part,
    forget_end,
    has_cut_end,
    is_cut,
    of_deltas_alone,
)
from prompt_debugger.core.evidence.values.json_of import json_of
from prompt_debugger.core.evidence.values.printed_classes import (
    ANTHROPIC_EVENTS,
    BLOCKS,
    LANGCHAIN,
    NAMES,
    OFFLINE,
    RESPONSES_EVENTS,
    STREAMED,
)
from prompt_debugger.core.evidence.values.printed_objects import answer_of, class_of, has_cut_answer, offline_run
from prompt_debugger.core.evidence.values.printed_streams import (
    deltas_of_chunks,
    has_no_end,
    pieces_of_message,
    stream_text,
)
from prompt_debugger.core.evidence.values.python_repr import CLASS, Printed, read_fields, read_printed

MAX_OBJECTS = 20_000
_MAX_OF_FIELDS = 60_000  # characters of a message that is printed as fields
_EVENTS = frozenset({*STREAMED, *ANTHROPIC_EVENTS, *RESPONSES_EVENTS})
_MAX_READ = 4  # times the text

_START = re.compile(
    rf"(?:(?<![\w.'\"])|(?<=\n))(?:{'|'.join(sorted(NAMES, key=len, reverse=True))})\((?=\s*+(?:[a-z_]\w*+=|\)))"
)
_CALLS = tuple(f"{name}(" for name in NAMES)
_DICT = re.compile(r"(?m)^(?:[\w .\[\]-]{0,60}[:=>][ \t]*)?`?(?=[\[{(])")
_LABEL = r"(?:[A-Za-z][^\n'\"={}\[\]]{0,60}: {0,4})?"
# A whole answer, or a choice, as pydantic's `str()` prints it: without the name of its class.
_MAX_LABEL = 300  # characters in which a label and the first field are
_WHOLE = re.compile(
    r"(?:id=['\"][\w-]{1,80}['\"] (?:object|choices|created|model)=|object=['\"]chat\.completion['\"] "
    r"|index=\d{1,3} message=)"
)
_FIELDS = re.compile(
    rf"{_LABEL}(?P<fields>content=['\"\[N]|id=['\"](?:chatcmpl|msg|resp|gen)|sdk_http_response=|candidates=\[|content=None|content=Content\("
    rf"|(?={_WHOLE.pattern}))"
)
# A message that was printed as fields, below a program or a label; between arguments of a program stand commas.
_FIELDS_OF_MESSAGE = re.compile(
    r"(?m)^[ \t#>]{0,8}(?:[\w .-]{1,60}[:=][ \t]{0,4}|[^\n'\"]{1,60}: )?"
    r"(?=(?:role=['\"]assistant['\"] )?content=(?:['\"\[]|None ))"
)
_OF_MESSAGE = frozenset(
    {"additional_kwargs", "response_metadata", "tool_calls", "images", "thinking", "usage_metadata"}
)
_OPEN_TEXT = re.compile(
    r"\b(content|reasoning(?:_content)?|thinking)=(?:'(?:[^'\\]|\\.)*+|\"(?:[^\"\\]|\\.)*+)\\?\Z", re.DOTALL
)  # a text that is open where the print ends
_ENDS_IN_THOUGHTS = "The pasted text ends inside the reasoning; what came after that is unknown."
_NO_TEXT = re.compile(r"(?<!\w)content=(?:None|'')[,)]")
_NO_CALLS = re.compile(r"\btool_calls=(?:None|\[\])[,)]")
_REASON = re.compile(r"\bfinish_reason='(\w{1,40})'")
_SHORTENED = re.compile(r"(?:\.\.\.|\u2026)[ \t]{0,8}(?:\n|\Z)|\n")  # Python prints no line break in a text
_AT_MARGIN = re.compile(
    r"(?m)^(?:(?:Parsed)?ChatCompletion(?:Message)?|ModelResponse|RequestOutput|AIMessage|Message|Response)\(\w{1,20}=",
)
_MAX_ABOVE = 400  # characters in which the line above ends
_OPEN = ("(", "[", "{", ",", "=", "\\")  # of a statement that goes on
# A line of a log, by its time or level, with a dict that begins like an answer.
_LOGGED_DICT = re.compile(
    r"(?m)^(?:\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d|\[?(?:TRACE|DEBUG|INFO|WARN|WARNING|ERROR)\b)[^\n{]{0,400}?[:=>-] ?"
    r"(?=\{'(?:id|choices|object|created|model|role|message)': )"
)
_MAX_LOGGED = 200  # lines
_MAX_FIELDS = 20  # places that are tried
_PYTHON_VALUES = re.compile(r"[:\[, =(](?:None|True|False|'[^'\n]{0,200}')")


def _finds(paste: Paste) -> float:
    text = _below_script(paste.text)
    if paste.value is None and _message_below(text) is not None:
        return 0.9
    if paste.value is not None or is_script(text) or harmless(text) is not None:
        return 0.0
    if (has_any(text, _CALLS) and _next_start(text) is not None) or _pieces_by_line(text):
        return 0.9
    if not _is_lines_of_json(text) and _read_without_class(text) is not None:
        return 0.8
    return 0.7 if _logged(text) is not None else 0.0


def _below_script(text: str) -> str:
    """Return what a script printed below itself: an object at the margin, which no statement of a script is."""
    if not is_script(text):
        return text
    found = next((one for one in _AT_MARGIN.finditer(text) if not _goes_on(text, one.start())), None)
    return text if found is None else text[found.start() :]


def _goes_on(text: str, at: int) -> bool:
    """Return whether a statement is open where a line begins."""
    return text[max(0, at - _MAX_ABOVE) : at].rstrip().endswith(_OPEN)


def _next_start(text: str, at: int = 0) -> re.Match[str] | None:
    """Return where the next object begins that was printed: what a program builds is left out, with all that it holds.

    A program builds some of variables; then nothing of it was printed.
    """
    while (found := _START.search(text, at)) is not None and is_built(text, found.start()):
        read = read_printed(text, found.start())
        if read is None:
            return None
        at = max(found.end(), read.stop)
    return found


def _is_lines_of_json(text: str) -> bool:
    """Return whether a text begins with two JSON objects, one per line: Python is only in their texts."""
    lines = islice((line for line in text[:_MAX_OF_FIELDS].splitlines() if line.strip()), 2)
    values = [json_of(line) if line.lstrip().startswith("{") else None for line in lines]
    return len(values) == 2 and all(isinstance(value, dict) for value in values)


def _message_below(text: str) -> Printed | None:
    """Return the message that a text prints as fields below something else; `None` if there is none."""
    if " content=" not in text and "\ncontent=" not in text:
        return None
    left = 2 * _MAX_OF_FIELDS
    for found in islice(_FIELDS_OF_MESSAGE.finditer(text), _MAX_FIELDS):
        if left <= 0:
            return None
        read = read_fields(text[found.end() : found.end() + _MAX_OF_FIELDS])
        left -= _MAX_OF_FIELDS if read is None or read.is_cut else read.stop
        value = {} if read is None else as_object(read.value)
        content = read_printed(text, text.index("content=", found.end()) + len("content="))
        if content is None or text[content.stop : content.stop + 20].lstrip().startswith(","):
            continue  # an argument in a program
        if len(_OF_MESSAGE & value.keys()) > 1 and found.end() > 0 and answer_of(value) is not None:
            return read
    return None


def _read(paste: Paste) -> Evidence:
    text = _below_script(paste.text)
    found = _printed(text)
    streamed = _streamed(found)
    if streamed:
        return _stream(streamed)
    if deltas := deltas_of_chunks(found):
        return replace(_stream(deltas), words=f"{len(deltas):,} printed `AIMessageChunk`s")
    for value in found:
        if pieces := pieces_of_message(value):
            words = f"a printed `{class_of(value)}` with the pieces of a stream"
            return replace(_stream(pieces), words=words)
        if class_of(value) in OFFLINE:
            return _offline(value)
    if len(found) > 1 and all(class_of(value) in BLOCKS for value in found):  # of one message, printed one a line
        blocks: list[JSON] = list(found)
        words = f"{len(found):,} printed blocks of an answer of Anthropic's Messages API"
        evidence = add_answer(Evidence(Form.OBJECT, words), read_answer(answer_of(blocks)))
        return forget_end(evidence)
    read = [(value, answer) for value in found if (answer := answer_of(value)) is not None]
    if not read:
        return _within_content(text)
    value, answer = read[0]
    words = f"a printed `{class_of(value)}`" if class_of(value) else "a printed answer"
    notes = (CUT_NOTE,) if has_cut_answer(value) else ()
    if len(read) > 1:
        notes = (*notes, f"Only the first of {len(read):,} printed answers was read.")
    evidence = add_answer(Evidence(Form.OBJECT, words, notes=notes), read_answer(answer))
    is_langchains = class_of(value) in LANGCHAIN or "response_metadata" in value
    is_without = evidence.finish_reason is None and (is_langchains or has_no_reason(text))
    return forget_end(evidence) if is_cut(evidence) or has_cut_end(value, evidence) or is_without else evidence


def _streamed(found: list[JSONObject]) -> list[JSONObject]:
    """Return the printed events of a stream; parts of a chunk that are printed with it are not separate events."""
    streamed = [value for value in found if class_of(value) in _EVENTS]
    chunks = [value for value in streamed if STREAMED.get(class_of(value)) == "chunk"]
    return chunks or streamed


def _stream(values: list[JSONObject]) -> Evidence:
    words = f"{len(values):,} printed events of a stream"
    answer = read_stream(stream_text(values))
    if len(values) == 1 and answer.finish_reason is None:  # nothing says that this is all
        return of_deltas_alone(add_answer(Evidence(Form.OBJECT, words), as_part(answer)))
    evidence = add_answer(Evidence(Form.OBJECT, words), answer)
    return forget_end(evidence) if has_no_end(values) else evidence


def _printed(text: str) -> list[JSONObject]:
    """Return the objects that a text prints, in order, without those inside another."""
    if _WHOLE.search(text.lstrip()[:_MAX_LABEL]) and (whole := _read_without_class(text)) is not None:
        return [as_object(whole.value)]
    found: list[JSONObject] = []
    at, left = 0, _MAX_READ * len(text)
    while len(found) < MAX_OBJECTS and left > 0:
        start = _next_start(text, at)
        if start is None:
            break
        read = read_printed(text, start.start())
        at = start.end() if read is None else max(start.end(), read.stop)
        left -= at - start.start()
        if read is not None and isinstance(read.value, dict):
            found.append(_as_piece(read.value))
            left -= len(text) - at if read.is_cut else 0
    if found or (found := _chunks_by_line(text)):
        return found
    lone = _read_without_class(text) or _message_below(text) or _logged(text)
    return [] if lone is None or not isinstance(lone.value, dict) else [lone.value]


def _as_piece(value: JSONObject) -> JSONObject:
    """Return a choice of a stream's chunk under a name of its kind: that of a whole answer has the same class."""
    is_piece = class_of(value) == "Choice" and isinstance(value.get("delta"), dict)
    return {**value, CLASS: "StreamingChoices"} if is_piece else value


def _chunks_by_line(text: str) -> list[JSONObject]:
    """Return the chunks that LangChain prints without a class, one per line, all of one id; none of anything else."""
    if pieces := _pieces_by_line(text):
        return pieces
    lines = [line for line in text.split("\n") if line.startswith("content=") and " additional_kwargs={" in line]
    read = [found.value for line in lines[:MAX_OBJECTS] if (found := read_fields(line)) is not None]
    values: list[JSONObject] = [{**value, CLASS: "AIMessageChunk"} for value in read if isinstance(value, dict)]
    ids = {value.get("id") if isinstance(value.get("id"), str) else None for value in values}
    return values if len(values) > 1 and len(ids) == 1 and None not in ids else []


def _pieces_by_line(text: str) -> list[JSONObject]:
    """Return LangChain's chunks where only the pieces of their calls were printed, one list a line."""
    if "tool_call_chunk" not in text:
        return []
    lines = [line for line in text.split("\n") if line.startswith("[{") and "tool_call_chunk" in line]
    read = [found.value for line in lines[:MAX_OBJECTS] if (found := read_printed(line)) is not None]
    values: list[JSONObject] = [{CLASS: "AIMessageChunk", "tool_call_chunks": value} for value in read]
    return values if len(values) > 1 else []


def _read_without_class(text: str) -> Printed | None:
    """Return an answer that is printed as a dict or as fields; `None` if nothing begins like one."""
    start = text.lstrip("\ufeff \t\r\n")
    if not _PYTHON_VALUES.search(text[:100_000]):
        return None
    if (fields := _FIELDS.match(start)) is not None:
        read = read_fields(start[fields.start("fields") :])
    elif (at := _DICT.search(text[:5_000])) is not None:
        read = read_printed(text, at.end())
        if read is not None and isinstance(read.value, list) and read.value:
            read = read._replace(value=_read_one(read.value))
    else:
        return None
    return read if read is not None and answer_of(read.value) is not None else None


def _logged(text: str) -> Printed | None:
    """Return the last answer that a line of a log shows as a dict behind its words; `None` if no line does."""
    last: Printed | None = None
    at, left = 0, _MAX_READ * len(text)
    for _ in range(_MAX_LOGGED):
        found = _LOGGED_DICT.search(text, at) if left > 0 else None
        read = None if found is None else read_printed(text, found.end())
        if found is None:
            break
        stop = found.end() if read is None else max(read.stop, found.end())
        left -= stop - at
        at = stop
        if read is not None and not read.is_cut and answer_of(read.value) is not None:
            last = read
    return last


def _read_one(values: list[JSON]) -> JSON:
    """Return the only member of a list that is an answer; a history of messages is not one."""
    return values[0] if len(values) == 1 else None


def _within_content(text: str) -> Evidence:
    """Return the content that a print ends inside of, or in which someone wrote `...`, if a call begins in it.

    Raises:
        RequestError: It ends elsewhere, or what there is of it contains no markup.
    """
    within = _OPEN_TEXT.search(text)
    if within is not None and within[1] == "content":
        opened = within[0].removeprefix("content=")
        shown = _SHORTENED.split(opened[1:], maxsplit=1)[0].rstrip("\\")
        read = read_printed(f"{opened[0]}{shown}{opened[0]}")
        content = None if read is None else read.value
        if isinstance(content, str) and any(find_used_markers(content)):
            evidence = Evidence(Form.OBJECT, "a printed message", notes=(CUT_NOTE,))
            return forget_end(add_answer(evidence, read_answer({"role": "assistant", "content": content})))
    if within is not None and within[1] != "content" and (thoughts := _nothing_but_thoughts(text, within)) is not None:
        return thoughts
    place = "before any readable part of the answer" if within is None else f"inside `{within[1]}`, before any call"
    raise RequestError(f"The printed object ends {place}.", "Paste everything that was printed.")


def _nothing_but_thoughts(text: str, within: re.Match[str]) -> Evidence | None:
    """Return a message whose print ends inside its reasoning, where it shows no text and no calls; else `None`.

    What the client's class has is printed first, so that nothing of the answer can follow but more of the reasoning.
    """
    message = text[text.rfind("Message(", 0, within.start()) : within.start()]
    if _NO_TEXT.search(message) is None or _NO_CALLS.search(message) is None:
        return None
    opened = within[0].partition("=")[2]
    read = read_printed(f"{opened[0]}{opened[1:].rstrip(chr(92))}{opened[0]}")
    reason = _REASON.search(text, 0, within.start())
    if read is None or not isinstance(read.value, str):
        return None
    message_read: JSONObject = {"role": "assistant", "content": None, within[1]: read.value}
    printed = Evidence(Form.OBJECT, "a printed message", notes=(_ENDS_IN_THOUGHTS,))
    evidence = forget_end(add_answer(printed, read_answer(message_read)))
    if reason is None or evidence.chat is None:
        return evidence
    return replace(evidence, chat=replace(evidence.chat, finish_reason=reason[1]), finish_reason=reason[1])


def _offline(value: JSONObject) -> Evidence:
    run = offline_run(value)
    raw, prompt, reason, ids = (run.get(name) for name in ("raw", "prompt", "finish_reason", "token_ids"))
    if not isinstance(raw, str):
        raise RequestError("The printed output ends before its text.", "Paste everything that was printed.")
    numbers = [one for one in ids if isinstance(one, int)] if isinstance(ids, list) else []
    evidence = Evidence(Form.OBJECT, f"a printed `{class_of(value)}`", raw=raw)
    return replace(
        evidence,
        prompt=prompt if isinstance(prompt, str) else None,
        finish_reason=reason if isinstance(reason, str) else None,
        token_ids=tuple(numbers) if isinstance(ids, list) and numbers and len(numbers) == len(ids) else None,
    )


READER = Reader(Form.OBJECT, _finds, _read)
