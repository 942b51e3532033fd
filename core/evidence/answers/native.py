"""Servers' own text-generation APIs: the body has a prompt, and what is answered is a raw output.

    KoboldCpp     /api/v1/generate               {"results": [{"text": …, "finish_reason": …}]}
                  /api/extra/generate/stream     {"token": …, "finish_reason": …}, a piece per event
    Triton        /v2/models/MODEL/generate      {"model_name": …, "model_version": …, "text_output": …}
                  …/generate_stream              the same, a piece per event
    SGLang        /generate                      {"text": …, "meta_info": {"finish_reason": {"type": …}}}
    TGI           /generate                      {"generated_text": …, "details": {"finish_reason": …}}
                  /generate_stream               {"token": {"id", "text"}, "generated_text": …}, a piece per event
    llama.cpp     /completion, streamed          {"content": …, "stop": false, "id_slot": …}, a piece per event
    Anthropic     /v1/complete                   {"type": "completion", "completion": …, "stop_reason": …}

Cohere's first chat API (`/v1/chat`) answers with a message: {"text": …, "generation_id": …, "tool_calls": […]}.

An object counts as one of these only by fields that no other answer has next to its text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from prompt_debugger.core.base.json_values import as_object, as_text, objects_in
from prompt_debugger.core.base.types import JSON, ChatResult, JSONObject
from prompt_debugger.core.complete.dialects import Answer
from prompt_debugger.core.complete.dialects.cohere import REASONS as OF_COHERE
from prompt_debugger.core.evidence.evidence import UNKNOWN_ID
from prompt_debugger.core.evidence.values.chat_messages import assistant_of, call_of

_KOBOLD = "an answer of a text API in the form of KoboldCpp's"
_TRITON = "an answer of Triton's generate"
_TRITON_STREAM = "a stream of Triton"
_SGLANG = "an answer of SGLang's /generate"
_TGI = "an answer of TGI's /generate"
_ANTHROPIC = "an answer of Anthropic's text completions"
_COHERE = "an answer of Cohere's chat API, version 1"
_OF_RESULT = frozenset({"text", "finish_reason", "tool_calls", "logprobs", "prompt_tokens", "completion_tokens"})
_OF_KOBOLD = frozenset({"max_context_length", "max_length", "rep_pen", "stop_sequence", "sampler_order", "genkey"})
_OF_TOKEN = frozenset({"token", "finish_reason", "tool_calls"})
_OF_PIECE = frozenset({"id_slot", "slot_id", "tokens", "tokens_predicted", "tokens_evaluated", "multimodal"})
_REASONS = {"eos_token": "stop", "stop_sequence": "stop", "max_tokens": "length"}  # words of TGI and Anthropic
_NO_IDS = "This API gives its calls no ids."
_KEEPS_PROMPT = (
    "Triton's backends put the prompt before the output unless the request sets `exclude_input_in_output` or the "
    "model's configuration does; whether it is in this text is unknown."
)
_BEGINNING = re.compile(r"\s{0,8}(?:(?:<s>|<bos>|<\|begin_of_text\|>)\s{0,8}){0,2}")  # before the prompt
_PROMPT_LEFT_OUT = "The output begins with the prompt, as Triton's backends return it; that part was left out."


class Piece(NamedTuple):
    """What one event of a stream adds to the output."""

    words: str
    text: str
    reason: str | None = None
    is_whole: bool = False  # the text so far, not only what is new


def prompt_of(body: JSONObject) -> tuple[str, str] | None:
    """Return the prompt in a body of one of these APIs and the field that it is in; `None` for any other body."""
    if isinstance(body.get("text_input"), str):
        return str(body["text_input"]), "text_input"
    if isinstance(body.get("prompt"), str) and not _OF_KOBOLD.isdisjoint(body):
        return str(body["prompt"]), "prompt"
    if isinstance(body.get("inputs"), str) and isinstance(body.get("parameters"), dict):
        return str(body["inputs"]), "inputs"
    if isinstance(body.get("text"), str) and isinstance(body.get("sampling_params"), dict):
        return str(body["text"]), "text"
    return None


def read_native(value: JSON) -> Answer | None:
    """Return an answer of one of these APIs; `None` for any other value."""
    if not isinstance(value, dict):
        return None
    readers = (_read_kobold, _read_triton, _read_sglang, _read_tgi, _read_anthropic, _read_cohere)
    return next((found for read in readers if (found := read(value)) is not None), None)


def _read_anthropic(value: JSONObject) -> Answer | None:
    if value.get("type") != "completion" or not isinstance(value.get("completion"), str) or "choices" in value:
        return None
    reason = as_text(value.get("stop_reason"))
    return Answer(raw=str(value["completion"]), finish_reason=_REASONS.get(reason or "", reason), words=_ANTHROPIC)


def _read_cohere(value: JSONObject) -> Answer | None:
    if not isinstance(value.get("text"), str) or not isinstance(value.get("generation_id"), str) or "choices" in value:
        return None
    listed = objects_in(value.get("tool_calls"))
    calls = [call_of(one.get("name"), one.get("parameters"), UNKNOWN_ID) for one in listed]
    message = assistant_of(as_text(value["text"]) or None, calls)
    reason = as_text(value.get("finish_reason"))
    reason = "tool_calls" if calls and reason == "COMPLETE" else OF_COHERE.get(reason or "", reason)
    notes = (_NO_IDS,) if calls else ()
    return Answer(chat=ChatResult(message, reason), finish_reason=reason, notes=notes, words=_COHERE)


def _read_tgi(value: JSONObject) -> Answer | None:
    details = as_object(value.get("details"))
    reason = as_text(details.get("finish_reason"))
    if not isinstance(value.get("generated_text"), str) or reason is None or "token" in value:
        return None
    return Answer(raw=str(value["generated_text"]), finish_reason=_REASONS.get(reason, reason), words=_TGI)


def _read_kobold(value: JSONObject) -> Answer | None:
    results = value.get("results")
    if value.keys() != {"results"} or not isinstance(results, list) or not results:
        return None
    if not all(isinstance(one, dict) and isinstance(one.get("text"), str) and not one.keys() - _OF_RESULT
               for one in results):  # fmt: skip
        return None
    first = as_object(results[0])
    notes = (f"Only the first of {len(results)} outputs was read.",) if len(results) > 1 else ()
    reason = as_text(first.get("finish_reason")) or None
    if first.get("tool_calls"):
        message: JSONObject = {"role": "assistant", "content": first["text"], "tool_calls": first["tool_calls"]}
        return Answer(chat=ChatResult(message, reason), finish_reason=reason, notes=notes, words=_KOBOLD)
    return Answer(raw=str(first["text"]), finish_reason=reason, notes=notes, words=_KOBOLD)


def _read_triton(value: JSONObject) -> Answer | None:
    output = value.get("text_output")
    if "model_name" not in value or "model_version" not in value or not output:
        return None
    texts = [one for one in (output if isinstance(output, list) else [output]) if isinstance(one, str)]
    if not texts:
        return None
    more = (f"Only the first of {len(texts)} outputs was read.",) if len(texts) > 1 else ()
    return Answer(raw=texts[0], notes=more, words=_TRITON, may_repeat_prompt=True)


def _read_sglang(value: JSONObject) -> Answer | None:
    info = value.get("meta_info")
    if not isinstance(value.get("text"), str) or not isinstance(info, dict):
        return None
    ids = value.get("output_ids")
    known = isinstance(ids, list) and bool(ids) and all(isinstance(one, int) for one in ids)
    return Answer(
        raw=str(value["text"]),
        finish_reason=as_text(as_object(info.get("finish_reason")).get("type")) or None,
        token_ids=tuple(one for one in ids if isinstance(one, int)) if known and isinstance(ids, list) else None,
        words=_SGLANG,
    )


def piece_of(value: JSON) -> Piece | None:
    """Return what an event of a stream of one of these APIs adds; `None` for any other value."""
    if not isinstance(value, dict) or "choices" in value:
        return None
    token = value.get("token")
    if isinstance(token, str) and "finish_reason" in value and not value.keys() - _OF_TOKEN:
        return Piece("a stream of KoboldCpp", token, as_text(value["finish_reason"]) or None)
    if isinstance(token, dict) and isinstance(token.get("text"), str) and "generated_text" in value:
        reason = as_text(as_object(value.get("details")).get("finish_reason"))
        return Piece("a stream of TGI", str(token["text"]), _REASONS.get(reason, reason) if reason else None)
    if isinstance(value.get("text_output"), str) and "model_name" in value and "model_version" in value:
        return Piece(_TRITON_STREAM, str(value["text_output"]))
    if isinstance(value.get("content"), str) and isinstance(value.get("stop"), bool):
        return (
            None if _OF_PIECE.isdisjoint(value) else Piece("a stream of llama.cpp", str(value["content"]), _end(value))
        )
    found = _read_sglang(value)
    return None if found is None or found.raw is None else Piece(
        "a stream of SGLang", found.raw, found.finish_reason, is_whole=True
    )  # fmt: skip


def _end(value: JSONObject) -> str | None:
    ended = value.get("stop_type", "limit" if value.get("stopped_limit") is True else "")
    if value["stop"] is not True or ended == "none":
        return None
    return "length" if ended == "limit" else "stop"


def read_pieces(events: Sequence[JSONObject]) -> Answer | None:
    """Return the output that the events of one stream make; `None` if the first is not of one of these APIs."""
    first = piece_of(events[0]) if events else None
    if first is None:
        return None
    text, reason = "", None
    for piece in map(piece_of, events):
        if piece is not None:
            grows = piece.is_whole and piece.text.startswith(text)
            text, reason = piece.text if grows else text + piece.text, piece.reason or reason
    notes = ("The raw output was assembled from a stream.",)
    is_triton = first.words == _TRITON_STREAM
    return Answer(raw=text, finish_reason=reason, notes=notes, words=first.words, may_repeat_prompt=is_triton)


def drop_prompt(answer: Answer, prompt: str | None) -> Answer:
    """Return an answer without the prompt that the server put before its raw output; `None` is an unknown prompt."""
    if not answer.may_repeat_prompt or answer.raw is None:
        return answer
    if not prompt:
        return answer._replace(notes=(*answer.notes, _KEEPS_PROMPT))
    begun = _BEGINNING.match(answer.raw)
    start = begun.end() if begun is not None else 0
    if not answer.raw.startswith(prompt, start):
        return answer
    return answer._replace(raw=answer.raw[start + len(prompt) :], notes=(*answer.notes, _PROMPT_LEFT_OUT))


def objects_are_pieces(values: Sequence[JSON]) -> bool:
    """Return whether JSON values, one per line, are the events of one stream and not an answer each."""
    found = [piece_of(one) for one in objects_in(list(values[:20]))]
    return len(values) > 1 and len(found) == len(values[:20]) and all(
        piece is not None and piece.words in ("a stream of KoboldCpp", "a stream of TGI", "a stream of llama.cpp")
        for piece in found
    ) and as_object(values[0]).get("stop") is not True  # fmt: skip
