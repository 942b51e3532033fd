"""The shapes in which vendors answer a chat request, as their public documentation shows them: one table.

These are not the vendors' programs. Each entry is what goes over the wire for a
question about the weather in Paris, and what may be said of it.
"""

from __future__ import annotations

import gzip
import json
from dataclasses import dataclass, field

from prompt_debugger.core.base.types import JSON, JSONObject
from tests.core.complete.faulty_server import Behaviour, answer, stream

ARGUMENTS = '{"city": "Paris"}'
USAGE: JSONObject = {"prompt_tokens": 50, "completion_tokens": 12, "total_tokens": 62}
DONE = b"data: [DONE]\n\n"
KIMI_CALL = (
    "<|tool_calls_section_begin|><|tool_call_begin|>functions.get_weather:0<|tool_call_argument_begin|>"
    '{"city": "Paris"}<|tool_call_end|><|tool_calls_section_end|>'
)
HERMES_CALL = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Paris"}}\n</tool_call>'

GLM_CALL = "<tool_call>get_weather\n<arg_key>city</arg_key>\n<arg_value>Paris</arg_value>\n</tool_call>"
QWEN_CALL = "<tool_call>\n<function=get_weather>\n<parameter=city>\nParis\n</parameter>\n</function>\n</tool_call>"
LLAMA_CALL = '<|python_tag|>{"name": "get_weather", "parameters": {"city": "Paris"}}'
MISTRAL_CALL = '[TOOL_CALLS][{"name": "get_weather", "arguments": {"city": "Paris"}}]'
MISTRAL_V11_CALL = '[TOOL_CALLS]get_weather[ARGS]{"city": "Paris"}'


def call(arguments: JSON = ARGUMENTS, **fields: JSON) -> JSONObject:
    """Return a call of `get_weather`; a field that is `None` here is left out."""
    function: JSON = {"name": "get_weather", "arguments": arguments}
    whole: JSONObject = {"id": "call_1", "type": "function", "function": function, **fields}
    return {key: value for key, value in whole.items() if value is not None}


def message(content: JSON = None, *calls: JSON, **fields: JSON) -> JSONObject:
    """Return an assistant message."""
    return {"role": "assistant", "content": content, **({"tool_calls": list(calls)} if calls else {}), **fields}


@dataclass(frozen=True)
class Shape:
    """An answer in a vendor's shape.

    Attributes:
        message: The message of the whole answer.
        finish_reason: Its finish reason.
        codes: Findings that must be there; no other may be of severity error.
        usage: `usage` of the whole answer; absent where it is `None`.
        choice: Further fields of the choice.
        deltas: What the stream sends instead of the message in one piece.
        indexed: Whether calls in the stream carry `index`.
        head: Bytes before the first event of the stream.
        tail: Bytes at its end.
        newline: What ends its lines.
        reply: An answer of another kind, to every chat request.
        status: Status of a refusal that has no answer at all.
        said: Words that the finding of `codes`, or the error, holds.
        streamed: An answer of another kind, to requests that want a stream alone.
        asks: Fields of the request besides those of the question.
    """

    message: JSONObject = field(default_factory=lambda: message(None, call()))
    finish_reason: str | None = "tool_calls"
    codes: tuple[str, ...] = ()
    usage: JSON = field(default_factory=lambda: dict(USAGE))
    choice: JSONObject = field(default_factory=dict)
    deltas: tuple[JSONObject, ...] = ()
    indexed: bool = True
    head: bytes = b""
    tail: bytes = DONE
    newline: bytes = b"\n"
    reply: Behaviour | None = None
    status: int | None = None
    said: str = ""
    streamed: Behaviour | None = None
    asks: JSONObject = field(default_factory=dict)

    def behaviours(self) -> dict[str, Behaviour]:
        """Return what a server of this shape does on each path."""
        models: JSON = {"object": "list", "data": [{"id": "m", "object": "model", "owned_by": "vendor"}]}
        chat = self.reply or answer(200, self._whole())
        streamed = self.streamed or self.reply or stream(self._stream())
        return {
            "/v1/models": answer(200, models),
            "/v1/chat/completions#stream": streamed,
            "/v1/chat/completions": chat,
        }

    def _whole(self) -> JSONObject:
        choice: JSON = {"index": 0, "message": self.message, "finish_reason": self.finish_reason, **self.choice}
        body: JSONObject = {"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "m"}
        return {**body, "choices": [choice], **({} if self.usage == "absent" else {"usage": self.usage})}

    def _stream(self) -> bytes:
        events = [self._event(delta) for delta in self.deltas or self._deltas()]
        data = b"".join([*events, self._event({}, self.finish_reason)])
        return self.head + (data + self.tail).replace(b"\n", self.newline)

    def _deltas(self) -> list[JSONObject]:
        calls = self.message.get("tool_calls")
        rest = {key: value for key, value in self.message.items() if key != "tool_calls"}
        if not isinstance(calls, list):
            return [dict(self.message)]
        numbered: list[JSON] = [
            {**one, **({"index": number} if self.indexed else {})}
            for number, one in enumerate(calls)
            if isinstance(one, dict)
        ]
        return [rest, {"tool_calls": numbered}]

    def _event(self, delta: JSONObject, finish_reason: str | None = None) -> bytes:
        return event({"choices": [{"index": 0, "delta": delta, "finish_reason": finish_reason}]})


def event(fields: JSONObject) -> bytes:
    """Return one event of a stream."""
    base: JSONObject = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    return b"data: " + json.dumps({**base, **fields}, ensure_ascii=False).encode() + b"\n\n"


def prose(text: str = "It is sunny in Paris.", **fields: JSON) -> JSONObject:
    """Return a message that answers in words."""
    return message(text, **fields)


_AZURE = event({"choices": [], "prompt_filter_results": [{"prompt_index": 0, "content_filter_results": {}}]})
_GEMINI_CALL = call('{"city":"Paris"}', id="function-call-1", extra_content={"google": {"thought_signature": "abc"}})
_DETAILS: JSON = [{"type": "reasoning.text", "text": "Think.", "format": "unknown", "index": 0}]
_PARTS: list[JSON] = [{"type": "text", "text": "It is sunny in Paris."}]
_TGI = tuple(message(tool_calls=[{"index": 0, **call(piece, id="")}]) for piece in ("{", '"city":', ' "Paris"', "}"))

_SAID = event({"choices": [{"index": 0, "delta": message("It is sunny in Paris.")}]})


def _ended(finish_reason: str, **fields: JSON) -> JSONObject:
    return {"choices": [{"index": 0, "delta": {}, "finish_reason": finish_reason, **fields}]}


def _packed_twice(data: bytes) -> bytes:
    return gzip.compress(data[:30]) + gzip.compress(data[30:])


_HEAD: JSONObject = {"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "m"}
_CHOICE: JSONObject = {"index": 0, "message": prose(), "finish_reason": "stop"}

_LATIN = json.dumps({**_HEAD, "choices": [{**_CHOICE, "message": prose("Zürich")}]}, ensure_ascii=False)

HEALTHY: dict[str, Shape] = {
    "OpenAI": Shape(message(None, call(), refusal=None, annotations=[]), choice={"logprobs": None}),
    "Azure, an empty first chunk": Shape(head=_AZURE, choice={"content_filter_results": {}}),
    "Gemini, no index": Shape(message(None, _GEMINI_CALL), indexed=False),
    "Gemini, finish stop": Shape(message(None, _GEMINI_CALL), "stop", indexed=False),
    "Mistral": Shape(message("", call(id="D681PevKs", type=None))),
    "Ollama": Shape(message("", call('{"city":"Paris"}', id="call_x8"), reasoning="The user asks about Paris.")),
    "DeepSeek": Shape(message("", call(id="call_0_a"), reasoning_content="The user asks about Paris.")),
    "OpenRouter": Shape(
        message("", call(id="functions.get_weather:0"), refusal=None, reasoning="Think.", reasoning_details=_DETAILS),
        head=b": OPENROUTER PROCESSING\n\n: OPENROUTER PROCESSING\n\n",
        choice={"native_finish_reason": "tool_calls"},
    ),
    "Groq": Shape(
        message(None, call(id="nk9xyz123")),
        choice={"logprobs": None},
        tail=event({"choices": [], "usage": dict(USAGE), "x_groq": {"id": "req_1", "usage": dict(USAGE)}}) + DONE,
    ),
    "CRLF": Shape(newline=b"\r\n"),
    "no [DONE]": Shape(tail=b""),
    "no usage": Shape(usage="absent"),
    "usage null": Shape(usage=None),
    "zero usage": Shape(usage={"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}),
    "tool_calls null": Shape(prose(tool_calls=None), "stop"),
    "tool_calls empty": Shape(prose(tool_calls=[]), "stop"),
    "content as parts": Shape(message(_PARTS), "stop", deltas=(message("It is sunny "), {"content": "in Paris."})),
    "comments that keep alive": Shape(prose(), "stop", head=b": ping\n\n: ping\n\n"),
    "letters beyond ASCII": Shape(prose("Il fait beau à Zürich 🌞 - ok."), "stop"),
    "prose about a marker": Shape(prose("A call begins with `<tool_call>` and ends with `</tool_call>`."), "stop"),
    "prose that mentions markers": Shape(
        prose("Such models write <tool_call> tags or `<|tool_call_begin|>` markers, then <|im_end|>."), "stop"
    ),
    "arguments in pieces": Shape(
        deltas=(
            {"role": "assistant", "tool_calls": [{"index": 0, **call("")}]},
            {"tool_calls": [{"index": 0, "function": {"arguments": '{"city": '}}]},
            {"tool_calls": [{"index": 0, "function": {"arguments": '"Paris"}'}}]},
        )
    ),
    "TGI": Shape(message(None, call(id="0")), "stop", deltas=_TGI),
    "thinking as a part": Shape(message([{"type": "thinking", "thinking": _PARTS}, *_PARTS]), "stop"),
    "another word for the end": Shape(prose(), "eos_token"),
    "a legacy function_call": Shape(
        message(None, function_call={"name": "get_weather", "arguments": ARGUMENTS}), "function_call"
    ),
    "usage in a last event": Shape(tail=event({"choices": [], "usage": dict(USAGE)}) + DONE),
    "the role in every event": Shape(prose(), "stop", deltas=(message("It is sunny "), message("in Paris."))),
    "events with names": Shape(prose(), "stop", head=b"event: ping\ndata: {}\n\nretry: 3000\nid: 1\n\n"),
    "a byte order mark": Shape(prose(), "stop", head=b"\xef\xbb\xbf"),
    "a refusal of the model": Shape(message(None, refusal="I cannot help with that."), "stop"),
    "a call in a code block": Shape(prose(f"Write:\n```xml\n{HERMES_CALL}\n```"), "stop"),
    "Mistral's call in a code block": Shape(prose(f"Write:\n```\n{MISTRAL_CALL}\n```"), "stop"),
    "Llama's call in a code span": Shape(prose(f"It writes `{LLAMA_CALL}` then."), "stop"),
    "promised JSON": Shape(prose('{"city": "Paris"}'), "stop", asks={"response_format": {"type": "json_object"}}),
    "a cut that is told": Shape(prose("It is sun"), "length"),
    "a cut in another word": Shape(prose("It is sun"), "MAX_TOKENS"),
    "more tokens than max_tokens, hidden thought": Shape(
        prose(), "stop", usage={"prompt_tokens": 50, "completion_tokens": 307, "total_tokens": 357}
    ),
    "Moonshot, usage in the choice": Shape(
        prose(), "stop", streamed=stream(_SAID + event(_ended("stop", usage=dict(USAGE))) + DONE)
    ),
    "MiniMax, the whole answer as last event": Shape(
        prose(),
        "stop",
        streamed=stream(
            _SAID
            + event(_ended("stop"))
            + event(
                {"object": "chat.completion", "choices": [{"index": 0, "message": prose(), "finish_reason": "stop"}]}
            )
            + DONE
        ),
    ),
    "DashScope, empty names and ids, content null": Shape(
        deltas=(
            message(None, tool_calls=[{"index": 0, **call("")}]),
            {
                "content": None,
                "tool_calls": [{"index": 0, "id": "", "function": {"name": None, "arguments": ARGUMENTS}}],
            },
            {"content": "", "tool_calls": [{"index": 0, "id": "", "function": {"arguments": None}}]},
        )
    ),
    "an error field without a code or words": Shape(
        reply=answer(200, {**_HEAD, "error": {"code": 0, "message": ""}, "choices": [_CHOICE]}),
        streamed=stream(_SAID + event({"error": {"code": 0, "message": ""}, **_ended("stop")}) + DONE),
    ),
    "a custom tool's call": Shape(
        message(None, {"id": "call_1", "type": "custom", "custom": {"name": "shell", "input": "ls"}}),
        asks={"tools": [{"type": "custom", "custom": {"name": "shell"}}]},
    ),
    "a byte order mark before JSON": Shape(
        reply=answer(200, b"\xef\xbb\xbf" + json.dumps({**_HEAD, "choices": [_CHOICE]}).encode()),
        streamed=stream(_SAID + event(_ended("stop")) + DONE),
    ),
    "several members of gzip": Shape(
        reply=answer(200, _packed_twice(json.dumps({**_HEAD, "choices": [_CHOICE]}).encode()), content_encoding="gzip"),
        streamed=answer(
            200, _packed_twice(_SAID + event(_ended("stop")) + DONE), "text/event-stream", content_encoding="gzip"
        ),
    ),
    "Spark, code 0 in each event": Shape(
        prose(), "stop", streamed=stream(_SAID + event({"code": 0, "message": "Success", **_ended("stop")}) + DONE)
    ),
}

_PIECES = b"".join(event({"choices": [{"index": 0, "delta": {"content": text}}]}) for text in ("It ", "is ", "sun"))


def _error(text: str, **fields: JSON) -> JSONObject:
    return {"error": {"message": text, **fields}}


FAULTY: dict[str, Shape] = {
    "Kimi markup in content": Shape(message(KIMI_CALL), "stop", ("PD426",)),
    "Hermes markup in content": Shape(message(HERMES_CALL), "stop", ("PD426",)),
    "GLM markup in content": Shape(message(GLM_CALL), "stop", ("PD426",)),
    "Qwen coder markup in content": Shape(message(QWEN_CALL), "stop", ("PD426",)),
    "Llama markup in content": Shape(message(LLAMA_CALL), "stop", ("PD426",)),
    "Mistral markup in content": Shape(message(MISTRAL_CALL), "stop", ("PD426",)),
    "Mistral's later markup in content": Shape(message(MISTRAL_V11_CALL), "stop", ("PD426",)),
    "markup in reasoning": Shape(message(None, reasoning_content=HERMES_CALL), "stop", ("PD426",)),
    "arguments as an object": Shape(message(None, call({"city": "Paris"})), codes=("PD506",)),
    "arguments cut": Shape(message(None, call('{"city": "Par')), codes=("PD320",)),
    "arguments cut, and told": Shape(message(None, call('{"city": "Par')), "length", ("PD320",)),
    "arguments that are no JSON": Shape(message(None, call("city=Paris")), codes=("PD506",)),
    "no id": Shape(message(None, call(id=None)), codes=("PD507",)),
    "an empty id": Shape(message(None, call(id="")), codes=("PD507",)),
    "filtered": Shape(message(""), "content_filter", ("PD311",)),
    "an error inside the stream": Shape(
        prose(),
        "stop",
        ("PD310",),
        streamed=stream(_PIECES + b"data: " + json.dumps(_error("CUDA error", code=500)).encode() + b"\n\n"),
        said="CUDA error",
    ),
    "an error with status 200": Shape(
        reply=answer(200, _error("Upstream provider failed", code=502)), codes=("PD310",)
    ),
    "Gemini's filter": Shape(message(None), "SAFETY", ("PD311",), said="withheld"),
    "Gemini's recitation": Shape(prose("Call me"), "RECITATION", ("PD311",), said="cut the answer"),
    "Gemini, prohibited content": Shape(message(None), "PROHIBITED_CONTENT", ("PD311",), said="withheld"),
    "Gemini, a malformed call": Shape(
        message(None), "MALFORMED_FUNCTION_CALL", ("PD312",), said="MALFORMED_FUNCTION_CALL"
    ),
    "Gemini, a malformed call as its OpenAI address says it": Shape(
        message(None), "function_call_filter: MALFORMED_FUNCTION_CALL", ("PD312",), said="no call"
    ),
    "nothing at all": Shape(message(""), "stop", ("PD312",), said="no text, no call"),
    "promised JSON that was cut": Shape(
        prose('{"city": "Par'),
        "length",
        ("PD505",),
        said="was cut before the JSON",
        asks={"response_format": {"type": "json_object"}},
    ),
    "no choice": Shape(
        reply=answer(200, {**_HEAD, "choices": []}), codes=("PD310",), said="neither a choice nor an error"
    ),
    "choices null": Shape(
        reply=answer(200, {**_HEAD, "choices": None}), codes=("PD310",), said="neither a choice nor an error"
    ),
    "no message": Shape(
        reply=answer(200, {**_HEAD, "choices": [{"index": 0, "message": None, "finish_reason": "stop"}]}),
        codes=("PD310",),
        said="neither a message nor an error",
    ),
    "no finish_reason": Shape(prose(), None, ("PD412",), said="has no finish_reason"),
    "FastAPI": Shape(
        reply=answer(422, {"detail": [{"type": "missing", "loc": ["body", "tools", 0], "msg": "Field required"}]}),
        codes=("PD100",),
        said="Field required",
    ),
    "TGI": Shape(
        reply=answer(
            422, {"error": "Input validation error: `temperature` must be positive", "error_type": "validation"}
        ),
        codes=("PD100",),
        said="`temperature` must be positive",
    ),
    "llama.cpp": Shape(
        reply=answer(500, _error('JSON schema error: unrecognized type "date"', code=500, type="server_error")),
        codes=("PD100",),
        said="unrecognized type",
    ),
    "an unknown model": Shape(
        reply=answer(404, _error("The model `m` does not exist", code="model_not_found")),
        codes=("PD100",),
        said="does not exist",
    ),
    "overloaded": Shape(reply=answer(529, _error("Overloaded")), codes=("PD100",), said="Overloaded"),
    "an error that is a string": Shape(
        reply=answer(400, {"error": "tools is not supported"}), codes=("PD100",), said="tools is not supported"
    ),
    "words in place of events": Shape(
        streamed=answer(200, b"It works!", "text/plain"), codes=("PD310",), said="neither an event nor JSON"
    ),
    "a validator's Python text": Shape(
        reply=answer(
            400,
            _error(
                "1 validation error:\n  {'type': 'x', 'loc': 'body.top_k', 'msg': 'Input should be a valid number', "
                "'input': 'warm'}"
            ),
        ),
        codes=("PD100",),
        said="`top_k`: Input should be a valid number.",
    ),
    "a call in another API's form": Shape(
        message("", {"name": "get_weather", "arguments": {"city": "Paris"}}), codes=("PD506",), said="has no `function`"
    ),
    "early TGI, a call that is no list": Shape(
        message(None, call(id="0")),
        "stop",
        ("PD417",),
        streamed=stream(
            event(
                {"choices": [{"index": 0, "delta": {"role": "assistant", "tool_calls": {"index": 0, **call(id="0")}}}]}
            )
            + event(_ended("eos_token"))
            + DONE
        ),
        said="is an object, not a list",
    ),
    "MiniMax, status 200": Shape(
        reply=answer(200, {"choices": None, "base_resp": {"status_code": 1008, "status_msg": "insufficient balance"}}),
        codes=("PD310",),
        said="instead of the answer: insufficient balance",
    ),
    "Baidu, status 200": Shape(
        reply=answer(200, {"error_code": 17, "error_msg": "Open api daily request limit reached"}),
        codes=("PD310",),
        said="instead of the answer: Open api daily request limit reached",
    ),
    "success false": Shape(
        reply=answer(200, {"success": False, "message": "The quota of this account is used up"}),
        codes=("PD310",),
        said="instead of the answer: The quota of this account is used up",
    ),
    "null": Shape(reply=answer(200, b"null"), codes=("PD310",), said="it is `null`"),
    "an error event in words": Shape(
        streamed=stream(_PIECES + b"event: error\ndata: the upstream is overloaded\n\n"),
        codes=("PD310",),
        said="broke off: the upstream is overloaded",
    ),
    "an event that is a word": Shape(
        streamed=stream(b'data: "ping"\n\n' + _SAID + event(_ended("stop")) + DONE),
        codes=("PD310",),
        said="An event of the streamed answer could not be read",
    ),
    "a message in place of a delta": Shape(
        streamed=stream(event({"choices": [_CHOICE]}) + DONE), codes=("PD310",), said="in place of `delta`"
    ),
    "lines of JSON": Shape(
        streamed=answer(200, (_SAID + event(_ended("stop"))).replace(b"data: ", b"").replace(b"\n\n", b"\n")),
        codes=("PD310",),
        said="as lines of JSON",
    ),
    "a stream for one document": Shape(
        reply=answer(200, _SAID + event(_ended("stop")) + DONE, "text/event-stream"),
        codes=("PD310",),
        said="for which the request did not ask",
    ),
    "Latin-1": Shape(
        reply=answer(200, _LATIN.encode("latin-1")), codes=("PD310", "PD418"), said="The answer is not UTF-8."
    ),
    "a role and nothing else": Shape(
        streamed=stream(event({"choices": [{"index": 0, "delta": {"role": "assistant"}}]}) + DONE),
        codes=("PD412",),
        said="ended before it contained a text, a call or a finish_reason",
    ),
    "a queue": Shape(
        reply=answer(200, {"id": "sync-1", "status": "IN_QUEUE"}), codes=("PD310",), said="is not a chat completion"
    ),
    "a list": Shape(reply=answer(200, [{"generated_text": "It is"}]), codes=("PD310",), said="it is a list"),
    "a raw completion": Shape(
        reply=answer(200, {**_HEAD, "object": "text_completion", "choices": [{"index": 0, "text": "It is sunny."}]}),
        codes=("PD310",),
        said="the raw completions API",
    ),
    "Workers AI's own form": Shape(
        reply=answer(200, {"result": {"response": "It is sunny."}, "success": True, "errors": []}),
        codes=("PD310",),
        said="Workers AI",
    ),
    "SageMaker, words within words": Shape(
        reply=answer(424, {"OriginalMessage": json.dumps({"error": "`inputs` must have less than 1024 tokens"})}),
        codes=("PD100",),
        said="does not fit the server's context",
    ),
    "an account that may not": Shape(
        reply=answer(412, _error("Account a is suspended, possibly due to reaching the monthly spending limit")),
        codes=("PD100",),
        said="plan or billing",
    ),
    "xAI's answer to a wrong key": Shape(
        reply=answer(
            400, {"code": "Client specified an invalid argument", "error": "Incorrect API key provided: xa***."}
        ),
        codes=("PD100",),
        said="did not accept the API key",
    ),
    "Groq, more tokens than a minute allows": Shape(
        reply=answer(
            413, _error("Request too large on tokens per minute (TPM): Limit 6000, Requested 9012", type="tokens")
        ),
        codes=("PD100",),
        said="rate limit of the account",
    ),
    "Groq, no capacity": Shape(
        reply=answer(498, _error("Flex tier capacity exceeded. Please try again later.")),
        codes=("PD100",),
        said="no capacity",
    ),
    "SambaNova, no valid call": Shape(
        reply=answer(400, _error("Model did not output valid tool call")), codes=("PD445",), said="could not be read"
    ),
    "TGI, out of memory": Shape(
        reply=answer(424, {"error": "Request failed during generation: Server error: CUDA out of memory"}),
        codes=("PD100",),
        said="The server has too little memory",
    ),
    "TGI, a template that fails": Shape(
        reply=answer(422, {"error": "Template error: unknown method: rstrip", "error_type": "template_error"}),
        codes=("PD221",),
        said="template engine lacks something",
    ),
    "Zhipu's filter": Shape(
        reply=answer(400, _error("系统检测到输入或生成内容可能包含不安全或敏感内容", code="1301")),
        codes=("PD100",),
        said="content filter",
    ),
    "a model that is gone": Shape(
        reply=answer(410, {"title": "Gone", "detail": "The model 'x/y' has reached its end of life"}),
        codes=("PD100",),
        said="does not serve the model",
    ),
    "taken and not answered": Shape(reply=answer(202), status=202, said="answers later"),
    "a loading model": Shape(
        reply=answer(503, {"error": "Model a/b is currently loading", "estimated_time": 20.0}),
        status=503,
        said="loading",
    ),
    "no balance": Shape(
        reply=answer(403, {"code": 30001, "message": "Sorry, your account balance is insufficient"}),
        status=403,
        said="plan and billing",
    ),
    "Cloudflare's timeout": Shape(
        reply=answer(524, b"error code: 524", "text/plain"), status=524, said="Cloudflare stopped waiting"
    ),
    "no key": Shape(
        reply=answer(401, _error("Incorrect API key provided", code="invalid_api_key")),
        status=401,
        said="--api-key-env",
    ),
    "too many requests": Shape(
        reply=answer(429, _error("Rate limit reached", code="rate_limit_exceeded")),
        status=429,
        said="Rate limit reached",
    ),
    "a web page": Shape(
        reply=answer(502, b"<html><body><h1>502 Bad Gateway</h1></body></html>", "text/html"), status=502, said="502"
    ),
}
