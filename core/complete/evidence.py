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
from dataclasses import dataclass, field

from prompt_debugger.core.base.comparable import draws_at_random
from prompt_debugger.core.base.errors import BackendError
from prompt_debugger.core.base.json_values import as_count
from prompt_debugger.core.base.protocols import Tokenizer
from prompt_debugger.core.base.types import (
    Api,
    Basis,
    ChatResult,
    Completeness,
    Completion,
    JSONObject,
    Prompt,
    Refusal,
    Server,
    Stage,
)
from prompt_debugger.core.base.types.frozen import replace
from prompt_debugger.core.complete.backends.vllm import RenderAnswer
from prompt_debugger.core.complete.client import ServerClient
from prompt_debugger.core.complete.engines import engine_of
from prompt_debugger.core.complete.growing_text import VisibleText
from prompt_debugger.core.complete.ladder import (
    Gathered,
    Sampling,
    add_logprob_pieces,
    failed_chat,
    gives_nothing,
    is_broken,
    is_declined,
    is_not_asked,
    is_nothing,
    is_of_the_way,
    not_asked,
    notes_of,
    notes_of_refused,
    observed_server,
    place_on_ladder,
    refusal_of,
    refused_chat,
    take_quoted_output,
)
from prompt_debugger.core.complete.own_run import AnswerContext, OwnRun, read_own_run
from prompt_debugger.core.complete.raw_completion import OnText
from prompt_debugger.core.complete.run_facts import facts_of
from prompt_debugger.core.complete.second_run import Asking, SecondRun, settled
from prompt_debugger.core.known_errors import recognise_error
from prompt_debugger.core.sandbox import in_thread

WITHOUT_STREAM = "Our additional request without `stream` failed"


async def gather(
    client: ServerClient,
    server: Server,
    body: JSONObject,
    *,
    tokenizer: Tokenizer | None = None,
    local_prompt: Prompt | None = None,
    on_raw_text: OnText | None = None,
    on_chat_text: OnText | None = None,
    asks_once: bool = False,
) -> Gathered:
    """Run a chat request and get the best evidence of what the model really read and wrote.

    Args:
        client: The server.
        server: What is known of it.
        body: The chat request; goes out as it is, plus what makes the server report ids.
        tokenizer: Decodes ids where the server does not.
        local_prompt: Our own render, the last resort for a raw completion.
        on_raw_text: Called with all the raw text so far.
        on_chat_text: Called with all the visible chat text so far: content, or reasoning while there is none.
        asks_once: Whether only the request itself is sent to the model: no additional stream, no raw completion.

    Returns:
        What there is. A request that the server refuses, in words, is a `refusal`, not an exception; a failure of
        one of the three generations is a note, or its `error`.

    Raises:
        BackendError: The server would not serve us (a wrong key, a wrong address), or none of the three generations
            came whole or was cut by one of our limits, and the server does not say why.
    """
    gathering = Gathering(client, server, body, tokenizer, local_prompt, on_raw_text, asks_once)
    gathering.on_chat_text = on_chat_text
    return await gathering.gather()


_TOO_MANY = frozenset({429, 503})


@dataclass(slots=True)
class Gathering(SecondRun):
    """One run of `gather`: its arguments, and the prompt ids as soon as the stream reports them."""

    on_chat_text: OnText | None = None
    no_stream: str | None = None
    reported_refusal: str | None = None
    doubts: dict[str, None] = field(default_factory=dict)

    async def gather(self) -> Gathered:
        """Ask what was asked, the same in the other way, and for a raw completion."""
        rendering = asyncio.create_task(self._render())
        asking, other_way = self._start()
        streams = self._wants_stream
        sampling = asyncio.create_task(self._sample(rendering, asking, other_way))
        tasks = (rendering, asking, other_way, sampling)
        try:
            asked, other = await asking, await other_way
            if isinstance(asked, BackendError) and asked.status in _TOO_MANY and not is_broken(other):
                asked = await settled(self._stream() if streams else self._chat())  # our question may be why
            refusal = None
            if isinstance(asked, BackendError):
                refusal = refusal_of(asked) if streams or is_nothing(other) else None
                if is_declined(asked) and (is_nothing(other) or (not streams and self._is_of_options(asked))):
                    return self._refused(asked)
                if gives_nothing(asked, other) and (await sampling).completion is None:
                    return self._refused(asked)
                if not streams and is_declined(asked) and not is_of_the_way(asked) and not is_broken(other):
                    refusal = self._unread_output(asked) or self._refused_whole(asked)
                    if refusal is None:
                        self.reported_refusal, asked = asked.server_message or asked.message, other
            chat, stream = (other, asked) if streams else (asked, other)
            gathered = await self._settle(await rendering, chat, stream, await sampling)
            return gathered if refusal is None else refused_chat(gathered, refusal)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    @property
    def _wants_stream(self) -> bool:
        """Whether the request asks for a stream, which is then what is judged."""
        return self.body.get("stream") is True

    def _start(self) -> tuple[Asking, Asking]:
        """Begin with the request as it was asked, and in the other way: at once only where that disturbs nothing."""
        ask, ask_other = (self._stream, self._chat) if self._wants_stream else (self._chat, self._stream)
        asking = asyncio.create_task(settled(ask()))
        takes_several = engine_of(self.server.kind).takes_several

        async def other_way() -> ChatResult | BackendError:
            if self.asks_once:
                return not_asked()
            if not takes_several:
                await asyncio.wait([asking])
            return await settled(ask_other())

        other = asyncio.create_task(other_way())
        self.before_sampling = () if takes_several else (asking, other)
        return asking, other

    async def _chat(self) -> ChatResult:
        chat = await self.client.chat(self.body)
        self.reported_text = chat.prompt_text
        if chat.prompt_token_ids is not None:
            self._publish_ids(chat.prompt_token_ids)
        return chat

    async def _stream(self) -> ChatResult:
        visible = VisibleText(self.on_chat_text)
        return await self.client.chat_stream(self.body, visible.add, self._publish_ids)

    def _publish_ids(self, token_ids: tuple[int, ...]) -> None:
        self.reported_ids = token_ids
        self.has_update.set()

    async def _settle(
        self,
        rendered: RenderAnswer | None,
        chat: ChatResult | BackendError,
        stream: ChatResult | BackendError,
        sampling: Sampling,
    ) -> Gathered:
        """Put together what came."""
        streamed = self._stream_as_reported(chat, stream)
        judged = failed_chat(chat) if isinstance(chat, BackendError) else chat
        whole = None
        if self._wants_stream and streamed is not None:
            whole = None if chat is stream or isinstance(chat, BackendError) else chat
            judged = streamed
        own = await self._own_run(judged, (sampling.completion, streamed if whole is None else whole), rendered)
        if own.completion is None and whole is not None:
            sampling = await self._sampled_whole(whole, sampling, rendered, "`stream`")
        elif own.doubts and self._may_ask_for_fewer(sampling):
            sampling = await self._asked_for_fewer(sampling, rendered)
        if own.completion is None:
            sampling = await self._recounted(sampling, judged if whole is None else whole)
        reported = [one for one in (judged, streamed, whole) if one is not None]
        reported_text = next((one.prompt_text for one in reported if one.prompt_text), None)
        ids = next((one.prompt_token_ids for one in reported if one.prompt_token_ids), None)
        if ids is None and self._is_prompt_of_run(reported_text):
            ids = sampling.prompt_token_ids
        gathered = Gathered(
            sent=self.client.body_as_sent(self.body),
            chat=own.answer,
            chat_stream=own.answer if judged is streamed else streamed,
            chat_whole=whole,
            prompt_token_ids=ids,
            prompt_text=reported_text or await self._prompt_text(ids),
            prompt_pieces=None if self.reported_template is None or ids is None else self.reported_template.pieces,
            template_kwargs=rendered.template_kwargs if rendered is not None else None,
            grammar=rendered.grammar if rendered is not None else None,
            server=observed_server(self.server, await facts_of((whole or judged).body)),
        )
        placed = place_on_ladder(gathered, own.completion, sampling, contradicts_itself=bool(own.doubts))
        gathered = await self._add_pieces(placed)
        return replace(gathered, notes=self._notes(gathered, sampling, rendered, chat))

    def _is_of_options(self, error: BackendError) -> bool:
        """Return whether an error is about options of a stream that the request has and asks for no stream."""
        words = f"{error.field or ''} {error.server_message or ''}".lower()
        return "stream_options" in self.body and ("stream_options" in words or "stream options" in words)

    def _unread_output(self, error: BackendError) -> Refusal | None:
        """Return an error of another API that is about what the model wrote, which the stream shows; else `None`."""
        refusal = None if self.client.api is Api.CHAT else refusal_of(error)
        known = None if refusal is None else recognise_error(refusal.message)
        if refusal is None or known is None or known.error.stage is not Stage.PARSE:
            return None
        reported = (
            "The same request was answered when it was streamed: the error is about the output, not about the request."
        )
        self.doubts[reported] = None
        return refusal

    def _refused_whole(self, error: BackendError) -> Refusal | None:
        """Return a refusal that says nothing of streams: that our stream was answered does not make it about them."""
        refusal = refusal_of(error)
        if refusal is None or "stream" in f"{refusal.message} {refusal.field} {refusal.code}".lower():
            return None
        self.doubts["The same request was answered when it was streamed."] = None
        return refusal

    def _notes(
        self, gathered: Gathered, sampling: Sampling, rendered: RenderAnswer | None, chat: ChatResult | BackendError
    ) -> tuple[str, ...]:
        """Return what else must be said, a sentence each."""
        notes = [*self.client.notes, *notes_of(gathered, sampling, rendered)]
        notes += notes_of_refused(self.client.refused_fields)
        notes += [note for note in (self.other_decoding, self.no_stream, *self.doubts) if note is not None]
        if self._wants_stream and isinstance(chat, BackendError) and not is_not_asked(chat):
            notes.append(f"{WITHOUT_STREAM}: {chat.message.rstrip('.')}.")
        if self.reported_refusal is not None:
            reason = self.reported_refusal.rstrip(".")
            notes.append(
                f"The server accepts this request only when streaming ({reason}); the streamed answer was checked."
            )
        return tuple(notes)

    def _may_ask_for_fewer(self, sampling: Sampling) -> bool:
        """Return whether the request without alternatives may show what the listed tokens did not, and must agree."""
        has_better = sampling.completion is not None and sampling.completion.completeness is Completeness.WHOLE
        wants_alternatives = (as_count(self.body.get("top_logprobs")) or 0) > 1
        return wants_alternatives and not has_better and not self.asks_once and not draws_at_random(self.body)

    async def _asked_for_fewer(self, sampling: Sampling, rendered: RenderAnswer | None) -> Sampling:
        """Ask without alternatives: some servers then list what was sampled, and its ids."""
        body: JSONObject = {key: value for key, value in self.body.items() if key not in ("stream", "top_logprobs")}
        answer = await settled(self.client.chat(body))
        if isinstance(answer, BackendError):
            return sampling
        return await self._sampled_whole(answer, sampling, rendered, "`top_logprobs`")

    async def _sampled_whole(
        self, whole: ChatResult, sampling: Sampling, rendered: RenderAnswer | None, without: str
    ) -> Sampling:
        """Return the output of the same request asked in another way, if that shows it; else the one there is."""
        found = await self._own_run(whole, (sampling.completion,), rendered)
        if found.completion is None or found.completion.completeness is not Completeness.WHOLE:
            return sampling
        completion = replace(found.completion, evidence=Basis.OWN_RENDER)
        return Sampling(completion, sampling.prompt_token_ids, f"the same request, asked without {without}")

    async def _add_pieces(self, gathered: Gathered) -> Gathered:
        """Add what each id stands for by the server's word, where there is no tokenizer to say it."""
        if self.tokenizer is not None:
            return gathered
        gathered = add_logprob_pieces(gathered)
        raw, prompt, pieces = gathered.raw, gathered.prompt_pieces, gathered.raw_pieces
        if raw is not None and pieces is None:
            pieces = await self._reported_tokens(raw.token_ids, raw.text)
        if prompt is None:
            prompt = await self._reported_tokens(gathered.prompt_token_ids, gathered.prompt_text)
        return replace(gathered, raw_pieces=pieces, prompt_pieces=prompt)

    async def _reported_tokens(
        self, token_ids: tuple[int, ...] | None, text: str | None
    ) -> tuple[bytes | str, ...] | None:
        return None if token_ids is None or text is None else await self.client.reported_tokens(token_ids, text)

    def _stream_as_reported(
        self, chat: ChatResult | BackendError, stream: ChatResult | BackendError
    ) -> ChatResult | None:
        """Return the streamed answer; `None` if there is none of a stream that only we had asked for."""
        if not isinstance(stream, BackendError):
            return stream
        if is_not_asked(stream):
            return None
        if self._wants_stream or is_broken(chat) or not is_declined(stream):
            return failed_chat(stream)
        self.no_stream = f"The server rejected our additional streaming request: {stream.message.rstrip('.')}."
        return None

    async def _own_run(
        self,
        chat: ChatResult,
        others: tuple[Completion | ChatResult | None, ...] = (),
        rendered: RenderAnswer | None = None,
    ) -> OwnRun:
        """Return what an answer says about its own run, without what contradicts itself."""
        context = AnswerContext(
            self.body,
            self._decode,
            is_decoder_known="detokenize" in self.server.features or await self._reads_prompt(chat),
            tokenizer=self.tokenizer,
            max_model_len=self.server.max_model_len,
            rendered=rendered,
            others=others,
        )
        found = await read_own_run(chat, context)
        self.doubts |= dict.fromkeys(found.doubts)
        return found

    async def _reads_prompt(self, chat: ChatResult) -> bool:
        """Return whether the tokenizer at hand reads the prompt's ids as the server does."""
        ids, local = chat.prompt_token_ids, self.local_prompt
        if ids is None or self.tokenizer is None:
            return False
        if local is not None and local.token_ids == ids:
            return True
        return chat.prompt_text is not None and await in_thread(self.tokenizer.decode, ids) == chat.prompt_text

    def _is_prompt_of_run(self, reported_text: str | None) -> bool:
        """Return whether the prompt that was sampled on is the one of the chat's own run, as far as is reported."""
        return reported_text is None or self.reported_template is None or self.reported_template.text == reported_text

    async def _prompt_text(self, token_ids: tuple[int, ...] | None) -> str | None:
        return await self._decode(token_ids) if self.reported_template is None else self.reported_template.text

    def _refused(self, error: BackendError) -> Gathered:
        """Return a refusal of the request itself; any other failure is raised."""
        refusal = refusal_of(error)
        if refusal is None:
            raise error
        sent = self.client.body_as_sent(self.body)
        return take_quoted_output(Gathered(sent=sent, refusal=refusal, notes=self.client.notes))
