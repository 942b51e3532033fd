r"""Entries of logs and exports of no known form that hold a request with its answer, or an answer, somewhere within.

    {"insertId": …, "jsonPayload": {"request": {"messages": […]}, "response": {"choices": […]}}}
    {"_source": {"llm": {"request": {…}, "response": {…}}}}      {"record": {"extra": {"response": {…}}}}
    {"level": "INFO", "response": "{\"choices\": […]}"}          a value may be the text of JSON
    id,input,output                                              rows of a table with such texts

One, a list of them, one a line, or a table's rows. What has a known form as a whole is never read here.
"""

from __future__ import annotations

import csv
import io
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.base.json_values import as_object
from prompt_debugger.core.base.types import JSON, JSONObject
from prompt_debugger.core.evidence.answers.read import read_answer
from prompt_debugger.core.evidence.evidence import Evidence
from prompt_debugger.core.evidence.forms import Form
from prompt_debugger.core.evidence.readers.base import Paste, Reader, checked_row
from prompt_debugger.core.evidence.recognise import Pair, answer_in, form_of_value, pair_in
from prompt_debugger.core.evidence.taking import add_answer, exchange_of
from prompt_debugger.core.evidence.values.json_of import json_lines, json_of

_SIGNS = ("choices", "tool_calls", "candidates", "stop_reason", "output")
_ENDINGS = {"inputs": "inputs", "outputs": "outputs"}  # of MLflow's names: `mlflow.spanInputs`
_MAX_ENTRIES = 2_000
_MAX_LOOKED_AT = 20
_MAX_VALUES = 200  # objects within an entry that are looked at
_MAX_TEXTS = 12  # values of one object that are decoded
_MAX_OTHERS = 10
_MAX_CHARS = 2_000_000
_MIN_COLUMNS = 2


def _finds(paste: Paste) -> float:
    text = paste.text
    if len(text) > _MAX_CHARS or not any(sign in text for sign in _SIGNS):
        return 0.0
    entries = _entries(paste)
    looked_at = entries[:_MAX_LOOKED_AT]
    is_table = paste.value is None and not json_lines(text)
    if not looked_at or (not is_table and any(form_of_value(entry) is not None for entry in looked_at)):
        return 0.0
    return 0.6 if any(_held(entry) is not None for entry in looked_at) else 0.0


def _entries(paste: Paste) -> list[JSONObject]:
    """Return the objects of a text; none unless all of it is JSON objects or a table of such texts."""
    value = paste.value
    if isinstance(value, dict):
        return [value]
    if isinstance(value, list):
        entries = [one for one in value if isinstance(one, dict)][:_MAX_ENTRIES]
        return entries if len(entries) == min(len(value), _MAX_ENTRIES) and form_of_value(value) is None else []
    lines = [as_object(json_of(line)) for line in json_lines(paste.text)[:_MAX_ENTRIES]]
    return lines or _rows(paste.text)


def _rows(text: str) -> list[JSONObject]:
    """Return the rows of a table of commas whose fields are quoted JSON, by the names of its columns; else none."""
    head = text.lstrip("\ufeff").partition("\n")[0]
    if '"{""' not in text or head.count(",") < _MIN_COLUMNS - 1 or "{" in head:
        return []
    with suppress(csv.Error):
        rows = csv.DictReader(io.StringIO(text.lstrip("\ufeff")))
        found = [row for row, _ in zip(rows, range(_MAX_ENTRIES), strict=False)]
        return [{str(name): value for name, value in row.items() if isinstance(value, str)} for row in found]
    return []


def _read(paste: Paste) -> Evidence:
    entries = _entries(paste)
    held = [(number, one) for number, entry in enumerate(entries, 1) if (one := _held(entry)) is not None]
    if paste.row > 1:
        wanted = next((one for one in held if one[0] == checked_row(paste.row, len(entries))), None)
        if wanted is None:
            raise RequestError(f"Entry {paste.row} holds no request and no answer.", "Choose another number.")
        return _read_one(wanted, len(entries))
    evidence = _read_one(held[0], len(entries))
    return replace(evidence, others=tuple(_others(held[1 : _MAX_OTHERS + 1], len(entries))))


def _others(held: Sequence[tuple[int, Pair | JSONObject]], count: int) -> list[Evidence]:
    found: list[Evidence] = []
    for one in held:
        with suppress(RequestError):
            note = f"Entry {one[0]} of {count:,} is shown: no problem was found in those before it."
            read = _read_one(one, count)
            found.append(replace(read, notes=(note, *read.notes)))
    return found


def _read_one(numbered: tuple[int, Pair | JSONObject], count: int) -> Evidence:
    number, held = numbered
    if isinstance(held, Pair):
        evidence = exchange_of(Form.EXCHANGE, held.request, held.answer)
    else:
        evidence = add_answer(Evidence(Form.EXCHANGE, "an answer"), read_answer(held["answer"]))
    where = "an entry of a log" if count == 1 else f"entry {number} of {count:,}"
    return replace(
        evidence,
        form=Form.EXCHANGE if count == 1 else Form.LINES,
        words=f"{where}: {evidence.words}",
        row=number if count > 1 else 0,
        rows=count if count > 1 else 0,
    )


def _held(entry: JSONObject) -> Pair | JSONObject | None:
    """Return the first request with its answer within an entry, else the first answer under `answer`, or `None`."""
    answer: JSONObject | None = None
    waiting: deque[JSONObject] = deque([entry])
    for _ in range(_MAX_VALUES):
        if not waiting:
            break
        value = _decoded(waiting.popleft())
        if (pair := pair_in(value)) is not None:
            return pair
        if answer is None and (found := answer_in(value)) is not None:
            answer = {"answer": found}
        waiting.extend(one for one in value.values() if isinstance(one, dict))
    return answer


def _decoded(value: JSONObject) -> JSONObject:
    """Return an object with its values that are texts of JSON decoded, under the names that logs use."""
    read: JSONObject = {}
    left = _MAX_TEXTS
    for name, item in value.items():
        kept: JSON = item
        if isinstance(item, str) and item.startswith(("{", "[")) and left > 0:
            left -= 1
            decoded = json_of(item)
            kept = item if decoded is None else decoded
        ending = next((known for ending, known in _ENDINGS.items() if name.lower().endswith(f"span{ending}")), name)
        read[ending] = kept
    return read


READER = Reader(Form.EXCHANGE, _finds, _read)
