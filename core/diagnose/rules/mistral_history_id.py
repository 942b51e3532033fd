"""A tool call id of the history is not one that Mistral's templates accept.

What it finds:
    In a request to a model whose name says it is Mistral's, ids of calls that do
    not have nine letters or digits.

Why it matters:
    Mistral's own templates and API refuse the whole request, at the second turn of an
    agent: the first one has no ids. Ids of OpenAI (`call_…`) and UUIDs, which some servers
    give, are too long. Servers that shorten the ids, as vLLM does with Mistral's own
    tokenizer, and other vendors' templates accept them.

Bad:
    `{"id": "a4f1e2c0-5d5e-4f0f-8a57-0a8c2b6f1d11", …}`

Good:
    `{"id": "a4f1e2c05", …}`, and the same id in the tool message that answers it.

Source:
    tracker: ml-explore/mlx-lm#1375.
"""

from __future__ import annotations

from collections.abc import Iterator

from prompt_debugger.core.base.json_values import as_text
from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import Certainty, Severity, Stage, Trace
from prompt_debugger.core.diagnose.fields import body_of, history_calls
from prompt_debugger.core.diagnose.refusals.fields import NINE
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.trace_queries import in_request
from prompt_debugger.core.formats import FORMATS

_MAX_SHOWN = 3


def find(trace: Trace) -> Iterator[Report]:
    """Look at the ids of the history's calls."""
    model = as_text(body_of(trace).get("model")) or ("" if trace.server is None else trace.server.model or "")
    if not any(word in model.lower() for word in FORMATS["mistral"].facts.model_names):
        return
    foreign = [call for call in history_calls(trace.request) if call.id and not NINE.fullmatch(call.id)]
    if not foreign:
        return
    call, more = foreign[0], f" ({len(foreign) - 1} more)" if len(foreign) > 1 else ""
    yield Report(
        title=f"The id `{(call.id or '')[:80]}` of a call in the history does not have nine letters or digits{more}.",
        detail=f"{call.field}.id has {len(call.id or '')} characters. By its name `{model[:120]}` is one of Mistral's: "
        "their templates and their API refuse a request with this id.",
        evidence=tuple(in_request(f"{one.field}.id", one.id) for one in foreign[:_MAX_SHOWN]),
        fix="Give each call of the history an id of nine letters or digits, and its result the same one.",
        certainty=Certainty.INFERRED,
    )


RULE: Rule = TraceRule(
    code="PD130",
    name="mistral-history-id",
    severity=Severity.WARNING,
    stage=Stage.REQUEST,
    find=find,
    threads=("ml-explore/mlx-lm#1375",),
)
