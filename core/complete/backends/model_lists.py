"""What a server lists as its models, in the forms in which vendors list them.

OpenAI                  {"object": "list", "data": [{"id": "m", …}]}
Together                [{"id": "m", …}]
Gemini, Cohere          {"models": [{"name": "models/m", …}]}
Cloudflare              {"result": [{"name": "m", …}], "success": true}
small servers           {"data": ["m"]}
"""

from __future__ import annotations

from prompt_debugger.core.base.json_values import as_list, as_text
from prompt_debugger.core.base.types import JSON, JSONObject
from prompt_debugger.core.complete.backends.error_words import error_of_answer, is_page, words_of
from prompt_debugger.core.complete.shapes import MAX_LOOK_PARTS, parse_json, parse_look

_KEYS = ("data", "models", "result")
_NAMES = ("id", "name", "model")
_WORDS = 120
_MOST_CHARS = 2_000_000  # of a list that is not an object


def models_in(text: str) -> list[JSONObject]:
    """Return the entries of a list of models, each with its name as `id`; nothing of what is no such list.

    >>> models_in('[{"id": "m"}]'), models_in('{"models": [{"name": "models/m"}]}')
    ([{'id': 'm'}], [{'name': 'models/m', 'id': 'm'}])
    """
    look: JSON = parse_look(text)
    if text.lstrip()[:1] == "[" and text.count("{") + text.count("[") <= MAX_LOOK_PARTS and len(text) <= _MOST_CHARS:
        look = _read(text)
    if isinstance(look, dict):
        look = next((look[key] for key in _KEYS if isinstance(look.get(key), list)), None)
    return [entry for one in as_list(look) if (entry := _entry_of(one)) is not None]


def what_came_instead(text: str) -> str | None:
    """Return what a server answers in place of a list of models, in words; `None` for a list or for nothing."""
    look = parse_look(text)
    if any(isinstance(look.get(key), list) or key in look for key in _KEYS) or not text.strip():
        return None
    if is_page("", text):
        return "a web page"
    if error := error_of_answer(look):
        words = " ".join(words_of(error).split())[:_WORDS]
        return f"an error ({words.rstrip('.')})" if words else "an error"
    return None if text.lstrip()[:1] == "[" else "something else"


def _read(text: str) -> JSON:
    try:
        return parse_json(text)
    except ValueError:
        return None


def _entry_of(value: JSON) -> JSONObject | None:
    if isinstance(value, str):
        return {"id": value}
    if not isinstance(value, dict):
        return None
    name = next((named for key in _NAMES if (named := as_text(value.get(key)))), None)
    return value if name is None or value.get("id") == name else {**value, "id": name.removeprefix("models/")}
