"""The file that `plugin` writes: whole, the project's own readers, no more than it needs."""

from __future__ import annotations

import ast
import subprocess
import sys

import pytest

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.formats import FORMATS
from prompt_debugger.core.tools.plugin.write import modules_needed, write_plugin
from tests.conftest import ROOT
from tests.patience import PATIENCE_S
from tests.warm.program import warm_environment

# Reads a raw output with the modules that a written file carries; vLLM itself is not there.
READS = """
import sys
source = open(sys.argv[1], encoding="utf-8").read()
parts = source.rpartition('return importlib.import_module(_ROOT + ".core.tools.plugin.inside.vllm_parsers")')
exec(parts[0] + "return importlib" + chr(10) + "_load()", globals())
stream = importlib.import_module(_ROOT + ".core.tools.plugin.inside.call_stream")
context = importlib.import_module(_ROOT + ".core.base.protocols").ReadContext()
reader = stream.CallStream(sys.argv[2], context)
deltas = [reader.feed(sys.stdin.read()), reader.finish()]
print([call.name or call.arguments for delta in deltas for call in delta.calls])
print(any(name.startswith("prompt_debugger") for name in sys.modules))
"""
OUTPUT = '<tool_call>\n{"name": "f", "arguments": {"a": "\\\\ \\" é"}}\n</tool_call>'


def read_with(source, family, tmp_path):
    file = tmp_path / "plugin.py"
    file.write_text(source, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-c", READS, str(file), family],
        cwd=tmp_path,
        input=OUTPUT,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.parametrize(("family", "reader"), [("all", "auto"), ("hermes", "hermes")])
def test_the_file_reads_by_itself_without_this_project(family, reader, tmp_path):
    calls, imported = read_with(write_plugin(family), reader, tmp_path)

    assert calls == repr(["f", '{"a": "\\\\ \\" é"}'])
    assert imported == "False"


@pytest.mark.parametrize("family", ["all", "kimi_k2", "mimo", "harmony"])
def test_the_file_of_every_family_is_python_and_carries_its_reader(family):
    source = write_plugin(family)

    ast.parse(source)
    for name in FORMATS if family == "all" else [family]:
        assert f"'_prompt_debugger_plugin.core.formats.{name}'" in source
    assert "from prompt_debugger" not in source


def test_one_family_takes_less_space_than_all():
    assert len(write_plugin("kimi_k2")) < len(write_plugin("all"))


def test_an_unknown_family_is_refused_with_the_known_ones():
    with pytest.raises(RequestError, match="nobody") as refused:
        write_plugin("nobody")

    assert "kimi_k2" in str(refused.value.hint)


def test_modules_that_only_types_need_stay_behind():
    needed = modules_needed(["prompt_debugger.core.base.types"])

    assert "prompt_debugger.core.base.types.trace" in needed
    assert "prompt_debugger" not in needed
    assert not [name for name in needed if name.startswith("prompt_debugger.core.pipeline")]


@pytest.mark.slow
def test_the_command_writes_the_file_and_says_how_to_start(tmp_path):
    file = tmp_path / "parser.py"
    done = subprocess.run(
        [sys.executable, "app.py", "plugin", "--family", "kimi_k2", "--output", str(file)],
        cwd=ROOT,
        env=warm_environment(),
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )

    assert (done.returncode, done.stdout) == (0, "")
    assert file.read_text(encoding="utf-8") == write_plugin("kimi_k2")
    assert f"--tool-parser-plugin {file} --tool-call-parser prompt_debugger" in done.stderr


def test_writing_imports_nothing_of_vllm():
    code = (
        "import sys; from prompt_debugger.core.tools.plugin.write import write_plugin; write_plugin();"
        " print([name for name in sys.modules if name.split('.')[0] in ('vllm', 'torch')])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )
    assert done.stdout.strip() == "[]", done.stderr
