"""The ground under all values: JSON, spans, stages, evidence."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from pydantic_core import CoreSchema

    JSON: TypeAlias = "bool | int | float | str | list[JSON] | dict[str, JSON] | None"
    JSONObject: TypeAlias = "dict[str, JSON]"
else:
    # A recursive alias cannot be evaluated; who reads annotations at run time (`core.report.wire`) finds these.
    class JSON:
        """Any value that JSON can say."""

        @classmethod
        def __get_pydantic_core_schema__(cls, _source: object, _handler: object) -> CoreSchema:
            from prompt_debugger.core.base.types.outside import json_schema

            return json_schema()

    class JSONObject:
        """A JSON object."""

        @classmethod
        def __get_pydantic_core_schema__(cls, _source: object, _handler: object) -> CoreSchema:
            from prompt_debugger.core.base.types.outside import object_schema

            return object_schema()


SCHEMA_VERSION = 1


def _is_none(value: object) -> bool:
    return value is None


def _is_empty(value: object) -> bool:
    return value is None or value in ("", ())


# Of a field: documents leave it out there (`core.report.wire`).
LEFT_OUT_IF_NONE: Mapping[str, object] = {"exclude_if": _is_none}
LEFT_OUT_IF_EMPTY: Mapping[str, object] = {"exclude_if": _is_empty}


class Span(NamedTuple):
    """A half-open stretch `[start, stop)`; the field that contains it names the unit."""

    start: int
    stop: int

    @classmethod
    def __get_pydantic_core_schema__(cls, _source: object, _handler: object) -> CoreSchema:
        """Tell pydantic what is a span outside: `[start, stop]`; imported only where something is written or read."""
        from prompt_debugger.core.base.types.outside import span_schema

        return span_schema(cls)


class Api(StrEnum):
    """By which API of a server a request is asked."""

    CHAT = "chat"
    RESPONSES = "responses"
    MESSAGES = "messages"
    GEMINI = "gemini"

    @property
    def label(self) -> str:
        """What it is called in a sentence."""
        return "chat completions" if self is Api.CHAT else self.value.capitalize()


class Stage(StrEnum):
    """Where in a run something happened, in pipeline order."""

    REQUEST = "request"
    RENDER = "render"
    COMPLETE = "complete"
    PARSE = "parse"
    CONTRACT = "contract"


class Basis(StrEnum):
    """What the statements of a run rest on, best first; `ASSUMED_RUN` is of a text that holds output and answer."""

    SAME_RUN = "same-run"
    ASSUMED_RUN = "assumed-run"
    OWN_RENDER = "own-render"
    TEXT_ONLY = "text-only"
