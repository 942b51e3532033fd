"""A bundle inside a report, a picture or a Markdown text is found again, and nothing else is."""

import json
import struct
import zlib

import pytest

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.report import find_bundle, html_block, markdown_fold, pack_bundle, read_bundle, unpack_bundle
from prompt_debugger.ui.report import share_trace
from tests.ui.present.traces import dropped_call_trace

LIMIT = 1_000_000


def chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def picture(*chunks: bytes) -> bytes:
    return b"".join((b"\x89PNG\r\n\x1a\n", chunk(b"IHDR", bytes(13)), *chunks, chunk(b"IEND", b"")))


@pytest.mark.parametrize("form", ["html", "markdown"])
def test_a_shared_run_contains_itself(form):
    shared = share_trace(dropped_call_trace())
    packed = find_bundle(getattr(shared, form).encode())

    trace = read_bundle(unpack_bundle(packed, LIMIT)).trace

    assert trace.verdict.sentence == shared.trace.verdict.sentence
    assert trace.request.body == shared.trace.request.body


def test_a_picture_contains_the_run():
    packed = share_trace(dropped_call_trace()).packed
    found = find_bundle(picture(chunk(b"tEXt", b"Software\0x"), chunk(b"tEXt", b"prompt-debugger\0" + packed.encode())))

    assert found == packed


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{}",
        b'{"prompt": "pd-bundle.1.H4sI."}',
        b"pd-bundle.1.H4sI",
        b"pd-bundle.1.<b>.",
        b"\xff\xfe\x00",
        picture(),
        picture(chunk(b"tEXt", b"prompt-debugger\0<script>")),
        picture(chunk(b"tEXt", b"prompt-debugger")),
        picture(chunk(b"tEXt", b"prompt-debugger\0H4sI"))[:50],
        b"\x89PNG\r\n\x1a\n" + b"\xff" * 40,
    ],
)
def test_what_contains_no_run_gives_none(data):
    assert find_bundle(data) is None


def test_the_last_of_several_counts_for_a_prompt_may_hold_one():
    fold = markdown_fold("{}", 10_000)

    assert find_bundle(b"the prompt says pd-bundle.1.FORGED. and\n" + fold.encode()) == pack_bundle("{}")


def test_a_run_too_long_for_an_issue_is_said_to_be():
    assert "attach its JSON bundle" in markdown_fold("x" * 10, 20)


def test_a_report_without_its_run_says_that_and_is_not_called_broken_json():
    shared = share_trace(dropped_call_trace())
    report = f"{shared.markdown.partition('<details>')[0]}\n{markdown_fold('x' * 10, 20)}"

    with pytest.raises(RequestError, match="Markdown report does not contain its run: the run was too long") as refused:
        read_bundle(report)

    assert refused.value.hint == "Open the JSON bundle or the HTML report of the same run."


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (markdown_fold("{}", 10_000)[:200], "in this Markdown report did not arrive completely"),
        (html_block("{}")[:60], "in this HTML report did not arrive completely"),
        (f'{{"prompt": "{markdown_fold("x", 5).strip()}', "not valid JSON: the end is missing"),
        ("a note that ends otherwise", "not valid JSON"),
    ],
)
def test_a_file_that_holds_no_whole_run_is_called_what_it_is(text, words):
    with pytest.raises(RequestError, match=words):
        read_bundle(text)


@pytest.mark.parametrize("packed", ["", "AAAA", pack_bundle("{}")[:-6], pack_bundle("x" * 5_000_000)])
def test_a_damaged_or_endless_bundle_is_refused(packed):
    with pytest.raises(RequestError):
        unpack_bundle(packed, LIMIT)


def test_no_byte_of_a_bundle_is_markup():
    block = html_block(json.dumps({"text": "</script><script>alert(1)</script>"}))

    assert block.count("<") == 2
