"""The field that a refusal quotes the value of and does not name, as programs in Rust do.

    invalid type: string "warm", expected f32 at line 1 column 606
    invalid value: integer `-1`, expected u32

A value that one place of the request alone has shows which field is meant.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from prompt_debugger.core.base.json_values import decode_json
from prompt_debugger.core.base.types import JSON, JSONObject

_QUOTED = re.compile(
    r'invalid (?:type|value): (?:string (?P<text>"(?:[^"\\\n]|\\.){0,200}")'
    r"|(?:integer|floating point|boolean) `(?P<plain>[-+.\w]{1,40})`)"
)
_MAX_VALUES = 20_000  # of a request that are looked at


def place_of_quoted(body: JSONObject, words: str) -> str | None:
    """Return the path of the only field whose value words quote; `None` where they quote none, or several have it.

    >>> place_of_quoted({"temperature": "warm", "top_p": 1}, 'invalid type: string "warm", expected f32')
    'temperature'
    >>> place_of_quoted({"seed": "warm", "temperature": "warm"}, 'invalid type: string "warm", expected f32') is None
    True
    """
    found = _QUOTED.search(words)
    if found is None:
        return None
    wanted = decode_json(found["text"] or found["plain"])
    values = [*islice(_values(body), _MAX_VALUES + 1)]
    places = [path for path, value in values if _is_same(value, wanted)]
    return places[0] if len(places) == 1 and len(values) <= _MAX_VALUES else None


def _is_same(value: JSON, wanted: JSON) -> bool:
    return type(value) is type(wanted) and value == wanted


def _values(body: JSONObject) -> Iterator[tuple[str, JSON]]:
    """Yield the values that have no parts, with their paths."""
    left: list[tuple[str, JSON]] = [("", body)]
    while left:
        path, value = left.pop()
        if isinstance(value, dict):
            left += [(f"{path}.{key}" if path else key, inner) for key, inner in value.items()]
        elif isinstance(value, list):
            left += [(f"{path}[{index}]", inner) for index, inner in enumerate(value)]
        else:
            yield path, value
