"""The documents told as JSON Schema, with what the docstrings say of every field: `docs/schema` is made from this."""

from __future__ import annotations

import dataclasses
import inspect
import re
from collections.abc import Hashable, Mapping
from typing import cast

from pydantic import BaseModel, TypeAdapter
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

from prompt_debugger.core.base.types import JSONObject
from prompt_debugger.core.report.wire.check import CheckDocument
from prompt_debugger.core.report.wire.documents import ErrorDocument, ParseDocument, RenderDocument, RunDocument
from prompt_debugger.core.report.wire.form import strict_schema
from prompt_debugger.core.report.wire.verification import VerifyRow, VerifySummary

DOCUMENTS: Mapping[str, type] = {
    "check": CheckDocument,
    "error": ErrorDocument,
    "parse": ParseDocument,
    "render": RenderDocument,
    "run": RunDocument,
    "verify": VerifySummary,
    "verify-row": VerifyRow,
}
_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_HEX = "^([0-9a-f]{2})*$"
_FIELDS = re.compile(r"^Attributes:\n((?:[ ]{4}.*\n?|\n)+)", re.MULTILINE)
_FIELD = re.compile(r"^[ ]{4}(\w[\w, ]*):((?:.*\n?(?:[ ]{8}.*\n?)*))", re.MULTILINE)


def json_schema_of(name: str) -> JSONObject:
    """Return the JSON Schema of a document: `check`, `error`, `parse`, `render`, `run`, `verify` or `verify-row`."""
    return schema_of_class(DOCUMENTS[name])


def schema_of_class(cls: type) -> JSONObject:
    """Return the JSON Schema of what a record or a model is written as.

    Fields may be added at any time, so a schema forbids none.
    """
    schema = TypeAdapter(cls).core_schema if issubclass(cls, BaseModel) else strict_schema(cast("Hashable", cls))
    made = _DescribedSchema(by_alias=True).generate(schema, mode="serialization")
    return cast("JSONObject", {"$schema": _DIALECT, **_open(made)})


class _DescribedSchema(GenerateJsonSchema):
    """Pydantic's own words, and the docstrings'."""

    def dataclass_schema(self, schema: core_schema.DataclassSchema) -> JsonSchemaValue:
        """Describe a record by its docstring, and its fields by theirs."""
        told = super().dataclass_schema(schema)
        first, fields = _read_docstring(schema["cls"])
        told["description"] = first
        aliases = {field.name: field.metadata.get("alias", field.name) for field in dataclasses.fields(schema["cls"])}
        for name, words in fields.items():
            field = told["properties"].get(aliases.get(name, name))
            if field is not None:
                field["description"] = words
        return told

    def model_schema(self, schema: core_schema.ModelSchema) -> JsonSchemaValue:
        """Describe a model likewise."""
        told = super().model_schema(schema)
        cls = cast("type[BaseModel]", schema["cls"])
        first, fields = _read_docstring(cls)
        told["description"] = first
        for name, field in cls.model_fields.items():
            told["properties"][field.serialization_alias or name]["description"] = fields[name]
        return told

    def bytes_schema(self, schema: core_schema.BytesSchema) -> JsonSchemaValue:
        """Describe bytes as the hex text that they are."""
        return {"type": "string", "pattern": _HEX}

    def field_title_should_be_set(self, schema: object) -> bool:
        """Leave titles out: they repeat the names."""
        return False

    def field_is_required(
        self,
        field: core_schema.ModelField | core_schema.DataclassField | core_schema.TypedDictField,
        total: bool,  # noqa: FBT001  # as pydantic calls it
    ) -> bool:
        """Require what is always there: all but the fields that may be left out."""
        return "serialization_exclude_if" not in field

    def ser_schema(self, schema: CoreSchema) -> JsonSchemaValue | None:
        """Describe what is written by what is read: our own functions change no shape."""
        return None


def _read_docstring(cls: type) -> tuple[str, dict[str, str]]:
    """Return the first sentence of a record's docstring, and what it and its bases say of each field."""
    words: dict[str, str] = {}
    for one in reversed(cls.__mro__):
        found = _FIELDS.search(inspect.cleandoc(one.__doc__ or "") + "\n")
        for match in _FIELD.finditer(found.group(1) if found else ""):
            words.update(
                dict.fromkeys(match.group(1).split(", "), " ".join(match.group(2).split()).replace("`None`", "`null`"))
            )
    return inspect.cleandoc(cls.__doc__ or "").split("\n")[0], words


def _open(schema: object) -> dict[str, object]:
    return cast("dict[str, object]", _opened(schema))


def _opened(node: object) -> object:
    """Return a schema that forbids no further fields."""
    if isinstance(node, list):
        return [_opened(item) for item in node]
    if not isinstance(node, dict):
        return node
    return {key: _opened(item) for key, item in node.items() if key != "additionalProperties" or item is not False}
