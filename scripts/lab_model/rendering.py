"""Requests → the exact prompt text and token ids that a vLLM server would use.

vLLM re-shapes messages and tools before the chat template sees them; a model
trained on anything else sees strange bytes when served. The re-shaping is
written out here, and a test compares it with vLLM's own.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from transformers import PreTrainedTokenizerFast

from scripts.lab_model.dialogues import Dialogue
from scripts.lab_model.turns import Json, list_calls

ASSISTANT_HEADER = "<|im_assistant|>assistant<|im_middle|>"
END = "<|im_end|>"
IGNORED_LABEL = -100


class Templates(NamedTuple):
    """Sources of the two chat templates."""

    faulty: str
    mended: str


class Example(NamedTuple):
    """Token ids of a dialogue, and one label per id (-100: not a target)."""

    ids: tuple[int, ...]
    labels: tuple[int, ...]


def read_templates(folder: Path) -> Templates:
    """Read the two templates that are next to the weights."""
    return Templates(
        (folder / "chat_template.jinja").read_text(encoding="utf-8"),
        (folder / "chat_template.mended.jinja").read_text(encoding="utf-8"),
    )


def normalise_tools(tools: Sequence[Json]) -> list[dict[str, object]]:
    """Order the keys of tool declarations as vLLM does, with explicit nulls."""
    normalised = []
    for tool in tools:
        function = tool["function"]
        assert isinstance(function, dict)
        ordered = {key: function.get(key) for key in ("name", "description", "parameters")}
        ordered |= {key: function[key] for key in ("strict",) if function.get(key) is not None}
        normalised.append({"type": tool["type"], "function": ordered})
    return normalised


def normalise_messages(messages: Sequence[Json]) -> list[dict[str, object]]:
    """Re-shape messages as vLLM does for a template in the `openai` content format."""
    normalised: list[dict[str, object]] = []
    for message in messages:
        content = message.get("content")
        ordered: dict[str, object] = {"role": message["role"]}
        if content is None:
            ordered["content"] = []
        elif isinstance(content, str) and message["role"] != "tool":
            ordered["content"] = [{"type": "text", "text": content}]
        else:
            ordered["content"] = content
        if "tool_calls" in message:
            ordered["tool_calls"] = [_normalise_call(call) for call in list_calls(message)]
        if "tool_call_id" in message:
            ordered["tool_call_id"] = message["tool_call_id"]
        if message.get("reasoning"):
            ordered["reasoning"] = ordered["reasoning_content"] = message["reasoning"]
        normalised.append(ordered)
    return normalised


def render_prompt(
    tokenizer: PreTrainedTokenizerFast,
    template: str,
    messages: Sequence[Json],
    tools: Sequence[Json],
    *,
    thinking: bool = False,
    add_generation_prompt: bool = True,
) -> str:
    """Render a request as vLLM would, with the given template source."""
    text = tokenizer.apply_chat_template(
        normalise_messages(messages),
        tools=normalise_tools(tools) or None,
        chat_template=template,
        tokenize=False,
        add_generation_prompt=add_generation_prompt,
        **({"thinking": True} if thinking else {}),
    )
    assert isinstance(text, str)
    return text


def build_example(tokenizer: PreTrainedTokenizerFast, templates: Templates, dialogue: Dialogue) -> Example:
    """Render a whole dialogue and label the turns that are targets."""
    text = render_prompt(
        tokenizer,
        templates.mended if dialogue.is_mended else templates.faulty,
        dialogue.messages,
        dialogue.tools,
        thinking=dialogue.thinking,
        add_generation_prompt=False,
    )
    pieces = text.split(ASSISTANT_HEADER)
    assert len(pieces) == len(dialogue.trained) + 1
    parts: list[tuple[str, bool]] = [(pieces[0], False)]
    for piece, trained in zip(pieces[1:], dialogue.trained, strict=True):
        opening = "<think>" if piece.startswith("<think>") else ""
        target, end, rest = piece.removeprefix(opening).partition(END)
        parts += [(ASSISTANT_HEADER + opening, False), (target + end, trained), (rest, False)]
    if dialogue.tail is not None:
        parts.append((dialogue.tail + END, True))
    return _label_parts(tokenizer, parts)


def _label_parts(tokenizer: PreTrainedTokenizerFast, parts: Sequence[tuple[str, bool]]) -> Example:
    # Every cut is next to a control token, so encoding the parts equals encoding the whole.
    ids: list[int] = []
    labels: list[int] = []
    encoded = tokenizer([text for text, _ in parts], add_special_tokens=False)["input_ids"]
    for (_, trained), part in zip(parts, encoded, strict=True):
        ids += part
        labels += part if trained else [IGNORED_LABEL] * len(part)
    return Example(tuple(ids), tuple(labels))


def _normalise_call(call: Json) -> dict[str, object]:
    function = call["function"]
    assert isinstance(function, dict)
    arguments = function["arguments"]
    decoded = json.loads(arguments) if isinstance(arguments, str) else arguments
    return {"id": call["id"], "function": {"arguments": decoded, "name": function["name"]}, "type": call["type"]}
