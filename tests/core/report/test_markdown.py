"""The Markdown of a run: what a maintainer needs, short enough for an issue, harmless."""

import hashlib
import json
import subprocess
from dataclasses import replace

import pytest
from markdown_it import MarkdownIt

from prompt_debugger.core.base.types import CallOutcome, Refusal, Request, Trace
from prompt_debugger.core.report import file_stem, redact_json, trace_to_markdown
from prompt_debugger.core.report.markup import cell
from tests.attacks.growth import grows_linearly
from tests.ui.present.strategies import HOSTILE
from tests.ui.present.traces import TEMPLATE, dropped_call_trace

GITHUB_LIMIT = 65_536
MARKDOWN = MarkdownIt("commonmark").enable("table")


def test_it_has_versions_parsers_template_hash_and_a_command():
    markdown = trace_to_markdown(dropped_call_trace(), "1.2.3")

    assert markdown.startswith("**The model wrote 1 tool call, the server returned none.")
    assert "| Prompt Debugger | 1.2.3 |" in markdown
    assert "| server | vllm, 0.32.0, tool parser kimi_k2 |" in markdown
    named = trace_to_markdown(dropped_call_trace(), title_of={"vllm": "Some Server"}.__getitem__)
    assert "| server | Some Server, 0.32.0, tool parser kimi_k2 |" in named
    assert f"| template sha256 | {hashlib.sha256(TEMPLATE.encode()).hexdigest()} |" in markdown
    assert "curl http://127.0.0.1:8123/v1/chat/completions" in markdown
    assert "OPENAI_API_KEY" not in markdown  # the lab needs none


def test_a_server_that_is_not_a_lab_is_asked_with_the_key_of_the_environment():
    trace = dropped_call_trace()

    markdown = trace_to_markdown(replace(trace, server=replace(trace.server, is_lab=False)))

    assert '-H "Authorization: Bearer $OPENAI_API_KEY"' in markdown


@pytest.mark.parametrize("length", [10, 40_000])
def test_the_command_is_never_cut(length, tmp_path):
    trace = dropped_call_trace()
    body = {**trace.sent, "user": "it's\n" * length}
    trace = replace(trace, sent=body)
    (tmp_path / f"{file_stem(trace)}.json").write_text(json.dumps({"sent": body}))
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


def test_a_refusal_is_reported():
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


def test_names_in_our_sentences_are_code():
    markdown = trace_to_markdown(dropped_call_trace())

    html = MARKDOWN.render(markdown)

    assert "<code>get_weather</code>" in html
    assert "\\`" not in markdown


@pytest.mark.parametrize(
    "text",
    [
        "a `x``y` b",
        "`one``two`three`",
        "`` ` `@user` #12",
        "`\\` <b>&</b> `",
        "http://a.example`b`http://c.example",
        "\\`[x](http://evil.example)`",
        "`![x](http://evil.example)` and ` [y](http://evil.example)",
        "a \\\\|[x](http://evil.example)",
        "`a\\\\|` | [x](http://evil.example)",
        "http://b.example/\\\\|[x](http://evil.example)",
    ],
)
def test_backticks_and_bars_of_untrusted_texts_do_not_break_out(text):
    trace = dropped_call_trace()
    finding = replace(trace.findings[0], title=text, links=())
    server = replace(trace.server, model=text, start_command=text)
    markdown = trace_to_markdown(replace(trace, server=server, findings=(finding,), title=text))

    html = MARKDOWN.render(markdown)

    assert "<a " not in html
    assert "<img" not in html
    assert "<b>" not in html
    rows = [row for row in html.split("<tr>") if "<td>model</td>" in row]
    assert rows[0].count("<td>") == 2
    assert html.count("<h2>") == 1


def test_it_tells_title_date_start_command_and_the_fate_of_every_call():
    trace = dropped_call_trace()
    server = replace(trace.server, start_command="vllm serve lab-model --tool-call-parser kimi_k2", max_model_len=2048)
    markdown = trace_to_markdown(replace(trace, title="Paris | gone", started="2026-07-01T12:30:00Z", server=server))

    assert markdown.startswith("## Paris \\| gone\n\n**The model wrote")
    assert "| run at | 2026-07-01 12:30 UTC |" in markdown
    assert "| start command | `vllm serve lab-model --tool-call-parser kimi_k2` |" in markdown
    assert '| 1 | `get_weather` `{"city": "Paris"}` | – | dropped |' in markdown


def test_a_call_that_came_back_altered_shows_both_sides():
    trace = dropped_call_trace()
    message = {"tool_calls": [{"function": {"name": "get_weather", "arguments": {"city": "Par`is"}}}]}
    match = replace(trace.parse.ledger.matches[0], message_index=0, outcome=CallOutcome.ALTERED)
    ledger = replace(trace.parse.ledger, matches=(match,))
    trace = replace(trace, chat=replace(trace.chat, message=message), parse=replace(trace.parse, ledger=ledger))

    markdown = trace_to_markdown(trace)

    row = '| 1 | `get_weather` `{"city": "Paris"}` | `get_weather` ``{"city": "Par`is"}`` | altered |'
    assert row in markdown
    assert "call | written" not in trace_to_markdown(replace(trace, chat=None))


def test_the_parsers_reading_is_repeated_offline_and_never_with_a_secret():
    trace = dropped_call_trace()

    command = trace_to_markdown(trace).split("```bash\n")[1].split("\n```")[0]

    printed = subprocess.run(
        ["bash", "-c", 'prompt-debugger() { cat; echo; echo "$@"; cat "${@: -1}"; }\n' + command],
        capture_output=True, check=True, text=True,
    ).stdout.split("\n")  # fmt: skip
    assert printed[0] == trace.raw.text
    assert "--parser vllm:kimi_k2" in printed[1]
    assert json.loads(printed[2]) == trace.request.body["tools"]
    for text in ("sk-abcdefghijklmnop1234", "\x1b[2J", ""):
        assert "```bash" not in trace_to_markdown(replace(trace, raw=replace(trace.raw, text=text)))
    assert "```bash" not in trace_to_markdown(replace(trace, server=replace(trace.server, kind="sglang")))


@pytest.mark.slow
@pytest.mark.parametrize("part", ["\\", "`a`"], ids=["backslashes", "code"])
def test_a_cell_is_written_in_linear_time(part):
    assert grows_linearly(lambda size: cell(part * size), first=4_000, doublings=6)


def test_a_bar_of_a_cell_has_an_odd_number_of_backslashes_before_it():
    assert [cell(text) for text in ("|", "\\|", "||")] == ["\\|", "\\\\\\|", "\\|\\|"]
