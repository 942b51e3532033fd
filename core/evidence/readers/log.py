"""Logs of servers and clients: the request, the prompt, the raw output and the flags that their lines hold.

Which lines are known is in `core.evidence.logs.lines`. Their contents are assembled by request; of several requests
the last one is read unless another row is asked for. A prompt never counts as output.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace

from prompt_debugger.core.base.comparable import NO_BEGINNING, NO_END, OF_PIECES
from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.base.json_values import as_object
from prompt_debugger.core.base.text import line_end
from prompt_debugger.core.base.types import JSON, ChatResult, JSONObject, Server
from prompt_debugger.core.complete import title_of
from prompt_debugger.core.evidence.answers.read import read_answer
from prompt_debugger.core.evidence.commands.flags import server_of, shown_flags
from prompt_debugger.core.evidence.copying.line_starts import strip_prefixes
from prompt_debugger.core.evidence.errors.copied import error_of_text
from prompt_debugger.core.evidence.errors.tracebacks import cut_traceback
from prompt_debugger.core.evidence.evidence import Evidence, Part, merge
from prompt_debugger.core.evidence.forms import Form
from prompt_debugger.core.evidence.logs.lines import find_entries, has_entries
from prompt_debugger.core.evidence.logs.marks import Entry, What
from prompt_debugger.core.evidence.logs.server import evidence_of_log, is_server_log, shown_in_log, shown_requests
from prompt_debugger.core.evidence.readers.base import Paste, Reader
from prompt_debugger.core.evidence.readers.error import evidence_of_error
from prompt_debugger.core.evidence.readers.printed import READER as PRINTED
from prompt_debugger.core.evidence.taking import add_answer
from prompt_debugger.core.evidence.values.printed_objects import answer_of
from prompt_debugger.core.formats import CONTROL_TOKEN, TABLES
from prompt_debugger.core.known_errors import recognise_error
from prompt_debugger.core.request import body_text, read_request

_CALLS = re.compile(r"\[tool_calls: ")
_CALL = re.compile(r"([\w.:-]{1,100})\((?=[{\[\"\)])")
_DECODER = json.JSONDecoder()
_MAX_WARNINGS = 20
AFTER = "vLLM logs an answer after its parsers: reasoning is not part of the logged output."
_SURE = 0.8  # of a printed answer
_SCORE_OF_LINES = 0.65  # of a log without an entry: above an error in one of its lines, which is read with it
_IN_CALL = re.compile(r"_parser\.py:\d{1,5}\] Parsed tool call\b")  # before the first piece: within a call
_WAS_PARTIAL = "The output in the log is what there was while it was streamed; what came after it is unknown."
_WAS_PARSED = (
    "vLLM logs a stream after its parsers, with reasoning and the arguments of calls in brackets, without the names; "
    "these pieces are not the output of the model."
)
_CRASH = re.compile(r"(?m)^terminate called after throwing an instance of ")  # the end of a program in C++
_PIECE = re.compile(r"_parser\.py:\d{1,5}\] delta_text:|\bDELTA TEXT: ")
# One request, as older servers of llama.cpp log it, and as SGLang does in JSON.
_KEYS_OF_RECORDS = ({"level", "message", "method", "path", "status"}, {"timestamp", "event", "rid", "obj", "out"})
_OF_SERVER = (What.FLAGS, What.VERSION, What.WARNING)
_STARTS = (What.REQUEST, What.PROMPT, What.START)
_ENDS = (What.RAW, What.PIECE, What.PARSED, What.CONTENT, What.MESSAGE, What.ANSWER)


def is_logged_text(evidence: Evidence) -> bool:
    """Return whether the answer of a log is only the text that it gives as the output, too."""
    chat, raw = evidence.chat, evidence.raw
    return evidence.form is Form.LOG and chat is not None and bool(raw) and chat.message.get("content") == raw


def _finds(paste: Paste) -> float:
    if paste.value is not None and not any(as_object(paste.value).keys() >= keys for keys in _KEYS_OF_RECORDS):
        return 0.0
    return 0.9 if has_entries(strip_prefixes(paste.text)) else _SCORE_OF_LINES * is_server_log(paste.text)


def _read(paste: Paste) -> Evidence:
    entries = find_entries(strip_prefixes(paste.text))
    if not entries and (shown := evidence_of_log(paste.text)) is not None:
        return _add_error(shown, paste)
    if not entries:
        raise RequestError("The recognized lines of the log are cut.", "Paste the complete lines.")
    groups = _group_by_request([entry for entry in entries if entry.what not in _OF_SERVER])
    engine = next((entry.engine for entry in entries if entry.engine), "")
    evidence = Evidence(Form.LOG, f"a log of {_title(engine)}" if engine else "a client's log")
    if groups:
        if paste.row > len(groups):
            raise RequestError(f"There is no entry {paste.row}: there are {len(groups):,}.", "Choose a lower number.")
        evidence = _read_group(evidence, groups[-paste.row])
        if len(groups) > 1:
            words = f"{evidence.words}, request {paste.row} of {len(groups):,} from the end"
            evidence = replace(evidence, words=words, row=paste.row, rows=len(groups))
    elif engine:
        is_warning = any(entry.what is What.WARNING for entry in entries)
        evidence = replace(evidence, notes=(shown_requests if is_warning else shown_in_log)(paste.text, engine))
    if not engine and {*evidence.holds} == {Part.REQUEST} and paste.row == 1:
        evidence = _add_printed(evidence, paste.text, entries[-1])
    if evidence.raw_reason == OF_PIECES and _begins_in_call(paste.text):
        evidence = replace(evidence, raw_reason=NO_BEGINNING)
    if evidence.chat is not None and paste.row == 1:
        return _add_server(_add_later_error(evidence, paste, entries[-1]), entries, engine)
    return _add_server(_add_error(evidence, paste), entries, engine)


def _add_printed(evidence: Evidence, text: str, last: Entry) -> Evidence:
    """Return the request that a client logs with the answer that the program printed below it."""
    below = Paste(text[line_end(text, last.at) :])
    if PRINTED.finds(below) < _SURE:
        return evidence
    try:
        printed = PRINTED.read(below)
    except RequestError:
        return evidence
    return merge([evidence, printed], Form.EXCHANGE, f"{evidence.words}; {printed.words}")


def _add_error(evidence: Evidence, paste: Paste) -> Evidence:
    """Add the error of a log whose last request has no answer."""
    if paste.row > 1 or evidence.chat is not None:
        return evidence
    crash = _CRASH.search(paste.text)
    found = error_of_text(paste.text if crash is None else paste.text[crash.start() :])
    if found is None:
        cut = cut_traceback(paste.text)
        return evidence if cut is None else replace(evidence, notes=(*evidence.notes, cut, "Paste all of it."))
    failed = evidence_of_error(found.refusal)
    words, notes = f"{evidence.words} with an error", (*evidence.notes, *failed.notes)
    if evidence.raw is not None:
        return replace(evidence, words=words, error=failed.error)
    return replace(evidence, words=words, error=failed.error, raw=failed.raw, raw_reason=failed.raw_reason, notes=notes)


def _add_later_error(evidence: Evidence, paste: Paste, last: Entry) -> Evidence:
    """Add the known error that a log reports below the answer: of the next request, or of what became of this one."""
    found = error_of_text(strip_prefixes(paste.text)[last.at :])
    known = None if found is None else recognise_error(found.refusal.message)
    if found is None or known is None or not known.error.is_distinctive or evidence.error is not None:
        return evidence
    return replace(evidence, words=f"{evidence.words} with an error below it", error=found.refusal)


def _begins_in_call(text: str) -> bool:
    """Return whether a parser was reading a call before the first piece that a log shows."""
    first = _PIECE.search(text)
    return first is not None and _IN_CALL.search(text, 0, first.start()) is not None


def _title(engine: str) -> str:
    return "a server" if engine == "unknown" else title_of(engine)


def _group_by_request(entries: Sequence[Entry]) -> list[list[Entry]]:
    """Return entries by the request they belong to: by its id, else a request or prompt begins a new one."""
    groups: list[list[Entry]] = []
    by_key: dict[str, list[Entry]] = {}
    for entry in entries:
        group = by_key.get(entry.key) if entry.key else (groups[-1] if groups else None)
        if group is None or (not entry.key and _begins(entry, group)):
            group = []
            groups.append(group)
        if entry.key:
            by_key[entry.key] = group
        group.append(entry)
    return groups


def _begins(entry: Entry, group: list[Entry]) -> bool:
    if entry.what not in _STARTS:
        return False
    held = {one.what for one in group}
    return bool(held & {*_ENDS}) or entry.what in held


def _read_group(evidence: Evidence, group: list[Entry]) -> Evidence:
    """Return what one request's entries hold; of several of a kind the last one, which is the whole one."""
    values: dict[What, JSON] = {entry.what: entry.value for entry in group}
    evidence = _add_request(evidence, values.get(What.REQUEST))
    raw, reason, ids = _text(values, What.RAW), _text(values, What.REASON), values.get(What.IDS)
    pieces = [entry.value for entry in group if entry.what is What.PIECE and isinstance(entry.value, str)]
    if any(entry.what is What.PARSED for entry in group):
        evidence = replace(evidence, notes=(*evidence.notes, _WAS_PARSED))
        pieces = pieces if _is_markup("".join(pieces)) else []  # a call in the rest is one that no parser read
    if raw is None and pieces:
        raw, evidence = "".join(pieces), replace(evidence, raw_reason=OF_PIECES if evidence.raw_reason == "" else "")
    content = _text(values, What.CONTENT)
    if content is not None:
        evidence = _add_content(evidence, content, reason)
        raw = content if raw is None and _is_markup(content) else raw
    is_partial = _ends_partial(group)
    if raw is not None and is_partial:
        evidence = replace(evidence, raw_reason=NO_END, notes=(*evidence.notes, _WAS_PARTIAL))
    for what in (What.ANSWER, What.MESSAGE):
        if not is_partial and isinstance(values.get(what), dict):
            evidence = _add_message(evidence, as_object(values[what]))
    numbers = [one for one in ids if isinstance(one, int)] if isinstance(ids, list) else []
    return replace(
        evidence,
        prompt=_text(values, What.PROMPT),
        raw=raw,
        token_ids=tuple(numbers) if raw is not None and numbers else None,
        finish_reason=reason or evidence.finish_reason,
    )


def _ends_partial(group: Sequence[Entry]) -> bool:
    """Return whether the last output of a request was read while the model was still writing it."""
    last = next((at for at, entry in reversed([*enumerate(group)]) if entry.what is What.RAW), len(group))
    return any(entry.what is What.PARTIAL for entry in group[last:])


def _text(values: dict[What, JSON], what: What) -> str | None:
    value = values.get(what)
    return value if isinstance(value, str) else None


def _add_request(evidence: Evidence, body: JSON) -> Evidence:
    if not isinstance(body, dict):
        return evidence
    try:
        return replace(evidence, request=read_request(body_text(body)))
    except RequestError as error:
        return replace(evidence, notes=(*evidence.notes, f"The request in the log could not be read: {error}"))


def _is_markup(text: str) -> bool:
    return CONTROL_TOKEN.search(text) is not None or any(
        marker in text for marker in TABLES.call_markers if "<" in marker
    )


def _add_content(evidence: Evidence, text: str, reason: str | None) -> Evidence:
    """Read what vLLM logs of an answer that was not streamed: its content, or its calls in a notation of the log."""
    message: JSONObject = {"role": "assistant", "content": text}
    if _CALLS.match(text):
        calls = _logged_calls(text)
        if not calls:
            return evidence
        message = {"role": "assistant", "content": None, "tool_calls": calls}
    return replace(evidence, chat=ChatResult(message, reason), notes=(*evidence.notes, AFTER))


def _logged_calls(text: str) -> list[JSON]:
    """Return the calls of `[tool_calls: f({…}), g({…})]`; ids are not logged."""
    calls: list[JSON] = []
    at = len("[tool_calls: ")
    while (found := _CALL.match(text, at)) is not None:
        try:
            _, at = _DECODER.raw_decode(text, found.end())
        except (ValueError, RecursionError):  # not JSON: all that is left belongs to it
            at = max(found.end(), len(text.rstrip().removesuffix("]").removesuffix(")")))
        arguments = text[found.end() : at]
        calls.append({"type": "function", "function": {"name": found[1], "arguments": arguments}})
        at += len("), ")
    return calls


def _add_message(evidence: Evidence, value: JSONObject) -> Evidence:
    found = answer_of(value) if "additional_kwargs" in value or "response_metadata" in value else None
    answer: JSON = found if found is not None else value
    if isinstance(answer, dict) and "choices" not in answer and "output" not in answer:
        answer = {"role": "assistant", **answer}
    try:
        return add_answer(evidence, read_answer(answer))
    except RequestError:
        return evidence


def _add_server(evidence: Evidence, entries: Sequence[Entry], engine: str) -> Evidence:
    """Add the server that the log is of; flags of its first start count."""
    if not engine:
        return evidence
    if engine == "lm-studio":  # which is started with a click
        return replace(evidence, server=evidence.server or Server("", kind=engine))
    flags = next((as_object(entry.value) for entry in entries if entry.what is What.FLAGS), None)
    version = next((entry.value for entry in entries if entry.what is What.VERSION), None)
    warnings = tuple(dict.fromkeys(str(entry.value) for entry in entries if entry.what is What.WARNING))
    if flags is None and version is None and not warnings:
        return replace(evidence, server=evidence.server or Server("", kind=engine))
    started = server_of(engine, flags or {}, version if isinstance(version, str) else None, is_whole=flags is not None)
    shown = shown_flags(flags or {})
    words = f"{evidence.words} that was started with {shown}" if shown else evidence.words
    server = replace(started.server, log_warnings=warnings[:_MAX_WARNINGS])
    return replace(evidence, words=words, server=server, notes=(*evidence.notes, *started.notes))


READER = Reader(Form.LOG, _finds, _read)
