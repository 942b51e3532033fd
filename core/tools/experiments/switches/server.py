"""Switches for what a server does besides the template: vLLM's habits, and BOS."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from prompt_debugger.core.render.inspect import TemplateFacts
from prompt_debugger.core.render.vllm_view import usual_causes
from prompt_debugger.core.tools.experiments.switches.switch import Switch, Topic
from prompt_debugger.core.tools.experiments.variant import Variant


def vllm_switches(facts: TemplateFacts) -> Iterator[Switch]:
    """Yield all that vLLM does to a request before the template sees it, as one switch."""
    causes = usual_causes(facts.content_format, knows_developer=facts.knows_developer)
    change = f"does to the request what vLLM does (content format `{facts.content_format}`)"
    yield Switch("as-vllm", Topic.SERVER, "causes", change, lambda one: replace(one, causes=causes))


def bos_switches(variant: Variant, *, is_any: bool = False) -> Iterator[Switch]:
    """Yield the prompt with BOS in front, and without it; `is_any`: also where the tokenizer itself adds none."""
    tokenizer = variant.setup.tokenizer
    bos = variant.setup.named_tokens.get("bos_token")
    if not bos:
        return
    if is_any or (tokenizer is not None and tokenizer.vocabulary.adds_bos):
        change = f"lets the tokenizer prepend {bos!r} (`add_special_tokens`)"
        yield Switch("bos-in-front", Topic.SERVER, "bos", change, lambda one: replace(one, prefix=bos + one.prefix))
    if is_any:
        change = f"leaves out the first {bos!r}"
        yield Switch("without-bos", Topic.SERVER, "bos", change, lambda one: replace(one, cuts=(*one.cuts, bos)))
