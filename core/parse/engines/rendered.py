"""Requests for vLLM's own renderer, and the prompts that come back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from prompt_debugger.core.base.types import JSON, JSONObject


@dataclass(frozen=True, slots=True)
class EnginePrompt:
    """What a chat server makes of a request.

    Attributes:
        text: The prompt; `None` if it refuses.
        token_ids: Its ids; `None` without the model's own tokenizer.
        refusal: Why there is no prompt, in its words.
    """

    text: str | None = None
    token_ids: tuple[int, ...] | None = None
    refusal: str | None = None


@dataclass(frozen=True, slots=True)
class RendererChoice:
    """How a release of vLLM renders a model.

    Attributes:
        mode: Tokenizer mode that it takes for it; "" if it had nothing to decide by.
        reason: By what it decides: `architecture` or `files`.
        own: What renders in modes that do not use the chat template.
        architectures: For which architectures it takes those modes.
    """

    mode: str
    reason: str
    own: Mapping[str, str]
    architectures: Mapping[str, tuple[str, ...]]


def choice_from_json(value: JSONObject) -> RendererChoice:
    """Return the choice that the helper wrote as JSON."""
    own, named = value.get("own"), value.get("architectures")
    return RendererChoice(
        str(value.get("mode", "")),
        str(value.get("reason", "")),
        {mode: str(one) for mode, one in own.items()} if isinstance(own, dict) else {},
        {mode: tuple(map(str, every)) for mode, every in named.items() if isinstance(every, list)}
        if isinstance(named, dict)
        else {},
    )


def render_order(
    bodies: Sequence[JSONObject], template: str, tokenizer: str | None, special_tokens: Mapping[str, str]
) -> JSONObject:
    """Return the order for the helper, but for its limits."""
    order: JSONObject = {"bodies": list(bodies), "template": template, "special_tokens": dict(special_tokens)}
    return order | ({} if tokenizer is None else {"tokenizer": tokenizer})


def rendered_from_json(value: JSON) -> EnginePrompt:
    """Return the prompt that the helper wrote as JSON."""
    fields: JSONObject = value if isinstance(value, dict) else {"refusal": "the helper returned no prompt"}
    text, ids, refusal = fields.get("text"), fields.get("token_ids"), fields.get("refusal")
    return EnginePrompt(
        text if isinstance(text, str) else None,
        tuple(one for one in ids if isinstance(one, int)) if isinstance(ids, list) else None,
        refusal if isinstance(refusal, str) else None,
    )
