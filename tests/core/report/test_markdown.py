"""The Markdown of a run: what a maintainer needs, short enough for an issue, harmless."""

import hashlib
import json
import subprocess
from dataclasses import replace

import pytest

from prompt_debugger.core.report import redact_json, trace_to_markdown
from prompt_debugger.core.types import Refusal, Request, Trace
from tests.ui.present.strategies import HOSTILE
from tests.ui.present.traces import TEMPLATE, dropped_call_trace

GITHUB_LIMIT = 65_536


def test_it_has_versions_parsers_template_hash_and_a_command():
    markdown = trace_to_markdown(dropped_call_trace(), "1.2.3")

    assert markdown.startswith("**The model wrote 1 tool call, the server returned none.")
    assert "| Prompt Debugger | 1.2.3 |" in markdown
    assert "| server | vllm, 0.32.0, tool parser kimi_k2 |" in markdown
    assert f"| template sha256 | {hashlib.sha256(TEMPLATE.encode()).hexdigest()} |" in markdown
    assert "curl http://127.0.0.1:8123/v1/chat/completions" in markdown
    assert "OPENAI_API_KEY" not in markdown  # the lab needs none


def test_a_server_that_is_no_lab_is_asked_with_the_key_of_the_environment():
    trace = dropped_call_trace()

    markdown = trace_to_markdown(replace(trace, server=replace(trace.server, is_lab=False)))

    assert '-H "Authorization: Bearer $OPENAI_API_KEY"' in markdown


@pytest.mark.parametrize("length", [10, 40_000])
def test_the_command_is_never_cut(length, tmp_path):
    trace = dropped_call_trace()
    body = {**trace.sent, "user": "it's\n" * length}
    trace = replace(trace, sent=body)
    (tmp_path / "prompt-debugger.json").write_text(json.dumps({"sent": body}))
    command = trace_to_markdown(trace).split("```sh\n")[1].split("\n```")[0]

    stubs = """curl() { for last; do :; done; if [ "$last" = @- ]; then cat; else printf %s "$last"; fi; }
jq() { python3 -c 'import json,sys; print(json.dumps(json.load(open(sys.argv[1]))["sent"]))' "$3"; }
"""
    done = subprocess.run(["/bin/sh", "-c", stubs + command], cwd=tmp_path, capture_output=True, check=True)

    assert json.loads(done.stdout) == redact_json(body)


def test_a_long_run_fits_into_an_issue():
    trace = dropped_call_trace()
    long = "word `code` <b> | pipe\n" * 20_000
    finding = replace(trace.findings[0], detail=long)
    trace = replace(
        trace,
        request=replace(trace.request, body={"messages": [{"role": "user", "content": long}]}),
        sent={"messages": [{"role": "user", "content": long}]},
        prompt=replace(trace.prompt, text=long),
        raw=replace(trace.raw, text=long),
        chat=replace(trace.chat, message={"content": long}),
        findings=(finding,) * 40,
    )

    markdown = trace_to_markdown(trace)

    assert len(markdown) < GITHUB_LIMIT
    assert "And 28 more: PD401 dropped-call" in markdown


def test_a_refusal_is_told():
    trace = Trace(request=Request({"messages": []}, "{}"), refusal=Refusal(422, "no such field"))

    assert "refused the request, HTTP 422: no such field" in trace_to_markdown(trace)


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_no_text_of_a_run_leaves_its_fence_or_its_table_cell(text):
    trace = dropped_call_trace()
    finding = replace(trace.findings[0], title=text, detail=f"```{text}", fix=text)
    raw = f"````\n{text}"
    markdown = trace_to_markdown(
        replace(
            trace,
            server=replace(trace.server, version=f"| {text}", model=text),
            raw=replace(trace.raw, text=raw),
            findings=(finding,),
        )
    )

    outside = []
    fence = ""
    for line in markdown.split("\n"):
        mark = line[: len(line) - len(line.lstrip("`"))]
        if len(mark) >= 3 and not fence:
            fence = mark
        elif fence and line == fence:
            fence = ""
        elif not fence:
            outside.append(line)
    assert fence == ""
    assert not [line for line in outside if "<script" in line or "<img" in line or "<svg" in line]
