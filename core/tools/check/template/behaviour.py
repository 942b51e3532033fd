"""How a template renders usual conversations and every kind of tool: what a lock file records of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from prompt_debugger.core.base.errors import RenderError
from prompt_debugger.core.base.types import JSONObject
from prompt_debugger.core.render.local import Renderer
from prompt_debugger.core.tools.check.answers import PLAIN_TOOLS, TOOLS, USER_WORDS
from prompt_debugger.core.tools.check.conversations import conversations
from prompt_debugger.core.tools.check.ideal import Ideal, Render
from prompt_debugger.core.tools.check.model import CheckedModel

_TOOL, _PARAMETER = "zq_tool", "zq_parameter"
_PARAMETERS: Mapping[str, JSONObject] = {
    "type string": {"type": "string"},
    "type integer": {"type": "integer"},
    "type number": {"type": "number"},
    "type boolean": {"type": "boolean"},
    "type array": {"type": "array", "items": {"type": "string"}},
    "type object": {"type": "object", "properties": {"inner": {"type": "string"}}},
    "an enumeration": {"type": "string", "enum": ["zqA", "zqB"]},
    "two types": {"type": ["string", "null"]},
    "no type": {"description": "zqAnything."},
    "a choice of schemas": {"anyOf": [{"type": "string"}, {"type": "integer"}]},
}


@dataclass(frozen=True, slots=True)
class Behaviour:
    """What a template does.

    Attributes:
        prompts: The prompt of each usual conversation, by its name; "" for one that it refuses.
        tools: What becomes of each kind of tool: `printed`, `printed without its parameters`, `dropped`, `refused`.
    """

    prompts: Mapping[str, str] = field(default_factory=dict)
    tools: Mapping[str, str] = field(default_factory=dict)


def behaviour_of(
    model: CheckedModel, ideals: Sequence[Ideal], *, has_plain_tools: bool, renderer: Renderer | None = None
) -> Behaviour:
    """Render every usual conversation, and every kind of tool alone."""
    offered = PLAIN_TOOLS if has_plain_tools else TOOLS
    render = model.renderer(renderer)
    prompts = {one.name: _rendered(render, one.plain_body) or "" for one in conversations(ideals, offered, ())}
    tools = {kind: _outcome(_rendered(render, _request_with(tool)), kind) for kind, tool in _kinds()}
    return Behaviour(prompts, tools)


def _rendered(render: Render, body: JSONObject) -> str | None:
    try:
        return render(body)
    except RenderError:
        return None


def _request_with(tool: JSONObject) -> JSONObject:
    return {"messages": [{"role": "user", "content": USER_WORDS}], "tools": [tool]}


def _outcome(prompt: str | None, kind: str) -> str:
    if prompt is None:
        return "refused"
    if _TOOL not in prompt:
        return "dropped"
    has_parameters = _PARAMETER in prompt or kind == "no parameters"
    return "printed" if has_parameters else "printed without its parameters"


def _kinds() -> Iterator[tuple[str, JSONObject]]:
    for name, schema in _PARAMETERS.items():
        yield f"a parameter of {name}", _tool({"description": "A tool.", "parameters": _object_schema(schema)})
    yield "no parameters", _tool({"description": "A tool."})
    yield "no description", _tool({"parameters": _object_schema({"type": "string"})})


def _object_schema(schema: JSONObject) -> JSONObject:
    return {"type": "object", "properties": {_PARAMETER: schema}, "required": [_PARAMETER]}


def _tool(more: JSONObject) -> JSONObject:
    return {"type": "function", "function": {"name": _TOOL, **more}}
