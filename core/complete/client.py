"""The client of one server: what it offers, chat, raw completion, and its own endpoints."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar

from prompt_debugger.core.base.errors import BackendError
from prompt_debugger.core.base.json_values import as_object
from prompt_debugger.core.base.types import Api, ChatResult, Completion, JSONObject, Server, ServerOutcome
from prompt_debugger.core.base.wire import name_model, wire_of
from prompt_debugger.core.complete.backends.address import read_address
from prompt_debugger.core.complete.backends.certificates import Authorities
from prompt_debugger.core.complete.backends.completions import request_completion
from prompt_debugger.core.complete.backends.guard import NetworkGuard
from prompt_debugger.core.complete.backends.http import HttpConnection
from prompt_debugger.core.complete.backends.limits import Timeouts
from prompt_debugger.core.complete.backends.llama_cpp import TemplateAnswer
from prompt_debugger.core.complete.backends.openai_chat import request_chat, request_chat_stream
from prompt_debugger.core.complete.backends.other_apis import request_streamed, request_whole
from prompt_debugger.core.complete.backends.probe import probe_server
from prompt_debugger.core.complete.backends.vllm import RenderAnswer, request_render
from prompt_debugger.core.complete.chat_stream import OnDelta, OnPromptIds
from prompt_debugger.core.complete.dialects._received import Received
from prompt_debugger.core.complete.engines import (
    ENGINES,
    UNKNOWN,
    Endpoints,
    Engine,
    OutputToParse,
    OwnParsers,
    engine_of,
)
from prompt_debugger.core.complete.raw_completion import OnText
from prompt_debugger.core.complete.sampling import plain_body, raw_body

_LOGPROBS = ("logprobs", "top_logprobs")
_Result = TypeVar("_Result")


class ServerClient:
    """Speaks to one OpenAI-compatible server; an async context manager.

    Every call can be cancelled, which closes its connection. Every call raises `BackendError` if there is no usable
    answer.

    Attributes:
        base_url: Up to and including `/v1`.
        server: What `probe` found; `None` before.
        notes: What `probe` could not see, one sentence each.
        wants_key: Whether `probe` was refused for want of a key, or of another one.
        api: By which API a run asks; chat completions unless it is one that `asking_by` returned.
    """

    def __init__(
        self,
        base_url: str,
        *,
        api_key: str | None = None,
        timeouts: Timeouts | None = None,
        guard: NetworkGuard | None = None,
        extra_headers: Mapping[str, str] | None = None,
        ca_file: str | Path | None = None,
        ca_text: str | None = None,
    ) -> None:
        """Prepare; nothing is sent.

        Args:
            base_url: Server address, with or without `/v1` at its end.
            api_key: Sent as bearer token, over https or to this machine only; never shown.
            timeouts: How long to wait.
            guard: Which servers may be talked to; `None` for any.
            extra_headers: Sent with every request, as a key is; never shown.
            ca_file: Certificates in PEM form to trust besides the public ones.
            ca_text: The same as text.

        Raises:
            BackendError: The address is invalid, the key or a header must not be sent there, the guard does not list
                the server, or the file of certificates cannot be used (kind `refused`).
        """
        address = read_address(base_url)
        self._connection = HttpConnection(
            address, api_key, timeouts or Timeouts(), guard, extra_headers, Authorities(ca_file, ca_text)
        )
        self._refused_fields: dict[str, str] = {}
        self.api = Api.CHAT
        self._native: JSONObject = {}
        self.base_url = address.base_url
        self.server: Server | None = None
        self.notes: tuple[str, ...] = ()
        self.wants_key = False

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._connection.close()

    async def probe(self, model: str | None = None) -> Server:
        """Find out what the server is; what it does not report stays unknown.

        Args:
            model: Name that requests will use; `None` for the server's first.

        Raises:
            BackendError: It answers nothing at all.
        """
        found = await probe_server(self._connection, model)
        self.server, self.notes, self.wants_key = found.server, found.notes, found.wants_key
        return found.server

    def asking_by(self, api: Api, native: JSONObject) -> ServerClient:
        """Return a client that asks by another API: it sends `native` in place of the chat request it converts to."""
        other = copy(self)  # connection and refused fields are shared
        other.api, other._native = api, native  # of its own class
        return other

    @property
    def refused_fields(self) -> Mapping[str, str]:
        """Our added fields that the server refused, with its words."""
        return dict(self._refused_fields)

    def body_as_sent(self, body: JSONObject) -> JSONObject:
        """Return a chat request as it goes out: as given, plus what makes the server report the ids of the run.

        Where another API is asked instead, this body is not sent, and stays as given.
        """
        if self.api is not Api.CHAT:
            return body
        is_stream = body.get("stream") is True
        fields = stream_fields(self._engine, body) if is_stream else chat_fields(self._engine, body)
        return {**body, **self._not_refused(fields)}

    @property
    def native_as_sent(self) -> JSONObject | None:
        """The body as it goes out, where another API than chat completions is asked."""
        if self.api is Api.CHAT:
            return None
        fields = self._not_refused(self._engine.own_fields.by_api.get(self.api, {}))
        sent: JSONObject = {**self._native, **fields}
        return wire_of(self.api, sent, is_streamed=False).body if self.api is Api.GEMINI else sent

    async def chat(self, body: JSONObject) -> ChatResult:
        """Run a chat completion, not streamed; an odd answer is data, with its `error` set."""
        if self.api is not Api.CHAT:
            return await self._ask_native(lambda sent: request_whole(self._connection, self.api, sent))
        return await self._ask_with_own_fields(body, chat_fields(self._engine, body), self._chat)

    async def chat_stream(
        self, body: JSONObject, on_delta: OnDelta | None = None, on_prompt_ids: OnPromptIds | None = None
    ) -> ChatResult:
        """Run a chat completion, streamed; a stream that breaks is data, with its `error` set."""
        if self.api is not Api.CHAT:
            return await self._ask_native(lambda sent: request_streamed(self._connection, self.api, sent, on_delta))

        async def ask(sent: JSONObject) -> ChatResult:
            return await request_chat_stream(self._connection, sent, on_delta, on_prompt_ids)

        # vLLM gives these to whole answers only, refuses them on a stream, and they change nothing in it.
        body = {key: value for key, value in body.items() if key != "prompt_logprobs"}
        usage: JSONObject = {"stream_options": {**as_object(body.get("stream_options")), "include_usage": True}}
        own = {**stream_fields(self._engine, body), **usage}
        try:
            return await self._ask_with_own_fields(body, own, ask)
        except BackendError as error:
            may_drop = body.get("logprobs") is True and body.get("stream") is not True
            if not may_drop or not fields_to_drop(error, _LOGPROBS, may_be_unnamed=False):
                raise  # what was asked for is refused
            refusal = error.message
        # llama.cpp streams no log-probabilities with tools; the stream is our wish, not the request's.
        result = await self._ask_with_own_fields({k: v for k, v in body.items() if k not in _LOGPROBS}, own, ask)
        self._refused_fields["`logprobs` in a stream"] = refusal
        return result

    async def complete(
        self, prompt: Sequence[int] | str, sampling: JSONObject, on_text: OnText | None = None
    ) -> Completion:
        """Run a raw completion, special tokens kept.

        Args:
            prompt: Token ids, or text that is tokenized without adding anything.
            sampling: Further fields, as `sampling_of_chat` gives them; the model is the server's first if not named.
            on_text: Called with all the text so far, as it streams.

        Returns:
            The completion. Its text is the server's: without the end token, and without special tokens from a
            server that refuses vLLM's fields (then `token_ids` is `None`).
        """
        model = name_model({}, None if self.server is None else self.server.model)
        body = raw_body(prompt, {**model, **sampling})
        try:
            return await request_completion(self._connection, {**body, **self._engine.own_fields.completion}, on_text)
        except BackendError as error:
            if self._engine.own_fields.are_known or error.status not in REFUSED:
                raise
            reply = f"{error.message} {error.body}"
        plain = plain_body(body)
        if "logprobs" in reply:  # mlx-lm takes a yes or no where others take a number
            plain.pop("logprobs", None)
        return await request_completion(self._connection, plain, on_text)

    async def detokenize(self, token_ids: Sequence[int]) -> str:
        """Return the server's own text for ids, special tokens kept."""
        return await self._engine.endpoints.text(
            self._connection, self.server.model if self.server else None, token_ids
        )

    async def reported_tokens(self, token_ids: Sequence[int], text: str) -> tuple[bytes | str, ...] | None:
        """Return of each id its bytes, or its vocabulary entry, as the server reports them; `None` if it does not."""
        model = None if self.server is None else self.server.model
        return await request_reported_tokens(self._connection, self._engine.endpoints, model, token_ids, text)

    async def tokenize_chat(self, body: JSONObject) -> tuple[int, ...]:
        """Return prompt ids by `/tokenize`; it ignores some fields, so they can differ from the chat's."""
        return await self._engine.endpoints.token_ids(self._connection, body)

    async def render(self, body: JSONObject) -> RenderAnswer:
        """Return what the server would run for a chat request."""
        if self.api is not Api.CHAT:
            wire = wire_of(self.api, self._native, is_streamed=False)
            return await request_render(self._connection, wire.body, f"{wire.path}/render")
        return await self._engine.endpoints.render(self._connection, body)

    async def apply_template(self, body: JSONObject) -> TemplateAnswer:
        """Return the prompt that the server would run for a chat request."""
        return await self._engine.endpoints.template(self._connection, body)

    async def run_parser(self, parsers: OwnParsers, name: str, output: OutputToParse) -> ServerOutcome:
        """Run a parser of the server on an output."""
        return await parsers.run(self._connection, name, output)

    async def tokenizer_info(self) -> JSONObject:
        """Return the server's tokenizer settings, its chat template among them."""
        return await self._engine.endpoints.tokenizer_info(self._connection)

    async def _ask_native(self, ask: Callable[[JSONObject], Awaitable[Received]]) -> ChatResult:
        received = await self._ask_with_own_fields(self._native, self._engine.own_fields.by_api.get(self.api, {}), ask)
        self.notes = tuple(dict.fromkeys((*self.notes, *received.notes)))
        return received.result

    async def _chat(self, sent: JSONObject) -> ChatResult:
        return await request_chat(self._connection, sent)

    async def _ask_with_own_fields(
        self, body: JSONObject, own: JSONObject, ask: Callable[[JSONObject], Awaitable[_Result]]
    ) -> _Result:
        """Ask with our fields, and again without those for whose sake the server may have refused."""
        dropped: dict[str, str] = {}
        while True:
            added = {key: value for key, value in self._not_refused(own).items() if key not in dropped}
            try:
                result = await ask({**body, **added})
            except BackendError as error:
                fields = fields_to_drop(error, added, may_be_unnamed=not self._engine.own_fields.are_known)
                if not fields:
                    raise
                dropped |= dict.fromkeys(fields, error.message)
            else:
                self._refused_fields |= dropped
                return result

    def _not_refused(self, fields: JSONObject) -> JSONObject:
        return {key: value for key, value in fields.items() if key not in self._refused_fields}

    @property
    def _engine(self) -> Engine:
        return UNKNOWN if self.server is None else engine_of(self.server.kind)


_MAX_SINGLE_IDS = 100


# llama.cpp   POST /tokenize  content, with_pieces            →  tokens: [{id, piece: text or bytes}]
# vLLM        POST /tokenize  prompt, return_token_strs       →  tokens: [id], token_strs: [vocabulary entry]
# Both tokenize a text, so what is asked is the text of the ids. A model may write a word in other tokens than the
# tokenizer would; ids that the answer does not hold are asked for one by one, as text.
async def request_reported_tokens(
    connection: HttpConnection, endpoints: Endpoints, model: str | None, token_ids: Sequence[int], text: str
) -> tuple[bytes | str, ...] | None:
    """Return of each id its bytes, or its vocabulary entry as the tokenizer spells it.

    Args:
        connection: Where to.
        endpoints: How this server software is asked.
        model: Name of the model, where the server wants it.
        token_ids: The ids.
        text: What they decode to.

    Returns:
        One per id; `None` if the server does not report those of each.
    """
    try:
        known = await endpoints.pieces(connection, model, text)
        missing = sorted(set(token_ids) - set(known))
        if not known or len(missing) > _MAX_SINGLE_IDS:
            return None
        alone = {one: (await endpoints.text(connection, model, [one])).encode("utf-8", "replace") for one in missing}
    except BackendError:
        return None
    return tuple(alone[one] if one in alone else known[one] for one in token_ids)


REFUSED = frozenset({400, 422})


# The record of a server says which fields it is known to take; any other gets vLLM's, and `logprobs` for the text of
# each token. A stream gets fewer: llama.cpp puts its ids into whole answers, and refuses `logprobs` with tools in a
# stream; llama-cpp-python 0.3.36 repeats and loses pieces of a stream that has them. An added field that a server
# refuses is a note about evidence; the request without it is what counts.
def chat_fields(engine: Engine, body: JSONObject) -> JSONObject:
    """Return what is added to a chat request that is not streamed; of log-probabilities, what it does not settle."""
    is_settled = any(name in body for name in _LOGPROBS) and body.get("logprobs") is not True
    settled = _LOGPROBS if is_settled else [name for name in _LOGPROBS if name in body]
    return {key: value for key, value in _but_given(engine.own_fields.chat, body).items() if key not in settled}


def stream_fields(engine: Engine, body: JSONObject) -> JSONObject:
    """Return what is added to a chat request that is streamed, besides asking for `usage`."""
    return _but_given(engine.own_fields.stream, body)


def _but_given(fields: JSONObject, body: JSONObject) -> JSONObject:
    """Return fields without those whose parts a request sets itself, such as Dynamo's `nvext`."""
    return {key: value for key, value in fields.items() if not (isinstance(value, dict) and key in body)}


def fields_to_drop(error: BackendError, added: Iterable[str], *, may_be_unnamed: bool) -> tuple[str, ...]:
    """Return those of our fields that may be why a server refused a request.

    Args:
        error: The refusal.
        added: The fields that were added.
        may_be_unnamed: Whether the server may refuse a field without naming it; then all are dropped.

    Returns:
        None if it was not a refusal, or one about something else.
    """
    names = tuple(added)
    if error.status not in REFUSED:
        return ()
    reply = f"{error.message} {error.body}"
    named = {name for name in names if name in reply}
    for group in _groups():  # who does not know one does not know the other
        named |= group if named & group else set()
    return tuple(name for name in names if name in named) or (names if may_be_unnamed else ())


def _groups() -> Iterator[frozenset[str]]:
    """Yield the fields that belong to one software; those of log-probabilities are of the OpenAI endpoints."""
    return (frozenset(engine.own_fields.chat) - set(_LOGPROBS) for engine in ENGINES.values())
