"""The answer broke off, or an error or nothing was returned instead.

What it finds:
    An error from the server or the connection after the first part of the answer, streamed
    or whole, or instead of an answer; an answer without a choice or without a message; one
    JSON document where a stream was requested, or the reverse; a whole answer in the form of
    another API, in lines of JSON, or in another encoding than UTF-8; an event that is no JSON
    object in a stream that has its end; an error beside an answer that has its end.
    An answer that we stopped reading because it was too long or took too long is named as
    such. Silent where the request does not ask to stream and only our streamed repetition
    failed: the run's notes have it. A warning if a pasted stream merely has no end: it may
    not have been copied completely.

Why it matters:
    What was received is only a beginning, and must not be judged as an answer.

Bad:
    A stream without its last event.

Good:
    A stream that ends with `[DONE]`.

Source:
    derived: the server closed the connection, or sent an error in the stream.
    tracker: ggml-org/llama.cpp#20260.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from prompt_debugger.core.base.comparable import REPORTED
from prompt_debugger.core.base.json_values import as_object, decode_json, is_json
from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.text import capitalized
from prompt_debugger.core.base.types import (
    Api,
    Certainty,
    ChatResult,
    FindingEvidence,
    JSONObject,
    Refusal,
    Severity,
    Stage,
    Trace,
)
from prompt_debugger.core.diagnose.endings import has_no_message
from prompt_debugger.core.diagnose.odd_answers import ONE_DOCUMENT, OddAnswer, odd_form, odd_of_api, odd_whole
from prompt_debugger.core.diagnose.other_forms import COMPLETION, is_read_when_pasted, other_form
from prompt_debugger.core.diagnose.own_settings import longer_context
from prompt_debugger.core.diagnose.refusals.understand import Understood, understand
from prompt_debugger.core.diagnose.refusals.words import explanation, links_of, remedy_of, spots
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.trace_queries import TracePart, asked_server, is_asked_stream, prompt_of, quote
from prompt_debugger.core.known_errors import cause_of

_CUT_COPY = "which the end of the stream cut off"
_BROKE_OFF = (
    "Run again; if it breaks at the same place, check the server's log; if it breaks after the same time, the time "
    "limits of any proxy in between."
)
_SAID_WHY = (
    "The server ended the stream and says why: follow its words, and look at its log at that time. Do not use "
    "what had arrived as the whole answer."
)
_UNREAD = {
    "too-much": (
        "The {} is larger than the reading limit.",
        "No model writes this much: check for a proxy in between, or ask for fewer tokens.",
    ),
    "cut": (
        "The {} was not read to its end.",
        "Ask for fewer tokens; if it happens again, check the server's log for why it is so long, or does not end.",
    ),
}
_WORDS_CHARS = 200
_MAX_KEYS = 6
_NO_CHOICES = " and no `choices`"
_ASK_WHOLE = (
    "Send the same request without `stream`: a server that fails after its stream has begun cannot say why, and then "
    "it can (llama-cpp-python closes the stream where the prompt is longer than its context). If that is answered, "
    "check the logs of the server and of any proxy in front of it."
)
_MAX_ALONE = 2  # events
_BOM = "\ufeff"  # which a stream may begin with
_NO_EVENT = re.compile(r":|(?:event|id|retry)(?::|$)")  # lines of a stream by which nothing arrives: most keep it open


def find(trace: Trace) -> Iterator[Report]:
    """Report the error of the whole answer, else that of the stream."""
    if trace.refusal is not None and trace.chat is None:
        return  # a stream that contains nothing but an error: that has its own rule
    stream = trace.chat_stream if is_asked_stream(trace) else None
    is_one = trace.chat is not None and bool(trace.chat.deltas)  # the message was assembled from the stream
    for result, name in ((None if is_one else trace.chat, "answer"), (stream, "streamed answer")):
        if result is not None and result.error:
            if not asked_server(trace) and any(delta.finish_reason == "" for delta in result.deltas):
                return  # it has an end, whose word is empty: that has its own rule
            if has_no_message(result) and _find_absent(result) == "message":
                return  # the content filter withheld it: that has its own rule
            if result.error.endswith("its beginning is missing, too"):
                return  # an excerpt, as the notes say
            if not asked_server(trace) and _has_no_choice_by_its_place(result):
                yield _report_event_alone(result)
            elif _may_be_an_excerpt(trace, result):
                yield _report_missing_end(result)
            else:
                yield _report(trace, result, name)
            return


def _may_be_an_excerpt(trace: Trace, result: ChatResult) -> bool:
    is_pasted, error = not asked_server(trace) and bool(result.deltas), result.error or ""
    return is_pasted and (error.startswith("the stream ended without a finish reason") or _CUT_COPY in error)


def _report_missing_end(result: ChatResult) -> Report:
    return Report(
        title="The pasted stream is incomplete: the connection broke, or it was not fully copied.",
        detail=f"{capitalized(result.error or '')}.",
        evidence=(FindingEvidence("server", quote=result.body[-120:] or None),),
        fix="Copy the stream to its last event; if it ends there, check the server's log at that time.",
        severity=Severity.WARNING,
        certainty=Certainty.INFERRED,
    )


def _report_event_alone(result: ChatResult) -> Report:
    return Report(
        title="What was pasted contains no choice, as the first or the last event of a healthy stream.",
        detail="Azure's first event (`prompt_filter_results`) and the last one with the token counts have an empty "
        "list of choices. The message is in the events between them.",
        evidence=(FindingEvidence("server", quote=result.body[-120:] or None),),
        fix="To have the answer examined, paste the whole stream. If this is all that came, check the server's log.",
        severity=Severity.NOTE,
        certainty=Certainty.INFERRED,
    )


def _report(trace: Trace, result: ChatResult, name: str) -> Report:
    """Distinguish an answer that broke off from one that never began, and our own question from the request."""
    has_begun = any(value for key, value in result.message.items() if key != "role") or bool(result.token_ids)
    is_alone = trace.chat is None or bool(trace.chat.deltas)
    is_ours = result is trace.chat_stream and not is_alone and trace.request.body.get("stream") is not True
    is_stream = result is trace.chat_stream or trace.request.body.get("stream") is True
    name = "streamed answer" if is_stream else name
    known = _known(result)
    is_whole = is_stream and _find_absent(result) == ""
    stage = None if has_begun else _stage_of_words(result)
    if is_whole:
        title, fix = ONE_DOCUMENT
    elif (
        not has_begun
        and not _reported(result)
        and (formed := _in_form(trace, result, name, is_stream=is_stream)) is not None
    ):
        title, fix = formed
    elif result.unread is not None:
        title, fix = (text.format(name) for text in _UNREAD[result.unread])
    elif has_begun:
        words = _words(result)
        odd = odd_whole(result, name, words) or OddAnswer(
            f"The {name} broke off{words and f': {words}'}.", _SAID_WHY if words else _BROKE_OFF
        )
        title, fix = odd.title, (remedy_of(known) if known is not None else "") or odd.fix
    elif not _reported(result) and (odd_one := odd_form(result, name, is_stream=is_stream)) is not None:
        title, fix = odd_one
    elif lacks := _find_absent(result):
        title = f"The {name} contains neither a {lacks} nor an error."
        fix = "Run again; if it happens again, ask the operator of the server: a proxy may have removed it."
    elif not _reported(result) and _is_stream_without_error(result):
        found = _explain_emptiness(trace)
        title, fix = f"The {name} ended before it contained anything{found.cause}.", found.fix
        stage = Stage.REQUEST if found.is_of_request else None
    elif is_stream and result.body.strip() and not is_json(result.body) and "data:" not in result.body:
        title = f"What came in place of the {name} is neither an event nor JSON."
        fix = "Check the server address (up to and including `/v1`), and any proxy in between."
    elif held := _something_else(result):
        kind = "a chat completion" if trace.api is Api.CHAT else "one of this API"
        title = f"The {name} is not {kind}: {held if trace.api is Api.CHAT else held.removesuffix(_NO_CHOICES)}."
        fix = (
            "Check the server address (up to and including `/v1`): what answers there may be another route, or a queue "
            "whose result is fetched later."
        )
    else:
        words = _words(result)
        title = f"The server returned an error instead of the {name}{words and f': {words}'}."
        fix = remedy_of(known) if known is not None else ""
        fix = fix or "Follow the server's message; if it gives no instruction, check its log."
    says = "" if known is None else f". {explanation(known, spots(trace, known))}"
    return Report(
        title=title,
        detail=f"{(result.error or '').rstrip('.') if says else result.error or ''}{says}",
        evidence=(FindingEvidence("server", quote=result.body[-120:] or None),),
        fix=fix,
        severity=Severity.NOTE if is_ours and (is_whole or not has_begun) else None,
        stage=known.stage if known is not None else stage,
        links=() if known is None else links_of(known),
    )


def _in_form(trace: Trace, result: ChatResult, name: str, *, is_stream: bool) -> OddAnswer | None:
    """Return what is said of an answer in another API's form, or in the asked one's, but not as it was asked for."""
    form = other_form(result.body)
    if (
        trace.api is not Api.CHAT
        and (own := odd_of_api(result.body, form, name, trace.api, is_stream=is_stream)) is not None
    ):
        return own
    if form is None:
        return None
    fix = (
        "Ask `/v1/chat/completions`: a client finds no message in a raw completion."
        if form == COMPLETION
        else "Use the route of that API, or make the gateway return a chat completion: a client of this API finds no "
        "`choices` in it."
    ) + (" If you paste the answer here, it can still be read." if is_read_when_pasted(form) else "")
    return OddAnswer(f"The {name} arrived in another form: {form}.", fix)


class _Emptiness(NamedTuple):
    """What is said of an empty stream: the end of its title, what to do, and whether the request caused it."""

    cause: str
    fix: str
    is_of_request: bool


def _explain_emptiness(trace: Trace) -> _Emptiness:
    """Return the cause of an empty stream where both lengths are known and show it; else how to learn it.

    A server that has begun its stream can no longer refuse the request by a status. llama-cpp-python 0.3.36 reads the
    prompt only then, and closes the stream where it is longer than the context. vLLM, SGLang and llama.cpp compare the
    lengths first and refuse; Ollama cuts the prompt and answers.
    """
    length = _prompt_length(trace)
    context = trace.max_model_len
    if length is None or not context or length < context:
        return _Emptiness("", _ASK_WHOLE, is_of_request=False)
    cause = f": the prompt has {length:,} tokens, and the context holds {context:,}"
    fix = f"Shorten the messages or the tools, or {longer_context(trace)}."
    return _Emptiness(cause, fix, is_of_request=True)


def _has_no_choice_by_its_place(result: ChatResult) -> bool:
    """Return whether a body is nothing but events that have no choice where all is well: a stream's first or last.

    The token counts of the last one say whether anything was generated before it.
    """
    lines = [line.partition(":")[2] if line.startswith("data:") else line for line in result.body.split("\n")]
    events = [decode_json(result.body)] if result.body.lstrip().startswith("{") else [decode_json(one) for one in lines]
    found = [as_object(one) for one in events if isinstance(one, dict)]
    return 0 < len(found) <= _MAX_ALONE and all(map(_is_beside_choices, found))


def _is_beside_choices(event: JSONObject) -> bool:
    counts = as_object(event.get("usage"))
    return (
        event.get("choices") == []
        and not event.get("error")
        and event.get("object") != "chat.completion"
        and ("usage" not in event or event["usage"] is None or bool(counts.get("completion_tokens")))
    )


def _prompt_length(trace: Trace) -> int | None:
    """Return how many tokens the prompt has, by the server's or by our own render."""
    prompt = prompt_of(trace)
    return None if prompt is None or prompt.tokens is None else len(prompt.tokens)


def _known(result: ChatResult) -> Understood | None:
    """Return what is known of the error that an answer reports, by the tables of errors; else `None`."""
    words = _reported(result)
    understood = understand(Refusal(None, words)) if words else None
    return understood if understood is not None and understood.known is not None else None


def _words(result: ChatResult) -> str:
    """Return the server's words in place of an answer; "" where it said none."""
    return quote(" ".join(_reported(result).split()), _WORDS_CHARS).removesuffix("...").rstrip(".。")


def _reported(result: ChatResult) -> str:
    message = result.error or ""
    return message.removeprefix(REPORTED) if message.startswith(REPORTED) else ""


def _stage_of_words(result: ChatResult) -> Stage | None:
    """Return where an error arose by its words; `None` where they do not say it."""
    words = _reported(result)
    return understand(Refusal(None, words)).stage if words and cause_of(words) is not None else None


def _something_else(result: ChatResult) -> str:
    """Return what a body is that is JSON but neither an answer nor an error; "" if it is not such a body."""
    value = decode_json(result.body)
    if _reported(result) or not is_json(result.body):
        return ""
    if not isinstance(value, dict):
        kind = "a list" if isinstance(value, list) else "a JSON string" if isinstance(value, str) else ""
        return f"it is {kind or f'`{quote(result.body.strip(), 40)}`'}"
    keys = ", ".join(f"`{quote(key, 40)}`" for key in list(value)[:_MAX_KEYS])
    return f"it contains {keys}{_NO_CHOICES}" if keys and "choices" not in value else ""


def _is_stream_without_error(result: ChatResult) -> bool:
    """Return whether a stream began and reports no error."""
    lines = result.body.removeprefix(_BOM).splitlines()
    data = [line.partition(":")[2] for line in lines if line.startswith("data:")]
    said = [line for line in lines if line.strip()]
    is_kept_open = bool(said) and all(_NO_EVENT.match(line) for line in said)
    has_begun = bool(data) or is_kept_open or (result.elapsed_s is not None and not said)
    says_error = any(line.startswith("event: error") for line in lines)
    return has_begun and not says_error and not any(as_object(decode_json(text)).get("error") for text in data)


def _find_absent(result: ChatResult) -> str | None:
    """Return what an answer in one document lacks; "" if it is complete, `None` if it reports an error."""
    answer = as_object(decode_json(result.body))
    choices = answer.get("choices")
    if "choices" not in answer or answer.get("error") or (result.error or "").startswith(REPORTED):
        return None
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        return "choice"
    return "" if isinstance(choices[0].get("message"), dict) else "message"


RULE: Rule = TraceRule(
    code="PD310",
    name="broken-answer",
    severity=Severity.ERROR,
    stage=Stage.COMPLETE,
    find=find,
    stands_in_part=True,
    needs=TracePart.RESULT,
    threads=("ggml-org/llama.cpp#20260",),
    explains=("PD401", "PD411", "PD412", "PD413"),
)
