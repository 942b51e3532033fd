"""The prompts of a session, compared with each other: what each keeps of the one before, and where and why it breaks.

With a chat template prompts are rendered and compared token by token (characters without a tokenizer). Without one
what stands for a prompt is the request itself: tools, then messages, as most templates print them.
"""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Literal

from prompt_debugger.core.base.errors import RenderError
from prompt_debugger.core.base.json_values import as_object, as_text, objects_in, text_or_json
from prompt_debugger.core.base.types import JSON, JSONObject, PromptSpan, Span, SpanKind
from prompt_debugger.core.render.vllm_view import LLAMA_CPP_CAUSES, usual_causes
from prompt_debugger.core.tools.experiments import RenderSetup, follow_turns
from prompt_debugger.core.tools.experiments.difference import Place, common_length, place_at
from prompt_debugger.core.tools.experiments.encoding import SharedEncoder
from prompt_debugger.core.tools.experiments.variant import (
    Rendered,
    RenderFailure,
    Variant,
    facts_of,
    render_text,
    render_variant,
)
from prompt_debugger.core.tools.sessions.causes import Change, changes_between
from prompt_debugger.core.tools.sessions.gather import Exchange
from prompt_debugger.core.tools.verify.making import folded

_MESSAGE = re.compile(r"messages\[(\d{1,6})\]")
_THOUGHTS = ("reasoning_content", "reasoning")
_SHOWN = 20  # characters of thinking that are looked for where the prompts part
_OPENING = 40  # units at the end of a prompt in which a template opens the assistant's turn
_WITHOUT_THOUGHTS = "The template leaves out the thinking of a past turn from here on."
_DIFFERENTLY = "The template prints earlier messages differently in this turn."


@dataclass(frozen=True, slots=True)
class Break:
    """Where a prompt stops being the one before.

    Attributes:
        first: Index of the first token, or character, that differs.
        field: Request field that is there, where known.
        template_line: Line of the template that wrote it, from 1, where known.
        cause: In one sentence.
        cure: What to do, where something is known.
        before: What was there.
        after: What is there now.
        certainty: Whether the cause was seen in the requests or proved by rendering, or concluded from the place.
    """

    first: int = dataclasses.field(metadata={"alias": "token"})
    field: str | None
    template_line: int | None
    cause: str
    cure: str | None
    before: str
    after: str
    certainty: Literal["observed", "inferred"] = "observed"


@dataclass(frozen=True, slots=True)
class Turn:
    """One request of a session.

    Attributes:
        exchange: The request.
        count: Units of its prompt.
        kept: Units at its beginning that were computed before.
        recomputed: Units that were computed before and have to be again.
        broken: Where and why; `None` if it continues.
        problem: Why there is no prompt to compare; "" if there is.
    """

    exchange: Exchange
    count: int = 0
    kept: int = 0
    recomputed: int = 0
    broken: Break | None = None
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Session:
    """One agent's session; `view` is the server whose view gives prompts as long as it counted, or `None`."""

    unit: str
    turns: tuple[Turn, ...]
    view: str | None = None

    @property
    def recomputed(self) -> int:
        """Units computed again, over all turns."""
        return sum(turn.recomputed for turn in self.turns)


def follow_sessions(exchanges: Iterable[Exchange], setup: RenderSetup | None = None) -> Iterator[Session]:
    """Yield the sessions of exchanges, in their order; without a `setup` the requests themselves are compared."""
    for session in stitch(exchanges):
        yield _followed(session, setup)


def _followed(exchanges: Sequence[Exchange], setup: RenderSetup | None) -> Session:
    view: str | None = None
    if setup is not None:
        setup, view = setup_by_counts(exchanges, setup)
    encoder = SharedEncoder(None if setup is None else setup.tokenizer)
    has_tokens = setup is not None and setup.tokenizer is not None
    turns: list[Turn] = []
    before: tuple[Exchange, Rendered] | None = None
    for exchange in exchanges:
        prompt = _prompt(exchange.body, setup, encoder)
        if isinstance(prompt, RenderFailure):
            turns.append(Turn(exchange, problem=prompt.message))
            continue
        turn = Turn(exchange, len(prompt.keys))
        turns.append(turn if before is None else _compared(before, turn, prompt, setup))
        before = exchange, prompt
    return Session("token" if has_tokens else "character", tuple(turns), view)


def _compared(before: tuple[Exchange, Rendered], turn: Turn, prompt: Rendered, setup: RenderSetup | None) -> Turn:
    last, asked = before
    kept = common_length(asked.keys, prompt.keys)
    if kept < len(asked.keys):
        again = min(len(asked.keys), len(prompt.keys)) - kept
        broken = _break(last.body, turn.exchange.body, kept, asked, prompt, setup)
        return replace(turn, kept=kept, recomputed=again, broken=broken)
    turn = replace(turn, kept=kept)
    return turn if setup is None or setup.tokenizer is None else _compare_after_answer(last.body, turn, setup)


def _break(
    old: JSONObject, new: JSONObject, kept: int, asked: Rendered, prompt: Rendered, setup: RenderSetup | None
) -> Break:
    before, after = (_place(body, one, kept, setup) for body, one in ((old, asked), (new, prompt)))
    changes = [*changes_between(old, new)]
    change = _change_at(changes, (after.field, before.field))
    line = after.template_line or before.template_line
    if change is not None:
        return Break(kept, change.field, line, change.cause, change.cure, before.text, after.text)
    field = after.field or before.field
    found = None if setup is None else _compare_templates(new, setup)
    cure = "" if found is None or found.first != kept else found.cure
    thought = _thought_at(old, field or "")
    if thought is not None and thought[1] in before.text and thought[1] not in after.text:
        return Break(kept, thought[0], line, _WITHOUT_THOUGHTS, cure, before.text, after.text, certainty="inferred")
    if changes:  # none of them is where the prompts part
        first = changes[0]
        return Break(kept, field, line, first.cause, first.cure, before.text, after.text, certainty="inferred")
    if found is not None and found.first == kept and before.field is None and kept >= len(asked.keys) - _OPENING:
        return Break(kept, field, line, found.cause, cure, before.text, after.text, found.certainty)
    return Break(kept, field, line, _DIFFERENTLY, cure, before.text, after.text, certainty="inferred")


def _thought_at(body: JSONObject, field: str) -> tuple[str, str] | None:
    """Return where the thinking of the message at a field is, and how it begins; `None` if it has none."""
    found = _MESSAGE.match(field)
    messages = objects_in(body.get("messages"))
    if found is None or int(found[1]) >= len(messages):
        return None
    reported = ((name, as_text(messages[int(found[1])].get(name))) for name in _THOUGHTS)
    return next(
        ((f"{found[0]}.{name}", text.strip()[:_SHOWN]) for name, text in reported if text and text.strip()), None
    )


def _change_at(changes: Sequence[Change], fields: Sequence[str | None]) -> Change | None:
    """Return the change that is where the prompts part."""
    for field in fields:
        for change in changes:
            root = change.field.partition(".")[0]
            if field is not None and (field == root or field.startswith((f"{root}.", f"{root}["))):
                return change
    return None


def _compare_after_answer(old: JSONObject, turn: Turn, setup: RenderSetup) -> Turn:
    """Add what became of the answer between both prompts: it was computed, too."""
    messages, asked = objects_in(turn.exchange.body.get("messages")), objects_in(old.get("messages"))
    added = messages[len(asked) :]
    if len(added) < 2 or added[0].get("role") != "assistant":
        return turn
    if sum(one.get("role") == "assistant" for one in added) != 1:
        return turn
    report = follow_turns(turn.exchange.body, setup, last=1)
    found = report.turns[-1] if report.turns else None
    if found is None or found.failure is not None or found.message_index != len(asked):
        return turn
    turn = replace(turn, kept=found.kept)
    broken = _compare_templates(turn.exchange.body, setup) if found.broken is not None else None
    if found.broken is None or broken is None:
        return turn
    return replace(turn, recomputed=min(found.broken.lost, found.next_count - found.kept), broken=broken)


def _compare_templates(body: JSONObject, setup: RenderSetup) -> Break | None:
    """Return why the template itself does not continue from the last answer."""
    report = follow_turns(body, setup, last=1)
    broken = report.turns[-1].broken if report.turns else None
    if broken is None:
        return None
    cure = f"Try {', '.join(broken.remedies)}." if broken.remedies else ""
    return Break(
        broken.first,
        broken.after.field or broken.before.field,
        broken.after.template_line,
        broken.sentence,
        cure,
        broken.before.text,
        broken.after.text,
        "observed" if broken.is_proved else "inferred",
    )


def _prompt(body: JSONObject, setup: RenderSetup | None, encoder: SharedEncoder) -> Rendered | RenderFailure:
    """Return a prompt with what it is compared by; its origins alone without a template."""
    if setup is None:
        return _layout(body)
    made = render_text(Variant({**body, "add_generation_prompt": True}, setup))
    if isinstance(made, RenderFailure):
        return made
    return encoder.keys_of(made[0]) if setup.tokenizer is not None else _render_characters(made[0], made[1])


def _place(body: JSONObject, prompt: Rendered, index: int, setup: RenderSetup | None) -> Place:
    """Return what is at one unit of a prompt."""
    if setup is None:
        return _character_at(prompt, index)
    traced = render_variant(Variant({**body, "add_generation_prompt": True}, setup), is_traced=True)
    if isinstance(traced, RenderFailure):
        return Place(0, "")
    return place_at(traced, index) if setup.tokenizer is not None else _character_at(traced, index)


def _layout(body: JSONObject) -> Rendered:
    """Return what a request says in the order of most prompts: tools, then messages."""
    pieces: list[tuple[str, str]] = []
    for index, tool in enumerate(objects_in(body.get("tools"))):
        pieces.append((json.dumps(tool, ensure_ascii=False), f"tools[{index}]"))
    for index, message in enumerate(objects_in(body.get("messages"))):
        pieces.append((f"{message.get('role')}: ", f"messages[{index}].role"))
        for name, value in message.items():
            if name != "role" and value is not None:
                text = text_or_json(value)
                pieces.append((text, f"messages[{index}].{name}"))
    spans: list[PromptSpan] = []
    at = 0
    for text, field in pieces:
        spans.append(PromptSpan(Span(at, at + len(text) + 1), SpanKind.REQUEST, field))
        at += len(text) + 1
    return _render_characters("".join(f"{text}\n" for text, _ in pieces), tuple(spans))


def _render_characters(text: str, origins: tuple[PromptSpan, ...]) -> Rendered:
    return Rendered(text, "word", tuple(text), (), origins)


def _character_at(prompt: Rendered, index: int) -> Place:
    return place_at(replace(prompt, tokens=(), char_spans=(Span(index, index + 1),)), 0)


# A server changes a request before the template sees it: it puts keys in its own order, writes text as parts. Whose
# habits those were, a capture does not say; the count of prompt tokens in each answer does.
_LOOKED_AT = 3  # requests, the last ones: they contain what the first ones do


def setup_by_counts(exchanges: Sequence[Exchange], setup: RenderSetup) -> tuple[RenderSetup, str | None]:
    """Return the setup whose prompts are as long as the server counted; without counts or tokenizer, the one given."""
    counted = [exchange for exchange in exchanges if exchange.prompt_tokens][-_LOOKED_AT:]
    if not counted or setup.tokenizer is None or setup.causes:
        return setup, None
    best, view, most = setup, None, _matches(counted, setup)
    for name, causes in _views(setup):
        if most == len(counted):
            break
        tried = replace(setup, causes=causes)
        matches = _matches(counted, tried)
        if matches > most:
            best, view, most = tried, name, matches
    return best, view


def _views(setup: RenderSetup) -> Iterator[tuple[str, tuple[str, ...]]]:
    try:
        facts = facts_of(setup)
    except RenderError:
        return
    yield "vllm", usual_causes(facts.content_format, knows_developer=facts.knows_developer)
    yield "llama.cpp", LLAMA_CPP_CAUSES


def _matches(counted: Sequence[Exchange], setup: RenderSetup) -> int:
    """Return how many prompts are as long as the server said."""
    made = [render_variant(Variant({**one.body, "add_generation_prompt": True}, setup)) for one in counted]
    return sum(
        not isinstance(prompt, RenderFailure) and len(prompt.keys) == one.prompt_tokens
        for one, prompt in zip(counted, made, strict=True)
    )


# Whether two messages are the same is asked without digits, ids, whitespace and thinking, since those are what changes
# between turns and breaks the cache: such a request still belongs to its session.
_LOOKED_BACK = 400  # sessions, the latest
_SYSTEM = ("system", "developer")


def stitch(exchanges: Iterable[Exchange]) -> list[list[Exchange]]:
    """Return the sessions, each in its order, in that of their first requests."""
    sessions: list[list[Exchange]] = []
    prints: list[tuple[bytes, ...]] = []
    for exchange in exchanges:
        mine = _prints(exchange)
        best, most = None, 0
        for index in range(max(0, len(sessions) - _LOOKED_BACK), len(sessions)):
            if sessions[index][-1].body.get("model") == exchange.body.get("model"):
                score = _shared(prints[index], mine)
                if score and score >= most:
                    best, most = index, score
        if best is None:
            sessions.append([exchange])
            prints.append(mine)
        else:
            sessions[best].append(exchange)
            prints[best] = mine
    return sessions


def _prints(exchange: Exchange) -> tuple[bytes, ...]:
    messages = exchange.body.get("messages")
    return tuple(_print_of(message) for message in (messages if isinstance(messages, list) else []))


def _print_of(message: JSON) -> bytes:
    reported = as_object(message)
    if reported.get("role") in _SYSTEM:
        return b"system"
    calls = [as_object(call.get("function")).get("name") for call in objects_in(reported.get("tool_calls"))]
    kept: list[JSON] = [reported.get("role"), folded(reported.get("content")), calls]
    return sha256(json.dumps(kept, sort_keys=True).encode()).digest()


def _shared(before: Sequence[bytes], now: Sequence[bytes]) -> int:
    """Return how many messages a request repeats; 0 if it does not continue from the one before."""
    if len(now) <= len(before) and now != before:
        return 0  # shorter: started over, or summarized
    same = [a == b for a, b in zip(before, now, strict=False)]
    kept = [is_same for is_same, one in zip(same, before, strict=True) if one != b"system"]
    return sum(same) if kept and kept[0] and 2 * sum(kept) >= len(kept) else 0
