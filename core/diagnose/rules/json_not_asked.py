"""The request switches JSON mode on, and no message asks for JSON.

What it finds:
    `response_format` of the type `json_object`, or Ollama's `format: "json"`, without a
    schema, where no message contains the word `json`. Not where something was left out of
    the request.

Why it matters:
    OpenAI refuses it. Elsewhere only a grammar knows that JSON is wanted: the
    model writes an empty object, its thoughts as a key, or whitespace up to the limit.

Bad:
    `{"response_format": {"type": "json_object"}, "messages": [{"role": "user", "content": "Why is the sky blue?"}]}`

Good:
    `… {"role": "user", "content": "Why is the sky blue? Answer as JSON with the field `reason`."}`

Source:
    publisher: OpenAI's and Ollama's documentation of JSON mode.
    tracker: ollama/ollama#7603, ollama/ollama#4428.
"""

from __future__ import annotations

from collections.abc import Iterator

from prompt_debugger.core.base.comparable import REQUEST_GAP
from prompt_debugger.core.base.json_values import as_object
from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import Severity, Stage, Trace
from prompt_debugger.core.diagnose.advice import Step
from prompt_debugger.core.diagnose.fields import texts_inside
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.trace_queries import in_request


def find(trace: Trace) -> Iterator[Report]:
    """Look for the word in the messages of a request in JSON mode."""
    body = trace.request.body
    chosen = as_object(body.get("response_format"))
    if chosen.get("type") != "json_object" or "schema" in chosen or REQUEST_GAP in trace.notes:
        return
    messages = body.get("messages")
    if not messages or any("json" in text.lower() for text in texts_inside(messages)):
        return
    yield Report(
        title="The request switches JSON mode on, and no message contains the word `json`.",
        detail="OpenAI refuses it. Elsewhere only a grammar knows that JSON is wanted, and the model may "
        "write an empty object, its thoughts as a key, or whitespace up to the limit.",
        evidence=(in_request("response_format.type", "json_object"),),
        fix=(
            Step("Ask for JSON in a message, with the names of the fields."),
            Step("Send a schema instead of it: `response_format` of the type `json_schema`, or Ollama's `format`."),
        ),
    )


RULE: Rule = TraceRule(
    code="PD143",
    name="json-not-asked",
    severity=Severity.NOTE,
    stage=Stage.REQUEST,
    find=find,
    threads=("ollama/ollama#7603", "ollama/ollama#4428"),
    asks_request_alone=True,
    explains=("PD307",),
)
