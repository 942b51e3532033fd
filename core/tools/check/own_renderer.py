"""Models whose prompt vLLM does not write with their chat template: that is said, and nothing is compared.

What is said rests on the installed release: its registry of renderers, the modes that its configuration takes by
architecture, and its own look at the files of a Mistral model.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import NamedTuple, Protocol

from prompt_debugger.core.base.errors import EngineError
from prompt_debugger.core.formats import TABLES
from prompt_debugger.core.parse.engines.rendered import RendererChoice
from prompt_debugger.core.tools.check.model import CheckedModel

_CONFIG_BYTES = 4_000_000
_MISTRAL = "mistral"
_MISTRAL_TOKENIZERS = ("tekken.json", "tokenizer.model.v*")


class Words(NamedTuple):
    """What is to be said of the comparison: why there is none, or under which condition it holds; `None` if nothing."""

    skipped: str | None = None
    note: str | None = None


class ChoosesRenderer(Protocol):
    """What knows how the engine renders a model: `VllmEngine`."""

    async def renderer_of(self, architectures: tuple[str, ...], folder: str | None) -> RendererChoice:
        """Return which renderer the engine takes."""


async def words_on_renderer(engine: ChoosesRenderer, model: CheckedModel, family: str | None, name: str) -> Words:
    """Return what is to be said of how vLLM renders a model."""
    architectures = _architectures(model)
    try:
        choice = await engine.renderer_of(architectures, None if model.folder is None else str(model.folder))
    except EngineError:
        return Words()  # a release without renderers of its own; whether it can be asked, the comparison says
    if choice.mode in choice.own:
        why = "Mistral's own tokenizer is next to `consolidated*.safetensors`"
        if choice.reason == "architecture":
            named = next(one for one in architectures if one in choice.architectures[choice.mode])
            why = f"`config.json` names `{named}`"
        return Words(
            skipped=(
                f"{name} does not render this model with the template. Because {why}, it uses tokenizer mode "
                f"`{choice.mode}`, whose renderer is `{choice.own[choice.mode]}`. These results about the "
                "template hold only where that renderer produces the same text; `--tokenizer-mode hf` makes vLLM use "
                "the template."
            )
        )
    if _is_maybe_mistral(model):
        return Words(note=_condition(choice, (_MISTRAL,), name))
    if architectures:
        return Words()
    return Words(note=_condition(choice, (family or "", *TABLES.tool_parsers.get(family or "", ())), name))


def _condition(choice: RendererChoice, modes: Sequence[str], name: str) -> str | None:
    """Return under which condition a release renders with the template, where the files do not tell."""
    reported = [
        f"{name} uses `{choice.own[mode]}` for models {where}"
        for mode in dict.fromkeys(modes)
        if mode in choice.own and (where := _describe_models(choice, mode))
    ]
    if not reported:
        return None
    return (
        f"This holds where vLLM renders with the template: {'; '.join(reported)}, unless it is started with "
        "`--tokenizer-mode hf`. The files here do not show whether this is the case."
    )


def _describe_models(choice: RendererChoice, mode: str) -> str:
    if mode == _MISTRAL:
        return "that have `consolidated*.safetensors` next to Mistral's own tokenizer"
    named = " or ".join(f"`{one}`" for one in choice.architectures.get(mode, ()))
    return f"whose `config.json` names {named}" if named else ""


def _architectures(model: CheckedModel) -> tuple[str, ...]:
    """Return the architectures that the model's configuration names; none without one."""
    file = None if model.folder is None else model.folder / "config.json"
    if file is None or not file.is_file() or file.stat().st_size > _CONFIG_BYTES:
        return ()
    try:
        config = json.loads(file.read_text(encoding="utf-8"))
    except (ValueError, OSError, RecursionError):
        return ()
    named = config.get("architectures") if isinstance(config, dict) else None
    return tuple(one for one in named if isinstance(one, str)) if isinstance(named, list) else ()


def _is_maybe_mistral(model: CheckedModel) -> bool:
    """Return whether Mistral's own tokenizer is there and no weights, by whose names vLLM decides."""
    folder = model.folder
    if folder is None or any(folder.glob("*.safetensors")):
        return False
    return any(any(folder.glob(pattern)) for pattern in _MISTRAL_TOKENIZERS)
