"""No key of a pasted command leaves the machine, whatever its shape; looking for keys takes linear time."""

from __future__ import annotations

import ast
import json
import shlex
import signal
import subprocess
import sys
from dataclasses import replace
from itertools import product
from pathlib import Path

import httpx
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from prompt_debugger.core.base.types import JSONObject, Request, Trace
from prompt_debugger.core.report import curl_of, redact_body, redact_json, redact_text
from prompt_debugger.core.report.repeat import curl_of_bundle
from prompt_debugger.core.request import read_request
from prompt_debugger.core.tools.fixes.forms import FORMS, request_as
from prompt_debugger.core.tools.fixes.upstream import PARSER_TESTS, case_of_trace
from prompt_debugger.ui.present import RunView
from prompt_debugger.ui.report import SharedRun, link_state, mask_trace
from prompt_debugger.ui.report.mask import mask_text
from tests.attacks.growth import grows_linearly
from tests.patience import PATIENCE_S
from tests.ui.present.traces import dropped_call_trace, prompt_of

ROOT = Path(__file__).resolve().parents[2]
KEY = "Zq7Fw2Kx"  # no prefix, no length, nothing that a pattern knows
BODY = '{"model": "m", "messages": [{"role": "user", "content": "hi"}]}'
URL = "https://h.example/v1/chat/completions"

CURL = {
    "header": f"curl {URL} -H 'X-Anything: {KEY}' -d '{BODY}'",
    "header of a kind": f"curl {URL} -H 'Authorization: Token {KEY}' -d '{BODY}'",
    "attached header": f"curl {URL} -H'cf-access:{KEY}' -d '{BODY}'",
    "header without quotes": f"curl {URL} -H Secret:{KEY} -d '{BODY}'",
    "user": f"curl -u me:{KEY} {URL} -d '{BODY}'",
    "certificate": f"curl -E /home/me/cert.pem:{KEY} {URL} -d '{BODY}'",
    "pass": f"curl --key k.pem --pass {KEY} {URL} -d '{BODY}'",
    "proxy": f"curl -x http://me:{KEY}@proxy:3128 {URL} -d '{BODY}'",
    "proxy without scheme": f"curl --proxy me:{KEY}@proxy:3128 {URL} -d '{BODY}'",
    "proxy user": f"curl -U me:{KEY} --proxy p:1 {URL} -d '{BODY}'",
    "proxy header": f"curl --proxy-header 'P: {KEY}' {URL} -d '{BODY}'",
    "socks": f"curl --socks5 me:{KEY}@p:1 {URL} -d '{BODY}'",
    "bearer": f"curl --oauth2-bearer {KEY} {URL} -d '{BODY}'",
    "aws": f"curl --aws-sigv4 aws:amz --user id:{KEY} {URL} -d '{BODY}'",
    "tls password": f"curl --tlsuser me --tlspassword {KEY} {URL} -d '{BODY}'",
    "cookie": f"curl -b 's={KEY}' {URL} -d '{BODY}'",
    "form": f"curl -F k={KEY} {URL} -d '{BODY}'",
    "config": f"curl -K {KEY} {URL} -d '{BODY}'",
    "unknown option": f"curl --next-year {KEY} {URL} -d '{BODY}'",
    "unknown option attached": f"curl --next-year={KEY} {URL} -d '{BODY}'",
    "query": f"curl '{URL}?code={KEY}' -d '{BODY}'",
    "fragment": f"curl '{URL}#{KEY}' -d '{BODY}'",
    "userinfo": f"curl https://me:{KEY}@h.example/v1/chat/completions -d '{BODY}'",
    "userinfo alone": f"curl https://{KEY}@h.example/v1/chat/completions -d '{BODY}'",
    "second command": f"curl {URL} -d '{BODY}'\ncurl -H 'A: {KEY}' https://other.example/",
    "command before": f"curl {URL} -d '{BODY}' && vault login {KEY}",
    "export": f"export ANYTHING={KEY}\ncurl {URL} -d '{BODY}'",
    "assignment": f"thing={KEY}; curl {URL} -d '{BODY}'",
    "environment line": f"MY_THING={KEY} curl {URL} -d '{BODY}'",
    "comment": f"# the password is {KEY}\ncurl {URL} -d '{BODY}'",
    "comment after": f"curl {URL} -d '{BODY}' # {KEY}",
    "piped": f"echo {KEY} | curl {URL} -d '{BODY}'",
    "expansion": f"curl {URL} -H \"A: ${{T:-{KEY}}}\" -d '{BODY}'",
    "substitution": f"curl {URL} -H \"A: $(echo {KEY})\" -d '{BODY}'",
    "here document": f"curl {URL} -d '{BODY}' <<EOF\n{KEY}\nEOF",
}
_CALL = "client.chat.completions.create(model='m', messages=[{'role': 'user', 'content': 'hi'}]%s)"
PYTHON = {
    "environ": f"os.environ['ANY'] = '{KEY}'\n" + _CALL % "",
    "putenv": f"os.putenv('ANY', '{KEY}')\n" + _CALL % "",
    "key": f"client = OpenAI(api_key='{KEY}')\n" + _CALL % "",
    "positional": f"client = Any('{KEY}')\n" + _CALL % "",
    "joined": f"client = OpenAI(api_key='{KEY[:4]}' + '{KEY}')\n" + _CALL % "",
    "headers of the call": _CALL % f", extra_headers={{'A': '{KEY}'}}",
    "query of the call": _CALL % f", extra_query={{'A': '{KEY}'}}",
    "headers of the client": f"c = OpenAI(default_headers={{'A': '{KEY}'}})\n" + _CALL % "",
    "http client": _CALL % f", http_client=httpx.Client(proxy='http://me:{KEY}@p')",
    "litellm": f"litellm.completion(model='m', messages=[], api_key='{KEY}', aws_secret_access_key='{KEY}')",
    "litellm headers": f"litellm.completion(model='m', messages=[], headers={{'A': '{KEY}'}})",
    "post": f"requests.post('{URL}', auth=('me', '{KEY}'), headers={{'A': '{KEY}'}}, json={BODY})",
    "post with certificate": f"requests.post('{URL}', cert=('c', '{KEY}'), proxies={{'https': '{KEY}'}}, json={BODY})",
    "post with key in the query": f"requests.post('{URL}?k={KEY}', json={BODY})",
    "address": f"c = OpenAI(base_url='https://me:{KEY}@h.example/v1')\n" + _CALL % "",
    "shell line": f"!export T={KEY}\n" + _CALL % "",
    "comment": f"# {KEY}\n" + _CALL % "",
    "docstring": f"'''{KEY}'''\n" + _CALL % "",
    "other call": f"login('{KEY}')\n" + _CALL % "",
    "second call": _CALL % "" + f"\nsecond.chat.completions.create(model='{KEY}', messages=[])",
    "attribute": f"openai.api_key = '{KEY}'\n" + _CALL % "",
    "f-string": f"t = f'Bearer {KEY}'\n" + _CALL % "",
}
BODIES: dict[str, JSONObject] = {
    "extra headers": {"extra_headers": {"X": KEY}},
    "extra headers in a list": {"extra_headers": [["X", KEY]]},
    "extra query": {"extra_query": {"k": KEY}},
    "headers": {"headers": {"X": KEY}},
    "inside extra body": {"extra_body": {"extra_headers": {"X": KEY}, "top_k": 1}},
    "auth": {"auth": ["me", KEY]},
    "proxy": {"proxies": {"https": KEY}},
    "key field": {"api_key": KEY},
    "camel case": {"openaiApiKey": KEY, "clientSecret": KEY},
    "list of secrets": {"metadata": {"passwords": 1, "password": [KEY]}},
    "object of secrets": {"credentials": {"a": {"b": KEY}}},
    "passphrase": {"metadata": {"passphrase": KEY}},
}


def forms_of(trace: Trace) -> dict[str, str]:
    """Return everything in which a run leaves the machine."""
    shared = SharedRun(trace)
    payloads = RunView().finish(shared.trace)
    return {
        **{form: request_as(form, trace.request.body, trace) for form in FORMS},
        "html": shared.html,
        "markdown": shared.markdown,
        "bundle": shared.bundle,
        "trace": repr(shared.trace),
        "picture": json.dumps(payloads),
    }


def run_of(request: Request) -> Trace:
    trace = dropped_call_trace()
    return replace(trace, request=request, sent={**request.body})


@pytest.mark.parametrize("name", [*CURL, *PYTHON])
def test_of_a_pasted_command_nothing_but_its_body_is_kept(name: str) -> None:
    text = {**CURL, **PYTHON}[name]

    request = read_request(text)

    assert KEY in text
    assert KEY not in repr(request)
    assert request.messages or name.startswith(("litellm", "second"))


@pytest.mark.parametrize("name", ["second command", "proxy", "export", "environ", "post"])
def test_none_is_in_anything_that_leaves_the_machine(name: str) -> None:
    text = {**CURL, **PYTHON}[name]
    state, _ = link_state(text, {})

    assert KEY not in json.dumps(state)
    for form, content in forms_of(run_of(read_request(text))).items():
        assert KEY not in content, form


@pytest.mark.parametrize("name", BODIES)
def test_what_a_body_holds_for_its_transport_is_covered(name: str) -> None:
    body = {**json.loads(BODY), **BODIES[name]}
    state, _ = link_state(json.dumps(body), {})

    assert KEY not in json.dumps(redact_body(body))
    assert KEY not in json.dumps(state)
    for form, content in forms_of(run_of(read_request(json.dumps(body)))).items():
        assert KEY not in content, form


def test_a_tool_may_have_a_parameter_called_password() -> None:
    """A near miss: what describes a field is no secret."""
    schema: JSONObject = {"properties": {"password": {"type": "string", "description": "user"}, "headers": {}}}
    body: JSONObject = {"tools": [{"type": "function", "function": {"name": "f", "parameters": schema}}]}

    assert redact_body(body) == body
    assert mask_trace(replace(dropped_call_trace(), sent=body)).sent == body


def test_a_secret_spelled_in_escapes_is_covered_in_arguments() -> None:
    arguments = '{"password": "\\u005aq7Fw2Kx"}'
    message: JSONObject = {"tool_calls": [{"function": {"name": "f", "arguments": arguments}}]}
    trace = dropped_call_trace()

    masked = mask_trace(replace(trace, chat=replace(trace.chat, message=message)))  # type: ignore[type-var]

    assert "q7Fw2Kx" not in json.dumps(masked.chat.message if masked.chat else None)


def test_values_of_public_headers_are_not_secrets() -> None:
    """Else `application/json` would be covered wherever a run says it."""
    body: JSONObject = {**json.loads(BODY), "extra_headers": {"Content-Type": "application/json"}}
    trace = replace(run_of(read_request(json.dumps(body))), prompt=prompt_of("send application/json"))

    masked = mask_trace(trace)

    assert masked.prompt is not None
    assert masked.prompt.text == "send application/json"
    assert "application/json" not in masked.request.text


FLOODS = (
    "api-key:", "x-api-key: abcdefgh ", "a-", "a-b-c-d ", "eyJ-", "eyJaaaaaaaa.", "eyJaaaaaaaa-eyJ", "://a:", "://a:b@",
    "Bearer ", "A_", "API_KEY=", "TOKEN=x ", "sk-a", "AIza-", "password", "\u2022", "a ", '{"api_key":"x"},',
    "-----BEGIN PRIVATE KEY-----", "-----BEGIN PRIVATE KEY-----\n" + "a" * 20 + "\n", "http://", "http://a/", "a=b; ",
    "Cookie: a=", "-u a:", "login ", "eyJaaaaaaaa.aaaaaaaa.", "SG.aaaaaaaaaaaaaaaa.",
)  # fmt: skip


@pytest.mark.parametrize("unit", FLOODS)
def test_looking_for_keys_takes_linear_time(unit: str) -> None:
    """200 KB of `api-key:` once froze the page for 235 s."""
    assert grows_linearly(lambda size: (redact_text(unit * size), mask_text(unit * size)), first=2_000)


def _mask_password(size: int) -> object:
    password = "".join(chr(97 + index * index % 26) for index in range(size))
    body: JSONObject = {"messages": [{"role": "user", "content": password}], "password": password}
    return mask_trace(run_of(Request(body, "{}")))


def _mask_many_passwords(size: int) -> object:
    passwords: JSONObject = {str(index): {"password": f"secret-{index}-{index}"} for index in range(size // 20)}
    return mask_trace(run_of(Request({"messages": [], "user": " secret-7-7" * (size // 10), **passwords}, "{}")))


def _mask_repeating_password(size: int) -> object:
    body: JSONObject = {"messages": [], "user": "ab" * size + "c", "password": "ab" * size}
    return mask_trace(run_of(Request(body, "{}")))


@pytest.mark.parametrize("run", [_mask_password, _mask_many_passwords, _mask_repeating_password])
def test_covering_long_and_many_secrets_takes_linear_time(run: object) -> None:
    """Long `password` values in a bundle once never ended."""
    assert callable(run)
    assert grows_linearly(run, first=2_000, tries=2)


@pytest.mark.parametrize("length", [11, 12, 13, 5_000, 150_000])
def test_a_secret_of_any_length_is_covered_whole_and_in_parts(length: int) -> None:
    secret = "".join(f"{index:x}-" for index in range(length))[:length]
    part = secret[length // 3 : length // 3 + max(40, length // 2)]
    body: JSONObject = {"messages": [{"role": "user", "content": f"is it {secret}?"}], "password": secret}
    trace = replace(run_of(Request(body, "{}")), prompt=prompt_of(f"… {part} …"))

    masked = mask_trace(trace)

    assert secret[:11] not in repr(masked.request)
    assert masked.prompt is not None
    is_long_enough = len(part) >= 12
    assert (part[4:14] in masked.prompt.text) != is_long_enough


HARD = st.lists(
    st.sampled_from(
        ["'", '"', "\\", "`id`", "$(id)", "${x}", "\n", ";", "&&", "|", "!", "#", "~", "*", "\t", "\x1b[0m"]
    )
    | st.text(max_size=4),
    max_size=8,
).map("".join)


@given(HARD, HARD, HARD)
def test_every_command_splits_back_into_exactly_its_parts(content: str, key: str, host: str) -> None:
    """Nothing inside it is run, and nothing that was redacted took a quote away."""
    body: JSONObject = {"messages": [{"role": "user", "content": content}], "user": f"api-key: {key}1", "password": key}
    trace = dropped_call_trace()
    assert trace.server is not None
    url = f"http://h/{host.replace(chr(0), '')}"
    trace = replace(trace, server=replace(trace.server, base_url=url, is_lab=False), sent=redact_body(body))

    words = shlex.split(curl_of(trace))

    head = ["curl", f"{url}/chat/completions", "-H", "Content-Type: application/json"]
    head += ["-H", "Authorization: Bearer $OPENAI_API_KEY"]
    assert words[:-1] == [*head, "-d"]
    assert json.loads(words[-1]) == redact_body(body)
    assert shlex.split(curl_of_bundle(trace))[5:] == [*head, "-d", "@-"]


def command_in(markdown: str) -> str:
    """The one shell block, read as GitHub reads it: its fence is longer than any run of backticks inside."""
    (block,) = (
        token for token in MarkdownIt("commonmark").parse(markdown) if token.type == "fence" and token.info == "sh"
    )
    return block.content


@given(HARD, HARD)
@example("", "```")
def test_the_command_in_an_issue_splits_back_too(content: str, key: str) -> None:
    body: JSONObject = {"messages": [{"role": "user", "content": content}], "user": f'TOKEN="{key}', "password": key}
    trace = replace(dropped_call_trace(), sent=body)

    markdown = SharedRun(trace).markdown
    words = shlex.split(command_in(markdown))

    assert words[:2] == ["curl", "http://127.0.0.1:8123/v1/chat/completions"]
    assert words[-2] == "-d"
    assert json.loads(words[-1])["messages"][0]["role"] == "user"
    assert len(words) == 6


def test_redaction_comes_before_quoting() -> None:
    """A pattern that ran over the finished command once took a quote away, and what followed was run."""
    content = "TOKEN='aaaa'$(touch /tmp/never)'"
    trace = replace(dropped_call_trace(), sent={"messages": [{"role": "user", "content": content}]})

    command = command_in(SharedRun(trace).markdown)

    assert "$(touch" in shlex.split(command)[-1]
    assert redact_json({"a": content}) != {"a": content}


QUOTES = ('TOKEN="aaaa', "TOKEN='aaaa", 'api_key = "a1b2c3d4', "', 1), never(), (\"", "Bearer aaaaaaaa1")


@given(st.lists(HARD | st.sampled_from(QUOTES), min_size=3, max_size=3))
@example(['TOKEN="aaaa', "' + str(never()), 1), #", ""])
def test_a_test_for_maintainers_contains_a_runs_texts_as_texts(texts: list[str]) -> None:
    """The test is run at once; secrets taken out of the finished program once took a quote away with them."""
    name, arguments, raw = texts
    trace = dropped_call_trace()
    assert trace.parse is not None
    call = replace(trace.parse.parsed.calls[0], name=name or "f", arguments=arguments, arguments_json=None)
    parsed = replace(trace.parse.parsed, calls=(call,), segments=())
    shared = SharedRun(replace(trace, parse=replace(trace.parse, raw=raw, parsed=parsed)))

    tree = ast.parse(shared.upstream_test("vllm", "hermes"))

    values = {node.targets[0].id: node.value for node in tree.body if isinstance(node, ast.Assign)}  # type: ignore[attr-defined]
    [pair] = values["CALLS"].elts  # type: ignore[attr-defined]
    case = case_of_trace(shared.trace, "hermes")
    assert ast.literal_eval(values["OUTPUT"]) == case.raw
    assert (ast.literal_eval(pair.elts[0]), ast.literal_eval(pair.elts[1].args[0])) == case.calls[0]


@pytest.mark.parametrize("engine", PARSER_TESTS)
def test_a_test_for_maintainers_contains_no_key(engine: str) -> None:
    arguments: JSONObject = {"password": "hunter two", "query": "sk-" + "a1B2" * 8}
    trace = dropped_call_trace()
    assert trace.parse is not None
    call = replace(trace.parse.parsed.calls[0], name="f", arguments=json.dumps(arguments), arguments_json=arguments)
    parsed = replace(trace.parse.parsed, calls=(call,), segments=())
    source = SharedRun(
        replace(trace, parse=replace(trace.parse, raw=json.dumps(arguments), parsed=parsed))
    ).upstream_test(engine, "hermes")

    assert "hunter two" not in source
    assert "a1B2" not in source


def test_a_public_page_logs_nothing_that_visitors_type() -> None:
    """Gradio prints the values of fields when an event fails."""
    process = subprocess.Popen(
        [sys.executable, "app.py", "ui", "--public", "--no-lab", "--port", "0"],
        cwd=ROOT, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stderr is not None
    address = next(line.split()[-1] for line in process.stderr if " is at http" in line)
    with httpx.Client(base_url=address.rstrip("/")) as visitor:
        for path, number in product(("/gradio_api/queue/join", "/gradio_api/run/predict"), range(60)):
            for data in ([KEY], [{"text": KEY}, KEY, [KEY]], KEY, []):
                visitor.post(path, json={"data": data, "fn_index": number, "session_hash": KEY, "event_data": KEY})
    process.send_signal(signal.SIGTERM)
    printed, said = process.communicate(timeout=PATIENCE_S)

    assert KEY not in printed + said
