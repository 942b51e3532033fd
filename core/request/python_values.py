"""Python expressions → JSON values, by reading them; nothing is ever executed.

Understood are literals and names: what JSON has, names that were given such a
value before and members of them, unpacked with `*` and `**`, texts and lists put
together with `+`, f-strings of them, the spellings `dict(…)`, `json.dumps(…)`
and `os.getenv(…, default)`, and harmless calls of the standard library; a value
that is new in every run gets a placeholder (`harmless_calls`). Nothing else is
computed: not a sum, not a function of the snippet.
Every container remembers where its members were written.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from prompt_debugger.core.base.errors import shorten
from prompt_debugger.core.base.types import JSON, JSONObject
from prompt_debugger.core.request.harmless_calls import METHODS, made_of, placeholder_of
from prompt_debugger.core.request.langchain_messages import ROLE_BY_CLASS, message_of
from prompt_debugger.core.request.places import Path
from prompt_debugger.core.request.pydantic_classes import Classes

MAX_DEPTH = 150
MAX_SIZE = 4_000_000
MAX_BITS = 4_000
_MEDIA = frozenset({"image", "video", "audio"})
_SURROGATE = re.compile("[\ud800-\udfff]")
OMITTED = ("NOT_GIVEN", "NotGiven", "omit", "Omit")


class Unreadable(Exception):  # noqa: N818 - never leaves this package; it becomes a RequestError where it matters
    """An expression whose value cannot be known without running it."""

    def __init__(self, node: ast.expr, message: str) -> None:
        super().__init__(message)
        self.node = node
        self.message = message


@dataclass(slots=True)
class Values:
    """The names of a snippet and what is known of them.

    Attributes:
        known: Value by name, or why it has none.
        defaults_used: Names of environment variables whose stated default was taken.
        placeholders: What stands for values that are new in every run, by the call that gives one.
        classes: The classes of the snippet.
        read_classes: Names of those whose schema was read.
        unknown: What a text was put together from and the snippet does not say, by its source.
    """

    known: dict[str, JSON | Unreadable] = field(default_factory=dict)
    defaults_used: list[str] = field(default_factory=list)
    placeholders: dict[str, tuple[JSON, ast.expr]] = field(default_factory=dict)
    unknown: dict[str, ast.expr] = field(default_factory=dict)
    classes: Classes = field(default_factory=Classes)
    read_classes: dict[str, ast.expr] = field(default_factory=dict)
    _members: dict[int, dict[str | int, ast.expr]] = field(default_factory=dict)
    _kept: list[JSON] = field(default_factory=list)
    _size: int = 0

    def value_of(self, node: ast.expr, depth: int = 0) -> JSON:
        """Return the value of an expression.

        Raises:
            Unreadable: It cannot be known without running the snippet.
        """
        if depth > MAX_DEPTH:
            raise Unreadable(node, f"The expression is nested more than {MAX_DEPTH} deep.")
        match node:
            case ast.Constant(value=str() as text):
                return self._checked_text(node, text)
            case ast.Constant(value=float() | None as value):
                return value
            case ast.Constant(value=int() as number) if number.bit_length() <= MAX_BITS:
                return number
            case ast.Name():
                return self._name(node)
            case ast.Dict():
                return self._dict(node, depth)
            case ast.List() | ast.Tuple():
                return self._list(node, depth)
            case _:
                return self._computed(node, depth)

    def _computed(self, node: ast.expr, depth: int) -> JSON:
        match node:
            case ast.JoinedStr():
                return self._joined(node, depth)
            case ast.BinOp():
                return self._together(node, depth)
            case ast.UnaryOp():
                return self._sign(node, depth)
            case ast.Subscript():
                return self._subscript(node, depth)
            case ast.Call():
                return self._call(node, depth)
            case ast.Attribute() if (value := self._new(node)) is not None:
                return value
            case ast.Await() | ast.NamedExpr() | ast.Starred():
                return self.value_of(node.value, depth + 1)
            case _:
                raise self._unknown(node)

    def remember(self, container: JSON, key: str | int, node: ast.expr) -> None:
        """Note where a member of a container was written."""
        members = self._members.get(id(container))
        if members is None:
            members = self._members[id(container)] = {}
            self._kept.append(container)  # keeps its identity from being given to another
        members[key] = node

    def place_of(self, container: JSON, path: Path) -> ast.expr | None:
        """Return the expression that wrote the member at `path`, or the nearest one around it."""
        nearest: ast.expr | None = None
        for step in path:
            nearest = self._members.get(id(container), {}).get(step, nearest)
            if isinstance(container, dict) and isinstance(step, str):
                container = container.get(step)
            elif isinstance(container, list) and isinstance(step, int) and step < len(container):
                container = container[step]
        return nearest

    def _name(self, node: ast.Name) -> JSON:
        if node.id not in self.known:
            raise Unreadable(node, f"The snippet does not assign a value to `{node.id}`.")
        value = self.known[node.id]
        if isinstance(value, Unreadable):
            raise value
        return value

    def _dict(self, node: ast.Dict, depth: int) -> JSON:
        members: dict[str, JSON] = {}
        for key_node, value_node in zip(node.keys, node.values, strict=True):
            if key_node is None:
                self.merge(members, value_node, depth + 1)
                continue
            key = self.value_of(key_node, depth + 1)
            if isinstance(key, (dict, list)):
                raise self._unknown(key_node)
            name = key if isinstance(key, str) else json.dumps(key)
            members[name] = (self._medium if name in _MEDIA else self.value_of)(value_node, depth + 1)
            self.remember(members, name, value_node)
        return members

    def _medium(self, node: ast.expr, depth: int) -> JSON:
        """Return a part's image, video or audio; one that the script opened is its name: no template reads it."""
        try:
            return self.value_of(node, depth)
        except Unreadable:
            if isinstance(node, ast.Name):
                return node.id
            raise

    def merge(self, members: dict[str, JSON], node: ast.expr, depth: int = 0) -> None:
        """Add the members of a `**` expression."""
        other = self.value_of(node, depth)
        if not isinstance(other, dict):
            raise Unreadable(node, f"`**` needs a dict here, not {type(other).__name__}.")
        for key, value in other.items():
            members[key] = value
            self.remember(members, key, self.place_of(other, (key,)) or node)

    def _list(self, node: ast.List | ast.Tuple, depth: int) -> JSON:
        items: list[JSON] = []
        for item in node.elts:
            value = self.value_of(item, depth + 1)
            if isinstance(item, ast.Starred):
                if not isinstance(value, list):
                    raise self._unknown(item)
                self.extend(items, value, item)
            else:
                items.append(value)
                self.remember(items, len(items) - 1, item)
        return items

    def extend(self, items: list[JSON], others: list[JSON], node: ast.expr) -> None:
        """Append the items of another list, with the places they were written at."""
        self._grow(node, len(others))
        for index, value in enumerate(tuple(others)):
            items.append(value)
            self.remember(items, len(items) - 1, self.place_of(others, (index,)) or node)

    def _joined(self, node: ast.JoinedStr, depth: int) -> JSON:
        parts: list[str] = []
        for part in node.values:
            if not isinstance(part, ast.FormattedValue):
                parts.append(str(self.value_of(part, depth + 1)))
                continue
            try:
                value = self.value_of(part.value, depth + 1)
            except Unreadable:
                if self._size > MAX_SIZE:
                    raise
                parts.append(self._stand_in(part.value))
                continue
            if part.format_spec is not None or isinstance(value, (dict, list)):
                raise Unreadable(
                    part.value, "The value of this f-string field cannot be known without running the snippet."
                )
            parts.append(self._text(part.value, repr(value) if part.conversion == ord("r") else str(value)))
        return "".join(parts)

    def _stand_in(self, node: ast.expr) -> str:
        """Return what stands in a text for a value that the snippet does not say: its source in braces."""
        source = _source(node)[:60]
        self.unknown[source] = node
        return self._text(node, f"{{{source}}}")

    def _together(self, node: ast.BinOp, depth: int) -> JSON:
        """Put two texts or two lists together; no other operator is followed."""
        if not isinstance(node.op, ast.Add):
            raise self._unknown(node)
        left, right = self.value_of(node.left, depth + 1), self.value_of(node.right, depth + 1)
        if isinstance(left, str) and isinstance(right, str):
            return self._text(node, left + right)
        if not (isinstance(left, list) and isinstance(right, list)):
            raise self._unknown(node)
        items: list[JSON] = []
        self.extend(items, left, node.left)
        self.extend(items, right, node.right)
        return items

    def _sign(self, node: ast.UnaryOp, depth: int) -> JSON:
        value = self.value_of(node.operand, depth + 1)
        if isinstance(value, (int, float)) and isinstance(node.op, ast.USub):
            return -value
        raise self._unknown(node)

    def _subscript(self, node: ast.Subscript, depth: int) -> JSON:
        container = self.value_of(node.value, depth + 1)
        key = self.value_of(node.slice, depth + 1) if not isinstance(node.slice, ast.Slice) else None
        if isinstance(container, dict) and isinstance(key, str) and key in container:
            return container[key]
        if isinstance(container, (list, str)) and isinstance(key, int) and -len(container) <= key < len(container):
            return container[key]
        raise self._unknown(node)

    def _call(self, node: ast.Call, depth: int) -> JSON:
        name = dotted_name(node.func)
        keywords = {keyword.arg: keyword.value for keyword in node.keywords}
        match name, node.args:
            case "dict", []:
                return self.keywords(node, depth)
            case "json.dumps", [only]:
                return self._dumped(node, self.value_of(only, depth + 1), self._options(keywords, depth))
            case str(), arguments if name.rpartition(".")[2] in ROLE_BY_CLASS and len(arguments) <= 1:
                return self._message(node, name.rpartition(".")[2], depth)
            case "os.getenv" | "os.environ.get" | "getenv" | "environ.get", [variable, default]:
                self.defaults_used.append(str(self.value_of(variable, depth + 1)))
                return self.value_of(default, depth + 1)
            case str(), _ if name.rpartition(".")[2] == "SamplingParams" and not node.args:
                return self.keywords(node, depth)
            case str(), [] if (schema := self._schema_of(node, name)) is not None:
                return schema
            case _:
                return self._made(node, name, depth)

    def _schema_of(self, node: ast.Call, name: str) -> JSON:
        """Return what `Model.model_json_schema()` and its kin give of a class of the snippet."""
        owner, _, method = name.rpartition(".")
        if method not in ("model_json_schema", "schema", "schema_json") or node.keywords:
            return None
        schema = self.class_schema(owner, node)
        return json.dumps(schema) if schema is not None and method == "schema_json" else schema

    def class_schema(self, name: str, node: ast.expr) -> JSONObject | None:
        """Return the schema of a class of the snippet; `None` if it is no model."""
        schema = self.classes.schema(name)
        if schema is not None:
            self.read_classes.setdefault(name, node)
        return schema

    def _made(self, node: ast.Call, name: str, depth: int) -> JSON:
        """Follow a harmless call of the standard library, or put a placeholder for what is new in every run."""
        value = self._new(node)
        if value is None and not node.keywords:
            owner = node.func.value if isinstance(node.func, ast.Attribute) else None
            is_method = name.rpartition(".")[2] in METHODS if name else owner is not None
            name = f".{node.func.attr}" if is_method and isinstance(node.func, ast.Attribute) else name
            nodes = ([owner] if is_method and owner is not None else []) + node.args
            value = made_of(name, [self.value_of(one, depth + 1) for one in nodes]) if len(nodes) <= 2 else None
        if value is None:
            raise self._unknown(node)
        return self._text(node, value) if isinstance(value, str) else value

    def _new(self, node: ast.expr) -> JSON:
        name = dotted_name(node.func if isinstance(node, ast.Call) else node)
        value = placeholder_of(name) if isinstance(node, ast.Call) or name.endswith(".hex") else None
        if value is not None:
            self.placeholders[_source(node)] = (value, node)
        return value

    def _message(self, node: ast.Call, name: str, depth: int) -> JSON:
        members = self.keywords(node, depth)
        if node.args:
            members["content"] = self.value_of(node.args[0], depth + 1)
        return message_of(name, members)

    def keywords(self, node: ast.Call, depth: int = 0) -> dict[str, JSON]:
        """Return the keyword arguments of a call; those that say "not given" are left out."""
        members: dict[str, JSON] = {}
        for keyword in node.keywords:
            if keyword.arg is None:
                self.merge(members, keyword.value, depth + 1)
            elif not is_omitted(keyword.value):
                members[keyword.arg] = self.value_of(keyword.value, depth + 1)
                self.remember(members, keyword.arg, keyword.value)
        return members

    def _options(self, keywords: Mapping[str | None, ast.expr], depth: int) -> dict[str, JSON]:
        return {name: self.value_of(node, depth + 1) for name, node in keywords.items() if name is not None}

    def _dumped(self, node: ast.Call, value: JSON, options: Mapping[str, JSON]) -> JSON:
        indent = options.get("indent")
        if is_too_large(value) or (isinstance(indent, int) and indent > 16):
            raise Unreadable(node, f"The snippet's values grow beyond {MAX_SIZE:,} characters.")
        text = json.dumps(
            value,
            ensure_ascii=bool(options.get("ensure_ascii", True)),
            indent=indent if isinstance(indent, (int, str)) else None,
            sort_keys=bool(options.get("sort_keys", False)),
        )
        return self._text(node, text)

    def _text(self, node: ast.expr, text: str) -> str:
        self._grow(node, len(text))
        return text

    def _checked_text(self, node: ast.expr, text: str) -> str:
        if _SURROGATE.search(text):
            raise Unreadable(node, "This text contains an unpaired surrogate.")
        return text

    def _grow(self, node: ast.expr, size: int) -> None:
        self._size += size
        if self._size > MAX_SIZE:
            raise Unreadable(node, f"The snippet's values grow beyond {MAX_SIZE:,} characters.")

    def _unknown(self, node: ast.expr) -> Unreadable:
        return Unreadable(
            node, f"The value of {shorten(_source(node), 60)} cannot be known without running the snippet."
        )


def dotted_name(node: ast.expr) -> str:
    """Return `a.b.c` for such an expression; "" for any other.

    A call inside, as in `OpenAI().chat`, counts by the name that is called.
    """
    parts: list[str] = []
    while not isinstance(node, ast.Name):
        if isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        elif isinstance(node, ast.Call) and len(parts) > 0:
            node = node.func
        else:
            return ""
    return ".".join([node.id, *reversed(parts)])


def is_omitted(node: ast.expr) -> bool:
    """Return whether an argument is one of the openai client's "not given" marks."""
    name = dotted_name(node.func) if isinstance(node, ast.Call) else dotted_name(node)
    return name.rpartition(".")[2] in OMITTED


def is_too_large(value: JSON) -> bool:
    """Return whether a value, written out, would exceed the limit; a value that holds itself does."""
    budget = MAX_SIZE
    stack = [value]
    while stack and budget > 0:
        item = stack.pop()
        budget -= 1 + (len(item) if isinstance(item, (str, list, dict)) else 0)
        if budget > 0 and isinstance(item, dict):
            budget -= sum(map(len, item))
            stack.extend(item.values())
        elif budget > 0 and isinstance(item, list):
            stack.extend(item)
    return budget <= 0


def _source(node: ast.expr) -> str:
    name = dotted_name(node)
    if name:
        return name
    try:
        return ast.unparse(node)[:200] if sum(1 for _ in ast.walk(node)) < 200 else type(node).__name__
    except (RecursionError, ValueError):
        return type(node).__name__
