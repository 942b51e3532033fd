import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.report import redact_json, redact_text

# Put together at run time, so that no scanner takes this file for a leak.
SECRETS = {
    "openai": "sk-" + "proj-" + "a1B2" * 8,
    "hugging face": "hf_" + "a1B2" * 8,
    "github": "ghp_" + "a1B2" * 9,
    "aws": "AKIA" + "ABCD1234EFGH5678",
    "slack": "xoxb-" + "1234567890-abcdef",
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
    "harmless",
    [
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
