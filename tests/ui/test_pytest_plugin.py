"""The pytest plugin, as a suite of someone else meets it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from prompt_debugger import assert_no_lost_calls
from prompt_debugger.core.pipeline import CaseParser, find_example
from prompt_debugger.core.pipeline.recordings import load_recording
from prompt_debugger.core.report import write_bundle
from prompt_debugger.ui.testing import LostCallsError, judge_text, recording
from tests.conftest import ROOT
from tests.patience import PATIENCE_S
from tests.threads import in_thread
from tests.ui.mcp.dropping import REQUEST, DroppingServer

RAW = '<tool_call>\n{"name": "f", "arguments": {"a": "x"}}\n</tool_call>'
CALL = {"id": "1", "type": "function", "function": {"name": "f", "arguments": '{"a": "x"}'}}
TOOLS = REQUEST["tools"]


def answer_with(**message):
    return {"choices": [{"message": {"role": "assistant", **message}, "finish_reason": "stop"}]}


def suite(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run pytest in a folder that has the plugin and nothing of ours."""
    command = [sys.executable, "-m", "pytest", "-p", "prompt_debugger.ui.pytest_plugin", "-p", "no:playwright"]
    return subprocess.run(
        [*command, "-p", "no:cacheprovider", "--rootdir", str(folder), "-q", *arguments],
        cwd=folder, env={"PATH": "", "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_an_answer_that_leaves_a_call_in_content_fails_and_shows_it():
    with pytest.raises(LostCallsError, match="A tool call to `f` is in content"):
        assert_no_lost_calls(answer_with(content=RAW), {**REQUEST, "tools": TOOLS})


def test_a_failure_shows_the_line_of_the_test_and_none_of_ours(tmp_path):
    asserted = f"    assert_no_lost_calls({answer_with(content=RAW)!r})\n"
    imported = "from prompt_debugger import assert_no_lost_calls\n"
    (tmp_path / "test_own.py").write_text(f"{imported}\n\ndef test_own():\n{asserted}", encoding="utf-8")
    done = suite(tmp_path)

    assert ">       assert_no_lost_calls(" in done.stdout
    assert "def _fail_if_lost" not in done.stdout


@pytest.mark.parametrize("message", [{"content": "No."}, {"content": None, "tool_calls": [CALL]}])
def test_an_answer_that_shows_no_loss_passes(message):
    assert_no_lost_calls(answer_with(**message))


def test_a_fault_of_the_request_alone_is_not_a_lost_call():
    assert_no_lost_calls(answer_with(content="No."), {**REQUEST, "tools": TOOLS})  # PD101 is an error of the request


def test_a_case_is_judged_by_its_message_and_shows_its_ledger():
    with CaseParser() as parser:
        judge_text(json.dumps({"raw": RAW, "message": {"role": "assistant", "tool_calls": [CALL]}}), (), parser)
        with pytest.raises(LostCallsError, match=r"\[LOST f\]"):
            judge_text(json.dumps({"raw": RAW, "message": {"role": "assistant", "content": None}}), (), parser)


def test_a_saved_run_is_judged_as_it_was_recorded():
    dropped, healthy = load_recording("dropped-call"), load_recording("healthy-call")
    assert dropped is not None
    assert healthy is not None

    with CaseParser() as parser:
        judge_text(write_bundle(healthy.trace), (), parser)
        with pytest.raises(LostCallsError, match="the server returned none"):
            judge_text(write_bundle(dropped.trace), (), parser)


@pytest.mark.vllm
def test_a_saved_run_is_judged_by_parsers_that_are_named():
    dropped = load_recording("dropped-call")
    assert dropped is not None
    saved = write_bundle(dropped.trace)

    with CaseParser() as parser:
        with pytest.raises(LostCallsError, match=r"vllm:kimi_k2 [\d.]+: it loses a call"):
            judge_text(saved, ["vllm:kimi_k2"], parser)
        judge_text(json.dumps({"raw": RAW, "tools": TOOLS}), ["vllm:hermes"], parser)


def test_what_a_client_sends_and_gets_is_recorded_and_judged(tmp_path):
    with in_thread(DroppingServer("", {})) as url, recording(tmp_path) as made:
        response = httpx.post(f"{made.before(url)}/chat/completions", json=REQUEST)

        with pytest.raises(LostCallsError, match="chat-completions"):
            made.judge()

    assert response.json()["choices"][0]["message"]["content"].startswith("<tool_call>")
    assert made.end() == tuple(sorted(tmp_path.glob("*/*.json")))


SUITE = """
import sys
import httpx


def test_light(request):
    assert not [name for name in sys.modules if name.startswith("prompt_debugger.core")]


def test_agent(record_calls):
    httpx.post(f"{record_calls('URL')}/chat/completions", json=REQUEST)
"""


def test_a_suite_of_someone_else(tmp_path):
    fine = {"raw": RAW, "message": {"role": "assistant", "tool_calls": [CALL]}}
    lost = {"raw": RAW, "message": {"role": "assistant", "content": None}}
    (tmp_path / "outputs.prompt-debugger.jsonl").write_text(f"{json.dumps(fine)}\n\n{json.dumps(lost)}\n")
    with in_thread(DroppingServer("", {})) as url:
        source = SUITE.replace("URL", url).replace("REQUEST", repr(REQUEST))
        (tmp_path / "test_agent.py").write_text(source)

        done = suite(tmp_path, "test_agent.py", "outputs.prompt-debugger.jsonl")

    assert "2 failed, 2 passed" in done.stdout, done.stdout + done.stderr
    assert "A recorded exchange lost a call." in done.stdout
    assert "[LOST f]" in done.stdout
    assert "no call lost: outputs.prompt-debugger.jsonl, line 3" in done.stdout
    assert "Traceback" not in done.stdout
    assert "During handling" not in done.stdout


@pytest.mark.lab
def test_a_call_that_a_server_drops_silently_is_lost(tmp_path, lab_url):
    body = json.loads(find_example("dropped-call").request_text)
    with recording(tmp_path) as made:
        answer = httpx.post(f"{made.before(lab_url)}/chat/completions", json=body, timeout=PATIENCE_S).json()
        (lost,) = made.lost()

    assert answer["choices"][0].get("token_ids") is None  # which the client did not ask for
    assert "The model wrote 1 tool call, the server returned none." in lost
    assert lost.count("[LOST get_weather]") == 1


async def test_a_recording_is_judged_where_a_loop_runs(tmp_path):
    with in_thread(DroppingServer("", {})) as url, recording(tmp_path) as made:
        async with httpx.AsyncClient() as client:
            await client.post(f"{made.before(url)}/chat/completions", json=REQUEST)

        assert len(made.lost()) == 1


def test_where_nothing_is_used_nothing_is_reported(tmp_path):
    (tmp_path / "test_x.py").write_text("def test_x():\n    pass\n")
    (tmp_path / "trace.json").write_text("{}")

    done = suite(tmp_path)

    assert "1 passed" in done.stdout
    assert "prompt" not in done.stdout.replace(str(tmp_path), "")
