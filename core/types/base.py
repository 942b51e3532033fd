"""The ground under all values: JSON, spans, stages, evidence."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple, TypeAlias

JSON: TypeAlias = "bool | int | float | str | list[JSON] | dict[str, JSON] | None"
JSONObject: TypeAlias = "dict[str, JSON]"

SCHEMA_VERSION = 1


class Span(NamedTuple):
    """A half-open stretch `[start, stop)`; the field that holds it names the unit."""

    start: int
    stop: int


class Stage(StrEnum):
    """Where in a run something happened, in pipeline order."""

    REQUEST = "request"
    RENDER = "render"
    COMPLETE = "complete"
    PARSE = "parse"
    CONTRACT = "contract"


class Evidence(StrEnum):
    """What the statements of a run rest on, best first."""

    SAME_RUN = "same-run"
    OWN_RENDER = "own-render"
    TEXT_ONLY = "text-only"
