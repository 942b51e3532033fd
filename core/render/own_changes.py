"""What a server's record says it does to a request before its template sees it, tried as an explanation of its prompt.

The changes are functions of a plain request, so nothing is known of where each character of what they make comes from.
The field that a span names is therefore looked up again in the request as pasted, and what is not there is unknown.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations

from prompt_debugger.core.protocols import RequestChange
from prompt_debugger.core.render.trace.runs import join_path
from prompt_debugger.core.types import JSON, JSONObject, PromptSpan, SpanKind

_MANY = 6  # changes up to which every choice of them is tried, 63 at most; beyond that one, two, or all


def changed_requests(
    body: JSONObject, changes: Sequence[RequestChange]
) -> Iterator[tuple[JSONObject, tuple[RequestChange, ...]]]:
    """Yield the requests that a server may have made of one, and by which changes; the fewest first."""
    counts = range(1, len(changes) + 1) if len(changes) <= _MANY else (1, 2, len(changes))
    for count in counts:
        for chosen in combinations(changes, count):
            made = body
            for change in chosen:
                before, made = made, _applied(change, made)
                if json.dumps(made) == json.dumps(before):  # nothing, order included; fewer were tried already
                    break
            else:
                yield made, chosen


def _applied(change: RequestChange, body: JSONObject) -> JSONObject:
    """Return a request as a change makes it; as it was where the change cannot take it."""
    try:
        made = json.loads(json.dumps(change.apply(copy.deepcopy(body))))
    except Exception:  # noqa: BLE001  # pasted requests have any shape, and what raises for one explains nothing
        return body
    return made if isinstance(made, dict) else body


def as_pasted(spans: Sequence[PromptSpan], changed: JSONObject, pasted: JSONObject) -> tuple[PromptSpan, ...]:
    """Return spans of a changed request with the fields of the pasted one; unknown is what is in none of them."""
    there, here = dict(_fields(changed, "")), dict(_fields(pasted, ""))
    return tuple(_as_pasted(span, there, here) for span in spans)


def _as_pasted(span: PromptSpan, there: Mapping[str, JSON], here: Mapping[str, JSON]) -> PromptSpan:
    if span.field is None:
        return span
    text = there.get(span.field)
    if span.field in here and here[span.field] == text:
        return span
    alike = [field for field, other in here.items() if isinstance(text, str) and text and other == text]
    if len(alike) == 1:
        return replace(span, field=alike[0])
    return PromptSpan(span.char_span, SpanKind.UNKNOWN, None, None, span.template_line, span.template_column)


def _fields(value: JSON, path: str) -> Iterator[tuple[str, JSON]]:
    """Yield every value inside a value by its path."""
    yield path, value
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from _fields(item, join_path(path, index))
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _fields(item, join_path(path, key))
