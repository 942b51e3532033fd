"""Errors that quote what the model wrote: which text, whether all of it, and where its JSON breaks."""

from __future__ import annotations

import pytest

from prompt_debugger.core.known_errors import JsonBreak, Quoted, json_break, quoted_output
from tests.attacks.growth import grows_linearly

CASES = {
    "Ollama": (
        "error parsing tool call: raw='{\"a\": 'b'}]', err=invalid character",
        Quoted("{\"a\": 'b'}]", is_arguments=True, why="invalid character"),
    ),
    "Ollama, cut": ("error parsing tool call: raw='{\"a\"'", Quoted('{"a"', is_arguments=True)),
    "llama.cpp": ("Failed to parse input at pos 7: <x>\nmore", Quoted("<x>\nmore", skipped=7, at=0)),
    "llama.cpp from the beginning": ("Failed to parse input at pos 0: <x>", Quoted("<x>", at=0)),
    "llama.cpp's log": (
        "W common_chat_peg_parse: unparsed peg-native output: <x>\nllama-1  | 13.50.918.090 I srv  idle",
        Quoted("<x>"),
    ),
    "LM Studio's log": (
        'Failed to parse tool call: Unexpected end. \nModel Output:  {"a":\n2025-08-28 01:22:58  [INFO]\n bye',
        Quoted('{"a":', why="Unexpected end"),
    ),
    "pydantic": (
        "Invalid JSON: expected value at line 1 column 3 [type=json_invalid, input_value='<x>\\n', input_type=str]",
        Quoted("<x>\n", why="expected value at line 1 column 3", at=2),
    ),
    "pydantic, elided": (
        "Invalid JSON: EOF [type=json_invalid, input_value='<x>...<y>', input_type=str]",
        Quoted("<x>...<y>", is_elided=True, why="EOF"),
    ),
    "pydantic, no text": (
        "Invalid JSON: EOF [type=json_invalid, input_value=bytearray(b'x'), input_type=bytes]",
        Quoted("bytearray(b'x')", why="EOF"),
    ),
    "mlx-lm": ('Could not parse tool call from: {"name"', Quoted('{"name"')),
    "Gemini": ("Malformed function call: print(f())", Quoted("print(f())")),
    "Anthropic's client": (
        'Unable to parse tool parameter JSON from model. Retry. Error: EOF JSON: {"a"',
        Quoted('{"a"', is_arguments=True, why="EOF"),
    ),
    "LangChain of JavaScript": (
        'Failed to parse. Text: "{"a": "b". Error: SyntaxError: Unterminated string in JSON',
        Quoted('{"a": "b', why="SyntaxError: Unterminated string in JSON", at=0),
    ),
    "LangChain of JavaScript, prose": (
        'Failed to parse. Text: "I look.". Error: SyntaxError: Unexpected token I',
        Quoted("I look.", why="SyntaxError: Unexpected token I"),
    ),
    "LangChain": ('Function f arguments:\n\n{"a"\n\nare not valid JSON.', Quoted('{"a"', is_arguments=True)),
}


@pytest.mark.parametrize(("message", "quoted"), CASES.values(), ids=CASES.keys())
def test_the_quoted_text_is_read(message: str, quoted: Quoted) -> None:
    assert quoted_output(message) == quoted


@pytest.mark.parametrize(
    "message",
    ["bad request", "error parsing tool call: raw='', err=x", "Failed to parse tool call: no output is shown",
     "Unable to parse tool parameter JSON from model.", "Function f arguments: {", "Invalid JSON: EOF"],
)  # fmt: skip
def test_an_error_that_quotes_nothing_gives_nothing(message: str) -> None:
    assert quoted_output(message) is None


def test_what_is_next_to_the_words_wins() -> None:
    assert quoted_output("Malformed function call: a", "b") == Quoted("b")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('{"a": 1}', None),
        ('{"a": 1}]', JsonBreak(8, "`]` follows the end of the JSON")),
        ('{"a": 1} and then it goes on', JsonBreak(9, "`and then it goes on` follows the end of the JSON")),
        ('{"a": 1', JsonBreak(7, "the text ends while the JSON is still open")),
        ('{"a": "b', JsonBreak(8, "the text ends while the JSON is still open")),
        ("{'a': 1}", JsonBreak(1, "`'` is not allowed there (expecting property name enclosed in double quotes)")),
        ("[" * 100_000, JsonBreak(0, "it cannot be decoded")),
    ],
)  # fmt: skip
def test_where_json_breaks(text: str, found: JsonBreak | None) -> None:
    assert json_break(text) == found


@pytest.mark.slow
@pytest.mark.parametrize("part", [
    "error parsing tool call: raw='", "', err=", "Failed to parse input at pos 1: ", "unparsed a output: ",
    "\n1.00.000.000 ", "Invalid JSON: a[type=json_invalid, input_value=", "Function f arguments: ",
    " Error:  JSON: ", "Model Output:",
])  # fmt: skip
def test_quotes_are_searched_in_linear_time(part: str) -> None:
    head = "Failed to parse tool call: Unable to parse tool parameter JSON from model."

    assert grows_linearly(lambda size: quoted_output(head + part * size), first=500, tries=2, doublings=5)
