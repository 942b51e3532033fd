"""The history contains tool call ids that are not Kimi K2's.

What it finds:
    For a model that writes Kimi K2's format, a tool call id in the request's
    messages that is not `functions.NAME:N`. That the model is one of the
    family is taken from the prompt, from the raw output or from the server's
    parser; by the name of the model alone it is a note.

Why it matters:
    The template prints the ids into the prompt and the model imitates them:
    it writes its next header in the foreign form, and the server's parser may
    drop that call. One foreign id from another provider's session is enough.

Bad:
    `"tool_calls": [{"id": "search", …}]` or `{"id": "call_a1b2", …}`

Good:
    `"tool_calls": [{"id": "functions.search:0", …}]`, and the same id in the
    tool message that answers it.

Source:
    publisher: Kimi K2 report on the vLLM blog, 2025-10-28; README of
    MoonshotAI/K2-Vendor-Verifier.
    tracker: vllm-project/vllm#27565, sgl-project/sglang#25362, exo-explore/exo#2282.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from prompt_debugger.core.base.json_values import as_list
from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.text import first_of
from prompt_debugger.core.base.types import JSON, Certainty, FindingEvidence, JSONObject, Severity, Span, Stage, Trace
from prompt_debugger.core.diagnose.fields import history_calls
from prompt_debugger.core.diagnose.fixes import RequestFix
from prompt_debugger.core.diagnose.own_names import is_made_for
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.trace_queries import in_prompt, in_request, prompt_of
from prompt_debugger.core.formats import FORMATS

_KIMI = FORMATS["kimi_k2"]
# Other families have `<|tool_call_end|>`, too.
_KIMI_ONLY = tuple(
    marker
    for marker in _KIMI.call_markers
    if not any(marker in one.call_markers for one in FORMATS.values() if one is not _KIMI)
)
_NAME = re.compile(r"(?i)\bkimi[-_ ]?k2\b")
_OF_HOSTED = (
    " The family is judged by the model's name. Moonshot's own API renames ids before the model sees them; other "
    "servers print them as they are."
)


def find(trace: Trace) -> Iterator[Report]:
    """Report the foreign ids of the history in one report."""
    calls = [call for call in history_calls(trace.request) if call.id]
    if not calls:
        return
    is_shown = _is_kimi(trace)
    if not is_shown and _NAME.search(str(trace.request.body.get("model"))) is None:
        return
    problem_of = _KIMI.facts.id_problem
    assert problem_of is not None
    foreign = [(call, problem_of(call.id or "")) for call in calls]
    bad = [(call, problem) for call, problem in foreign if problem is not None]
    if not bad:
        return
    ids = [*dict.fromkeys(f"`{call.id}`" for call, _ in bad)]
    evidence = [in_request(f"{call.field}.id", call.id) for call, _ in bad]
    call, problem = bad[0]
    yield Report(
        title=f"The history teaches tool call ids that Kimi K2 does not use: {first_of(ids, 4)}.",
        detail=f"{call.field}.id is `{call.id}`: {problem}. The model imitates what the history shows."
        + ("" if is_shown else _OF_HOSTED),
        evidence=(*evidence, *_place_in_prompt(trace, call.id or "")),
        fix=(
            f"Write `functions.{call.name or 'NAME'}:N` in the call and in the tool message that contains its "
            "result, with N counting all calls of the conversation from 0."
        ),
        severity=None if is_shown else Severity.NOTE,
        certainty=Certainty.OBSERVED if is_shown else Certainty.INFERRED,
    )


def _is_kimi(trace: Trace) -> bool:
    if is_made_for(trace.server, _KIMI.name):
        return True
    if trace.parse is not None and trace.parse.parsed.format == _KIMI.name and trace.parse.parsed.calls:
        return True
    prompt = prompt_of(trace)
    return prompt is not None and any(marker in prompt.text for marker in _KIMI_ONLY)


def _place_in_prompt(trace: Trace, call_id: str) -> tuple[FindingEvidence, ...]:
    prompt = prompt_of(trace)
    start = -1 if prompt is None else prompt.text.find(f"<|tool_call_begin|>{call_id}")
    if prompt is None or start < 0:
        return ()
    start += len("<|tool_call_begin|>")
    return (in_prompt(prompt, Span(start, start + len(call_id))),)


def normalise_ids(body: JSONObject) -> JSONObject:
    """Return a body with call ids as Kimi K2 writes them; results keep pointing at their calls."""
    new_ids: dict[str, str] = {}
    count = 0
    made: list[JSON] = []
    for message in as_list(body.get("messages")):
        if not isinstance(message, dict):
            made.append(message)
            continue
        calls = message.get("tool_calls")
        if isinstance(calls, list):
            renamed: list[JSON] = []
            for call in calls:
                renamed.append(_renamed(call, count, new_ids))
                count += 1
            message = {**message, "tool_calls": renamed}
        pointer = message.get("tool_call_id")
        if isinstance(pointer, str) and pointer in new_ids:
            message = {**message, "tool_call_id": new_ids[pointer]}
        made.append(message)
    return {**body, "messages": made} if "messages" in body else body


def _renamed(call: JSON, index: int, new_ids: dict[str, str]) -> JSON:
    function = call.get("function") if isinstance(call, dict) else None
    name = function.get("name") if isinstance(function, dict) else None
    if not isinstance(call, dict) or not isinstance(name, str):
        return call
    new = f"functions.{name}:{index}"
    if isinstance(old := call.get("id"), str):
        new_ids[old] = new
    return {**call, "id": new}


RULE: Rule = TraceRule(
    code="PD104",
    name="off-pattern-history-id",
    severity=Severity.WARNING,
    stage=Stage.REQUEST,
    find=find,
    threads=("vllm-project/vllm#27565", "sgl-project/sglang#25362", "exo-explore/exo#2282"),
    explains=("PD404",),
    fixes=(RequestFix("history ids as Kimi K2 writes them", lambda trace, _: normalise_ids(trace.request.body)),),
)
