"""Whatever is pasted, nothing but a `RequestError` comes out."""

import json

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.base.types import Request
from prompt_debugger.core.request import read_request
from tests.examples import examples

SEEDS = (
    '{"messages": [{"role": "user", "content": "hi"}], "tools": [{"type": "function", "function": {"name": "f"}}]}',
    'curl \'http://h:1/v1/chat/completions\' -H "Authorization: Bearer k" -d \'{"messages": [{"role": "user"}]}\'',
    'c = OpenAI(base_url="http://h/v1")\nm = [{"role": "user", "content": f"a{1}"}]\nc.chat.completions.create(messages=m)',  # noqa: E501
    "{'messages': [{'role': 'user', 'content': 'a' 'b'}], 'n': 3,}",
)
PIECES = st.sampled_from(
    ["{", "}", "[", "]", '"', "'", ",", ":", "\\", "\\u12", "\\ud83d", "\n", "$'", "`", "$(", "-d ", "curl ", "=", "(",
     "1e999", "0x", "#", "//", "/*", "“", "\ufeff", "\x00", "f'", "{x}", "**", "messages", "null", "None", "é", ";",
     "\ud800", ")"]
)  # fmt: skip
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


def read(text: str) -> Request | None:
    try:
        return read_request(text)
    except RequestError:
        return None


@settings(max_examples=examples(300), deadline=None)
@example("curl -d")
@example("[0")
@given(st.text(max_size=60) | st.lists(PIECES, max_size=30).map("".join))
def test_arbitrary_text(text: str) -> None:
    read(text)


@settings(max_examples=examples(400), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from(SEEDS), st.lists(st.tuples(st.integers(0, 200), st.integers(0, 6), PIECES), max_size=4))
def test_damaged_requests(text: str, edits: list[tuple[int, int, str]]) -> None:
    for at, removed, piece in edits:
        text = text[:at] + piece + text[at + removed :]

    read(text)


@settings(max_examples=examples(200), deadline=None)
@given(st.dictionaries(st.sampled_from(["messages", "tools", "stop", "n", "temperature", "x"]), JSON_VALUES))
def test_any_body_is_read_unchanged_or_refused(body: dict[str, object]) -> None:
    text = json.dumps(body)

    request = read(text)

    if request is not None:
        assert text == json.dumps(request.body)


@settings(max_examples=examples(200), deadline=None)
@given(st.lists(st.tuples(st.sampled_from(["user", "system"]), st.text(max_size=20)), max_size=4))
def test_one_body_in_every_form_is_the_same_body(messages: list[tuple[str, str]]) -> None:
    body = {"model": "m", "messages": [{"role": role, "content": text} for role, text in messages]}
    quoted = json.dumps(body, ensure_ascii=True).replace("'", "'\\''")

    forms = [json.dumps(body), f"curl h/v1/chat/completions -d '{quoted}'", f"payload = {body!r}"]

    assert [body] * 3 == [read_request(form).body for form in forms]


@pytest.mark.parametrize("text", SEEDS)
def test_the_seeds_are_good_requests(text: str) -> None:
    assert read_request(text).messages
