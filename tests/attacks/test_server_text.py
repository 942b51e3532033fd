"""What servers, models and strangers' bundles say is shown as text: in the terminal, in an issue, on the page."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from prompt_debugger.core.base.errors import BackendError
from prompt_debugger.core.base.text import printable
from prompt_debugger.core.base.types import JSONObject, Refusal, Trace
from prompt_debugger.core.report import (
    parse_to_terminal,
    prompt_to_terminal,
    redact_text,
    trace_to_markdown,
    trace_to_terminal,
)
from prompt_debugger.core.report.markup import cell, code, fenced, prose
from prompt_debugger.ui.cli.output import print_text, report_error
from prompt_debugger.ui.cli.progress import log
from prompt_debugger.ui.report import SharedRun
from tests.attacks.growth import grows_linearly
from tests.core.complete.faulty_server import answer, faulty_server
from tests.ui.present.traces import dropped_call_trace, prompt_of
from tests.warm.program import warm_environment

ROOT = Path(__file__).resolve().parents[2]
CONTROLS = {
    "clipboard": "\x1b]52;c;aGk=\x07",
    "title": "\x1b]0;owned\x07",
    "clear": "\x1b[2J\x1b[H",
    "colour": "\x1b[31m",
    "c1": "\x9b2J",
    "bell": "\x07",
    "backspace": "abc\b\b\b",
    "return": "safe\rrm -rf",
    "bidi": "\u202egnp.exe\u202c",
    "isolate": "\u2066x\u2069",
    "zero width": "a\u200bb",
    "line separator": "a\u2028b",
    "line": "x\nerror[PD999 forged] all is well",
}
MARKUP = {
    "link": "[click](https://evil.example)",
    "image": "![x](https://evil.example/pixel.png)",
    "reference": "[click][1]\n\n[1]: https://evil.example",
    "address": "see https://evil.example/path now",
    "www": "see www.evil.example now",
    "mail": "write to me@evil.example",
    "mention": "@torvalds please look",
    "team": "cc @vllm-project/maintainers",
    "issue": "fixes #1 and vllm-project/vllm#2 and GH-3",
    "html": "<img src=https://evil.example/x onerror=alert(1)>",
    "comment": "<!-- hidden -->",
    "details": "</details></details><h1>x",
    "fence": "```\n````\n~~~\nout of it",
    "code": "`` a ` b ```",
    "table": "a | b |\n|---|---|\n| c",
    "heading": "# big\n## big",
    "list": "- a\n1. b\n+ c",
    "setext": "a\n===",
    "emphasis": "*a* **b** _c_ __d__ ~~e~~",
    "entity": "&lt;b&gt; &copy; &#64;torvalds",
    "math": "$\\unsafe$ $$x$$",
    "emoji": "the :poop: of it",
    "escape": "\\[x](https://evil.example) \\\\[y](https://evil.example)",
    "angle": "<https://evil.example>",
    "script address": "[x](javascript:alert(1)) javascript:alert(1)",
}
PARSER = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])


def hostile_run(text: str) -> Trace:
    """Return a run in which everything that others can write is this text."""
    trace = dropped_call_trace()
    assert trace.server is not None
    assert trace.raw is not None
    assert trace.chat is not None
    assert trace.verdict is not None
    assert trace.parse is not None
    finding = trace.findings[0]
    evidence = replace(finding.evidence[0], field=text, quote=text)
    bad = replace(
        finding,
        code=text,
        name=text,
        title=text,
        detail=text,
        fix=text,
        follows=text,
        links=(text,),
        evidence=(evidence,),
    )
    call = replace(trace.parse.parsed.calls[0], name=text, id=text, problem=text)
    parsed = replace(trace.parse.parsed, format=text, calls=(call,))
    return replace(
        trace,
        server=replace(
            trace.server, version=text, model=text, tool_parser=text, reasoning_parser=text, model_root=text
        ),
        raw=replace(trace.raw, finish_reason=text),
        chat=replace(trace.chat, finish_reason=text, message={"role": "assistant", "content": text}),
        prompt=replace(prompt_of(text), unread=(text,)),
        parse=replace(trace.parse, parsed=parsed),
        findings=(bad,) * 14,
        verdict=replace(trace.verdict, sentence=text),
        refusal=Refusal(400, text),
        notes=(text,),
    )


def drives_a_terminal(text: str) -> list[str]:
    return [char for char in text if char not in "\n\t" and not char.isprintable()]


@pytest.mark.parametrize("name", CONTROLS)
def test_no_text_of_a_run_drives_the_terminal(name: str) -> None:
    trace = hostile_run(CONTROLS[name])
    assert trace.parse is not None
    assert trace.prompt is not None
    for said in (
        trace_to_terminal(trace),
        parse_to_terminal(trace.parse, trace.findings),
        prompt_to_terminal(trace.prompt, trace.findings),
    ):
        assert drives_a_terminal(said) == []
        assert not re.search(r"^error\[PD999", said.replace(CONTROLS[name], ""), re.MULTILINE)


@pytest.mark.parametrize("name", CONTROLS)
def test_all_that_the_command_line_prints_is_escaped(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    print_text(CONTROLS[name])
    log(CONTROLS[name])
    report_error(BackendError(CONTROLS[name], CONTROLS[name]), as_json=True)

    said = capsys.readouterr()
    assert drives_a_terminal(said.out) == []
    assert drives_a_terminal(said.err) == []
    assert len(said.err.splitlines()) == 1 + len(CONTROLS[name].split("\n"))  # the words of an error keep to their line


async def test_what_a_server_says_reaches_the_terminal_escaped(tmp_path: Path) -> None:
    """The command line itself, against a server that lies in its model list, its answers and its errors."""
    text = " ".join(CONTROLS.values())
    request = tmp_path / "request.json"
    request.write_text(json.dumps({"messages": [{"role": "user", "content": "hi"}]}))
    message: JSONObject = {"role": "assistant", "content": text}
    choice: JSONObject = {"index": 0, "message": message, "finish_reason": text, "text": text}
    async with faulty_server(
        {
            "/v1/models": answer(200, {"data": [{"id": text, "owned_by": text, "root": text}]}),
            "/version": answer(200, {"version": text}),
            "/v1/chat/completions": answer(200, {"model": text, "choices": [choice]}),
        },
    ) as server:
        said = await _run(str(request), server.base_url)
    async with faulty_server(answer(400, {"error": {"message": text}})) as server:
        refused = await _run(str(request), server.base_url)

    assert drives_a_terminal(said) == []
    assert drives_a_terminal(refused) == []
    assert "PD999" not in "".join(line for line in said.splitlines() if line.startswith("error["))


async def _run(request: str, endpoint: str) -> str:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "app.py", "run", request, "--endpoint", endpoint,
        cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=warm_environment(),
    )  # fmt: skip
    out, _ = await process.communicate()
    return out.decode("utf-8").replace("\r\n", "\n")


@given(st.text())
def test_an_escaped_text_is_printable_and_plain_text_stays(text: str) -> None:
    assert printable(text, on_one_line=True).isprintable()
    assert drives_a_terminal(printable(text)) == []
    assert printable(printable(text)) == printable(text)
    if text.isprintable():
        assert printable(text) == text


def outside_code(markdown: str) -> tuple[set[str], str]:
    """Return the kinds of tokens a reader makes of Markdown, each HTML among them, and the text that is no code."""
    kinds, texts = set(), []
    for token in PARSER.parse(markdown):
        for part in [token, *(token.children or [])]:
            kinds.add(part.type if not part.type.startswith("html") else re.sub(r">[^<]*<", "><", part.content.strip()))
            if part.type == "text":
                texts.append(part.content)
    return kinds, "\n".join(texts)


ACTED_ON = re.compile(r"@\w|(?<![\w&])#\d|\bGH-\d|https?://(?!github\.com/)|www\.|:poop:|\w@\w|javascript:")


@pytest.mark.parametrize("name", [*MARKUP, *CONTROLS])
def test_nothing_in_an_issue_is_markup_but_ours(name: str) -> None:
    text = {**MARKUP, **CONTROLS}[name]
    ours, _ = outside_code(trace_to_markdown(hostile_run("x")))

    markdown = trace_to_markdown(hostile_run(text))
    kinds, shown = outside_code(markdown)

    assert kinds - {"code_inline", "text_special"} <= ours
    assert not ACTED_ON.search(shown), ACTED_ON.search(shown)
    assert "evil.example" not in re.sub(r"\s", "", shown) or name == "mail"
    assert drives_a_terminal(markdown) == []


@pytest.mark.parametrize("name", MARKUP)
def test_an_issue_has_the_same_headings_whatever_a_run_says(name: str) -> None:
    def headings(text: str) -> int:
        return sum(token.type == "heading_open" for token in PARSER.parse(trace_to_markdown(hostile_run(text))))

    assert headings(MARKUP[name]) == headings("x")


TEXTS = st.lists(st.sampled_from([*MARKUP.values(), "`", "``", "|", "\\", "_", "*", " "]) | st.text(), max_size=4).map(
    "".join
)


@given(TEXTS)
def test_text_in_prose_is_read_back_as_it_was(text: str) -> None:
    """Shown as it is written: a reader's eyes get the text, whitespace folded, and code for a pair of backticks."""

    def bare(words: str) -> str:
        return words.replace("`", "").replace(" ", "")

    inline = PARSER.parse("x " + prose(text))[0:3]
    shown = "".join(part.content for token in inline for part in token.children or [])
    kept = " ".join(["x", *(printable(word, on_one_line=True) for word in redact_text(text).split())])

    assert len(PARSER.parse("x " + prose(text))) == 3
    assert bare(shown) == bare(kept)
    assert shown == kept or "`" in text


@given(TEXTS)
def test_a_cell_is_one_cell(text: str) -> None:
    tokens = PARSER.parse(f"| | |\n|---|---|\n| name | {cell(text)} |\n")

    assert sum(token.type == "td_open" for token in tokens) == 2
    assert {part.type for token in tokens for part in token.children or []} <= {"text", "code_inline", "text_special"}


@given(TEXTS)
def test_code_and_fences_hold_whatever_is_inside(text: str) -> None:
    block = PARSER.parse("\n".join(fenced(text)))
    spans = [part.type for token in PARSER.parse("x " + code(text)) for part in token.children or []]

    assert [token.type for token in block] == ["fence"]
    assert set(spans) <= {"text", "code_inline"}


@pytest.mark.parametrize("name", [*CONTROLS, *MARKUP])
def test_the_report_shows_it_as_text(name: str) -> None:
    """The offline page: data in one block, drawn as text; its plain part is escaped and names what hides."""
    html = SharedRun(hostile_run({**MARKUP, **CONTROLS}[name])).html
    outside = re.sub(
        r'<script type="application/json".*?</script>|<script>.*?</script>|<style>.*?</style>', "", html, flags=re.S
    )

    assert "<img" not in outside
    assert "href=" not in outside
    assert drives_a_terminal(outside) == []


def test_the_page_isolates_what_others_wrote_and_breaks_long_words() -> None:
    """Text in the other direction stays in its place, and a word of a million letters widens nothing."""
    rules = (ROOT / "assets" / "css" / "views.css").read_text(encoding="utf-8")
    for name in ("pd-text", "pd-code", "pd-fact-value", "pd-quote", "pd-sentence", "pd-finding-detail", "pd-notice"):
        assert re.search(rf"\.{name}\b[^{{}}]*\{{[^}}]*unicode-bidi: isolate", rules), name
    for name in ("pd-text", "pd-sentence", "pd-finding-detail", "pd-quote", "pd-finding-title"):
        assert re.search(rf"\.{name}\b[^{{}}]*\{{[^}}]*overflow-wrap: anywhere", rules), name


@pytest.mark.parametrize("unit", ["`", "@a", "#1 ", "\x1b", "a", ":a", "|", "0", "_", "\u202e "])
def test_writing_it_takes_linear_time(unit: str) -> None:
    def write(size: int) -> None:
        text = unit * size
        prose(text)
        printable(text)
        list(fenced(text))

    assert grows_linearly(write, first=2_000)
