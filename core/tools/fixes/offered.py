"""The fixes that a run's findings have: collected from their rules, as changes that can be applied and tried.

A fix is offered only where a program can carry it out. A finding that follows from another
has that one's fix.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from prompt_debugger.core.base.types import Finding, JSONObject, Trace
from prompt_debugger.core.complete import engine_of
from prompt_debugger.core.diagnose import RULES
from prompt_debugger.core.diagnose.fixes import Change, Fix
from prompt_debugger.core.diagnose.trace_queries import prompt_of
from prompt_debugger.core.tools.experiments.difference import TokenDifference
from prompt_debugger.core.tools.experiments.json import difference_to_json
from prompt_debugger.core.tools.fixes.documents import FixDocument
from prompt_debugger.core.tools.fixes.patch import patch_between
from prompt_debugger.core.tools.plugin.write import PARSER_NAME

UNREAD = frozenset({"generic", "harmony"})  # formats that the plugin does not read in vLLM


@dataclass(frozen=True, slots=True)
class OfferedFix:
    """What to change, and whether that was tried.

    Attributes:
        name: What it does, in few words.
        kind: What it changes; a parser plugin is a matter of flags.
        patch: Operations on the request.
        command: Server flags to start with.
        tool_parser: The tool parser that those flags name, where that is all they do.
        reasoning_parser: The reasoning parser, likewise.
        plugin: Family of the parser plugin with which the server is started; "" for none.
        template: The changed chat template, for a fix of that kind.
        diff: What is changed in the template, as a unified diff.
        client: Source of a function that corrects the message, for a fix on the client's side.
        alternatives: Further fixes of the same finding.
        tried: Whether the changed run was made.
        worked: Whether the finding was gone in it, and no other error had come; `None` if not tried.
        prompt_difference: What the change did to the prompt; `None` if not tried, or nothing.
    """

    name: str
    kind: Literal["request", "template", "flags", "client"]
    patch: tuple[JSONObject, ...] = ()
    command: str = ""
    tool_parser: str | None = None
    reasoning_parser: str | None = None
    plugin: str = ""
    template: str = ""
    diff: str = ""
    client: str = ""
    alternatives: tuple[OfferedFix, ...] = ()
    tried: bool = False
    worked: bool | None = None
    prompt_difference: TokenDifference | None = None

    @property
    def each(self) -> tuple[OfferedFix, ...]:
        """The fix itself, and the further ones."""
        return (replace(self, alternatives=()), *self.alternatives)

    def to_json(self) -> JSONObject:
        """Return it as the run document has it."""
        return self.to_document().model_dump(mode="json")

    def to_document(self) -> FixDocument:
        """Return it as a document."""
        return FixDocument(
            name=self.name,
            kind=self.kind,
            patch=[dict(operation) for operation in self.patch],
            command=self.command,
            diff=self.diff,
            client=self.client,
            tried=self.tried,
            worked=self.worked,
            alternatives=[one.to_document() for one in self.alternatives],
            prompt_difference=None if self.prompt_difference is None else difference_to_json(self.prompt_difference),
        )


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
        flag = engine_of("" if trace.server is None else trace.server.kind).template_flag
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
