"""Calls that a sentence shows as code: `{'name': 'f', 'arguments': '{…}'}`, as JSON or as Python prints it.

Of several the first is read, and the others are looked at if there is nothing wrong with it.
"""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import islice

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.evidence.answers.read import is_answer, read_answer
from prompt_debugger.core.evidence.evidence import Evidence
from prompt_debugger.core.evidence.forms import Form
from prompt_debugger.core.evidence.taking import add_answer, as_part
from prompt_debugger.core.evidence.values.printed_values import value_at

_CODE = re.compile(
    r"(?<!`)`(?=\{\s{0,9}['\"](?:name|arguments|function|id|type|tool_calls|role)['\"])([^`]{20,4000})`(?!`)"
)
_MAX_VALUES = 4


def evidence_of_code(text: str) -> Evidence | None:
    """Return the calls or messages that a text shows as code within sentences; `None` where it shows none."""
    found: list[Evidence] = []
    for code in islice(_CODE.finditer(text), _MAX_VALUES):
        value = value_at(code[1].strip(), 0)
        if not is_answer(value):
            continue
        try:
            answer = as_part(read_answer(value))
        except RequestError:
            continue
        found.append(add_answer(Evidence(Form.FRAGMENT, "a call shown as code"), answer))
    return replace(found[0], others=tuple(found[1:])) if found else None
