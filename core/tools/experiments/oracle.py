"""What may have been rendered, given only how many prompt tokens a server counted.

A closed server shows no prompt, but it bills for one: `usage.prompt_tokens`. Every
likely way to render the request is tried, and those that give the number are named,
the simplest first. Several may: the number alone cannot tell them apart then.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations

from pydantic import computed_field

from prompt_debugger.core.base.errors import RenderError
from prompt_debugger.core.base.protocols import Tokenizer
from prompt_debugger.core.base.types import JSONObject
from prompt_debugger.core.tools.experiments.switches import Switch, find_server_switches
from prompt_debugger.core.tools.experiments.variant import RenderFailure, RenderSetup, Variant, render_text

_SHOWN = 12  # explanations that are kept, if fewer are exact
_NAMED = 4  # explanations that the sentence names


@dataclass(frozen=True, slots=True)
class Explanation:
    """One way to render the request.

    Attributes:
        switches: What is changed; empty for the request as pasted.
        token_count: Tokens of the prompt.
        off_by: `token_count` minus what the server counted.
        also: Names of other ways that lead to the very same prompt.
    """

    switches: tuple[Switch, ...]
    token_count: int
    off_by: int
    also: tuple[tuple[str, ...], ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the switches."""
        return tuple(switch.name for switch in self.switches)

    @property
    def words(self) -> str:
        """What is assumed, in words."""
        if not self.switches:
            return "the request as pasted"
        return "a render that " + " and ".join(switch.change for switch in self.switches)


@dataclass(frozen=True, slots=True)
class CountAnswer:
    """What explains a number of prompt tokens.

    Attributes:
        counted: What the server counted.
        as_pasted: Tokens of our own render; `None` if the template fails on it.
        explanations: The ways that come nearest, exact ones first, then fewest switches.
        exact_count: How many different prompts have exactly that many tokens.
        tie_count: How many of them are equally simple with the first; above 1 is a tie.
        rendered_count: Prompts rendered.
        left_out: Combinations that were not tried.
        failed: Names of switches under which the template fails.
    """

    counted: int
    as_pasted: int | None
    explanations: tuple[Explanation, ...]
    exact_count: int
    tie_count: int
    rendered_count: int
    left_out: int
    failed: tuple[str, ...] = ()

    @computed_field  # type: ignore[prop-decorator]  # what pydantic documents
    @property
    def is_exact(self) -> bool:
        """Whether some way gives the number."""
        return self.exact_count > 0

    @computed_field  # type: ignore[prop-decorator]  # what pydantic documents
    @property
    def sentence(self) -> str:
        """The answer in one sentence."""
        if not self.explanations:
            return f"No way to render this request was found, so nothing explains {self.counted} prompt tokens."
        best = self.explanations[0]
        if not self.is_exact:
            return (
                f"None of {self.rendered_count} renders has {self.counted} prompt tokens; "
                f"the nearest, {best.words}, has {best.token_count} ({best.off_by:+d})."
            )
        if self.tie_count == 1:
            return f"{self.counted} prompt tokens are explained by {best.words}."
        tied = [one.words for one in self.explanations[: self.tie_count]][:_NAMED]
        return (
            f"{self.tie_count} renders have exactly {self.counted} prompt tokens, so the number cannot "
            f"distinguish them: {'; '.join(tied)}{'; …' if self.tie_count > _NAMED else ''}."
        )


def explain_count(
    body: JSONObject,
    setup: RenderSetup,
    counted: int,
    *,
    max_switches: int = 2,
    max_renders: int = 300,
) -> CountAnswer:
    """Rank the ways to render a request by how well they explain a number of prompt tokens.

    A combination is tried only if each of its switches alone changes the prompt, and
    only as long as nothing simpler explains the number.

    Args:
        body: The request as it was sent.
        setup: Template and tokenizer that the server is thought to use.
        counted: `usage.prompt_tokens` of the answer.
        max_switches: How many things may be changed at once.
        max_renders: How many prompts may be rendered.

    Raises:
        RenderError: There is no tokenizer to count with, or the template takes too much time.
    """
    *_, answer = step_count(body, setup, counted, max_switches=max_switches, max_renders=max_renders)
    return answer


def step_count(
    body: JSONObject,
    setup: RenderSetup,
    counted: int,
    *,
    max_switches: int = 2,
    max_renders: int = 300,
) -> Iterator[CountAnswer]:
    """Yield the answer as it is known after each render. Arguments and errors as `explain_count`."""
    if setup.tokenizer is None:
        raise RenderError("There is no tokenizer to count prompt tokens with.", "Give the model's tokenizer.")
    base = Variant(body, setup)
    search = _Search(base, setup.tokenizer, counted)
    search.try_switches(())
    yield search.answer(0)
    if search.is_hopeless:
        return
    switches = find_server_switches(base)
    left_out = 0
    for size in range(1, max_switches + 1):
        chosen = sorted(search.combinations(switches, size), key=search.distance)
        places_left = max(0, max_renders - search.rendered_count)
        left_out += len(chosen[places_left:])
        for one in chosen[:places_left]:
            search.try_switches(one)
            yield search.answer(left_out)
            if search.is_hopeless:
                break
        if search.has_exact:
            break
    yield search.answer(left_out)


def agree(answers: Sequence[CountAnswer]) -> tuple[tuple[str, ...], ...]:
    """Return the switch names that explain several counts exactly, of different requests to one server.

    Two requests often tell apart what one cannot.
    """
    exact = [_exact_names(answer) for answer in answers]
    return tuple(names for names in exact[0] if all(names in other for other in exact[1:])) if exact else ()


def _exact_names(answer: CountAnswer) -> list[tuple[str, ...]]:
    return [names for one in answer.explanations if one.off_by == 0 for names in (one.names, *one.also)]


@dataclass(slots=True)
class _Search:
    """The renders so far, by their text."""

    base: Variant
    tokenizer: Tokenizer
    counted: int
    by_text: dict[str, Explanation] = field(default_factory=dict)
    counts: dict[tuple[str, ...], int] = field(default_factory=dict)
    failed: list[str] = field(default_factory=list)
    rendered_count: int = 0
    costly_count: int = 0

    @property
    def has_exact(self) -> bool:
        return any(one.off_by == 0 for one in self.by_text.values())

    @property
    def is_hopeless(self) -> bool:
        """Whether the template uses up the time of a render again and again."""
        return self.costly_count > 1 or (self.costly_count == 1 and self.rendered_count == 1)

    def try_switches(self, switches: tuple[Switch, ...]) -> None:
        variant = self.base
        for switch in switches:
            variant = switch.apply(variant)
        names = tuple(switch.name for switch in switches)
        self.rendered_count += 1
        made = render_text(variant)
        if isinstance(made, RenderFailure):
            self.costly_count += made.is_costly
            if len(names) == 1:
                self.failed.append(names[0])
            return
        text = made[0]
        known = self.by_text.get(text)
        if known is not None:
            if len(known.switches) == len(names):
                self.by_text[text] = replace(known, also=(*known.also, names))
            if known.switches:
                self.counts[names] = known.token_count
            return
        count = len(self.tokenizer.encode(text))
        self.counts[names] = count
        self.by_text[text] = Explanation(switches, count, count - self.counted)

    def combinations(self, switches: Sequence[Switch], size: int) -> Iterator[tuple[Switch, ...]]:
        """Yield the combinations of switches that set different things and each change the prompt alone."""
        telling = [switch for switch in switches if size == 1 or (switch.name,) in self.counts]
        for chosen in combinations(telling, size):
            if len({switch.target for switch in chosen}) == size:
                yield chosen

    def distance(self, switches: Sequence[Switch]) -> int:
        """Return how far a combination will be off if its switches do not disturb each other."""
        start = self.counts.get((), self.counted)
        if len(switches) == 1:
            return 0
        return abs(start + sum(self.counts[switch.name,] - start for switch in switches) - self.counted)

    def answer(self, left_out: int) -> CountAnswer:
        ranked = sorted(self.by_text.values(), key=lambda one: (abs(one.off_by), len(one.switches)))
        exact = [one for one in ranked if one.off_by == 0]
        tied = [one for one in exact if len(one.switches) == len(exact[0].switches)]
        return CountAnswer(
            counted=self.counted,
            as_pasted=self.counts.get(()),
            explanations=tuple(ranked[: max(_SHOWN, len(exact))]),
            exact_count=len(exact),
            tie_count=len(tied),
            rendered_count=self.rendered_count,
            left_out=left_out,
            failed=tuple(self.failed),
        )
