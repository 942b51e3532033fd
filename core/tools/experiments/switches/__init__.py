"""What can be changed about a request and its rendering, one named switch at a time.

`find_switches` gives those that a person can set; `find_server_switches` adds what
a server may do unasked, for guessing at one that shows nothing but a number.
"""

from __future__ import annotations

from dataclasses import replace

from prompt_debugger.core.tools.experiments.switches.absent import AbsentSwitch, explain_absent
from prompt_debugger.core.tools.experiments.switches.calls import call_switches
from prompt_debugger.core.tools.experiments.switches.content import content_switches
from prompt_debugger.core.tools.experiments.switches.endings import ending_switches
from prompt_debugger.core.tools.experiments.switches.kwargs import kwarg_switches
from prompt_debugger.core.tools.experiments.switches.reasoning import reasoning_switches
from prompt_debugger.core.tools.experiments.switches.server import bos_switches, vllm_switches
from prompt_debugger.core.tools.experiments.switches.switch import Switch, Topic, changed_fields
from prompt_debugger.core.tools.experiments.switches.system import default_system_switches, system_switches
from prompt_debugger.core.tools.experiments.switches.tools import tool_switches
from prompt_debugger.core.tools.experiments.template_values import candidate_values
from prompt_debugger.core.tools.experiments.variant import Variant, facts_of

__all__ = [
    "AbsentSwitch",
    "Switch",
    "Topic",
    "changed_fields",
    "explain_absent",
    "find_server_switches",
    "find_switches",
]


def find_switches(variant: Variant, *, other_template: str | None = None) -> tuple[Switch, ...]:
    """Return the switches that apply to a request, in a fixed order.

    Raises:
        RenderError: The template's source takes more time to read than it may.
    """
    facts = facts_of(variant.setup)
    found = [
        *ending_switches(variant),
        *kwarg_switches(variant, candidate_values(variant.setup.template, facts.variables)),
        *system_switches(variant),
        *tool_switches(variant),
        *content_switches(variant),
        *call_switches(variant),
        *reasoning_switches(variant),
        *vllm_switches(facts),
        *bos_switches(variant),
    ]
    if other_template is not None:
        found.append(_template_switch(other_template))
    return tuple(switch for switch in found if switch.applies_to(variant))


def find_server_switches(variant: Variant) -> tuple[Switch, ...]:
    """Return what a server may have done unasked, likeliest first.

    Raises:
        RenderError: As `find_switches`.
    """
    usual = [switch for switch in find_switches(variant) if switch.topic is not Topic.TEMPLATE]
    found = [*usual, *default_system_switches(variant), *bos_switches(variant, is_any=True)]
    by_name = {switch.name: switch for switch in found}
    return tuple(switch for switch in by_name.values() if switch.applies_to(variant))


def _template_switch(template: str) -> Switch:
    return Switch(
        "other-template",
        Topic.TEMPLATE,
        "template",
        "renders with the other version of the template",
        lambda variant: replace(variant, setup=replace(variant.setup, template=template)),
    )
