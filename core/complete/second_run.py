"""A second sampling in addition to a chat: a raw completion on the best prompt that is known."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias, TypeVar

from prompt_debugger.core.base.comparable import draws_at_random
from prompt_debugger.core.base.errors import BackendError
from prompt_debugger.core.base.json_values import as_object, as_text, objects_in
from prompt_debugger.core.base.protocols import Tokenizer
from prompt_debugger.core.base.types import Basis, ChatResult, Completion, JSONObject, Prompt, Server
from prompt_debugger.core.base.types.frozen import replace
from prompt_debugger.core.complete.backends.llama_cpp import TemplateAnswer
from prompt_debugger.core.complete.backends.vllm import RenderAnswer
from prompt_debugger.core.complete.client import ServerClient
from prompt_debugger.core.complete.completeness import Witness, decoded_from_ids, judge_completeness
from prompt_debugger.core.complete.engines import engine_of
from prompt_debugger.core.complete.ladder import Sampling
from prompt_debugger.core.complete.raw_completion import OnText
from prompt_debugger.core.complete.sampling import sampling_of_chat
from prompt_debugger.core.sandbox import in_thread

_Result = TypeVar("_Result")
Asking: TypeAlias = "asyncio.Task[ChatResult | BackendError]"


@dataclass(slots=True)
class SecondRun:
    """What a second sampling needs: the request, and the prompt as soon as an answer reports it."""

    client: ServerClient
    server: Server
    body: JSONObject
    tokenizer: Tokenizer | None
    local_prompt: Prompt | None
    on_raw_text: OnText | None = None
    asks_once: bool = False
    reported_ids: tuple[int, ...] | None = None
    reported_text: str | None = None
    reported_template: TemplateAnswer | None = None
    other_decoding: str | None = None
    sampled_text: str | None = None
    before_sampling: tuple[Asking, ...] = ()
    has_update: asyncio.Event = field(default_factory=asyncio.Event)

    async def _render(self) -> RenderAnswer | None:
        """Ask the server what it would run; a server that does not say has no say here."""
        if "render" not in self.server.features:
            return None
        rendered = await settled(self.client.render(self.body))
        return None if isinstance(rendered, BackendError) else rendered

    async def _sample(self, rendering: asyncio.Task[RenderAnswer | None], *asked: Asking) -> Sampling:
        """Run the raw completion as soon as the prompt is known."""
        if self.asks_once:
            return Sampling(problem="only the request itself was sent", is_unasked=True)
        if problem := engine_of(self.server.kind).no_raw_run:
            return Sampling(problem=problem)
        rendered = await rendering
        if rendered is not None:
            return await self._sample_ids(rendered.token_ids, "the server's own render", rendered)
        ids = await self._ids_of_chat(asked)
        if ids is not None:
            return await self._sample_ids(ids, "the chat's own prompt ids")
        return await self._sample_without_chat()

    async def _ids_of_chat(self, asked: Sequence[Asking]) -> tuple[int, ...] | None:
        """Return the prompt ids when an answer reports them; `None` when all have ended without."""
        ended = asyncio.create_task(_all_done(*asked))
        ended.add_done_callback(lambda _: self.has_update.set())
        try:
            await self.has_update.wait()
        finally:
            ended.cancel()
        return self.reported_ids

    async def _sample_without_chat(self) -> Sampling:
        """Sample on the best prompt where the chat reported none: the server's, ours, our text."""
        if "apply_template" in self.server.features:
            reported = await settled(self.client.apply_template(self.body))
            if not isinstance(reported, BackendError):
                self.reported_template = reported
                if reported.token_ids is not None:
                    return await self._sample_ids(reported.token_ids, "the server's `/apply-template`")
        if "tokenize" in self.server.features:
            ids = await settled(self.client.tokenize_chat(self.body))
            if not isinstance(ids, BackendError):
                return await self._sample_ids(ids, "the server's `/tokenize`")
        prompt = self.local_prompt
        if prompt is None:
            return Sampling(problem="no prompt is available: give a tokenizer whose template renders the request")
        if prompt.token_ids is not None:
            sampling = await self._sample_ids(prompt.token_ids, "our own render")
            if sampling.completion is not None:
                return replace(sampling, prompt_token_ids=None)  # ours, not the server's
        return await self._sample_text(prompt.text)

    async def _sample_ids(
        self, token_ids: tuple[int, ...], origin: str, rendered: RenderAnswer | None = None
    ) -> Sampling:
        await self._await_turn()
        fields = self._sampling_fields(len(token_ids), rendered)
        completion = await settled(self.client.complete(token_ids, fields, self.on_raw_text))
        if isinstance(completion, BackendError):
            return await self._sample_text_instead(token_ids, origin, completion)
        text = await self._decode(completion.token_ids)
        if text is None:
            return Sampling(await in_thread(self._judged, completion, token_ids), token_ids, origin)
        return Sampling(decoded_from_ids(replace(completion, text=text)), token_ids, origin)

    async def _sample_text_instead(self, token_ids: tuple[int, ...], origin: str, refusal: BackendError) -> Sampling:
        """Sample on the text of ids that a server does not take as a prompt."""
        failed = Sampling(prompt_token_ids=token_ids, origin=origin, problem=refusal.message)
        if refusal.status is None or refusal.status >= 500:
            return failed
        text = await self._decode(token_ids) or self.reported_text
        if text is None:
            return failed
        sampling = await self._sample_text(text, f"the text of {origin}")
        return failed if sampling.completion is None else replace(sampling, prompt_token_ids=token_ids)

    async def _await_turn(self) -> None:
        """Wait until what was asked before is answered, where a server may take one request at a time."""
        if self.before_sampling:
            await asyncio.wait(self.before_sampling)

    async def _sample_text(self, text: str, origin: str = "the text of our own render") -> Sampling:
        await self._await_turn()
        completion = await settled(self.client.complete(text, self._sampling_fields(None, None), self.on_raw_text))
        if isinstance(completion, BackendError):
            return Sampling(problem=completion.message)
        self.sampled_text = text
        completion = await in_thread(self._judged, replace(completion, evidence=Basis.TEXT_ONLY), None, text)
        return Sampling(completion, None, origin)

    async def _recounted(self, sampling: Sampling, chat: ChatResult) -> Sampling:
        """Return a second sampling whose text the chat shows, too, judged by the chat's count where it has none."""
        completion, counted = sampling.completion, chat.usage
        if completion is None or completion.usage is not None or counted is None or completion.token_ids is not None:
            return sampling
        if completion.text.strip() != (as_text(chat.message.get("content")) or "").strip() or draws_at_random(
            self.body
        ):
            return sampling
        completion = replace(completion, usage=counted)
        judged = await in_thread(self._judged, completion, sampling.prompt_token_ids, self.sampled_text)
        return replace(sampling, completion=judged)

    def _judged(
        self, completion: Completion, reported_ids: tuple[int, ...] | None, text: str | None = None
    ) -> Completion:
        """Return a completion with what is known of its completeness; tokenizes, so not on the event loop."""
        return judge_completeness(completion, self._witness(reported_ids, text))

    def _witness(self, reported_ids: tuple[int, ...] | None, text: str | None = None) -> Witness:
        """Return what shows whether a text of the server's is all that the model wrote.

        Args:
            reported_ids: The prompt's ids, if the server reported them.
            text: The prompt, if the server got it as text.
        """
        text = text if self.reported_template is None else self.reported_template.text
        ours = None if self.tokenizer is None or text is None else self.tokenizer.encode(text)
        functions = [as_object(tool.get("function")) for tool in objects_in(self.body.get("tools"))]
        return Witness(
            server_kind=self.server.kind,
            tokenizer=self.tokenizer,
            prompt_length=None if ours is None else len(ours),
            tokenizes_alike=ours is None or reported_ids is None or ours == reported_ids,
            has_stop_strings=bool(self.body.get("stop")),
            tool_names=[name for name in (as_text(one.get("name")) for one in functions) if name],
        )

    def _sampling_fields(self, prompt_length: int | None, rendered: RenderAnswer | None) -> JSONObject:
        max_model_len = self.server.max_model_len
        return sampling_of_chat(self.body, prompt_length=prompt_length, max_model_len=max_model_len, rendered=rendered)

    async def _decode(self, token_ids: tuple[int, ...] | None) -> str | None:
        """Return the text of ids, the server's word first; `None` without ids or without a way to decode them."""
        if token_ids is None:
            return None
        ours = await self._decode_here(token_ids)
        if "detokenize" not in self.server.features:
            return ours
        theirs = await settled(self.client.detokenize(token_ids))
        if isinstance(theirs, BackendError):
            return ours
        if ours not in (None, theirs):
            self.other_decoding = "The tokenizer here decodes these ids differently from the server; wrong tokenizer?"
        return theirs

    async def _decode_here(self, token_ids: tuple[int, ...]) -> str | None:
        """Return the text of ids by the tokenizer here; `None` where it does not have them all."""
        if self.tokenizer is None:
            return None
        if max(token_ids, default=0) >= self.tokenizer.vocabulary.size:
            self.other_decoding = "The tokenizer here does not have all ids of the run; wrong tokenizer?"
            return None
        return await in_thread(self.tokenizer.decode, token_ids)


async def settled(awaitable: Awaitable[_Result]) -> _Result | BackendError:
    """Return a result, or the server's failure as a value: one failure does not end the others."""
    try:
        return await awaitable
    except BackendError as error:
        return error


async def _all_done(*tasks: Asking) -> None:
    await asyncio.wait(tasks)
