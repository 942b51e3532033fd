"""The tools of the request never reach the prompt.

What it finds:
    Names of the request's tools that do not occur in the prompt. Silent with
    `tool_choice: "none"`, where a server may leave them out. Of a prompt that was pasted
    without its request: that it has no word of tools, where the text around it says that
    tools were passed; a warning.

Why it matters:
    The model cannot call what it has not read about. Servers whose template has
    no place for tools accept them with status 200 and say nothing.

Bad:
    `"tools": [{… "name": "get_weather" …}]`, and no `get_weather` in the prompt.

Good:
    A declaration of every tool in the prompt.

Source:
    tracker: ggml-org/llama.cpp#27129, ggml-org/llama.cpp#10920,
    huggingface/text-generation-inference#2375.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import Certainty, Prompt, Severity, Span, Stage, Trace
from prompt_debugger.core.diagnose.calls.written_calls import TOOLS_SAID
from prompt_debugger.core.diagnose.fields import body_of, request_tools
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.trace_queries import TracePart, in_prompt, in_request, prompt_of

_OF_TOOLS = re.compile(r"(?i)tool|function|\bparameters\b|\bapi\b|\bschema\b")
_FIX = (
    "Use a chat template that prints `tools` (the model's tool template; `--jinja` for llama-server), "
    "or describe the tools in the system message."
)


def find(trace: Trace) -> Iterator[Report]:
    """Report the tools whose names the prompt lacks."""
    prompt = prompt_of(trace)
    tools = request_tools(trace.request)
    if prompt is None or body_of(trace).get("tool_choice") == "none":
        return
    if TOOLS_SAID in trace.notes and not tools and not trace.request.body and _OF_TOOLS.search(prompt.text) is None:
        yield _report_said(prompt)
    if not tools:
        return
    absent = [tool for tool in tools if not _is_named(tool.name, prompt)]
    if not absent:
        return
    names = ", ".join(f"`{tool.name}`" for tool in absent[:6])
    all_gone = len(absent) == len(tools)
    ignoring = prompt.template is not None and re.search(r"\btools\b", prompt.template) is None
    yield Report(
        title="The prompt contains none of the tools." if all_gone else f"The prompt lacks the tools {names}.",
        detail=f"{len(tools)} tools were sent, {len(absent)} are missing from the prompt: {names}."
        + (" The template does not use `tools` at all." if ignoring else ""),
        evidence=tuple(in_request(f"{tool.field}.name", tool.name) for tool in absent),
        fix=_FIX,
    )


def _report_said(prompt: Prompt) -> Report:
    """Report a prompt without a word of the tools that someone says were passed."""
    return Report(
        title="The prompt contains no tools, although the surrounding text says that tools were passed.",
        detail=f"Its {len(prompt.text):,} characters mention neither a tool nor a function. The model cannot call what "
        "it has not read about.",
        evidence=(in_prompt(prompt, Span(0, len(prompt.text))),),
        fix=_FIX,
        severity=Severity.WARNING,
        certainty=Certainty.INFERRED,
    )


def _is_named(name: str, prompt: Prompt) -> bool:
    return name in prompt.text or json.dumps(name)[1:-1] in prompt.text


RULE: Rule = TraceRule(
    code="PD207",
    name="tools-absent",
    severity=Severity.ERROR,
    stage=Stage.RENDER,
    find=find,
    needs=TracePart.PROMPT,
    threads=(
        "ggml-org/llama.cpp#27129",
        "ggml-org/llama.cpp#10920",
        "huggingface/text-generation-inference#2375",
    ),
    explains=("PD210",),
)
