"""Seeded breaks on a real vLLM: each is found at its field, and the server reuses what is predicted, in its blocks."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from prompt_debugger.core.render.tokenizers.folder import load_tokenizer
from prompt_debugger.core.tools.experiments import RenderSetup
from prompt_debugger.core.tools.lab import LabPool, LabSpec
from prompt_debugger.core.tools.sessions import follow_sessions, gather_exchanges
from prompt_debugger.core.tools.sessions.turns import Turn
from tests.conftest import ROOT
from tests.core.tools.capture.capturing import patient_client
from tests.core.tools.sessions.test_sessions import FIRST, MORE, SEEDED

pytestmark = pytest.mark.lab

BLOCK = 32
SPEC = LabSpec(extra_args=("--enable-prefix-caching", "--enable-prompt-tokens-details", "--block-size", str(BLOCK)))


async def _turns(url: str, bodies: list[Any], file: Path) -> tuple[Turn, ...]:
    """Send the turns of a session, write them down as `capture` does, and follow them."""
    salt = uuid4().hex  # the server keeps the blocks of each session apart
    lines = []
    async with patient_client() as client:
        for number, body in enumerate(bodies):
            asked = {**body, "model": "lab-model", "temperature": 0, "max_tokens": 4}
            answered = await client.post(f"{url}/chat/completions", json={**asked, "cache_salt": salt})
            at = f"2026-11-24T10:0{number}"
            lines.append({"id": number, "captured": {"at": at}, "request": asked, "response": answered.json()})
    file.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    folder = ROOT / "assets" / "lab-model"
    setup = RenderSetup((folder / "chat_template.jinja").read_text("utf-8"), load_tokenizer(folder))
    (session,) = follow_sessions(gather_exchanges([file]).exchanges, setup)
    return session.turns


async def test_every_seeded_break_is_found_and_the_servers_reuse_is_the_predicted_one(
    labs: LabPool, tmp_path: Path
) -> None:
    url = (await labs.get(SPEC)).base_url
    found, predicted, reused = {}, {}, {}
    for name, (change, _, _) in {**SEEDED, "none": (lambda _: None, "", "")}.items():
        first = copy.deepcopy(FIRST)
        if name != "thinking":  # which the template leaves out once the user goes on
            del first["messages"][2]["reasoning_content"]
        second = copy.deepcopy(first)
        second["messages"] += MORE
        change(second)
        _, turn = await _turns(url, [first, second], tmp_path / f"{name}.jsonl")
        assert turn.count == turn.exchange.prompt_tokens, name
        found[name] = turn.broken and (turn.broken.first == turn.kept, turn.broken.field, turn.broken.cause)
        predicted[name] = turn.kept // BLOCK * BLOCK
        reused[name] = turn.exchange.cached_tokens

    assert found == {name: (True, field, cause) for name, (_, field, cause) in SEEDED.items()} | {"none": None}
    assert reused == predicted
    assert predicted["none"] > predicted["date"] > 0
