"""llama.cpp's own server as the model to check: its prompts against transformers', every cause proved."""

from __future__ import annotations

import pytest

from prompt_debugger.core.render.traced_render import run_job
from prompt_debugger.core.tools.check import Place, load_served
from prompt_debugger.core.tools.check.agreement import compare_engines, engine_findings
from prompt_debugger.core.tools.check.run import write_answers
from prompt_debugger.core.tools.check.served import ServerRenderer

pytestmark = pytest.mark.servers


@pytest.mark.parametrize("has_tokenizer", [False, True])
async def test_its_prompts_are_explained(llama_cpp_url, lab_model_dir, has_tokenizer):
    model = await load_served(Place(llama_cpp_url, tokenizer=str(lab_model_dir) if has_tokenizer else None))
    server = ServerRenderer(model)
    tools, ideals = write_answers(model, is_thorough=False, renderer=run_job)

    engines = await compare_engines(server, model, ideals, tools, name=server.name, kind="llama.cpp", renderer=run_job)

    found = {one.name: one for one in engines.conversations}
    assert [name for name in ("plain", "system", "tools", "arguments-as-text") if found[name].agrees is not True] == []
    assert 'description` as ""' in found["bare-tool"].causes[0]
    assert "content format `string`" in found["content-parts"].causes[0]
    assert [one.name for one in found.values() if not one.is_explained] == []
    assert list(engine_findings(engines)) == []
