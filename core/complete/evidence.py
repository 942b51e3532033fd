"""The ladder of evidence: ids of the very run first, a second sampling last.

1. `same-run`: the chat answer carries the ids that the model wrote. Raw output is those ids, decoded.
2. `own-render`: it does not, but the prompt's ids are known. Raw output is a second sampling on them.
3. `text-only`: a second sampling on, or giving, text alone.

    render ──▶ raw completion ─┐     the prompt ids come from the server's own render; without one, from the
    chat ──────────────────────┼──▶  first chunk of the stream or the whole chat answer; without those, from
    chat, streamed ────────────┘     `/tokenize` or from our own render. Cancelling ends all of them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from dataclasses import dataclass, field, replace
from typing import TypeVar

from prompt_debugger.core.base.errors import BackendError
from prompt_debugger.core.base.json_values import as_object
from prompt_debugger.core.base.protocols import Tokenizer
from prompt_debugger.core.base.types import Basis, ChatResult, Completion, JSONObject, Prompt, Server
from prompt_debugger.core.complete.backends.completions import constraint_of
from prompt_debugger.core.complete.backends.llama_cpp import TemplateAnswer
from prompt_debugger.core.complete.backends.vllm import RenderAnswer
from prompt_debugger.core.complete.client import ServerClient
from prompt_debugger.core.complete.completeness import Witness, decoded_from_ids, judge_completeness
from prompt_debugger.core.complete.engines import engine_of
from prompt_debugger.core.complete.growing_text import VisibleText
from prompt_debugger.core.complete.ladder import (
    Gathered,
    Sampling,
    complete_ids,
    failed_chat,
    gives_nothing,
    is_broken,
    is_declined,
    is_nothing,
    notes_of,
    notes_of_refused,
    observed_server,
    place_on_ladder,
    refusal_of,
    refused_chat,
    same_run_completion,
    sampler_finish_reason,
    with_logprob_pieces,
)
from prompt_debugger.core.complete.logprob_text import completion_of_logprobs, ids_of_logprobs
from prompt_debugger.core.complete.raw_completion import OnText
from prompt_debugger.core.complete.run_facts import facts_of
from prompt_debugger.core.complete.sampling import max_tokens_of_chat, sampling_of_chat
from prompt_debugger.core.complete.shapes import objects_of, text_of
from prompt_debugger.core.sandbox import in_thread

_Result = TypeVar("_Result")


async def gather(
    client: ServerClient,
    server: Server,
    body: JSONObject,
    *,
    tokenizer: Tokenizer | None = None,
    local_prompt: Prompt | None = None,
    on_raw_text: OnText | None = None,
    on_chat_text: OnText | None = None,
) -> Gathered:
    """Run a chat request and get the best evidence of what the model really read and wrote.

    Args:
        client: The server.
        server: What is known of it.
        body: The chat request; goes out as it is, plus what makes the server tell ids.
        tokenizer: Decodes ids where the server does not.
        local_prompt: Our own render, the last resort for a raw completion.
        on_raw_text: Called with all the raw text so far.
        on_chat_text: Called with all the visible chat text so far: content, or reasoning while there is none.

    Returns:
        What there is. A request that the server refuses, in words, is a `refusal`, not an exception; a failure of
        one of the three generations is a note, or its `error`.

    Raises:
        BackendError: The server would not serve us (a wrong key, a wrong address), or none of the three generations
            came whole or was cut by a bound of ours, and the server does not say why.
    """
    return await Gathering(client, server, body, tokenizer, local_prompt, on_raw_text, on_chat_text).go()


@dataclass(slots=True)
class Gathering:
    """One run of `gather`: its arguments, and the prompt ids as soon as the stream tells them."""

    client: ServerClient
    server: Server
    body: JSONObject
    tokenizer: Tokenizer | None
    local_prompt: Prompt | None
    on_raw_text: OnText | None
    on_chat_text: OnText | None
    told_ids: tuple[int, ...] | None = None
    told_text: str | None = None
    told_template: TemplateAnswer | None = None
    other_decoding: str | None = None
    no_stream: str | None = None
    told_refusal: str | None = None
    has_news: asyncio.Event = field(default_factory=asyncio.Event)

    async def go(self) -> Gathered:
        """Ask all three at once."""
        rendering = asyncio.create_task(self._render())
        chatting = asyncio.create_task(_settled(self._chat()))
        streaming = asyncio.create_task(_settled(self._stream()))
        sampling = asyncio.create_task(self._sample(rendering, chatting, streaming))
        tasks = (rendering, chatting, streaming, sampling)
        try:
            chat, stream = await chatting, await streaming
            refusal = None
            if isinstance(chat, BackendError):
                if is_nothing(stream):
                    refusal = refusal_of(chat)
                    if is_declined(chat):
                        return self._refused(chat)
                if gives_nothing(chat, stream) and (await sampling).completion is None:
                    return self._refused(chat)
                if is_declined(chat) and not is_broken(stream):
                    self.told_refusal, chat = chat.said or chat.message, stream
            gathered = await self._settle(await rendering, chat, stream, await sampling)
            return gathered if refusal is None else refused_chat(gathered, refusal)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _render(self) -> RenderAnswer | None:
        """Ask the server what it would run; a server that does not say has no say here."""
        if "render" not in self.server.features:
            return None
        rendered = await _settled(self.client.render(self.body))
        return None if isinstance(rendered, BackendError) else rendered

    async def _chat(self) -> ChatResult:
        chat = await self.client.chat(self.body)
        self.told_text = chat.prompt_text
        if chat.prompt_token_ids is not None:
            self._tell_ids(chat.prompt_token_ids)
        return chat

    async def _stream(self) -> ChatResult:
        visible = VisibleText(self.on_chat_text)
        return await self.client.chat_stream(self.body, visible.add, self._tell_ids)

    def _tell_ids(self, token_ids: tuple[int, ...]) -> None:
        self.told_ids = token_ids
        self.has_news.set()

    async def _sample(
        self,
        rendering: asyncio.Task[RenderAnswer | None],
        chatting: asyncio.Task[ChatResult | BackendError],
        streaming: asyncio.Task[ChatResult | BackendError],
    ) -> Sampling:
        """Run the raw completion as soon as the prompt is known."""
        if problem := engine_of(self.server.kind).no_raw_run:
            return Sampling(problem=problem)
        rendered = await rendering
        if rendered is not None:
            return await self._sample_ids(rendered.token_ids, "the server's own render", rendered)
        ids = await self._ids_of_chat(chatting, streaming)
        if ids is not None:
            return await self._sample_ids(ids, "the chat's own prompt ids")
        return await self._sample_without_chat()

    async def _ids_of_chat(
        self,
        chatting: asyncio.Task[ChatResult | BackendError],
        streaming: asyncio.Task[ChatResult | BackendError],
    ) -> tuple[int, ...] | None:
        """Return the prompt ids when stream or chat tells them; `None` when both have ended without."""
        ended = asyncio.create_task(_all_done(chatting, streaming))
        ended.add_done_callback(lambda _: self.has_news.set())
        try:
            await self.has_news.wait()
        finally:
            ended.cancel()
        return self.told_ids

    async def _sample_without_chat(self) -> Sampling:
        """Sample on the best prompt that the chat did not tell: the server's, ours, our text."""
        if "apply_template" in self.server.features:
            told = await _settled(self.client.apply_template(self.body))
            if not isinstance(told, BackendError):
                self.told_template = told
                if told.token_ids is not None:
                    return await self._sample_ids(told.token_ids, "the server's `/apply-template`")
        if "tokenize" in self.server.features:
            ids = await _settled(self.client.tokenize_chat(self.body))
            if not isinstance(ids, BackendError):
                return await self._sample_ids(ids, "the server's `/tokenize`")
        prompt = self.local_prompt
        if prompt is None:
            return Sampling(problem="there is no prompt for it: name a tokenizer whose template renders the request")
        if prompt.token_ids is not None:
            sampling = await self._sample_ids(prompt.token_ids, "our own render")
            if sampling.completion is not None:
                return replace(sampling, prompt_token_ids=None)  # ours, not the server's
        return await self._sample_text(prompt.text)

    async def _sample_ids(
        self, token_ids: tuple[int, ...], origin: str, rendered: RenderAnswer | None = None
    ) -> Sampling:
        fields = self._sampling_fields(len(token_ids), rendered)
        completion = await _settled(self.client.complete(token_ids, fields, self.on_raw_text))
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
        text = await self._decode(token_ids) or self.told_text
        if text is None:
            return failed
        sampling = await self._sample_text(text, f"the text of {origin}")
        return failed if sampling.completion is None else replace(sampling, prompt_token_ids=token_ids)

    async def _sample_text(self, text: str, origin: str = "the text of our own render") -> Sampling:
        completion = await _settled(self.client.complete(text, self._sampling_fields(None, None), self.on_raw_text))
        if isinstance(completion, BackendError):
            return Sampling(problem=completion.message)
        completion = await in_thread(self._judged, replace(completion, evidence=Basis.TEXT_ONLY), None, text)
        return Sampling(completion, None, origin)

    def _judged(self, completion: Completion, told_ids: tuple[int, ...] | None, text: str | None = None) -> Completion:
        """Return a completion with what is known of its completeness; tokenizes, so not on the event loop."""
        return judge_completeness(completion, self._witness(told_ids, text))

    def _witness(self, told_ids: tuple[int, ...] | None, text: str | None = None) -> Witness:
        """Return what shows whether a text of the server's is all that the model wrote.

        Args:
            told_ids: The prompt's ids, if the server told them.
            text: The prompt, if the server got it as text.
        """
        text = text if self.told_template is None else self.told_template.text
        ours = None if self.tokenizer is None or text is None else self.tokenizer.encode(text)
        functions = [as_object(tool.get("function")) for tool in objects_of(self.body.get("tools"))]
        return Witness(
            server_kind=self.server.kind,
            tokenizer=self.tokenizer,
            prompt_length=None if ours is None else len(ours),
            tokenizes_alike=ours is None or told_ids is None or ours == told_ids,
            has_stop_strings=bool(self.body.get("stop")),
            tool_names=[name for name in (text_of(one.get("name")) for one in functions) if name],
        )

    def _sampling_fields(self, prompt_length: int | None, rendered: RenderAnswer | None) -> JSONObject:
        max_model_len = self.server.max_model_len
        return sampling_of_chat(self.body, prompt_length=prompt_length, max_model_len=max_model_len, rendered=rendered)

    async def _settle(
        self,
        rendered: RenderAnswer | None,
        chat: ChatResult | BackendError,
        stream: ChatResult | BackendError,
        sampling: Sampling,
    ) -> Gathered:
        """Put together what came."""
        whole = failed_chat(chat) if isinstance(chat, BackendError) else chat
        streamed = self._stream_as_told(whole, stream)
        told = whole if streamed is None else streamed
        told_text = whole.prompt_text or told.prompt_text
        ids = whole.prompt_token_ids or told.prompt_token_ids
        if ids is None and self._is_prompt_of_run(told_text):
            ids = sampling.prompt_token_ids
        gathered = Gathered(
            sent=self.client.body_as_sent(self.body),
            chat=whole,
            chat_stream=streamed,
            prompt_token_ids=ids,
            prompt_text=told_text or await self._prompt_text(ids),
            prompt_pieces=None if self.told_template is None or ids is None else self.told_template.pieces,
            template_kwargs=rendered.template_kwargs if rendered is not None else None,
            server=observed_server(self.server, await facts_of(whole.body)),
        )
        same_run = await self._same_run(whole, streamed, sampling, rendered)
        gathered = await self._with_pieces(place_on_ladder(gathered, same_run, sampling))
        notes = [*self.client.notes, *notes_of(gathered, sampling, rendered)]
        notes += notes_of_refused(self.client.refused_fields)
        notes += [note for note in (self.other_decoding, self.no_stream) if note is not None]
        if self.told_refusal is not None:
            said = self.told_refusal.rstrip(".")
            notes.append(f"The server refuses this request unless it streams ({said}); the streamed answer is judged.")
        return replace(gathered, notes=tuple(notes))

    async def _with_pieces(self, gathered: Gathered) -> Gathered:
        """Add what each id stands for by the server's word, where there is no tokenizer to say it."""
        if self.tokenizer is not None:
            return gathered
        gathered = with_logprob_pieces(gathered)
        raw, prompt, pieces = gathered.raw, gathered.prompt_pieces, gathered.raw_pieces
        if raw is not None and pieces is None:
            pieces = await self._told_tokens(raw.token_ids, raw.text)
        if prompt is None:
            prompt = await self._told_tokens(gathered.prompt_token_ids, gathered.prompt_text)
        return replace(gathered, raw_pieces=pieces, prompt_pieces=prompt)

    async def _told_tokens(self, token_ids: tuple[int, ...] | None, text: str | None) -> tuple[bytes | str, ...] | None:
        return None if token_ids is None or text is None else await self.client.told_tokens(token_ids, text)

    def _stream_as_told(self, chat: ChatResult, stream: ChatResult | BackendError) -> ChatResult | None:
        """Return the streamed answer; `None` if the server refused a stream that only we had asked for."""
        if not isinstance(stream, BackendError):
            return stream
        if self.body.get("stream") is True or chat.error is not None or not is_declined(stream):
            return failed_chat(stream)
        self.no_stream = f"The server refused to stream this, which was tried beside it: {stream.message.rstrip('.')}."
        return None

    async def _same_run(
        self, chat: ChatResult, stream: ChatResult | None, sampling: Sampling, rendered: RenderAnswer | None
    ) -> Completion | None:
        """Return the raw output of the chat's own run, if its ids are known and can be decoded."""
        ids = complete_ids(chat, self.body)
        ids = ids_of_logprobs(chat) if ids is None else ids
        text = await self._decode(ids)
        length = None if chat.prompt_token_ids is None else len(chat.prompt_token_ids)
        max_tokens = max_tokens_of_chat(
            self.body, prompt_length=length, max_model_len=self.server.max_model_len, rendered=rendered
        )
        others = (sampling.completion, stream)
        facts = await facts_of(chat.body)
        finish_reason = sampler_finish_reason(
            chat,
            ids or (),
            others=others,
            tokenizer=self.tokenizer,
            max_tokens=max_tokens,
            sampler_word=facts.sampler_word,
        )
        ours = constraint_of(self._sampling_fields(length, rendered))
        constraint = facts.grammar if facts.tells_grammar else ours
        if ids is None or text is None:
            return completion_of_logprobs(chat, finish_reason, constraint)
        return same_run_completion(chat, ids, text, finish_reason, constraint)

    def _is_prompt_of_run(self, told_text: str | None) -> bool:
        """Say whether the prompt that was sampled on is the one of the chat's own run, as far as that is told."""
        return told_text is None or self.told_template is None or self.told_template.text == told_text

    async def _decode(self, token_ids: tuple[int, ...] | None) -> str | None:
        """Return the text of ids, the server's word first; `None` without ids or without a way to decode them."""
        if token_ids is None:
            return None
        ours = None if self.tokenizer is None else await in_thread(self.tokenizer.decode, token_ids)
        if "detokenize" not in self.server.features:
            return ours
        theirs = await _settled(self.client.detokenize(token_ids))
        if isinstance(theirs, BackendError):
            return ours
        if ours not in (None, theirs):
            self.other_decoding = "The tokenizer here decodes ids differently from the server: is it this model's?"
        return theirs

    async def _prompt_text(self, token_ids: tuple[int, ...] | None) -> str | None:
        return await self._decode(token_ids) if self.told_template is None else self.told_template.text

    def _refused(self, error: BackendError) -> Gathered:
        """Return a refusal of the request itself; any other failure is raised."""
        refusal = refusal_of(error)
        if refusal is None:
            raise error
        return Gathered(sent=self.client.body_as_sent(self.body), refusal=refusal, notes=self.client.notes)


async def _settled(awaitable: Awaitable[_Result]) -> _Result | BackendError:
    """Return a result, or the server's failure as a value: one failure does not end the others."""
    try:
        return await awaitable
    except BackendError as error:
        return error


async def _all_done(*tasks: asyncio.Task[ChatResult | BackendError]) -> None:
    await asyncio.wait(tasks)
