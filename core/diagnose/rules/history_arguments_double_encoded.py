r"""Tool-call arguments of the history are in the prompt as a quoted string.

What it finds:
    Arguments of an earlier tool call that the server's prompt contains only as a quoted
    JSON string, with every quote in them escaped.

Why it matters:
    The model was trained on an object there. It reads a call in a shape it has
    never seen, and tends to write its next call in that shape.

Bad:
    `{"name": "search", "arguments": "{\"query\": \"x\"}"}` in the prompt

Good:
    `{"name": "search", "arguments": {"query": "x"}}`

Source:
    tracker: vortico/flama#258, vllm-project/vllm#54964.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from prompt_debugger.core.base.json_values import as_list, decode_json
from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import JSONObject, Severity, Span, Stage, Trace
from prompt_debugger.core.diagnose.fields import history_calls, texts_inside
from prompt_debugger.core.diagnose.fixes import RequestFix, each_message
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.trace_queries import TracePart, in_prompt, in_request


def find(trace: Trace) -> Iterator[Report]:
    """Report the first such call; a local render alone is not evidence, servers decode arguments before it."""
    prompt = trace.prompt
    if prompt is None or prompt.source != "server":
        return
    for call in history_calls(trace.request):
        arguments = call.arguments
        decoded = decode_json(arguments) if isinstance(arguments, str) else None
        if not isinstance(arguments, str) or not isinstance(decoded, dict) or not decoded:
            continue
        forms = dict.fromkeys(json.dumps(arguments, ensure_ascii=ascii_only) for ascii_only in (False, True))
        quoted = next((form for form in forms if form in prompt.text), None)
        if quoted is None or any(quoted in text for text in texts_inside(trace.request.body)):
            continue
        start = prompt.text.index(quoted)
        yield Report(
            title=f"`{call.field}.function.arguments` is in the prompt as a quoted string.",
            detail=f"The prompt contains {quoted[:80]} with escaped quotes where the template expects an object.",
            evidence=(
                in_prompt(prompt, Span(start, start + len(quoted)), f"{call.field}.function.arguments"),
                in_request(f"{call.field}.function.arguments", arguments),
            ),
            fix=(
                "Decode the arguments before the template sees them (vLLM and llama.cpp do), or let the "
                "template print strings unchanged: `{{ arguments if arguments is string else arguments | "
                "tojson }}`."
            ),
        )
        return


def _decode_arguments(message: JSONObject) -> None:
    for call in as_list(message.get("tool_calls")):
        function = call.get("function") if isinstance(call, dict) else None
        text = function.get("arguments") if isinstance(function, dict) else None
        if isinstance(function, dict) and isinstance(text, str):
            function["arguments"] = _decoded_once(text)


def _decoded_once(text: str) -> str:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return value if isinstance(value, str) else text


RULE: Rule = TraceRule(
    code="PD212",
    name="history-arguments-double-encoded",
    severity=Severity.WARNING,
    stage=Stage.RENDER,
    find=find,
    needs=TracePart.PROMPT,
    threads=("vortico/flama#258", "vllm-project/vllm#54964"),
    fixes=(RequestFix("arguments of the history decoded once", each_message(_decode_arguments)),),
)
