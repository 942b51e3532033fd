"""The seam between two turns: does the next prompt begin with the last prompt and what the model wrote?

Compared are the server's own ids where it gives them for both, else the texts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from pydantic import computed_field

from prompt_debugger.core.base.types import Completeness, Completion, Prompt, Token, Trace
from prompt_debugger.core.tools.experiments.difference import common_length
from prompt_debugger.core.tools.experiments.turns import follow_turns
from prompt_debugger.core.tools.experiments.variant import RenderSetup

_Where: TypeAlias = Literal["prompt", "output", "next"]
_NEXT_TO = 40  # characters shown on either side of the first difference


@dataclass(frozen=True, slots=True)
class SeamPlace:
    """What is at the first difference on one side.

    Attributes:
        where: `prompt` or `output` of the last turn, or the `next` prompt.
        text: The differing token's text; of texts, the differing character; "" at an end.
        lead: Text in front of it.
        tail: Text after it.
        token_id: Its id, where ids are compared.
        field: Request field that it shows, if any.
        template_line: Line of the template that wrote it, from 1, where known.
    """

    where: _Where
    text: str
    lead: str = ""
    tail: str = ""
    token_id: int | None = None
    field: str | None = None
    template_line: int | None = None


@dataclass(frozen=True, slots=True)
class Seam:
    """How the next prompt continues from the last turn.

    Attributes:
        unit: What is counted: the server's tokens, or characters where it gives no ids.
        known: Units of the last prompt and the output after it.
        next_count: Units of the next prompt.
        kept: Units at the beginning that both share: what a prefix cache can use again.
        before: What was at the first difference; `None` if the next prompt continues.
        after: What is there in the next prompt.
        cause: Why, one sentence; "" if it continues or the template is not at hand.
        problem: Why the two cannot be compared; "" if they can.
    """

    unit: Literal["token", "character"] = "token"
    known: int = 0
    next_count: int = 0
    kept: int = 0
    before: SeamPlace | None = None
    after: SeamPlace | None = None
    cause: str = ""
    problem: str = ""

    @computed_field  # type: ignore[prop-decorator]  # what pydantic documents
    @property
    def lost(self) -> int:
        """Units computed in the last turn that cannot be used again."""
        return self.known - self.kept

    @computed_field  # type: ignore[prop-decorator]  # what pydantic documents
    @property
    def first(self) -> int | None:
        """Index of the first unit that differs; `None` if the next prompt continues."""
        return None if self.before is None else self.kept

    @computed_field  # type: ignore[prop-decorator]  # what pydantic documents
    @property
    def sentence(self) -> str:
        """What came of it, in one sentence."""
        if self.problem:
            return f"Not compared: {self.problem}"
        if self.before is None:
            return f"The prompt continues where the model ended: {self.kept} {self.unit}s kept."
        why = f" {self.cause}" if self.cause else ""
        return f"The prompt differs from {self.unit} {self.kept} on: {self.lost} computed {self.unit}s are lost.{why}"


def seam_between(last: Trace, now: Trace) -> Seam:
    """Return how one turn's prompt continues from the run before, whose message is in its request."""
    prompts = _prompts(last, now)
    if prompts is None or last.raw is None:
        return Seam(problem="the prompt of one of the turns, or the raw output, is unknown.")
    if last.raw.completeness is Completeness.STRIPPED:
        return Seam(problem="the raw output lacks the control tokens that the model wrote.")
    asked, later = prompts
    written = last.raw
    with_ids = asked.tokens is not None and later.tokens is not None and written.tokens is not None
    seam = _compare_tokens(asked, written, later) if with_ids else _compare_texts(asked, written, later)
    if seam.before is None:
        return seam
    return _add_cause(seam, last, now, written.text)


def _prompts(last: Trace, now: Trace) -> tuple[Prompt, Prompt] | None:
    """Return both prompts as the server has them, else both as we render them; never one of each."""
    for asked, later in ((last.prompt, now.prompt), (last.local_prompt, now.local_prompt)):
        if asked is not None and later is not None:
            return asked, later
    return None


def _compare_tokens(asked: Prompt, written: Completion, later: Prompt) -> Seam:
    before, output, after = asked.tokens or (), written.tokens or (), later.tokens or ()
    known = [token.id for token in (*before, *output)]
    kept = common_length(known, [token.id for token in after])
    seam = Seam("token", len(known), len(after), kept)
    if kept == len(known):
        return seam
    if kept < len(before):
        old = _token_place("prompt", before, kept, asked.text)
    else:
        old = _token_place("output", output, kept - len(before), written.text)
    return replace(seam, before=old, after=_token_place("next", after, kept, later.text))


def _compare_texts(asked: Prompt, written: Completion, later: Prompt) -> Seam:
    known = asked.text + written.text
    kept = common_length(known, later.text)
    seam = Seam("character", len(known), len(later.text), kept)
    if kept == len(known):
        return seam
    in_prompt = kept < len(asked.text)
    side, index = (asked.text, kept) if in_prompt else (written.text, kept - len(asked.text))
    old = _text_place("prompt" if in_prompt else "output", side, index)
    return replace(seam, before=old, after=_text_place("next", later.text, kept))


def _token_place(where: _Where, tokens: Sequence[Token], at: int, text: str) -> SeamPlace:
    if at >= len(tokens):
        return SeamPlace(where, "", lead=text[-_NEXT_TO:])
    token = tokens[at]
    start, stop = token.char_span
    lead, tail = text[max(0, start - _NEXT_TO) : start], text[stop : stop + _NEXT_TO]
    return SeamPlace(where, token.text, lead, tail, token.id, token.field, token.template_line)


def _text_place(where: _Where, text: str, at: int) -> SeamPlace:
    return SeamPlace(where, text[at : at + 1], text[max(0, at - _NEXT_TO) : at], text[at + 1 : at + 1 + _NEXT_TO])


def _add_cause(seam: Seam, last: Trace, now: Trace, output: str) -> Seam:
    """Say why, by rendering the conversation with one thing changed, where the template is available."""
    local = now.local_prompt
    messages = last.request.body.get("messages")
    if local is None or local.template is None or not isinstance(messages, list):
        return seam
    setup = RenderSetup(local.template, special_tokens=_named_tokens(now))
    report = follow_turns(now.request.body, setup, outputs={len(messages): output}, last=1)
    broken = report.turns[-1].broken if report.turns else None
    cause = "" if broken is None else broken.sentence
    return replace(seam, cause=cause)


def _named_tokens(trace: Trace) -> dict[str, str]:
    vocabulary = trace.vocabulary
    if vocabulary is None:
        return {}
    bos = {} if vocabulary.bos_id is None else {"bos_token": vocabulary.special.get(vocabulary.bos_id, "")}
    eos = {"eos_token": vocabulary.special.get(vocabulary.eos_ids[0], "")} if vocabulary.eos_ids else {}
    return bos | eos
