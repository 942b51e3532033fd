"""The server could not read what the model wrote, and answered with an error instead.

What it finds:
    An error of the server's own parser, or of the client's: the arguments of a call that
    are not JSON, an output that does not fit the notation that the server expects, a
    harmony header with tokens left over. If the error quotes the output, that text is the
    raw output, and the finding names the character at which the parser gave up. Where a tool
    says that parameters are missing, and the answer pasted with it has them, they were lost on the
    way to the tool.

Why it matters:
    The request was right and the model answered; the whole answer is lost, even if only one
    character of it is wrong.

Bad:
    `error parsing tool call: raw='{"a": 1}]', err=invalid character ']' after
    top-level value`

Good:
    The call, or the text as it is, in `content`.

Source:
    tracker: ollama/ollama#12064, ggml-org/llama.cpp#24644, openai/harmony#60,
    vllm-project/vllm#17790, huggingface/smolagents#201, n8n-io/n8n#37916.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from prompt_debugger.core.base.comparable import has_part_of_call
from prompt_debugger.core.base.json_values import as_text, decode_json
from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.text import capitalized
from prompt_debugger.core.base.types import (
    CallStatus,
    Certainty,
    Completeness,
    FindingEvidence,
    Severity,
    Span,
    Stage,
    Trace,
)
from prompt_debugger.core.diagnose.calls.client_calls import form_of
from prompt_debugger.core.diagnose.calls.client_markup import Notation, find_client_call
from prompt_debugger.core.diagnose.calls.unescaped_arguments import unescaped_call
from prompt_debugger.core.diagnose.calls.unparsed_calls import beside_its_parser, named_parser, parser_steps
from prompt_debugger.core.diagnose.fields import CallField, body_of, returned_calls
from prompt_debugger.core.diagnose.refusals.understand import Understood, understand
from prompt_debugger.core.diagnose.refusals.words import (
    MAX_SUBJECT,
    TITLE_CHARS,
    explanation,
    heading,
    links_of,
    remedy_of,
    spots,
    title_words,
    words_of,
)
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.trace_queries import TracePart, in_message, in_raw, in_request, quote
from prompt_debugger.core.diagnose.words import listed
from prompt_debugger.core.known_errors import Cause, JsonBreak, json_break

# What may quote the output, in words of an error from which nothing was taken.
_MAY_QUOTE = re.compile(r"[{<`\n]|\b(?:got|text|output|content):|[\"'][^\"']{20}", re.IGNORECASE)
_QUOTED_BELOW = re.compile(  # the output in lines of its own, under a caption: `LM Response: …`
    r"(?:\A|\n)[ \t]{0,8}(?:(?:lm|llm|raw|model|full|original) )?(?:response|output|completion|content)[ \t]{0,4}:",
    re.IGNORECASE,
)
_NO_JSON = re.compile(r"Expecting value: line 1 column 1 \(char 0\)")
_UNDETERMINED = "cannot determine if tools should be extracted"
_LIKELY = 0.5  # a score of a notation, of a part of a call
_FIELD = re.compile(r"failed_generation\\?[\"']\s{0,4}:")
_SHOWN = 40  # characters of a call
_BEFORE = 40  # characters that are shown before the place
_FIX = "Ask again; if it happens again, compare the raw output with the notation that the server's parser expects."

_FIX_OF_CUT = (
    "Look at `finish_reason`: if it is `length`, raise `max_tokens` (`max_new_tokens`), whose default is small in some "
    "clients; otherwise a stop text or a closed connection ended the output."
)
# What an error of a tool names as missing.
_MISSING = re.compile(
    r"\b[Mm]issing (?:required |mandatory )?(?:parameters?|arguments?|fields?|propert(?:y|ies))?"
    r":? ?[`'\"](?P<a>\w{1,60})"
    r"|[`'\"](?P<b>\w{1,60})[`'\"] (?:is|are) (?:a )?(?:required|missing)\b"
    r"|\b(?:required|missing) (?:property|parameter|argument|field):? [`'\"](?P<c>\w{1,60})"
)


class _LostArguments(NamedTuple):
    """The call that has what its tool says is missing, and the names of that."""

    call: CallField
    names: tuple[str, ...]


def find(trace: Trace) -> Iterator[Report]:
    """Report that the output was not read, and where reading ended."""
    if trace.refusal is None:
        return
    understood = understand(trace.refusal)
    if understood.cause is not Cause.OUTPUT:
        return
    if (lost := _find_lost_arguments(trace, words_of(trace.refusal))) is not None:
        yield _report_lost(trace, understood, lost)
        return
    if (call := unescaped_call(returned_calls(trace), words_of(trace.refusal))) is not None:
        yield _report_unescaped(trace, understood, call)
        return
    found = spots(trace, understood)
    place = _place(understood)
    family = _not_json(trace, understood)
    reason = place.why if place is not None else _reason(trace, understood)
    reason = f"the call was read as JSON, and it is in the notation of `{family}`" if family else reason
    where = "" if place is None else f" Character {place.at:,} of the quoted text: {place.why}."
    yield Report(
        title=f"{_subject(understood)}: {quote(reason, TITLE_CHARS).removesuffix('...')}.",
        detail=f"{heading(trace.refusal, None)} {explanation(understood, found)}{where}{_shown(understood)}",
        evidence=(
            *_quote_place(trace, understood, place),
            *(in_request(spot.field, spot.quote) for spot in found),
            FindingEvidence("server", quote=quote(words_of(trace.refusal))),
        ),
        fix=list(parser_steps(trace, family)) if family else _fix(trace, understood, place),
        stage=understood.stage,
        certainty=Certainty.INFERRED if family else understood.certainty,
        links=links_of(understood),
    )


def _find_lost_arguments(trace: Trace, words: str) -> _LostArguments | None:
    """Return the call of the answer that has every parameter which an error says is missing.

    `None` where the error names no parameter, or where the answer has no such call, or several.
    """
    found = (match["a"] or match["b"] or match["c"] for match in _MISSING.finditer(words[:4_000]))
    names = tuple(dict.fromkeys(found))
    calls = returned_calls(trace) if names else ()
    named = [call for call in calls if call.name and re.search(rf"\b{re.escape(call.name)}\b", words)] or [*calls]
    if len(named) != 1:
        return None
    call = named[0]
    value = decode_json(as_text(call.arguments) or "") if isinstance(call.arguments, str) else call.arguments
    return _LostArguments(call, names) if isinstance(value, dict) and {*names} <= value.keys() else None


def _report_unescaped(trace: Trace, understood: Understood, call: CallField) -> Report:
    """Report that the call of the answer is right, and that it was changed before it was read."""
    assert trace.refusal is not None
    return Report(
        title=f"The arguments of the call to `{call.name}` are valid JSON, and were read without their backslashes.",
        detail=f"{heading(trace.refusal, None)} The answer has the arguments {quote(str(call.arguments), 160)!r}. "
        "Without the backslashes before quotation marks they fail at the character that the error names: what runs the "
        "tool took them out before it read the JSON.",
        evidence=(
            in_message(f"{call.field}.function.arguments", str(call.arguments)),
            FindingEvidence("server", quote=quote(words_of(trace.refusal))),
        ),
        fix="Update the client or the gateway that runs the tool: arguments must be decoded as they come, once. "
        "Some releases of LangChain4j did this (langchain4j/langchain4j#3028). The arguments need no change.",
        stage=understood.stage,
        certainty=Certainty.INFERRED,
    )


def _report_lost(trace: Trace, understood: Understood, lost: _LostArguments) -> Report:
    """Report that the call of the answer has what the tool did not get."""
    assert trace.refusal is not None
    names = listed(list(lost.names))
    return Report(
        title=f"The call to `{lost.call.name}` has {names}, but its tool was run without "
        f"{'it' if len(lost.names) == 1 else 'them'}.",
        detail=f"{heading(trace.refusal, None)} The answer has the arguments {quote(str(lost.call.arguments), 160)!r}: "
        "what lies between the answer and the tool lost them.",
        evidence=(
            in_message(f"{lost.call.field}.function.arguments", str(lost.call.arguments)),
            FindingEvidence("server", quote=quote(words_of(trace.refusal))),
        ),
        fix="Update the client or the gateway that ran the tool. If it joins the pieces of a stream itself, have it "
        "take arguments that come in the same piece as the name. If the error belongs to another turn, paste the "
        "answer of that turn.",
        stage=understood.stage,
        certainty=Certainty.INFERRED,
        links=links_of(understood),
    )


def _fix(trace: Trace, understood: Understood, place: JsonBreak | None) -> str:
    named = named_parser(trace)
    if named is not None and trace.server is not None:
        return (
            f"Start the server with `--tool-call-parser {named}` in place of `{trace.server.tool_parser}`: by its "
            f"name, `{trace.server.model}` writes the notation that `{named}` reads."
        )
    quoted = understood.quoted
    if place is not None and quoted is not None and not quoted.is_arguments and place.at >= len(quoted.text.rstrip()):
        return _FIX_OF_CUT
    if (lacking := _lacking_tools(trace, understood)) is not None:
        return lacking
    remedy = remedy_of(understood)
    if "--tool-call-parser" in remedy and (beside := beside_its_parser(trace)):
        return beside
    return remedy or _FIX


def _lacking_tools(trace: Trace, understood: Understood) -> str | None:
    """Return what helps where vLLM cannot tell whether to look for calls although its parser runs; else `None`.

    Source: vLLM 0.10 and 0.11, `serving_chat.py`: with a parser, only a `tool_choice` without `tools` leads there.
    """
    parser = trace.tool_parser
    if not parser or body_of(trace).get("tools") or _UNDETERMINED not in words_of(understood.refusal):
        return None
    return (
        f"Send `tools` with every request that has a `tool_choice`, or leave that out: the parser `{parser}` runs, so "
        "the request had no tools (an empty list counts as none)."
    )


def _not_json(trace: Trace, understood: Understood) -> str:
    """Return the notation of a call that an error of JSON came with; "" where nothing shows it."""
    if understood.quoted is not None or trace.raw is None or trace.parse is None or "{" in trace.raw.text:
        return ""
    if _NO_JSON.search(words_of(understood.refusal)) is None or not has_part_of_call(trace.raw.text):
        return ""
    score, family = max(((one.score, name) for name, one in trace.parse.format_scores.items()), default=(0.0, ""))
    return family if score >= _LIKELY else ""


def _is_whole(trace: Trace) -> bool:
    return trace.raw is not None and trace.raw.completeness is Completeness.WHOLE


def _subject(understood: Understood) -> str:
    if understood.known is None and understood.classified is not None and understood.quoted is None:
        return understood.classified.error.subject
    if understood.stage is Stage.CONTRACT:
        own = "" if understood.known is None else understood.known.error.subject
        return own if 0 < len(own) <= MAX_SUBJECT else "The answer does not match what the program expects"
    if understood.stage is Stage.COMPLETE:
        return "The answer could not be used"
    quoted = understood.quoted
    subject = "the arguments that the model wrote" if quoted is not None and quoted.is_arguments else "the output"
    return f"{capitalized(subject)} could not be read"


def _place(understood: Understood) -> JsonBreak | None:
    """Return where a quoted text that was meant as JSON stops being JSON."""
    quoted = understood.quoted
    if quoted is None or not quoted.is_whole:
        return None
    is_markup = quoted.text.lstrip().startswith("<") and "Failed to parse input at pos" in understood.refusal.message
    is_meant_as_json = quoted.is_arguments or (quoted.at is not None and not is_markup)
    return json_break(quoted.text) if is_meant_as_json else None


def _reason(trace: Trace, understood: Understood) -> str:
    """Return why: what is wrong with the call in the raw output, what the parser said, or its words whole."""
    calls = trace.parse.parsed.calls if trace.parse is not None and _is_whole(trace) else ()
    broken = next((call for call in calls if call.status is not CallStatus.COMPLETE and call.problem), None)
    if broken is not None:
        name = "the call" if broken.name is None else f"the call `{broken.name}`"
        return f"{name} is {broken.status.value}, {broken.problem}"
    quoted = understood.quoted
    is_explained = quoted is not None and bool(quoted.why)
    if not is_explained and understood.refusal.output is not None and (written := _written_call(trace)):
        return written
    if quoted is not None and quoted.skipped and quoted.is_elided:
        return f"the server's parser gave up at character {quoted.skipped:,}"
    if quoted is not None and quoted.is_cut and not quoted.skipped:
        return f"the copy of the error breaks off inside `{quote(quoted.text, 80)}`"
    if quoted is not None and quoted.skipped:
        return f"the server's parser gave up at character {quoted.skipped:,}, before `{quote(quoted.text, 80)}`"
    if quoted is not None and not quoted.why and understood.refusal.output is None:
        return f"the parser could not read `{quote(quoted.text, 80)}`"
    return quoted.why if quoted is not None and quoted.why else title_words(understood)


def _written_call(trace: Trace) -> str:
    """Return in which form the model wrote a call that its server refused; "" where no call is in the output."""
    calls = trace.parse.parsed.calls if trace.parse is not None else ()
    if trace.raw is None or len(calls) > 1:
        return ""
    if calls:
        is_whole = calls[0].status is CallStatus.COMPLETE and calls[0].name
        shown = quote(trace.raw.text[slice(*calls[0].char_span)], _SHOWN)
        return f"the model wrote a call to `{calls[0].name}` as text, `{shown}`" if is_whole else ""
    client = find_client_call(trace.raw.text)
    if client is None or client.notation is Notation.TEXT_AS_NAME:
        return ""
    return f"the model wrote a call to `{client.name}` as {form_of(client)}"


def _shown(understood: Understood) -> str:
    quoted = understood.quoted
    if quoted is None:
        if understood.refusal.output is None and _FIELD.search(understood.refusal.around or "") is not None:
            return " The copy of the error breaks off inside the output that it quotes."
        is_quoted = _QUOTED_BELOW.search(understood.refusal.around or "") is not None
        omits_output = (
            understood.stage is Stage.PARSE
            and not is_quoted
            and _MAY_QUOTE.search(words_of(understood.refusal)) is None
        )
        return " The error does not quote the output." if omits_output else ""
    if quoted.skipped and quoted.is_elided:
        return " The error leaves out what the model wrote: without it, nothing shows what the parser stumbled over."
    if quoted.skipped and quoted.is_cut:
        return f" The first {quoted.skipped:,} characters of the output are not shown, and the copy breaks off."
    if quoted.skipped:
        return f" The first {quoted.skipped:,} characters of the output are not shown."
    if quoted.is_cut:
        return " Copy the error to its end: it names the character at which the parser gave up."
    return " The error leaves out the middle of the output." if quoted.is_elided else ""


def _quote_place(trace: Trace, understood: Understood, place: JsonBreak | None) -> Iterator[FindingEvidence]:
    quoted = understood.quoted
    if place is None or quoted is None:
        return
    if trace.raw is not None and _is_whole(trace) and trace.raw.text == quoted.text:
        yield in_raw(trace, Span(min(place.at, len(quoted.text)), min(place.at + 1, len(quoted.text))))
    else:
        yield FindingEvidence("server", quote=quoted.text[max(0, place.at - _BEFORE) : place.at + 1])


RULE: Rule = TraceRule(
    code="PD445",
    name="unread-output",
    severity=Severity.ERROR,
    stage=Stage.PARSE,
    find=find,
    stands_in_part=True,
    reads_stripped=True,
    needs=TracePart.REFUSAL,
    threads=(
        "ollama/ollama#12064",
        "ggml-org/llama.cpp#24644",
        "openai/harmony#60",
        "vllm-project/vllm#17790",
        "huggingface/smolagents#201",
        "n8n-io/n8n#37916",
    ),
)
