"""A running server as the model: whose template and tokenizer are taken, on whose word, and what it renders itself."""

from __future__ import annotations

import json
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler

import pytest

from prompt_debugger.core.base.errors import RenderError
from prompt_debugger.core.render.traced_render import run_job
from prompt_debugger.core.tools.check import Place, load_served
from prompt_debugger.core.tools.check.agreement import compare_engines
from prompt_debugger.core.tools.check.run import write_answers
from prompt_debugger.core.tools.check.served import ServerRenderer
from tests.conftest import ROOT
from tests.core.complete.llama_cpp_server import llama_cpp_server
from tests.threads import handling

LAB = ROOT / "assets" / "lab-model"


@contextmanager
def listing(**entry):
    """A server that lists one model, and does nothing else."""
    answer = json.dumps({"object": "list", "data": [{"id": "m", "object": "model", **entry}]}).encode()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200 if self.path == "/v1/models" else 404)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def do_POST(self):
            self.send_error(404)

        def log_message(self, *_):
            pass

    with handling(Handler) as address:
        yield f"{address}/v1"


async def test_the_folder_that_a_server_of_this_machine_names_is_taken():
    with listing(root=str(LAB), owned_by="vllm") as url:
        model = await load_served(Place(url))

    assert model.template == (LAB / "chat_template.jinja").read_text()
    assert model.tokenizer is not None
    assert (model.name, model.server.model) == (url, "m")
    assert model.evidence == (
        "vLLM serves `m`.",
        "Tokenizer from `lab-model`, which the server names; the template is theirs.",
        "It does not report a tool parser.",
    )
    assert ServerRenderer(model).asked == ""


async def test_what_the_person_names_wins(tmp_path):
    mine = tmp_path / "mine.jinja"
    mine.write_text("{{ messages[0].content }}")

    with listing(root="nobody/has-this", owned_by="vllm") as url:
        model = await load_served(Place(url, tokenizer=str(LAB), template_file=str(mine)))

    assert model.template == "{{ messages[0].content }}"
    assert model.evidence[1] == "Tokenizer from `lab-model`, which you name; the template is your file."


async def test_a_server_that_says_nothing_needs_a_word_from_the_person():
    with listing() as url, pytest.raises(RenderError, match="does not report which template it uses"):
        await load_served(Place(url))


async def test_the_template_that_a_server_shows_is_checked_with_a_stand_in_vocabulary():
    with llama_cpp_server("lab") as url:
        model = await load_served(Place(url))

    assert model.tokenizer is None
    assert "tool_declare" in model.template
    assert model.evidence[1].startswith("The template is the server's;")
    assert ServerRenderer(model).asked == "apply_template"


async def test_a_server_that_goes_away_is_reported():
    with llama_cpp_server("lab") as url:
        model = await load_served(Place(url))

    tools, ideals = write_answers(model, is_thorough=False, renderer=run_job)
    gone = await compare_engines(ServerRenderer(model), model, ideals, tools, name="it", renderer=run_job)

    assert gone.conversations == ()
    assert gone.skipped.startswith("The server stopped answering:")


@pytest.mark.lab
async def test_a_real_vllm_renders_as_its_renderer_alone_does(lab_url):
    model = await load_served(Place(lab_url))
    server = ServerRenderer(model)
    tools, ideals = write_answers(model, is_thorough=False, renderer=run_job)

    engines = await compare_engines(server, model, ideals, tools, name=server.name, renderer=run_job)

    found = {one.name: one for one in engines.conversations}
    assert "by its own renderer" in engines.engine
    assert model.tokenizer is not None
    assert "It has a tool parser, but does not report which." in model.evidence
    assert found["tools"].agrees is True
    assert found["arguments-as-text"].loss == "prints content as a Python list"
    assert [one.name for one in found.values() if not one.is_explained] == []
