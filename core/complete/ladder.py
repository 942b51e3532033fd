"""Which raw output counts, on what it rests, and what must be said about it. Decisions only, no I/O."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from prompt_debugger.core.base.comparable import draws_at_random, may_constrain
from prompt_debugger.core.base.errors import BackendError
from prompt_debugger.core.base.json_values import as_count
from prompt_debugger.core.base.protocols import Tokenizer
from prompt_debugger.core.base.types import (
    Basis,
    ChatResult,
    Completeness,
    Completion,
    JSONObject,
    Refusal,
    Server,
    ServerGrammar,
)
from prompt_debugger.core.base.types.frozen import replace
from prompt_debugger.core.complete.backends.vllm import RenderAnswer
from prompt_debugger.core.complete.completeness import decoded_from_ids
from prompt_debugger.core.complete.engines import engine_of
from prompt_debugger.core.complete.logprob_text import pieces_of
from prompt_debugger.core.complete.run_facts import RunFacts
from prompt_debugger.core.known_errors import Cause, quoted_output, recognise_error

REFUSED = frozenset({400, 422})
_NOT_OF_SERVER = frozenset({"page", "proxy", "tls"})
# Keys and payment, a wrong address, time and load: no fault of this request.
_ABOUT_US = frozenset({401, 402, 403, 405, 407, 408, 425, 429, *range(502, 505), *range(520, 527), 530})
_PROBLEM_CHARS = 300
_NOT_ASKED = "not-asked"
_CONTRADICTS = "What the server reports about the chat's run cannot be used"


@dataclass(frozen=True, slots=True)
class Gathered:
    """What the server gave for one chat request.

    Attributes:
        sent: The chat body that went out, without `stream`.
        evidence: What the raw output rests on; `None` if there is none.
        why: Why it rests on that, one sentence.
        chat: The answer as it was asked for, whole or streamed; `None` if the request was refused. If the server
            failed, its `error` says how.
        chat_stream: The streamed answer; likewise. The same one where a stream was asked for.
        chat_whole: The answer that is not streamed, where a stream was requested and this one as well.
        raw_again: Raw completion on the same prompt, where `raw` is of the chat's own run.
        prompt_token_ids: The ids that the server used, as far as it reports them.
        prompt_text: Their text, where the server gives it.
        prompt_pieces: The bytes of each of these ids, or its vocabulary entry, where the server reports them.
        raw_pieces: The same of each id of `raw`; asked for only without a tokenizer.
        template_kwargs: Effective template kwargs, where the server gives them.
        grammar: The grammar that the server puts on the answer, where it renders the request.
        server: The server, with what the answers showed of it.
        refusal: Why the server would not take the request.
        notes: What could not be obtained or is not certain, a sentence each.
    """

    sent: JSONObject
    evidence: Basis | None = None
    why: str = ""
    chat: ChatResult | None = None
    chat_stream: ChatResult | None = None
    chat_whole: ChatResult | None = None
    raw: Completion | None = None
    raw_again: Completion | None = None
    prompt_token_ids: tuple[int, ...] | None = None
    prompt_text: str | None = None
    prompt_pieces: tuple[bytes | str, ...] | None = None
    raw_pieces: tuple[bytes | str, ...] | None = None
    template_kwargs: JSONObject | None = None
    grammar: ServerGrammar | None = None
    server: Server | None = None
    refusal: Refusal | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Sampling:
    """A second sampling: raw completion in addition to the chat.

    Attributes:
        completion: What it gave; `None` if it could not be obtained.
        prompt_token_ids: The ids it ran on, if they are the server's.
        origin: Where its prompt came from, in words.
        problem: Why it could not be obtained, or not as wished; a clause.
        is_unasked: Whether the person wants no further request.
    """

    completion: Completion | None = None
    prompt_token_ids: tuple[int, ...] | None = None
    origin: str = ""
    problem: str | None = None
    is_unasked: bool = False


def refusal_of(error: BackendError) -> Refusal | None:
    """Return a refusal of the request itself, in the server's words; `None` for any other failure.

    A status of 400 or 422 always is one, unless a web page, a proxy or a port that speaks https answered. Any other is,
    if the server says what it has against the request, and not that it does not know us, has no such endpoint, or has
    no time.
    """
    status = error.status
    if status is None or status < 400 or error.kind in _NOT_OF_SERVER:
        return None
    if status not in REFUSED and (
        not error.server_message or status in _ABOUT_US or not _is_about_request(status, error.server_message)
    ):
        return None
    return Refusal(status, error.server_message or error.message, error.field, error.code, error.output)


def _is_about_request(status: int, message: str) -> bool:
    """Return whether a 404 is about model or request, not about the address; any other status needs no such check."""
    if status != 404 or "model" in message.lower():
        return True
    known = recognise_error(message)
    return known is not None and known.error.is_distinctive and known.error.is_about is not Cause.ADDRESS


def failed_chat(error: BackendError) -> ChatResult:
    """Return a chat answer that is nothing but its error."""
    hint = error.hint if is_of_the_way(error) else ""
    return ChatResult({}, None, body=error.body, error=error.message, unread=error.unread, error_hint=hint)


def is_of_the_way(error: BackendError) -> bool:
    """Return whether an error says that no answer arrived, and nothing about what the model wrote."""
    if error.unread is not None or error.kind == _NOT_ASKED:
        return False
    return (
        error.status is None
        or error.kind in ("page", "proxy", "not-json", "broken-answer")
        or error.status in _ABOUT_US
        or 300 <= error.status < 400
    )


def not_asked() -> BackendError:
    """Return what stands for an answer that no one asked for."""
    return BackendError("It was not requested.", kind=_NOT_ASKED)


def is_not_asked(result: ChatResult | BackendError) -> bool:
    """Return whether something stands for an answer that no one asked for."""
    return isinstance(result, BackendError) and result.kind == _NOT_ASKED


def is_declined(error: BackendError) -> bool:
    """Return whether the server would not serve this request at all, rather than failed at it."""
    return error.status is not None and 300 <= error.status < 500


def refused_chat(gathered: Gathered, refusal: Refusal) -> Gathered:
    """Return what came besides a chat that the server refused both whole and streamed."""
    notes = tuple(note for note in gathered.notes if "answer has a fault" not in note)
    return take_quoted_output(
        replace(gathered, chat=None, chat_stream=None, chat_whole=None, refusal=refusal, notes=notes)
    )


def take_quoted_output(gathered: Gathered) -> Gathered:
    """Return what came with a refusal that quotes the output: the quote is the raw output where there is no other."""
    refusal = gathered.refusal
    quoted = None if refusal is None else quoted_output(refusal.message, refusal.output)
    if gathered.raw is not None or quoted is None or quoted.is_elided or quoted.is_cut:
        return gathered
    reason = quoted.why_not_whole or "it is what the server's error quotes of the output"
    raw = Completion(quoted.text, None, None, evidence=Basis.SAME_RUN)
    raw = replace(raw, completeness=Completeness.UNKNOWN, completeness_reason=reason)
    why = "The server's error quotes what the model wrote; that is the raw output."
    return replace(gathered, raw=raw, evidence=Basis.SAME_RUN, why=why, notes=(*gathered.notes, why))


def is_broken(result: ChatResult | BackendError) -> bool:
    """Return whether a generation failed or broke off."""
    return isinstance(result, BackendError) or result.error is not None


def gives_nothing(chat: BackendError, stream: ChatResult | BackendError) -> bool:
    """Return whether a stream adds nothing to a chat that failed; one without an end shows how far it had come."""
    is_cut = chat.kind in ("too-large", "timeout")
    return is_broken(stream) and not (is_cut and not is_nothing(stream))


def is_nothing(result: ChatResult | BackendError) -> bool:
    """Return whether a generation gave nothing: it failed, or its stream held an error and no output."""
    if isinstance(result, BackendError):
        return True
    output = [value for key, value in result.message.items() if key != "role" and value]
    return result.error is not None and not output and not result.token_ids


def complete_ids(chat: ChatResult, sent: JSONObject) -> tuple[int, ...] | None:
    """Return the output ids of a chat answer; `None` if there are none, or fewer than the server counted."""
    return None if _missing_ids(chat, sent) else chat.token_ids


def place_on_ladder(
    gathered: Gathered, same_run: Completion | None, sampling: Sampling, *, contradicts_itself: bool = False
) -> Gathered:
    """Decide what counts as raw output, and say why.

    Args:
        gathered: Has `chat` and `sent`.
        same_run: Output of the chat's own run, if its ids are known and could be decoded.
        sampling: The second sampling.
        contradicts_itself: Whether the answer contradicts itself about its own run, so that part of it is not used.
    """
    second = sampling.completion
    # What lacks control tokens is worth less than a second run that has them.
    lacks = same_run is not None and same_run.completeness is not Completeness.WHOLE
    if same_run is not None and not (lacks and second is not None and second.completeness is Completeness.WHOLE):
        why = "The chat answer carries the ids of this run; the raw output is those ids, decoded."
        if same_run.token_ids is None:
            why = "The chat answer carries the log-probabilities of this run; the raw output is their tokens' text."
        return replace(gathered, evidence=Basis.SAME_RUN, why=why, raw=same_run, raw_again=second)
    reason = _CONTRADICTS if contradicts_itself else _why_no_ids(gathered)
    if second is None and sampling.is_unasked:
        return replace(gathered, evidence=None, why=f"{reason}, and nothing else was asked.")
    if second is None:
        why = f"{reason}, and a raw completion failed: {sampling.problem or 'there was no prompt for it'}."
        return replace(gathered, evidence=None, why=why)
    why = f"{reason}, so the raw output is a second sampling on {sampling.origin}."
    return replace(gathered, evidence=second.evidence, why=why, raw=second)


def choice_count(body: JSONObject) -> int:
    """Return how many choices a request asks for."""
    return as_count(body.get("n")) or 1


def same_run_completion(
    chat: ChatResult, token_ids: tuple[int, ...], text: str, finish_reason: str | None, constraint: str | None
) -> Completion:
    """Return the raw output of the chat's own run."""
    completion = Completion(
        text=text,
        token_ids=token_ids,
        finish_reason=finish_reason,
        stop_reason=chat.stop_reason,
        evidence=Basis.SAME_RUN,
        usage=chat.usage,
        logprobs=chat.logprobs,
        constraint=constraint,
        body=chat.body,
        elapsed_s=chat.elapsed_s,
    )
    return decoded_from_ids(completion)


def sampler_finish_reason(
    chat: ChatResult,
    token_ids: tuple[int, ...],
    *,
    others: Sequence[Completion | ChatResult | None],
    tokenizer: Tokenizer | None,
    max_tokens: int | None,
    sampler_word: str | None = None,
) -> str | None:
    """Return why sampling ended, which the chat's own word can hide as `tool_calls`.

    Args:
        chat: The whole answer.
        token_ids: Its output ids; empty if unknown.
        others: Other generations; one with the same ids ended for the same reason.
        tokenizer: Knows the end tokens.
        max_tokens: How many tokens were allowed, where known.
        sampler_word: The sampler's own word for it, where the server reports it.
    """
    if chat.finish_reason not in (None, "tool_calls", "function_call"):
        return chat.finish_reason
    if sampler_word is not None:
        return sampler_word
    for other in others:
        if (
            token_ids
            and other is not None
            and other.token_ids == token_ids
            and other.finish_reason in ("stop", "length")
        ):
            return other.finish_reason
    if tokenizer is not None and token_ids and token_ids[-1] in tokenizer.vocabulary.eos_ids:
        return "stop"
    return "length" if token_ids and max_tokens is not None and len(token_ids) >= max_tokens else None


def notes_of(gathered: Gathered, sampling: Sampling, rendered: RenderAnswer | None) -> tuple[str, ...]:
    """Return what must be said so that no one takes the values for more than they are."""
    body, chat, notes = gathered.sent, gathered.chat, []
    if gathered.evidence is not Basis.SAME_RUN:
        notes.append(gathered.why)
    elif sampling.completion is None and not sampling.is_unasked:
        problem = sampling.problem or "no prompt is known"
        problem = problem if len(problem) <= _PROBLEM_CHARS else problem[:_PROBLEM_CHARS] + "…"
        notes.append(f"The additional raw completion failed: {problem.rstrip('.')}.")
    if gathered.raw is not None and gathered.raw.completeness is not Completeness.WHOLE:
        notes.append(gathered.raw.completeness_reason)
    if choice_count(body) > 1:
        notes.append("The request asks for several choices (`n`); only the first is examined.")
    has_other_run = chat is not None or gathered.chat_stream is not None
    if draws_at_random(body) and gathered.raw is not None and has_other_run:
        notes.append("Temperature is not 0 and there is no seed: parallel runs sample differently.")
    if rendered is None and may_constrain(body) and sampling.completion is not None:
        notes.append("The server may apply a hidden grammar to tool calls; the raw completion ran without one.")
    if chat is not None and rendered is not None and chat.prompt_token_ids not in (None, rendered.token_ids):
        notes.append("The server's render gives other prompt ids than the chat used; the chat's ids are used.")
    return (*notes, *_faults(gathered))


def _faults(gathered: Gathered) -> Iterator[str]:
    """Yield what is wrong with the answers; one that is both the chat and its stream is reported once."""
    stream = None if gathered.chat_stream is gathered.chat else gathered.chat_stream
    for name, result in (("chat", gathered.chat), ("streamed chat", stream)):
        if result is not None and result.error is not None:
            yield f"The {name} answer has a fault: {result.error.rstrip('.')}."


def add_logprob_pieces(gathered: Gathered) -> Gathered:
    """Give a raw output from log-probabilities the ids of the chat's run, if both list the same tokens."""
    raw, ids = gathered.raw, None if gathered.chat is None else gathered.chat.token_ids
    if raw is None or raw.logprobs is None or raw.token_ids is not None or raw.evidence is not Basis.SAME_RUN:
        return gathered
    if ids is None or len(ids) != len(raw.logprobs):
        return gathered
    return replace(gathered, raw=replace(raw, token_ids=ids), raw_pieces=pieces_of(raw.logprobs))


def notes_of_refused(refused: Mapping[str, str]) -> tuple[str, ...]:
    """Return notes on our fields that a server refused: one note for all that it refused in the same words."""
    by_words: dict[str, list[str]] = {}
    for name, words in refused.items():
        by_words.setdefault(words.rstrip("."), []).append(name if "`" in name else f"`{name}`")
    return tuple(
        f"The server refuses {', '.join(names)}, which {'was' if len(names) == 1 else 'were'} sent to learn "
        f"more, so it was asked without: {words}."
        for words, names in by_words.items()
    )


def observed_server(server: Server, facts: RunFacts) -> Server:
    """Return the server with what an answer shows: some count reasoning tokens iff a reasoning parser is set."""
    shows_parser = engine_of(server.kind).counts_reasoning_by_parser
    if not shows_parser or server.has_reasoning_parser is not None or facts.counts_reasoning is None:
        return server
    return replace(server, has_reasoning_parser=facts.counts_reasoning)


def _why_no_ids(gathered: Gathered) -> str:
    chat = gathered.chat
    if chat is None or (chat.error is not None and not chat.message):
        is_streamed = gathered.sent.get("stream") is True
        return f"The chat request {'with `stream`' if is_streamed else 'without streaming'} got no answer"
    if gathered.sent.get("include_reasoning") is False:
        return "`include_reasoning: false` makes the server withhold the ids of the chat's run"
    if missing := _missing_ids(chat, gathered.sent):
        return f"The server did not report {missing} ids of the chat's run"
    if chat.token_ids is not None:
        return "The ids of the chat's run could not be decoded"
    return "The server does not report the ids of the chat's run"


def _missing_ids(chat: ChatResult, sent: JSONObject) -> int:
    """Return how many ids the answer lacks by the server's own count, which is of all choices together."""
    count = chat.usage.completion_tokens if chat.usage is not None else None
    if chat.token_ids is None or count is None or choice_count(sent) > 1:
        return 0
    return max(0, count - len(chat.token_ids))
