"""JSON as people paste it."""

import json
import math

import pytest

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.request import MAX_CHARS, body_text, read_request

BODY = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}


def fail(text: str) -> RequestError:
    with pytest.raises(RequestError) as caught:
        read_request(text)
    return caught.value


def said(text: str) -> dict[str, str]:
    return {notice.field: notice.message for notice in read_request(text).notices}


def test_plain_json_is_kept_whole_and_nothing_is_reported() -> None:
    text = json.dumps(BODY, indent=2)

    request = read_request(text)

    assert request.body == BODY
    assert (request.source, request.text, request.base_url, request.notices) == ("json", text, None, ())


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ('{"messages": [{"role": "user", "content": "hi"},],}', "comma"),
        ('{"messages": [{"role": "user", "content": "hi"}] // end\n}', "comment"),
        ('{/* a */ "messages": [{"role": "user", "content": "hi"}]}', "comment"),
        ("{'messages': [{'role': 'user', 'content': 'hi'}], 'stream': false}", "Single quotes"),
        ("{“messages”: [{“role”: “user”, “content”: “hi”}]}", "Typographic quotes"),
        ('{messages: [{role: "user", content: "hi"}]}', "key without quotes"),
        ('{"messages": [{"role": "user", "content": "hi"}], "stream": False, "x": null}', "Python"),
        ('{"messages": [{"role": "user", "content": "a\nb"}]}', "line break"),
        ('{"messages": [{"role": "user", "content": "hi"}], "temperature": NaN}', "NaN"),
        ('{"messages": [{"role": "user", "content": "hi"}], "temperature": 1e999}', "Infinity"),
        ('\ufeff{"messages": [{"role": "user", "content": "hi"}]}', "byte order mark"),
        ('```json\n{"messages": [{"role": "user", "content": "hi"}]}\n```', "code fence"),
    ],
)
def test_a_slip_is_repaired_and_told(text: str, word: str) -> None:
    request = read_request(text)

    assert request.messages[0]["role"] == "user"
    assert any(word in notice.message for notice in request.notices), request.notices


def test_a_key_that_occurs_twice_is_reported_and_the_last_one_counts() -> None:
    text = '{"messages": [{"role": "user", "content": "a",\n "content": "b"}]}'

    request = read_request(text)

    assert request.messages[0]["content"] == "b"
    [notice] = request.notices
    assert (notice.field, notice.line, notice.column) == ("messages[0].content", 2, 2)


def test_infinity_and_nan_are_kept() -> None:
    body = read_request('{"messages": [], "temperature": -Infinity, "top_p": NaN}').body

    assert body["temperature"] == -math.inf
    assert isinstance(body["top_p"], float)
    assert math.isnan(body["top_p"])


@pytest.mark.parametrize(
    ("text", "place", "field", "words"),
    [
        ('{"messages": [{"role": "user" "content": "x"}]}', (1, 31), "messages[0]", "`,` or `}`"),
        ('{"messages": [\n  {"role": "user"', (2, 18), "messages[0]", "closing `}`"),
        ('{"messages": [{"role": "user", "content": "x]}', (1, 43), "messages[0].content", "closing quote"),
        ('{"messages" [1]}', (1, 13), None, "`:`"),
        ('{"messages": [], "n": tru}', (1, 23), "n", "'tru'"),
        ('{"messages": [], "a": "\\q"}', (1, 24), "a", "backslash"),
        ('{"messages": []} {}', (1, 18), None, "Text follows"),
        ('{"messages": [{"content": "\\ud83d"}]}', (1, 27), "messages[0].content", "surrogate"),
        ('{"messages": [], "n": ' + "9" * 5000 + "}", (1, 23), "n", "5000 digits"),
        ("[" * 150, (1, 101), None, "nested"),
        ("hello", (1, 1), None, "has no supported form"),
        ('"hello"', (1, 1), None, "has no supported form"),
    ],
)
def test_what_cannot_be_read_is_an_error_with_its_place(
    text: str, place: tuple[int, int], field: str | None, words: str
) -> None:
    error = fail(text)

    assert ((error.line, error.column), words in error.message) == (place, True), error.to_json()
    if field is not None:
        assert field == error.field


def test_the_bracket_that_stayed_open_is_named_in_the_hint() -> None:
    assert "line 1, column 14" in fail('{"messages": [\n1').hint


@pytest.mark.parametrize("text", ["x" * 5_000_000, "{" * 5_000_000, '{"messages": ["' + "a" * MAX_CHARS])
def test_text_beyond_the_limit_is_refused_by_name_of_the_limit(text: str) -> None:
    assert f"{MAX_CHARS:,}" in fail(text).message


@pytest.mark.parametrize(
    "text",
    ["{" * 1_999_999, "[1," * 600_000, "'" * 1_999_999, "/*" * 900_000, '{"a":' * 300_000, "\n" * 1_900_000 + "{"],
)
def test_much_garbage_within_the_limit_is_one_error(text: str) -> None:
    assert fail(text).message


@pytest.mark.parametrize("text", ["", " \n", "\ufeff"])
def test_nothing_is_an_error(text: str) -> None:
    assert fail(text).message == "Nothing was pasted."


def test_a_case_with_a_request_in_it_is_for_that_request() -> None:
    text = '{"id": "a",\n "request": {"messages": [{"role": "nobody", "content": "x"}]}, "chat_template": "…"}'

    request = read_request(text)

    assert request.body == {"messages": [{"role": "nobody", "content": "x"}]}
    assert "`id`, `chat_template`" in request.notices[0].message
    notice = request.notices[1]
    assert (notice.field, notice.line, notice.column) == ("messages[0].role", 2, 36)


def test_an_error_inside_a_case_has_the_field_of_the_body_and_the_place_in_the_paste() -> None:
    error = fail('{"request": {"messages": [\n{"role": "user", "content": 3}]}}')

    assert (error.field, error.line, error.column) == ("messages[0].content", 2, 29)


def test_a_bare_list_of_messages_is_read_as_messages() -> None:
    request = read_request('[{"role": "user", "content": "hi"},\n {"role": "me"}]')

    assert len(request.messages) == 2
    assert [notice.line for notice in request.notices] == [None, 2]


def test_unknown_fields_are_kept_and_told() -> None:
    text = '{"messages": [], "enable_thinking": false, "temprature": 1, "extra_body": {"a": 1}}'

    shown = said(text)

    assert set(read_request(text).body) == {"messages", "enable_thinking", "temprature", "extra_body"}
    assert "chat_template_kwargs" in shown["enable_thinking"]
    assert "`temperature`" in shown["temprature"]
    assert "openai client" in shown["extra_body"]


@pytest.mark.parametrize(
    "text",
    [
        '{"messages": []} // SECRET',
        '# SECRET\n{"messages": []}',
        '{"headers": {"x": "SECRET"}, "request": {"messages": []}}',
        '{"user": "SECRET", "messages": [], "user": "me"}',
        '[{"role": "user", "content": "hi"}] // SECRET',
    ],
)
def test_of_what_is_not_just_the_body_only_the_body_is_kept(text: str) -> None:
    request = read_request(text)

    assert "SECRET" not in repr(request).replace("`headers`", "")
    assert json.loads(request.text) == request.body


def test_half_a_surrogate_stays_an_escape_in_what_is_shown() -> None:
    """A bundle may bring one; no file could hold it otherwise."""
    assert body_text({"user": "\ud800"}).isascii()
    assert json.loads(body_text({"user": "\ud800"})) == {"user": "\ud800"}
    assert "é" in body_text({"user": "é"})
