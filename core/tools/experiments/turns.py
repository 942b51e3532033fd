"""Turn by turn: does each prompt begin with the one before it and what the model wrote?

Where it does not, the server's prefix cache is lost from that token on, and a model
trained on whole conversations sees another text than it wrote.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated

from pydantic import Field, computed_field

from prompt_debugger.core.base.types import JSON, JSONObject
from prompt_debugger.core.tools.experiments.difference import Place, common_length
from prompt_debugger.core.tools.experiments.encoding import SharedEncoder
from prompt_debugger.core.tools.experiments.switches import Switch, find_switches
from prompt_debugger.core.tools.experiments.switches.switch import messages_of
from prompt_debugger.core.tools.experiments.turn_causes import SENTENCES, BreakCause
from prompt_debugger.core.tools.experiments.turn_study import TurnRenders, TurnStudy
from prompt_debugger.core.tools.experiments.variant import RenderFailure, RenderSetup, Unit, Variant


@dataclass(frozen=True, slots=True)
class TurnBreak:
    """Where a prompt stops beginning with what was there before.

    Attributes:
        first: Index of the first unit that differs, from 0.
        before: What was there: earlier prompt and output.
        after: What is there in the next prompt, with its field and template line.
        lost: Units after that place that were computed and cannot be used again.
        cause: Why.
        is_proved: Rendering with this one cause applied made the difference disappear; else
            it is concluded from the place of the difference.
        remedies: Names of switches with which the next prompt continues where the model ended.
    """

    first: int
    before: Place
    after: Place
    lost: int
    cause: BreakCause
    is_proved: bool
    remedies: tuple[str, ...] = ()

    @computed_field  # type: ignore[prop-decorator]  # what pydantic documents
    @property
    def sentence(self) -> str:
        """The cause in one sentence."""
        return SENTENCES[self.cause]


@dataclass(frozen=True, slots=True)
class Turn:
    """One assistant turn of the conversation, and the prompt that follows it.

    Attributes:
        message_index: Index of the assistant message, from 0.
        next_index: How many messages the next prompt holds.
        known: Units of the earlier prompt and the model's output.
        next_count: Units of the next prompt.
        kept: Units at the beginning that both share.
        is_raw: The output is what the model wrote; else it is its message as rendered.
        broken: Where and why the two diverge; `None` if the next prompt continues.
        failure: Why there is no prompt to compare.
    """

    message_index: int
    next_index: int
    known: int = 0
    next_count: int = 0
    kept: int = 0
    is_raw: bool = False
    broken: TurnBreak | None = field(default=None, metadata={"alias": "break"})
    failure: RenderFailure | None = None

    @computed_field  # type: ignore[prop-decorator]  # what pydantic documents
    @property
    def prefill(self) -> int:
        """Units of the next prompt that have to be computed."""
        return self.next_count - self.kept


@dataclass(frozen=True, slots=True)
class TurnReport:
    """A conversation, turn by turn.

    Attributes:
        unit: What is counted.
        turns: One per assistant message that a prompt leads to, in order.
        skipped: Earlier turns that were not looked at.
        untried: Turns not looked at, or not yet: rendering took all the time it may, or is under way.
    """

    unit: Unit
    turns: tuple[Turn, ...]
    skipped: int = 0
    untried: Annotated[int, Field(exclude=True)] = 0

    @computed_field  # type: ignore[prop-decorator]  # what pydantic documents
    @property
    def lost(self) -> int:
        """Units computed once that could not be used again, over all turns."""
        return sum(turn.broken.lost for turn in self.turns if turn.broken is not None)

    @property
    def first_broken(self) -> Turn | None:
        """The first turn after which the prefix breaks."""
        return next((turn for turn in self.turns if turn.broken is not None), None)


def follow_turns(
    body: JSONObject,
    setup: RenderSetup,
    *,
    outputs: Mapping[int, str] | None = None,
    last: int = 20,
) -> TurnReport:
    """Render a conversation turn by turn and compare each prompt with what was there before.

    Args:
        body: The request; its last messages make the last prompt.
        setup: What it is rendered with.
        outputs: What the model really wrote, raw, by index of its message, where known.
            Elsewhere its message is rendered as the template renders a last message.
        last: How many turns to look at, counted from the end.
    """
    *_, report = step_turns(body, setup, outputs=outputs, last=last)
    return report


def step_turns(
    body: JSONObject,
    setup: RenderSetup,
    *,
    outputs: Mapping[int, str] | None = None,
    last: int = 20,
) -> Iterator[TurnReport]:
    """Yield the report as it grows, first without any turn, then once per turn. Arguments as `follow_turns`."""
    base = Variant({**body, "continue_final_message": False, "add_generation_prompt": True}, setup)
    places = list(_places(body))
    shown = places[max(0, len(places) - last) :]
    report = TurnReport(setup.unit, (), len(places) - len(shown), len(shown))
    yield report
    switches: tuple[Switch, ...] | None = None
    explained: dict[BreakCause, tuple[str, ...]] = {}
    encoder = SharedEncoder(setup.tokenizer)
    asked: str | None = None
    for start, stop in shown:
        study = TurnStudy(base, start, stop, (outputs or {}).get(start), encoder)
        made = study.render(asked)
        asked = None if isinstance(made, RenderFailure) else made.later.text  # it leads to the next turn
        turn = _turn_of(study, made)
        if turn.broken is not None:
            cause = turn.broken.cause
            if cause not in explained:
                switches = find_switches(base) if switches is None else switches
                explained[cause] = tuple(study.remedies(switches))
            turn = replace(turn, broken=replace(turn.broken, remedies=explained[cause]))
        report = replace(report, turns=(*report.turns, turn), untried=report.untried - 1)
        yield report
        if turn.failure is not None and turn.failure.is_costly:
            return


def _places(body: JSONObject) -> Iterator[tuple[int, int]]:
    """Yield for each assistant message its index, and how many messages the next prompt holds."""
    messages = messages_of(body)
    answers = [index for index, message in enumerate(messages) if _is_answer(message) and index]
    for start, stop in zip(answers, [*answers[1:], len(messages)], strict=False):
        if start + 1 < len(messages):
            yield start, stop


def _is_answer(message: JSON) -> bool:
    return isinstance(message, dict) and message.get("role") == "assistant"


def _turn_of(study: TurnStudy, made: TurnRenders | RenderFailure) -> Turn:
    if isinstance(made, RenderFailure):
        return Turn(study.start, study.stop, failure=made)
    kept = common_length(made.known.keys, made.later.keys)
    broken = None
    if kept < len(made.known.keys):
        before, after = study.places(made, kept)
        broken = TurnBreak(kept, before, after, len(made.known.keys) - kept, *study.cause(made, after))
    return Turn(
        study.start,
        study.stop,
        known=len(made.known.keys),
        next_count=len(made.later.keys),
        kept=kept,
        is_raw=study.output is not None,
        broken=broken,
    )
