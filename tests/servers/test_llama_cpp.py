"""llama.cpp's own server: what is said of its runs is true."""

from __future__ import annotations

import dataclasses
import json

import httpx
import pytest
from tokenizers import Tokenizer

from tests.core.complete.llama_cpp_server import llama_cpp_server
from tests.core.pipeline.test_llama_cpp import recorded_bodies, render
from tests.servers.scenarios import TOOLS

pytestmark = pytest.mark.servers

TEXTS = [
    "What's the weather in Paris?",
    '<|im_system|>tool_declare<|im_middle|>[{"type": "function", "x": ["a", 12, 3.5]}]<|im_end|>',
    'functions.get_weather:0<|tool_call_argument_begin|>{"city": "Oslo"}<|tool_call_end|>',
    "  two  spaces\n\n\tand é, e\u0301, 你好, 🌞 <think>2024</think>",
]


@pytest.mark.parametrize("text", [*TEXTS, json.dumps(TOOLS, indent=2)])
def test_its_token_ids_are_the_tokenizer_s(llama_cpp_url, lab_model_dir, text):
    ours = Tokenizer.from_file(str(lab_model_dir / "tokenizer.json"))

    answer = httpx.post(
        llama_cpp_url.removesuffix("/v1") + "/tokenize", json={"content": text, "parse_special": True}
    ).json()

    assert answer["tokens"] == ours.encode(text, add_special_tokens=False).ids


def test_it_answers_as_recorded(llama_cpp_url):
    """All but ids: the recording was made with a vocabulary that cut words in another way."""
    for body in recorded_bodies("lab"):
        real = render(llama_cpp_url, body).prompt
        with llama_cpp_server("lab") as recorded_url:
            recorded = render(recorded_url, body).prompt

        assert dataclasses.replace(real, tokens=None) == dataclasses.replace(recorded, tokens=None)
