"""Classes of pydantic in a snippet → the JSON Schema that they stand for, by reading them; nothing is ever executed.

    class Car(BaseModel):
        brand: str                       →  {"type": "object", "properties": {"brand": {"type": "string"}, …},
        doors: Optional[int] = None          "required": ["brand"]}

What is not understood of an annotation allows anything, so that no answer breaks a schema that was only half read.
Titles, descriptions and limits (`ge=1`, patterns) are left out.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from prompt_debugger.core.base.types import JSON, JSONObject

_MAX_DEPTH = 12
_MAX_CLASSES = 200
_MAX_ANNOTATIONS = 2_000  # of one schema: classes that name each other often would make it grow without end
_SIMPLE: Mapping[str, str] = {
    "str": "string", "int": "integer", "float": "number", "bool": "boolean", "dict": "object", "Dict": "object",
    "list": "array", "List": "array", "None": "null",
}  # fmt: skip
_LISTS = frozenset({"list", "List", "Sequence", "Iterable", "set", "Set", "frozenset", "FrozenSet"})
_OBJECTS = frozenset({"dict", "Dict", "Mapping"})
_NO_FIELDS = frozenset({"model_config", "Config"})
_RENAMING = frozenset({"alias", "serialization_alias", "validation_alias"})


class Classes:
    """The classes of a snippet, by name."""

    def __init__(self, tree: ast.Module | None = None) -> None:
        found = [] if tree is None else [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
        self._known = {node.name: node for node in found[:_MAX_CLASSES]}

        self._left = 0

    def schema(self, name: str) -> JSONObject | None:
        """Return the schema of a class of that name; `None` if the snippet has no model of that name."""
        self._left = _MAX_ANNOTATIONS
        return self._object(name, 0) if self._is("BaseModel", name) else None

    def _lineage(self, name: str, seen: set[str]) -> Iterator[ast.ClassDef]:
        """Yield a class and those that it inherits from, these first, each once."""
        node = self._known.get(name)
        if node is None or name in seen:
            return
        seen.add(name)
        for base in node.bases:
            yield from self._lineage(_last(base), seen)
        yield node

    def _is(self, base: str, name: str) -> bool:
        return any(base in map(_last, node.bases) for node in self._lineage(name, set()))

    def _object(self, name: str, depth: int) -> JSONObject:
        properties: dict[str, JSON] = {}
        required: list[JSON] = []
        for field in self._fields(name):
            if not isinstance(field.target, ast.Name):
                continue
            options = _options(field.value)
            if _RENAMING & options.keys():
                return {"type": "object"}  # its members have other names
            properties[field.target.id] = self._of(field.annotation, depth + 1)
            if field.target.id in required:
                required.remove(field.target.id)
            if _is_required(field.value, options):
                required.append(field.target.id)
        return {"type": "object", "properties": properties, "required": required}

    def _fields(self, name: str) -> Iterator[ast.AnnAssign]:
        """Yield the fields of a class, those that it inherits first."""
        for statement in (one for node in self._lineage(name, set()) for one in node.body):
            if not isinstance(statement, ast.AnnAssign) or not isinstance(statement.target, ast.Name):
                continue
            is_field = not statement.target.id.startswith("_") and statement.target.id not in _NO_FIELDS
            if is_field and _last(statement.annotation) != "ClassVar":
                yield statement

    def _of(self, node: ast.expr, depth: int) -> JSONObject:
        """Return the schema of an annotation; an empty one, which allows anything, if it is not understood."""
        if depth > _MAX_DEPTH or self._left <= 0:
            return {}
        self._left -= 1
        match node:
            case ast.Constant(value=None):
                return {"type": "null"}
            case ast.Constant(value=str() as text):
                return self._of_text(text, depth)
            case ast.Name() | ast.Attribute():
                return self._of_name(_last(node), depth)
            case ast.BinOp(op=ast.BitOr(), left=left, right=right):
                return self._any([left, right], depth)
            case ast.Subscript(slice=inner):
                members = list(inner.elts) if isinstance(inner, ast.Tuple) else [inner]
                return self._of_generic(_last(node), members, depth)
            case _:
                return {}

    def _of_text(self, text: str, depth: int) -> JSONObject:
        """Return the schema of an annotation that is written as a text."""
        try:
            return self._of(ast.parse(text[:1_000], mode="eval").body, depth + 1)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return {}

    def _of_name(self, name: str, depth: int) -> JSONObject:
        if name in _SIMPLE:
            return {"type": _SIMPLE[name]}
        if self._is("BaseModel", name):
            return self._object(name, depth)
        return self._enum(name) if self._is("Enum", name) or self._is("StrEnum", name) else {}

    def _of_generic(self, name: str, members: list[ast.expr], depth: int) -> JSONObject:
        if not members:
            return {}
        if name == "Annotated":
            return self._of(members[0], depth + 1)
        if name == "Optional":
            return self._any([*members, ast.Constant(None)], depth)
        if name == "Union":
            return self._any(members, depth)
        if name == "Literal":
            values = [one.value for one in members if isinstance(one, ast.Constant)]
            known: list[JSON] = [value for value in values if isinstance(value, str | int | bool) or value is None]
            return {"enum": known} if len(known) == len(members) else {}
        if name in _LISTS:
            return {"type": "array", "items": self._of(members[0], depth + 1)}
        return {"type": "object"} if name in _OBJECTS else {}

    def _any(self, members: list[ast.expr], depth: int) -> JSONObject:
        schemas: list[JSON] = [self._of(one, depth + 1) for one in members]
        return {"anyOf": schemas} if all(schemas) else {}

    def _enum(self, name: str) -> JSONObject:
        values: list[JSON] = []
        for statement in self._known[name].body:
            match statement:
                case ast.Assign(targets=[ast.Name()], value=ast.Constant(value=str() | int() as value)):
                    values.append(value)
                case ast.Assign():
                    return {}
                case _:
                    pass
        return {"enum": values} if values else {}


def _last(node: ast.expr) -> str:
    """Return the last name of `a.b.C` or `a.b.C[…]`; "" for anything else."""
    if isinstance(node, ast.Subscript):
        node = node.value
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _options(value: ast.expr | None) -> dict[str, ast.expr]:
    """Return the keyword arguments of `Field(…)`; none of any other default."""
    if not isinstance(value, ast.Call) or _last(value.func) != "Field":
        return {}
    return {keyword.arg: keyword.value for keyword in value.keywords if keyword.arg is not None}


def _is_required(value: ast.expr | None, options: Mapping[str, ast.expr]) -> bool:
    """Return whether a field has no default: nothing, `...`, or a `Field(…)` that gives none."""
    if isinstance(value, ast.Call) and _last(value.func) == "Field":
        if any(keyword.arg is None for keyword in value.keywords) or "default_factory" in options:
            return False
        value = value.args[0] if value.args else options.get("default")
    return value is None or (isinstance(value, ast.Constant) and value.value is ...)
