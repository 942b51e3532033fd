"""What a server says in the body of an error: its own words, whole, and the request field that it names.

Shapes that are read, each seen at a real server or in its documentation:

    {"error": {"message", "param"}}          OpenAI and most others; OpenRouter adds `metadata.raw`
    {"error": "…"}                           TGI, Ollama
    {"detail": "…"}                          FastAPI
    {"detail": [{"loc": […], "msg"}]}        FastAPI's validation; also inside `message` (Mistral)
    {"message": "[{'type': …, 'loc': (…)}]"} the same as Python text (vLLM)
    [{"error": {…}}]                         Google
"""

from __future__ import annotations

import json
import re
from typing import NamedTuple

from prompt_debugger.core.base.json_values import as_object
from prompt_debugger.core.base.types import JSON
from prompt_debugger.core.complete.shapes import parse_json, text_of

MAX_CHARS = 4000

_KEYS = ("error", "message", "detail", "details", "errors", "msg", "error_message", "error_msg", "reason")
_DEPTH = 6
# Where the body is no part of a field's path.
_ROOTS = ("body", "query", "path", "header")
_PYTHON_LOC = re.compile(r"'loc': (?:\(([^()]{1,300})\)|'([^']{1,300})')")
_PYTHON_STEP = re.compile(r"'([^']*)'|(\d+)")


class ServerWords(NamedTuple):
    """What a server said.

    Attributes:
        text: Its words; "" if it said none.
        field: Path of the request field that it named; `None` if it named none.
    """

    text: str
    field: str | None


def read_words(content_type: str, body: str) -> ServerWords:
    """Read the body of an error; a web page has no words, only a title."""
    try:
        value = parse_json(body)
    except ValueError:
        title = re.search(r"<title>([^<]{1,200})", body, re.IGNORECASE)
        if title is not None or "html" in content_type:
            return ServerWords("", None)
        return ServerWords(" ".join(body.split())[:MAX_CHARS], None)
    return ServerWords(words_of(value)[:MAX_CHARS], _field_of(value, _DEPTH))


def title_of_page(content_type: str, body: str) -> str:
    """Return what a web page in place of an answer is; "" for anything else."""
    title = re.search(r"<title>([^<]{1,200})", body, re.IGNORECASE)
    if title is not None:
        return f"a web page titled {title[1].strip()!r}"
    return "a web page" if "html" in content_type else ""


def words_of(value: JSON) -> str:
    """Return the words of an error value of any shape; JSON text where no known field holds any."""
    found = _search(value, _DEPTH)
    if found or not isinstance(value, dict | list):
        return found
    error = as_object(value).get("error")
    return json.dumps(error) if error else ""


def _search(value: JSON, depth: int) -> str:
    if isinstance(value, str):
        return value.strip()
    if depth == 0:
        return ""
    if isinstance(value, list):
        return "; ".join(part for part in (_search(item, depth - 1) for item in value) if part)
    if not isinstance(value, dict):
        return ""
    said = next((found for key in _KEYS if (found := _search(value.get(key), depth - 1))), "")
    path = _path_of(value.get("loc"))
    upstream = text_of(as_object(value.get("metadata")).get("raw"))
    if said and upstream and upstream not in said:
        said = f"{said}: {upstream}"
    return f"`{path}`: {said}" if said and path else said


def _field_of(value: JSON, depth: int) -> str | None:
    if depth == 0:
        return None
    if isinstance(value, list):
        return next((found for item in value if (found := _field_of(item, depth - 1))), None)
    if isinstance(value, str):
        return _field_of_python(value)
    if not isinstance(value, dict):
        return None
    named = (text_of(value.get("param")) or "").removeprefix("body.") or _path_of(value.get("loc"))
    below = (value[key] for key in _KEYS if key in value)  # looking below what is absent costs keys to the depth
    return named or next((found for one in below if (found := _field_of(one, depth - 1))), None)


def _field_of_python(text: str) -> str | None:
    found = _PYTHON_LOC.search(text)
    if found is None:
        return None
    if found[2]:
        return found[2].removeprefix("body.")
    steps: list[JSON] = [int(number) if number else name for name, number in _PYTHON_STEP.findall(found[1])]
    return _path_of(steps) or None


def _path_of(loc: JSON) -> str:
    """Return `["body", "tools", 0, "type"]` as `tools[0].type`; "" if it is no path."""
    if not isinstance(loc, list):
        return ""
    steps = loc[1:] if loc and loc[0] in _ROOTS else loc
    known = (step for step in steps if isinstance(step, str | int))
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in known).removeprefix(".")
