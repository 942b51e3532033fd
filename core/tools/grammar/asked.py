"""What a request asks a server to hold its answer to: a schema, a pattern, a choice, a grammar, calls.

Source: vLLM 0.32, `StructuredOutputsParams` and `ChatCompletionRequest.extract_structured_outputs`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from prompt_debugger.core.base.json_values import as_object, decoded
from prompt_debugger.core.base.types import JSON, JSONObject
from prompt_debugger.core.diagnose.refusals.removed_fields import SUCCESSORS
from prompt_debugger.core.parse.tools import function_of

_ANY_OBJECT: JSON = {"type": "object"}
_KINDS: Mapping[str, str] = {
    "json": "schema",
    "json_object": "schema",
    "regex": "regex",
    "choice": "choice",
    "grammar": "grammar",
    "structural_tag": "tag",
}
_REMOVED: Mapping[str, str] = {
    f"guided_{name}": _KINDS[name] for name in ("json", "regex", "choice", "grammar") if f"guided_{name}" in SUCCESSORS
}


class Constraint(NamedTuple):
    """What an answer is to be held to: a `schema`, `regex`, `choice`, `grammar` or `tag`, as the helper has them."""

    kind: str
    value: JSON


class Asked(NamedTuple):
    """What a request asks for: the fields, what the text is held to, and whether calls are held to something, too."""

    fields: tuple[str, ...]
    text: Constraint | None
    of_calls: bool


def asked_of(body: JSONObject) -> Asked | None:
    """Return what a chat request asks its answer to be held to; `None` if it asks nothing of the kind.

    >>> asked_of({"structured_outputs": {"choice": ["yes", "no"]}}).fields
    ('structured_outputs.choice',)
    >>> asked_of({"tools": [{"type": "function", "function": {"name": "f"}}], "tool_choice": "auto"}) is None
    True
    """
    texts = dict(_find_text(body))
    calls = tuple(_read_calls(body))
    if not texts and not calls:
        return None
    return Asked((*texts, *calls), next(iter(texts.values()), None), bool(calls))


def constraint_of_server(text: str) -> Constraint | None:
    """Return the constraint on an answer by the server's words, JSON like `structured_outputs`; `None` if unknown."""
    return next(_find_outputs(as_object(decoded(text))), (None, None))[1]


def _find_text(body: JSONObject) -> Iterator[tuple[str, Constraint]]:
    form = as_object(body.get("response_format"))
    match form.get("type"):
        case "json_object":
            yield "response_format", Constraint("schema", _ANY_OBJECT)
        case "json_schema":
            yield "response_format", Constraint("schema", as_object(form.get("json_schema")).get("schema", True))
        case "structural_tag":
            yield "response_format", Constraint("tag", form)
        case _:
            pass
    for name, constraint in _find_outputs(as_object(body.get("structured_outputs"))):
        yield f"structured_outputs.{name}", constraint
    for name, kind in _REMOVED.items():
        if body.get(name) is not None:
            yield name, Constraint(kind, _decoded(kind, body[name]))


def _find_outputs(outputs: JSONObject) -> Iterator[tuple[str, Constraint]]:
    for name, kind in _KINDS.items():
        value = outputs.get(name)
        if name == "json_object" and value is True:
            yield name, Constraint(kind, _ANY_OBJECT)
        elif name != "json_object" and value not in (None, "", []):
            yield name, Constraint(kind, _decoded(kind, value))


def _decoded(kind: str, value: JSON) -> JSON:
    """Return a schema or a tag that was sent as a text as what it says."""
    return decoded(value) if kind in ("schema", "tag") else value


def _read_calls(body: JSONObject) -> Iterator[str]:
    tools = body.get("tools")
    choice = body.get("tool_choice")
    if not isinstance(tools, list) or not tools or choice == "none":
        return
    if choice == "required" or function_of(as_object(choice)).get("name"):
        yield "tool_choice"
    for index, tool in enumerate(tools):
        if function_of(as_object(tool)).get("strict") is True:
            yield f"tools[{index}].function.strict"
    if body.get("parallel_tool_calls") is False:
        yield "parallel_tool_calls"
