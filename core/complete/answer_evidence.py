"""Evidence for an answer that has arrived: the ids that came with it, or, only without them, a second sampling.

`gather` asks three things at once to see most of one request. Anyone who asks thousands wants one question each:
what the answer reports of its own run is enough, and nothing is sampled again that would prove nothing.
"""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Protocol

from prompt_debugger.core.base.comparable import draws_at_random
from prompt_debugger.core.base.errors import BackendError
from prompt_debugger.core.base.protocols import Tokenizer
from prompt_debugger.core.base.types import ChatResult, Completeness, JSONObject, Prompt, Server
from prompt_debugger.core.base.types.frozen import replace
from prompt_debugger.core.complete.client import ServerClient
from prompt_debugger.core.complete.engines import engine_of
from prompt_debugger.core.complete.evidence import Gathering
from prompt_debugger.core.complete.ladder import Gathered, Sampling
from prompt_debugger.core.known_errors import Cause, cause_of

_DRAWS = "the request samples at random, so another sample says nothing about this answer"
_ENOUGH_AGREEMENTS = 4  # answers after which our decoding is believed without asking the server for its own


class TakesTurn(Protocol):
    """Hands out places among those that talk to the server."""

    def __call__(self) -> AbstractAsyncContextManager[None]:
        """Return what holds the place while it is entered."""


@dataclass(slots=True)
class Decoding:
    """How often our tokenizer decoded an answer's ids as its server did.

    Attributes:
        agreements: How often so far; -1 once it did not.
    """

    agreements: int = 0

    @property
    def is_believed(self) -> bool:
        """Whether the server need not be asked any more."""
        return self.agreements >= _ENOUGH_AGREEMENTS

    def note(self, *, agrees: bool) -> None:
        """Count one more comparison."""
        self.agreements = -1 if not agrees or self.agreements < 0 else self.agreements + 1


async def gather_from_answer(
    client: ServerClient,
    server: Server,
    body: JSONObject,
    chat: ChatResult,
    *,
    tokenizer: Tokenizer | None = None,
    local_prompt: Prompt | None = None,
    turn: TakesTurn | None = None,
    decoding: Decoding | None = None,
    asks_once: bool = False,
) -> Gathered:
    """Return the best evidence of what the model wrote for one answer.

    Args:
        client: The server.
        server: What is known of it.
        body: The chat request, as it went out.
        chat: Its answer, streamed or not.
        tokenizer: Decodes ids where the server does not.
        local_prompt: Our own render, the last resort for a raw completion.
        turn: Returns a place among those that talk to the server, for each question that makes it generate.
        decoding: Remembers whether the tokenizer decodes as the server does.
        asks_once: Whether the server must not generate anything again.
    """
    gathering = _Afterwards(
        client, server, body, tokenizer, local_prompt, asks_once=asks_once, turn=turn, decoding=decoding
    )
    return await gathering.judge(chat)


@dataclass(slots=True)
class _Afterwards(Gathering):
    """One answer: what was decoded of it, so that nothing is asked twice."""

    turn: TakesTurn | None = None
    decoding: Decoding | None = None
    decoded: dict[tuple[int, ...], str | None] = field(default_factory=dict)

    async def judge(self, chat: ChatResult) -> Gathered:
        self.reported_ids, self.reported_text = chat.prompt_token_ids, chat.prompt_text
        own = (await self._own_run(chat)).completion
        sampling = Sampling(problem="the answer includes the ids of its own run", is_unasked=True)
        if own is None or own.completeness is not Completeness.WHOLE:
            sampling = await self._sample_again()
        gathered = await self._settle(None, chat, chat, sampling)
        return gathered if self.body.get("stream") is True else replace(gathered, chat_stream=None)

    async def _sample_again(self) -> Sampling:
        """Sample once more where that can say something about the answer."""
        if self.asks_once:
            return Sampling(problem="nothing is generated again for it", is_unasked=True)
        if problem := engine_of(self.server.kind).no_raw_run:
            return Sampling(problem=problem)
        if draws_at_random(self.body):
            return Sampling(problem=_DRAWS)
        if self.turn is None:
            return await self._sample_on_best_prompt()
        async with self.turn():
            return await self._sample_on_best_prompt()

    async def _sample_on_best_prompt(self) -> Sampling:
        rendered = await self._render()
        if rendered is not None:
            return await self._sample_ids(rendered.token_ids, "the server's own render", rendered)
        if self.reported_ids is not None:
            return await self._sample_ids(self.reported_ids, "the chat's own prompt ids")
        return await self._sample_without_chat()

    async def _decode(self, token_ids: tuple[int, ...] | None) -> str | None:
        if token_ids is None:
            return None
        if token_ids in self.decoded:
            return self.decoded[token_ids]
        if self.tokenizer is not None and self.decoding is not None and self.decoding.is_believed:
            text: str | None = self.tokenizer.decode(token_ids)
        else:
            text = await Gathering._decode(self, token_ids)
            if self.tokenizer is not None and self.decoding is not None and "detokenize" in self.server.features:
                self.decoding.note(agrees=text == self.tokenizer.decode(token_ids))
        self.decoded[token_ids] = text
        return text


async def ask_once(client: ServerClient, body: JSONObject) -> ChatResult:
    """Ask for one answer, streamed if the request says so.

    Raises:
        BackendError: There is none, or none with a good status.
    """
    if body.get("stream") is True:
        return await client.chat_stream(body)
    return await client.chat(body)


def has_no_quota(error: BackendError) -> bool:
    """Return whether the account that a key belongs to has no quota left: then waiting does not help."""
    return cause_of(error.server_message, error.code) is Cause.QUOTA


def is_passing(error: BackendError) -> bool:
    """Return whether a failure may be gone the next time: load, time or a connection, not the request."""
    if error.status == 429 and has_no_quota(error):
        return False
    if error.status is not None:
        return error.status in (408, 409, 425, 429) or error.status >= 500
    return error.kind in ("unreachable", "timeout", "broken-answer", "broken-stream")
