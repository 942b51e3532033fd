"""The messages that sources can raise are found with values in them, and read as a user would paste them."""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts.error_coverage import Message, Reading, main, messages_of, read_message

SOURCE = """
import logging

logger = logging.getLogger(__name__)


def check(request, temperature, top_logprobs):
    if temperature < 0:
        raise ValueError(f"temperature must be non-negative, got {temperature}.")
    if request.n > 1:
        message = "Only one answer can be made " "by this odd server"
        raise HTTPException(status_code=400, detail=message)
    logger.error("Failed to look at the request %s of the client", request.id)
    logger.info("All is well with the request of the client")
    return create_error_response(message="The model `{}` does not exist.".format(request.model))


def quiet():
    raise ValueError("short")
"""
RUST = '#[error("`top_p` must be > 0.0 and < 1.0, given {0}")]\nbail!("no more than {max} pieces fit here")'
TEMPLATE = "{% if a %}{{ raise_exception('Only odd messages are supported') }}{% endif %}"


def written(folder: Path, **files: str) -> Path:
    for name, text in files.items():
        suffix = {"rust": "rs", "template": "jinja"}.get(name, "py")
        (folder / f"{name}.{suffix}").write_text(text, encoding="utf-8")
    return folder


def test_messages_are_found_with_plausible_values_and_by_how_they_get_out(tmp_path: Path) -> None:
    found = messages_of(written(tmp_path, serve=SOURCE, rust=RUST, template=TEMPLATE))

    assert {(one.text, one.raised) for one in found} == {
        ("temperature must be non-negative, got 7.5.", "ValueError"),
        ("Only one answer can be made by this odd server", ""),
        ("Failed to look at the request some_value of the client", "log"),
        ("The model `some_value` does not exist.", ""),
        ("`top_p` must be > 0.0 and < 1.0, given some_value", ""),
        ("no more than 7 pieces fit here", ""),
        ("Only odd messages are supported", "jinja2.exceptions.TemplateError"),
    }


def test_only_files_that_the_pattern_finds_count_and_no_tests(tmp_path: Path) -> None:
    (tmp_path / "tests").mkdir()
    written(tmp_path / "tests", serve=SOURCE)

    assert messages_of(written(tmp_path, serve=SOURCE), "no such file") == []
    assert {one.place.partition(":")[0] for one in messages_of(tmp_path)} == {"serve.py"}


def test_what_a_server_raises_is_pasted_as_its_answer_but_not_what_it_raises_at_the_start(tmp_path: Path) -> None:
    written(tmp_path, serve=SOURCE, arg_utils="raise ValueError('Two of these options are too many')")
    (tmp_path / "config").mkdir()
    written(tmp_path / "config", model="raise ValueError('This length is longer than that one')")

    pastes = {one.text: one.paste for one in messages_of(tmp_path, is_body=True)}

    assert pastes["temperature must be non-negative, got 7.5."].startswith('{"error": ')
    assert pastes["This length is longer than that one"].startswith("ValueError: ")


@pytest.mark.parametrize(
    ("text", "maker", "reading"),
    [
        ("The model `a` does not exist.", "vLLM", Reading.KNOWN),
        ("The model `a` does not exist.", "SGLang", Reading.OTHER_MAKER),
        ("temperature must be non-negative, got 7.5.", "vLLM", Reading.CLASS),
        ("You must set `--enable-oddities` to send these", "vLLM", Reading.CAUSE),
        ("The moon is in the wrong quarter for this", "vLLM", Reading.UNKNOWN),
    ],
)
def test_a_reading_says_how_much_the_program_knows(text: str, maker: str, reading: Reading) -> None:
    assert read_message(Message(text, "a.py:1", ""), maker).reading is reading


def test_what_says_nothing_by_itself_is_counted_as_nothing() -> None:
    assert read_message(Message("Something was seen", "a.py:1", "log"), "").reading is Reading.NOTHING


def test_the_counts_and_the_unknown_are_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = tmp_path / "rows.tsv"
    folder = tmp_path / "sources"
    folder.mkdir()

    main([str(written(folder, serve=SOURCE)), "--maker", "vLLM", "--body", "--out", str(rows)])

    printed = capsys.readouterr().out
    assert "Only one answer can be made by this odd server" in printed
    assert printed.splitlines()[-1].startswith("4 messages: ")
    assert len(rows.read_text(encoding="utf-8").splitlines()) == 4
