"""Answers of known truth as a vLLM would give them, and the odd ways in which servers and proxies put them on the wire.

An answer is what the lab model wrote, with the ids of its tokens, and the message made of it. A change alters how that
travels and nothing of what it means, so that what is true of the answer stays true of every form of it.
"""

from __future__ import annotations

import copy
import gzip
import json
from collections.abc import Callable
from dataclasses import dataclass, replace

from prompt_debugger.core.base.types import JSON, JSONObject
from prompt_debugger.core.render import load_tokenizer
from tests.core.complete.faulty_server import Behaviour, answer, raw, stream
from tests.servers.running_servers import LAB_MODEL

_OPEN, _CLOSE = "<|tool_calls_section_begin|>", "<|tool_calls_section_end|>"


def _written(header: str, city: str) -> str:
    return f'<|tool_call_begin|>{header}<|tool_call_argument_begin|>{{"city": "{city}"}}<|tool_call_end|>'


def _call(city: str, number: int) -> JSONObject:
    function: JSON = {"name": "get_weather", "arguments": f'{{"city": "{city}"}}'}
    return {"id": f"functions.get_weather:{number}", "type": "function", "function": function}


@dataclass(frozen=True)
class Truth:
    """What the model wrote, and the message that a server made of it.

    Attributes:
        raw: The output, with its control tokens.
        content: Of the message.
        calls: Of the message.
        finish_reason: Of the message.
        dropped: How many calls of the output are not in the message.
        is_cut: Whether the output ends at a limit.
    """

    raw: str
    content: str | None = None
    calls: tuple[JSONObject, ...] = ()
    finish_reason: str = "tool_calls"
    dropped: int = 0
    is_cut: bool = False

    @property
    def message(self) -> JSONObject:
        """The message, as vLLM writes it."""
        return {"role": "assistant", "content": self.content, "tool_calls": [copy.deepcopy(one) for one in self.calls]}


_ONE = f"{_OPEN}{_written('functions.get_weather:0', 'Paris')}{_CLOSE}"
TRUTHS: dict[str, Truth] = {
    "a call": Truth(f"{_ONE}<|im_end|>", None, (_call("Paris", 0),)),
    "two calls": Truth(
        _OPEN
        + _written("functions.get_weather:0", "Rome")
        + _written("functions.get_weather:1", "Oslo")
        + f"{_CLOSE}<|im_end|>",
        None,
        (_call("Rome", 0), _call("Oslo", 1)),
    ),
    "words": Truth("It is sunny in Paris.<|im_end|>", "It is sunny in Paris.", (), "stop"),
    "words and a call": Truth(f"I look.{_ONE}<|im_end|>", "I look.", (_call("Paris", 0),)),
    "a dropped call": Truth(f"{_OPEN}{_written('get_weather', 'Paris')}{_CLOSE}<|im_end|>", None, (), "stop", 1),
    "words that were cut": Truth("It is sunny in", "It is sunny in", (), "length", is_cut=True),
}


@dataclass
class Wire:
    """An answer on its way: the whole one, and the events of the stream.

    Attributes:
        whole: The body of the whole answer.
        events: Bodies of the events; a text stands as it is.
        encode: Makes the bytes of the stream of its events.
        send_whole: Sends the whole body.
        send_stream: Sends the bytes of the stream.
    """

    whole: JSONObject
    events: list[JSON]
    encode: Callable[[list[JSON]], bytes]
    send_whole: Callable[[JSONObject], Behaviour]
    send_stream: Callable[[bytes], Behaviour]

    @property
    def choice(self) -> JSONObject:
        """The choice of the whole answer."""
        return choice_of(self.whole)

    @property
    def deltas(self) -> list[JSONObject]:
        """The deltas of all events that have one."""
        found = [choice_of(event).get("delta") for event in self.events if isinstance(event, dict)]
        return [delta for delta in found if isinstance(delta, dict)]


def choice_of(body: JSONObject) -> JSONObject:
    choices = body.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    return first if isinstance(first, dict) else {}


Change = Callable[[Wire], object]


def wire_of(truth: Truth) -> Wire:
    """Return an answer as vLLM sends it: ids of prompt and output, one event for each token or call."""
    ids: list[JSON] = [*load_tokenizer(LAB_MODEL).encode(truth.raw)]
    usage: JSON = {"prompt_tokens": 122, "completion_tokens": len(ids), "total_tokens": 122 + len(ids)}
    choice: JSON = {
        "index": 0,
        "message": truth.message,
        "finish_reason": truth.finish_reason,
        "logprobs": None,
        "stop_reason": None,
        "token_ids": ids,
    }
    head: JSONObject = {"id": "chatcmpl-1", "created": 1, "model": "lab-model"}
    whole: JSONObject = {**head, "object": "chat.completion", "choices": [choice], "usage": usage}
    deltas: list[JSONObject] = [{"role": "assistant", "content": ""}]
    deltas += [{"content": piece} for piece in _pieces(truth.content or "")]
    for number, call in enumerate(truth.calls):
        whole_function = call["function"]
        assert isinstance(whole_function, dict)
        arguments = str(whole_function["arguments"])
        opened: JSON = {**call, "index": number, "function": {**whole_function, "arguments": ""}}
        deltas.append({"tool_calls": [opened]})
        deltas += [{"tool_calls": [{"index": number, "function": {"arguments": part}}]} for part in _pieces(arguments)]
    events: list[JSON] = []
    for number, delta in enumerate(deltas):
        streamed: JSONObject = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": None}
        streamed["token_ids"] = ids if number == len(deltas) - 1 else []
        events.append({**head, "object": "chat.completion.chunk", "choices": [streamed]})
    last: JSON = {"index": 0, "delta": {}, "finish_reason": truth.finish_reason, "token_ids": []}
    events.append({**head, "object": "chat.completion.chunk", "choices": [last]})
    events.append({**head, "object": "chat.completion.chunk", "choices": [], "usage": copy.deepcopy(usage)})
    return Wire(whole, events, encode_events, lambda body: answer(200, body), lambda data: stream(data))


def _pieces(text: str) -> list[str]:
    return [text[at : at + 7] for at in range(0, len(text), 7)]


def encode_events(events: list[JSON]) -> bytes:
    """Return events as vLLM writes them."""
    return b"".join(_data(event) for event in [*events, "[DONE]"])


def _data(event: JSON) -> bytes:
    text = event if isinstance(event, str) else json.dumps(event, ensure_ascii=False)
    return f"data: {text}\n\n".encode()


def behaviours_of(wire: Wire) -> dict[str, Behaviour]:
    """Return what a server does that answers so."""
    models: JSON = {"object": "list", "data": [{"id": "lab-model", "object": "model", "owned_by": "vllm"}]}
    return {
        "/v1/models": answer(200, models),
        "/v1/chat/completions#stream": wire.send_stream(wire.encode(wire.events)),
        "/v1/chat/completions": wire.send_whole(wire.whole),
    }


def _bytes(change: Callable[[bytes], bytes]) -> Change:
    def alter(wire: Wire) -> None:
        inner = wire.encode
        wire.encode = lambda events: change(inner(events))

    return alter


def each_event(change: Callable[[JSONObject], object]) -> Change:
    def alter(wire: Wire) -> None:
        for event in wire.events:
            if isinstance(event, dict):
                change(event)

    return alter


def both(change: Callable[[JSONObject], object]) -> Change:
    """Change the choice of the whole answer and of each event."""

    def alter(wire: Wire) -> None:
        change(wire.choice)
        for event in wire.events:
            if isinstance(event, dict):
                change(choice_of(event))

    return alter


def calls_of(choice: JSONObject) -> list[JSONObject]:
    held = choice.get("message") or choice.get("delta")
    calls = held.get("tool_calls") if isinstance(held, dict) else None
    return [one for one in calls if isinstance(one, dict)] if isinstance(calls, list) else []


def no_ids(wire: Wire) -> None:
    both(lambda choice: choice.pop("token_ids", None))(wire)


def usage(value: JSON) -> Change:
    def alter(wire: Wire) -> None:
        wire.whole["usage"] = value
        wire.events[-1] = {**wire.events[-1], "usage": value}  # type: ignore[dict-item]  # the last event is an object

    return alter


def _drop_usage(wire: Wire) -> None:
    wire.whole.pop("usage")
    wire.events.pop()


def logprobs(token: Callable[[int], JSONObject]) -> Change:
    def alter(wire: Wire) -> None:
        ids = wire.choice["token_ids"]
        assert isinstance(ids, list)
        shown: JSON = {"content": [token(int(one)) for one in ids if isinstance(one, int)]}
        wire.choice["logprobs"] = shown

    return alter


def listed_token(number: int, **fields: JSON) -> JSONObject:
    text = load_tokenizer(LAB_MODEL).decode([number])
    return {"token": text, "logprob": -0.1, "bytes": list(text.encode()), "top_logprobs": [], **fields}


def _roles(wire: Wire) -> None:
    for delta in wire.deltas:
        delta["role"] = "assistant"


def _parts(wire: Wire) -> None:
    message = wire.choice["message"]
    assert isinstance(message, dict)
    if isinstance(message["content"], str):
        message["content"] = [{"type": "text", "text": message["content"]}]


def _end_with_last(wire: Wire) -> None:
    *_, last, end, usage = wire.events
    choice_of(last)["finish_reason"] = choice_of(end)["finish_reason"]  # type: ignore[arg-type]  # they are objects
    wire.events[-2:] = [usage]


def _stop(choice: JSONObject) -> None:
    if choice.get("finish_reason") == "tool_calls":
        choice["finish_reason"] = "stop"


def _empty_content(choice: JSONObject) -> None:
    message = choice.get("message")
    if isinstance(message, dict):
        message["content"] = message["content"] or ""


def _numbered(wire: Wire) -> None:
    for event in wire.events:
        for call in calls_of(choice_of(event)) if isinstance(event, dict) else ():
            call["index"] = str(call["index"])


def _whole_calls(wire: Wire) -> None:
    """Each call in one event, and none has an index."""
    message = wire.choice["message"]
    calls = message["tool_calls"] if isinstance(message, dict) else None
    kept = [event for event in wire.events if not (isinstance(event, dict) and calls_of(choice_of(event)))]
    ids: list[JSON] = []
    if isinstance(calls, list):
        for number, call in enumerate(calls):
            shown = wire.choice["token_ids"] if number == len(calls) - 1 else ids
            event: JSON = {"choices": [{"index": 0, "delta": {"tool_calls": [call]}, "token_ids": shown}]}
            kept.insert(len(kept) - 2, event)
    wire.events = kept


def per_call(change: Callable[[JSONObject], object]) -> Change:
    def alter(choice: JSONObject) -> None:
        for call in calls_of(choice):
            change(call)

    return both(alter)


def _packed(body: JSONObject) -> Behaviour:
    return answer(200, gzip.compress(json.dumps(body).encode()), content_encoding="gzip")


def _old_http(head: bytes) -> Callable[[bytes], Behaviour]:
    return lambda data: raw(b"HTTP/1.0 200 OK\r\ncontent-type: " + head + b"\r\n\r\n" + data)


def _gathered(data: bytes) -> Behaviour:
    return answer(200, data, "text/event-stream")


def _set(**fields: object) -> Change:
    def alter(wire: Wire) -> None:
        for name, value in fields.items():
            setattr(wire, name, value)

    return alter


def insert(at: int, *events: JSON) -> Change:
    def alter(wire: Wire) -> None:
        wire.events[at:at] = copy.deepcopy(events)

    return alter


_NONE: JSON = {"choices": None}
_PING: JSON = {"type": "ping"}

CHANGES: dict[str, Change] = {
    "as vLLM": lambda wire: None,
    # Bytes
    "CRLF": _bytes(lambda data: data.replace(b"\n", b"\r\n")),
    "CR": _bytes(lambda data: data.replace(b"\n", b"\r")),
    "a byte order mark": _bytes(lambda data: b"\xef\xbb\xbf" + data),
    "no space after data:": _bytes(lambda data: data.replace(b"data: ", b"data:")),
    "comments between": _bytes(lambda data: data.replace(b"data: {", b": ping\n\ndata: {")),
    "names of events": _bytes(lambda data: data.replace(b"data: ", b"event: message\nid: 7\ndata: ")),
    "data on two lines": _bytes(
        lambda data: data.replace(b'data: {"id": "chatcmpl-1",', b'data: {"id": "chatcmpl-1",\ndata:')
    ),
    "no [DONE]": _bytes(lambda data: data.replace(b"data: [DONE]\n\n", b"")),
    "two [DONE]": _bytes(lambda data: data + b"data: [DONE]\n\n"),
    "events after [DONE]": _bytes(lambda data: data + b": bye\n\n"),
    "no empty line at the end": _bytes(lambda data: data.rstrip(b"\n")),
    "gathered by a proxy": _set(send_stream=_gathered),
    "HTTP/1.0, no length": _set(
        send_stream=_old_http(b"text/event-stream"),
        send_whole=lambda body: _old_http(b"application/json")(json.dumps(body).encode()),
    ),
    "packed": _set(send_whole=_packed),
    "another type of content": _set(
        send_whole=lambda body: answer(200, json.dumps(body).encode(), "text/plain; charset=utf-8"),
        send_stream=lambda data: answer(200, data, "application/octet-stream"),
    ),
    # Usage
    "no usage": _drop_usage,
    "usage null": usage(None),
    "usage of zeros": usage({"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}),
    "usage empty": usage({}),
    "usage in every event": each_event(
        lambda event: event.update(usage={"prompt_tokens": 122, "completion_tokens": 0})
    ),
    "usage null in every event": each_event(lambda event: event.setdefault("usage", None)),
    # Choices and deltas
    "the role in each event": _roles,
    "choices null": insert(1, _NONE),
    "an event of another kind": insert(1, _PING),
    "empty choices before": insert(0, {"choices": []}),
    "the end in the last delta": _end_with_last,
    "the end twice": lambda wire: wire.events.insert(-1, copy.deepcopy(wire.events[-2])),
    "delta null at the end": lambda wire: choice_of(wire.events[-2]).update(delta=None),  # type: ignore[arg-type]
    "no index of the choice": both(lambda choice: choice.pop("index", None)),
    "content as parts": _parts,
    'content "" beside calls': both(_empty_content),
    "fields of a vendor": both(lambda choice: choice.update(content_filter_results={}, native_finish_reason="stop")),
    # Calls
    "finish_reason stop": both(_stop),
    "calls whole, without index": _whole_calls,
    "index as text": _numbered,
    "type left out": per_call(lambda call: call.pop("type", None)),
    "type null": per_call(lambda call: call.update(type=None)),
    "id null in pieces": per_call(lambda call: call.setdefault("id", None)),
    "id empty in pieces": per_call(lambda call: call.setdefault("id", "")),
    "name null in pieces": per_call(lambda call: call["function"].setdefault("name", None)),  # type: ignore[union-attr]
    "name empty in pieces": per_call(lambda call: call["function"].setdefault("name", "")),  # type: ignore[union-attr]
    # Evidence
    "no ids": no_ids,
    "logprobs": logprobs(listed_token),
    "logprobs with ids as text": logprobs(lambda number: listed_token(number, token=f"token_id:{number}")),
    "logprobs with ids as text and bytes": logprobs(
        lambda number: listed_token(number, token=f"token_id:{number}", bytes=list(f"token_id:{number}".encode()))
    ),
    "logprobs without bytes": logprobs(lambda number: listed_token(number, bytes=None)),
    "logprobs of minus infinity": logprobs(lambda number: listed_token(number, logprob=-9999.0)),
    "prompt_logprobs with null": lambda wire: wire.whole.update(prompt_logprobs=[None, {"5": {"logprob": -1.0}}]),
    "ids null": both(lambda choice: choice.update(token_ids=None)),
    "ids empty": both(lambda choice: choice.update(token_ids=[])),
}


def changed(truth: Truth, *names: str) -> Wire:
    """Return an answer in the form that changes give it."""
    wire = replace(wire_of(truth))
    for name in names:
        CHANGES[name](wire)
    return wire
