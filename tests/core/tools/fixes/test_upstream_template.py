"""The diff of a chat template: of the file of a release's source, with a test that it turns green."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.pipeline.render_only import render_request
from prompt_debugger.core.pipeline.target import Target
from prompt_debugger.core.request import read_request
from prompt_debugger.core.tools.fixes.upstream_template import template_diff
from tests.conftest import ROOT
from tests.core.tools.fixes.test_upstream import recorded
from tests.patience import PATIENCE_S
from tests.warm.program import warm_environment

BASIC = "{%- for message in messages -%}\n    {{- message['content'] -}}\n{%- endfor -%}\n"
PARTS = [{"role": "user", "content": [{"type": "text", "text": "Weather in Paris?"}]}]
CALL = {"id": "c", "type": "function", "function": {"name": "get_weather", "arguments": '{"city": "Paris"}'}}
NULL = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": None, "tool_calls": [CALL]}]


async def rendered(messages, template=BASIC):
    body = json.dumps({"model": "m", "messages": messages})
    return await render_request(read_request(body), Target(chat_template=template))


@pytest.fixture
def source(tmp_path):
    place = tmp_path / "engine" / "templates" / "basic.jinja"
    place.parent.mkdir(parents=True)
    place.write_text(BASIC, encoding="utf-8")
    (place.parent / "other.jinja").write_text("{{ messages }}", encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(
    ("messages", "code", "shown"),
    [(NULL, "PD213", "(message['content']) or ''"), (PARTS, "PD205", "map(attribute='text') | join")],
)
async def test_the_diff_applies_to_the_release_and_turns_its_test_green(messages, code, shown, source):
    found = await template_diff(await rendered(messages), source)

    assert found.file == "engine/templates/basic.jinja"
    assert shown in found.diff
    assert f"the new test fails without this change and passes with it. This is the fix for {code}" in found.says
    (source / "test_new.py").write_text(found.test, encoding="utf-8")
    assert b"failed" in outcome(source)
    check = ["git", "apply", "--check", "-"]
    subprocess.run(check, cwd=source, input=found.diff, text=True, check=True)
    subprocess.run(["patch", "-p1"], cwd=source, input=found.diff, text=True, check=True)
    assert b"1 passed" in outcome(source)


def outcome(folder):
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", "/dev/null", "test_new.py"]
    environment = os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}  # to import them all costs five times as much
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=False, timeout=PATIENCE_S)
    return done.stdout


async def test_a_folder_without_the_template_is_refused(source):
    with pytest.raises(RequestError, match="No file of that folder has the chat template"):
        await template_diff(await rendered(NULL, BASIC + "<|end|>"), source)
    with pytest.raises(RequestError, match="There is no folder"):
        await template_diff(await rendered(NULL), source / "nowhere")


async def test_a_page_that_runs_nothing_gives_the_diff_alone():
    found = await template_diff(await rendered(NULL), tries_test=False)

    assert (found.file, found.test) == ("chat_template.jinja", "")
    assert found.says == "This is the fix for PD213, which is gone when the request is rendered with it."


async def test_what_the_server_does_before_it_renders_has_no_test():
    found = await template_diff(recorded("polluted-content").trace)

    assert found.test == ""
    assert "No test " in found.says


def test_a_rendered_request_can_be_reported(tmp_path):
    place = tmp_path / "basic.jinja"
    place.write_text(BASIC, encoding="utf-8")

    def run(*arguments, given=""):
        command = [sys.executable, "app.py", *map(str, arguments)]
        return subprocess.run(
            command, cwd=ROOT, input=given, text=True, timeout=PATIENCE_S, capture_output=True, check=False,
            env=warm_environment(),
        )  # fmt: skip

    request = json.dumps({"model": "m", "messages": NULL})
    run("render", "-", "--chat-template", place, "--report", tmp_path / "out", given=request)
    diff, test = tmp_path / "fix.diff", tmp_path / "test_fix.py"
    done = run(
        "report", tmp_path / "out" / "trace.json", "--upstream-diff", "template", "--source", tmp_path,
        "--output", diff, "--test", test,
    )  # fmt: skip

    assert done.returncode == 0, done.stderr
    assert diff.read_text(encoding="utf-8").startswith("--- a/basic.jinja\n+++ b/basic.jinja\n@@ ")
    assert "def test_null_printed" in test.read_text(encoding="utf-8")


async def test_the_diff_of_a_template_is_the_fix_of_its_finding(tmp_path):
    trace = recorded("polluted-content").trace

    found = await template_diff(trace)

    template = tmp_path / "chat_template.jinja"
    template.write_text(trace.prompt.template, encoding="utf-8")
    done = subprocess.run(["patch", "-p1", "--dry-run"], cwd=tmp_path, input=found.diff, text=True, check=False)
    assert done.returncode == 0
    assert "PD205" in found.says
    assert "not seen by rendering alone" in found.says  # that the model saw polluted content shows on a server
    assert "--experiments" in found.says


async def test_a_run_without_a_fix_of_the_template_has_no_diff_of_it():
    found = await template_diff(recorded("healthy-call").trace)

    assert found.diff == ""
    assert "no diff" in found.says
