"""A pasted Python snippet → the body that its chat completion call would send.

The snippet is parsed, never executed. Statements are followed in the order in
which they are written, branches and function bodies included, until the first
call of `….chat.completions.create(…)` (or of a kindred function); what was
assigned before is known to it. Without a call, a dict that holds `messages`,
or the names `messages`, `tools`, `extra_body`, … make the body.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field

from prompt_debugger.core.base.comparable import NEW_IN_EVERY_RUN, NOT_IN_SNIPPET
from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.base.types import JSON, Api, JSONObject, Notice
from prompt_debugger.core.request.json_text import JsonText
from prompt_debugger.core.request.langchain import ChatModels
from prompt_debugger.core.request.local_models import LocalCall, LocalModels
from prompt_debugger.core.request.other_bodies import MODEL_LEFT_OUT
from prompt_debugger.core.request.places import Draft, Path, Place, show_path
from prompt_debugger.core.request.pydantic_classes import Classes
from prompt_debugger.core.request.python_assignments import learn_assignment
from prompt_debugger.core.request.python_source import Source, expressions, parse_source, statements
from prompt_debugger.core.request.python_values import (
    MAX_SIZE,
    Unreadable,
    Values,
    dotted_name,
    is_omitted,
    is_too_large,
)
from prompt_debugger.core.request.servers import Named, base_of_url, named_in_url

_CALL = re.compile(
    r"(?:^|\.)(?:chat\.completions|completions|(?P<other>responses|messages))"
    r"(?:\.with_(?:raw|streaming)_response)?\.(?:create|parse|stream)\Z|(?:^|\.)ChatCompletion\.create\Z"
    r"|\Alitellm\.a?(?P<free>responses)\Z"
)
_FREE_CALLS = ("litellm.completion", "litellm.acompletion", "completion", "acompletion")
_POSTS = ("requests.post", "httpx.post", "client.post", "session.post")
_TRANSPORT = ("extra_headers", "extra_query", "timeout")
_CLIENT_OPTIONS = (
    *_TRANSPORT, "api_base", "api_key", "api_version", "auth", "aws_access_key_id", "aws_region_name",
    "aws_secret_access_key", "aws_session_token", "azure_ad_token", "base_url", "client", "custom_llm_provider",
    "default_headers", "default_query", "headers", "http_client", "organization", "project", "ssl_verify",
    "vertex_credentials", "vertex_location", "vertex_project",
)  # fmt: skip
_FIELDS = (
    "model", "messages", "tools", "tool_choice", "extra_body", "response_format", "temperature", "top_p", "max_tokens",
    "chat_template_kwargs",
)  # fmt: skip


@dataclass(slots=True)
class _Reading:
    """What has been learnt of a snippet so far."""

    source: Source
    values: Values = field(default_factory=Values)
    has_call: bool = False
    value: JSON = None
    address: ast.expr | None = None
    named: Named = field(default_factory=Named)
    notices: list[Notice] = field(default_factory=list)
    chat_models: ChatModels = field(default_factory=ChatModels)
    local_models: LocalModels = field(default_factory=LocalModels)
    local_call: LocalCall | Unreadable | None = None

    def report(self, field_path: str, message: str, node: ast.expr | None) -> None:
        line, column = (None, None) if node is None else self.source.place(node)
        self.notices.append(Notice(field_path, message, line, column))


@dataclass(frozen=True, slots=True)
class _Locator:
    reading: _Reading
    value: JSON

    def __call__(self, paths: Collection[Path]) -> Mapping[Path, Place]:
        nodes = {path: self.reading.values.place_of(self.value, path) for path in paths}
        return {path: self.reading.source.place(node) for path, node in nodes.items() if node is not None}


def read_python(text: str) -> Draft:
    """Read a Python snippet.

    Raises:
        RequestError: It is not Python, it contains no request, or a value in it would have to be computed.
    """
    reading = _Reading(parse_source(text))
    reading.values.classes = Classes(reading.source.tree)
    for statement in statements(reading.source.tree):
        for node in expressions(statement):
            if isinstance(node, ast.Call):
                _learn_call(node, reading)
        if not reading.has_call:
            _learn_address(statement, reading)
            learn_assignment(statement, reading.values)
            reading.chat_models.learn(statement)
            reading.local_models.learn(statement)
    value = reading.value if reading.has_call else _value_without_call(reading)
    if is_too_large(value):
        raise RequestError(f"The snippet's values grow beyond {MAX_SIZE:,} characters.")
    for name in dict.fromkeys(reading.values.defaults_used):
        reading.report("", f"The default value for the environment variable `{name}` was used.", None)
    for name, (made, node) in reading.values.placeholders.items():
        reading.report("", f"`{name}` {NEW_IN_EVERY_RUN}: `{made}` stands for it.", node)
    for source, node in reading.values.unknown.items():
        reading.report("", f"`{source}` {NOT_IN_SNIPPET}: `{{{source}}}` stands for it.", node)
    for name, node in reading.values.read_classes.items():
        reading.report("", f"The schema of `{name}` was read from its class, without descriptions and limits.", node)
    base_url = _base_url(reading)
    return Draft(value, "python", _Locator(reading, value), text, base_url, tuple(reading.notices), *reading.named)


def _learn_address(statement: ast.stmt, reading: _Reading) -> None:
    """Learn the address that is set on a client or a module: `openai.api_base = "http://…"`."""
    match statement:
        case ast.Assign(targets=targets, value=value):
            pass
        case ast.AnnAssign(target=target, value=ast.expr() as value):
            targets = [target]
        case _:
            return
    if any(isinstance(target, ast.Attribute) and target.attr in ("api_base", "base_url") for target in targets):
        reading.address = value


def _learn_call(node: ast.Call, reading: _Reading) -> None:
    name = dotted_name(node.func)
    named = {keyword.arg: keyword.value for keyword in node.keywords}
    is_post = name in _POSTS and ("json" in named or "data" in named)
    method = _CALL.search(name)
    is_call = method is not None or name in _FREE_CALLS or is_post
    address = named.get("base_url") or named.get("api_base")
    if address is not None and not is_omitted(address) and not (is_call and reading.has_call):
        reading.address = address
    if is_call and reading.has_call:
        reading.report("", "The snippet makes another call; only the first one was read.", node)
    elif is_call:
        reading.has_call = True
        reading.value = _body_of_post(node, named, reading) if is_post else _body_of_call(node, reading)
        if method is not None and (other := method["other"] or method["free"]):
            reading.named = Named(Api(other))
    elif not reading.has_call:
        _learn_chat_model(node, reading)
        if reading.local_call is None:
            try:
                reading.local_call = reading.local_models.body(node, reading.values)
            except Unreadable as unreadable:
                reading.local_call = unreadable


def _learn_chat_model(node: ast.Call, reading: _Reading) -> None:
    try:
        body = reading.chat_models.body(node, reading.values)
    except Unreadable as unreadable:
        raise reading.source.error(unreadable, None) from None
    if body is None:
        return
    reading.has_call, reading.value = True, body
    reading.address = reading.chat_models.address(node) or reading.address
    reading.report("", "Read as what LangChain sends for this call; it may add further fields.", node)


def _body_of_call(node: ast.Call, reading: _Reading) -> JSONObject:
    values = reading.values
    body: JSONObject = {}
    positional = [ast.keyword(name, value) for name, value in zip(("model", "messages"), node.args, strict=False)]
    for keyword in [*positional, *node.keywords]:
        if keyword.arg in _TRANSPORT:
            reading.report(keyword.arg, f"`{keyword.arg}` is a client option, not part of the body.", keyword.value)
        if keyword.arg in _CLIENT_OPTIONS:
            continue
        try:
            values.merge(body, ast.copy_location(ast.Call(ast.Name("dict"), [], [keyword]), node))
        except Unreadable as unreadable:
            if (asked := _asked_format(keyword, values)) is not None:
                body |= asked
                continue
            words = None if keyword in positional else _words_of_omitted(keyword.arg, keyword.value)
            if words is None or keyword.arg is None:
                raise reading.source.error(unreadable, _field_of(keyword, unreadable)) from None
            reading.report(keyword.arg, words, keyword.value)
    for option in _CLIENT_OPTIONS:
        body.pop(option, None)  # may have come through `**options`
    return _merge_extra_body(body, reading)


def _asked_format(keyword: ast.keyword, values: Values) -> JSONObject | None:
    """Return what clients send for `response_format=Model` or `text_format=Model`; `None` for no class of the snippet.

    The second is that of the Responses API, which has it in `text`.
    """
    is_format = keyword.arg in ("response_format", "text_format")
    name = keyword.value.id if isinstance(keyword.value, ast.Name) and is_format else ""
    schema = values.class_schema(name, keyword.value) if name else None
    if schema is None:
        return None
    asked: JSONObject = {"name": name, "schema": schema, "strict": True}
    if keyword.arg == "text_format":
        return {"text": {"format": {"type": "json_schema", **asked}}}
    return {"response_format": {"type": "json_schema", "json_schema": asked}}


def _words_of_omitted(name: str | None, value: ast.expr) -> str | None:
    """Return what is said of a field that is left out as its value cannot be read; `None` if the body needs it."""
    if name == "model":
        return MODEL_LEFT_OUT
    if name in ("response_format", "text_format") and isinstance(value, ast.Name):
        return f"`{value.id}` is a Python class: its schema was not read and was left out of the body."
    return None


def _merge_extra_body(body: JSONObject, reading: _Reading) -> JSONObject:
    """Merge `extra_body` as the openai client does: member by member at the top, its own winning."""
    values = reading.values
    node = values.place_of(body, ("extra_body",))
    extra = body.pop("extra_body", None)
    if extra is None:
        return body
    if not isinstance(extra, dict):
        line, column = (None, None) if node is None else reading.source.place(node)
        hint = "Write `extra_body={…}`."
        raise RequestError("`extra_body` is not a dict.", hint, line=line, column=column, field="extra_body")
    for key, value in extra.items():
        if key in body:
            reading.report(key, f"`extra_body` overrides the call's own `{key}`.", node)
        body[key] = value
        member = values.place_of(extra, (key,)) or node
        if member is not None:
            values.remember(body, key, member)
    return body


def _body_of_post(node: ast.Call, named: Mapping[str | None, ast.expr], reading: _Reading) -> JSON:
    reading.address = named.get("url") or (node.args[0] if node.args else reading.address)
    body = named.get("json") or named["data"]
    if isinstance(body, ast.Call) and dotted_name(body.func) == "json.dumps" and body.args:
        body = body.args[0]
    if isinstance(body, ast.Call) and isinstance(body.func, ast.Attribute) and body.func.attr == "encode":
        body = body.func.value
    try:
        value = reading.values.value_of(body)
    except Unreadable as unreadable:
        raise reading.source.error(unreadable, _field_of(body, unreadable)) from None
    return _value_of_text(value, body, reading) if isinstance(value, str) else value


def _value_of_text(text: str, node: ast.expr, reading: _Reading) -> JSON:
    """Return the value of a body that is written as a text of JSON."""
    reader = JsonText(text)
    try:
        value = reader.read()
    except RequestError as error:
        line, column = reading.source.place(node)
        message = f"The text that is sent is not JSON: {error.message}"
        raise RequestError(message, error.hint, line=line, column=column) from None
    for notice in reader.notices:
        reading.report(notice.field, notice.message, node)
    return value


def _value_without_call(reading: _Reading) -> JSON:
    """Find the request in a snippet that calls nothing."""
    values, tree = reading.values, reading.source.tree
    if isinstance(reading.local_call, LocalCall):
        return _add_words(reading.local_call, reading)
    last = tree.body[-1] if tree.body else None
    if isinstance(last, ast.Expr) and isinstance(last.value, (ast.Dict, ast.List)):
        try:
            return values.value_of(last.value)
        except Unreadable as unreadable:
            raise reading.source.error(unreadable, _field_of(last.value, unreadable)) from None
    named = [known for known in values.known.values() if isinstance(known, dict) and "messages" in known]
    if named:
        return _merge_extra_body(named[-1], reading)
    body: JSONObject = {}
    for name in _FIELDS:
        value = values.known.get(name)
        if isinstance(value, Unreadable):
            raise reading.source.error(value, name)
        if value is not None:
            body[name] = value
            values.remember(body, name, _written_at(tree, name))
    if "messages" not in body:
        if isinstance(reading.local_call, Unreadable):
            raise reading.source.error(reading.local_call, "messages")
        raise RequestError(
            (
                "The snippet contains no request: neither a call of `chat.completions.create(…)` nor a dict "
                "with `messages`."
            ),
            (
                "Paste the call with everything it needs, or the body as JSON; an `extra_body` on its own "
                "has no messages to send."
            ),
        )
    return _merge_extra_body(body, reading)


def _add_words(call: LocalCall, reading: _Reading) -> JSONObject:
    for path, message in call.remarks:
        reading.report(path, message, reading.values.place_of(call.body, (path,)))
    return call.body


def _written_at(tree: ast.Module, name: str) -> ast.expr:
    """Return the first expression that is assigned to a name."""
    for statement in statements(tree):
        for node in expressions(statement):
            if isinstance(node, ast.Name) and node.id == name:
                return node
    return ast.Name(name, lineno=1, col_offset=0)


def _field_of(root: ast.AST, unreadable: Unreadable) -> str | None:
    """Return the path, as far as it shows in the call itself, of the part that cannot be read."""
    path: list[str | int] = [root.arg] if isinstance(root, ast.keyword) and root.arg else []
    node: ast.AST | None = root
    while node is not None and node is not unreadable.node:
        parent, node = node, None
        for step, child in _members(parent):
            if any(inner is unreadable.node for inner in ast.walk(child)):
                path += [] if step is None else [step]
                node = child
                break
    return show_path(path) or None


def _members(node: ast.AST) -> Iterator[tuple[str | int | None, ast.AST]]:
    if isinstance(node, ast.Dict):
        for key, value in zip(node.keys, node.values, strict=True):
            yield (key.value if isinstance(key, ast.Constant) and isinstance(key.value, str) else None), value
    elif isinstance(node, (ast.List, ast.Tuple)):
        yield from enumerate(node.elts)
    else:
        yield from ((None, child) for child in ast.iter_child_nodes(node))


def _base_url(reading: _Reading) -> str | None:
    node = reading.address
    if node is None:
        return None
    try:
        url = reading.values.value_of(node)
    except Unreadable:
        url = None
    base, remarks = (
        base_of_url(url) if isinstance(url, str) else (None, ("The server's address is not in the snippet.",))
    )
    for message in remarks:
        reading.report("", message, node)
    if isinstance(url, str) and reading.named.api is None:
        reading.named = named_in_url(url)
    return base
