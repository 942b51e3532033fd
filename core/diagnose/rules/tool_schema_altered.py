"""A tool's parameter schema in the prompt differs from the one in the request.

What it finds:
    The JSON of a tool in the server's prompt, parsed and compared with the
    request: entries of its parameter schema that are missing or have another
    value. Order, spacing and added entries do not count.

Why it matters:
    The server re-serialises tools through its own structures. What those do
    not know (`$defs`, `enum`, nested `required`) the model never sees.

Bad:
    Request `"unit": {"type": "string", "enum": ["c", "f"]}`, prompt `"unit": {"type": "string"}`

Good:
    The schema as it was sent.

Source:
    tracker: ai-dynamo/dynamo#12700, sgl-project/sglang#39616.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from prompt_debugger.core.base.json_values import as_object
from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import JSON, JSONObject, Severity, Span, Stage, Trace
from prompt_debugger.core.diagnose.fields import request_tools
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.trace_queries import TracePart, in_prompt, in_request

_READER = json.JSONDecoder()
_REACH = 400  # characters before a tool's name in which its object may begin


def find(trace: Trace) -> Iterator[Report]:
    """Report each tool whose schema lost something."""
    prompt = trace.prompt
    if prompt is None or prompt.source != "server":
        return
    for tool in request_tools(trace.request):
        if not isinstance(tool.parameters, dict):
            continue
        shown = _shown_tool(prompt.text, tool.name)
        if shown is None:
            continue
        span, function = shown
        lost = list(_lost(tool.parameters, function.get("parameters"), f"{tool.field}.parameters"))
        if lost:
            yield Report(
                title=f"The prompt contains `{tool.name}` without {', '.join(f'`{path}`' for path in lost[:3])}.",
                detail=f"{len(lost)} entries of its parameter schema are missing from the prompt or changed there.",
                evidence=(in_prompt(prompt, span), *(in_request(path) for path in lost[:5])),
                fix="Write the schema without what the server drops (resolve `$ref`, spell out `enum` in the "
                "description), or update the server.",
            )


def _shown_tool(text: str, name: str) -> tuple[Span, JSONObject] | None:
    """Return the first JSON object in a text that describes this tool with its parameters."""
    for match in re.finditer(re.escape(f'"name": {json.dumps(name)}').replace("\\ ", r"\s*"), text):
        for start in range(match.start(), max(-1, match.start() - _REACH), -1):
            if text[start] != "{":
                continue
            try:
                value, stop = _READER.raw_decode(text, start)
            except (ValueError, RecursionError):
                continue
            function = as_object(as_object(value).get("function")) or as_object(value)
            if function.get("name") == name and isinstance(function.get("parameters"), dict):
                return Span(start, stop), function
    return None


def _lost(sent: JSON, shown: JSON, path: str) -> Iterator[str]:
    """Yield the paths of what was sent and is not shown."""
    if sent == shown:
        return
    if isinstance(sent, dict):
        if not isinstance(shown, dict):
            yield path
            return
        for key, value in sent.items():
            if key not in shown:
                yield f"{path}.{key}"
            else:
                yield from _lost(value, shown[key], f"{path}.{key}")
    elif isinstance(sent, list) and isinstance(shown, list) and len(sent) == len(shown):
        for index, (value, other) in enumerate(zip(sent, shown, strict=True)):
            yield from _lost(value, other, f"{path}[{index}]")
    else:
        yield path


RULE: Rule = TraceRule(
    code="PD218",
    name="tool-schema-altered",
    severity=Severity.WARNING,
    stage=Stage.RENDER,
    find=find,
    needs=TracePart.PROMPT,
    threads=("ai-dynamo/dynamo#12700", "sgl-project/sglang#39616"),
)
