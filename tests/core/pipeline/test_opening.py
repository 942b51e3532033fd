"""What renders for a server that tells little of itself, or fails at telling it."""

from __future__ import annotations

from pathlib import Path

import pytest

from prompt_debugger.core.base.types import Server
from prompt_debugger.core.complete import ServerClient
from prompt_debugger.core.pipeline.opening import renderer_for
from prompt_debugger.core.pipeline.target import Target
from tests.core.complete.faulty_server import Behaviour, answer, faulty_server

TEMPLATE = "{% for m in messages %}{{ m.content }}{% endfor %}"


@pytest.mark.parametrize(
    ("told", "template"),
    [(answer(200, {"chat_template": TEMPLATE}), TEMPLATE), (answer(500, {}), None), (answer(200, []), None)],
    ids=["tells its template", "fails at telling", "tells something else"],
)
async def test_what_a_server_fails_to_tell_does_not_end_the_run(told: Behaviour, template: str | None) -> None:
    behaviours = {"/tokenizer_info": told}
    async with faulty_server(behaviours) as faulty, ServerClient(faulty.base_url) as client:
        server = Server(base_url=faulty.base_url, features=frozenset({"tokenizer_info"}))
        renderer = await renderer_for(client, server, Target(base_url=server.base_url))

    assert renderer.template == template


async def test_what_the_person_names_is_taken_whatever_the_server_tells(lab_model_dir: Path) -> None:
    server = Server(base_url="http://127.0.0.1:9/v1", features=frozenset({"tokenizer_info"}))
    async with ServerClient(server.base_url) as client:
        renderer = await renderer_for(client, server, Target(base_url=server.base_url, tokenizer=lab_model_dir))

    assert renderer.tokenizer is not None
