"""Colours come on a terminal alone, change no character, and are told from white and from black."""

import io
import json
import re

import pytest

from prompt_debugger.ui.cli.output import MAX_COLOURED_CHARS, PlainStyle, coloured_json, print_json, wants_colour

DOCUMENT = {"name": "get_weather", "n": [1, 2.5, None, True], "text": 'a "quoted"\n\u001b[31m \ud800'}
ESCAPES = re.compile(r"\x1b\[[0-9;]*m")


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture(autouse=True)
def environment(monkeypatch):
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")


def printed(monkeypatch, stream, document=DOCUMENT):
    monkeypatch.setattr("sys.stdout", stream)
    print_json(document)
    return stream.getvalue()


def test_a_terminal_shows_the_same_document_in_colours(monkeypatch):
    shown = printed(monkeypatch, Terminal())

    assert len(set(ESCAPES.findall(shown))) > 4
    assert ESCAPES.sub("", shown) == json.dumps(DOCUMENT) + "\n"


def test_a_pipe_gets_the_document_alone(monkeypatch):
    assert printed(monkeypatch, io.StringIO()) == json.dumps(DOCUMENT) + "\n"


@pytest.mark.parametrize(("name", "value"), [("NO_COLOR", "1"), ("TERM", "dumb")])
def test_who_wants_no_colour_gets_none(monkeypatch, name, value):
    monkeypatch.setenv(name, value)

    assert "\x1b" not in printed(monkeypatch, Terminal())


def test_an_empty_no_color_forbids_nothing():
    assert wants_colour(Terminal(), {"NO_COLOR": ""})
    assert not wants_colour(io.StringIO(), {})


def test_what_no_person_reads_stays_plain():
    text = json.dumps("x" * MAX_COLOURED_CHARS)

    assert coloured_json(text, Terminal()) == text


def luminance(colour):
    parts = [int(colour[place : place + 2], 16) / 255 for place in (0, 2, 4)]
    red, green, blue = (part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_every_colour_is_distinguished_from_white_and_from_black():
    colours = {style["color"] for _, style in PlainStyle if style["color"]}

    assert len(colours) >= 5
    assert all(1.05 / (luminance(one) + 0.05) >= 4.5 <= (luminance(one) + 0.05) / 0.05 for one in colours)
