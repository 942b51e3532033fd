"""The options of the published verifiers: read as they are, or refused in a sentence; headers are held as keys are."""

import json
from pathlib import Path

import pytest

from prompt_debugger.core.base.errors import BackendError
from prompt_debugger.core.complete import ServerClient
from prompt_debugger.ui.cli.main import main
from tests.core.tools.verify.counting_server import body, counting_server
from tests.core.tools.verify.running import Verification

TEXTS = ["call 0", "say 1"]
VALUE = "gateway-secret-0123456789"
HEADERS = json.dumps({"X-Provider-Key": VALUE, "X-Team": "blue"})


@pytest.fixture
def server():
    with counting_server() as running:
        yield running


def verification(tmp_path, *options):
    return Verification(tmp_path / "run", [body(text) for text in TEXTS], list(options))


def test_stream_asks_every_request_as_a_stream(server, tmp_path):
    run = verification(tmp_path, "--stream")

    status = run.run(server.base_url)

    assert status == 0
    assert [(sent["stream"], sent["stream_options"]) for sent in server.bodies] == [(True, {"include_usage": True})] * 2
    assert [row["request"]["stream"] for row in run.rows] == [True, True]
    assert run.summary["successful_tool_call_count"] == 1


def test_extra_headers_go_with_every_request_and_stay_nowhere(server, tmp_path, capsys):
    server.faults = {"say 1": [400]}
    run = verification(tmp_path, "--extra-headers", HEADERS, "--junit", str(tmp_path / "run" / "junit.xml"))

    run.run(server.base_url, "--report", str(tmp_path / "run" / "report"))

    assert {(sent["x-provider-key"], sent["x-team"]) for sent in server.headers} == {(VALUE, "blue")}
    written = [path for path in (tmp_path / "run").rglob("*") if path.is_file()]
    assert {"results.sqlite", "junit.xml", "index.html"} <= {path.name for path in written}
    assert [path.name for path in written if VALUE.encode() in path.read_bytes()] == []
    assert VALUE not in "".join(capsys.readouterr())


def test_a_server_that_repeats_a_header_in_its_refusal_does_not_bring_it_into_the_results(tmp_path, capsys):
    with counting_server() as server:
        server.refuse = lambda _: 400
        server.fault_words = f"no provider for {VALUE}"
        run = verification(tmp_path, "--extra-headers", HEADERS)
        run.run(server.base_url)

    assert "no provider for [removed]" in str(run.rows[0]["response"])
    written = [path for path in run.folder.iterdir() if VALUE.encode() in path.read_bytes()]
    assert (written, VALUE in "".join(capsys.readouterr())) == ([], False)


def test_the_compared_server_gets_no_header_of_the_other(server, tmp_path):
    with counting_server() as other:
        run = verification(tmp_path, "--extra-headers", HEADERS)
        run.run(server.base_url, "--baseline-endpoint", other.base_url)

        assert not any("x-provider-key" in sent for sent in other.headers)
    assert all("x-provider-key" in sent for sent in server.headers)


def test_a_header_wins_over_the_key(server, tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-ours")
    run = verification(tmp_path, "--extra-headers", '{"Authorization": "Basic 0123456789"}')

    run.run(server.base_url)

    assert {sent["authorization"] for sent in server.headers} == {"Basic 0123456789"}


def test_vendor_checks_send_the_headers_too(server, capsys):
    main(["verify", "vendor", "--endpoint", server.base_url, "--immutable", "top_p=1", "--extra-headers", HEADERS])

    assert all(sent["x-team"] == "blue" for sent in server.headers)
    assert VALUE not in "".join(capsys.readouterr())


BAD_HEADERS = {
    "no JSON": ('{"x-key": gateway-secret', "not a JSON object of strings"),
    "no object": ('["gateway-secret"]', "no colon after it"),
    "no text": ('{"x": ["gateway-secret"]}', "not a JSON object of strings"),
    "a line without a name": (": gateway-secret", "has no name"),
    "a line of the exchange": ("Host: gateway-secret", "`Host` is part of the HTTP exchange"),
    "no name": ('{"x key": "gateway-secret"}', "is not allowed in a header name"),
    "of the exchange": ('{"Host": "gateway-secret"}', "`Host` is part of the HTTP exchange"),
    "two lines": ('{"x-key": "gateway-secret\\r\\nx: y"}', "value of the extra header `x-key`"),
}


@pytest.mark.parametrize("name", BAD_HEADERS)
def test_headers_that_cannot_be_sent_are_refused_without_their_values(server, tmp_path, capsys, name):
    given, said = BAD_HEADERS[name]

    status = verification(tmp_path, "--extra-headers", given).run(server.base_url)

    shown = "".join(capsys.readouterr())
    assert (status, server.asked.total()) == (2, 0)
    assert said in shown
    assert "gateway-secret" not in shown


def test_headers_do_not_travel_in_clear():
    with pytest.raises(BackendError, match="not encrypted") as refused:
        ServerClient("http://models.example/v1", extra_headers={"x-key": VALUE})

    assert VALUE not in str(refused.value)
    ServerClient("https://models.example/v1", extra_headers={"x-key": VALUE})
    ServerClient("http://models.example/v1", extra_headers={})


def test_headers_do_not_travel_to_a_cluster(server, tmp_path, capsys):
    status = verification(tmp_path, "--extra-headers", HEADERS).run(server.base_url, "--ray", "auto")

    shown = "".join(capsys.readouterr())
    assert (status, server.asked.total()) == (2, 0)
    assert "are not sent to a cluster" in shown
    assert VALUE not in shown


PUBLISHED = {
    "--base-url": ["--base-url", "URL"],
    "--url": ["--url", "URL"],
    "--max-workers": ["--url", "URL", "--max-workers", "2"],
    "all of K2VV": [
        "--base-url", "URL", "--model", "m", "--concurrency", "5", "--timeout", "600", "--retries", "3",
        "--extra-body", '{"top_p": 0.9}', "--incremental", "--use_raw_completions", "--temperature", "0.6",
        "--max-tokens", "64000",
    ],
    "all of MiniMax": [
        "--base-url", "URL", "--model", "m", "--concurrency", "5", "--timeout", "600", "--retries", "10",
        "--extra-body", "{}", "--extra-headers", "{}", "--stream", "--incremental",
    ],
}  # fmt: skip


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_spellings_are_read(server, tmp_path, name):
    options = [server.base_url if one == "URL" else one for one in PUBLISHED[name]]

    assert main([*verification(tmp_path).arguments, *options]) == 0


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["--api-key", VALUE], "--api-key-env"),
        ([f"--api-key={VALUE}"], "--api-key-env"),
        (["--loop", "10"], "--output"),
        (["--module", "name"], "--summary"),
        (["--mm-model", "MiniMax-M2.5"], "--baseline"),
        (["--debug"], "--limit 10"),
    ],
)
def test_what_is_not_read_says_what_does_the_same(server, tmp_path, capsys, given, said):
    status = verification(tmp_path).run(server.base_url, *given)

    shown = "".join(capsys.readouterr())
    assert (status, server.asked.total()) == (2, 0)
    assert f"`verify` has no {given[0].partition('=')[0]}" in shown
    assert said in shown
    assert VALUE not in shown
    assert not Path(tmp_path / "run" / "results.sqlite").exists()
