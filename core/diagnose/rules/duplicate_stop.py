"""The request names a stop twice, or an empty one.

What it finds:
    Equal entries in `stop` or in `stop_token_ids`, and empty stop strings.

Why it matters:
    A stop that is listed twice has no further effect; it usually shows that two
    layers of a client each add theirs. An empty one is refused by some servers
    and ends the answer at once on others.

Bad:
    `"stop": ["</s>", "</s>", ""]`

Good:
    `"stop": ["</s>"]`

Source:
    derived: two entries that are equal cannot mean two things.
"""

from __future__ import annotations

from collections.abc import Iterator

from prompt_debugger.core.base.json_values import as_list
from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import JSON, Finding, JSONObject, Severity, Stage, Trace
from prompt_debugger.core.diagnose.fixes import RequestFix
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.trace_queries import in_request


def find(trace: Trace) -> Iterator[Report]:
    """Report repeated and empty stops of either list."""
    for field in ("stop", "stop_token_ids"):
        values: JSON = trace.request.body.get(field)
        entries = [values] if isinstance(values, str) else as_list(values)
        repeated = [entry for index, entry in enumerate(entries) if entry in entries[:index]]
        if repeated or "" in entries:
            problem = f"{repeated[0]!r} more than once" if repeated else "an empty string"
            yield Report(
                title=f"`{field}` names {problem}.",
                detail=f"`{field}` is {entries!r}.",
                evidence=(in_request(field, repr(entries)),),
                fix=f"Keep each entry of `{field}` once, and no empty one.",
            )


def _stops_once(trace: Trace, _: Finding) -> JSONObject:
    stops = as_list(trace.request.body.get("stop"))
    return {**trace.request.body, "stop": [*dict.fromkeys(one for one in stops if isinstance(one, str) and one)]}


RULE: Rule = TraceRule(
    code="PD107",
    name="duplicate-stop",
    severity=Severity.NOTE,
    stage=Stage.REQUEST,
    find=find,
    asks_request_alone=True,
    fixes=(RequestFix("each stop string once", _stops_once),),
)
