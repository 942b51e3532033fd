"""JavaScript calls of a client, and curl as Windows shells write it."""

import pytest

from prompt_debugger.core.errors import RequestError
from prompt_debugger.core.request import read_request

BODY = {"model": "m", "messages": [{"role": "user", "content": 'say "hi"'}], "temperature": 0}
NODE = """import OpenAI from "openai";

const client = new OpenAI({ baseURL: 'http://localhost:8000/v1', apiKey: process.env.KEY });
// a comment with { in it
const answer = await client.chat.completions.create({
  model: "m",
  messages: [{ role: 'user', content: "say \\"hi\\"" }],
  temperature: 0, // none
});
console.log(answer.choices[0]);
"""
CMD = (
    'curl http://localhost:8000/v1/chat/completions ^\r\n  -H "Content-Type: application/json" ^\r\n'
    '  -d "{\\"model\\": \\"m\\", \\"messages\\": [{\\"role\\": \\"user\\", \\"content\\": \\"say hi\\"}]}"'
)
CHROME = (
    'curl ^"http://localhost:8000/v1/chat/completions^" ^\n  -H ^"authorization: Bearer x^" ^\n'
    '  --data-raw ^"^{^\\^"model^\\^":^\\^"m^\\^",^\\^"messages^\\^":^[^{^\\^"role^\\^":^\\^"user^\\^",'
    '^\\^"content^\\^":^\\^"say hi^\\^"^}^]^}^"'
)
POWERSHELL = (
    "curl.exe http://localhost:8000/v1/chat/completions `\n"
    """  -d '{"messages": [{"role": "user", "content": "say hi"}]}'"""
)


def test_the_object_of_a_javascript_call_is_read():
    request = read_request(NODE)

    assert request.body == BODY
    assert request.base_url == "http://localhost:8000/v1"
    assert "apiKey" not in request.text


def test_a_javascript_value_that_is_no_literal_is_named_at_its_place():
    with pytest.raises(RequestError) as caught:
        read_request("const r = await client.chat.completions.create({\n  model: 'm',\n  messages: history,\n});")

    assert caught.value.line == 3


def test_python_that_looks_alike_is_python():
    request = read_request(
        'client.chat.completions.create(**{"model": "m", "messages": [{"role": "user", "content": "{"}]})'
    )

    assert request.source == "python"
    assert request.body["messages"][0]["content"] == "{"


@pytest.mark.parametrize("command", [CMD, CHROME, POWERSHELL], ids=["cmd", "Chrome for cmd", "PowerShell"])
def test_curl_of_windows_is_read(command):
    request = read_request(command)

    assert request.body["messages"] == [{"role": "user", "content": "say hi"}]
    assert request.base_url == "http://localhost:8000/v1"


def test_a_caret_in_a_plain_command_stays():
    request = read_request("""curl http://h/v1 -d '{"messages": [{"role": "user", "content": "2^8"}]}'""")

    assert request.body["messages"][0]["content"] == "2^8"


@pytest.mark.parametrize(
    "text",
    [
        """curl http://h/v1 -d '{"messages": [{"role": "user", "content": "chat.completions.create({a: 1})"}]}'""",
        """call(messages=[{"role": "user", "content": "chat.completions.create({a: 1})"}])
body = {"messages": [{"role": "user", "content": "chat.completions.create({a: 1})"}]}""",
    ],
    ids=["curl", "Python"],
)
def test_javascript_that_is_only_talked_about_is_no_call(text):
    assert read_request(text).body["messages"][0]["content"] == "chat.completions.create({a: 1})"
