"""Keys of more vendors, beside their name in any notation, and inside codes; all made up."""

from __future__ import annotations

import json
import textwrap
from base64 import b64encode, urlsafe_b64encode
from urllib.parse import quote

from tests.core.report.odd_secrets import DRAWN, HEX, KEY, TOKEN

WORDS = "correcthorse" + "battery"  # as a person chooses it


def _coded(text: str) -> str:
    return b64encode(text.encode()).decode()


_PEM = f"-----BEGIN PRIVATE KEY-----\n{DRAWN * 4}\n-----END PRIVATE KEY-----\n"
CODED = {
    "key in base64": _coded(KEY),
    "header in base64": _coded(f"Authorization: Bearer {DRAWN}"),
    "settings in base64": _coded(f"OPENAI_API_KEY={DRAWN}\nX=1\n"),
    "JSON in base64": _coded(json.dumps({"api_key": DRAWN})),
    "PEM in base64 over lines": "\n".join(textwrap.wrap(_coded(_PEM), 64)),
    "key in base64 for addresses": urlsafe_b64encode(KEY.encode()).decode().rstrip("="),
    "key in hex": KEY.encode().hex(),
    "key in hex escapes": "".join(f"\\x{ord(character):02x}" for character in KEY),
    "key in JSON's escapes": "".join(f"\\u{ord(character):04x}" for character in KEY),
    "field in JSON's escapes": '"api_key": "' + "".join(f"\\u{ord(character):04x}" for character in DRAWN) + '"',
    "key in HTML's escapes": "".join(f"&#x{ord(character):x};" for character in KEY),
    "key with spaces between": " ".join(KEY),
    "setting of WireGuard": f"PrivateKey = {_coded(DRAWN)[:43]}=",
    "signature of a storage": f"https://x.blob.example/c/f?sv=2022-11-02&sig={quote(_coded(DRAWN))}",
    "Fly": f"fm2_{_coded(DRAWN + DRAWN)}",
}
_MIDDLES = tuple(text[len(text) // 3 : 2 * len(text) // 3] for text in CODED.values())

PLACED = {
    # Between a name and its value.
    "a declared type": f'let apiKey: String = "{DRAWN}"',
    "a tag of YAML": f"api_key: !unsafe '{DRAWN}'",
    "the default of a variable": f'variable "api_key" {{ default = "{DRAWN}" }}',
    "a class of keys": f'new ApiKeyCredential("{DRAWN}")',
    "a class of secrets": f"SecretStr('{DRAWN}')",
    "HTTPie": f"http -A bearer -a {DRAWN} :8000/v1/models",
    # Vendors.
    "Notion": f"secret_{DRAWN}{DRAWN[:12]}",
    "Square": f"EAAA{DRAWN}{DRAWN}",
    "Discord": f"MTE5{DRAWN[:20]}.G{DRAWN[:5]}.{DRAWN}{DRAWN[:7]}",
    "Terraform": f"{DRAWN[:14]}.atlasv1.{DRAWN}{DRAWN}",
    "Netlify": f"nfp_{DRAWN}{DRAWN[:9]}",
    "Asana": f"1/1200000000000000:{HEX[:32]}",
    "Dropbox": f"sl.{DRAWN * 5}",
    "Heroku": f"HRKU-{DRAWN}{DRAWN[:20]}",
    "Airtable": f"pat{DRAWN[:14]}.{HEX}{HEX[:24]}",
    "PlanetScale": f"pscale_tkn_{DRAWN}{DRAWN[:12]}",
    "Prefect": f"pnu_{DRAWN}{DRAWN[:5]}",
    "Nomic": f"nk-{DRAWN}{DRAWN[:12]}",
    "Modal": f"ak-{DRAWN[:22]} as-{DRAWN[:22]}",
    "Zhipu": f"{HEX[:32]}.{DRAWN[:16]}",
    "a token of nobody known": f"acme_tok_{DRAWN}",
    "bcrypt": f"$2b$12${DRAWN}{DRAWN[:22]}",
    "shadow": f"root:$6$saltsalt${DRAWN}{DRAWN}:19000:0:99999:7:::",
    # Characters and code.
    "hyphens in JSON's escapes": KEY.replace("-", "\\u002d"),
    "hyphens in HTML's escapes": KEY.replace("-", "&#45;"),
    "setting in HTML": f"{{&quot;api_key&quot;: &quot;{DRAWN}&quot;}}",
    "JSON three times": json.dumps(json.dumps(json.dumps({"api_key": DRAWN}))),
    "percent twice": quote(quote(f"api_key={DRAWN}&x")),
    "percent JSON": quote(json.dumps({"api_key": DRAWN})),
    "quoted-printable": f"api_key=3D{DRAWN[:20]}=\n{DRAWN[20:]}",
    "emphasis": f"sk-proj-**{DRAWN}**",
    "colours": f"sk-proj-\x1b[31m{DRAWN[:10]}\x1b[0m{DRAWN[10:]}",
    # Beside the name.
    "pair of a HAR": json.dumps({"name": "x-api-key", "value": DRAWN}),
    "pair with a scheme": json.dumps({"name": "Authorization", "value": f"Token {DRAWN}"}, indent=2),
    "pair of a cookie": json.dumps({"name": "session", "value": DRAWN, "httpOnly": True}),
    "list of headers": json.dumps([["authorization", f"Bearer {DRAWN}"], ["x-api-key", DRAWN]]),
    "headers as bytes": f"[(b'authorization', b'Bearer {DRAWN}'), (b'x-api-key', b'{DRAWN}')]",
    "headers of Go": f"map[Authorization:[Bearer {DRAWN}] X-Api-Key:[{DRAWN}]]",
    "YAML block": f"api_key: |\n  {DRAWN}\n",
    "YAML folded": f"openai_api_key: >-\n    {DRAWN}\n",
    "YAML environment": f"env:\n  - name: OPENAI_API_KEY\n    value: {DRAWN}\n",
    "YAML environment, a word": f'- name: DB_PASSWORD\n  value: "{WORDS}"\n',
    "JSON environment": json.dumps({"name": "HF_TOKEN", "value": DRAWN}),
    "TOML": f"[auth]\ntoken = '{DRAWN}'",
    "kubeconfig": f"  user:\n    token: {DRAWN}\n",
    "Dockerfile": f"ENV OPENAI_API_KEY {DRAWN}",
    "PowerShell": f"[Environment]::SetEnvironmentVariable('OPENAI_API_KEY', '{DRAWN}', 'User')",
    "mask of a workflow": f"::add-mask::{WORDS}",
    "keyword": f"Client(token='{DRAWN}', api_secret=\"{DRAWN}\")",
    "XML": f"<apiKey>{DRAWN}</apiKey><password>{WORDS}</password>",
    "XML attribute": f'<add key="ApiKey" value="{DRAWN}" />',
    "HTML form": f'<input type="password" name="p" value="{WORDS}">',
    "Markdown table": f"| OPENAI_API_KEY | {DRAWN} |",
    "Markdown code": f"**API key:** `{DRAWN}`",
    "sentence": f"my api key is {DRAWN}, please",
    "sentence with a password": f"the password is {DRAWN}.",
    "log": f'level=info token="{DRAWN}" x=1',
    "libpq": f"host=db user=me password={WORDS} dbname=x",
    "libpq in quotes": f"host=db user=me password='{WORDS} {DRAWN}' dbname=x",
    "aws configure": f"aws configure set aws_secret_access_key {DRAWN}+{DRAWN[:8]}",
    "gh secret": f"gh secret set API_KEY --body '{DRAWN}'",
    "protocol of a socket": f"Sec-WebSocket-Protocol: realtime, openai-insecure-api-key.{DRAWN}",
    "Negotiate": f"WWW-Authenticate: Negotiate YII{DRAWN}{DRAWN}",
    "cookies of curl": f"example.com\tTRUE\t/\tTRUE\t1790000000\tsessionid\t{DRAWN}",
    "cookies of Python": f"cookies={{'sessionid': '{DRAWN}'}}",
    "JWK": json.dumps({"kty": "EC", "crv": "P-256", "d": DRAWN + DRAWN[:12], "x": "abc"}),
    "PuTTY": f"PuTTY-User-Key-File-3: ssh-ed25519\nPrivate-Lines: 1\n{DRAWN}{DRAWN}\nPrivate-MAC: 0",
    "token in git's address": f"git clone https://user:{TOKEN}@h.example/org/model",
    "mongodb": f"mongodb+srv://app:{WORDS}@cluster0.abcde.mongodb.net/?retryWrites=true",
    "service bus": f"Endpoint=sb://x.example/;SharedAccessKeyName=Root;SharedAccessKey={DRAWN}{DRAWN[:12]}=",
    "fragment": f"https://app.example/cb#access_token={DRAWN}&token_type=bearer",
    **CODED,
}

NEAR = (
    'let apiKey: String = load("OPENAI_API_KEY_OF_THE_TESTS")',
    'variable "instance_count" { default = "three-instances-of-it" }',
    'new KeyBinding("Control-Shift-Alternate-1"), TokenCounter("cl100k_base_of_the_tests")',
    "ls -A basic -a directory_of_the_tests_0123",
    "call_a1B2c3D4e5F6g7H8i9J0k1L2, toolu_01A09q90qw90lq917835lq9K, msg_01XFDUDYJgAACzvnptvVoYEL",
    "chatcmpl-BN7a8Wq2ZtC3dE4fG5hI6jK7lM8n, resp_68af4030592c81938ec0a5fbab4a3e9f05438e46b5f69a3b",
    "chatcmpl-tool-3f9a1c7e5b2d80463f9a1c7e5b2d8046, cmpl-9c1f3f9a1c7e5b2d8046",
    "model: meta-llama/Llama-3.3-70B-Instruct-FP8-dynamic, Qwen2.5-Coder-32B-Instruct-AWQ, gpt-4o-2024-08-06",
    "sha256:3f9a1c7e5b2d80463f9a1c7e5b2d80469e1d4c7a3f9a1c7e5b2d80463f9a1c7e, revision " + HEX,
    "system_fingerprint: fp_44709d6fcb, trace_id: 4bf92f3577b34da6a3ce929d0e0e4736, span_id: 00f067aa0ba902b7",
    "prompt_tokens: 15043234, completion_tokens=12345678, max_tokens | 12345678 |, token ids [151644, 8948, 198]",
    "the token `<|tool_call_argument_begin|>` and the session is over; the secret is patience",
    "session_id: 550e8400-e29b-41d4, the access token is read from OPENAI_API_KEY",
    json.dumps({"required": ["api_key", "city"], "properties": {"password": {"type": "string"}}}),
    json.dumps({"name": "unit", "value": "celsius2024degrees"}),
    json.dumps({"token": "\u0120get_weather", "logprob": -0.25, "bytes": [103, 101]}),
    "| API key | required | the model Qwen2.5-Coder-32B-Instruct |",
    _coded("The quick brown fox jumps over the lazy dog, twice, and again."),
    b"hello world, what is the weather in Paris?".hex(),
    "password is required; the password is case sensitive; secret is optional since 2024",
    "a b c d e f g h i j k l m n o p q r s t u v w x y z 1 2 3 4 5 6",
    "<apiKey>$API_KEY</apiKey> <token>Paris2024</token> and host=db user=me port=5432",
    "kty is a field; 'd': 12, \"p\": 0.95, \"k\": 40, top_p",
    "tok_embeddings.weight, token_type_ids, pat_1, patch_embed.proj, secret_santa_2024",
    "$2 and $6 for $12, $1$2 in sed, \\u00e9t\\u00e9, &quot;hi&quot; &#39;x&#39; 100%25",
)  # fmt: skip


def shows_placed(text: str) -> bool:
    """Say whether a text shows words that were a password, or the middle of a code with a key in it."""
    return WORDS in text or any(middle in text for middle in _MIDDLES)
