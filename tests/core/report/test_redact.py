import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prompt_debugger.core.report import redact_json, redact_text

# Put together at run time, so that no scanner takes this file for a leak.
SECRETS = {
    "openai": "sk-" + "proj-" + "a1B2" * 8,
    "hugging face": "hf_" + "a1B2" * 8,
    "github": "ghp_" + "a1B2" * 9,
    "aws": "AKIA" + "ABCD1234EFGH5678",
    "slack": "xoxb-" + "1234567890-abcdef",
    "google": "AIza" + "SyA1b2C3d4" * 4,
    "jwt": "eyJ" + "hbGciOiJI.eyJzdWIiOiIx.SflKxwRJSMeKKF2",
}


@pytest.mark.parametrize("secret", SECRETS.values(), ids=SECRETS.keys())
def test_planted_secrets_are_gone(secret):
    assert secret not in redact_text(f"before {secret} after")
    assert secret not in json.dumps(redact_json({"messages": [{"content": f"my key is {secret}"}]}))


def test_bearer_tokens_and_passwords_in_addresses_are_gone():
    text = redact_text("-H 'Authorization: Bearer abc123def456' http://user:hunter2@host/v1")

    assert "abc123def456" not in text
    assert "hunter2" not in text
    assert "host/v1" in text


def test_fields_with_a_secret_name_are_gone_whatever_their_value():
    assert redact_json({"api_key": "short", "Authorization": "x", "x": {"password": "y"}}) == {
        "api_key": "[removed]",
        "Authorization": "[removed]",
        "x": {"password": "[removed]"},
    }


@pytest.mark.parametrize(
    "text",
    [
        "OPENAI_API_KEY=hunter2hunter2 curl http://host/v1",
        "export HF_TOKEN='hunter2hunter2'",
        'DB_PASSWORD="hunter2hunter2"',
        "DB_PASSWORD='let me in, hunter2'",
        json.dumps({"run": 'HF_TOKEN="hunter2hunter2"'}),
        "-H 'api-key: hunter2hunter2'",
        '"X-Api-Key": "hunter2hunter2"',
        "Authorization: Basic hunter2hunter2==",
        "X-Auth-Token: hunter2hunter2",
    ],
)
def test_keys_in_variables_and_headers_are_gone(text):
    redacted = redact_text(text)

    assert "hunter2" not in redacted
    assert redacted.startswith(text[:6])


@pytest.mark.parametrize(
    "name", ["openai_api_key", "aws_secret_access_key", "client_secret", "X-Goog-Api-Key", "hf_token"]
)
def test_a_secret_field_may_carry_the_name_of_its_service(name):
    assert redact_json({name: "y"}) == {name: "[removed]"}


@pytest.mark.parametrize(
    "name", ["bos_token", "token", "max_tokens", "key", "tool_choice", "secretary", "cookie_recipe"]
)
def test_a_field_that_only_sounds_secret_is_left_alone(name):
    assert redact_json({name: "y"}) == {name: "y"}


@pytest.mark.parametrize(
    "harmless",
    [
        "BOS_TOKEN=begin-of-text",
        "export OPENAI_API_KEY=$MY_KEY",
        "the api-key: required, a string",
        "TOKENS=1024tokens",
        "Authorization: see chapter",
        "sk-learn is a library",
        "the token hf_x",
        "a bearer of news",
        "http://host:8000/v1",
        "skeleton-key",
        "max_tokens",
    ],
)
def test_ordinary_prose_is_left_alone(harmless):
    assert redact_text(harmless) == harmless


@given(
    st.recursive(
        st.none() | st.booleans() | st.text(max_size=20), lambda x: st.lists(x) | st.dictionaries(st.text(), x)
    )
)
def test_redaction_is_idempotent_and_keeps_the_shape(value):
    once = redact_json(value)

    assert redact_json(once) == once
    json.dumps(once)
