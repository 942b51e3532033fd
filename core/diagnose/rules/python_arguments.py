r"""The arguments of a call are printed as a Python dict.

What it finds:
    Arguments of the answer that are Python and not JSON: single quotes around keys, `True`,
    `False` or `None`; where their end is missing, that is said as well. Silent if the raw
    output shows that the model wrote them this way.

Why it matters:
    `json.loads` refuses them at the first quote, on every call: the server
    applied `str` to the decoded arguments. Nothing was cut, so a higher token
    limit changes nothing.

Bad:
    `"arguments": "{'path': 'a.txt', 'all': True}"`

Good:
    `"arguments": "{\"path\": \"a.txt\", \"all\": true}"`

Source:
    tracker: cubist38/mlx-openai-server#124.
"""

from __future__ import annotations

from collections.abc import Iterator

from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import Severity, Stage, Trace
from prompt_debugger.core.diagnose.calls.broken_arguments import Break, BrokenArguments, broken_calls
from prompt_debugger.core.diagnose.fields import CallField
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.trace_queries import TracePart, in_message


def find(trace: Trace) -> Iterator[Report]:
    """Report returned arguments in Python's notation."""
    for call, text, fault in broken_calls(trace, Break.PYTHON):
        field = f"{call.field}.function.arguments"
        if ", and they end" in fault.words:
            yield _report_cut(call, text, fault)
            continue
        yield Report(
            title=f"The arguments of the call to `{call.name}` are a Python repr, not JSON.",
            detail=f"`{field}` is {text[:120]!r}: {fault.words}.",
            evidence=(in_message(field, text, fault.span),),
            fix=(
                "Have the server encode the arguments with `json.dumps`: `str` of a dict writes this. Until "
                "then, read them with `ast.literal_eval` in the client. Nothing was cut, so a higher token "
                "limit does not help."
            ),
        )


def _report_cut(call: CallField, text: str, fault: BrokenArguments) -> Report:
    """Report arguments that are Python and stop before their end: both have to be mended."""
    field = f"{call.field}.function.arguments"
    return Report(
        title=f"The arguments of the call to `{call.name}` are a Python repr, and they are cut.",
        detail=f"`{field}` is {text[:120]!r}: {fault.words}. Two faults: something wrote `str` of a dict instead of "
        "JSON, and the end is missing.",
        evidence=(in_message(field, text, fault.span),),
        fix="Do not execute this call. Write arguments with `json.dumps` instead of `str`, and find what ends them: "
        "raise the limit of output tokens where finish_reason is `length`; else a program that copies or shortens "
        "the text.",
    )


RULE: Rule = TraceRule(
    code="PD450",
    name="python-arguments",
    severity=Severity.ERROR,
    stage=Stage.PARSE,
    find=find,
    stands_in_part=True,
    needs=TracePart.ANSWER,
    threads=("cubist38/mlx-openai-server#124",),
    explains=("PD402", "PD445", "PD502"),
)
