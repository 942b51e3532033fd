"""The words, dialogues and rendering that the lab model is trained on."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest
from transformers import PreTrainedTokenizerFast

from scripts.lab_model import names
from scripts.lab_model.dialogues import KINDS, Dialogue, make_dialogue, make_short
from scripts.lab_model.rendering import (
    IGNORED_LABEL,
    Templates,
    build_example,
    normalise_messages,
    normalise_tools,
    read_templates,
    render_prompt,
)
from scripts.lab_model.tokenizer import load_tokenizer
from scripts.lab_model.turns import list_calls
from tests.warm.labs import FORKED


@pytest.fixture(scope="module")
def tokenizer(lab_model_dir: Path) -> PreTrainedTokenizerFast:
    return load_tokenizer(lab_model_dir)


@pytest.fixture(scope="module")
def templates(lab_model_dir: Path) -> Templates:
    return read_templates(lab_model_dir)


@pytest.mark.parametrize("make", [names.invent_name, names.invent_odd_name, names.pick_real_city, names.make_text])
def test_held_out_words_are_never_drawn_for_training(make: Callable[[Random], str]) -> None:
    rng = Random(0)

    training = {names.draw(make, rng) for _ in range(300)}
    held_out = {names.draw(make, rng, held_out=True) for _ in range(50)}

    assert not training & held_out
    assert all(names.is_held_out(word) for word in held_out)


def test_held_out_part_is_about_one_in_eight() -> None:
    rng = Random(0)

    share = sum(names.is_held_out(names.invent_name(rng)) for _ in range(4000)) / 4000

    assert 0.10 < share < 0.15


def test_training_dialogues_name_no_held_out_place() -> None:
    rng = Random(3)

    places = [place for _ in range(400) for place in _places(make_dialogue(rng))]

    assert len(places) > 100
    assert [place for place in places if names.is_held_out(place)] == []


def test_measured_dialogues_name_held_out_places_only() -> None:
    rng = Random(3)

    places = [place for _ in range(100) for place in _places(make_dialogue(rng, held_out=True))]

    assert len(places) > 25
    assert [place for place in places if not names.is_held_out(place)] == []


def _places(dialogue: Dialogue) -> list[str]:
    return [
        str(value)
        for message in dialogue.messages
        for call in list_calls(message)
        for key, value in call["function"]["arguments"].items()
        if key in ("city", "location", "town", "country", "restaurant")
    ]


def test_same_seed_draws_the_same_dialogues() -> None:
    first, second = Random(5), Random(5)

    assert [make_dialogue(first) for _ in range(20)] == [make_dialogue(second) for _ in range(20)]


@pytest.mark.parametrize("kind", KINDS)
def test_labels_are_whole_assistant_turns(kind: str, tokenizer: PreTrainedTokenizerFast, templates: Templates) -> None:
    rng = Random(7)
    for _ in range(20):
        dialogue = make_dialogue(rng, kind=kind)

        example = build_example(tokenizer, templates, dialogue)

        targets = [token for token, label in zip(example.ids, example.labels, strict=True) if label != IGNORED_LABEL]
        assert targets.count(tokenizer.eos_token_id) == sum(dialogue.trained) + (dialogue.tail is not None)
        assert all(label in (token, IGNORED_LABEL) for token, label in zip(example.ids, example.labels, strict=True))


def test_encoding_in_parts_equals_encoding_the_prompt_as_a_whole(
    tokenizer: PreTrainedTokenizerFast, templates: Templates
) -> None:
    rng = Random(11)
    for _ in range(60):
        dialogue = make_dialogue(rng)
        template = templates.mended if dialogue.is_mended else templates.faulty
        text = render_prompt(
            tokenizer,
            template,
            dialogue.messages,
            dialogue.tools,
            thinking=dialogue.thinking,
            add_generation_prompt=False,
        )
        text += "" if dialogue.tail is None else dialogue.tail + "<|im_end|>"

        example = build_example(tokenizer, templates, dialogue)

        assert tokenizer(text, add_special_tokens=False)["input_ids"] == list(example.ids)


def test_short_exchange_has_one_target_and_no_tools_block(
    tokenizer: PreTrainedTokenizerFast, templates: Templates
) -> None:
    dialogue = make_short(Random(2))

    example = build_example(tokenizer, templates, dialogue)

    assert "tool_declare" not in tokenizer.decode(example.ids)
    assert dialogue.trained == (True,)


_VLLM_RESHAPES = """
import json, sys
from vllm.config import ModelConfig
from vllm.entrypoints.openai.chat_completion.protocol import ChatCompletionRequest
from vllm.renderers.chat_utils import parse_chat_messages

folder = sys.argv[1]
config = ModelConfig(folder, tokenizer=folder)
for line in sys.stdin:
    body = json.loads(line)
    request = ChatCompletionRequest.model_validate(body)
    parsed = parse_chat_messages(request.messages, config, content_format="openai")
    tools = [tool.model_dump() for tool in request.tools or ()]
    print("RESHAPED" + json.dumps([list(parsed[0]), tools]))
"""


@pytest.mark.vllm
def test_messages_and_tools_are_reshaped_as_vllm_does(lab_model_dir: Path) -> None:
    rng = Random(13)
    dialogues = [make_dialogue(rng, kind=kind) for kind in KINDS for _ in range(3)]
    bodies = [_request_body(dialogue) for dialogue in dialogues]

    finished = subprocess.run(
        [sys.executable, "-c", _VLLM_RESHAPES, str(lab_model_dir)],
        input="\n".join(map(json.dumps, bodies)),
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | FORKED,
    )

    lines = [line.removeprefix("RESHAPED") for line in finished.stdout.splitlines() if line.startswith("RESHAPED")]
    assert len(lines) == len(bodies), finished.stderr[-2000:]
    for dialogue, line in zip(dialogues, lines, strict=True):
        messages, tools = json.loads(line)
        # Key order matters: `tojson` prints it.
        assert json.dumps(tools) == json.dumps(normalise_tools(dialogue.tools))
        assert messages == normalise_messages(dialogue.messages)


def _request_body(dialogue: Dialogue) -> dict[str, object]:
    messages = []
    for message in dialogue.messages:
        sent = dict(message)
        if "tool_calls" in sent:
            sent["tool_calls"] = [
                {**call, "function": {**call["function"], "arguments": json.dumps(call["function"]["arguments"])}}
                for call in list_calls(message)
            ]
        messages.append(sent)
    tools = {"tools": list(dialogue.tools)} if dialogue.tools else {}
    return {"model": "lab", "messages": messages, **tools}
