"""JSON values that are errors → `Refusal`: bodies of all vendors, and what validators of clients list.

{"error": {…}}, {"object": "error"}, {"detail": …}, {"errors": […]}, {"code", "message"}, [{"error": …}]
[{"path": […], "message": …}], {"name": "…Error", "cause": {"issues": […]}, "value": …}
"""

from __future__ import annotations

import json
import re
from itertools import islice

from prompt_debugger.core.base.http_status import status_name
from prompt_debugger.core.base.json_values import as_object, strings_in
from prompt_debugger.core.base.types import JSON, JSONObject, Refusal
from prompt_debugger.core.complete.backends.error_words import words_of_value
from prompt_debugger.core.complete.backends.issue_lists import faults_of_issues
from prompt_debugger.core.evidence.errors.tracebacks import EXCEPTION, TRACEBACK
from prompt_debugger.core.evidence.values.json_of import json_of
from prompt_debugger.core.known_errors import cause_of, classes_of, innermost, speaker_of

_ERROR_KEYS = frozenset({"message", "type", "code", "status", "detail", "details", "metadata", "param"})
_OF_HEAD = frozenset({"status", "statusCode", "headers", "requestID", "request_id"})  # of an answer without its body
_NO_ERRORS = ("choices", "messages", "output")  # keys of answers and requests
_NO_REASON = re.compile(
    r"(?i)(?:(?:provider|upstream) returned (?:an )?error|bad request|\d{3}"
    r"|all (?:\w{1,20} )?(?:providers|models|upstreams|deployments|attempts) failed)\W{0,3}\Z"
)
_OF_CLIENT = re.compile(r"(?i)\bfailed with status code \d{3}\W{0,3}\Z")  # axios, which keeps the body elsewhere
_NO_FAULT = ("trace", "debug", "info", "notice", "10", "20", "30")  # levels of a log's records
_OF_PYTHON = re.compile(
    r"'\w{1,40}' object |local variable |(?:list|string) index |unsupported operand |argument of type "
)
_MAX_AROUND = 600  # characters of a body that are kept with words that any program may say
_MAX_TEXTS = 40  # that may contain the reason
_WORDS_BESIDE = ("message", "error_message", "detail", "reason", "content", "text", "result", "output")
_TEXT_OF_BODY = ("responseBody", "response_body", "body", "response")


# Where a validator finds faults of chat requests, their answers and streams; other data has other names.
_OF_CHATS = frozenset(
    {
        "messages", "model", "tools", "tool_choice", "prompt", "input", "contents", "system", "max_tokens", "role",
        "temperature", "response_format", "stream", "choices", "usage", "object", "type", "error", "id", "content",
        "candidates", "output", "functions", "parameters", "arguments", "args", "tool_calls", "toolCalls", "delta",
        "toolCallId", "result", "value", "parts", "params", "method", "jsonrpc", "created", "finish_reason", "index",
        "message",
    }
)  # fmt: skip
_WRAPPED = re.compile(r"\n[ \t]*")
_LEVELS = frozenset({"error", "err", "fatal", "critical", "panic", "severe", "50", "60"})
_DEPTH = 3  # of objects in a body


def _join_keys(value: JSON, depth: int = 0) -> JSON:
    """Return a body with its keys whole that a terminal broke over two lines: `"mess` and `age"`."""
    if not isinstance(value, dict) or depth > _DEPTH:
        return value
    return {_WRAPPED.sub("", key): _join_keys(inner, depth + 1) for key, inner in value.items()}


def error_of_value(value: JSON, status: int | None = None) -> Refusal | None:
    """Return the error that a JSON value is; `None` if it is anything else.

    Args:
        value: A body.
        status: The HTTP status it came with, where that is known.
    """
    value = _join_keys(value)
    if isinstance(value, list):
        is_list_of_errors = bool(value) and all("error" in as_object(item) for item in value)
        return error_of_value(value[0], status) if is_list_of_errors else _read_issues(value)
    if not isinstance(value, dict) or any(value.get(key) and isinstance(value[key], list) for key in _NO_ERRORS):
        return None
    if len(value) == 1 and (name := next(iter(value))).startswith("error ") and isinstance(value[name], str):
        value = {"error": f"{name}: {value[name]}"}  # as Ollama 0.11 streamed it
    if (checked := _read_validator(value)) is not None:
        return checked
    if (described := _read_described(value)) is not None:
        value = described
    if (logged := _read_record(value)) is not None:
        return logged
    if isinstance(value.get("errorMessage"), str):
        value = _read_node(value)
    value = _read_batch(_read_agents(_read_minimax(_read_flagged(value))))
    if not _is_error(value):
        return _read_body_kept_as_text(value, status or _status_of(value))
    words = words_of_value(_use_code_as_words(_use_status_as_words(value)))
    if not words.text and words.output is None:
        return None
    status = status or _status_of(value) or _status_of(as_object(value.get("error")))
    around = json.dumps(value, ensure_ascii=False)[:_MAX_AROUND] if _OF_PYTHON.match(words.text) else None
    refusal = Refusal(status, words.text or "(no words)", words.field, words.code, words.output, around=around)
    return _reason_within(value, refusal) or refusal


def _read_flagged(value: JSONObject) -> JSONObject:
    """Return an error with its words in place that is only marked as one (`true`), or named; any other value as is."""
    said = value.get("error_text")  # as Home Assistant puts it next to the name of the exception
    if isinstance(said, str) and said.strip() and isinstance(value.get("error"), str):
        return {"error": f"{value['error']}: {said}"}
    if value.get("error") is not True or "role" in value:
        return value
    words = next((one for key in _WORDS_BESIDE if isinstance(one := value.get(key), str) and one.strip()), None)
    return (
        {"error": _drop_traceback(words)} if words is not None else {key: value[key] for key in value if key != "error"}
    )


def _drop_traceback(words: str) -> str:
    r"""Return the words of an exception without the traceback that a program printed below them.

    >>> _drop_traceback("APIConnectionError: 'name'\nTraceback (most recent call last):\\n  File …")
    "APIConnectionError: 'name'"
    """
    return words.partition("\nTraceback (most recent call last)")[0].strip() or words


def _read_record(value: JSONObject) -> Refusal | None:
    """Return the exception that ends the traceback in a record of a log; `None` of other records and other programs."""
    said = next((one for key in ("msg", "message", "event") if isinstance(one := value.get(key), str)), "")
    if str(value.get("level", "")).lower() not in _LEVELS or TRACEBACK not in said or speaker_of(said) is None:
        return None
    raised = list(EXCEPTION.finditer(said, said.rfind('File "') if 'File "' in said else 0))
    if not raised:
        return None
    name = raised[-1][1].rpartition(".")[2]
    words = innermost(said[raised[-1].end() :])
    return Refusal(None, words.words, words.field, name) if words.words else None


def _read_minimax(value: JSONObject) -> JSONObject:
    """Return the error that MiniMax reports with an empty answer in the form of others; any other value as it is."""
    base = as_object(value.get("base_resp"))
    words, code = base.get("status_msg"), base.get("status_code")
    is_error = isinstance(words, str) and bool(words) and isinstance(code, int) and code != 0
    return {"error": {"message": words, "code": str(code)}} if is_error else value


def _read_batch(value: JSONObject) -> JSONObject:
    """Return the error in a result of a batch of Anthropic's; any other value as it is."""
    result = as_object(value.get("result"))
    return as_object(result["error"]) if result.get("type") == "errored" and "error" in result else value


def _read_described(value: JSONObject) -> JSONObject | None:
    """Return errors whose words are a `description` next to a key, as Writer lists them, in the form of others."""
    errors = value.get("errors")
    listed = [as_object(one) for one in errors] if isinstance(errors, list) else []
    is_described = bool(listed) and all(isinstance(one.get("description"), str) and "key" in one for one in listed)
    return {"errors": [{"message": one["description"], "code": one["key"]} for one in listed]} if is_described else None


def _use_code_as_words(value: JSONObject) -> JSONObject:
    """Return a body whose error has no words with its code or type in their place."""
    error = as_object(value.get("error"))
    message, named = error.get("message"), error.get("code") or error.get("type")
    if not isinstance(message, str) or message.strip() or not isinstance(named, str):
        return value
    return {**value, "error": {**error, "message": named}}


def _use_status_as_words(value: JSONObject) -> JSONObject:
    """Return a body whose error is only the status and the headers of an answer with the status in place of words."""
    error = as_object(value.get("error"))
    status = _status_of(error)
    is_head = status is not None and isinstance(error.get("headers"), dict) and {*error} <= _OF_HEAD
    return {**value, "error": {"message": status_name(status), "status": status}} if status and is_head else value


def _read_body_kept_as_text(value: JSONObject, status: int | None) -> Refusal | None:
    """Return the error of a body that a client or a log keeps as text, which may be cut; `None` without one."""
    text = next((found for key in _TEXT_OF_BODY if isinstance(found := value.get(key), str)), None)
    body = None if text is None else json_of(text)
    if body is not None:
        return error_of_value(body, status)
    if text is None or status is None or not text.lstrip().startswith("{"):
        return None
    inner = innermost(text)
    return None if inner.words.startswith("{") else Refusal(status, inner.words, inner.field)


def _reason_within(value: JSONObject, refusal: Refusal) -> Refusal | None:
    """Return the error that a gateway or a client keeps in one of its own, which gives no reason; else `None`."""
    if _OF_CLIENT.search(refusal.message) is not None:
        bodies = (value.get("data"), as_object(value.get("response")).get("data"), value.get("body"))
        kept = (error_of_value(body, refusal.status) for body in bodies if isinstance(body, dict))
        return next((one for one in kept if one is not None), None)
    if _NO_REASON.search(refusal.message) is None:
        return None
    texts = (text for text in strings_in(value) if text.lstrip().startswith("{"))
    found = (error_of_value(json_of(text), refusal.status) for text in islice(texts, _MAX_TEXTS))
    return next((one for one in found if one is not None), None)


def _read_agents(value: JSONObject) -> JSONObject:
    """Return the error that OpenCode and Kilo Code keep under its name; any other value as it is."""
    data = as_object(value.get("data"))
    is_kept = str(value.get("name", "")).endswith("Error") and isinstance(data.get("message"), str)
    return data if is_kept else value


def _read_validator(value: JSONObject) -> Refusal | None:
    """Return the error of a client's validator, or that of a server which it took for an answer; else `None`."""
    name = value.get("name")
    held = next((one for one in (value, as_object(value.get("cause"))) if isinstance(one.get("issues"), list)), {})
    issues = held.get("issues", value.get("errors"))
    if not isinstance(name, str | None) or not faults_of_issues(issues):
        return None
    checked = value.get("value", held.get("value"))
    hidden = error_of_value(checked) if isinstance(checked, dict) else None
    found = _read_issues(issues)
    return hidden or (None if found is None else Refusal(None, found.message, found.field, name or None))


def _read_issues(issues: JSON) -> Refusal | None:
    faults = faults_of_issues(issues)
    words = words_of_value({"detail": faults}) if faults else None
    return None if words is None or not words.text else Refusal(None, words.text, words.field)


def is_of_other_data(value: JSON) -> bool:
    """Return whether a value is a validator's list of faults, none of them in what chat requests and answers hold.

    >>> [is_of_other_data([{"path": [name], "message": "Required"}]) for name in ("messages", "street")]
    [False, True]
    """
    faults = faults_of_issues(value)
    places = [place for fault in faults if isinstance(place := as_object(fault).get("loc"), list)]
    return bool(faults) and not any(str(step).split("[")[0] in _OF_CHATS for place in places for step in place[1:])


def _read_node(value: JSONObject) -> JSONObject:
    """Return the error of a workflow's node, as n8n copies it, in the form of others."""
    details = as_object(value.get("errorDetails"))
    raw = details.get("rawErrorMessage")
    parts = [value["errorMessage"], value.get("errorDescription"), *(raw if isinstance(raw, list) else [raw])]
    words = ": ".join(dict.fromkeys(one.strip(" .") for one in parts if isinstance(one, str) and one.strip()))
    return {"error": {"message": f"{words}.", "code": details.get("httpCode")}}


def _is_error(value: JSONObject) -> bool:
    error = value.get("error")
    if isinstance(error, dict):
        return bool(_ERROR_KEYS & error.keys())
    if isinstance(error, str) and error.strip():
        return "role" not in value
    if value.get("object") == "error" or (value.get("type") == "error" and "message" in value):
        return True
    errors = value.get("errors")
    if (
        isinstance(errors, list)
        and errors
        and all(isinstance(one, str) or "message" in as_object(one) for one in errors)
    ):
        return True
    detail = value.get("detail")
    if [*value] == ["detail"] and isinstance(detail, dict):  # FastAPI wraps whatever it is given
        return _is_error(detail) or isinstance(detail.get("msg"), str)
    if len(value) <= 3 and ((isinstance(detail, str) and detail.strip()) or _is_list_of_faults(detail)):
        return True
    message = value.get("message")
    if str(value.get("level")).lower() in _NO_FAULT:
        return False
    if not isinstance(message, str) or "role" in value or "content" in value:
        return False
    if {*value} in (
        {"id", "message"},
        {"message"},
    ):  # Cohere's, which no other key tells from the values of other programs
        return cause_of(message) is not None or next(classes_of(message), None) is not None
    return (
        _status_of(value) is not None
        or _is_numbered(value)
        or "param" in value
        or str(value.get("type", value.get("type_"))).endswith(("Error", "_error"))
    )


def _is_numbered(value: JSONObject) -> bool:
    """Return whether a value is what APIs answer whose errors have a number and no data, such as SiliconFlow's."""
    code = value.get("code")
    is_code = isinstance(code, int) and not isinstance(code, bool) and code not in (0, 1) and not 200 <= code < 300
    return is_code and isinstance(value.get("message"), str) and "data" in value and value["data"] is None


def _is_list_of_faults(detail: JSON) -> bool:
    return isinstance(detail, list) and bool(detail) and all("msg" in as_object(one) for one in detail)


def _status_of(value: JSONObject) -> int | None:
    for key in ("status", "statusCode", "status_code", "code"):
        found = value.get(key)
        if isinstance(found, str) and found.isdecimal() and len(found) == 3:
            found = int(found)
        if isinstance(found, int) and not isinstance(found, bool) and 400 <= found < 600:
            return found
    return None
