"""Curl commands: what they would send, and where; keys are not kept."""

import json

import pytest

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.request import read_request

BODY = '{"messages": [{"role": "user", "content": "hi"}]}'


@pytest.mark.parametrize(
    "command",
    [
        f"curl http://h:1/v1/chat/completions -d '{BODY}'",
        f"curl -sSd '{BODY}' h:1/v1/chat/completions",
        f"curl -X POST --url http://h:1/v1/chat/completions --json '{BODY}' | jq .",
        f"$ curl http://h:1/v1/chat/completions \\\n  -H 'Content-Type: application/json' \\\r\n  --data-raw '{BODY}'",
        "curl http://h:1/v1/chat/completions -d " + json.dumps(BODY),
        f"export A=1\n# ask\ntime curl --max-time 5 -o out http://h:1/v1/chat/completions --data='{BODY}' && echo done",
        f"curl 'http://h:1/v1/chat/completions' --compressed --data-binary $'{BODY}'",
        f"```bash\ncurl http://h:1/v1/chat/completions -d '{BODY}'\n```",
    ],
)
def test_the_ways_to_write_one_request_read_alike(command: str) -> None:
    request = read_request(command)

    assert (request.source, request.base_url, request.body) == ("curl", "http://h:1/v1", json.loads(BODY))


@pytest.mark.parametrize(
    ("quoted", "content"),
    [
        (r"""'{"messages":[{"role":"user","content":"it'\''s"}]}'""", "it's"),
        (r"""$'{"messages":[{"role":"user","content":"it\'s \u4f60 \xe5\xa5\xbd"}]}'""", "it's 你 好"),
        (r"""$'{"messages":[{"role":"user","content":"\ud83d\ude00\\n"}]}'""", "😀\n"),
        (r'''"{\"messages\":[{\"role\":\"user\",\"content\":\"\$5\"}]}"''', "$5"),
    ],
)
def test_shell_quoting_is_undone(quoted: str, content: str) -> None:
    assert content == read_request(f"curl h/v1/chat/completions -d {quoted}").messages[0]["content"]


@pytest.mark.parametrize(
    ("url", "base_url"),
    [
        ("https://h/api/v1/chat/completions", "https://h/api/v1"),
        ("https://h/api/v3/chat/completions", "https://h/api/v3"),
        ("http://h:8000/v1/completions?x=1", "http://h:8000/v1"),
        ("http://user:secret@h/v1", "http://h/v1"),
        ("http://[::1]:8000/v1/chat/completions", "http://[::1]:8000/v1"),
        ("$BASE/v1/chat/completions", None),
        ("ftp://h/v1", None),
        ("http://h:99999/v1", None),
    ],
)
def test_the_server_is_taken_up_to_v1(url: str, base_url: str | None) -> None:
    assert base_url == read_request(f"curl '{url}' -d '{BODY}'").base_url


@pytest.mark.parametrize(
    "option",
    [
        "-H 'Authorization: Bearer sk-SECRET'",
        "-H'X-Api-Key:sk-SECRET'",
        "-u me:sk-SECRET",
        "'http://me:sk-SECRET@h/v1'",
        "'http://h/v1?key=sk-SECRET'",
        "me:sk-SECRET@h:8000/v1",
        "--tlspassword SECRET",
        "--an-option-of-next-year SECRET",
    ],
)
def test_only_body_and_address_are_kept(option: str) -> None:
    """`tests/attacks` has many more; here is what the parts of a command are."""
    request = read_request(f"curl {option} h/v1/chat/completions \\\n -d '{BODY}'")

    assert "SECRET" not in repr(request)
    assert json.loads(request.text) == request.body


@pytest.mark.parametrize(
    ("words", "base_url"),
    [
        ("h/v1/chat/completions", "http://h/v1"),
        ("localhost:8000/v1", "http://localhost:8000/v1"),
        ("--new-option value https://h/v1", "https://h/v1"),
        ("--new-option value h/v1", "http://h/v1"),
        ("api.example.com", "http://api.example.com"),
        ("me:pw@h:81/v1", "http://h:81/v1"),
        ("--proxy http://proxy/v1 h/v1", "http://h/v1"),
        ("-x http://me:pw@proxy:3128 http://h/v1", "http://h/v1"),
        ("$HOST/v1/chat/completions", None),
        ("word", None),
    ],
)
def test_the_address_is_what_looks_like_one(words: str, base_url: str | None) -> None:
    assert read_request(f"curl {words} -d '{BODY}'").base_url == base_url


def test_a_field_inside_a_quoted_body_has_its_place_in_the_paste() -> None:
    body = """{"messages": [{"role": "user",\n "content": "it'\\''s", "partial": 1}]}"""
    text = f"curl h/v1/chat/completions \\\n  -d '{body}'"

    [notice] = read_request(text).notices

    assert (notice.field, notice.line, notice.column) == ("messages[0].partial", 3, 35)
    assert text.splitlines()[2][34:].startswith("1}")


def test_a_shell_variable_in_the_body_is_kept_and_told() -> None:
    request = read_request('curl h/v1/chat/completions -d "{\\"model\\": \\"$MODEL\\", \\"messages\\": []}"')

    assert request.body["model"] == "$MODEL"
    assert any("$MODEL" in notice.message for notice in request.notices)


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        ("curl h/v1/models", None, "no body"),
        ("curl h -d @body.json", (1, 11), "body.json"),
        ("curl h -d @- <<EOF\n{}\nEOF", (1, 11), "standard input"),
        ("curl h -d '{}' -d '{}'", (1, 19), "more than one"),
        ('curl h \\\n -d \'{"messages": [', (2, 5), "never closed"),
        ("curl h \\\n -d '{\"messages\": [}'", (2, 20), "JSON value"),
        ('curl h -d \'{"messages": [{"content": "what\'s up, it\'s me"}]}\'', (1, 38), "no closing quote"),
    ],
)
def test_what_cannot_be_read_is_an_error_with_its_place(text: str, place: tuple[int, int] | None, words: str) -> None:
    with pytest.raises(RequestError) as caught:
        read_request(text)

    assert words in caught.value.message
    if place is not None:
        assert place == (caught.value.line, caught.value.column)
