"""Whatever is pasted is recognised and read in time that grows with it, also where it is none of what it looks like."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from contextlib import suppress

import pytest

from prompt_debugger.core.base.errors import DebuggerError
from prompt_debugger.core.evidence import read_evidence
from tests.attacks.growth import grows_linearly

pytestmark = pytest.mark.slow

MAX_PASSES = 25  # through all lines with a simple pattern
_WORD = re.compile(r"\w+: ")
_CALL = "client.chat.completions.create(model='m', messages=[{'role': 'user', 'content': "
# What a text begins with, and what goes on for ever behind it.
SHAPES = {
    "nothing but quotes": ("", '"'),
    "open objects": ("", '{"a":'),
    "deltas that are laid out": ('{"role":\n"assistant","content": null}\n', '{"content":\n"a"}\n'),
    "roles that are laid out": ("x\n", '{"role":\n"assistant","content": null}\n'),
    "numbered chunks": ('{"messages": []}\n', '// Chunk 1: a\n{"message":{"content":"a"},\n"done":false}\n'),
    "doubled braces": ("<tool_call>\n", '{{"name": "f", "arguments": {{"a": {{'),
    "half typographic strings": ('{"messages": [', '“a", '),
    "fences on one line": ("", 'a ```json {"a": 1} '),
    "lines that keep a stream open": ("", ": ping\r\n"),
    "a number and spaces": ("x\n1", " "),
    "spaces alone": ("", " "),
    "one line of marks of fences": ("", "`"),
    "closed fences on one line": ("", '```json {"a": 1} ```'),
    "open templates": ("FROM a\n", "{{- range ."),
    "fields of templates": ("FROM a\n", "{{ .Tool"),
    "open lists": ('{"messages":[', "["),
    "equal lines": ("", '{"messages": []}\n'),
    "messages": ('{"messages":[{"role":"user","content":"a"}', ',{"role":"user","content":"a"}'),
    "tools": ('{"messages":[],"tools":[{"type":"function"}', ',{"type":"function","function":{"name":"f"}}'),
    "keys of one name": ('{"messages":[]', ',"a":1'),
    "one long word": ('{"messages":[{"role":"user","content":"', "a"),
    "curl options": ("curl http://h/v1/chat/completions ", "-H 'a: b' "),
    "curl data": ("curl http://h/v1/chat/completions ", "-d a "),
    "curl lines": ("curl http://h/v1/chat/completions", " \\\n -d '{}'"),
    "curl quotes": ("curl http://h/v1/chat/completions -d '", "'\\''"),
    "curl after curl": ("", "curl http://h -d '{}'\n"),
    "answers below": ("curl http://h -d '{}'\n", "HTTP/1.1 200 OK\n\n{}\n"),
    "python strings": (_CALL, '"a" '),
    "python sums": (_CALL, "'a' + "),
    "python names": ("a0 = 'x'\n", "a = a0\n"),
    "python calls": ("", f"{_CALL}'a'}}])\n"),
    "javascript": ("client.chat.completions.create({messages: [", "{a: `b`},"),
    "javascript comments": ("client.chat.completions.create({messages: [", "/* a */"),
    "har": ('{"log":{"entries":[{}', ',{"request":{"method":"POST","url":"http://h"}}'),
    "events": ("", 'data: {"choices":[{"delta":{"content":"a"}}]}\n\n'),
    "events without an end": ("", "data: {\n"),
    "lines of ollama": ("", '{"model":"m","message":{"content":"a"},"done":false}\n'),
    "events of messages": (
        "",
        'data: {"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"a"}}\n\n',
    ),
    "blocks of messages": (
        "",
        'data: {"type":"content_block_start","index":0,"content_block":{"type":"tool_use","name":"f"}}\n\n',
    ),
    "events of responses": ("", 'data: {"type":"response.output_text.delta","output_index":0,"delta":"a"}\n\n'),
    "answers of gemini": ("[{}", ',{"candidates":[{"content":{"parts":[{"text":"a"}]}}]}'),
    "deltas": ('[{"role":"assistant"}', ',{"content":"a"}'),
    "calls on one index": (
        "",
        'data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"f"}}]}}]}\n\n',
    ),
    "a fragment": ('"tool_calls": [', '{"id": "a", '),
    "a fragment of keys": ("", '"delta": {"content": "a"}\n'),
    "dots after markup": ("<tool_call> ", "."),
    "escaped quotes after an elision": ('... delta function {"a": ', '\\"'),
    "quotes and backslashes": ("", '"\\'),
    "elisions": ('"a": ', "... "),
    "values": ("", '{"messages":\n[]}\n'),
    "an http transcript": ("", "POST /v1/chat/completions HTTP/1.1\nA: b\n\n{}\n"),
    "http headers": ("HTTP/1.1 200 OK\n", "A: b\n"),
    "chunks": ("HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n", "5\r\nabcde\r\n"),
    "comments": ('{"choices": [', "// a\n"),
    "blanks in a request": ('{"messages": [', " "),
    "blanks after an error": ("Error code: 400 - ", " "),
    "a Dockerfile": ("FROM vllm/vllm-openai\nCMD ", "["),
    "marks that go together": ("", "e\u0315\u0300"),
    "a report that begins": ("", '<script type="application/json" id="pd-bundle">"a'),
    "frames of a traceback": (
        "Traceback (most recent call last):\n",
        '  File "/usr/lib/python3/site-packages/vllm/engine.py", line 7, in run\n    self.step(request)\n',
    ),
    "lines of dots": ("", "...\n"),
    "powershell": ("Invoke-RestMethod -Uri http://h -Body '", "''"),
}


def read(text: str) -> None:
    """Read a text, whatever comes of it."""
    with suppress(DebuggerError):
        read_evidence(text)


@pytest.mark.parametrize("shape", ["frames of a traceback", "lines of dots"])
def test_megabytes_are_read_in_some_passes_over_their_lines(shape: str) -> None:
    """What is pasted gives an answer within two seconds; seconds depend on the machine, so passes are counted."""
    head, part = SHAPES[shape]
    text = head + part * (2_000_000 // len(part))
    one_pass = min(_seconds(lambda: [line for line in text.split("\n") if _WORD.search(line)]) for _ in range(3))

    assert min(_seconds(lambda: read(text)) for _ in range(3)) < MAX_PASSES * one_pass


def _seconds(run: Callable[[], object]) -> float:
    began = time.process_time()
    run()
    return time.process_time() - began


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())
def test_what_is_pasted_is_read_in_linear_time(shape: tuple[str, str]) -> None:
    head, part = shape

    assert grows_linearly(lambda size: read(head + part * size), first=1_000, tries=2, doublings=4)
