"""When two spellings of tool call arguments mean the same."""

from __future__ import annotations

import json

from core.diagnose.fields import decode_json
from core.types import JSON


def is_same_json(left: JSON, right: JSON) -> bool:
    """Tell whether two texts decode to the same JSON value; `1`, `1.0` and `true` are different.

    >>> is_same_json('{"a": 1}', '{"a":1}'), is_same_json('{"a": 1}', '{"a": "1"}')
    (True, False)
    """
    if left == right:
        return True
    if not isinstance(left, str) or not isinstance(right, str):
        return False
    values = [decode_json(left), decode_json(right)]
    if None in values:
        return False
    return json.dumps(values[0], sort_keys=True) == json.dumps(values[1], sort_keys=True)
