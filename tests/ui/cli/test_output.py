"""What a command prints of an error, beyond its sentence."""

import gzip

import pytest

from prompt_debugger.core.base.errors import RenderError, RequestError
from prompt_debugger.ui.cli.output import decoded, report_error, template_place


def test_a_failed_template_is_shown_at_its_line_with_a_caret(capsys):
    error = RenderError("It failed.", template_line=3, template_column=4, source_line="{{ broken() }}")

    assert report_error(error, as_json=False) == 2
    assert capsys.readouterr().err.splitlines()[1:] == ["  3 | {{ broken() }}", "    |    ^"]


def test_of_a_long_line_the_part_around_the_column_is_shown():
    number, caret = template_place(7, 5_001, "x" * 5_000 + "Y" + "z" * 5_000).split("\n")

    assert len(number) < 120
    assert number[caret.index("^")] == "Y"


@pytest.mark.parametrize(
    ("data", "words", "hint"),
    [
        (b"\x89PNG\r\n\x1a\n\0\xff", "is a picture (PNG), not text", "run --bundle"),
        (b"PK\x03\x04\xff", "is a zip archive, not text", "Unpack it"),
        (gzip.compress(b"{}", mtime=0), "is compressed with gzip, not text", "Unpack it"),
        (b"PNG \xff", "is not UTF-8 text (byte 4)", "Save it as UTF-8"),
    ],
)
def test_a_file_that_is_no_text_is_named_by_its_kind(data, words, hint):
    with pytest.raises(RequestError) as raised:
        decoded(data, "a")

    assert words in raised.value.message
    assert hint in raised.value.hint


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_a_file_that_powershell_wrote_is_text(encoding):
    assert decoded('\ufeff{"a": "\u00e9"}\r\n'.encode(encoding), "a") == '{"a": "\u00e9"}\r\n'


def test_a_file_with_the_mark_of_utf_16_that_is_none_is_refused():
    with pytest.raises(RequestError, match="is not UTF-8 text"):
        decoded(b"\xff\xfea", "a")
