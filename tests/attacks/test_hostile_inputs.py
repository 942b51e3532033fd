"""Templates, outputs and texts made to read, hang or break: each is answered in bounded time, with a sentence."""

from __future__ import annotations

import base64
import gzip
import json
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from prompt_debugger import diagnose
from prompt_debugger.core.base.errors import DebuggerError
from prompt_debugger.core.base.types import JSON
from tests.attacks.page import ROOT
from tests.patience import PATIENCE_S

MESSAGE = '{"role": "user", "content": "hi"}'
# What a template does, and what is said of it; "" where it may render.
TEMPLATES = {
    "a width in %": ("{{ '%999999999d' % 1 }}", "memory"),
    "a width in format": ("{{ '{:999999999d}'.format(1) }}", "memory"),
    "attributes by format": ("{{ '{0.__class__.__mro__}'.format('') }}", "unsafe"),
    "nested ranges": ("{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}", "1 s"),
    "a long range": ("{{ range(10**18) | list | length }}", "Range too big"),
    "a macro that calls itself": ("{% macro f(x) %}{{ f(x) }}{{ f(x) }}{% endmacro %}{{ f(1) }}", "recursion"),
    "a loop that calls itself": ("{% for x in [1] recursive %}{{ loop([1, 2]) }}{% endfor %}", "recursion"),
    "a huge join": ("{{ ('a' * 100000) | join('b' * 100000) }}", "memory"),
    "a huge replace": ("{{ ('a' * 100000) | replace('a', 'b' * 100000) }}", "memory"),
    "attr": ("{{ '' | attr('__class__') }}{{ messages | attr('__init__') | attr('__globals__') }}", ""),
    "a huge power": ("{{ 2 ** 100000000 }}", "1 s"),
    "a long number": ("{{ 10 ** 6000 }}", "4300 digits"),
    "a wide batch": ("{{ range(10) | batch(10 ** 9, 'x') | list }}", "memory"),
    "a deep indent": ("{{ messages | tojson(indent=10 ** 8) }}", "memory"),
    "a namespace in itself": ("{% set ns = namespace() %}{% set ns.a = ns %}{{ ns }}", ""),
    "the globals of a class": ("{{ cycler.__init__.__globals__.os.popen('id').read() }}", "unsafe"),
    "another file": ("{% include '/etc/passwd' %}", "no loader"),
    "a parent": ("{% extends '/etc/passwd' %}", "no loader"),
    "deep brackets": ("{{ " + "(" * 500 + "1" + ")" * 500 + " }}", "recursion"),
    "deep blocks": ("{% if 1 %}" * 300 + "{% endif %}" * 300, "recursion"),
    "a lone surrogate": ("{{ '\ud800' }}", ""),
}


def run(command: str, lines: list[str], tmp_path: Path) -> list[dict[str, Any]]:
    """Run a command on case lines; returns what it says of each."""
    cases = tmp_path / "cases.jsonl"
    cases.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "app.py", command, "--cases", str(cases)],
        cwd=ROOT, capture_output=True, text=True, timeout=2 * PATIENCE_S, check=False,
    )  # fmt: skip
    assert "Traceback" not in done.stderr
    assert "bug in the program" not in done.stdout
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_no_template_reads_hangs_or_fills_the_memory(tmp_path: Path) -> None:
    request: JSON = {"messages": [{"role": "user", "content": "hi"}]}
    lines = [
        json.dumps({"id": name, "request": request, "chat_template": text}) for name, (text, _) in TEMPLATES.items()
    ]
    said = {one["id"]: one for one in run("render", lines, tmp_path)}

    assert [*said] == [*TEMPLATES]
    for name, (_, words) in TEMPLATES.items():
        error = said[name]["error"]
        assert words in ("" if error is None else error["message"]), name
        assert bool(words) == (error is not None), name
        assert "root:" not in str(said[name].get("text")), name


OUTPUTS = {
    "a marker again and again": "<tool_call>" * 5_000,
    "reasoning again and again": "<think>" * 5_000,
    "calls in calls": '<tool_call>\n{"name": "f", "arguments": ' * 2_000,
    "deep arguments": '<tool_call>\n{"name": "f", "arguments": '
    + '{"a":' * 20_000
    + "1"
    + "}" * 20_000
    + "}\n</tool_call>",
    "a key twice": '<tool_call>\n{"name": "f", "name": "g", "arguments": {"a": 1, "a": 2}}\n</tool_call>',
    "not a number": '<tool_call>\n{"name": "f", "arguments": {"a": NaN, "b": Infinity}}\n</tool_call>',
    "a long number": '<tool_call>\n{"name": "f", "arguments": {"a": ' + "9" * 50_000 + "}}\n</tool_call>",
    "lone surrogates": '<tool_call>\n{"name": "\ud800", "arguments": {"\udfff": "\ud800"}}\n</tool_call>',
    "NUL": '<tool_call>\n{"name": "f\0", "arguments": {"a": "\0"}}\n</tool_call>',
    "a long name": '<tool_call>\n{"name": "' + "f" * 200_000 + '", "arguments": {}}\n</tool_call>',
    "deep Python": "[f(a=" + "(" * 20_000 + ")]",
    "signs of Python": "[f(a=" + "-" * 50_000 + "1)]",
    "a power in Python": "[f(a=9**9**9**9)]",
}
BAD_LINES = {
    '{"id": [[]], "raw": 5}': "expected str",
    "null": "not a JSON object",
    "[" * 100_000: "nested",
    '{"id": "x", "raw": "a", "token_ids": [1e999, -5]}': "list of integers",
    '{"id": "y", "raw": "a", "message": []}': "expected dict",
}


def test_no_output_hangs_the_census_and_each_bad_line_has_its_sentence(tmp_path: Path) -> None:
    lines = [json.dumps({"id": name, "raw": raw}) for name, raw in OUTPUTS.items()]
    said = run("parse", [*lines, *BAD_LINES], tmp_path)

    assert [one["error"] for one in said[: len(OUTPUTS)]] == [None] * len(OUTPUTS)
    for one, words in zip(said[len(OUTPUTS) :], BAD_LINES.values(), strict=True):
        assert words in one["error"]["message"]


def _har(sent: str, received: dict[str, JSON]) -> str:
    asked: JSON = {"method": "POST", "url": "http://x/v1/chat/completions", "postData": {"text": sent}, "headers": []}
    return json.dumps(
        {"log": {"entries": [{"request": asked, "response": {"status": 200, "headers": [], "content": received}}]}}
    )


_NINE = ["lol", *(f"lol{number}" for number in range(1, 10))]
_PACKED = base64.b64encode(gzip.compress(gzip.compress(bytes(20_000_000)))).decode()
PASTED = {
    "deep lists": "[" * 100_000 + "]" * 100_000,
    "deep objects": '{"a":' * 100_000 + "1" + "}" * 100_000,
    "open lists": '{"messages":' + "[" * 100_000,
    "a long number": f'{{"messages": [{MESSAGE}], "max_tokens": {"9" * 100_000}}}',
    "numbers that are none": f'{{"messages": [{MESSAGE}], "temperature": NaN, "top_p": Infinity, "max_tokens": 1e999}}',
    "lone surrogates": '{"messages": [{"role": "user", "content": "\\ud800 x \\udfff"}], "model": "\\udc00"}',
    "NUL": '{"messages": [{"role": "user", "content": "a\\u0000b"}], "mo\\u0000del": "x\\u0000"}',
    "keys twice": f'{{"messages": [{MESSAGE}], "messages": [], "model": "a", "model": "b"}}',
    "a long key": f'{{"messages": [{MESSAGE}], "{"k" * 200_000}": 1}}',
    "files in curl": "curl file:///etc/passwd -d @/etc/passwd -K /etc/passwd -F 'a=@/etc/passwd' -T /etc/passwd",
    "a packed answer": _har(f'{{"messages": [{MESSAGE}]}}', {"encoding": "base64", "text": _PACKED}),
    "a deep HAR": _har('{"messages":' + "[" * 100_000, {"text": "[" * 100_000}),
    "entities": "".join(f'<!ENTITY {name} "{"&x;" * 10}">' for name in _NINE) + "<tool_call>&lol9;</tool_call>",
    "aliases": "a: &a [x, x]\n"
    + "".join(f"b{n}: &b{n} [*a, *a, *a]\n" for n in range(9))
    + "services: {v: {command: *b8}}",
    "printed objects": 'ChatCompletion(id="a", choices=' + "[" * 5_000 + "]" * 5_000 + ")",
    "an index of a call": (
        'data: {"choices": [{"delta": {"tool_calls": [{"index": 999999999, "function": {"name": "f"}}]}}]}\n\n' * 300
    ),
}


@pytest.mark.parametrize("name", PASTED)
def test_a_pasted_text_is_read_or_refused_in_one_sentence(name: str) -> None:
    try:
        trace = diagnose(PASTED[name])
        said = "" if trace.verdict is None else trace.verdict.sentence
    except DebuggerError as error:
        said = error.message

    assert said
    assert "\n" not in said
    assert len(said) < 500
    assert "root:" not in said


def test_an_archive_is_not_opened(tmp_path: Path) -> None:
    archive = tmp_path / "bundle.zip"
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("../../etc/escaped", "a")
        link = zipfile.ZipInfo("link")
        link.external_attr = 0o120777 << 16
        file.writestr(link, "/etc/passwd")
    done = subprocess.run(
        [sys.executable, "app.py", "inspect", str(archive)],
        cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE_S, check=False,
    )  # fmt: skip

    assert (done.returncode, done.stdout) == (2, "")
    assert "root:" not in done.stderr
    assert "Traceback" not in done.stderr
