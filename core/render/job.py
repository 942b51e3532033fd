"""One render as data: what goes to the worker, and what comes back.

Both sides are plain JSON on the wire, so that a template never gets near a pickle.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from prompt_debugger.core.base.types import JSON, Branch, JSONObject, PromptSpan, Span, SpanKind


@dataclass(frozen=True, slots=True)
class Variable:
    """A template variable.

    Attributes:
        name: Its name in the template.
        root: Keys that lead to it in the request; empty for what the request did not say.
    """

    name: str
    value: JSON
    root: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RenderJob:
    """A template and everything that reaches it.

    Attributes:
        template: Jinja source.
        variables: `messages` among them.
        continue_final_message: Whether the prompt ends inside the last message.
        causes: Names of the server habits to apply first (`core.render.vllm_view`).
        is_traced: Whether spans are wanted.
    """

    template: str
    variables: tuple[Variable, ...]
    continue_final_message: bool = False
    causes: tuple[str, ...] = ()
    is_traced: bool = True

    def to_json(self) -> JSONObject:
        """Return the job as JSON."""
        return {
            "template": self.template,
            "variables": [[one.name, one.value, list(one.root)] for one in self.variables],
            "continue_final_message": self.continue_final_message,
            "causes": list(self.causes),
            "is_traced": self.is_traced,
        }


@dataclass(frozen=True, slots=True)
class Fault:
    """Why a template gave no text.

    Attributes:
        kind: Class name of the exception.
        line: Line of the template, from 1, where known.
        column: Column of the template, from 1, where known.
    """

    kind: str
    message: str
    line: int | None = None
    column: int | None = None


@dataclass(frozen=True, slots=True)
class RenderOutcome:
    """What a template gave.

    Attributes:
        text: The plain render of the reference library; "" if there is a fault.
        spans: Tile `text`; empty if not traced.
        is_identical: Whether the traced render gave the same text.
        unread: Request field paths that the template never read.
        fault: Why there is no text.
        doubt: Why the traced render was not used, in a few words; "" if it was.
        applied: What each asked-for cause changed, as sentences without a subject.
        branches: Where the template went and where not; empty if not traced.
        reads: Names of the variables that the template read; `None` if not traced.
        mentions: Names of the variables from outside that the template has; `None` if not traced.
    """

    text: str = ""
    spans: tuple[PromptSpan, ...] = ()
    is_identical: bool = True
    unread: tuple[str, ...] = ()
    fault: Fault | None = None
    doubt: str = ""
    applied: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    branches: tuple[Branch, ...] = ()
    reads: frozenset[str] | None = None
    mentions: frozenset[str] | None = None

    def to_json(self) -> JSONObject:
        """Return the outcome as JSON; spans as columns of numbers that refer to a table of field paths."""
        paths: dict[str | None, int] = {None: -1}
        rows: list[JSON] = []
        kinds = list(SpanKind)
        for span in self.spans:
            index = paths.setdefault(span.field, len(paths) - 1)
            start, stop = span.field_span if span.field_span is not None else (-1, -1)
            length = span.char_span.stop - span.char_span.start
            line, column = span.template_line or 0, span.template_column or 0
            rows.append([length, kinds.index(span.kind), index, start, stop, line, column])
        fault = self.fault
        return {
            "text": self.text,
            "paths": [path for path in paths if path is not None],
            "rows": rows,
            "is_identical": self.is_identical,
            "unread": list(self.unread),
            "fault": None if fault is None else [fault.kind, fault.message, fault.line, fault.column],
            "doubt": self.doubt,
            "applied": {name: list(changes) for name, changes in self.applied.items()},
            "branches": [
                [one.kind, one.expression, one.line, one.column, one.end_line, one.runs, one.skips]
                for one in self.branches
            ],
            "reads": None if self.reads is None else [*sorted(self.reads)],
            "mentions": None if self.mentions is None else [*sorted(self.mentions)],
        }


def unattributed(text: str, doubt: str) -> RenderOutcome:
    """Return the outcome for a text without known origins."""
    spans = (PromptSpan(Span(0, len(text)), SpanKind.UNKNOWN),) if text else ()
    return RenderOutcome(text, spans, is_identical=False, doubt=doubt)


def job_from_json(data: JSONObject) -> RenderJob:
    """Return the job that `RenderJob.to_json` wrote."""
    variables = data["variables"]
    assert isinstance(variables, list)
    causes = data["causes"]
    assert isinstance(causes, list)
    return RenderJob(
        template=str(data["template"]),
        variables=tuple(_variable(one) for one in variables),
        continue_final_message=bool(data["continue_final_message"]),
        causes=tuple(str(cause) for cause in causes),
        is_traced=bool(data["is_traced"]),
    )


def outcome_from_json(data: JSONObject) -> RenderOutcome:
    """Return the outcome that `RenderOutcome.to_json` wrote."""
    paths, rows, unread, applied = data["paths"], data["rows"], data["unread"], data["applied"]
    assert isinstance(paths, list)
    assert isinstance(rows, list)
    assert isinstance(unread, list)
    assert isinstance(applied, dict)
    return RenderOutcome(
        text=str(data["text"]),
        spans=_spans(rows, [str(path) for path in paths]),
        is_identical=bool(data["is_identical"]),
        unread=tuple(str(path) for path in unread),
        fault=_fault(data["fault"]),
        doubt=str(data["doubt"]),
        applied={name: tuple(map(str, changes)) for name, changes in applied.items() if isinstance(changes, list)},
        branches=_branches(data["branches"]),
        reads=_names(data["reads"]),
        mentions=_names(data["mentions"]),
    )


def _names(data: JSON) -> frozenset[str] | None:
    return frozenset(map(str, data)) if isinstance(data, list) else None


def _branches(data: JSON) -> tuple[Branch, ...]:
    assert isinstance(data, list)
    made: list[Branch] = []
    for entry in data:
        assert isinstance(entry, list)
        kind, expression, *numbers = entry
        line, column, end_line, runs, skips = _numbers(numbers)
        made.append(Branch(str(kind), str(expression), line, column, end_line, runs, skips))
    return tuple(made)


def _variable(data: JSON) -> Variable:
    assert isinstance(data, list)
    name, value, root = data
    assert isinstance(root, list)
    return Variable(str(name), value, tuple(str(key) for key in root))


def _fault(data: JSON) -> Fault | None:
    if not isinstance(data, list):
        return None
    kind, message, line, column = data
    return Fault(
        str(kind), str(message), line if isinstance(line, int) else None, column if isinstance(column, int) else None
    )


def _numbers(row: JSON) -> list[int]:
    assert isinstance(row, list)
    return row  # type: ignore[return-value]  # integers, written above


def _spans(rows: list[JSON], paths: list[str]) -> tuple[PromptSpan, ...]:
    kinds = list(SpanKind)
    spans: list[PromptSpan] = []
    position = 0
    for row in rows:
        length, kind, index, start, stop, line, column = _numbers(row)
        spans.append(
            PromptSpan(
                Span(position, position + length),
                kinds[kind],
                paths[index] if index >= 0 else None,
                Span(start, stop) if start >= 0 else None,
                line or None,
                column or None,
            )
        )
        position += length
    return tuple(spans)
