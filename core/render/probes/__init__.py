"""What a template supports, found by rendering small requests of ours and looking what arrives.

    messages    roles, content parts, who may follow whom
    tools       specs, calls, arguments, results, documents
    reasoning   kept in the history or not; the switches that turn it on
    endings     generation prompt, a last message left open

A template that raises gives an answer as well: it refuses. Nothing is concluded from the source.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType

from prompt_debugger.core.base.types import JSON
from prompt_debugger.core.render.local import Renderer
from prompt_debugger.core.render.probes.endings import ENDING_PROBES
from prompt_debugger.core.render.probes.messages import MESSAGE_PROBES, plain
from prompt_debugger.core.render.probes.probe import Change, ProbeAnswer, Probing, Support
from prompt_debugger.core.render.probes.reasoning import REASONING_PROBES
from prompt_debugger.core.render.probes.tools import TOOL_PROBES, TOOLS
from prompt_debugger.core.render.worker import shared_worker

__all__ = ["PROBE_NAMES", "Change", "ProbeAnswer", "Support", "probe_template", "step_probes"]

_PROBES = (*MESSAGE_PROBES, *TOOL_PROBES, *REASONING_PROBES, *ENDING_PROBES)
_NOTHING: Mapping[str, JSON] = MappingProxyType({})
# Templates join these to text; without a tokenizer any text will do.
_PLACEHOLDERS: Mapping[str, str] = MappingProxyType({"bos_token": "<s>", "eos_token": "</s>"})

PROBE_NAMES = tuple(probe.name for probe in _PROBES)


def probe_template(
    template: str,
    *,
    special_tokens: Mapping[str, str] | None = None,
    template_kwargs: Mapping[str, JSON] = _NOTHING,
    renderer: Renderer | None = None,
) -> tuple[ProbeAnswer, ...]:
    """Return what a template supports, one answer per probe, always all of them and in one order.

    Args:
        template: Jinja source, perhaps hostile.
        special_tokens: Named special tokens.
        template_kwargs: Template variables that a server always sets.
        renderer: Runs the jobs; the shared worker process if not given.
    """
    return tuple(
        step_probes(template, special_tokens=special_tokens, template_kwargs=template_kwargs, renderer=renderer)
    )


def step_probes(
    template: str,
    *,
    special_tokens: Mapping[str, str] | None = None,
    template_kwargs: Mapping[str, JSON] = _NOTHING,
    renderer: Renderer | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> Iterator[ProbeAnswer]:
    """Yield the answers one by one; what the time for all of them leaves out is `UNKNOWN`.

    Arguments as `probe_template`; `clock` gives seconds that only grow.
    """
    named, run = {**_PLACEHOLDERS, **(special_tokens or {})}, renderer or shared_worker().render
    probing = Probing(template, named, template_kwargs, run, clock=clock)
    if plain(probing).error is not None and not probing.is_exhausted:
        armed = Probing(template, named, template_kwargs, run, always={"tools": TOOLS}, clock=clock)
        probing = probing if plain(armed).error is not None else armed
    for probe in _PROBES:
        yield probe.answer(probing)
