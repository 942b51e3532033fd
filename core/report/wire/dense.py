"""A whole run as a journal keeps it by the thousand: whatever repeats is written once.

    run      the `run` document; its tables of tokens are left out
    tables   by the place of such a table its columns: numbers, edges, and each vocabulary entry once
    shared   what our own render has in common with the server's prompt, which is nearly always all of it

Opened, it is the same document that `trace_to_line` writes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from pydantic_core import to_json

from prompt_debugger.core.base.types import JSON, Entry, JSONObject, Prompt, Trace
from prompt_debugger.core.base.types.frozen import replace
from prompt_debugger.core.base.types.tokens import Origin, TokenKind, TokenTable, written_tokens
from prompt_debugger.core.report.wire.traces import trace_to_line

_MAX_TOKENS = 2_000_000


def trace_to_dense_line(trace: Trace) -> str:
    """Return the whole run as one line, in ASCII alone."""
    tables: JSONObject = {}
    shared: list[JSON] = []
    prompt, local, raw = trace.prompt, trace.local_prompt, trace.raw
    if prompt is not None and local is not None:
        local, shared = _drop_shared(prompt, local)
    if prompt is not None and (table := _columns(prompt.tokens, prompt.text)) is not None:
        tables["prompt"], prompt = table, replace(prompt, tokens=None)
    if local is not None and (table := _columns(local.tokens, local.text)) is not None:
        tables["local_prompt"], local = table, replace(local, tokens=None)
    if raw is not None and (table := _columns(raw.tokens, raw.text)) is not None:
        tables["raw"], raw = table, replace(raw, tokens=None)
    line = trace_to_line(replace(trace, prompt=prompt, local_prompt=local, raw=raw))
    return f'{{"run":{line},"tables":{_dense(tables)},"shared":{_dense(shared)}}}'


def open_dense(document: JSONObject) -> JSONObject:
    """Return the `run` document of what a journal kept, dense or as it is; trusts nothing in it.

    Raises:
        ValueError: It was not written here.
    """
    run = document.get("run")
    if "tables" not in document:
        return document
    try:
        return _opened(run, document["tables"], document["shared"])  # type: ignore[arg-type]  # whatever is wrong raises
    except (LookupError, TypeError, AttributeError) as error:
        raise ValueError(f"this is not a saved run: {error}") from None


def _opened(run: dict[str, JSONObject], tables: Mapping[str, JSONObject], shared: list[str]) -> JSONObject:
    for place, table in tables.items():
        run[place]["tokens"] = _tokens(table, str(run[place]["text"]))
    for name in shared:
        run["local_prompt"][name] = run["prompt"][name]
    return {**run}


def _drop_shared(prompt: Prompt, local: Prompt) -> tuple[Prompt, list[JSON]]:
    """Return our own render without what the server's prompt has as well, and the names of that."""
    shared: list[JSON] = []
    if local.spans and local.spans == prompt.spans:
        local, shared = replace(local, spans=()), [*shared, "spans"]
    if local.branches and local.branches == prompt.branches:
        local, shared = replace(local, branches=()), [*shared, "branches"]
    if local.kwargs and local.kwargs == prompt.kwargs:
        local, shared = replace(local, kwargs=()), [*shared, "kwargs", "parser_kwargs"]
    if local.template and local.template == prompt.template:
        local, shared = replace(local, template=None), [*shared, "template"]
    if _are_same(prompt, local):
        local, shared = replace(local, tokens=None), [*shared, "tokens"]
    return local, shared


def _are_same(prompt: Prompt, local: Prompt) -> bool:
    """Return whether both have the same table of tokens, without making them."""
    ours, theirs = local.tokens, prompt.tokens
    if not isinstance(ours, TokenTable) or not isinstance(theirs, TokenTable):
        return False
    return _key_of(ours) == _key_of(theirs)


def _key_of(table: TokenTable) -> tuple[object, ...]:
    return (
        table.text, table.ids, table.edges, table.entries, table.odd, table.origins, table.origin_of, table.forged,
    )  # fmt: skip


def _columns(tokens: object, text: str) -> JSONObject | None:
    """Return a table by its columns; `None` if it is none of this text."""
    if not isinstance(tokens, TokenTable) or tokens.text != text:
        return None
    return {
        "ids": [*tokens.ids],
        "edges": [*tokens.edges],
        "entries": _entries(tokens.entries),
        "odd": _entries(tokens.odd),
        "origins": [list(origin) for origin in tokens.origins],
        "origin_of": list(tokens.origin_of),
        "forged": list(tokens.forged),
    }


def _entries(entries: Mapping[int, Entry]) -> JSONObject:
    return {str(key): [piece.hex(), kind._value_] for key, (piece, kind) in entries.items()}


def _tokens(table: JSONObject, text: str) -> JSON:
    ids, edges = _numbers(table["ids"]), _numbers(table["edges"])
    origin_of, forged = _numbers(table["origin_of"]), _numbers(table["forged"])
    if len(ids) > _MAX_TOKENS or len(edges) != len(ids) + 1 or len(origin_of) not in (0, len(ids)):
        raise ValueError("its columns have different lengths")
    made = tuple(Origin(*origin) for origin in table["origins"])  # type: ignore[misc,union-attr]  # or it raises
    return written_tokens(
        TokenTable(text, ids, edges, _read(table["entries"]), _read(table["odd"]), made, origin_of, forged)
    )


def _numbers(values: JSON) -> tuple[int, ...]:
    if not isinstance(values, list) or any(type(value) is not int for value in values):
        raise ValueError("a column contains something other than numbers")
    return tuple(values)  # type: ignore[arg-type]  # they are


def _read(entries: JSON) -> dict[int, Entry]:
    read: dict[int, Entry] = {}
    if not isinstance(entries, dict):
        raise TypeError("a vocabulary is missing")
    for key, entry in entries.items():
        if not isinstance(entry, list) or len(entry) != 2:
            raise TypeError("an entry is malformed")
        read[int(key)] = Entry(bytes.fromhex(str(entry[0])), TokenKind(str(entry[1])))
    return read


def _dense(value: JSON) -> str:
    """Return a value of numbers and texts as one line, in ASCII alone."""
    try:
        text = to_json(value).decode()
    except ValueError:  # half a surrogate pair
        text = ""
    is_plain = text.isascii() and "\x7f" not in text and bool(text)
    return text if is_plain else json.dumps(value, separators=(",", ":"))
