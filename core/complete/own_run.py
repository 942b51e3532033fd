"""What an answer shows of the run that produced it: the ids the model wrote, or the tokens listed with them.

Evidence that contradicts itself is left out, and the reason is reported. Nothing is asked of the server here.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from prompt_debugger.core.base.protocols import Tokenizer
from prompt_debugger.core.base.types import ChatResult, Completion, JSONObject
from prompt_debugger.core.base.types.frozen import replace
from prompt_debugger.core.complete.backends.completions import constraint_of
from prompt_debugger.core.complete.backends.vllm import RenderAnswer
from prompt_debugger.core.complete.contradictions import (
    contradiction_in_ids,
    contradiction_in_list,
    contradiction_in_order,
    contradiction_in_text,
    is_foreign,
)
from prompt_debugger.core.complete.ladder import (
    choice_count,
    complete_ids,
    same_run_completion,
    sampler_finish_reason,
)
from prompt_debugger.core.complete.logprob_text import completion_of_logprobs, ids_of_logprobs, text_of_tokens
from prompt_debugger.core.complete.run_facts import facts_of
from prompt_debugger.core.complete.sampling import max_tokens_of_chat, sampling_of_chat

_OTHER_TEXTS = "The ids of the listed tokens decode to different text than the list gives, so the list is not used."


@dataclass(frozen=True, slots=True)
class AnswerContext:
    """What is known about a run apart from its answer.

    Attributes:
        decode: Returns the text of ids, control tokens kept; `None` if they cannot be decoded.
        is_decoder_known: Whether the decoder is certainly the model's: the server's, or one that agrees on the prompt.
        tokenizer: The model's tokenizer, for its end tokens.
        max_model_len: Context length of the model, if known.
        rendered: The server's own render of the request, if it offers one.
        others: Other generations of the same request.
    """

    body: JSONObject
    decode: Callable[[tuple[int, ...] | None], Awaitable[str | None]]
    is_decoder_known: bool = False
    tokenizer: Tokenizer | None = None
    max_model_len: int | None = None
    rendered: RenderAnswer | None = None
    others: Sequence[Completion | ChatResult | None] = ()


@dataclass(frozen=True, slots=True)
class OwnRun:
    """The run that produced an answer, as far as the answer shows it.

    Attributes:
        answer: The answer, without the parts that are not trusted.
        completion: Its raw output; `None` if the answer does not show it.
        doubts: Contradictions that rule parts of it out, a sentence each.
    """

    answer: ChatResult
    completion: Completion | None = None
    doubts: tuple[str, ...] = ()


async def read_own_run(chat: ChatResult, given: AnswerContext) -> OwnRun:
    """Return the raw output of the run that produced an answer, as far as its evidence is consistent."""
    doubts: list[str] = []
    if doubt := contradiction_in_ids(chat, choice_count(given.body)):
        doubts.append(doubt)
        chat = replace(chat, token_ids=None)
    ids = complete_ids(chat, given.body)
    text = await given.decode(ids)
    if text is not None and (doubt := _doubt_of_text(text, chat, given)):
        doubts.append(doubt)
        chat, ids, text = replace(chat, token_ids=None), None, None
    if chat.logprobs is not None and (doubt := await _doubt_of_list(chat, text, given)):
        doubts.append(doubt)
        chat = replace(chat, logprobs=None)
    if ids is None:
        ids = ids_of_logprobs(chat)
        text = await given.decode(ids)
    return OwnRun(chat, await _completion(chat, ids, text, given), tuple(doubts))


def _doubt_of_text(text: str, chat: ChatResult, given: AnswerContext) -> str | None:
    """Return why ids are not those of the run, if they are not: of a decoder that is known, by their order alone."""
    if doubt := contradiction_in_order(text, chat.message):
        return doubt
    return None if given.is_decoder_known else contradiction_in_text(text, chat.message)


async def _doubt_of_list(chat: ChatResult, text: str | None, given: AnswerContext) -> str | None:
    """Return why the listed tokens are not trusted, if they are not; `text` is decoded from the run's ids, if known."""
    if doubt := contradiction_in_list(chat, given.body, text):
        return doubt
    if text is not None or (decoded := await given.decode(ids_of_logprobs(chat))) is None:
        return None
    listed = text_of_tokens(chat.logprobs or ())
    return _OTHER_TEXTS if is_foreign(decoded, {"content": listed}) else contradiction_in_text(decoded, chat.message)


async def _completion(
    chat: ChatResult, ids: tuple[int, ...] | None, text: str | None, given: AnswerContext
) -> Completion | None:
    length = None if chat.prompt_token_ids is None else len(chat.prompt_token_ids)
    limits = {"prompt_length": length, "max_model_len": given.max_model_len}
    facts = await facts_of(chat.body)
    finish_reason = sampler_finish_reason(
        chat,
        ids or (),
        others=given.others,
        tokenizer=given.tokenizer,
        max_tokens=max_tokens_of_chat(given.body, **limits, rendered=given.rendered),
        sampler_word=facts.sampler_word,
    )
    ours = constraint_of(sampling_of_chat(given.body, **limits, rendered=given.rendered))
    constraint = facts.grammar if facts.reports_grammar else ours
    if ids is None or text is None:
        return completion_of_logprobs(chat, finish_reason, constraint)
    return same_run_completion(chat, ids, text, finish_reason, constraint)
