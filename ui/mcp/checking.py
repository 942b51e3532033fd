"""The tool `check`: which parsers of which engine read what a model's template makes it write."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from prompt_debugger.core.api import check_async
from prompt_debugger.core.base.types import JSONObject
from prompt_debugger.core.complete import title_of
from prompt_debugger.core.sandbox import in_thread
from prompt_debugger.core.tools.check import Check, check_to_json, serve_commands
from prompt_debugger.core.tools.check.engine_choice import Asked
from prompt_debugger.ui.mcp.answers import Answer, answer, finding_lines, finding_records
from prompt_debugger.ui.mcp.kept import Kept
from prompt_debugger.ui.mcp.parameters import ToCheck
from prompt_debugger.ui.mcp.tools import Caller, Tools
from prompt_debugger.ui.web.limits import check_length

_MOST_REASONS = 8
_VERDICTS = {
    "works": "works",
    "works-with-limits": "works, with limits",
    "unknown": "cannot be judged without the model's own vocabulary",
    "nothing-works": "no parser reads what the template makes the model write",
}


async def check_model(tools: Tools, caller: Caller, wanted: ToCheck) -> Answer:
    """Say which engine and parsers to serve a model with, and what does not work."""
    own = tools.settings.target
    check_length(wanted.chat_template, tools.limits)
    with _template_file(wanted.chat_template) as template:
        check = await check_async(
            wanted.model or None,
            chat_template=template,
            tool_parser=wanted.tool_parser or None,
            reasoning_parser=wanted.reasoning_parser or None,
            engine=wanted.engine,
            release=wanted.release or None,
            api_key=own.api_key if wanted.model == own.base_url else None,
            on_progress=caller.report,
        )
    if template not in (None, wanted.chat_template):  # the client keeps the text, under this name if it is to serve it
        check = replace(check, model=replace(check.model, template_file=Path(template).name))
    return await in_thread(_answer, tools, check)


def _answer(tools: Tools, check: Check) -> Answer:
    document = check_to_json(check)
    handle = tools.kept.keep(Kept(lambda: document))
    lines = list(_engine_lines(check))
    reasons = check.recommendation.reasons
    lines += reasons[:_MOST_REASONS]
    lines += [f"… and {len(reasons) - _MOST_REASONS} more reasons."] if len(reasons) > _MOST_REASONS else []
    lines += [*finding_lines(check.findings), f'Kept as handle "{handle}": `more` shows every parser and answer.']
    found = finding_records(check.findings)
    fields = {name: document[name] for name in ("model", "release", "recommended")}
    engines: JSONObject = {kind: _engine_record(one) for kind, one in check.asked.items()}
    return answer(lines, {"handle": handle, **fields, "engines": engines, "findings": found})


def _engine_lines(check: Check) -> Iterator[str]:
    """Yield what each engine that was asked makes of the model, the one to take first."""
    commands = serve_commands(check)
    for kind, one in check.asked.items():
        verdict = _VERDICTS[one.recommendation.verdict]
        start = commands.get(kind)
        command = f" Start it with: {start.command}" if start and one.recommendation.name else ""
        yield f"{title_of(kind)} {one.release}: {verdict}.{command}"


def _engine_record(asked: Asked) -> JSONObject:
    chosen = asked.recommendation
    return {
        "release": asked.release,
        "verdict": chosen.verdict,
        "tool_parser": chosen.tool_parser,
        "reasoning_parser": chosen.reasoning_parser,
    }


@contextmanager
def _template_file(given: str) -> Iterator[str | None]:
    """Give the file of a template that is one, or is the text of one."""
    if "\n" not in given and "{{" not in given and "{%" not in given:
        yield given or None
        return
    with tempfile.TemporaryDirectory(prefix="prompt-debugger-mcp-") as folder:
        path = Path(folder) / "chat_template.jinja"
        path.write_text(given, encoding="utf-8")
        yield str(path)
