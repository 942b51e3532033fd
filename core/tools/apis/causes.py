"""Why runs of one request through several APIs differ: a field that was lost, another limit, a grammar, chance."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from prompt_debugger.core.base.comparable import draws_at_random
from prompt_debugger.core.base.json_values import as_text, objects_in
from prompt_debugger.core.base.types import JSON, Api, Basis, Parse, SpanKind, Trace
from prompt_debugger.core.complete.evidence import WITHOUT_STREAM
from prompt_debugger.core.request.api_work import limit_of
from prompt_debugger.core.tools.experiments.api_difference import ApiDifference
from prompt_debugger.core.tools.experiments.json_changes import JsonChange

MAX_SHOWN = 120
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
OF_PROMPT = (
    "messages", "tools", "add_generation_prompt", "continue_final_message", "chat_template", "documents",
    "reasoning_effort",
)  # fmt: skip


def cause_of_prompt(
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
        return f"request conversion: {message or change_words(changed[0], (left.api, right.api))}"
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


def change_words(change: JsonChange, pair: tuple[Api, Api]) -> str:
    """Return what differs between the runs of two APIs, such as "`finish_reason` is …"."""
    left = "missing" if change.kind == "added" else _shown(change.left)
    right = "missing" if change.kind == "removed" else _shown(change.right)
    return f"`{change.path}` is {left} with {pair[0].label}, {right} with {pair[1].label}"


def _shown(value: JSON) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= MAX_SHOWN else f"{text[: MAX_SHOWN - 1]}…"


def field_at(trace: Trace, token: int) -> str | None:
    """Return the field of the request that a token of the prompt shows, or the next one that follows it."""
    prompt = trace.prompt
    if prompt is None or prompt.tokens is None or token >= len(prompt.tokens):
        return None
    start = prompt.tokens[token].char_span.start
    after = (span for span in prompt.spans if span.char_span.stop > start and span.kind is not SpanKind.UNKNOWN)
    return next((span.field for span in after if span.field), None)


def cause_of_outputs(left: Trace, right: Trace) -> str | None:
    """Return why the model wrote different text: chance, a sampling field or a limit that one lost, or a grammar."""
    causes = (cause_of_chance, _cause_by_lost_sampling, _cause_by_limit, _cause_by_grammar)
    return next((words for cause in causes if (words := cause(left, right)) is not None), None)


def cause_of_chance(left: Trace, right: Trace) -> str | None:
    """Return that the runs drew at random, if the request lets them."""
    if any(draws_at_random(trace.sent or trace.request.body) for trace in (left, right)):
        return "sampling: the request sets neither `temperature: 0` nor a `seed`"
    return None


def _cause_by_lost_sampling(left: Trace, right: Trace) -> str | None:
    """Return which fields that shape what is sampled were lost in transit to one API and not to the other.

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


def cause_of_break(trace: Trace, other: Trace) -> str | None:
    """Return that the same request is refused where no stream is asked for, if that was tried."""
    message = next((note for note in trace.notes if note.startswith(WITHOUT_STREAM)), None)
    if message is None:
        return None
    lost = next((one for one in other.lost if one not in trace.lost and _is_named(one.field, trace, message)), None)
    if lost is not None:
        return f"request conversion: To {other.api.label}: {lost.message}"
    return f"request checks: {message}"


def cause_of_refusal(refused: Sequence[Trace], both: Sequence[Trace]) -> str | None:
    """Return why one API refuses, or both do in different words, as far as the refusal's own finding tells."""
    worst = refused[-1]
    finding = next((one for one in worst.findings if one.code in ("PD445", "PD100", "PD221")), None)
    if finding is None:
        return None
    if finding.code == "PD445":
        return f"response: {finding.title}"
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
    items = objects_in((trace.sent_native or {}).get(name))
    kind = as_text(items[index].get("type")) if index < len(items) else None
    if not kind or kind == "function" or not _is_own_field(name, message):
        return False
    return re.search(rf"\b{re.escape(kind)}\b", message, re.IGNORECASE) is not None


def _is_of_media(trace: Trace) -> bool:
    return trace.refusal is not None and _MEDIA_WORDS.search(trace.refusal.message) is not None


def _has_media(trace: Trace) -> bool:
    """Return whether what went out held more than texts."""
    return _MEDIA_PARTS.search(json.dumps(trace.sent_native or trace.sent or trace.request.body)) is not None


def cause_of_answers(left: Trace, right: Trace, before: ApiDifference | None, change: JsonChange) -> str | None:
    """Return what lets two answers differ: prompts or outputs that differ, else how one output was read or returned."""
    if before is not None:
        return "prompt: the prompts differ" if before.where == "prompt" else "raw: the outputs differ"
    if (chance := cause_of_chance(left, right)) is not None and not all(map(_is_own, (left, right))):
        return chance
    if left.parse is None or right.parse is None or not all(_is_judged(trace.parse) for trace in (left, right)):
        return None
    outcomes = [[match.outcome for match in one.ledger.matches] for one in (left.parse, right.parse)]
    if change.path.startswith("tool_calls") and outcomes[0] != outcomes[1]:
        return "parse: the model wrote the same for both, and its calls were read differently"
    return "response: the model wrote the same for both, and its calls were read the same way"


def _is_judged(parse: Parse | None) -> bool:
    """Return whether an output and its answer belong together, or had to agree."""
    comparability = None if parse is None else parse.ledger.comparability
    return comparability is not None and comparability.certainty is not None


def _is_own(trace: Trace) -> bool:
    """Return whether the raw output is of the answer's own run."""
    return trace.evidence is Basis.SAME_RUN
