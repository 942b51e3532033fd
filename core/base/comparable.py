"""Whether a raw output and a message may be compared: decided here, once, before the ledger.

Two outputs that were sampled separately may differ without any fault, and a
text whose control tokens were taken out does not show what the model wrote. In
both cases nothing can be said of loss, and the reason says what is missing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from prompt_debugger.core.base.types import (
    JSON,
    Api,
    Basis,
    Certainty,
    ChatResult,
    Comparability,
    Completeness,
    Completion,
    JSONObject,
    Trace,
)

MAY_BE_CONTENT = "it contains no control token, and it may have been copied from what a server shows"
IN_LOG = "it contains no control token, and a log may leave them out"
KEEPS_TOKENS = "it contains control tokens; whether it is an output or content that kept them is unknown"
NO_BEGINNING = "it begins in the middle of a marker or of a call, so its beginning may not have been copied"
NO_END = "it ends inside a call, so its end may not have been copied"
OF_GAP = "something was left out of it at `...`"
OF_PIECES = "it was assembled from pieces in the log, and others may have been left out"
# What is written of calls alone, whole or in part.
_OF_CALL = re.compile(
    r"tool[_\u2581]call|\[/?TOOL_(?:CALLS?|REQUEST)|END_TOOL_REQUEST|<\|python_tag|to=functions\."
    r"|</?(?:function|invoke|parameter)(?:[ =][^<>\n]{1,100})?>|</?arg_(?:key|value)>|action_(?:start|end)\|>"
)
_NOT_ALL_OF_IT = frozenset({NO_BEGINNING, NO_END, OF_GAP, OF_PIECES})
_AS_CODE = re.compile(r"`[^`\n]{1,200}`")
REQUEST_GAP = "Something was left out of the request; what it was is unknown."
UNLINKED = (
    "Request and answer are in one text, and nothing in them shows that they belong together: that they are of one run "
    "is assumed."
)
COPY_ENDS = "The pasted text ends inside the answer"
OTHER_ITEM = "An item of type"  # how a note begins on what an answer has and a message has not
# How the notes begin that say of a pasted text that it is incomplete.
_NOT_WHOLE = (
    "Something was left out",
    "The pasted text ends inside",
    "The JSON begins in the middle",
    "Events were left out",
    "The stream was copied without its beginning",
)
# How the notes on calls go on whose number comes first.
_CALLS_LEFT_OUT = ("left out of the answer", "of which the text contains only a part")
UNFINISHED = "it was not finished when it was returned."
"""How a note ends that says so of a response; it may be fetched again."""
REPORTED = "the server reported an error: "  # how what was read begins where the answer itself reports an error
EVENTS_NOT_ASKED = "a stream of events, for which it was not asked"  # in place of one document
MESSAGE_IN_EVENTS = "the events of the stream contain `message` and no `delta`"
NOT_IN_SNIPPET = "is not known from the snippet"  # and a placeholder stands for it likewise
NEW_IN_EVERY_RUN = "gives a new value in every run"  # so that a placeholder stands for it in the request
_ESCAPED = re.compile(r"\\u([0-9a-fA-F]{4})")
_GRAM = 4
_MIN_GRAMS = 10  # less text proves nothing
_LEAST_SHARE = 0.5
_MAX_CHARS = 200_000
_MAX_CALLS = 128
_SHOWN = 40
_TWO_RUNS = "Raw output and answer come from two runs that may differ"


def compare_outputs(trace: Trace) -> Comparability | None:
    """Say how surely raw output and chat message belong to one generation, and whether the raw text is complete.

    Returns:
        `OBSERVED` for one run (or a pair that someone handed over together),
        `INFERRED` for two runs that had to agree, and for what one text contains; no certainty, and the reason, where
        nothing can be said; `None` without raw output or message.
    """
    raw, chat = trace.raw, trace.chat
    if raw is None or chat is None:
        return None
    if chat.error_hint:
        return Comparability(None, "No answer arrived to compare the raw output with")
    if raw.completeness is not Completeness.WHOLE:
        return Comparability(None, why_incomplete(raw))
    if trace.evidence in (None, Basis.SAME_RUN):
        return Comparability(Certainty.OBSERVED)
    if trace.evidence is Basis.ASSUMED_RUN:
        return Comparability(Certainty.INFERRED, "assumed to be one run because they are in one text")
    if _broke_off(chat):
        return Comparability(None, "The answer broke off, and the raw output is of another run")
    why = _cause_of_divergence(trace.sent or trace.request.body, raw, chat)
    if why is None and trace.api is not Api.CHAT and not (_prompt_count(raw) and _prompt_count(chat)):
        why = "this API builds its own prompt, and no token counts show that both read the same one"
    return Comparability(Certainty.INFERRED) if why is None else Comparability(None, f"{_TWO_RUNS}: {why}")


def is_partial(trace: Trace) -> bool:
    """Return whether a part of the pasted text was left out or cut: then what is absent in it proves nothing."""
    return any(note.startswith(_NOT_WHOLE) or any(words in note for words in _CALLS_LEFT_OUT) for note in trace.notes)


def is_not_whole(raw: Completion) -> bool:
    """Return whether a raw output begins or ends within something, or was put together from pieces."""
    return raw.completeness is not Completeness.WHOLE and raw.completeness_reason in _NOT_ALL_OF_IT


def has_part_of_call(text: str) -> bool:
    """Return whether a text has something in it that is written of calls alone: then no one says that it has no call.

    >>> has_part_of_call('"Rome"}}</tool_call>'), has_part_of_call("It ends with `</tool_call>`.")
    (True, False)
    """
    return _OF_CALL.search(_AS_CODE.sub("", text)) is not None


def why_incomplete(raw: Completion) -> str:
    """Return what a raw text that is incomplete lacks, as a clause; `completeness_reason` has the proof."""
    if is_not_whole(raw):
        return f"The raw output may be incomplete: {raw.completeness_reason.partition(', so ')[0]}"
    lacks = "lacks" if raw.completeness is Completeness.STRIPPED else "may lack"
    return f"The raw text {lacks} control tokens"


def may_constrain(body: JSONObject) -> bool:
    """Return whether a server may put a grammar on this chat's output that raw completion lacks.

    Source: vLLM 0.32, `parser/abstract_parser.py`, `_apply_structural_tag`.
    """
    choice, tools = body.get("tool_choice"), body.get("tools")
    if not isinstance(tools, list) or not tools or choice == "none":
        return False
    if choice == "required" or isinstance(choice, dict) or body.get("parallel_tool_calls") is False:
        return True
    functions = [tool.get("function") for tool in tools if isinstance(tool, dict)]
    return any(isinstance(function, dict) and function.get("strict") is True for function in functions)


def draws_at_random(body: JSONObject) -> bool:
    """Return whether two generations of this request may differ by chance: no seed, and temperature not 0."""
    temperature = body.get("temperature")
    is_zero = isinstance(temperature, int | float) and not isinstance(temperature, bool) and temperature == 0
    return not is_zero and body.get("seed") is None


def _broke_off(chat: ChatResult) -> bool:
    """Return whether a stream ended before its end, without an error of the server's that would say why."""
    broke = chat.error is not None and not chat.error.startswith(REPORTED)
    return broke and bool(chat.deltas) and not chat.finish_reason


def _prompt_count(result: Completion | ChatResult) -> int:
    return (result.usage.prompt_tokens or 0) if result.usage is not None else 0


def _cause_of_divergence(body: JSONObject, raw: Completion, chat: ChatResult) -> str | None:
    """Return what lets two runs differ, or shows that they do; `None` if they had to agree."""
    if draws_at_random(body):
        return "the request sets neither `temperature: 0` nor a `seed`"
    if may_constrain(body) and raw.constraint is None:
        return "the server may have applied a grammar only to the answer"
    for field in ("prompt_tokens", "completion_tokens"):
        left, right = getattr(raw.usage, field, None), getattr(chat.usage, field, None)
        if left is not None and right is not None and left != right:
            return f"`{field}` is {left} for the one, {right} for the other"
    if (lacking := _text_of_another_run(raw.text, chat.message)) is not None:
        return f"the answer contains {lacking!r}, which the raw output does not"
    return None


def _text_of_another_run(raw: str, message: JSONObject) -> str | None:
    """Return the beginning of a text of the answer that did not come from a raw output; `None` if all may have.

    A parser takes away and converts; it does not write a content of which most is not there, or a text in arguments
    of which nothing is.

    >>> _text_of_another_run('<call>{"city": "Oslo"}</call>', {"content": "It is sunny in Paris today."})
    'It is sunny in Paris today.'
    >>> _text_of_another_run("<think>Hm.</think>It is  sunny in Paris.", {"content": "It is sunny in Paris."})
    """
    known = _grams(_ESCAPED.sub(lambda found: chr(int(found[1], 16)), raw[:_MAX_CHARS]))
    content = message.get("content")
    if isinstance(content, str):
        wanted = _grams(content[:_MAX_CHARS])
        if len(wanted) >= _MIN_GRAMS and len(wanted & known) < _LEAST_SHARE * len(wanted):
            return content.strip()[:_SHOWN]
    for text in _texts_of_arguments(message):
        wanted = _grams(text[:_MAX_CHARS])
        if wanted and not wanted & known:
            return text.strip()[:_SHOWN]
    return None


def _grams(text: str) -> set[str]:
    text = "".join(text.split())
    return {text[at : at + _GRAM] for at in range(len(text) - _GRAM + 1)}


def _texts_of_arguments(message: JSONObject) -> Iterator[str]:
    """Yield the texts in the arguments of a message's calls."""
    calls = message.get("tool_calls")
    for call in calls[:_MAX_CALLS] if isinstance(calls, list) else ():
        function = call.get("function") if isinstance(call, dict) else None
        arguments = function.get("arguments") if isinstance(function, dict) else None
        left: list[JSON] = [_decoded(arguments) if isinstance(arguments, str) else arguments]
        while left:
            value = left.pop()
            if isinstance(value, str):
                yield value
            elif isinstance(value, dict | list):
                left += value.values() if isinstance(value, dict) else value


def _decoded(arguments: str) -> JSON:
    """Return arguments as an object; nothing of broken ones, whose texts no one knows."""
    try:
        value: JSON = json.loads(arguments[:_MAX_CHARS])
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
