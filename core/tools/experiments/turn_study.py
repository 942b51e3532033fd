"""One turn of a conversation: what was rendered around it, and why the next prompt does not continue it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from prompt_debugger.core.base.types import JSON, JSONObject
from prompt_debugger.core.tools.experiments.difference import Place, common_length, place_at
from prompt_debugger.core.tools.experiments.encoding import SharedEncoder
from prompt_debugger.core.tools.experiments.switches import Switch, Topic
from prompt_debugger.core.tools.experiments.switches.switch import drop_keys, messages_of
from prompt_debugger.core.tools.experiments.turn_causes import (
    BreakCause,
    find_stripped_block,
    is_without_reasoning,
    opens_reasoning,
    prove_cause,
    rewrite_arguments,
)
from prompt_debugger.core.tools.experiments.variant import (
    Rendered,
    RenderFailure,
    Variant,
    render_text,
    render_variant,
    units_of,
)

_OF_MESSAGES = frozenset({Topic.REASONING, Topic.CONTENT, Topic.CALLS})


@dataclass(frozen=True, slots=True)
class TurnRenders:
    """The texts around a turn.

    Attributes:
        asked: The prompt that led to it.
        past: The conversation up to and with it, without a generation prompt.
        known: `asked` and the output, cut into units separately, as a server has them; without spans.
        later: The next prompt; without spans.
    """

    asked: str
    past: str
    known: Rendered
    later: Rendered


@dataclass(frozen=True, slots=True)
class TurnStudy:
    """One turn, and why the next prompt does not continue it.

    Attributes:
        base: The whole conversation.
        start: Index of the assistant message.
        stop: How many messages the next prompt has.
        output: What the model wrote, where known.
        encoder: Cuts texts into units; shared by the turns of a conversation.
    """

    base: Variant
    start: int
    stop: int
    output: str | None
    encoder: SharedEncoder

    def render(self, asked: str | None = None) -> TurnRenders | RenderFailure:
        """Render the prompt before the turn (`asked`, where it is known), the turn, and the prompt after it."""
        texts: list[str] = []
        variants = (self._until(self.start), self._until(self.start + 1, opens=False), self._until(self.stop))
        for index, variant in enumerate(variants):
            if index == 0 and asked is not None:
                texts.append(asked)
                continue
            made = render_text(variant)
            if isinstance(made, RenderFailure):
                return made
            texts.append(made[0])
        before, past, later = texts
        return TurnRenders(before, past, self._known(before, past), self.encoder.keys_of(later))

    def places(self, made: TurnRenders, kept: int) -> tuple[Place, Place]:
        """Return what is where the two diverge: in what was known, and in the next prompt with its origins."""
        tokenizer = self.base.setup.tokenizer
        output = made.known.text[len(made.asked) :]
        known = units_of(made.asked + output, None)
        if tokenizer is not None:
            known = _joined(units_of(made.asked, tokenizer), units_of(output, tokenizer))
        later = render_variant(self._until(self.stop), is_traced=True)
        assert isinstance(later, Rendered)  # it was rendered before
        return place_at(known, kept), place_at(later, kept)

    def cause(self, made: TurnRenders, after: Place) -> tuple[BreakCause, bool]:
        """Return why the next prompt does not continue where the model ended, and whether that is proved."""
        known, later = made.known.text, made.later.text
        if later.startswith(known):
            return BreakCause.TOKEN_SEAM, True
        proved = self._proved(made)
        return (self._cause_of_place(made, after), False) if proved is None else (proved, True)

    def remedies(self, switches: tuple[Switch, ...]) -> Iterator[str]:
        """Yield the switches with which the next prompt continues where the model ended.

        A template kwarg is set for the earlier prompt too; what concerns messages only for the next.
        """
        first = self.render()
        assert isinstance(first, TurnRenders)  # it was rendered to find the break
        for switch in switches:
            if switch.topic is Topic.KWARGS:
                other = replace(self, base=switch.apply(self.base)).render()
                if not isinstance(other, RenderFailure) and self._holds(first, other):
                    yield switch.name
            elif switch.topic in _OF_MESSAGES:
                later = render_text(switch.apply(self._until(self.stop)))
                if not isinstance(later, RenderFailure) and _goes_on(first.known, self.encoder.keys_of(later[0])):
                    yield switch.name

    def _holds(self, first: TurnRenders, other: TurnRenders) -> bool:
        """Return whether the prefix holds under a kwarg, and not because the output is a shorter one."""
        is_whole = len(other.known.text) >= len(first.known.text)
        return is_whole and _goes_on(other.known, other.later)

    def _proved(self, made: TurnRenders) -> BreakCause | None:
        """Return the cause with which rendering makes the difference disappear; `None` if none does."""
        messages = messages_of(self.base.body)[: self.start + 1]
        shared = common_length(made.known.text, made.later.text)
        if made.later.text.startswith(made.past):  # the message is printed the same; the model wrote it differently
            if self.output is not None:
                return self._rewritten(made, messages)
            if not self._is_in_opening(made, shared):
                return self._moved()
            is_lost = is_without_reasoning(messages, made.past, self._past_with) and opens_reasoning(made.asked)
            return BreakCause.REASONING_STRIPPED if is_lost else BreakCause.GENERATION_PROMPT
        end = find_stripped_block(made.known.text, made.later.text)
        if end is not None and end > len(made.asked):
            return BreakCause.REASONING_STRIPPED
        if end is not None:  # of an earlier turn, or of what opens this one
            return BreakCause.GENERATION_PROMPT if self._is_in_opening(made, shared) else BreakCause.EARLIER_TEXT
        proved = prove_cause(messages, made.later.text, shared, self._past_with)
        return proved or self._dropped(made) or self._moved()

    def _rewritten(self, made: TurnRenders, messages: list[JSON]) -> BreakCause | None:
        for rewritten in rewrite_arguments(messages):
            text = self._past_with(rewritten)
            if text is not None and text != made.past and text.startswith(made.known.text):
                return BreakCause.ARGUMENTS_REWRITTEN
        return None

    def _is_in_opening(self, made: TurnRenders, shared: int) -> bool:
        """Return whether the difference is in what the generation prompt adds."""
        closed = render_text(self._until(self.start, opens=False))
        return not isinstance(closed, RenderFailure) and common_length(closed[0], made.asked) <= shared

    def _dropped(self, made: TurnRenders) -> BreakCause | None:
        """Return the cause that the template drops the turn: the next prompt is the same without it."""
        body = self.base.body
        messages = messages_of(body)
        without_turn = [*messages[: self.start], *messages[self.start + 1 :]]
        other = replace(self, base=replace(self.base, body={**body, "messages": without_turn}))
        text = render_text(other._until(self.stop - 1))
        is_same = not isinstance(text, RenderFailure) and text[0] == made.later.text
        return BreakCause.TURN_DROPPED if is_same else None

    def _moved(self) -> BreakCause | None:
        body = self.base.body
        kept = [one for one in messages_of(body) if not (isinstance(one, dict) and one.get("role") == "system")]
        if body.get("tools") and self._holds_with(drop_keys(body, "tools"), 0):
            return BreakCause.TOOLS_MOVED
        gone = len(messages_of(body)) - len(kept)
        if gone and self._holds_with({**body, "messages": kept}, gone):
            return BreakCause.SYSTEM_MOVED
        return None

    def _holds_with(self, body: JSONObject, gone: int) -> bool:
        """Return whether the prefix holds for another body that has `gone` messages less in front."""
        study = replace(self, base=replace(self.base, body=body), start=self.start - gone, stop=self.stop - gone)
        made = study.render() if study.start > 0 else None
        return isinstance(made, TurnRenders) and _goes_on(made.known, made.later)

    def _cause_of_place(self, made: TurnRenders, after: Place) -> BreakCause:
        field, here = after.field or "", f"messages[{self.start}]"
        shared = common_length(made.known.text, made.later.text)
        if "".join(made.later.text.split()).startswith("".join(made.known.text.split())):
            return BreakCause.WHITESPACE
        if shared < len(made.asked):
            is_opening = self._is_in_opening(made, shared)
            return BreakCause.GENERATION_PROMPT if is_opening else BreakCause.EARLIER_TEXT
        if field.startswith(here) and ".arguments" in field:
            return BreakCause.ARGUMENTS_REWRITTEN
        if field.startswith(here) and field.endswith(".id"):
            return BreakCause.ID_REWRITTEN
        if self.output is None and made.past.startswith(made.asked) and self._prints_nothing_after(shared):
            return BreakCause.ENDING
        return BreakCause.UNKNOWN

    def _prints_nothing_after(self, char: int) -> bool:
        """Return whether the turn shows no field of the request from some character on."""
        made = render_text(self._until(self.start + 1, opens=False), is_traced=True)
        if isinstance(made, RenderFailure) or not made[1]:
            return False
        return not any(span.field is not None and span.char_span.stop > char for span in made[1])

    def _known(self, asked: str, past: str) -> Rendered:
        output = self.output
        if output is None:
            output = self._sampled(past[len(asked) :]) if past.startswith(asked) else ""
        if self.base.setup.tokenizer is None:
            return self.encoder.keys_of(asked + output)
        prompt, written = self.encoder.keys_of(asked), self.encoder.keys_of(output)
        return replace(prompt, text=asked + output, keys=prompt.keys + written.keys)

    def _sampled(self, output: str) -> str:
        """Return a rendered output without the whitespace that the template adds after its end token."""
        tokenizer = self.base.setup.tokenizer
        special = set(self.base.setup.named_tokens.values())
        if tokenizer is not None:
            special.update(tokenizer.vocabulary.special.values())
        bare = output.rstrip()
        return bare if bare.endswith(tuple(text for text in special if text.strip())) else output

    def _past_with(self, messages: list[JSON]) -> str | None:
        variant = self._until(self.start + 1, opens=False)
        made = render_text(replace(variant, body={**variant.body, "messages": messages}))
        return None if isinstance(made, RenderFailure) else made[0]

    def _until(self, count: int, *, opens: bool = True) -> Variant:
        """Return the first `count` messages; `opens` adds a generation prompt."""
        body = {**self.base.body, "messages": messages_of(self.base.body)[:count], "add_generation_prompt": opens}
        return replace(self.base, body=body)


def _joined(prompt: Rendered, written: Rendered) -> Rendered:
    """Return two texts one after the other, each cut into tokens separately."""
    shift = len(prompt.text)
    spans = tuple(span._replace(start=span.start + shift, stop=span.stop + shift) for span in written.char_spans)
    moved = (replace(token, char_span=span) for token, span in zip(written.tokens, spans, strict=True))
    return replace(
        prompt,
        text=prompt.text + written.text,
        keys=prompt.keys + written.keys,
        char_spans=prompt.char_spans + spans,
        tokens=(*prompt.tokens, *moved),
    )


def _goes_on(known: Rendered, later: Rendered) -> bool:
    return later.keys[: len(known.keys)] == known.keys
