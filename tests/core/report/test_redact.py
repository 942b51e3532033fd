import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prompt_debugger.core.report import redact_json, redact_text
from prompt_debugger.core.report.redact import replace_secrets

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

_A = "Ab3dEf6hIj9kLm2nOp5qRs8tUv1wXy4z"
_HEX = "0123456789abcdef" * 2
_BEGIN, _KEY = "-----BEGIN ", "PRIVATE KEY-----"
SHAPES = {
    "anthropic": f"sk-ant-api03-{_A * 3}-AA",
    "openrouter": f"sk-or-v1-{_HEX * 2}",
    "stripe": f"sk_live_{_A[:24]}",
    "hub organisation": f"api_org_{_A}",
    "google token": f"ya29.a0{_A}{_A}",
    "google secret": f"GOCSPX-{_A[:28]}",
    "aws session": "ASIA" + "ABCD1234EFGH5678",
    "aws file": f"aws_secret_access_key = {_A}/{_A[:7]}",
    "bedrock": f"ABSK{_A * 3}",
    "azure": f"{(_A * 2)[:52]}JQQJ99BBACYeBjFXJ3w3AAABACOGabcd",
    "azure header": f"Ocp-Apim-Subscription-Key: {_HEX}",
    "azure account": f"AccountName=x;AccountKey={_A}{_A}==;EndpointSuffix=core.windows.net",
    "azure signature": f"https://x.blob.core.windows.net/c/b?sv=2020&sig={_A}%3D&se=2030",
    "groq": f"gsk_{_A}{_A[:20]}",
    "xai": f"xai-{_A}{_A}",
    "nvidia": f"nvapi-{_A}{_A}",
    "replicate": f"r8_{_A}{_A[:5]}",
    "together": f"tgp_v1_{_A}",
    "perplexity": f"pplx-{_A}",
    "cerebras": f"csk-{_A}",
    "github user": f"ghu_{_A}abcd",
    "gitlab": f"glpat-{_A[:20]}",
    "npm": f"npm_{_A}abcd",
    "pypi": f"pypi-AgEIcHlwaS5vcmc{_A}",
    "sendgrid": f"SG.{_A[:22]}.{_A}",
    "telegram": f"https://api.telegram.org/bot123456789:AAH{_A}/sendMessage",
    "slack": f"https://hooks.slack.com/services/T00000000/B00000000/{_A[:24]}",
    "databricks": f"dapi{_HEX}",
    "unsigned token": f"eyJhbGciOiJub25lIn0.eyJzdWIiOiIxMjM0{_A}.",
    "encrypted token": f"eyJhbGciOiJSU0EtT0FFUCJ9.{_A}.{_A[:16]}.{_A}.{_A[:22]}",
    "bearer": f"AUTHORIZATION: BEARER {_A}",
    "scheme": f"Authorization: Token {_A}",
    "header in JSON": json.dumps({"headers": {"Authorization": f"Token {_A}"}}),
    "header in JSON in JSON": json.dumps(json.dumps({"Authorization": f"Token {_A}"})),
    "basic": "Authorization: Basic Ab3dEfhIjkLmnOpqRstUvwXyz==",
    "header of amazon": f"X-Amz-Security-Token: {_A}",
    "query of amazon": f"?X-Amz-Signature={_HEX}&x=1",
    "cookie": f"Cookie: session={_A}; csrftoken={_A}",
    "header of cloudflare": f"CF-Access-Client-Secret: {_A}",
    "token alone in an address": f"https://{_A}@github.com/x",
    "password alone in an address": f"redis://:{_A}@h:6379/0",
    "query": f"https://h/v1?key={_A}",
    "path": f"https://gateway.example/v1/{_A}/openai",
    "private key": f"{_BEGIN}RSA {_KEY}\nMIIEpAIBAAKCAQEA{_A}\n{_A}{_A}\n{_A[:9]}\n-----END RSA {_KEY}",
    "quoted private key": f"{_BEGIN}{_KEY}\\nMIIEvQ{_A}\\n{_A}\\n-----END {_KEY}\\n",
    "private key that was cut": f"{_BEGIN}EC {_KEY}\nMHcCAQEE{_A}",
    "block": f"{_BEGIN}PGP PRIVATE KEY BLOCK-----\n\nlQOYBF{_A}\n{_A[:9]}\n=ab12\n-----END PGP",
    "cmd": f'setx OPENAI_API_KEY "{_A}"',
    "powershell": f'$env:OPENAI_API_KEY = "{_A}"',
    "fish": f"set -x OPENAI_API_KEY {_A}",
    "yaml": f"openai_api_key: {_A}",
    "python": f'os.environ["OPENAI_API_KEY"] = "{_A}"',
    "argument": f"OpenAI(api_key='{_A}')",
    "javascript": f'apiKey: "{_A}"',
    "json": json.dumps({"api_key": _A}),
    "json in json": json.dumps(json.dumps({"api_key": _A})),
    "option": f"vllm serve m --api-key {_A}",
    "user": f"curl -u me:{_A} https://h",
    "netrc": f"machine h login me password {_A}",
}


@pytest.mark.parametrize("text", SHAPES.values(), ids=SHAPES.keys())
def test_secrets_of_these_shapes_are_gone(text):
    covered = replace_secrets(text, lambda secret: "\u2022" * len(secret))

    for shown in (redact_text(text), covered):
        assert not [part for part in (_A[:9], _HEX[:16], "ABCD1234", "OpqRst", "YeBjFX") if part in shown]
    assert len(covered) == len(text)
    assert redact_text(covered) == covered


@pytest.mark.parametrize("text", SHAPES.values(), ids=SHAPES.keys())
def test_text_keeps_its_quotes_and_what_is_after_it(text):
    """What was JSON, code or a command is still: no quote goes, no escape is cut in two."""
    around = json.dumps({"a": f"{text} and 'more'", "b": "x"})

    shown = json.loads(redact_text(around))

    assert shown["a"].endswith(" and 'more'")
    assert shown["b"] == "x"


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
        "password: required, at least 8 characters",
        "api_key: str = Field(min_length=8, max_length=128)",
        'api_key=os.environ["KEY_NUMBER_1"]',
        "api_key = ${OPENAI_KEY_1234}",
        "the password12345678 itself",
        "ssh://git@github.com/a/b",
        "docker run -u 1000:100000 image",
        "https://huggingface.co/Qwen/Qwen2.5-Coder-32B-Instruct-AWQ/blob/main",
        "https://github.com/a/b/commit/0123456789abcdef0123456789abcdef01234567",
        "eos_token: <|im_end|>, token: 151643",
        "Authorization: Basic authentication",
        "-----BEGIN PUBLIC KEY-----\nMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8A\n-----END PUBLIC KEY-----",
        "the cookie: recipe = flour",
        "npm_config_registry and npm_package_json_of_this",
    ],
)
def test_ordinary_prose_is_left_alone(harmless):
    assert redact_text(harmless) == harmless


@pytest.mark.slow
@given(
    st.recursive(
        st.none() | st.booleans() | st.text(max_size=20), lambda x: st.lists(x) | st.dictionaries(st.text(), x)
    )
)
def test_redaction_is_idempotent_and_keeps_the_shape(value):
    once = redact_json(value)

    assert redact_json(once) == once
    json.dumps(once)


def test_a_name_and_its_value_may_stand_in_two_fields_or_in_a_list():
    drawn = "q7Zt9Kx2Wm4Vb8Nc3Rj6"
    value = [{"name": "X-Api-Key", "value": "short"}, ["x-api-key", drawn], ["api_key", "city"], {"name": "a"}]

    assert redact_json(value) == [
        {"name": "X-Api-Key", "value": "[removed]"},
        ["x-api-key", "[removed]"],
        ["api_key", "city"],
        {"name": "a"},
    ]
