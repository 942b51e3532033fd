"""A report says what is wrong with an answer, and does not show the answer.

What it finds:
    A pasted report without an answer, an output or an error, one of whose sentences says
    that a call was returned as text, in content, or as JSON in place of a call; that calls
    were joined into one; that a call came without its arguments; that the answer came as
    reasoning, or thoughts in content; or that a schema was ignored. Silent about what
    should happen, what a prompt teaches, and what was fixed.

Why it matters:
    Each of these has few causes, and one question to the server tells them apart. What it
    is in this case is only seen in the answer itself.

Bad:
    *The tool call comes back as plain text in `content`, and `tool_calls` is empty.*

Good:
    the answer itself, pasted as it came

Source:
    tracker: Podden/openwebui_anthropic_api_manifold_pipe#35, cline/cline#5683, continuedev/continue#6506,
    QwenLM/Qwen3#1297, zai-org/GLM-V#243.
"""

from __future__ import annotations

from collections.abc import Iterator

from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import Certainty, FindingEvidence, Severity, Stage, Trace
from prompt_debugger.core.diagnose.advice import Step
from prompt_debugger.core.diagnose.calls.bare_lists import model_names
from prompt_debugger.core.diagnose.calls.unparsed_calls import family_of_model, parser_steps
from prompt_debugger.core.diagnose.reported_words import Reported
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.trace_queries import quote

_SHOW = Step(
    "Ask the server itself once, without the client or gateway in between: if the call is in `tool_calls` there, the "
    "part in between loses it. Paste that answer: the notation of the call in it names the parser."
)
_TITLES = {
    Reported.BROKEN: "According to the report, arguments of a call were not valid JSON; they are not shown.",
    Reported.AS_TEXT: "According to the report, a tool call came as text instead of in `tool_calls`; the answer is not "
    "shown.",
    Reported.JOINED: "According to the report, several calls were joined into one; the stream is not shown.",
    Reported.REPEATED: "According to the report, a call got its arguments more than once; the stream is not shown.",
    Reported.LOST: "According to the report, a stream lacks calls, or parts of them; the stream is not shown.",
    Reported.NOTHING: "According to the report, the answer contained neither a call nor text; it is not shown.",
    Reported.EMPTY: "According to the report, a call came without its arguments; the answer is not shown.",
    Reported.ANSWER_THERE: "According to the report, the answer came as reasoning instead of content; it is not shown.",
    Reported.THOUGHT_HERE: "According to the report, the thoughts came in content; the answer is not shown.",
    Reported.SCHEMA_IGNORED: "According to the report, the answer does not follow the schema that was sent; it is not "
    "shown.",
}
_DETAILS = {
    Reported.BROKEN: "Either the output was cut, or the model wrote them so, or a parser lost or repeated pieces of a "
    "stream.",
    Reported.AS_TEXT: "The model wrote a call, and nothing parsed it: the server has no parser for this "
    "model's notation, or none is switched on, or the model did not write its own notation.",
    Reported.JOINED: "In a stream the pieces of a call have its `index`: either the server gives two calls one index, "
    "or the client does not look at it.",
    Reported.REPEATED: "A client joins all pieces that have the index of a call. Some gateways send the arguments in "
    "pieces, and then all of them again with the event that ends the call; some servers send them whole with the "
    "name, and some clients add that piece twice.",
    Reported.LOST: "Engines read a stream in pieces, and their parsers can lose what is split, or not, between two of "
    "them: with speculative decoding or a `stream_interval`, a call may arrive whole in one piece.",
    Reported.NOTHING: "Either the model ended its turn at once, or it wrote reasoning alone, or the server lost its "
    "call.",
    Reported.EMPTY: "Either the model wrote none, or they were lost: arguments come in pieces of a stream, which a "
    "gateway that translates one API to another has to pass on one by one.",
    Reported.ANSWER_THERE: "Some reasoning parsers take all text before `</think>` for a thought. None comes where "
    "thinking is off, where the model does not think, or where the output ended within the thought.",
    Reported.THOUGHT_HERE: "Nothing took them out: no reasoning parser is on, it is another model's, or it waits for "
    "an opening tag that the template has already written at the end of the prompt.",
    Reported.SCHEMA_IGNORED: "Servers read a schema at different places and under different names, and most take a "
    "field that they do not know with status 200.",
}
_LEFT_BY_PARSER = (
    "The model wrote a call, and the parser `{}` did not take it: it is made for another notation, or does not read "
    "this form, or the model departed from its notation."
)
_FIXES = {
    Reported.BROKEN: "Look at `finish_reason`: with `length`, raise `max_tokens`. Otherwise ask once without "
    "streaming: if the arguments are complete then, the stream's parser broke them, so run a current release. Paste "
    "the arguments themselves: what is wrong with them names the cause.",
    Reported.JOINED: "Record the stream (`capture`) and paste it: it shows whether two calls have one index. If each "
    "has its own, update the client. Until then ask without streaming, or for one call at a time "
    "(`parallel_tool_calls` set to `false`).",
    Reported.REPEATED: "Record the stream (`capture`) and paste it: it shows whether the server or the client repeats "
    "them. Until then ask without streaming, or take the first JSON object of the arguments.",
    Reported.LOST: "Ask without streaming (`stream: false`), and run a current release. `parse RAW --parser "
    "vllm:NAME --splits` (or `sglang:NAME`) shows whether a parser reads an output in every chunking.",
    Reported.NOTHING: "Look at `usage.completion_tokens`: with a few tokens the model ended at once, so look at its "
    "prompt and template; with many, get the raw output, as the server removed it. If an earlier release works, "
    "return to it, and paste its answer beside the other.",
    Reported.EMPTY: "Ask once without streaming, and once the server itself without a gateway: the arguments "
    "are lost at the first place where they are missing. Record that stream (`capture`) and "
    "paste it. If the whole answer has none, either, get the raw output: the model left them "
    "out, or the server's parser lost them.",
    Reported.ANSWER_THERE: "Look at `finish_reason`: with `length`, raise `max_tokens`. With `stop`, start the server "
    "with the reasoning parser of this model, in a current release, or without one if thinking is off. Paste the "
    "request, the answer and the server's command together: they show which of these it is.",
    Reported.THOUGHT_HERE: "Start the server with the reasoning parser of this model (`--reasoning-parser NAME` of "
    "vLLM and SGLang, `--reasoning-format auto` with `--jinja` of llama.cpp, `think: true` for Ollama), in a current "
    "release. If it runs with one, paste content as it came: a `</think>` without its beginning means that the "
    "template opens the thought.",
    Reported.SCHEMA_IGNORED: "Ask the server itself, without the client or gateway in between: `response_format` of "
    "type `json_schema` on `/v1/chat/completions` (`text.format` on `/v1/responses`, `format` on Ollama's own API, "
    "`structured_outputs` for a grammar or a choice in vLLM). If that is followed, the part in between drops the "
    "field. Paste the request as it is sent, with its answer.",
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
    parser = trace.tool_parser if kind is Reported.AS_TEXT else None
    detail = _DETAILS[kind] if parser is None else _LEFT_BY_PARSER.format(parser)
    return Report(
        title=_TITLES[kind],
        detail=f"{detail} This is inferred from what the text says: {' '.join(claims)}",
        evidence=tuple(FindingEvidence("server", quote=quote(one)) for one in claims),
        fix=_FIXES.get(kind) or (*parser_steps(trace, families[0] if families else "generic"), _SHOW),
        certainty=Certainty.INFERRED,
        stage=Stage.REQUEST if kind is Reported.SCHEMA_IGNORED else None,
    )


RULE: Rule = TraceRule(
    code="PD469",
    name="reported-in-words",
    severity=Severity.WARNING,
    stage=Stage.PARSE,
    find=find,
    stands_in_part=True,
    threads=("cline/cline#5683", "continuedev/continue#6506", "QwenLM/Qwen3#1297", "zai-org/GLM-V#243"),
)
