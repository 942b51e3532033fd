"""The page imports gradio without type stubs and without MCP; afterwards everything is as ever."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

PROGRAM = """
import json, sys
opened, tried = [], []
def hear(event, arguments):
    if event == "open" and str(arguments[0]).endswith(".pyi"):
        opened.append(str(arguments[0]))
sys.addaudithook(hear)
import prompt_debugger.ui.web.launch
import gradio, gradio.component_meta
class Told(gradio.HTML):
    pass
meta = gradio.component_meta
print(json.dumps({
    "stubs": opened,
    "mcp": sorted(name for name in sys.modules if name.partition(".")[0] == "mcp"),
    "finders": [type(one).__name__ for one in sys.meta_path],
    "kept_by": meta.create_or_modify_pyi.__module__,
    "asked": "create_or_modify_pyi" in meta.ComponentMeta.__new__.__code__.co_names,
    "component": gradio.Textbox(label="x").label,
}))
"""


@pytest.fixture(scope="module")
def shown():
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def test_no_stub_is_read_or_written(shown):
    assert shown["stubs"] == []


def test_gradio_still_keeps_stubs_where_we_take_them_out(shown):
    assert shown["asked"], "gradio keeps its stubs elsewhere now: see ui/web/start_gradio.py"
    assert shown["kept_by"] == "prompt_debugger.ui.web.start_gradio"


def test_mcp_is_not_imported_and_not_hidden_for_good(shown):
    assert shown["mcp"] == []


def test_nothing_of_it_stays_in_the_way_of_imports(shown):
    assert "WithoutStubs" not in shown["finders"]
    assert shown["component"] == "x"
