"""Places at which someone left something out of what was pasted: `...`, `<snip>`, `(truncated)`.

    "tool_calls": [...]            {"id": "call_1", ...}          data: {"choices": [{"delta": …
    // ...                         <snip>

What is absent then proves nothing: neither a call that is not there, nor arguments that break off, nor how it ended.
"""

from __future__ import annotations

import ast
import re
import warnings
from dataclasses import replace

from prompt_debugger.core.base.comparable import NO_BEGINNING, OF_GAP, REQUEST_GAP, has_part_of_call
from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.base.json_values import as_list, as_object
from prompt_debugger.core.base.text import remove_strings
from prompt_debugger.core.base.types import JSON, ChatResult, JSONObject, Request, Trace
from prompt_debugger.core.diagnose.calls.broken_arguments import Break, break_of
from prompt_debugger.core.diagnose.calls.written_calls import READ_AS_CONTENT, written_calls
from prompt_debugger.core.diagnose.fields import texts_inside
from prompt_debugger.core.diagnose.words import counted
from prompt_debugger.core.evidence.evidence import UNKNOWN_ID, Evidence
from prompt_debugger.core.evidence.forms import Form
from prompt_debugger.core.evidence.recognise import MARKER
from prompt_debugger.core.evidence.taking import CUT_NOTE, head_deltas
from prompt_debugger.core.evidence.values.json_fragment import has_all_choices
from prompt_debugger.core.evidence.values.json_of import json_lines, json_of, lenient_json_of

OF_REFUSED_CALL = "The call was read from the words of a client that refused it; the answer around it was not copied."
GAP_NOTE = "Something was left out of the pasted text; what it was is unknown."
_IN_MESSAGE = CUT_NOTE.replace("inside the answer", "inside a message")
_LEFT_OUT = "Something was left out"
_STRUCTURED = frozenset({Form.ANSWER, Form.STREAM, Form.EXCHANGE, Form.FRAGMENT, Form.OBJECT, Form.LINES, Form.HTTP})
_EXPLICIT = re.compile(
    r"<(?:snip|truncated|omitted|redacted|cut)>|\[(?:\.{3,}|…|snip|truncated|omitted)\]|\((?:truncated|omitted|snip)\)"
)
_NO_REASON = re.compile(rf"finish_reason[='\": ]{{1,5}}(?:{_EXPLICIT.pattern}|\.{{3}}|…)")
_TAG = re.compile(  # a marker that was shortened
    r"</?[|\uff5c]?\w{0,40}(?:\.{3,}|…)(?!>)|(?:(?<!\.)\.{3,}+|…)(?:[\w\u2581]{0,40}[|\uff5c]|\w{2,40})>"
    r"|<[|\uff5c][\w\u2581]{3,60}(?:\.{3,}|…)>"
)
_AS_OPERATORS = re.compile(r"\w<(?:snip|truncated|omitted|redacted|cut)>\w")  # which Python takes for comparisons
# A sign where no prose has it, which ends words or follows a blank: of a raw output that was shortened.
_WITHIN = re.compile(
    r"\w{0,8}(?:\.{3,}|…)[\w:,{}\[\]\"'\\]|(?<![\w\s.])(?:\.{3,}|…)\S|(?<=[\"'{}\[\]:,\\])(?:\.{3,}|…)"
)  # with the character after it
_LINE = re.compile(rf"(?m)^[ \t]{{0,40}}(?:(?://|#) ?)?(?:\.{{3,}}|…|{_EXPLICIT.pattern})[ \t]{{0,8}}$")
_OPEN_VALUE = re.compile(r">\s{0,8}\{[^<>]{0,8000}[\"\d\]}](?:\.{3,}|…)(?=<)")  # arguments without their end
_OPEN_FIELD = re.compile(r"(?<!\\)\"\s{0,4}:\s{0,4}(?:\.{3,}|…)")  # no value, and no text that quotes one
_GLUED = re.compile(rf"(?:{_EXPLICIT.pattern})\w")  # a text whose beginning someone took off
_MEMBERS = re.compile(r"(?<=[,{\[])\s{0,4}(?:\.{3,}|…)\s{0,4}(?=[,}\]])")
_AFTER_COMMA = re.compile(r"[\"\d}\]]\s{0,4},\s{0,4}(?:\.{3,}|…)\s{0,4}(?=[^\s\w\"]|\Z)")  # where a member would begin
_NAME = re.compile(r'"name"\s{0,4}:\s{0,4}"[^"\n]{0,80}(?:\.{3,}|…)')
_HEADER = re.compile(
    rf"(?:begin[|\uff5c]>|functions\.)[\w.:-]{{0,80}}(?:<[|\uff5c]?\w{{0,40}}[|\uff5c]?)?(?:\.{{3,}}|…|{_EXPLICIT.pattern})"
)
_KEY = re.compile(
    r'"\w{0,40}(?:\.{3,}|…)\w{0,40}"\s{0,4}:|[{,]\s{0,4}"\w{0,40}(?:\.{3,}|…)[^"\n]{0,40}"?\s{0,4}[}\]]|[>\n]\s{0,4}\{(?:\.{3,}|…)\w|[{,]\s{0,4}"\w{0,40}(?:\.{3,}|…)\s{0,4}:'
    r'|(?:\A|[>\n{,])\s{0,4}(?:\.{3,}|…)\w{0,40}"\s{0,4}:|[{,]\s{0,4}"\w{0,40}(?:\.{3,}|…)[|\uff5c]?\w?>'
)
_OF_ANSWERS = frozenset({"usage", "choices", "finish_reason"})
_OF_NO_MESSAGE = frozenset({"function", "parameters", "description", "properties", "required"})  # but of a tool
# A string's end, and what was left out up to the middle of a member, or of a word.
_OPENED = re.compile(r"[\"'](?:\.{3,}|…)[:,]|(?<=\w)[\"'](?:\.{3,}|…)\w")
_JOINED = re.compile(r'\w"(?:\.{3,}|…)\w{1,40}"')  # a string's end, and what was left out up to within another one
_JOINED_ESCAPE = re.compile(r'[,{]\s{0,4}"\w{0,40}(?:\.{3,}|…)[^"\n\\]{0,40}\\"')  # a key, the rest of a quoted text
_PRINTED_NAME = re.compile(r"\bname=['\"][^'\"\n]{0,80}(?:\.{3,}|…)")
_CUT_BY_SIGN = re.compile(rf"(?:{_EXPLICIT.pattern}|\.{{3,}}|…)\s{{0,4}}\Z")  # a text that ends with it
_TURN = re.compile(r"(?:start[|\uff5c]>)\w{0,20}(?:\.{3,}|…)")
_RAW_LINE = re.compile(r"(?m)^(?:\.{3,}|…)[ \t]{0,8}$")
_VALUE = re.compile(r">\n(?:\.{3,}|…)[ \t]{0,8}(?=\n</)")  # of a tag, when all of it was left out
_DOTS = re.compile(r"\.{3,}|…")
_WORD = re.compile(r"""["']\w{0,40}(?:\.{3,}|…)\w{0,40}["']\s{0,8}[,}]""")  # after which a name would have its value
_SET = re.compile(r"\{\s{0,4}['\"][^'\"\n]{0,80}(?:\.{3,}|…)[^'\"\n]{0,80}['\"]\s{0,4}\}")  # a dict that lost a key
_SHORT_KEY = re.compile(
    r"['\"](?:choices|message|content|tool_calls|function|arguments|name|index|finish_reason|usage)(?:\.{3,}|…)"
)
_REMARK = re.compile(r"(?:#|//) (?:\.{3,}|…)")
_NO_CALLS = re.compile(r"['\"]?tool_calls['\"]?(?:=|: ?)(?:None|\[\]|null)")
_NO_ARGUMENTS = re.compile(r"['\"]?arguments['\"]?(?:=|: ?)None")  # printed as absent
# What only someone who shortened an output can have put into it, or into content with markup.
_RAW_SIGNS = (
    _EXPLICIT, _TAG, _HEADER, _OPEN_FIELD, _OPEN_VALUE, _MEMBERS, _AFTER_COMMA, _NAME, _KEY, _JOINED, _SET,
)  # fmt: skip
_WORDS = frozenset({"role", "finish_reason", "name", "type", "object", "stop_reason"})
_OF_CALLS = frozenset({"tool_calls", "function_call"})  # the second is the older form of the first
_HEAD = re.compile(r'"message": ?\{(?:\.{3}|…)\}')  # of a Messages stream, which has nothing of the answer
# A long text that only its maker reads: whoever shortens it leaves out nothing else.
_SEALED = re.compile(
    r'"(thought_?[sS]ignature|signature|encrypted_content)"\s{0,8}:\s{0,8}'
    r'"[\w+/=-]{0,4000}(?:\.{3,}|…)[\w+/=-]{0,4000}"'
)
# Ids that someone shortened: each is unknown then, and nothing else is.
_SHORT_ID = re.compile(r'"(id|call_id|tool_call_id|tool_use_id)"\s{0,8}:\s{0,8}"[\w-]{1,60}(?:\.{3,}|…)[\w-]{0,60}"')
_ENDS_OF_A_CUT = frozenset({"length", "max_tokens", "content_filter"})  # which hold, whatever was left out
_RUNNING = re.compile(r"(?m)^>{5,20} [A-Z ]{4,40} \S{1,120}\.\.\.$")  # a program's word for what it does
_MAX_OF_PYTHON = 100_000  # characters


def drop_unproven(evidence: Evidence, text: str) -> Evidence:
    """Return evidence without what nothing proves, where someone left something out of its text.

    Raises:
        RequestError: Nothing is left of it.
    """
    is_prose = READ_AS_CONTENT in evidence.notes and _LINE.search(text) is None  # in which dots are dots
    if evidence.run is not None or is_prose or (evidence.form is Form.FRAGMENT and has_all_choices(text)):
        return evidence
    if OF_REFUSED_CALL in evidence.notes and evidence.chat is not None and not _has_sign(str(evidence.chat.message)):
        return evidence  # of several calls it is one that is whole
    text = _VALUE.sub(">", _RUNNING.sub("", text))
    is_elided = evidence.form is Form.FRAGMENT and any(note.startswith(_LEFT_OUT) for note in evidence.notes)
    is_cut = is_elided or (evidence.form in (Form.FRAGMENT, Form.OBJECT) and CUT_NOTE in evidence.notes)
    is_beside = evidence.form in (Form.OUTPUT, Form.LOG) and evidence.chat is not None
    is_structured = evidence.form in _STRUCTURED or is_beside
    is_cut = is_cut or _has_elided_text(evidence)
    if is_structured and (is_cut or _has_half_call(evidence) or _lacks_calls(evidence, text) or has_gap(text)):
        evidence = _careful(evidence, text, is_noted=evidence.form is not Form.FRAGMENT)
    evidence = _forget_shortened_ids(_drop_shortened_texts(evidence))
    return replace(evidence, notes=(*evidence.notes, REQUEST_GAP)) if _has_elided_request(evidence) else evidence


def _has_elided_request(evidence: Evidence) -> bool:
    """Return whether something was left out of the request, so that nothing follows from what it lacks."""
    if evidence.request is None or REQUEST_GAP in evidence.notes:
        return False
    is_of_one_text = evidence.form in (Form.FRAGMENT, Form.OBJECT) or _IN_MESSAGE in evidence.notes
    is_elided = any(note.startswith(_LEFT_OUT) for note in evidence.notes) and is_of_one_text
    messages = [as_object(one) for one in as_list(evidence.request.body.get("messages"))]
    texts = [one.get("content") for one in messages]
    is_glued = any(isinstance(text, str) and _GLUED.match(text) for text in texts)
    is_glued = is_glued or any(_OF_NO_MESSAGE & one.keys() and _has_sign(str(one)) for one in messages)
    is_glued = is_glued or bool(_OF_ANSWERS & evidence.request.body.keys() and _has_sign(str(evidence.request.body)))
    return is_elided or is_glued or _is_elided(evidence.request.body)


def _has_elided_text(evidence: Evidence) -> bool:
    """Return whether a sign is in content with markup, or in arguments that are not an object because of it."""
    message = evidence.chat.message if evidence.chat is not None else {}
    content, calls = message.get("content"), message.get("tool_calls")
    written = [as_object(as_object(call).get("function")).get("arguments") for call in as_list(calls)]
    return (isinstance(content, str) and _is_elided_text("content", content)) or any(
        isinstance(one, str) and (_is_elided_text("arguments", one) or (_OPENED.search(one) and json_of(one) is None))
        for one in written
    )


def _has_half_call(evidence: Evidence) -> bool:
    """Return whether a call has an id that someone shortened, and no name."""
    calls = as_list(evidence.chat.message.get("tool_calls")) if evidence.chat is not None else []
    return any(_has_short_id(call) and not as_object(as_object(call).get("function")).get("name") for call in calls)


def _lacks_calls(evidence: Evidence, text: str) -> bool:
    """Return whether the finish reason is cut, or a printed object lacks calls that it had, or parts of them."""
    if evidence.chat is None or _has_sign(evidence.chat.finish_reason or ""):
        return evidence.chat is not None
    if evidence.form not in (Form.OBJECT, Form.FRAGMENT):
        return False
    calls = evidence.chat.message.get("tool_calls")
    if isinstance(calls, list) and calls:
        lacks = any("arguments" not in as_object(as_object(call).get("function")) for call in calls)
        return lacks and not (_NO_ARGUMENTS.search(text) is not None and _goes_on_after_calls(evidence.chat))
    return evidence.chat.finish_reason in ("tool_calls", "function_call") and _NO_CALLS.search(text) is None


def _goes_on_after_calls(chat: ChatResult) -> bool:
    """Return whether the last delta of a stream belongs to no call: none of its calls continues."""
    return bool(chat.deltas) and not chat.deltas[-1].delta.get("tool_calls")


def has_no_reason(text: str) -> bool:
    """Return whether someone wrote a sign in place of a finish reason: it had one, and nobody knows which."""
    return _NO_REASON.search(text) is not None


def has_gap(text: str) -> bool:
    """Return whether something was left out of a text that had to be JSON, a stream, or what Python prints."""
    if "..." not in text and "…" not in text and _EXPLICIT.search(text) is None:
        return False
    text = _SHORT_ID.sub(r'"\1": ""', _SEALED.sub(r'"\1": ""', _HEAD.sub('"message": {}', text)))
    value = json_of(text)
    if value is not None:
        return _is_elided(value)
    if (mended := lenient_json_of(text)) is not None and _is_elided(mended[0]):
        return True
    if _LINE.search(text) is not None or _TAG.search(text) is not None or _has_elided_event(text):
        return True
    if (is_elided := _has_elided_node(text)) is not None:
        return is_elided or _SET.search(text) is not None or _JOINED_ESCAPE.search(text) is not None
    if _SET.search(text) is None and _JOINED_ESCAPE.search(text) is None and _is_sound(text):
        return False
    signs = (_EXPLICIT, _REMARK, _WORD, _SHORT_KEY, _SET, _JOINED_ESCAPE, _PRINTED_NAME)
    return any(sign.search(text) for sign in signs) or _DOTS.search(remove_strings(text)) is not None


def _is_sound(text: str) -> bool:
    """Return whether a text is of lines that are JSON each, or a stream of such."""
    lines = [line for line in text.split("\n") if line.strip()]
    data = [line.removeprefix("data:").strip() for line in lines if line.startswith("data:")]
    if data:
        return all(one == "[DONE]" or json_of(one) is not None for one in data)
    return len(json_lines(text)) == len(lines) and all(json_of(line) is not None for line in lines)


def _has_elided_node(text: str) -> bool | None:
    """Return whether an expression of Python has a sign of something left out; `None` if a text is not Python."""
    if len(text) > _MAX_OF_PYTHON or json_lines(text):
        return None
    if "<" in text and _AS_OPERATORS.search(remove_strings(text)) is not None:
        return True
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return any(map(_is_elided_node, ast.walk(ast.parse(text.strip()))))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _is_elided_node(node: ast.AST) -> bool:
    """Return whether Python's `...`, or a name in a dict, or arguments, that have a sign of something left out."""
    if isinstance(node, ast.Constant):
        return node.value is ...
    if isinstance(node, ast.keyword) and node.arg == "name":
        return isinstance(node.value, ast.Constant) and _has_sign(str(node.value.value))
    if isinstance(node, ast.keyword):
        text = node.value.value if node.arg == "arguments" and isinstance(node.value, ast.Constant) else None
        return isinstance(text, str) and _EXPLICIT.search(text) is not None and json_of(text) is None
    names = [key.value for key in node.keys if isinstance(key, ast.Constant)] if isinstance(node, ast.Dict) else []
    return any(isinstance(name, str) and _has_sign(name) for name in names)


def _has_elided_event(text: str) -> bool:
    """Return whether a line that is JSON, or an event of a stream, has a sign where none can be."""
    is_stream = text.lstrip().startswith("data:")
    for line in text.split("\n"):
        if _has_sign(line):
            if is_stream and not line.lstrip().startswith(("data:", "event:", "id:", "retry:", ":")):
                return True
            value = json_of(line.strip().removeprefix("data:"))
            if _is_elided(value) or (value is None and line.lstrip().startswith("data:")):
                return True
    return False


def _is_elided(value: JSON) -> bool:
    """Return whether a name, or a text that is one word, of a JSON value has a sign of something left out."""
    if isinstance(value, list):
        return any(_is_elided(item) for item in value)
    if not isinstance(value, dict):
        return False
    for name, item in value.items():
        if _has_sign(name) or (isinstance(item, str) and _is_elided_text(name, item)):
            return True
        if isinstance(item, dict | list) and _is_elided(item):
            return True
    return False


def _is_elided_text(name: str, text: str) -> bool:
    if name in _WORDS:
        return _has_sign(text)
    if name == "arguments" and (value := json_of(text)) is not None:
        return isinstance(value, dict) and any(map(_has_sign, value))
    if name == "arguments":
        return any(sign.search(text) for sign in (_CUT_BY_SIGN, _EXPLICIT))
    signs = (*_RAW_SIGNS, _CUT_BY_SIGN)  # which ends a text that was shortened, and no text with markup
    return MARKER.search(text) is not None and any(sign.search(text) for sign in signs)


def _has_sign(text: str) -> bool:
    return _DOTS.search(text) is not None or _EXPLICIT.search(text) is not None


def _careful(evidence: Evidence, text: str, *, is_noted: bool) -> Evidence:
    """Return evidence of whose answer only what is complete counts."""
    chat = evidence.chat if evidence.chat is not None else evidence.stream
    notes = (*evidence.notes, GAP_NOTE) if is_noted else evidence.notes
    if chat is None:
        return replace(evidence, notes=notes)
    calls = chat.message.get("tool_calls")
    listed = calls if isinstance(calls, list) else []
    is_cut_by_server = chat.finish_reason in _ENDS_OF_A_CUT
    shows_empty = "{}" in text  # as arguments, and not only because a reader writes absent ones so
    kept = [_fill_id(call) for call in listed if is_cut_by_server or _is_whole(call, shows_empty=shows_empty)]
    message: JSONObject = {name: item for name, item in chat.message.items() if name not in _OF_CALLS}
    if kept:
        message |= {name: kept if name == "tool_calls" else chat.message[name] for name in _OF_CALLS & {*chat.message}}
    content = message.get("content")
    if isinstance(content, str) and ((is_noted and _has_sign(content)) or _is_elided_text("content", content)):
        message["content"] = _whole_calls_of(content)
    if len(kept) < len(listed):
        notes = (
            *notes,
            f"Left out: {counted(len(listed) - len(kept), 'call')} of which the text contains only a part.",
        )
    return _replace_message(replace(evidence, notes=notes), chat, message)


def _whole_calls_of(content: str) -> str | None:
    """Return a shortened content up to its last whole call, if the sign is at its end alone; else `None`."""
    shown = _CUT_BY_SIGN.sub("", content)
    if shown == content or _has_sign(shown):
        return None
    calls = list(written_calls(Trace(Request({"messages": []}, "")), shown))
    return shown[: max(call.char_span.stop for call in calls)] if calls else None


def _replace_message(evidence: Evidence, chat: ChatResult, message: JSONObject) -> Evidence:
    """Return evidence with what is left of a message; without an answer, where nothing is."""
    heads = head_deltas(chat)
    if not heads and not any(item for name, item in message.items() if name != "role"):
        left = replace(evidence, chat=None, stream=None, finish_reason=None)
        if not left.holds:
            raise RequestError(
                "No part of the answer is complete: something was left out of it.", "Paste all of it, as it came."
            )
        return left
    is_proof = chat.finish_reason in _ENDS_OF_A_CUT or (
        bool(message.get("tool_calls")) and chat.finish_reason != "stop"
    )
    reason = chat.finish_reason if is_proof and not _has_sign(chat.finish_reason or "") else None
    chat = replace(chat, message=message, finish_reason=reason, error=None, deltas=heads, body="")
    return replace(evidence, chat=chat, stream=None if evidence.stream is None else chat, finish_reason=reason)


def _is_whole(call: JSON, *, shows_empty: bool) -> bool:
    function = as_object(as_object(call).get("function"))
    arguments = function.get("arguments")
    if not function.get("name") or _has_sign(str(function["name"])):
        return False
    if arguments in ("{}", {}) and not shows_empty:
        return False
    if not isinstance(arguments, str):
        return isinstance(arguments, dict)
    fault = break_of(arguments)
    if _OPENED.search(arguments) is not None:
        return json_of(arguments) is not None
    value = json_of(arguments)
    is_value = (isinstance(value, dict) and not any(map(_has_sign, value))) or (
        value is not None and not _has_sign(arguments)
    )
    return is_value or (fault is not None and fault.kind is Break.PYTHON)


def _fill_id(call: JSON) -> JSON:
    """Return a call whose id may be what was left out."""
    return {**as_object(call), "id": as_object(call).get("id") or UNKNOWN_ID}


def _forget_shortened_ids(evidence: Evidence) -> Evidence:
    """Return evidence in which ids that someone shortened are unknown: they were not part of the trouble."""
    chat = evidence.chat if evidence.chat is not None else evidence.stream
    calls = None if chat is None else chat.message.get("tool_calls")
    if chat is None or not isinstance(calls, list):
        return evidence
    known = [{**as_object(call), "id": UNKNOWN_ID} if _has_short_id(call) else call for call in calls]
    if known == calls:
        return evidence
    deltas = tuple(replace(delta, delta=_drop_short_ids(delta.delta)) for delta in chat.deltas)
    chat = replace(chat, message={**chat.message, "tool_calls": known}, deltas=deltas)
    return replace(evidence, chat=chat, stream=None if evidence.stream is None else chat)


def _drop_short_ids(delta: JSONObject) -> JSONObject:
    calls = delta.get("tool_calls")
    if not isinstance(calls, list):
        return delta
    kept = [
        {name: item for name, item in as_object(call).items() if name != "id"} if _has_short_id(call) else call
        for call in calls
    ]
    return {**delta, "tool_calls": kept}


def _has_short_id(call: JSON) -> bool:
    return _has_sign(str(as_object(call).get("id") or ""))


def _drop_shortened_texts(evidence: Evidence) -> Evidence:
    """Return evidence without a prompt or a raw output that a sign shows to be shortened."""
    prompt, raw = evidence.prompt, evidence.raw
    if prompt is not None and any(sign.search(prompt) for sign in (_EXPLICIT, _TAG, _TURN, _RAW_LINE, _REMARK)):
        evidence = replace(
            evidence, prompt=None, notes=(*evidence.notes, "The prompt was shortened, so it is not read.")
        )
    if raw is not None and (damage := _damage_of(raw, evidence.chat)):
        evidence = replace(evidence, raw_reason=evidence.raw_reason or damage)
    is_compared = evidence.chat is not None  # as a pair; in one, no one writes `...` as a value
    signs = (*_RAW_SIGNS, _TURN, *((_REMARK,) if is_compared else ()))
    if raw is None:
        return evidence
    without = _VALUE.sub(">", raw)
    if not any(sign.search(without) for sign in (*signs, _RAW_LINE)):
        return evidence
    if not any(sign.search(raw) for sign in signs):
        return replace(evidence, raw_reason=evidence.raw_reason or OF_GAP)
    left = replace(
        evidence, raw=None, token_ids=None, notes=(*evidence.notes, "The raw output was shortened, so it is not read.")
    )
    if not left.holds:
        raise RequestError("The raw output was shortened by hand.", "Paste it whole, as the model wrote it.")
    return left


def _damage_of(raw: str, chat: ChatResult | None) -> str:
    """Return what a raw output of a call lacks compared with its message: at a sign that no text of the message has."""
    found = None if chat is None or not has_part_of_call(raw) else _WITHIN.search(raw)
    if chat is None or found is None:
        return ""
    if found[0] in "\n".join(texts_inside(chat.message)):
        return ""
    return NO_BEGINNING if not raw[: found.start()].strip() else OF_GAP
