"""Prompts that a real vLLM used, explained: every one must be proved, none only aligned."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from prompt_debugger.core.base.types import SpanKind
from prompt_debugger.core.render import (
    ReportedPrompt,
    compare_prompts,
    explain_server_prompt,
    load_template,
    load_tokenizer,
    render_local,
)
from tests.core.render.shapes import SHAPES
from tests.core.render.test_vllm_view import BODIES
from tests.patience import PATIENCE_S

pytestmark = pytest.mark.lab

EXAMPLES = sorted((Path(__file__).resolve().parents[3] / "assets" / "examples").glob("*.json"))
REQUESTS = {path.stem: json.loads(path.read_text(encoding="utf-8"))["request"] for path in EXAMPLES} | {
    name: body for name, body in BODIES.items() if name not in ("continue-final", "no-generation-prompt")
}
KWARGS = {name: body.get("chat_template_kwargs") for name, body in SHAPES.items()}


@pytest.mark.parametrize("name", REQUESTS)
def test_every_prompt_of_the_lab_server_is_proved(name: str, lab_url: str, lab_model_dir: Path) -> None:
    body = copy.deepcopy(REQUESTS[name])
    if KWARGS.get(name):
        body["chat_template_kwargs"] = KWARGS[name]
    answer = _ask(lab_url, body)
    template, tokenizer = load_template(lab_model_dir), load_tokenizer(lab_model_dir)
    assert template is not None

    server = explain_server_prompt(
        body,
        ReportedPrompt(answer["prompt_token_ids"], answer["prompt_text"]),
        template=template,
        tokenizer=tokenizer,
    )
    difference = compare_prompts(server, render_local(body, template=template, tokenizer=tokenizer))

    assert server.text == answer["prompt_text"]
    assert server.identical, server.note
    assert not [span for span in server.spans if span.kind is SpanKind.UNKNOWN]
    assert difference is None or difference.cause


def _ask(lab_url: str, body: dict[str, Any]) -> dict[str, Any]:
    sent = {**body, "model": "lab-model", "max_tokens": 1, "return_token_ids": True, "return_prompt_text": True}
    sent.pop("stop_token_ids", None)
    response = httpx.post(f"{lab_url}/chat/completions", json=sent, timeout=PATIENCE_S)
    assert response.status_code == 200, response.text
    answer: dict[str, Any] = response.json()
    return answer
