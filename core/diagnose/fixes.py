"""The fixes that rules declare: a change that can be applied and tried, in the file of the rule whose fault it removes.

What to do in words is the rule's advice; a fix is the change itself, and exists only where a program can make it.

| kind | declared by | what it makes of a run |
|---|---|---|
| `request` | `RequestFix` | the body of the request, changed |
| `template` | `TemplateFix` | the chat template, changed |
| `flags` | `FlagsFix` | other flags for the server |
| `client` | `ClientFix` | a function that corrects the message of an answer |
| `plugin` | `PluginFix` | this program's own reader of the family, put into the server |
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import ClassVar, Literal, Protocol, TypeAlias, runtime_checkable

from prompt_debugger.core.base.types import JSON, Finding, JSONObject, Prompt, PromptSpan, Trace
from prompt_debugger.core.diagnose.taken import reads
from prompt_debugger.core.diagnose.trace_queries import prompt_of
from prompt_debugger.core.formats import TABLES

FixKind: TypeAlias = Literal["request", "template", "flags", "client", "plugin"]
Name: TypeAlias = str | Callable[[Trace, Finding], str]
_EXPRESSION = re.compile(r"\{\{(?P<open>[-+]?)\s*+(?P<body>(?:\S(?:.*?\S)??)??)\s*+(?P<close>[-+]?)\}\}")


@dataclass(frozen=True, slots=True)
class Change:
    """What a fix changes for one run; the fields of its kind are set.

    Attributes:
        name: What it does, in few words.
        kind: What it changes.
        body: The changed body of the request.
        template: The changed chat template.
        flags: Server flags to start with.
        tool_parser: The tool parser that those flags name, where that is all they do.
        reasoning_parser: The reasoning parser, likewise.
        family: The family whose parser plugin the server is to be given.
        source: Source of a function `fix` that takes the message of an answer and returns it changed.
    """

    name: str
    kind: FixKind
    body: JSONObject | None = None
    template: str = ""
    flags: str = ""
    tool_parser: str | None = None
    reasoning_parser: str | None = None
    family: str = ""
    source: str = ""


@runtime_checkable
class Fix(Protocol):
    """What a rule declares under `fixes`."""

    @property
    def kind(self) -> FixKind:
        """What it changes."""

    def change(self, trace: Trace, finding: Finding) -> Change | None:
        """Return the change for a finding of the rule; `None` where it cannot be said."""


@dataclass(frozen=True, slots=True)
class RequestFix:
    """A request with one thing changed.

    Attributes:
        name: What it does, in few words.
        body: Returns the changed body; the same body means that there is nothing to change.
    """

    name: Name
    body: Callable[[Trace, Finding], JSONObject]
    kind: ClassVar[FixKind] = "request"

    def change(self, trace: Trace, finding: Finding) -> Change:
        """Return the change."""
        name = self.name if isinstance(self.name, str) else self.name(trace, finding)
        return Change(name, self.kind, body=self.body(trace, finding))


@dataclass(frozen=True, slots=True)
class TemplateFix:
    """A chat template with the expression at fault changed.

    Attributes:
        template: Returns the changed template of a prompt; `None` where no program can say how.
        name: What it does, in few words.
    """

    template: Callable[[Prompt, Finding], str | None]
    name: str = "the template fixed"
    kind: ClassVar[FixKind] = "template"

    def change(self, trace: Trace, finding: Finding) -> Change | None:
        """Return the change; `None` where the template is not known or stays as it is."""
        prompt = prompt_of(trace)
        if prompt is None or prompt.template is None:
            return None
        changed = self.template(prompt, finding)
        return None if changed in (None, prompt.template) else Change(self.name, self.kind, template=changed or "")


@dataclass(frozen=True, slots=True)
class FlagsFix:
    """Other flags for the server; only for a vLLM whose flags are known.

    Attributes:
        parsers: Which parser they name: the one for tool calls, or for reasoning.
    """

    parsers: Literal["tool", "reasoning"]
    kind: ClassVar[FixKind] = "flags"

    def change(self, trace: Trace, finding: Finding) -> Change | None:
        """Return the change; `None` where the server has a parser for what was written."""
        del finding
        family, server = "" if trace.parse is None else trace.parse.parsed.format, trace.server
        if server is None or server.kind != "vllm":
            return None
        is_tool = self.parsers == "tool"
        known = (TABLES.tool_parsers if is_tool else TABLES.reasoning_parsers).get(family, ())
        if not known or (server.tool_parser if is_tool else server.reasoning_parser) in known:
            return None
        name = f"the {self.parsers} parser {known[0]}"
        if is_tool:
            flags = f"--enable-auto-tool-choice --tool-call-parser {known[0]}"
            return Change(name, self.kind, flags=flags, tool_parser=known[0])
        return Change(name, self.kind, flags=f"--reasoning-parser {known[0]}", reasoning_parser=known[0])


@dataclass(frozen=True, slots=True)
class ClientFix:
    """A few lines for the client, shown as they are and tried so.

    Attributes:
        name: What they do, in few words.
        source: Source of a function `fix` that takes the message of an answer and returns it changed. It stands by
            itself, to be copied.
        advice: Words that the advice must have, as these lines do what it says; "" where all findings have them.
    """

    name: str
    source: str
    advice: str = ""
    kind: ClassVar[FixKind] = "client"

    def change(self, trace: Trace, finding: Finding) -> Change | None:
        """Return the change; `None` where the advice of this finding, or of another of its rule, differs."""
        others = (one for one in trace.findings if one.code == finding.code)
        if self.advice and any(self.advice not in one.fix for one in (finding, *others)):
            return None
        return Change(self.name, self.kind, source=self.source)


@dataclass(frozen=True, slots=True)
class PluginFix:
    """This program's own reader of the family, put into a vLLM as a parser plugin."""

    kind: ClassVar[FixKind] = "plugin"

    def change(self, trace: Trace, finding: Finding) -> Change | None:
        """Return the change; `None` for another server, and where nothing was read."""
        del finding
        if trace.server is None or trace.server.kind != "vllm" or trace.parse is None:
            return None
        return Change("a parser plugin in the server", self.kind, family=trace.parse.parsed.format)


def request_fields(finding: Finding) -> list[str]:
    """Return the paths of the request fields that a finding points at."""
    return [entry.field for entry in finding.evidence if entry.where == "request" and entry.field]


def holder_of(body: JSON, path: str) -> tuple[JSON, str]:
    """Return the object that contains a field path's last name, and that name."""
    steps = path.replace("[", ".").replace("]", "").split(".")
    place: JSON = body
    for step in steps[:-1]:
        if isinstance(place, dict):
            place = place.get(step)
        elif isinstance(place, list) and step.isdecimal() and int(step) < len(place):
            place = place[int(step)]
        else:
            return None, ""
    return place, steps[-1]


def setting(**fields: JSON) -> Callable[[Trace, Finding], JSONObject]:
    """Return what sets fields of the request; nothing where the server is known not to read one."""
    return lambda trace, _: {**trace.request.body, **fields} if reads(trace, fields) else trace.request.body


def drop_fields(body: JSONObject, names: Iterable[str]) -> JSONObject:
    """Return a body without some of its fields."""
    return {key: value for key, value in body.items() if key not in {*names}}


def drop_named_fields() -> RequestFix:
    """Return the fix that leaves out the fields of the request that a finding points at."""
    return RequestFix(
        name=lambda _, finding: f"{', '.join(sorted({*request_fields(finding)}))} left out",
        body=lambda trace, finding: drop_fields(trace.request.body, request_fields(finding)),
    )


def each_field(change: Callable[[JSON], JSON]) -> Callable[[Trace, Finding], JSONObject]:
    """Return what changes the value at every request field that a finding points at."""

    def body(trace: Trace, finding: Finding) -> JSONObject:
        changed = copy.deepcopy(trace.request.body)
        for field in request_fields(finding):
            holder, key = holder_of(changed, field)
            if isinstance(holder, dict) and key in holder:
                holder[key] = change(holder[key])
        return changed

    return body


def each_message(change: Callable[[JSONObject], None]) -> Callable[[Trace, Finding], JSONObject]:
    """Return what changes every message of the request, in place, in a copy."""

    def body(trace: Trace, _: Finding) -> JSONObject:
        changed = copy.deepcopy(trace.request.body)
        messages = changed.get("messages")
        for message in messages if isinstance(messages, list) else []:
            if isinstance(message, dict):
                change(message)
        return changed

    return body


def rewritten(
    prompt: Prompt, finding: Finding, change: Callable[[str], str], fits: Callable[[str], bool]
) -> str | None:
    """Return the template with the expressions changed that wrote what a finding shows.

    Only a plain expression is changed, one without filters and operators: of any other it is not known what
    a change means.

    Args:
        prompt: The prompt, with its template.
        finding: What was found in it.
        change: Returns the expression to put there, without its braces.
        fits: Returns whether an expression is one to change.
    """
    lines = (prompt.template or "").splitlines(keepends=True)
    changed = False
    for line_number, column in sorted({_place(span) for span in _spans_of(prompt, finding)}, reverse=True):
        if not 0 < line_number <= len(lines):
            continue
        line = lines[line_number - 1]
        found = next((one for one in _EXPRESSION.finditer(line) if one.start() < column <= one.end()), None)
        if found is None or re.fullmatch(r"[\w.\[\]'\"]+", found["body"]) is None or not fits(found["body"]):
            continue
        made = f"{{{{{found['open']} {change(found['body'])} {found['close']}}}}}"
        lines[line_number - 1] = line[: found.start()] + made + line[found.end() :]
        changed = True
    return "".join(lines) if changed else None


def _place(span: PromptSpan) -> tuple[int, int]:
    return span.template_line or 0, span.template_column or 0


def _spans_of(prompt: Prompt, finding: Finding) -> list[PromptSpan]:
    wanted = [one.char_span for one in finding.evidence if one.where == "prompt" and one.char_span is not None]
    return [
        span
        for span in prompt.spans
        if any(one.start < span.char_span.stop and span.char_span.start < one.stop for one in wanted)
    ]
