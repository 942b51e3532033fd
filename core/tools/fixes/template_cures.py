"""Templates that cure a finding: the one expression at fault, found by where its output stands in the prompt."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Mapping

from prompt_debugger.core.base.types import Finding, Prompt, PromptSpan, Trace
from prompt_debugger.core.diagnose.trace_queries import prompt_of

_EXPRESSION = re.compile(r"\{\{(?P<open>[-+]?)\s*(?P<body>.*?)\s*(?P<close>[-+]?)\}\}")
_BOS = re.compile(r"\{\{[-+]?\s*bos_token\s*[-+]?\}\}")


def cured_template(trace: Trace, finding: Finding) -> str | None:
    """Return the template with the fault mended; `None` where no program can say how.

    Args:
        trace: The run.
        finding: What it found.
    """
    prompt = prompt_of(trace)
    if prompt is None or prompt.template is None:
        return None
    make = _MAKERS.get(finding.code)
    changed = None if make is None else make(prompt, finding)
    return None if changed == prompt.template else changed


def template_diff(before: str, after: str) -> str:
    """Return a unified diff of two templates."""
    lines = difflib.unified_diff(
        before.splitlines(keepends=True), after.splitlines(keepends=True), "chat_template.jinja", "mended.jinja", n=2
    )
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


def _content_by_parts(prompt: Prompt, finding: Finding) -> str | None:
    def whole(body: str) -> str:
        return f"{body} if {body} is string else {body} | map(attribute='text') | join"

    return _rewritten(prompt, finding, whole, lambda body: "content" in body)


def _nothing_for_null(prompt: Prompt, finding: Finding) -> str | None:
    return _rewritten(prompt, finding, lambda body: f"({body}) or ''", lambda body: "content" in body)


def _without_bos(prompt: Prompt, _: Finding) -> str | None:
    return None if prompt.template is None else _BOS.sub("", prompt.template, count=1)


def _rewritten(
    prompt: Prompt, finding: Finding, change: Callable[[str], str], fits: Callable[[str], bool]
) -> str | None:
    """Return the template with the expressions changed that wrote what the finding shows.

    Only an expression by itself is changed, one without filters and operators: of any other it is not known what
    a change means.
    """
    lines = (prompt.template or "").splitlines(keepends=True)
    changed = False
    for line_number, column in sorted({_place(span) for span in _spans_of(prompt, finding)}, reverse=True):
        if not 0 < line_number <= len(lines):
            continue
        line = lines[line_number - 1]
        found = next((one for one in _EXPRESSION.finditer(line) if one.start() < column <= one.end()), None)
        if found is None or not _is_plain(found["body"]) or not fits(found["body"]):
            continue
        made = f"{{{{{found['open']} {change(found['body'])} {found['close']}}}}}"
        lines[line_number - 1] = line[: found.start()] + made + line[found.end() :]
        changed = True
    return "".join(lines) if changed else None


def _is_plain(body: str) -> bool:
    return re.fullmatch(r"[\w.\[\]'\"]+", body) is not None


def _place(span: PromptSpan) -> tuple[int, int]:
    return span.template_line or 0, span.template_column or 0


def _spans_of(prompt: Prompt, finding: Finding) -> list[PromptSpan]:
    wanted = [one.char_span for one in finding.evidence if one.where == "prompt" and one.char_span is not None]
    return [
        span
        for span in prompt.spans
        if any(one.start < span.char_span.stop and span.char_span.start < one.stop for one in wanted)
    ]


_MAKERS: Mapping[str, Callable[[Prompt, Finding], str | None]] = {
    "PD201": _without_bos,
    "PD205": _content_by_parts,
    "PD213": _nothing_for_null,
}
