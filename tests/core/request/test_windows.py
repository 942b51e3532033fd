"""curl as the shells of Windows write it, and PowerShell's own calls."""

import pytest

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.request import read_request

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
DOUBLED = (
    'curl.exe http://localhost:8000/v1/chat/completions -H "Accept: */*" '
    '-d "{""messages"": [{""role"": ""user"", ""content"": ""say hi""}]}"'
)
BACKSLASHES = (
    "curl.exe http://localhost:8000/v1/chat/completions "
    """-d '{\\"messages\\": [{\\"role\\": \\"user\\", \\"content\\": \\"say hi\\"}]}'"""
)


@pytest.mark.parametrize(
    "command",
    [CMD, CHROME, POWERSHELL, DOUBLED, BACKSLASHES],
    ids=["cmd", "Chrome for cmd", "PowerShell", "doubled quotes", "PowerShell 5"],
)
def test_curl_of_windows_is_read(command):
    request = read_request(command)

    assert request.body["messages"] == [{"role": "user", "content": "say hi"}]
    assert request.base_url == "http://localhost:8000/v1"


def test_a_caret_in_a_plain_command_stays():
    request = read_request("""curl http://h/v1 -d '{"messages": [{"role": "user", "content": "2^8"}]}'""")

    assert request.body["messages"][0]["content"] == "2^8"


def test_doubled_quotes_keep_an_escaped_one_inside():
    request = read_request('curl http://h/v1 -d "{""messages"": [{""role"": ""user"", ""content"": ""a \\""b""}]}"')

    assert request.body["messages"][0]["content"] == 'a "b'


def test_quotes_of_other_shells_stay():
    request = read_request("""curl http://h/v1 -d '{"messages": [{"role": "user", "content": ""}]}'""")

    assert request.body["messages"][0]["content"] == ""


CALL = (
    "Invoke-RestMethod -Uri 'http://h:8000/v1/chat/completions' -Method Post -Headers @{ Authorization = $key } -Body "
)


@pytest.mark.parametrize(
    "text",
    [
        CALL + """'{"messages": [{"role": "user", "content": "it''s"}]}'""",
        CALL + """"{`"messages`": [{""role"": ""user"", `"content`": `"it's`"}]}\"""",
        '$body = @\'\n{"messages": [{"role": "user", "content": "it\'s"}]}\n\'@\n' + CALL + "$body",
        """$m = @( # one message
    @{ role = "user"; content = "it's" }
)
$body = @{ messages = $m } | ConvertTo-Json -Depth 10
"""
        + CALL
        + "$body",
        CALL + """(@{ 'messages' = @(@{ role = 'user'; content = "it's" }) } | ConvertTo-Json)""",
    ],
    ids=["quoted", "escaped", "here-string", "hash table", "piped in place"],
)
def test_a_call_of_powershell_is_read_and_its_headers_are_not(text):
    request = read_request(text)

    assert request.body == {"messages": [{"role": "user", "content": "it's"}]}
    assert request.base_url == "http://h:8000/v1"


@pytest.mark.parametrize(
    "body", ["$body", '"{$messages}"', "(Get-Content x.json)", "@{ messages = @( }", "$(1 + 1)"], ids=range(5)
)
def test_what_powershell_would_have_to_run_is_refused_with_a_place(body):
    with pytest.raises(RequestError) as caught:
        read_request(CALL + body)

    assert caught.value.line == 1
