"""Which server's view of a request gives the prompts of a session: the one whose lengths the server counted.

A server changes a request before the template sees it: it puts keys in its own order, writes text as parts. Whose
habits those were, a capture does not say; the count of prompt tokens beside each answer does.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from prompt_debugger.core.base.errors import RenderError
from prompt_debugger.core.render.vllm_view import LLAMA_CPP_CAUSES, usual_causes
from prompt_debugger.core.tools.experiments import RenderSetup
from prompt_debugger.core.tools.experiments.variant import RenderFailure, Variant, facts_of, render_variant
from prompt_debugger.core.tools.sessions.gather import Exchange

_LOOKED_AT = 3  # requests, the last ones: they hold what the first ones do


def setup_by_counts(exchanges: Sequence[Exchange], setup: RenderSetup) -> tuple[RenderSetup, str | None]:
    """Return the setup whose prompts are as long as the server counted them, and whose view of a request it has.

    Args:
        exchanges: Of one session.
        setup: Template and tokenizer; without counts or tokenizer it stays as it is.
    """
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
