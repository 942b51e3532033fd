"""The text reads like output whose control tokens were removed before it was split.

What it finds:
    In content, or in a raw output that may lack control tokens: the channel
    names of harmony run together (`analysis…assistantfinal…`), a first line
    `thought` or `thinking` that is left of a reasoning header; and the markers
    `[TOOL_REQUEST]` of LM Studio, which are plain text.

Why it matters:
    Reasoning is shown as the answer, or a call as prose. The model wrote its
    structure; the server removed the tokens and then found nothing to split at.

Bad:
    `"content": "analysisTwo and two.assistantfinalfour"`

Good:
    `"reasoning": "Two and two.", "content": "four"`

Source:
    tracker: Augustas11/macprovider#743, openvinotoolkit/model_server#4495.
"""

from __future__ import annotations

from collections.abc import Iterator

from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import Certainty, FindingEvidence, Severity, Stage, Trace
from prompt_debugger.core.diagnose.advice import Step
from prompt_debugger.core.diagnose.calls.unparsed_calls import foreign_parser
from prompt_debugger.core.diagnose.fields import content_of
from prompt_debugger.core.diagnose.hosted import hosted_by
from prompt_debugger.core.diagnose.leftovers import Stripped, stripped_structure
from prompt_debugger.core.diagnose.output_limit import output_limit
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.trace_queries import comparison, in_message, in_raw, why_cut
from prompt_debugger.core.formats import FORMATS

_IN_CLIENT = Step("Send `skip_special_tokens: false` and split the text in the client.", {"skip_special_tokens": False})

# Its markers are plain text, which a prompt teaches: no token is lost, and no parser's flag helps.
_OF_LM_STUDIO = Step(
    "LM Studio reads these blocks itself, but this one came as text: update LM Studio and its runtime, and load a "
    "model that it marks as trained for tool use; or read the JSON between the two markers in the client."
)


def find(trace: Trace) -> Iterator[Report]:
    """Look into content, else into a raw output alone."""
    if trace.chat is not None:
        content = content_of(trace.chat.message) or ""
        found = stripped_structure(content)
        is_geminis = found is not None and found.format == "gemma4" and hosted_by(trace) == "Google"
        if found is not None and comparison(trace) is None and not is_geminis:  # which may begin so, without a parser
            yield _report(trace, found, in_message("content", content[slice(*found.span)], found.span), "Content")
    elif trace.raw is not None:
        found = stripped_structure(trace.raw.text)
        if found is not None:
            yield _report(trace, found, in_raw(trace, found.span), "The text")


def _report(trace: Trace, found: Stripped, evidence: FindingEvidence, where: str) -> Report:
    reason = why_cut(trace)
    fix = (_OF_LM_STUDIO,) if found.is_plain else (_split_by_server(trace, found), _IN_CLIENT)
    removed = "" if found.is_plain else " with its control tokens removed"
    cut = "" if reason is None else f" The output was cut inside it: {reason}."
    return Report(
        title=f"{where} looks like output of {found.family}{removed}.",
        detail=f"`{found.shown}` is at character {found.span.start}: {found.meaning}.{cut}",
        evidence=(evidence,),
        fix=fix if reason is None else (output_limit(trace).step, *fix),
        certainty=Certainty.INFERRED,
        severity=None if found.shown.startswith("assistant") else Severity.WARNING,
    )


def _split_by_server(trace: Trace, found: Stripped) -> Step:
    """Return which parsers split the output of the family that shows, and which one runs in their place."""
    parsers = "with the parsers of this model's family"
    if found.format:
        facts = FORMATS[found.format].facts
        parsers = f"`--reasoning-parser {facts.reasoning_parsers[0]} --tool-call-parser {facts.tool_parsers[0]}`"
        wrong = foreign_parser(trace, found.format)
        parsers = f"for {found.family}, vLLM's {parsers}{f' in place of `{wrong}`' if wrong else ''}"
    return Step(f"Have the server split the output before it removes special tokens: {parsers}.")


RULE: Rule = TraceRule(
    code="PD457",
    name="stripped-structure",
    severity=Severity.ERROR,
    stage=Stage.PARSE,
    find=find,
    threads=("Augustas11/macprovider#743", "openvinotoolkit/model_server#4495"),
    explains=("PD426",),
    reads_stripped=True,
)
