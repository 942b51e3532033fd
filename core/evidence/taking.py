"""An answer that was read, alone or with its request, and objects that may be answers → `Evidence`."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace

from prompt_debugger.core.base.comparable import COPY_ENDS
from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.base.json_values import as_object
from prompt_debugger.core.base.types import JSON, ChatResult, JSONObject, StreamDelta
from prompt_debugger.core.complete.dialects import Answer
from prompt_debugger.core.complete.dialects.base import NO_END
from prompt_debugger.core.diagnose.calls.broken_arguments import Break, break_of
from prompt_debugger.core.diagnose.calls.shortened_arguments import is_shortened
from prompt_debugger.core.diagnose.words import counted
from prompt_debugger.core.evidence.answers.completions import completions_request, is_completions_body
from prompt_debugger.core.evidence.answers.native import drop_prompt
from prompt_debugger.core.evidence.answers.read import read_answer
from prompt_debugger.core.evidence.errors.copied import error_of_text
from prompt_debugger.core.evidence.evidence import UNKNOWN_ID, Evidence, Part
from prompt_debugger.core.evidence.forms import Form
from prompt_debugger.core.evidence.values.json_of import json_of
from prompt_debugger.core.evidence.values.python_repr import CUT
from prompt_debugger.core.request import body_text, read_request

_GAP = re.compile(r"(?m)^[ \t]{0,8}(?:\.\.\.|…|\[\.\.\.\])[ \t]{0,8}$")  # a line in place of those that were left out
_REPEATED = (
    "The stream begins in the middle of a call, and its last piece repeats all arguments, though pieces of them came "
    "before it: a client that joins the pieces gets text that is not JSON."
)
_WORD = re.compile(r"\s*+(?!(?:null|true|false)\b)[^\W\d_]")  # no value of JSON, but for these, begins with a letter
_NO_BEGINNING = "The stream was copied without its beginning; calls whose name is missing were left out."
CUT_NOTE = f"{COPY_ENDS}; what came after that is unknown."


def exchange_of(form: Form, body: JSONObject, answer: JSON) -> Evidence:
    """Return the evidence of a request with what was answered.

    Raises:
        RequestError: One of them cannot be read.
    """
    if is_completions_body(body):
        evidence = replace(completions_request(body), form=form, words="a request and its response")
    else:
        evidence = Evidence(form, "a request and its response", request=read_request(body_text(body)))
    try:
        return add_answer(evidence, read_answer(answer))
    except RequestError:
        found = error_of_text(answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False))
        if found is None:
            raise
        return replace(evidence, words=f"{evidence.words}, an error", error=found.refusal)


def add_answer(evidence: Evidence, answer: Answer) -> Evidence:
    """Return evidence with what was read of an answer; its words say how many calls there are."""
    answer = drop_prompt(_share_prompt(_drop_pieces(answer)), evidence.prompt)
    calls = () if answer.chat is None else answer.chat.message.get("tool_calls") or ()
    count = len(calls) if isinstance(calls, list) else 0
    words = evidence.words
    if answer.words and evidence.form in (Form.ANSWER, Form.STREAM):
        words = answer.words
    elif answer.words not in ("", "a chat response", "a streamed response", "a message"):
        words = f"{words} ({answer.words})"
    return replace(
        evidence,
        words=f"{words}, {count} tool call{'' if count == 1 else 's'}" if count else words,
        chat=answer.chat,
        stream=answer.stream,
        raw=answer.raw if answer.raw is not None else evidence.raw,
        finish_reason=answer.finish_reason,
        error=answer.error if answer.error is not None else evidence.error,
        prompt=answer.prompt or evidence.prompt,
        is_prompt_of_answer=bool(answer.prompt) or evidence.is_prompt_of_answer,
        token_ids=answer.token_ids if answer.token_ids is not None else evidence.token_ids,
        notes=tuple(dict.fromkeys((*evidence.notes, *answer.notes))),
    )


def _share_prompt(answer: Answer) -> Answer:
    """Return an answer with the prompt that its message or the answer itself has, in both."""
    shown = next((one.prompt_text for one in (answer.chat, answer.stream) if one is not None and one.prompt_text), None)
    if not answer.prompt and answer.prompt_ids is None:
        return answer if shown is None else answer._replace(prompt=shown)
    chat = None if answer.chat is None else _knowing(answer.chat, answer)
    is_one = answer.stream is answer.chat
    stream = chat if is_one else None if answer.stream is None else _knowing(answer.stream, answer)
    return answer._replace(chat=chat, stream=stream, prompt=answer.prompt or shown)


def _knowing(result: ChatResult, answer: Answer) -> ChatResult:
    return replace(
        result,
        prompt_text=answer.prompt if result.prompt_text is None else result.prompt_text,
        prompt_token_ids=answer.prompt_ids if result.prompt_token_ids is None else result.prompt_token_ids,
    )


def _drop_pieces(answer: Answer) -> Answer:
    """Return an answer without calls that are one piece of a stream: without a name or arguments."""
    chat = answer.chat
    calls = None if chat is None or answer.stream is not None else chat.message.get("tool_calls")
    if chat is None or chat.finish_reason is not None or not isinstance(calls, list):
        return answer
    if not all("index" in as_object(call) or not as_object(call).get("id") for call in calls):
        return answer
    kept = [call for call in calls if as_object(as_object(call).get("function")).get("name") and _arguments(call)]
    return (
        answer
        if len(kept) == len(calls)
        else answer._replace(chat=replace(chat, message={**chat.message, "tool_calls": kept}, body=""))
    )


def take_last_answer(evidence: Evidence) -> Evidence:
    """Return a conversation that was copied without model and tools with its last message as the answer.

    Only where that message is the assistant's: what a client would send ends with another message.
    """
    request = evidence.request
    if request is None or {*evidence.holds} != {Part.REQUEST} or request.body.keys() != {"messages"}:
        return evidence
    messages = request.messages
    last = messages[-1] if len(messages) > 1 else {}
    if last.get("role") != "assistant" or not (
        last.get("content") or last.get("tool_calls") or last.get("function_call")
    ):
        return evidence
    if messages[-2].get("role") == "assistant":  # no one answers an answer
        return evidence
    note = "The last message of the conversation was read as the answer to those before it."
    its_field = f"messages[{len(messages) - 1}]"
    notices = tuple(one for one in request.notices if not one.field.startswith(its_field))
    rest = replace(request, body={"messages": [*messages[:-1]]}, notices=notices)
    last = _modernize_call(last)
    return replace(
        evidence,
        form=Form.EXCHANGE,
        words="a conversation and its last answer",
        request=rest,
        chat=ChatResult(last, None),
        notes=(*evidence.notes, note),
    )


def _modernize_call(message: JSONObject) -> JSONObject:
    """Return an answer with a call in the older form, `function_call`, in that of today."""
    function = as_object(message.get("function_call"))
    if message.get("tool_calls") or not function.get("name"):
        return message
    rest = {name: item for name, item in message.items() if name != "function_call"}
    return {**rest, "tool_calls": [{"id": UNKNOWN_ID, "type": "function", "function": function}]}


def as_part(answer: Answer) -> Answer:
    """Return an answer as one that is known in part: nothing follows from what is absent."""
    chat, stream = (
        None
        if result is None
        else replace(result, body=_unless_read(result), elapsed_s=None, error=_unless_cut(result.error))
        for result in (answer.chat, answer.stream)
    )
    return answer._replace(chat=chat, stream=stream)


def _unless_read(result: ChatResult) -> str:
    """Return the body of an answer of which nothing was read: it shows why."""
    return result.body if result.error is not None and not result.deltas else ""


def _unless_cut(error: str | None) -> str | None:
    return None if error is not None and error.startswith(NO_END) else error


def forget_end(evidence: Evidence) -> Evidence:
    """Return evidence of deltas alone, or of a cut answer: without a word on how it ended, so that none is missing."""
    if evidence.chat is None:
        return evidence
    chat = replace(evidence.chat, body=_unless_read(evidence.chat))  # without a body, no finish reason is expected
    return replace(evidence, chat=chat, stream=None if evidence.stream is None else chat)


def of_deltas_alone(evidence: Evidence) -> Evidence:
    """Return evidence of deltas that were copied without what is around them: neither an end nor open calls prove.

    Raises:
        RequestError: They are nothing but pieces of a call from its middle.
    """
    evidence = forget_end(evidence)
    chat = evidence.chat
    calls = None if chat is None else chat.message.get("tool_calls")
    if chat is None or not isinstance(calls, list) or chat.finish_reason is not None:
        return evidence
    whole = [call for call in calls if not _is_open(call) or _began_as_prose(chat, call)]
    chat = replace(chat, message={**chat.message, "tool_calls": whole}, error=None)
    if not any(as_object(as_object(call).get("function")).get("name") for call in calls):
        _unless_empty(evidence, chat.message)
    if len(whole) < len(calls):
        chat = replace(chat, deltas=head_deltas(chat))
    note = f"{len(calls) - len(whole)} of {len(calls)} calls were still open where the text ends, and were left out."
    notes = evidence.notes if len(whole) == len(calls) else (*evidence.notes, note, CUT_NOTE)
    return replace(evidence, chat=chat, stream=chat, notes=notes)


def _arguments(call: JSON) -> JSON:
    return as_object(as_object(call).get("function")).get("arguments")


def _is_whole(call: JSON) -> bool:
    arguments = _arguments(call)
    return isinstance(arguments, str) and isinstance(json_of(arguments), dict)


def _is_open(call: JSON) -> bool:
    """Return whether the arguments of a call may continue after the end of a text; what is broken stays broken."""
    arguments = _arguments(call)
    fault = break_of(arguments) if isinstance(arguments, str) and arguments.strip() else None
    is_broken = fault is not None and fault.kind is not Break.CUT and str(arguments).rstrip().endswith("}")
    return not (is_broken or _is_whole(call))


def _began_as_prose(chat: ChatResult, call: JSON) -> bool:
    """Return whether the piece that names a call has the beginning of its arguments, and no JSON begins so.

    Whatever follows makes no object of it. Where that piece has no arguments, their beginning may not have been copied.
    """
    name = as_object(as_object(call).get("function")).get("name")
    for delta in chat.deltas:
        pieces = delta.delta.get("tool_calls")
        for piece in pieces if isinstance(pieces, list) else ():
            function = as_object(as_object(piece).get("function"))
            if name and function.get("name") == name:
                begun = function.get("arguments")
                return isinstance(begun, str) and _WORD.match(begun) is not None
    return False


def has_cut_end(value: JSON, evidence: Evidence) -> bool:
    """Return whether an answer is cut after its message, where its finish reason may have been."""
    return CUT in as_object(value) and evidence.finish_reason is None


def drop_headless_calls(evidence: Evidence) -> Evidence:
    """Return evidence of a stream without the calls whose beginning, with their names, was not copied.

    Raises:
        RequestError: Nothing is left of it.
    """
    stream = evidence.stream
    if stream is None:
        return evidence
    calls = stream.message.get("tool_calls")
    first = stream.deltas[0].delta if stream.deltas else stream.message  # without its deltas where some were left out
    if "role" in first and not _begins_in_call(stream.deltas):
        return evidence
    if not calls and stream.finish_reason in ("tool_calls", "function_call"):  # which came earlier
        chat = replace(stream, finish_reason=None, error=None, deltas=(), body="")
        left = replace(evidence, chat=chat, stream=chat, finish_reason=None, notes=(*evidence.notes, _NO_BEGINNING))
        return _unless_empty(left, stream.message)
    if not isinstance(calls, list):
        return evidence
    known = [call for call in calls if as_object(as_object(call).get("function")).get("name")]
    if len(known) == len(calls) or _begins_with_name(first):
        return evidence
    message = {name: value for name, value in stream.message.items() if name != "tool_calls"}
    if known:
        message["tool_calls"] = known
    chat = replace(stream, message=message, finish_reason=None, deltas=(), body="")
    left = replace(evidence, chat=chat, stream=chat, finish_reason=None, notes=(*evidence.notes, _NO_BEGINNING))
    if not any(value for name, value in message.items() if name != "role") and _ends_in_repetition(stream.deltas):
        raise RequestError(
            _REPEATED, "Copy the stream from its first event on: then the finding says what a client gets."
        )
    return _unless_empty(left, message)


def _ends_in_repetition(deltas: Sequence[StreamDelta]) -> bool:
    """Return whether the last piece of one call is a whole JSON object, though a piece that begins inside one precedes.

    All pieces are of the call with the index 0, and none begins an object but the last one.
    """
    begun: list[str] = []
    for delta in deltas:
        pieces = delta.delta.get("tool_calls")
        for piece in pieces if isinstance(pieces, list) else ():
            if as_object(piece).get("index") != 0:
                return False
            text = as_object(as_object(piece).get("function")).get("arguments")
            begun += [text] if isinstance(text, str) and text else []
    if len(begun) < 2 or begun[0].lstrip().startswith("{") or "".join(begun[:-1]).rstrip().endswith("}"):
        return False
    whole = json_of(begun[-1])
    last = begun[-2].strip(' \t\n"}')
    return isinstance(whole, dict) and len(whole) > 0 and bool(last) and last in begun[-1]


def _begins_with_name(delta: JSONObject) -> bool:
    """Return whether a text begins with the first piece of the first call: then no later one began before it."""
    pieces = delta.get("tool_calls")
    piece = as_object(pieces[0]) if isinstance(pieces, list) and pieces else {}
    return piece.get("index") == 0 and bool(as_object(piece.get("function")).get("name"))


def _begins_in_call(deltas: Sequence[StreamDelta]) -> bool:
    """Return whether every piece repeats the role, so that it marks no beginning, and the first is within arguments."""
    if len(deltas) < 2 or not all("role" in one.delta for one in deltas[:2]):
        return False
    pieces = deltas[0].delta.get("tool_calls")
    piece = as_object(pieces[0] if isinstance(pieces, list) and pieces else pieces)
    function = as_object(piece.get("function"))
    begun = function.get("arguments")
    return not function.get("name") and isinstance(begun, str) and bool(begun) and not begun.lstrip().startswith("{")


def _unless_empty(evidence: Evidence, message: JSONObject) -> Evidence:
    if not any(value for name, value in message.items() if name != "role"):
        raise RequestError("The stream begins in the middle of a call.", "Copy it from the first event on.")
    return evidence


def drop_shortened(evidence: Evidence, text: str) -> Evidence:
    """Return evidence without the calls whose arguments someone shortened with `...`: no one knows what was there.

    Raises:
        RequestError: Nothing is left of it.
    """
    has_gap = evidence.stream is not None and _GAP.search(text) is not None
    if has_gap:
        evidence = replace(
            evidence, notes=(*evidence.notes, "Events were left out at `...`; what they contained is unknown.")
        )
    chat = evidence.chat
    calls = None if chat is None else chat.message.get("tool_calls")
    if chat is None or chat.finish_reason == "length" or not (has_gap or isinstance(calls, list)):
        return evidence
    every = calls if isinstance(calls, list) else []
    kept = [call for call in every if _is_whole(call) or not (has_gap or is_shortened(_arguments(call)))]
    if len(kept) == len(every) and not has_gap:
        return evidence
    message: JSONObject = {**chat.message, "tool_calls": kept} if kept else {
        name: value for name, value in chat.message.items() if name != "tool_calls"
    }  # fmt: skip
    heads = head_deltas(chat)
    has_other = evidence.raw is not None or evidence.request is not None or bool(heads)
    if not kept and not message.get("content") and not has_other:
        raise RequestError(
            "The text was shortened with `...` where the calls of an answer would be.", "Paste all of it, unchanged."
        )
    reason = chat.finish_reason if len(kept) == len(every) else None
    chat = replace(chat, message=message, finish_reason=reason, deltas=heads, body="", error=None)
    notes = evidence.notes
    if len(kept) < len(every):
        notes = (*notes, f"{counted(len(every) - len(kept), 'call')} shortened with `...` left out of the answer.")
    stream = None if evidence.stream is None else chat
    return replace(evidence, chat=chat, stream=stream, finish_reason=reason, notes=notes)


def head_deltas(chat: ChatResult) -> tuple[StreamDelta, ...]:
    """Return what a stream with gaps shows for certain: index, id and name of each piece of a call that has one.

    A piece before the first one with a name may continue a call whose beginning was left out. Fewer than two show
    nothing, unless one that has id and name has no index.
    """
    named: set[JSON] = set()
    has_no_index = False
    found: list[StreamDelta] = []
    for delta in chat.deltas:
        pieces: list[JSON] = []
        calls = delta.delta.get("tool_calls")
        for call in calls if isinstance(calls, list) else ():
            entry = as_object(call)
            function, index = as_object(entry.get("function")), entry.get("index")
            name = function.get("name")
            if "index" not in entry and name and entry.get("id"):
                has_no_index = True
                pieces.append({"id": entry["id"], "function": {"name": name}})
            if not isinstance(index, int):
                continue
            if name:
                named.add(index)
            if index in named and (name or isinstance(entry.get("id"), str)):
                head: JSONObject = {"name": name} if "name" in function else {}
                pieces.append({"index": index, "id": entry.get("id"), "function": head})
        if pieces:
            found.append(replace(delta, delta={"tool_calls": pieces}, finish_reason=None))
    return tuple(found) if len(found) > 1 or has_no_index else ()


def is_cut(evidence: Evidence) -> bool:
    """Return whether the paste ends inside the answer: then nothing shows what the rest of it holds."""
    return CUT_NOTE in evidence.notes


def compatible(pieces: list[Evidence]) -> list[Evidence]:
    """Return the pieces that may be put together: an answer that is cut is not compared with anything."""
    others = [piece for piece in pieces if not is_cut(piece)]
    has_more = any({*piece.holds} & {Part.REQUEST, Part.RAW, Part.MESSAGE} for piece in others)
    return others if has_more else pieces
