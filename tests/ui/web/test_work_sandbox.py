"""The sandbox for visitors' work starts before gradio is imported, and need not start again."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

PROGRAM = """
import json, sys
from prompt_debugger.core.sandbox import sandbox_of
from prompt_debugger.core.sandbox.jobs import COMMON, modules_of
from prompt_debugger.ui.web.work_sandbox import start_work_sandbox
start_work_sandbox()
at_start, has_gradio = modules_of(COMMON), "gradio" in sys.modules
from prompt_debugger.ui.web.launch import build_app
from prompt_debugger.ui.web.settings import PageSettings
from prompt_debugger.ui.web.work import check_pasted
build_app(PageSettings(lab=False))
sandbox = sandbox_of()
notices = sandbox.call(check_pasted, "{}", is_public=False)
first = sandbox.pids
start_work_sandbox()
print(json.dumps({
    "gradio": has_gradio,
    "late": [name for name in modules_of(COMMON) if name not in at_start],
    "notices": notices,
    "processes": [first, sandbox.pids],
}))
"""


@pytest.fixture(scope="module")
def shown():
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def test_it_starts_without_gradio(shown):
    assert shown["gradio"] is False


def test_it_knows_all_jobs_of_the_page_when_it_starts(shown):
    assert shown["late"] == [], "add the module to ui/web/work_sandbox.py"
    assert shown["notices"]


def test_it_starts_once(shown):
    first, later = shown["processes"]
    assert len(first) == 1
    assert later == first
