"""Run one render job: plain, then traced, then compare the two. Used by the worker and, in tests, directly.

The plain text of the reference library is the truth. The traced one only says
where its characters came from, and is believed only if it is the same text.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator
from datetime import datetime
from functools import lru_cache
from typing import NamedTuple

import jinja2

from prompt_debugger.core.base.types import JSON, PromptSpan, Span
from prompt_debugger.core.base.types.frozen import replace
from prompt_debugger.core.render.inspect import inspect_template
from prompt_debugger.core.render.job import Fault, RenderJob, RenderOutcome, Variable, unattributed
from prompt_debugger.core.render.reference import CLOCK, FINAL_TAG, compile_plain, render_plain
from prompt_debugger.core.render.trace.derive import unwrap
from prompt_debugger.core.render.trace.environment import TracedTemplate, compile_traced
from prompt_debugger.core.render.trace.rows import Row, SourceMap, build_rows, source_map
from prompt_debugger.core.render.trace.runs import BUDGET, Budget, Field, Run, RunBudgetError, RunKind, join_path
from prompt_debugger.core.render.trace.strings import TracedStr, plain, traced
from prompt_debugger.core.render.trace.values import TracedDict, TracedList, wrap
from prompt_debugger.core.render.vllm_view import MEDIA_CAUSE, apply_causes

RUN_BUDGET = 3_000_000
TRACE_S = 0.6  # CPU seconds that taking texts apart may cost
MAX_TEXT = 32_000_000  # characters
MAX_MESSAGE = 20_000  # characters of what a template says as it fails: it may raise a text of any length


def run_job(job: RenderJob, *, now: datetime | None = None) -> RenderOutcome:
    """Render one job, plain and traced.

    Args:
        job: What to render.
        now: The clock that the template sees; the machine's if not given.

    Returns:
        Text and spans, or a fault; never raises for what a template does, except that
        a lack of memory passes through.
    """
    *_, outcome = run_in_steps(job, now=now)
    return outcome


def run_in_steps(job: RenderJob, *, now: datetime | None = None) -> Iterator[RenderOutcome]:
    """Render one job; yield the plain text first, without spans, then the attributed one.

    Only one outcome comes if there is a fault, or if no spans are wanted. Arguments as `run_job`.
    """
    if job.causes == (MEDIA_CAUSE,) and inspect_template(job.template).content_format != "openai":
        job = replace(job, causes=())  # a template that wants texts gets none of the parts
    token = CLOCK.set(now or datetime.now())
    try:
        plainly = _render_plainly(job)
        yield plainly
        if job.is_traced and plainly.fault is None:
            yield replace(_trace(job, plainly.text), applied=plainly.applied)
    finally:
        CLOCK.reset(token)


def _render_plainly(job: RenderJob) -> RenderOutcome:
    changed, applied = _as_served(job)
    try:
        text = render_plain(changed)
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001  # a template may raise anything
        return RenderOutcome(fault=_fault(changed, error), applied=applied)
    if len(text) > MAX_TEXT:
        return RenderOutcome(fault=Fault("TooLong", f"the text is {len(text)} characters long, more than any prompt"))
    return RenderOutcome(text, applied=applied)


def _as_served(job: RenderJob) -> tuple[RenderJob, dict[str, tuple[str, ...]]]:
    """Return the job as the server's habits leave it, and what they changed."""
    if not job.causes:
        return job, {}
    wrapped, applied = apply_causes({one.name: _wrap_variable(one) for one in job.variables}, job.causes)
    variables = tuple(
        replace(one, value=unwrap(wrapped[one.name])) if one.name in ("messages", "tools") else one
        for one in job.variables
    )
    return replace(job, variables=variables, causes=()), applied


def _trace(job: RenderJob, text: str) -> RenderOutcome:
    token = BUDGET.set(Budget(RUN_BUDGET, TRACE_S))
    try:
        template = _compiled(job.template)
        variables = _wrapped_variables(job)
        made = template.render(variables, {one.name: (_place(one), one.value) for one in job.variables if one.root})
        if job.continue_final_message:
            made = _cut_tag(made)
        if plain(made) != text:
            return unattributed(text, "the traced render gave a different text")
        spans = _spans(build_rows(made, template.environment.source), template.environment.source)
    except MemoryError:
        raise
    except RunBudgetError:
        return unattributed(text, "the template splits the text too finely to follow")
    except Exception as error:  # noqa: BLE001  # the plain render went well: ours is at fault
        return unattributed(text, f"the traced render failed: {type(error).__name__}: {error}")
    finally:
        BUDGET.reset(token)
    # One field may become several variables: it is named once.
    is_of_request = job.causes in ((), (MEDIA_CAUSE,))  # others give the template what is not in the request
    paths = _unread(job, variables, template.environment.reads) if is_of_request else ()
    unread = tuple(dict.fromkeys(paths))
    return RenderOutcome(
        text,
        spans,
        unread=unread,
        branches=template.branches(),
        reads=frozenset(template.environment.reads),
        mentions=frozenset(template.environment.mentions),
    )


def _wrapped_variables(job: RenderJob) -> dict[str, object]:
    variables = {one.name: _wrap_variable(one) for one in _opened(job)}
    return apply_causes(variables, job.causes)[0] if job.causes else variables


@lru_cache(maxsize=32)
def _compiled(source: str) -> TracedTemplate:
    return compile_traced(source, compile_plain(source).environment)


def _place(variable: Variable) -> Field:
    place: Field | None = None
    for key in variable.root:
        place = Field(place, key)
    assert place is not None
    return place


def _wrap_variable(variable: Variable) -> object:
    value = variable.value
    if variable.root:
        return wrap(value, _place(variable).parent, variable.root[-1])
    if isinstance(value, str) and value:
        return traced(value, (Run(len(value), RunKind.ENVIRONMENT),))
    return value


def _opened(job: RenderJob) -> Iterator[Variable]:
    """Yield the variables, the last message marked as the reference library marks it."""
    for variable in job.variables:
        if variable.name == "messages" and job.continue_final_message and isinstance(variable.value, list):
            yield Variable("messages", [*variable.value[:-1], _tagged(variable.value[-1])], variable.root)
        else:
            yield variable


def _tagged(message: JSON) -> JSON:
    assert isinstance(message, dict)
    content = message.get("content")
    if isinstance(content, str):
        return {**message, "content": content + FINAL_TAG}
    assert isinstance(content, list)
    parts = list(content)
    for index in range(len(parts) - 1, -1, -1):
        part = parts[index]
        if isinstance(part, dict) and isinstance(part.get("text"), str):
            parts[index] = {**part, "text": f"{part['text']}{FINAL_TAG}"}
            break
    return {**message, "content": parts}


def _cut_tag(text: TracedStr) -> TracedStr:
    start = text.rindex(FINAL_TAG.strip())
    kept = text[:start]
    return kept if text.startswith(FINAL_TAG, start) else kept.rstrip()


def _spans(rows: list[Row], source: str) -> tuple[PromptSpan, ...]:
    places = source_map(source)
    known: dict[int, tuple[int | None, int | None]] = {-1: (None, None)}  # one expression may print 100,000 rows
    spans: list[PromptSpan] = []
    position = 0
    made = tuple.__new__  # a named tuple's own way takes three times as long, and a long prompt has thousands
    for length, kind, field, start, stop, offset in rows:
        place = known.get(offset)
        if place is None:
            place = known[offset] = places.line_column(offset)
        field_span = made(Span, (start, stop)) if start >= 0 else None
        end = position + length
        spans.append(PromptSpan(made(Span, (position, end)), kind, field, field_span, *place))
        position = end
    return tuple(spans)


def _unread(job: RenderJob, variables: dict[str, object], names: set[str]) -> Iterator[str]:
    for variable in job.variables:
        if not variable.root:
            continue
        path = _place(variable).path
        if variable.name not in names:
            yield path
        else:
            yield from _unread_paths(variables[variable.name], variable.value, path)


def _unread_paths(value: object, given: JSON, path: str) -> Iterator[str]:
    """Yield the paths in `given` that were never read through `value`, whole subtrees as one.

    Args:
        value: The value at `path` as the template had it, wrapped if it was handed out.
        given: The same value as it was given.
        path: Where it is in the request.
    """
    if not isinstance(value, (TracedDict, TracedList)) or value._dumped:
        return
    found = [unread for key, inner in _entries(given) for unread in _unread_entry(value, key, inner, path)]
    yield from [path] if found and found == [join_path(path, key) for key, _ in _entries(given)] else found


def _unread_entry(value: TracedDict | TracedList, key: str | int, given: JSON, path: str) -> Iterator[str]:
    here = join_path(path, key)
    if key not in value._seen:
        yield here
    elif isinstance(value, TracedDict):
        yield from _unread_paths(dict.__getitem__(value, str(key)), given, here)
    elif isinstance(key, int):
        yield from _unread_paths(list.__getitem__(value, key), given, here)


def _entries(given: JSON) -> Iterable[tuple[str | int, JSON]]:
    if isinstance(given, dict):
        return list(given.items())
    return list(enumerate(given)) if isinstance(given, list) else []


def _fault(job: RenderJob, error: Exception) -> Fault:
    message = _shortened(plain(str(error))) or type(error).__name__
    line, column = None, None
    if isinstance(error, jinja2.TemplateSyntaxError):
        line, column = error.lineno, _syntax_column(job, error)
        message = _shortened(plain(error.message or message))
    missing = missing_name(error, message, job.template)
    if missing is not None:
        return Fault(f"Missing {missing.kind}", _described(missing), missing.line, missing.column)
    if not isinstance(error, jinja2.TemplateSyntaxError):
        line, column = _runtime_position(job)
    return Fault(type(error).__name__, message, line, column)


def _shortened(message: str) -> str:
    left = len(message) - MAX_MESSAGE
    return message if left <= 0 else f"{message[:MAX_MESSAGE]}\u2026 ({left:,} more characters)"


def _described(missing: MissingName) -> str:
    meant = f"; did you mean `{missing.meant}`?" if missing.meant else ""
    return f"`{missing.name}`{meant}"


def _syntax_column(job: RenderJob, error: jinja2.TemplateSyntaxError) -> int | None:
    """Compile again with positions to learn the column."""
    from prompt_debugger.core.render.trace.environment import TracingEnvironment
    from prompt_debugger.core.render.trace.lexer import Position

    environment = TracingEnvironment(
        jinja2.sandbox.ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True), job.template
    )
    try:
        environment.parse(job.template)
    except jinja2.TemplateSyntaxError as again:
        line: object = again.lineno
        if isinstance(line, Position) and again.lineno == error.lineno:
            return SourceMap(environment.source).line_column(line.start)[1]
    return None


def _runtime_position(job: RenderJob) -> tuple[int | None, int | None]:
    """Fail again with positions to learn where."""
    token = BUDGET.set(Budget(RUN_BUDGET, TRACE_S))
    template: TracedTemplate | None = None
    try:
        template = _compiled(job.template)
        template.render({one.name: _wrap_variable(one) for one in _opened(job)})
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001  # it failed before
        place = template.position_of(error) if template is not None else None
        return place if place is not None else (None, None)
    finally:
        BUDGET.reset(token)
    return None, None


_NO_SUCH_FILTER = re.compile(r"No (filter|test) named '([^']{1,100})'(?: found)?\.")


class MissingName(NamedTuple):
    """A name that a template uses and its environment lacks.

    Attributes:
        kind: `filter` or `test`.
        line: Line of its first use, from 1.
        column: Column of it, from 1.
    """

    kind: str
    name: str
    line: int | None
    column: int | None

    @property
    def meant(self) -> str:
        """The name that was probably meant; "" if none is near."""
        environment = jinja2.Environment()
        known = [*(environment.filters if self.kind == "filter" else environment.tests)]
        close = difflib.get_close_matches(self.name, known, n=1, cutoff=0.6)
        return close[0] if close else ""


def missing_name(error: Exception, message: str, template: str) -> MissingName | None:
    """Return what an error of Jinja says is missing, with its place; `None` if it says something else.

    A template can raise the same words itself; that is another class of errors.
    """
    missing = _NO_SUCH_FILTER.fullmatch(message)
    if missing is None or not isinstance(error, jinja2.TemplateRuntimeError | jinja2.TemplateAssertionError):
        return None
    kind, name = missing[1], missing[2]
    line = _line_of(template, kind, name)
    if line is None:
        return MissingName(kind, name, None, None)
    use = rf"\|\s*({re.escape(name)})\b" if kind == "filter" else rf"\bis\s+(?:not\s+)?({re.escape(name)})\b"
    text = template.splitlines()[line - 1]
    found = re.search(use, text) or re.search(rf"\b({re.escape(name)})\b", text)
    return MissingName(kind, name, line, None if found is None else found.start(1) + 1)


def _line_of(template: str, kind: str, name: str) -> int | None:
    """Return the line of the first use; texts and comments that contain the same word do not count."""
    before: tuple[str, ...] = ()
    in_block = False
    try:
        for line, token, value in jinja2.Environment().lex(template):
            if token in ("whitespace", "data"):
                continue
            is_use = before[-1:] == ("|",) if kind == "filter" else before[-1:] == ("is",) or before == ("is", "not")
            if token == "name" and value == name and (is_use or in_block):
                return line
            in_block = kind == "filter" and token == "name" and value == "filter" and before[-1:] == ("{%",)
            before = (*before[-1:], value.strip("-+") if token == "block_begin" else value)
    except jinja2.TemplateSyntaxError:
        return None
    return None
