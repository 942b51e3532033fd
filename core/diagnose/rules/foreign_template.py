"""Chat template, tool parser and notation do not belong to the same model.

What it finds:
    A chat template in the server's flags that is named after a notation that its tool
    parser does not read. Calls in a raw output whose notation the parser does not read,
    although the parser is the one of the model: by the model's name, or as the parser of
    another generation of the notation's family that no parser reads. Silent where the calls
    came back, where the parser reads the notation that was written, and where the template is
    the one of the model and of what it wrote: then the parser alone is wrong (PD405).

Why it matters:
    The template teaches the notation: the model follows it, and the parser waits for a
    different one. A different parser cannot help if the template is wrong.

Bad:
    `vllm serve MiniMaxAI/MiniMax-M2 --chat-template tool_chat_template_minimax_m1.jinja
    --tool-call-parser minimax_m2`

Good:
    `vllm serve MiniMaxAI/MiniMax-M2 --tool-call-parser minimax_m2`

Source:
    tracker: MiniMax-AI/MiniMax-M2#14.
"""

from __future__ import annotations

from collections.abc import Iterator

from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import (
    CallStatus,
    Certainty,
    FindingEvidence,
    Server,
    Severity,
    Stage,
    ToolCallAttempt,
    Trace,
)
from prompt_debugger.core.diagnose.advice import Step
from prompt_debugger.core.diagnose.fields import returned_calls
from prompt_debugger.core.diagnose.generations import families_named, families_read, siblings_of
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.trace_queries import TracePart, in_raw
from prompt_debugger.core.formats import TABLES

_MIN_SCORE = 0.5


def find(trace: Trace) -> Iterator[Report]:
    """Compare what the flags name with what was written."""
    server = trace.server
    read = () if server is None else families_read(server)
    if server is None or not read or returned_calls(trace):
        return
    calls, written = _written(trace)
    places = tuple(in_raw(trace, call.char_span) for call in calls)
    if written in read:
        return
    named = families_named(server.chat_template)
    model = next((family for name in (server.model, server.model_root) for family in families_named(name or "")), "")
    if model and model in named and written in named:
        return  # the template is the model's own, and it is the parser that is not: PD405
    if named and not set(named) & set(read):
        yield _report_template(server, _best(named, server.chat_template, written), places, written, model)
    elif written and not named and _is_models_own(server, read, written, model):
        yield _report_notation(server, places, written)


def _written(trace: Trace) -> tuple[tuple[ToolCallAttempt, ...], str]:
    """Return the whole calls of the raw output and their notation; "" if that is not certain."""
    if trace.parse is None:
        return (), ""
    name = trace.parse.parsed.format
    score = trace.parse.format_scores.get(name)
    calls = tuple(call for call in trace.parse.parsed.calls if call.status is CallStatus.COMPLETE)
    return (calls, name) if calls and (score is None or score.score >= _MIN_SCORE) else ((), "")


def _best(named: tuple[str, ...], template: str, written: str) -> str:
    """Return the family to name of several that a template's name may mean."""
    own = [name for name in named if name.replace("_", "") in "".join(filter(str.isalnum, template.lower()))]
    return written if written in named else max(own or named, key=len)


def _is_models_own(server: Server, read: tuple[str, ...], written: str, model: str) -> bool:
    """Return whether the parser is the model's own, so that it is the notation that does not belong there."""
    if model:
        return model in read
    return not TABLES.tool_parsers.get(written) and not set(siblings_of(written)).isdisjoint(read)


def _report_template(
    server: Server, named: str, places: tuple[FindingEvidence, ...], written: str, model: str
) -> Report:
    of_model = f" The model `{server.model}` belongs to `{model}`, judging by its name." if model else ""
    parser = server.tool_parser
    if written == named:
        title = f"The model writes `{written}`, as in its chat template, and the parser `{parser}` does not read that."
        seen = f"The calls of the raw output are in the notation `{written}`."
    else:
        title = f"The chat template is that of `{named}`, and the tool parser `{parser}` reads another notation."
        seen = "The template teaches the model its notation, so no call would be read."
    own = Step("Start the server without `--chat-template`, so that it serves the model's own template.")
    other = Step(f"Start it with the tool parser that reads `{named}`.")
    return Report(
        title=title,
        detail=(
            f"The server is started with the template `{server.chat_template}` instead of the model's own and "
            f"with the parser `{parser}`. {seen}{of_model} What the template contains is inferred from its name."
        ),
        evidence=(*places, *_flag(server)),
        fix=(other, own) if model == named else (own, other) if TABLES.tool_parsers.get(named) else (own,),
        certainty=Certainty.INFERRED,
    )


def _report_notation(server: Server, places: tuple[FindingEvidence, ...], written: str) -> Report:
    why = (
        f"which is made for `{server.model}`"
        if families_named(server.model or "")
        else "which is made for another generation of that family"
    )
    return Report(
        title=f"The model writes the notation `{written}`, and the tool parser `{server.tool_parser}` reads another.",
        detail=f"The parser is `{server.tool_parser}`, {why}, and the calls of the raw output are in `{written}`. A "
        "model writes the notation that its prompt teaches: the chat template is probably another model's.",
        evidence=places,
        fix=(
            Step("Serve the model's own chat template: leave out `--chat-template`, or check the model's files."),
            Step("Report the raw output to the authors of the model: it departs from its own notation."),
        ),
        certainty=Certainty.INFERRED,
    )


def _flag(server: Server) -> tuple[FindingEvidence, ...]:
    return (FindingEvidence("server", field="chat_template", quote=server.chat_template),)


RULE: Rule = TraceRule(
    code="PD232",
    name="foreign-template",
    severity=Severity.ERROR,
    stage=Stage.RENDER,
    find=find,
    needs=TracePart.SERVER,
    threads=("MiniMax-AI/MiniMax-M2#14",),
    explains=("PD401", "PD405", "PD406", "PD412", "PD426"),
)
