"""Secrets of every kind in every place of a run, and none of them in anything that is shared."""

import json
from dataclasses import fields, is_dataclass, replace
from enum import Enum

import pytest

from prompt_debugger.core.base.types import Span, Token
from prompt_debugger.core.report import read_bundle
from prompt_debugger.ui.report import link_state, share_trace
from prompt_debugger.ui.web.work import _picture
from tests.ui.report.test_document import headers_of
from tests.ui.report.test_mask import planted, strings

# Each: how it is in a text, and what of it must be nowhere.
SECRETS = {
    "openai": ("sk-proj-Zq8Zq8Zq8Zq8Zq8Zq8", "Zq8Zq8Zq8"),
    "hugging face": ("hf_Zq8Zq8Zq8Zq8Zq8Zq8Zq8", "Zq8Zq8Zq8"),
    "bearer": ("Authorization: Bearer Zq8Zq8Zq8Zq8", "Zq8Zq8Zq8"),
    "basic": ("authorization: Basic Zq8Zq8Zq8Zq8==", "Zq8Zq8Zq8"),
    "header": ("-H 'X-Api-Key: Zq8Zq8Zq8Zq8'", "Zq8Zq8Zq8"),
    "userinfo": ("https://bob:Zq8Zq8Zq8@gateway.example/v1", "Zq8Zq8Zq8"),
    "variable": ("OPENAI_API_KEY=Zq8Zq8Zq8 curl", "Zq8Zq8Zq8"),
    "quoted variable": ("export MY_TOKEN='Zq8 Zq8Zq8Zq8'", "Zq8Zq8Zq8"),
    "field": (None, "Zq8Zq8Zq8"),
}
_NOT_PLANTED = ("kind", "source", "where", "code", "format", "parsers", "format_scores")  # words of a set, no JSON


def plant(value, text):
    """Return `value` with `text` at the end of every string; `None` puts `api_key` into every object instead."""
    if value is None or isinstance(value, Enum | Span | Token | int | float | bytes | frozenset):
        return value
    if isinstance(value, str):
        return value if text is None else f"{value} {text}"
    if isinstance(value, dict):
        grown = {key: plant(item, text) for key, item in value.items()}
        is_object = text is None and all(isinstance(key, str) for key in grown)
        return {**grown, "api_key": "Zq8Zq8Zq8"} if is_object else grown
    if isinstance(value, tuple | list):
        return type(value)(plant(item, text) for item in value)
    assert is_dataclass(value)
    grown = {
        field.name: plant(getattr(value, field.name), text) for field in fields(value) if field.name not in _NOT_PLANTED
    }
    return replace(value, **grown)


def everywhere(kind):
    """Return a run with a secret of that kind, and of no other, at the end of every text of it."""
    text, _ = SECRETS[kind]
    return plant(planted(text or "Paris"), text)


@pytest.fixture(scope="module", params=SECRETS)
def shared(request):
    return SECRETS[request.param][1], share_trace(everywhere(request.param))


def holding(secret, texts):
    return [text for text in texts if secret in text]


def test_the_secrets_are_really_planted():
    for kind, (_, secret) in SECRETS.items():
        assert len(holding(secret, strings(everywhere(kind)))) > (5 if kind == "field" else 50)


def test_none_is_in_the_html_report(shared):
    secret, run = shared
    html = run.html

    assert holding(secret, [html, *strings(headers_of(html))]) == []


def test_none_is_in_what_the_picture_is_drawn_from(shared):
    secret, run = shared

    assert holding(secret, [json.dumps(_picture(run)[0])]) == []


def test_none_is_in_the_markdown(shared):
    secret, run = shared

    assert holding(secret, [run.markdown]) == []


def test_none_is_in_the_bundle_nor_between_its_tokens(shared):
    secret, run = shared
    trace = read_bundle(run.bundle).trace
    tables = [prompt.tokens for prompt in (trace.prompt, trace.local_prompt)] + [trace.raw.tokens]

    assert holding(secret, [run.bundle, *strings(trace)]) == []
    assert holding(secret, ["".join(token.text for token in tokens) for tokens in tables]) == []
    assert holding(secret, [b"".join(token.piece for token in tokens).decode() for tokens in tables]) == []


BODY = {"messages": [{"role": "user", "content": "hi"}]}
_JSON = json.dumps(BODY)


@pytest.mark.parametrize(
    "text",
    [
        f"OPENAI_API_KEY=Zq8Zq8Zq8 curl https://bob:Zq8Zq8Zq8@h/v1 -H 'api-key: Zq8Zq8Zq8' -d '{_JSON}'",
        f"curl h/v1?key=Zq8Zq8Zq8 -H 'Authorization: Bearer Zq8Zq8Zq8Zq8' -u bob:Zq8Zq8Zq8 -d '{_JSON}'",
        f"from openai import OpenAI\nOpenAI(api_key='Zq8Zq8Zq8', base_url='http://h/v1').chat.completions.create(**{BODY})",
        json.dumps({**BODY, "extra_body": {"api_key": "Zq8Zq8Zq8"}, "user": "Bearer Zq8Zq8Zq8Zq8"}, indent=3),
        json.dumps({"messages": [{"role": "user", "content": "hf_Zq8Zq8Zq8Zq8Zq8Zq8Zq8 and MY_KEY_TOKEN=Zq8Zq8Zq8"}]}),
        json.dumps({**BODY, "metadata": {"arguments": json.dumps({"password": "Zq8Zq8Zq8"})}}),
    ],
    ids=["variable, userinfo, header", "query, bearer, user", "python", "fields", "texts", "json in json"],
)
def test_none_is_in_a_link(text):
    state, _ = link_state(
        text, {"tool_parser": "hermes", "model": "sk-Zq8Zq8Zq8Zq8Zq8Zq8", "tokenizer": "/home/Zq8Zq8Zq8"}
    )

    assert "Zq8Zq8Zq8" not in json.dumps(state)
    assert "messages" in state["request"]
    assert state["tool_parser"] == "hermes"
