"""Lines of a log in JSON that keep a request and its answer apart, with an id of the request in both.

    {"msg": "llm request", "request_id": "a1", "body": {"messages": […]}}
    {"msg": "llm response", "request_id": "a1", "body": {"choices": […]}}

Without the same id under the same name two lines are not put together.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.base.json_values import as_object
from prompt_debugger.core.base.types import JSON, JSONObject
from prompt_debugger.core.evidence.answers.read import is_answer
from prompt_debugger.core.evidence.evidence import Evidence
from prompt_debugger.core.evidence.forms import Form
from prompt_debugger.core.evidence.recognise import is_request, pair_in, request_in
from prompt_debugger.core.evidence.taking import exchange_of
from prompt_debugger.core.evidence.values.json_of import json_of

_IDS = ("request_id", "requestId", "req_id", "reqId", "correlation_id", "correlationId", "trace_id", "traceId")
_HOLDERS = ("body", "response", "response_body", "responseBody", "data", "payload", "result", "completion", "output")
_MAX_OTHERS = 10


def read_linked(lines: Sequence[str], first: int) -> Evidence | None:
    """Return the first request whose answer is in a later line, with the next ones for where nothing is wrong with it.

    Args:
        lines: Lines that are JSON objects each.
        first: The number of the first of them.

    Returns:
        `None` unless the first line that holds one of the two is a request, and an answer has its id.
    """
    found: list[Evidence] = []
    pairs = list(_pairs([as_object(json_of(line)) for line in lines]))
    for asked, answered, body, answer in pairs[: _MAX_OTHERS + 1]:
        with suppress(RequestError):
            evidence = exchange_of(Form.LINES, body, answer)
            words = f"lines {first + asked} and {first + answered} of a log: {evidence.words}"
            found.append(replace(evidence, words=words))
    return None if not found else replace(found[0], others=tuple(found[1:]))


def _pairs(values: Sequence[JSONObject]) -> Iterator[tuple[int, int, JSONObject, JSON]]:
    open_requests: dict[tuple[str, str], tuple[int, JSONObject]] = {}
    for number, value in enumerate(values):
        key = next(((name, str(value[name])) for name in _IDS if value.get(name)), None)
        if key is None or pair_in(value) is not None:
            continue
        body = value if is_request(value) else request_in(value)
        if isinstance(body, dict):
            open_requests[key] = (number, {name: item for name, item in body.items() if name != key[0]})
            continue
        answer = next((held for name in _HOLDERS if is_answer(held := value.get(name))), None)
        asked = open_requests.pop(key, None) if answer is not None else None
        if asked is not None:
            yield asked[0], number, asked[1], answer
