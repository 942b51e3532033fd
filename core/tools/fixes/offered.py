"""The fixes that a run's findings have: collected from their rules, as changes that can be applied and tried.

A fix is offered only where a program can carry it out. A finding that follows from another
has that one's fix.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Literal, TypeVar

from pydantic import Field

from prompt_debugger.core.base.types import Finding, JSONObject, Trace
from prompt_debugger.core.complete import engine_of
from prompt_debugger.core.diagnose import RULES
from prompt_debugger.core.diagnose.fixes import Change, Fix
from prompt_debugger.core.diagnose.trace_queries import prompt_of
from prompt_debugger.core.report.wire.form import dump_document
from prompt_debugger.core.tools.experiments.difference import TokenDifference
from prompt_debugger.core.tools.fixes.patch import patch_between
from prompt_debugger.core.tools.plugin.write import PARSER_NAME

T = TypeVar("T")
_NotWritten = Annotated[T, Field(exclude=True)]
UNREAD = frozenset({"generic", "harmony"})  # formats that the plugin does not read in vLLM


@dataclass(frozen=True, slots=True)
class OfferedFix:
    """What would remove a finding: `cure` of it under `run --experiments`, `null` where nothing is known.

    Attributes:
        name: What it changes, in few words.
        kind: The request, the template, the server's flags, or the client.
        patch: JSON Patch of the request; empty for other kinds.
        command: Flags, or a command, for the server; "" for other kinds.
        tried: Whether the changed run was made.
        worked: Whether the finding was gone and no other error had come; `null` if not tried.
        diff: What is changed in the chat template, as a unified diff; "" for other kinds.
        client: Source of a function that corrects the message of an answer; "" for other kinds.
        alternatives: Further fixes of the same finding.
        prompt_difference: Which tokens of the prompt the changed run has, and which it lacks; `null` if not tried,
            or if the prompt is the same.
        tool_parser: The tool parser that the flags name, where that is all they do.
        reasoning_parser: The reasoning parser, likewise.
        plugin: Family of the parser plugin with which the server is started; "" for none.
        template: The changed chat template.
    """

    name: str
    kind: Literal["request", "template", "flags", "client"]
    patch: tuple[JSONObject, ...] = ()
    command: str = ""
    tried: bool = False
    worked: bool | None = None
    diff: str = ""
    client: str = ""
    alternatives: tuple[OfferedFix, ...] = ()
    prompt_difference: TokenDifference | None = None
    tool_parser: _NotWritten[str | None] = None
    reasoning_parser: _NotWritten[str | None] = None
    plugin: _NotWritten[str] = ""
    template: _NotWritten[str] = ""

    @property
    def each(self) -> tuple[OfferedFix, ...]:
        """The fix itself, and the further ones."""
        return (replace(self, alternatives=()), *self.alternatives)

    def to_json(self) -> JSONObject:
        """Return it as the run document has it."""
        return dump_document(self)


def fixes_of(trace: Trace) -> dict[str, OfferedFix]:
    """Return the fix of every finding that has one, by the finding's code."""
    by_code = {finding.code: finding for finding in trace.findings}
    own = {code: fix for code, finding in by_code.items() if (fix := _fix_of(trace, finding)) is not None}
    return {code: fix for code in by_code if (fix := _inherited(code, by_code, own)) is not None}


def _inherited(code: str, by_code: Mapping[str, Finding], own: Mapping[str, OfferedFix]) -> OfferedFix | None:
    """Return the fix of the finding from which others follow, before one's own."""
    seen: list[str] = []
    now: str | None = code
    while now is not None and now in by_code and now not in seen:
        seen.append(now)
        now = by_code[now].follows
    return next((own[one] for one in reversed(seen) if one in own), None)


def _fix_of(trace: Trace, finding: Finding) -> OfferedFix | None:
    fixes = [*_offered(trace, finding)]
    return replace(fixes[0], alternatives=tuple(fixes[1:])) if fixes else None


def _offered(trace: Trace, finding: Finding) -> Iterator[OfferedFix]:
    """Yield what can be carried out of what the finding's rule declares."""
    rule = RULES.get(finding.code)
    for fix in () if rule is None else rule.fixes:
        change = _change_of(fix, trace, finding)
        offered = None if change is None else _as_offered(trace, change)
        if offered is not None:
            yield offered


def _change_of(fix: Fix, trace: Trace, finding: Finding) -> Change | None:
    try:
        return fix.change(trace, finding)
    except Exception:  # noqa: BLE001  # as with rules: one that fails, of whomever, must not hide the others
        return None


def _as_offered(trace: Trace, change: Change) -> OfferedFix | None:
    """Return a change as it is offered; `None` where it changes nothing or cannot be carried out."""
    if change.kind == "request":
        body = trace.request.body
        patch = tuple(patch_between(body, body if change.body is None else change.body))
        return OfferedFix(change.name, "request", patch) if patch else None
    if change.kind == "template":
        prompt = prompt_of(trace)
        before = "" if prompt is None else prompt.template or ""
        flag = engine_of(trace.server_kind).template_flag
        diff = _template_diff(before, change.template)
        return OfferedFix(change.name, "template", template=change.template, diff=diff, command=f"{flag} fixed.jinja")
    if change.kind == "client":
        return OfferedFix(change.name, "client", client=change.source)
    if change.kind == "plugin":
        family = change.family
        known = OfferedFix(change.name, "flags", plugin=family, command=plugin_command(family))
        return None if family in UNREAD else known
    return OfferedFix(
        change.name,
        "flags",
        command=change.flags,
        tool_parser=change.tool_parser,
        reasoning_parser=change.reasoning_parser,
    )


def plugin_command(family: str) -> str:
    """Return how to write a parser plugin and start a server with it."""
    flags = f"--enable-auto-tool-choice --tool-parser-plugin parser.py --tool-call-parser {PARSER_NAME}"
    return f"prompt-debugger plugin --family {family} --output parser.py; then start vLLM with {flags}"


def _template_diff(before: str, after: str) -> str:
    lines = difflib.unified_diff(
        before.splitlines(keepends=True), after.splitlines(keepends=True), "chat_template.jinja", "fixed.jinja", n=2
    )
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)
