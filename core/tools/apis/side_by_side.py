"""The same request by chat completions, Responses and Messages: what differs, and at which stage it began.

A difference has a cause only where it shows: prompts are explained by what was lost on the way to an API, or by what
the server is proved to do to a request; different outputs by different prompts; different answers to one output by the
way it was read and written out. Anything else is said not to be explained.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from prompt_debugger.core import pipeline
from prompt_debugger.core.base.comparable import draws_at_random
from prompt_debugger.core.base.errors import BackendError, shorten
from prompt_debugger.core.base.json_values import as_object, decoded
from prompt_debugger.core.base.text import first_divergence
from prompt_debugger.core.base.types import JSON, Api, Basis, ChatResult, JSONObject, Parse, Request, SpanKind, Trace
from prompt_debugger.core.complete.evidence import WITHOUT_STREAM
from prompt_debugger.core.complete.shapes import objects_of, text_of
from prompt_debugger.core.pipeline import Progress, Target
from prompt_debugger.core.pipeline.native import is_missing, says_missing
from prompt_debugger.core.request.api_work import limit_of
from prompt_debugger.core.tools.experiments.api_difference import ApiDifference
from prompt_debugger.core.tools.experiments.json_changes import JsonChange, json_changes
from prompt_debugger.core.tools.lab import LabPool

COMPARED = (Api.CHAT, Api.RESPONSES, Api.MESSAGES)
_SHOWN = 120
_OF_ANSWERS = ("content", "tool_calls", "reasoning")
_OF_GRAMMAR = frozenset({"response_format", "structured_outputs", "tool_choice", "parallel_tool_calls"})
# What shapes an output besides its prompt, its limit and a grammar.
_OF_SAMPLING = frozenset(
    {"temperature", "top_p", "top_k", "min_p", "seed", "logit_bias", "stop", "stop_token_ids", "ignore_eos"}
    | {"min_tokens", "presence_penalty", "frequency_penalty", "repetition_penalty", "bad_words", "allowed_token_ids"}
    | {"n", "thinking_token_budget"}
)
# A refusal of what is not text, and the types of parts that are not.
_MEDIA_WORDS = re.compile(r"multi-?modal|\b(?:image|vision|audio|video|media)s?\b", re.IGNORECASE)
_MEDIA_PARTS = re.compile(r'"type": "(?:input_)?(?:image|audio|video|file|document)(?:_url)?"')
# What a server calls a field of another API inside, and in its refusals.
_INNER_NAMES = {"thinking": ("thinking_token_budget",)}
_ITEM = re.compile(r"([a-z_]+)\[(\d{1,6})\]")
# What shapes a prompt.
_OF_PROMPT = (
    "messages", "tools", "add_generation_prompt", "continue_final_message", "chat_template", "documents",
    "reasoning_effort",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class ApiRuns:
    """A request by several APIs.

    Attributes:
        runs: The run by each; `None` where there is none.
        differences: What differs between them.
        problems: Why there is no run by an API.
    """

    runs: Mapping[Api, Trace | None]
    differences: tuple[ApiDifference, ...]
    problems: Mapping[Api, BackendError]


async def run_by_all(
    request: Request,
    target: Target,
    labs: LabPool | None,
    on_progress: Callable[[Progress], None] | None = None,
    apis: Sequence[Api] = COMPARED,
) -> ApiRuns:
    """Run a request by each API, one after the other, and compare the runs.

    Raises:
        DebuggerError: There is no run at all, or something else than an API's endpoint failed.
    """
    runs: dict[Api, Trace | None] = {}
    problems: dict[Api, BackendError] = {}
    for api in apis:
        runs[api] = None
        try:
            runs[api] = await pipeline.run(request, replace(target, api=api), labs, on_progress)
        except BackendError as error:
            problems[api] = error
    if len(problems) == len(apis):
        raise problems.get(request.api) or problems[apis[0]]
    return ApiRuns(runs, tuple(_differences(runs, problems)), problems)


def _differences(runs: Mapping[Api, Trace | None], problems: Mapping[Api, BackendError]) -> Iterator[ApiDifference]:
    """Compare each run with the first there is; a difference of the other two follows from theirs."""
    there = [(api, trace) for api, trace in runs.items() if trace is not None]
    first, left = there[0]
    for api, error in problems.items():
        cause = f"request checks: {error.server_message}" if error.status is not None and error.status < 500 else None
        if is_missing(error) or says_missing(error.message):
            cause = no_endpoint(api)
        yield ApiDifference((first, api), "status", cause, f"There is no run by {api.label}: {error.message}")
    for _, right in there[1:]:
        yield from compare_apis(left, right)


def no_endpoint(api: Api) -> str:
    """Return the cause where a server does not have an API's endpoint."""
    return f"endpoint: the server has none for {api.label}"


def compare_apis(left: Trace, right: Trace) -> Iterator[ApiDifference]:
    """Yield what differs between two runs of one request, in the order of a run."""
    pair = (left.api, right.api)
    request = [*_request(pair, left, right)]
    prompt = _prompt(pair, left, right, request)
    raw = _raw(pair, left, right, prompt)
    if prompt is not None or raw is not None:
        yield from request
    before = next((one for one in (prompt, raw) if one is not None), None)
    if prompt is not None:
        yield prompt
    if raw is not None:
        yield raw if prompt is None else replace(raw, cause="prompt: the prompts differ")
    status = _status(pair, left, right)
    if status is not None:
        yield status
        return
    reported = [*_messages(pair, left, right, before)]
    yield from reported
    if not reported:
        yield from _streams(pair, left, right, before)


# --- request and prompt --------------------------------------------------------------


def _request(pair: tuple[Api, Api], left: Trace, right: Trace) -> Iterator[ApiDifference]:
    """Yield what was lost on the way to one API and not to the other."""
    for this, other in ((left, right), (right, left)):
        for notice in this.lost:
            if notice not in other.lost:
                detail = f"To {this.api.label}: {notice.message}"
                yield ApiDifference(pair, "request", "request conversion", detail, field=notice.field)


def _prompts_are_known(left: Trace, right: Trace) -> bool:
    return all(trace.prompt is not None and trace.prompt.token_ids is not None for trace in (left, right))


def _prompt(pair: tuple[Api, Api], left: Trace, right: Trace, request: list[ApiDifference]) -> ApiDifference | None:
    ids = [None if trace.prompt is None else trace.prompt.token_ids for trace in (left, right)]
    if ids[0] is None or ids[1] is None:
        return _prompt_counts(pair, left, right)
    first = first_divergence(ids[0], ids[1])
    if first is None:
        return None
    counts = f"{len(ids[0]):,} tokens by {pair[0].label}, {len(ids[1]):,} by {pair[1].label}"
    changed = [change for change in _sent_changes(left, right) if change.path.startswith(_OF_PROMPT)]
    field = changed[0].path if changed else _field_at(left, first) or _field_at(right, first)
    cause = _cause_of_prompt(left, right, changed, request, first)
    at = f"from token {first:,} on" + (f", at `{field}`" if field else "")
    return ApiDifference(pair, "prompt", cause, f"The prompts differ {at}: {counts}.", field, first)


def _cause_of_prompt(
    left: Trace, right: Trace, changed: list[JsonChange], request: list[ApiDifference], first: int
) -> str | None:
    """Return what made the prompts differ, where our renders of what was asked equal them, or show what was done.

    What a server did to the request of one explains that they diverge where its prompt and our render do; where both
    prompts are proved and both were asked the same, it explains whatever they differ in.
    """
    is_explained = all(_is_rendered(trace) for trace in (left, right))
    if is_explained and changed:
        path = changed[0].path
        parts = (one for one in request if one.field and (_is_part(one.field, path) or _is_part(path, one.field)))
        message = next((one.detail for one in parts), "")
        return f"request conversion: {message or _change_words(changed[0])}"
    for trace in (right, left):
        other = right if trace is left else left
        proof = () if trace.prompt is None else trace.prompt.proof or ()
        others = () if other.prompt is None else other.prompt.proof or ()
        difference = trace.prompt_difference
        if difference is None or (difference.first_token != first and not is_explained):
            continue
        if own := [one for one in proof if one not in others]:
            return f"request conversion: asked by {trace.api.label}, {'; '.join(own)}"
    return None


def _is_rendered(trace: Trace) -> bool:
    """Return whether the server's prompt is our render of what was asked, be it after what it is proved to do."""
    if trace.prompt is None or trace.local_prompt is None:
        return False
    return trace.prompt_difference is None or trace.prompt_difference.cause is not None


def _is_part(field: str, path: str) -> bool:
    return path == field or path.startswith((f"{field}.", f"{field}["))


def _change_words(change: JsonChange) -> str:
    if change.kind == "removed":
        return f"`{change.path}` is {_shown(change.left)} by the one, and missing by the other"
    if change.kind == "added":
        return f"`{change.path}` is missing by the one, and {_shown(change.right)} by the other"
    return f"`{change.path}` is {_shown(change.left)} by the one, {_shown(change.right)} by the other"


def _shown(value: JSON) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"


def _sent_changes(left: Trace, right: Trace) -> tuple[JsonChange, ...]:
    return json_changes(left.sent, right.sent)


def _field_at(trace: Trace, token: int) -> str | None:
    """Return the field of the request that a token of the prompt shows, or the next one that follows it."""
    prompt = trace.prompt
    if prompt is None or prompt.tokens is None or token >= len(prompt.tokens):
        return None
    start = prompt.tokens[token].char_span.start
    after = (span for span in prompt.spans if span.char_span.stop > start and span.kind is not SpanKind.UNKNOWN)
    return next((span.field for span in after if span.field), None)


def _prompt_counts(pair: tuple[Api, Api], left: Trace, right: Trace) -> ApiDifference | None:
    counts = [trace.chat.usage.prompt_tokens if trace.chat and trace.chat.usage else None for trace in (left, right)]
    if None in counts or counts[0] == counts[1]:
        return None
    detail = f"The server counts {counts[0]:,} prompt tokens by {pair[0].label}, {counts[1]:,} by {pair[1].label}."
    return ApiDifference(pair, "prompt", None, f"{detail} It does not report both prompts.")


# --- outputs and answers -------------------------------------------------------------


def _raw(pair: tuple[Api, Api], left: Trace, right: Trace, prompt: ApiDifference | None) -> ApiDifference | None:
    if left.raw is None or right.raw is None or left.raw.text == right.raw.text:
        return None
    ids = (left.raw.token_ids, right.raw.token_ids)
    first = None if ids[0] is None or ids[1] is None else first_divergence(ids[0], ids[1])
    cause = _cause_of_chance(left, right) or _cause_by_lost_sampling(left, right) or _cause_by_limit(left, right)
    if cause is None:
        cause = _cause_by_grammar(left, right)
    on = "on the same prompt" if _prompts_are_known(left, right) else "and a prompt is not known"
    on = on if prompt is None else "on different prompts"
    return ApiDifference(pair, "raw", cause, f"The model wrote different text, {on}.", first_token=first)


def _cause_of_chance(left: Trace, right: Trace) -> str | None:
    if any(draws_at_random(trace.sent or trace.request.body) for trace in (left, right)):
        return "sampling: the request sets neither `temperature: 0` nor a `seed`"
    return None


def _cause_by_lost_sampling(left: Trace, right: Trace) -> str | None:
    """Return which fields that shape what is sampled were lost on the way to one API and not to the other.

    With a fixed seed and one prompt they are all that is known to differ.
    """
    lost = [
        f"To {this.api.label}: {notice.message}"
        for this, other in ((left, right), (right, left))
        for notice in this.lost
        if notice.field in _OF_SAMPLING | _OF_GRAMMAR and notice not in other.lost
    ]
    return f"request conversion: {' '.join(lost)}" if lost else None


def _cause_by_limit(left: Trace, right: Trace) -> str | None:
    """Return that two limits differ, where one output is cut and begins the other."""
    limits = [limit_of(trace.sent or trace.request.body) for trace in (left, right)]
    ends = [trace.raw.finish_reason for trace in (left, right) if trace.raw is not None]
    if limits[0] != limits[1] and "length" in ends and _is_beginning(left, right):
        return "request conversion: the limits of output tokens differ"
    return None


def _cause_by_grammar(left: Trace, right: Trace) -> str | None:
    """Return that the server says that it puts another grammar on the one answer."""
    grammars = [trace.server_grammar for trace in (left, right)]
    if grammars[0] is None or grammars[1] is None or grammars[0].constraint == grammars[1].constraint:
        return None
    without = [
        trace.api.label for trace, one in zip((left, right), grammars, strict=True) if one and one.constraint is None
    ]
    outcome = f"none by {without[0]}" if len(without) == 1 else "a different one by each"
    return f"request conversion: the server puts a grammar on the answer, {outcome}"


def _is_beginning(left: Trace, right: Trace) -> bool:
    texts = sorted((trace.raw.text for trace in (left, right) if trace.raw is not None), key=len)
    return texts[-1].startswith(texts[0])


def _status(pair: tuple[Api, Api], left: Trace, right: Trace) -> ApiDifference | None:
    broken = [trace for trace in (left, right) if trace.refusal is None and _is_broken(trace)]
    if len(broken) == 1:
        message = shorten(broken[0].chat.error if broken[0].chat else "", _SHOWN)
        return ApiDifference(
            pair,
            "status",
            _cause_of_break(broken[0], left if broken[0] is right else right),
            f"{broken[0].api.label} gave no answer: {message}.",
        )
    refused = [trace for trace in (left, right) if trace.refusal is not None]
    if not refused or (len(refused) == 2 and _refusal(left) == _refusal(right)):
        return None
    cause = _cause_of_refusal(refused, [left, right])
    message = "; ".join(f"{trace.api.label} answered {_refusal(trace)}" for trace in refused)
    return ApiDifference(
        pair, "status", cause, f"{message}; the other API answered." if len(refused) == 1 else f"{message}."
    )


def _is_broken(trace: Trace) -> bool:
    """Return whether an answer is an error and nothing else."""
    chat = trace.chat
    return chat is not None and chat.error is not None and not any(chat.message.get(name) for name in _OF_ANSWERS)


def _cause_of_break(trace: Trace, other: Trace) -> str | None:
    """Return that the same request is refused where no stream is asked for, if that was tried."""
    message = next((note for note in trace.notes if note.startswith(WITHOUT_STREAM)), None)
    if message is None:
        return None
    lost = next((one for one in other.lost if one not in trace.lost and _is_named(one.field, trace, message)), None)
    if lost is not None:
        return f"request conversion: To {other.api.label}: {lost.message}"
    return f"request checks: {message}"


def _cause_of_refusal(refused: Sequence[Trace], both: Sequence[Trace]) -> str | None:
    """Return why one API refuses, or both do in different words, as far as the refusal's own finding tells."""
    worst = refused[-1]
    finding = next((one for one in worst.findings if one.code in ("PD445", "PD100", "PD221")), None)
    if finding is None:
        return None
    if finding.code == "PD445":
        return f"way out: {finding.title}"
    if len(refused) == 2:
        return "request checks: both APIs refuse the request, each in its own words"
    other = next(trace for trace in both if trace is not worst)
    message = "" if worst.refusal is None else worst.refusal.message
    is_of_media = _is_of_media(worst) and _has_media(worst) and not _has_media(other)
    for this, opposite in ((other, worst), (worst, other)):
        for lost in this.lost:
            if lost not in opposite.lost and (_is_named(lost.field, worst, message) or (this is other and is_of_media)):
                return f"request conversion: To {this.api.label}: {lost.message}"
    return f"request checks: {finding.title}"


def _is_named(field: str, trace: Trace, message: str) -> bool:
    """Return whether a refusal is about a field: it names it as one, or begins a sentence with it."""
    if not field.isidentifier():  # within a list, the name alone would not tell which
        return _is_item_named(field, trace, message)
    return any(_is_own_field(name, message) for name in (field, *_INNER_NAMES.get(field, ())))


def _is_own_field(field: str, message: str) -> bool:
    as_field = rf"parameter={field}\b|['\"`]{field}['\"`]|\bbody\.{field}\b"
    as_subject = rf"(?:^|[:'\"`,]\s?){field}(?:\.\w+)*\s(?:must|is|are|has|was|cannot|should|requires)\b"
    return re.search(f"{as_field}|{as_subject}", message) is not None


def _is_item_named(field: str, trace: Trace, message: str) -> bool:
    """Return whether a refusal of the body that was pasted is about an item of a list in it.

    It gives the item's place, or names the list and what type of item it refuses.
    """
    place = _ITEM.fullmatch(field)
    if place is None or trace.api is not trace.request.api:
        return False
    name, index = place[1], int(place[2])
    if re.search(rf"\b{name}(?:\.|\[|['\"], ?){index}\b", message):
        return True
    items = objects_of((trace.sent_native or {}).get(name))
    kind = text_of(items[index].get("type")) if index < len(items) else None
    if not kind or kind == "function" or not _is_own_field(name, message):
        return False
    return re.search(rf"\b{re.escape(kind)}\b", message, re.IGNORECASE) is not None


def _is_of_media(trace: Trace) -> bool:
    return trace.refusal is not None and _MEDIA_WORDS.search(trace.refusal.message) is not None


def _has_media(trace: Trace) -> bool:
    """Return whether what went out held more than texts."""
    return _MEDIA_PARTS.search(json.dumps(trace.sent_native or trace.sent or trace.request.body)) is not None


def _refusal(trace: Trace) -> str:
    refusal = trace.refusal
    return "" if refusal is None else f"{refusal.label}: {refusal.message[:_SHOWN]}"


def _messages(
    pair: tuple[Api, Api], left: Trace, right: Trace, before: ApiDifference | None
) -> Iterator[ApiDifference]:
    if left.chat is None or right.chat is None:
        return
    for change in json_changes(_comparable(left.chat), _comparable(right.chat)):
        cause = _cause_of_answers(left, right, before, change)
        yield ApiDifference(pair, "message", cause, f"{_change_words(change)}.", field=change.path)


def _streams(pair: tuple[Api, Api], left: Trace, right: Trace, before: ApiDifference | None) -> Iterator[ApiDifference]:
    if left.chat_stream is None or right.chat_stream is None:
        return
    # A stream is a generation of its own: the one of the answer says nothing about it.
    chance = None if before is not None and before.where == "prompt" else _cause_of_chance(left, right)
    for change in json_changes(_comparable(left.chat_stream), _comparable(right.chat_stream)):
        cause = chance or _cause_of_answers(left, right, before, change)
        yield ApiDifference(pair, "stream", cause, f"Streamed, {_change_words(change)}.", field=change.path)


def _cause_of_answers(left: Trace, right: Trace, before: ApiDifference | None, change: JsonChange) -> str | None:
    """Return what lets two answers differ: prompts or outputs that differ, else how one output was read or told."""
    if before is not None:
        return "prompt: the prompts differ" if before.where == "prompt" else "raw: the outputs differ"
    if (chance := _cause_of_chance(left, right)) is not None and not all(map(_is_own, (left, right))):
        return chance
    if left.parse is None or right.parse is None or not all(_is_judged(trace.parse) for trace in (left, right)):
        return None
    outcomes = [[match.outcome for match in one.ledger.matches] for one in (left.parse, right.parse)]
    if change.path.startswith("tool_calls") and outcomes[0] != outcomes[1]:
        return "parse: the model wrote the same for both, and its calls were read differently"
    return "way out: the model wrote the same for both, and its calls were read alike"


def _is_judged(parse: Parse | None) -> bool:
    """Return whether an output and its answer belong together, or had to agree."""
    comparability = None if parse is None else parse.ledger.comparability
    return comparability is not None and comparability.certainty is not None


def _is_own(trace: Trace) -> bool:
    """Return whether the raw output is of the answer's own run."""
    return trace.evidence is Basis.SAME_RUN


def _comparable(result: ChatResult) -> JSONObject:
    """Return an answer without what only its form decides: ids, empty texts, how arguments are spelled."""
    message = result.message
    calls: list[JSON] = []
    for call in objects_of(message.get("tool_calls")):
        function = as_object(call.get("function"))
        calls.append({"function": {"name": function.get("name"), "arguments": decoded(function.get("arguments"))}})
    reasoning = text_of(message.get("reasoning")) or text_of(message.get("reasoning_content"))
    return {
        "content": message.get("content") or None,
        "reasoning": reasoning or None,
        "tool_calls": calls,
        "finish_reason": result.finish_reason,
    }
