"""A report says what is wrong with an answer, and does not show the answer.

What it finds:
    A pasted report without an answer, an output or an error, one of whose sentences says
    that a call was returned as text, in content, or as JSON in place of a call; that calls
    were joined into one; or that a call came without its arguments. Silent about what
    should happen, what a prompt teaches, and what was fixed.

Why it matters:
    Each of these has few causes, and one question to the server tells them apart. What it
    is in this case is only seen in the answer itself.

Bad:
    *The tool call comes back as plain text in `content`, and `tool_calls` is empty.*

Good:
    the answer itself, pasted as it came

Source:
    tracker: Podden/openwebui_anthropic_api_manifold_pipe#35, cline/cline#5683, continuedev/continue#6506.
"""

from __future__ import annotations

from collections.abc import Iterator

from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import Certainty, FindingEvidence, Severity, Stage, Trace
from prompt_debugger.core.diagnose.advice import Step
from prompt_debugger.core.diagnose.bare_lists import model_names
from prompt_debugger.core.diagnose.reported_words import Reported
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.trace_queries import quote
from prompt_debugger.core.diagnose.unparsed_calls import family_of_model, parser_steps

_SHOW = Step(
    "Ask the server itself once, without the client or gateway in between: if the call is in `tool_calls` there, the "
    "part in between loses it. Paste that answer: the notation of the call in it names the parser."
)
_TITLES = {
    Reported.BROKEN: "According to the report, arguments of a call were not valid JSON; they are not shown.",
    Reported.AS_TEXT: "According to the report, a tool call came as text instead of in `tool_calls`; the answer is not "
    "shown.",
    Reported.JOINED: "According to the report, several calls were joined into one; the stream is not shown.",
    Reported.LOST: "According to the report, a stream lacks calls, or parts of them; the stream is not shown.",
    Reported.NOTHING: "According to the report, the answer contained neither a call nor text; it is not shown.",
    Reported.EMPTY: "According to the report, a call came without its arguments; the answer is not shown.",
}
_DETAILS = {
    Reported.BROKEN: "Either the output was cut, or the model wrote them so, or a parser lost or repeated pieces of a "
    "stream.",
    Reported.AS_TEXT: "The model wrote a call, and nothing parsed it: the server has no parser for this "
    "model's notation, or none is switched on, or the model did not write its own notation.",
    Reported.JOINED: "In a stream the pieces of a call have its `index`: either the server gives two calls one index, "
    "or the client does not look at it.",
    Reported.LOST: "Engines read a stream in pieces, and their parsers can lose what is split, or not, between two of "
    "them: with speculative decoding or a `stream_interval`, a call may arrive whole in one piece.",
    Reported.NOTHING: "Either the model ended its turn at once, or it wrote reasoning alone, or the server lost its "
    "call.",
    Reported.EMPTY: "Either the model wrote none, or they were lost: arguments come in pieces of a stream, which a "
    "gateway that translates one API to another has to pass on one by one.",
}
_FIXES = {
    Reported.BROKEN: "Look at `finish_reason`: with `length`, raise `max_tokens`. Otherwise ask once without "
    "streaming: if the arguments are whole then, the stream's parser broke them, so run a current release. Paste the "
    "arguments themselves: what is wrong with them names the cause.",
    Reported.JOINED: "Record the stream (`capture`) and paste it: it shows whether two calls have one index. If each "
    "has its own, update the client. Until then ask without streaming, or for one call at a time "
    "(`parallel_tool_calls` set to `false`).",
    Reported.LOST: "Ask without streaming (`stream: false`), and run a current release. `parse RAW --parser "
    "vllm:NAME --splits` (or `sglang:NAME`) shows whether a parser reads an output in every chunking.",
    Reported.NOTHING: "Look at `usage.completion_tokens`: with a few tokens the model ended at once, so look at its "
    "prompt and template; with many, get the raw output, as the server removed it. If an earlier release works, "
    "return to it, and paste its answer beside the other.",
    Reported.EMPTY: "Ask once without streaming, and once the server itself without a gateway: the arguments "
    "are lost at the first place where they are missing. Record that stream (`capture`) and "
    "paste it. If the whole answer has none, either, get the raw output: the model left them "
    "out, or the server's parser lost them.",
}


def find(trace: Trace) -> Iterator[Report]:
    """Report what the notes repeat."""
    if trace.chat is not None or trace.refusal is not None:
        return
    for kind in Reported if trace.raw is None else (Reported.LOST,):
        claims = [note.removeprefix(kind.value) for note in trace.notes if note.startswith(kind.value)]
        if claims:
            yield _report(trace, kind, claims)
            return


def _report(trace: Trace, kind: Reported, claims: list[str]) -> Report:
    families = [found for name in model_names(trace) if (found := family_of_model(name)) is not None]
    return Report(
        title=_TITLES[kind],
        detail=f"{_DETAILS[kind]} This is inferred from what the text says: {' '.join(claims)}",
        evidence=tuple(FindingEvidence("server", quote=quote(one)) for one in claims),
        fix=_FIXES.get(kind) or (*parser_steps(trace, families[0] if families else "generic"), _SHOW),
        certainty=Certainty.INFERRED,
    )


RULE: Rule = TraceRule(
    code="PD469",
    name="reported-in-words",
    severity=Severity.WARNING,
    stage=Stage.PARSE,
    find=find,
    stands_in_part=True,
    threads=("cline/cline#5683", "continuedev/continue#6506"),
)
