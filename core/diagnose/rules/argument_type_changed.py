r"""The parser gave an argument a different type than the tool's schema declares.

What it finds:
    A returned argument that spells the same value as the written one in another JSON type:
    `"10"` for the integer 10, an object for a string that contains JSON, the text `None` for
    null. The written type is what the format says; where the format writes plain text, the
    tool's schema decides, with `$ref` and unions resolved.

Why it matters:
    Tools that check their input refuse the call; tools that do not compare `"10"` with 9
    and are silently wrong.

Bad:
    `<parameter=days>\n3\n</parameter>` for an integer, returned `{"days": "3"}`

Good:
    `{"days": 3}`

Source:
    tracker: antirez/ds4#569, vllm-project/vllm#47906, vllm-project/vllm#46924, jundot/omlx#2646.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from prompt_debugger.core.base.json_values import decode_json
from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import JSON, Severity, Stage, Trace
from prompt_debugger.core.diagnose.calls.changed_values import altered_arguments
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.trace_queries import TracePart, in_message, in_raw, quote
from prompt_debugger.core.diagnose.words import kind_of_value

_EMPTY = ("", "null", "none")


def find(trace: Trace) -> Iterator[Report]:
    """Report, per call, the values that changed their type."""
    for call in altered_arguments(trace):
        changed = [(path, a, b) for path, a, b in call.changes() if _is_retyped(a, b)]
        if not changed:
            continue
        path, written, returned = changed[0]
        others = f" So did {len(changed) - 1} more." if len(changed) > 1 else ""
        yield Report(
            title=(
                f"`{path}` of the call to `{call.written.name}` came back as {kind_of_value(returned)}; the model "
                f"wrote {kind_of_value(written)}."
            ),
            detail=f"Written {quote(_spell(written))!r}, returned {quote(_spell(returned))!r}.{others}",
            evidence=(
                in_raw(trace, call.written.arguments_span or call.written.char_span),
                in_message(f"{call.returned.field}.function.arguments", str(call.returned.arguments)),
            ),
            fix=(
                "Convert by the schema in the client: the parser ignored the schema, or did not resolve its "
                "`$ref` or union."
            ),
            certainty=call.certainty,
        )


def _is_retyped(written: JSON, returned: JSON) -> bool:
    if kind_of_value(written) == kind_of_value(returned):
        return False
    if written is None or returned is None:
        other = returned if written is None else written
        return isinstance(other, str) and other.strip().lower() in _EMPTY
    return _plain(written) == _plain(returned)


def _plain(value: JSON) -> str:
    """Return a value as plain text, so that `"10"` and 10 are the same."""
    if isinstance(value, str):
        decoded = decode_json(value)
        if decoded is None:
            return value.strip().lower()
        value = decoded
    return json.dumps(value, sort_keys=True).lower()


def _spell(value: JSON) -> str:
    return json.dumps(value, ensure_ascii=False)


RULE: Rule = TraceRule(
    code="PD422",
    name="argument-type-changed",
    severity=Severity.ERROR,
    stage=Stage.PARSE,
    find=find,
    needs=TracePart.COMPARISON,
    threads=("antirez/ds4#569", "vllm-project/vllm#47906", "vllm-project/vllm#46924", "jundot/omlx#2646"),
    explains=("PD402", "PD502"),
)
