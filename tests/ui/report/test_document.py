"""The file: data that cannot end its element, a policy that names its one script, every view's payload, no secret."""

import base64
import hashlib
import json
import re
import subprocess
import sys
from dataclasses import replace

import pytest
from hypothesis import given, settings

from prompt_debugger.core.base.types import Notice, Refusal, Request, Trace
from prompt_debugger.core.report import curl_of, redact_text
from prompt_debugger.ui.present import VIEWS, unpack_payload
from prompt_debugger.ui.report import trace_to_html
from tests.examples import examples
from tests.ui.present.strategies import HOSTILE, hostile_texts
from tests.ui.present.traces import RAW_TEXT, TEMPLATE, dropped_call_trace, tokens_of
from tests.ui.report.test_mask import KEYS, planted, strings


def data_of(html):
    blocks = re.findall(r'<script type="application/json" id="pd-data">(.*?)</script>', html, re.DOTALL)
    assert len(blocks) == 1
    return json.loads(blocks[0])


def headers_of(html):
    payloads = data_of(html)["payloads"]
    return {name: unpack_payload(payload)[0] for name, payload in payloads.items() if payload}


def test_the_policy_lets_in_the_one_script_and_nothing_else():
    html = trace_to_html(dropped_call_trace())
    script = re.search(r"<script>(.*)</script>", html, re.DOTALL).group(1)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()

    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', html).group(1)

    assert policy.startswith(f"default-src &#x27;none&#x27;; script-src &#x27;sha256-{digest}&#x27;;")
    assert "</script" not in script.lower()


def test_every_view_of_the_page_has_its_payload():
    headers = headers_of(trace_to_html(dropped_call_trace()))

    assert set(headers) == {*VIEWS, "request", "again"} - {"parser_matrix"}  # there a table of the ledger


def test_it_names_no_outside_file():
    html = trace_to_html(dropped_call_trace())

    assert re.findall(r"<(?:link|img|iframe|object|embed|base|form)\b", html) == []
    assert (
        re.findall(
            r"\s(?:src|srcset|action)=", html.split("<style>")[0] + html.split("</style>")[1].split("<script")[0]
        )
        == []
    )
    assert re.findall(r"@import|url\(", html) == []


@settings(max_examples=examples(40))
@given(hostile_texts)
def test_no_text_of_a_run_becomes_markup(text):
    trace = dropped_call_trace()
    plain = trace_to_html(trace)
    finding = replace(trace.findings[0], title=text, detail=text, fix=text, links=(text,))
    html = trace_to_html(
        replace(
            trace,
            request=Request(body={"messages": [{"role": text, text: text}]}, text=text, notices=(Notice(text, text),)),
            findings=(finding,),
            notes=(text,),
            refusal=Refusal(400, text),
            verdict=replace(trace.verdict, sentence=text),
        )
    )

    assert re.findall(r"<[a-zA-Z/!]", html) == re.findall(r"<[a-zA-Z/!]", plain)
    html.encode("utf-8")


def test_what_hides_or_reorders_is_written_by_name_in_title_and_plain_text():
    trace = dropped_call_trace()
    html = trace_to_html(
        replace(trace, verdict=replace(trace.verdict, sentence="\u202eevil\u2066 \ud800\u00ad\U000e0041\u3164"))
    )

    assert "<title>⟨U+202E⟩evil⟨U+2066⟩ ⟨U+D800⟩⟨U+00AD⟩⟨U+E0041⟩⟨U+3164⟩ · Prompt Debugger</title>" in html
    assert set(html) & set("\u202e\u2066\ud800\u00ad\U000e0041\u3164") == set()


@pytest.mark.parametrize("key", KEYS)
def test_no_planted_secret_is_in_the_file(key):
    html = trace_to_html(planted(key))

    headers = headers_of(html)
    parts = {key[i : i + 12] for i in range(len(key) - 11)}
    assert [text for text in (html, *strings(headers)) if any(part in text for part in parts)] == []
    shown = [entry for entry in headers["prompt_tokens"]["table"] if "•" in entry["text"]]
    assert shown
    assert {(*entry["ids"], entry.get("hex")) for entry in shown} == {(-1, None)}


def test_taking_secrets_out_of_the_finished_file_changes_nothing():
    for trace in (dropped_call_trace(), planted(KEYS[0])):
        html = trace_to_html(trace)

        assert redact_text(html) == html


def test_the_request_is_reported_with_what_was_added_to_it():
    trace = dropped_call_trace()
    trace = replace(trace, sent={**trace.sent, "return_token_ids": True})

    sent = headers_of(trace_to_html(trace))["request"]

    assert "".join(text for text, _, _ in sent["segments"]) == json.dumps(trace.request.body, indent=2)
    assert sent["figures"] == "2 messages · 1 tool"
    assert sent["notes"] == ["Added for this run: `return_token_ids`"]


def test_versions_and_template_hash_are_reported():
    facts = dict(headers_of(trace_to_html(dropped_call_trace()))["again"]["facts"])

    assert facts["server"] == "vLLM · 0.32.0 · lab"
    assert facts["tool parser"] == "kimi_k2"
    assert facts["template sha256"] == hashlib.sha256(TEMPLATE.encode()).hexdigest()


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_the_shell_sends_the_body_of_the_run(text):
    trace = dropped_call_trace()
    body = {**trace.sent, "user": f"it's $HOME `id` \\ \" \n{text}"}
    command = curl_of(replace(trace, sent=body))

    done = subprocess.run(
        ["/bin/sh", "-c", f'curl() {{ for last; do :; done; printf %s "$last"; }}\n{command}'],
        capture_output=True,
        check=True,
    )

    assert json.loads(done.stdout) == body
    assert set(command) & set("\u202e\u202c\u2066\u2069\u200b\ud800\x1b") == set()


def test_a_run_that_ended_early_says_so():
    trace = Trace(request=Request(body={"messages": []}, text="{}"), refusal=Refusal(422, "no"))

    html = trace_to_html(trace)

    data = data_of(html)
    assert data["ended"] == "The server refused the request: the model wrote nothing."
    assert [data["payloads"][name] for name in ("ledger", "completion", "prompt_tokens")] == [None, None, None]
    assert headers_of(html)["request"]["refusal"] == "The server refused it, HTTP 422: no"


def test_a_very_long_prompt_makes_a_small_file():
    trace = dropped_call_trace()
    tokens = tokens_of("def f(x): return x + 1\n" * 19_000)

    html = trace_to_html(replace(trace, prompt=replace(trace.prompt, tokens=tokens)))

    assert len(tokens) > 200_000
    assert len(html) < 1_000_000


def test_making_a_report_needs_no_gradio():
    code = "import sys, ui.report; sys.exit('gradio' in sys.modules)"

    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_the_raw_output_is_reported_whole():
    segments = headers_of(trace_to_html(dropped_call_trace()))["ledger"]["accounts"][0]["segments"]

    assert "".join(segment["text"] for segment in segments) == RAW_TEXT
