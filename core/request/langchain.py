"""What LangChain would send: its chat model, what is bound to it, and the messages of `.invoke(…)`.

    ChatOpenAI(model="m", base_url=…)  .bind_tools([…])  .with_structured_output(…)  .invoke([("human", "hi")])

Only what is written as literals is read. Tools and schemas that are functions or classes are built by LangChain when
it runs, so a request without them would be another one: they are named as what is missing.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Final

from prompt_debugger.core.base.types import JSON, JSONObject
from prompt_debugger.core.request.python_values import Unreadable, Values, dotted_name

SENDS: Final = ("invoke", "ainvoke", "stream", "astream")
_MODELS: Final = ("ChatOpenAI", "AzureChatOpenAI", "ChatLiteLLM", "init_chat_model")
_ROLES: Final[Mapping[str, str]] = {"human": "user", "ai": "assistant"}
_RENAMED: Final[Mapping[str, str]] = {"model_name": "model", "stop_sequences": "stop"}
_NOT_SENT: Final = frozenset(
    {
        "api_key", "openai_api_key", "base_url", "openai_api_base", "openai_organization", "organization", "timeout",
        "request_timeout", "max_retries", "streaming", "verbose", "default_headers", "default_query", "http_client",
        "http_async_client", "cache", "callbacks", "tags", "metadata", "name", "model_provider", "rate_limiter",
        "stream_usage", "disabled_params", "use_responses_api", "output_version", "tiktoken_model_name",
    }
)  # fmt: skip
_CHOICES: Final[Mapping[JSON, JSON]] = {"any": "required"}


class ChatModels:
    """The chat models of a snippet, by the names they were given."""

    def __init__(self) -> None:
        self._named: dict[str, ast.expr] = {}

    def learn(self, statement: ast.stmt) -> None:
        """Remember what a statement gives a name, if it is a chat model."""
        match statement:
            case (
                ast.Assign(targets=[ast.Name(id=name)], value=value)
                | ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value)
            ) if self._layers(value) is not None:
                self._named[name] = value
            case _:
                pass

    def address(self, call: ast.Call) -> ast.expr | None:
        """Return the server's address that a call's model is made with."""
        layers = self._layers(call.func.value) if isinstance(call.func, ast.Attribute) else None
        named = {} if not layers else {keyword.arg: keyword.value for keyword in layers[0].keywords}
        return named.get("base_url") or named.get("openai_api_base")

    def body(self, call: ast.Call, values: Values) -> JSONObject | None:
        """Return the body that a call would send; `None` if it is not a call of a chat model.

        Raises:
            Unreadable: A value in it cannot be known without running the snippet.
        """
        if not isinstance(call.func, ast.Attribute) or call.func.attr not in SENDS or not call.args:
            return None
        layers = self._layers(call.func.value)
        if layers is None:
            return None
        body = _made(layers[0], values)
        for layer in layers[1:]:
            _bind(body, layer, values)
        body["messages"] = _messages(values.value_of(call.args[0]), call.args[0])
        return body

    def _layers(self, node: ast.expr, depth: int = 0) -> list[ast.Call] | None:
        """Return the call that makes the model and those that bind something to it, in their order."""
        if isinstance(node, ast.Name):
            known = self._named.get(node.id)
            return None if known is None or depth > 20 else self._layers(known, depth + 1)
        if not isinstance(node, ast.Call):
            return None
        if dotted_name(node.func).rpartition(".")[2] in _MODELS:
            return [node]
        if not isinstance(node.func, ast.Attribute):
            return None
        if node.func.attr not in ("bind_tools", "bind", "with_structured_output", "with_retry", "with_config"):
            return None
        before = self._layers(node.func.value, depth)
        return None if before is None else [*before, node]


def _made(node: ast.Call, values: Values) -> JSONObject:
    body: JSONObject = {}
    for keyword in node.keywords:
        if keyword.arg in _NOT_SENT:
            continue
        if keyword.arg in ("model_kwargs", "extra_body"):
            values.merge(body, keyword.value)
        elif keyword.arg is not None:
            name = _RENAMED.get(keyword.arg, keyword.arg)
            body[name] = values.value_of(keyword.value)
            values.remember(body, name, keyword.value)
    if node.args and "model" not in body:
        body["model"] = values.value_of(node.args[0])
    return body


def _bind(body: JSONObject, layer: ast.Call, values: Values) -> None:
    method = layer.func.attr if isinstance(layer.func, ast.Attribute) else ""
    if method == "bind":
        values.merge(body, ast.copy_location(ast.Call(ast.Name("dict"), [], layer.keywords), layer))
    elif method == "bind_tools" and layer.args:
        tools = _literal(layer.args[0], values)
        body["tools"] = [_tool(tool) for tool in tools] if isinstance(tools, list) else tools
        values.remember(body, "tools", layer.args[0])
        options = values.keywords(layer)
        if (choice := options.get("tool_choice")) is not None:
            body["tool_choice"] = _choice(choice, body["tools"])
        body |= {name: options[name] for name in ("parallel_tool_calls", "strict") if name in options}
    elif method == "with_structured_output" and layer.args:
        schema = _literal(layer.args[0], values)
        if not isinstance(schema, dict):
            raise Unreadable(layer.args[0], "The schema is not a dict.")
        _structure(body, schema, values.keywords(layer))


def _literal(node: ast.expr, values: Values) -> JSON:
    """Return tools or a schema; a function or class among them is named with what makes a dict of it."""
    try:
        return values.value_of(node)
    except Unreadable as unreadable:
        name = unreadable.node.id if isinstance(unreadable.node, ast.Name) else ""
        if not name:
            raise
        message = f"LangChain creates the schema of `{name}` when it runs: write the dict, as"
        raise Unreadable(unreadable.node, f"{message} `convert_to_openai_tool({name})` returns it.") from None


def _structure(body: JSONObject, schema: JSONObject, options: JSONObject) -> None:
    name = schema.get("title") or schema.get("name") or "schema"
    match options.get("method", "json_schema"):
        case "json_mode":
            body["response_format"] = {"type": "json_object"}
        case "function_calling":
            body["tools"] = [{"type": "function", "function": {"name": name, "parameters": schema}}]
            body["tool_choice"] = {"type": "function", "function": {"name": name}}
        case _:
            wrapped: JSONObject = {"name": name, "schema": schema}
            if "strict" in options:
                wrapped["strict"] = options["strict"]
            body["response_format"] = {"type": "json_schema", "json_schema": wrapped}


def _tool(tool: JSON) -> JSON:
    """Return a tool as it is sent: a bare JSON Schema becomes the function of its title."""
    if not isinstance(tool, dict) or "function" in tool or ("type" in tool and tool["type"] == "function"):
        return tool
    if "name" in tool and "parameters" in tool:
        return {"type": "function", "function": tool}
    if "title" in tool:
        schema = {key: value for key, value in tool.items() if key not in ("title", "description")}
        function: JSONObject = {"name": tool["title"], "description": tool.get("description", ""), "parameters": schema}
        return {"type": "function", "function": function}
    return tool


def _choice(choice: JSON, tools: JSON) -> JSON:
    """Return a tool choice as it is sent: `any` and `True` are LangChain's words, a tool's name stands for it."""
    functions = [tool.get("function") for tool in tools if isinstance(tool, dict)] if isinstance(tools, list) else []
    names = [function.get("name") for function in functions if isinstance(function, dict)]
    if isinstance(choice, str) and choice in names:
        return {"type": "function", "function": {"name": choice}}
    if choice is True:
        return "required"
    return _CHOICES.get(choice, choice) if isinstance(choice, str) else choice


def _messages(given: JSON, node: ast.expr) -> JSON:
    """Return the messages of what was given to `.invoke(…)`: a text, or pairs of role and text, or messages."""
    if isinstance(given, str):
        return [{"role": "user", "content": given}]
    if not isinstance(given, list):
        raise Unreadable(node, "The input to the model is neither a string nor a list of messages.")
    return [_message(item, node) for item in given]


def _message(item: JSON, node: ast.expr) -> JSON:
    match item:
        case str():
            return {"role": "user", "content": item}
        case [str() as role, content]:
            return {"role": _ROLES.get(role, role), "content": content}
        case dict() if isinstance(own := item.get("role"), str):
            return {**item, "role": _ROLES.get(own, own)}
        case _:
            raise Unreadable(node, "One of the messages is neither a string, nor a pair, nor a message with a role.")
