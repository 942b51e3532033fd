"""What if: every switch that applies to a request, tried on it, one at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Annotated

from pydantic import PlainSerializer, computed_field

from prompt_debugger.core.base.types import JSONObject
from prompt_debugger.core.tools.experiments.difference import TokenDifference, diff_renders
from prompt_debugger.core.tools.experiments.switches import (
    AbsentSwitch,
    Switch,
    changed_fields,
    explain_absent,
    find_switches,
)
from prompt_debugger.core.tools.experiments.variant import (
    Rendered,
    RenderFailure,
    RenderSetup,
    Unit,
    Variant,
    render_variant,
)

_PATIENCE = 2  # switches that may use up the time of a render before the rest is left untried


def _names(switches: tuple[Switch, ...]) -> tuple[str, ...]:
    return tuple(switch.name for switch in switches)


class EffectKind(StrEnum):
    """What a switch does to a prompt."""

    CHANGES = "changes"
    NOTHING = "nothing"
    FAILS = "fails"
    MENDS = "mends"


@dataclass(frozen=True, slots=True)
class Effect:
    """What one switch does.

    Attributes:
        switch: The switch.
        kind: `changes` the prompt, changes `nothing`, `fails` to render, or `mends` a
            request that does not render as it is.
        fields: Request fields that it changes; empty for what the request cannot say.
        unit_count: Tokens (or words) of the prompt with it; `None` if it fails.
        difference: What it takes out of the prompt and puts in; for `changes`.
        failure: Why there is no prompt; for `fails`.
        text: The prompt with it; for `mends`.
    """

    switch: Switch
    kind: EffectKind
    fields: tuple[str, ...]
    unit_count: int | None = None
    difference: TokenDifference | None = None
    failure: RenderFailure | None = None
    text: str | None = None

    @computed_field  # type: ignore[prop-decorator]  # what pydantic documents
    @property
    def sentence(self) -> str:
        """What it does, in one sentence."""
        if self.failure is not None:
            return f"With this switch there is no prompt: {self.failure.message}"
        if self.difference is not None:
            unit = self.difference.unit
            change = f"−{self.difference.removed} +{self.difference.added} {unit}s"
            return f"{change}, from {unit} {self.difference.first} on."
        if self.kind is EffectKind.MENDS:
            return "With this switch the request renders; as pasted, it does not."
        return "This switch has no effect."


@dataclass(frozen=True, slots=True)
class WhatIf:
    """Every switch tried on one request.

    Attributes:
        unit: What is counted.
        unit_count: Tokens (or words) of the prompt as pasted; `None` if it fails.
        failure: Why the request as pasted gives no prompt.
        effects: One per switch, in the order of the switches.
        untried: Names of switches not tried, or not yet: rendering took all the time it may, or is under way.
        absent: Switches that do not apply to this request, and why.
    """

    unit: Unit
    unit_count: int | None
    failure: RenderFailure | None
    effects: tuple[Effect, ...]
    untried: Annotated[tuple[Switch, ...], PlainSerializer(_names, return_type=tuple[str, ...])] = ()
    absent: tuple[AbsentSwitch, ...] = ()


def try_switches(body: JSONObject, setup: RenderSetup, *, other_template: str | None = None) -> WhatIf:
    """Try every switch that applies to a request.

    Returns:
        What each does; a switch under which the template fails is a result as well.

    Raises:
        RenderError: The template's source takes more time to read than it may.
    """
    *_, report = step_switches(body, setup, other_template=other_template)
    return report


def step_switches(body: JSONObject, setup: RenderSetup, *, other_template: str | None = None) -> Iterator[WhatIf]:
    """Yield the report as it grows, first without any effect, then once per switch. Arguments as `try_switches`."""
    base = Variant(body, setup)
    rendered = render_variant(base, is_traced=True)
    failure = rendered if isinstance(rendered, RenderFailure) else None
    unit_count = None if isinstance(rendered, RenderFailure) else len(rendered.keys)
    if failure is not None and failure.is_costly:
        yield WhatIf(setup.unit, None, failure, ())
        return
    switches = find_switches(base, other_template=other_template)
    names = [switch.name for switch in switches]
    absent = tuple(explain_absent(base, names, has_other_template=other_template is not None))
    report = WhatIf(setup.unit, unit_count, failure, (), switches, absent)
    yield report
    costly = 0
    for index, switch in enumerate(switches):
        effect = try_switch(switch, base, rendered)
        report = replace(report, effects=(*report.effects, effect), untried=switches[index + 1 :])
        yield report
        costly += effect.failure is not None and effect.failure.is_costly
        if costly == _PATIENCE:
            return


def try_switch(switch: Switch, base: Variant, rendered: Rendered | RenderFailure) -> Effect:
    """Return what one switch does to the variant `base`, which gives `rendered`."""
    variant = switch.apply(base)
    fields = tuple(changed_fields(base.body, variant.body))
    made = render_variant(variant, is_traced=True)
    if isinstance(made, RenderFailure):
        return Effect(switch, EffectKind.FAILS, fields, failure=made)
    unit_count = len(made.keys)
    if isinstance(rendered, RenderFailure):
        return Effect(switch, EffectKind.MENDS, fields, unit_count, text=made.text)
    difference = diff_renders(rendered, made)
    kind = EffectKind.NOTHING if difference is None else EffectKind.CHANGES
    return Effect(switch, kind, fields, unit_count, difference)
