"""Secrets that only their place tells are covered, and what is in a place like it is left."""

from __future__ import annotations

import json

import pytest

from prompt_debugger.core.base.types import JSONObject
from prompt_debugger.core.report import redact_json, redact_text
from prompt_debugger.core.report.redact import replace_secrets
from tests.attacks.growth import grows_linearly

SECRET = "hunter2" + "Xq9"  # as a person chooses it
LETTERS = "letme" + "inplease"
HEX = "0123456789abcdef" * 2
LOGIN = "bWU6aHVudGVyMlhx" + "OQ=="
_OPEN = "-----BEGIN OPENSSH " + "PRIVATE KEY-----"
PLACES = {
    "digest": f'Authorization: Digest username="me", realm="r", nonce="{HEX}", response="{HEX}", qop=auth, nc=00000001',
    "digest of a proxy": f'Proxy-Authorization: Digest username="me", response="{HEX}"',
    "digest in a header option": f'curl -H \'Authorization: Digest username="me", response="{HEX}"\' http://h',
    "digest that was cut": f'Digest username="me", response="{HEX}',
    "signature of amazon": f"Authorization: AWS4-HMAC-SHA256 Credential=AK/2013/s3, Signature={HEX}",
    "oauth": f'Authorization: OAuth oauth_consumer_key="{SECRET}", oauth_signature="{SECRET}"',
    "hawk": f'authorization: Hawk id="{SECRET}", mac="{HEX}"',
    "shared key": f"Authorization: SharedKey account:{LOGIN}",
    "curl": f"curl --digest -u me:{SECRET} http://h/",
    "mysql": f"mysql -u root -p{SECRET} db",
    "mysql in quotes": f"mysql -uroot -p'{LETTERS} {SECRET}' db",
    "mysqldump": f"/usr/bin/mysqldump --single-transaction -p{LETTERS} db",
    "mysql variable": f"MYSQL_PWD={LETTERS} mysql",
    "postgres": f"PGPASSWORD={LETTERS} psql -h h",
    "postgres exported": f"export PGPASSWORD='{LETTERS}'",
    "redis": f"redis-cli -a {LETTERS} ping",
    "redis variable": f"REDISCLI_AUTH={LETTERS} redis-cli",
    "ssh": f"sshpass -p {LETTERS} ssh me@h",
    "ssh attached": f"sshpass -p{LETTERS} ssh me@h",
    "docker": f"docker login -u me -p {LETTERS} r.example",
    "docker, long": f"docker login --username me --password {LETTERS} r.example",
    "docker file": json.dumps({"auths": {"r.example": {"auth": LOGIN}}}),
    "docker file in base64": "eyJhdXRocyI6" + "eyJyLmV4YW1wbGUiOnsiYXV0aCI6ImJXVTZhSFZ1ZEdWeU1saHhPUT09In19",
    "docker password": json.dumps({"username": "me", "password": "hunter2!"}),
    "stdin": f"echo {LETTERS} | docker login -u me --password-stdin r.example",
    "stdin in quotes": f"echo -n '{LETTERS} x' | docker login -u me --password-stdin",
    "stdin of printf": f"printf '%s\\n' {SECRET} | gh auth login --with-token",
    "here string": f"docker login --password-stdin r.example <<< {LETTERS}",
    "here document": f"docker login -u me --password-stdin <<'EOF'\n{LETTERS}\nEOF",
    "kubernetes": f"kind: Secret\nmetadata:\n  name: s\ndata:\n  username: {LOGIN}\n  tls.key: {HEX}\ntype: Opaque",
    "kubernetes, plain": f'stringData:\n  URL: "{LETTERS} {SECRET}"\n  b: |\n    {LETTERS}\nkind: Secret',
    "kubernetes, list": f"items:\n- data:\n    a: {LETTERS}\n  kind: Secret\n- data:\n    b: {LETTERS}\n  kind: Secret",
    "kubernetes, json": json.dumps(
        {"kind": "Secret", "data": {"a": LOGIN}, "stringData": {"b": f"{LETTERS}\n{SECRET}"}}
    ),
    "kubectl": f"kubectl create secret generic s --from-literal=any={LETTERS}",
    "netrc": f"machine h\n  login me\n  password {LETTERS}\n",
    "netrc in a line": f"machine h login me password {LETTERS}",
    "ssh key in a line": f"{_OPEN} {HEX} {HEX} -----END",
    "ssh key without breaks": f"{_OPEN}{HEX}{HEX}-----END",
    "key in base64": "LS0tLS1CRUdJTi" + f"BQUklWQVRFIEtFWS0tLS0tCg{HEX}==",
    "signed address": f"https://h.example/b/o?X-Goog-Credential=me%40p&X-Goog-Signature={HEX}",
    "sql server": f"jdbc:sqlserver://h:1433;user=sa;password={LETTERS};encrypt=true",
    "oracle": f"jdbc:oracle:thin:me/{LETTERS}@//h:1521/s",
    "connection": f"Server=h;Database=d;User Id=sa;Password={LETTERS};",
    "azure": "abc8Q~" + (SECRET * 4)[:34],
    "service account": json.dumps({"private_key": f"-----BEGIN {'PRIVATE'} KEY-----\n{HEX}{HEX}\n-----END"}),
    "cookie": f"Cookie: theme=dark; jwt=eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0.{SECRET}",
    "npm": f"//r.example/:_password={LOGIN}",
    "npm login": f"_auth={LOGIN}",
    "wget": f"wget --http-password={LETTERS} http://h",
    "httpie": f"http -a me:{LETTERS} POST h.example",
    "python": f"requests.post(url, auth=('me', '{LETTERS}'))",
    "python digest": f'HTTPDigestAuth("me", "{LETTERS}")',
    "openssl": f"openssl rsa -in k.pem -passin pass:{LETTERS}",
    "samba": f"smbclient -U me%{LETTERS} //h/s",
    "ldap": f"ldapsearch -D cn=me -w {SECRET}",
    "ansible": f"ansible_become_pass: {LETTERS}",
    "compose": f"DATABASE_PASSWORD: '{LETTERS}'",
    "vault": f"X-Vault-Token: hvs.{SECRET * 3}",
    "gitlab": f"PRIVATE-TOKEN: {SECRET}",
}
NEAR_MISSES = (
    "token_id: 15043234 of prompt_tokens=123456789, max_tokens: 12345678, token ids [123456789, 15043]",
    '{"auth_type": "oauth2_client", "auth": "required", "auth_method": "digest2"}',
    '{"auth": "OAuth2Client", "authentication": "basic1234567"}',
    '{"password": "required", "secret": "string", "response": "0123"}',
    "Authorization: Digest is the scheme that asks twice, and nonce=1 is short",
    'response="ok", nonce="abc", username="me", uri="/v1"',
    'mysql -h h -P 3306 -p db asks for the password; mysql -p$PW, mysql -p"$PW", mysql -p | sort -p1234',
    "ssh -p 2222 h; docker run -p 8000:8000 img; mkdir -p build/x1y2; python -m pytest -p no:cacheprovider",
    "zip -r a.zip b1c2; unzip -o a1.zip; grep -P 'a1b2c3d4'; nmap -p 80,443; http POST h a=1",
    "cat <<EOF\nhello world 1234\nEOF",
    "echo hello | docker build -; echo $TOKEN | docker login --password-stdin; cat f | docker login --password-stdin",
    "docker login -u me --password-stdin reads it",
    "kind: Secret agents know 007 things\ndata:\n  city: Paris2024",
    "kind: ConfigMap\ndata:\n  city: Paris2024\n---\nkind: Deployment",
    '{"kind": "Weather", "data": {"city": "Paris2024"}}',
    "our machine learning login flows password resets; the default password policy",
    "machine h login me",
    "jdbc:postgresql://h/db?ssl=true and jdbc:oracle:thin:@h:1521:x",
    "auth=None, auth=(user, password), HTTPBasicAuth(user, password), BasicAuth(login, secret)",
    "OLDPWD=/home/me/x PWD=/home/me/dir1 TWO_PASS=true COMPASS=north12345 PGUSER=postgres",
    "vllm serve m --max-model-len=4096 --stop-token=50256 --pass-through=abcd1234 --password=PASSWORD",
    "Password=<yours>; Password={password}; ?password=$PASSWORD",
    "idempotency-key-name, X-Max-Tokens: 12345678, key-value 0123456789",
    "openssl x509 -in cert1234.pem; smbclient -L //h/s",
)
FLOODS = (
    "mysql ", "mysql -p", "sshpass -p ", "docker login ", "docker login -p a", "echo a|", "printf a | ", "http -a a:",
    "--password-stdin <<EOF\n", "--password=", "machine a login ", "\nmachine a login b password ", "kind: Secret\n",
    "kind: Secret\ndata:\n a: b\n", "data:\n  ", '"data":{', '"kind":"Secret","data":{"a":"b"},', "auth=('", 'auth="a',
    'Authorization: Digest a="b", ', 'a="b", ', '"password":"', "A_A_", "A_PASSWORD: '", "Q~", "abc8Q~", "a;password=",
)  # fmt: skip


@pytest.mark.parametrize("text", PLACES.values(), ids=PLACES.keys())
def test_what_is_in_such_a_place_is_gone(text: str) -> None:
    for shown in (redact_text(text), redact_text(f"see:\n{text}\nthat was it")):
        assert not [
            part for part in (SECRET[:7], LETTERS[:8], HEX[:12], LOGIN[:10], "hunter", "eyJyLmV4") if part in shown
        ]


@pytest.mark.parametrize("text", PLACES.values(), ids=PLACES.keys())
def test_what_was_covered_stays_so_and_quotes_stay_whole(text: str) -> None:
    covered = replace_secrets(text, lambda secret: "\u2022" * len(secret))
    around = json.dumps({"a": f"{text}\nand 'more'", "b": "x"})
    shown = json.loads(redact_text(around))

    assert len(covered) == len(text)
    assert redact_text(covered) == covered
    assert redact_text(redact_text(text)) == redact_text(text)
    assert shown["a"].endswith("and 'more'")
    assert shown["b"] == "x"


@pytest.mark.parametrize("text", NEAR_MISSES)
def test_what_is_in_a_place_like_it_stays(text: str) -> None:
    assert redact_text(text) == text


def test_a_login_of_a_registry_is_covered_by_its_name_and_another_auth_is_not() -> None:
    value: JSONObject = {
        "auths": {"r.example": {"auth": LOGIN}},
        "arguments": {"auth": "required", "auth_type": "digest"},
    }

    assert redact_json(value) == {**value, "auths": {"r.example": {"auth": "[removed]"}}}


@pytest.mark.slow
@pytest.mark.parametrize("unit", FLOODS)
def test_looking_there_takes_linear_time(unit: str) -> None:
    assert grows_linearly(lambda size: redact_text(unit * size), first=2_000)
