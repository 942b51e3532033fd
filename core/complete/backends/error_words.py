r"""What a server says in the body of an error: its own words, whole, and the request field that it names.

Shapes that are read, each seen at a real server or in its documentation:

    {"error": {"message", "param"}}          OpenAI and most others; OpenRouter adds `metadata.raw`
    {"error": {"message", "details": [{"message", "param": "/input/2/status"}]}}  Azure's Responses
    {"error": "…"}                           TGI, Ollama
    {"detail": "…"}                          FastAPI
    {"detail": [{"loc": […], "msg"}]}        FastAPI's validation; also inside `message` (Mistral)
    {"message": "[{'type': …, 'loc': (…)}]"} the same as text, in the forms that `listed_faults` reads
    [{"error": {…}}]                         Google
    {"success": false, "errors": [{"message"}]}  Cloudflare
    {"OriginalMessage": "{\"error\": …}"}    SageMaker: words that are JSON again
    {"base_resp": {"status_code", "status_msg"}}  MiniMax, also with status 200
    {"Response": {"Error": {"Message"}}}     Tencent, likewise
    {"error_code": 17, "error_msg": "…"}     Baidu, likewise
"""

from __future__ import annotations

import json
import re
from typing import NamedTuple

from prompt_debugger.core.base.json_values import as_object, as_text
from prompt_debugger.core.base.types import JSON, JSONObject
from prompt_debugger.core.complete.backends.listed_faults import MAX_LISTED, faults_in, steps_of_tuple
from prompt_debugger.core.complete.backends.union_faults import is_class, keep_meant
from prompt_debugger.core.complete.shapes import parse_json
from prompt_debugger.core.known_errors import quoted_output

MAX_CHARS = 4000
MAX_QUOTED_CHARS = 200_000  # of words that quote what the model wrote

_KEYS = (
    *("error", "message", "detail", "details", "errors", "msg", "error_message", "error_msg", "reason"),
    *("OriginalMessage", "base_resp", "status_msg", "Response", "Error", "Message", "description"),
)
_SENTENCE_KEYS = ("message", "msg", "error_msg", "error_message", "detail")
_DEPTH = 6
_SHORT_PAGE = 600  # characters of a page without a title: proxies write a heading and a sentence
_TAG = re.compile(r"<[^<>]{0,200}>")
_REASON = "Tool use failed: "  # in place of what the model wrote
_MAX_DETAILS = 20
_BARE_CODE = re.compile(r"[A-Z][A-Z0-9_]{3,60}")
_MAX_MORE = 1000  # characters of `details` in words
# What is said of the body as a whole, which has no path.
_OF_BODY = frozenset({"Field required", "Input should be a valid dictionary or object to extract fields from"})
# Where the body is not part of a field's path.
_ROOTS = ("body", "query", "path", "header")
_NO_FIELD = re.compile(r"(?i:none|null)|\w{1,40}_error")
_PYTHON_LOC = re.compile(r"'loc': (?:\(([^()]{1,300})\)|'([^']{1,300})')")


class ServerWords(NamedTuple):
    """What a server said.

    Attributes:
        text: Its words; "" if it said none.
        field: Path of the request field that it named; `None` if it named none.
        code: Its own code or type of error in words; `None` if it gave none.
        output: What the model wrote, where the server sends it with its words (Groq's `failed_generation`).
    """

    text: str
    field: str | None
    code: str | None = None
    output: str | None = None


def read_words(content_type: str, body: str) -> ServerWords:
    """Read the body of an error; a web page has no words, only a title."""
    try:
        value = parse_json(body)
    except ValueError:
        title = re.search(r"<title>([^<]{1,200})", body, re.IGNORECASE)
        if title is not None or "html" in content_type:
            return ServerWords("", None)
        return ServerWords(" ".join(body.split())[:MAX_CHARS], None)
    return words_of_value(value)


def words_of_value(value: JSON) -> ServerWords:
    """Read the value of an error's body."""
    error = _innermost(value)
    output = as_text(error.get("failed_generation")) or _checked_text(error)
    output = None if output is not None and output.startswith(_REASON) else output
    text = words_of(value)
    most = MAX_CHARS if quoted_output(text) is None else MAX_QUOTED_CHARS
    return ServerWords(text[:most], _field_of(value, _DEPTH), _code_of(error), output)


def _checked_text(error: JSONObject) -> str | None:
    """Return the text in which pydantic found no JSON, as it lists it: `{"type": "json_invalid", "input": "…"}`."""
    return as_text(error.get("input")) if error.get("type") == "json_invalid" else None


def error_of_answer(answer: JSONObject) -> JSON:
    """Return the error that an answer with a good status reports in the form of any vendor; `None` if it has none."""
    if answer.get("error") and not (answer.get("choices") and _is_blank(answer["error"])):
        return answer["error"]
    if answer.get("choices"):
        return None
    minimax, tencent = as_object(answer.get("base_resp")), as_object(as_object(answer.get("Response")).get("Error"))
    if minimax.get("status_code") or tencent:
        return minimax or tencent
    if answer.get("errors") and isinstance(answer["errors"], list):
        return answer["errors"]
    code = next((answer[key] for key in ("error_code", "errorCode", "code") if answer.get(key)), None)
    is_reported = (code is not None or answer.get("success") is False) and _search(
        {key: answer.get(key) for key in _SENTENCE_KEYS}, 1
    )
    return {key: answer[key] for key in _SENTENCE_KEYS if key in answer} if is_reported else None


def _is_blank(error: JSON) -> bool:
    """Return whether an error has neither a code nor words, as one of a server that writes the field always."""
    return not any(as_object(error).values()) if isinstance(error, dict) else not error


def title_of_page(content_type: str, body: str) -> str:
    """Return what a web page in place of an answer is; "" for anything else."""
    title = re.search(r"<title>([^<]{1,200})", body, re.IGNORECASE)
    if title is not None:
        return f"a web page titled {title[1].strip()!r}"
    if "html" not in content_type:
        return ""
    words = " ".join(_TAG.sub(" ", body[:_SHORT_PAGE]).split()) if len(body) <= _SHORT_PAGE else ""
    return f"a web page that says {words!r}" if words else "a web page"


def is_page(content_type: str, text: str) -> bool:
    """Return whether a text in place of an answer is a web page."""
    head = text[:200].lstrip("\ufeff \t\r\n").lower()
    return head.startswith(("<!doctype html", "<html")) or ("html" in content_type and head.startswith("<"))


def words_of(value: JSON) -> str:
    """Return the words of an error value of any shape; JSON text where no known field contains any."""
    found = _search(value, _DEPTH)
    if found or not isinstance(value, dict | list):
        return found
    error = as_object(value).get("error")
    return json.dumps(error) if error else ""


def _search(value: JSON, depth: int) -> str:
    if isinstance(value, str):
        faults: JSON = faults_in(value) if depth > 0 else []
        if depth > 0 and value[:1] == "{" and len(value) <= MAX_LISTED:
            faults = faults or _json_in(value)
        return (_search(faults, depth - 1) if faults else "") or value.strip()
    if depth == 0:
        return ""
    if isinstance(value, list):
        parts = (_search(item, depth - 1) for item in keep_meant(value))
        return "; ".join(dict.fromkeys(part for part in parts if part))
    if not isinstance(value, dict):
        return ""
    message = next((found for key in _KEYS if (found := _search(value.get(key), depth - 1))), "")
    if message and (places := _details_of(value)):
        message = f"{message}: {'; '.join(f'`{place}`: {words}' for place, words in places)}"
    more = value.get("details")
    if message and isinstance(more, str) and more[:1].isalpha() and len(more) <= _MAX_MORE and more not in message:
        message = f"{message.rstrip('.!:')}: {' '.join(more.split())}"
    if _BARE_CODE.fullmatch(message) and (said := _words_below(as_object(more), depth)):
        message = said
    path = _path_of(value.get("loc")) or ("body" if message in _OF_BODY and value.get("loc") == ["body"] else "")
    raw = as_object(value.get("metadata")).get("raw")
    upstream = as_text(raw) or _places_in(raw)
    if message and upstream and upstream not in message:
        message = f"{message}: {upstream}"
    return f"`{path}`: {message}" if message and path else message


def _words_below(details: JSONObject, depth: int) -> str:
    """Return what Cursor writes below an error's code: of a body that the text ends with, the words of that."""
    text = as_text(details.get("detail")) or ""
    inner = _json_in(text[text.find("{") :]) if "{" in text and len(text) <= MAX_LISTED else None
    return _search(inner, depth - 1) or " ".join(text.split()) or as_text(details.get("title")) or ""


def _places_in(raw: JSON) -> str:
    """Return what a validator lists, as OpenRouter passes it on: each place with its words; "" of anything else."""
    listed = [as_object(one) for one in (raw[:_MAX_DETAILS] if isinstance(raw, list) else [])]
    parts = [(_path_of(one.get("path")), as_text(one.get("message"))) for one in listed]
    return "; ".join(f"`{path}`: {words}" for path, words in parts if path and words)


def _details_of(error: JSONObject) -> list[tuple[str, str]]:
    """Return places and words of the faults that a body lists below its words, the deepest places first."""
    listed = error.get("details")
    found: list[tuple[str, str]] = []
    for one in map(as_object, listed[:_MAX_DETAILS] if isinstance(listed, list) else []):
        place, words = as_text(one.get("param")), as_text(one.get("message"))
        if not place or not words:
            return []
        found.append((_path_of_pointer(place), words))
    return sorted(found, key=lambda fault: -len(re.findall(r"[.\[]", fault[0])))


def _path_of_pointer(pointer: str) -> str:
    """Return `/input/2/status` as `input[2].status`; any other text as it is."""
    if not pointer.startswith("/"):
        return pointer
    return _path_of([int(step) if step.isdecimal() else step for step in pointer[1:].split("/")])


def _json_in(text: str) -> JSON:
    """Return the object that a text spells; `None` if it spells none."""
    try:
        return parse_json(text)
    except ValueError:
        return None


def _field_of(value: JSON, depth: int) -> str | None:
    if depth == 0:
        return None
    if isinstance(value, list):
        return next((found for item in keep_meant(value) if (found := _field_of(item, depth - 1))), None)
    if isinstance(value, str):
        return _field_of_python(value)
    if not isinstance(value, dict):
        return None
    named = (as_text(value.get("param")) or "").removeprefix("body.")
    named = "" if _NO_FIELD.fullmatch(named) else named  # Cerebras gives the kind of fault there
    named = named or _path_of(value.get("loc"))
    listed = faults_in(as_text(value.get("message")) or "") if named else []
    if listed and (inner := _field_of(listed, 2)) is not None:
        return inner  # a server that names the first of many errors (vLLM)
    named = named or next((place for place, _ in _details_of(value)), "")
    below = (value[key] for key in _KEYS if key in value)  # looking below what is absent costs keys to the depth
    return named or next((found for one in below if (found := _field_of(one, depth - 1))), None)


def _field_of_python(text: str) -> str | None:
    faults = faults_in(text)
    if faults:
        return _field_of(faults, 2)
    found = _PYTHON_LOC.search(text)
    if found is None:
        return None
    if found[2]:
        return found[2].removeprefix("body.")
    return _path_of(steps_of_tuple(found[1])) or None


def _path_of(loc: JSON) -> str:
    """Return `["body", "tools", 0, "type"]` as `tools[0].type`; "" if it is not a path."""
    if not isinstance(loc, list):
        return ""
    steps = loc[1:] if loc and loc[0] in _ROOTS else loc
    known = (step for step in steps if isinstance(step, int) or (isinstance(step, str) and not is_class(step)))
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in known).removeprefix(".")


def _innermost(value: JSON) -> JSONObject:
    """Return the object that describes an error: what is under `error`, or the first of a list."""
    for _ in range(_DEPTH):
        if isinstance(value, list):
            value = value[0] if value else None
        below = as_object(value)
        inner = below.get("error") or below.get("errors") or below.get("detail")
        if not isinstance(inner, dict | list) or not inner:
            return below
        value = inner
    return as_object(value)


def _code_of(error: JSONObject) -> str | None:
    return next((found for key in ("code", "type", "status") if (found := as_text(error.get(key)))), None)
