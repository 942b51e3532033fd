"""`run` through a gateway: headers of its own go with every request and are shown nowhere; so do own certificates."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from prompt_debugger.core.base.errors import BackendError
from prompt_debugger.core.complete import ServerClient, guard_of
from prompt_debugger.core.pipeline import Target, client_of
from prompt_debugger.ui.cli.main import main
from tests.core.complete.certificates import self_signed_context
from tests.core.complete.faulty_server import answer, faulty_server
from tests.core.tools.verify.counting_server import answer as chat_answer
from tests.core.tools.verify.counting_server import body, counting_server

VALUE = "gateway-secret-0123456789"


@pytest.fixture
def request_file(tmp_path: Path) -> Path:
    path = tmp_path / "request.json"
    path.write_text(json.dumps(body("say 1", temperature=0)))
    return path


def test_headers_go_with_every_request_and_are_shown_nowhere(request_file, tmp_path, capsys):
    report = tmp_path / "report"
    with counting_server() as server:
        status = main([
            "run", str(request_file), "--endpoint", server.base_url, "--report", str(report), "--json",
            "--extra-headers", f"X-Portkey-Key: {VALUE}", "--extra-headers", '{"X-Team": "blue:17"}',
        ])  # fmt: skip

        assert server.headers
        assert {(sent["x-portkey-key"], sent["x-team"]) for sent in server.headers} == {(VALUE, "blue:17")}
    written = [path for path in report.rglob("*") if path.is_file()]
    assert (status, bool(written)) == (0, True)
    assert [path for path in written if VALUE.encode() in path.read_bytes()] == []
    assert VALUE not in "".join(capsys.readouterr())


def test_a_gateway_that_repeats_a_header_in_its_error_does_not_bring_it_into_the_report(request_file, capsys):
    with counting_server() as server:
        server.refuse = lambda _: 400
        server.fault_words = f"no provider for {VALUE}"
        main(["run", str(request_file), "--endpoint", server.base_url, "--json", "--extra-headers", f"X-Key: {VALUE}"])

    shown = "".join(capsys.readouterr())
    assert "no provider for [removed]" in shown
    assert VALUE not in shown


BAD = {
    "no colon": ([VALUE], "no colon after it"),
    "no name": ([f": {VALUE}"], "has no name"),
    "a name that is none": ([f"x key: {VALUE}"], "is not allowed in a header name"),
    "the host": ([f"Host: {VALUE}"], "`Host` is part of the HTTP exchange"),
    "a second line": ([f"X-Key: a\r\nHost: {VALUE}"], "value of the extra header `X-Key`"),
    "a second line in JSON": ([f'{{"X-Key": "a\\nX-Other: {VALUE}"}}'], "value of the extra header `X-Key`"),
    "twice": ([f"X-Key: {VALUE}", f"x-key: {VALUE}2"], "`x-key` twice"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_header_that_cannot_be_sent_is_refused_without_its_value(request_file, capsys, name):
    given, said = BAD[name]
    options = [part for text in given for part in ("--extra-headers", text)]
    with counting_server() as server:
        status = main(["run", str(request_file), "--endpoint", server.base_url, *options])

        assert (status, server.headers) == (2, [])
    shown = "".join(capsys.readouterr())
    assert said in shown
    assert VALUE not in shown


def test_headers_need_a_server(request_file, capsys):
    assert main(["run", str(request_file), "--extra-headers", f"X-Key: {VALUE}"]) == 2

    shown = "".join(capsys.readouterr())
    assert "needs a server" in shown
    assert VALUE not in shown


async def test_a_certificate_of_ones_own_is_trusted_where_it_is_named(request_file, tmp_path, capsys):
    trust = self_signed_context(tmp_path)
    reply = answer(200, chat_answer({"role": "assistant", "content": "Hello."}, "stop"))
    async with faulty_server({"/v1/chat/completions": reply}, tls=trust) as server:
        arguments = ["run", str(request_file), "--endpoint", server.base_url, "--model", "m", "--json"]

        assert await asyncio.to_thread(main, arguments) == 2
        assert "certificate is not trusted" in capsys.readouterr().err
        assert server.received == []

        await asyncio.to_thread(main, [*arguments, "--ca-file", str(tmp_path / "cert.pem")])
        document = json.loads(capsys.readouterr().out)
    assert document["chat"]["message"]["content"] == "Hello."


async def test_certificates_given_as_text_are_trusted(tmp_path):
    trust = self_signed_context(tmp_path)
    async with faulty_server({"/v1/models": answer(200, {"object": "list", "data": []})}, tls=trust) as server:
        target = Target(base_url=server.base_url, ca_text=(tmp_path / "cert.pem").read_text())
        async with client_of(target) as client:
            await client.probe()

    assert server.received


@pytest.mark.parametrize("text", ["hello", "-----BEGIN CERTIFICATE-----\nMII=\n-----END CERTIFICATE-----", "é"])
def test_text_that_contains_no_certificate_is_refused(text):
    with pytest.raises(BackendError, match="contains no certificate that can be read"):
        client_of(Target(base_url="https://127.0.0.1:9/v1", ca_text=text))


@pytest.mark.parametrize(("text", "said"), [("hello", "contains no certificate"), (None, "Cannot read")])
def test_a_file_that_contains_no_certificate_is_named(request_file, tmp_path, capsys, text, said):
    file = tmp_path / "ca.pem"
    if text is not None:
        file.write_text(text)

    assert main(["run", str(request_file), "--endpoint", "https://127.0.0.1:9", "--ca-file", str(file)]) == 2
    shown = capsys.readouterr().err
    assert said in shown
    assert "ca.pem" in shown


def test_a_page_for_visitors_trusts_public_certificates_alone(tmp_path):
    self_signed_context(tmp_path)
    guard = guard_of(["https://models.example/v1"])

    with pytest.raises(BackendError, match="public certificates only"):
        ServerClient("https://models.example/v1", guard=guard, ca_file=tmp_path / "cert.pem")
    with pytest.raises(BackendError, match="public certificates only"):
        ServerClient("https://models.example/v1", guard=guard, ca_text=(tmp_path / "cert.pem").read_text())


def test_what_is_meant_for_a_server_does_not_go_to_the_lab():
    target = Target(extra_headers=(("X-Key", VALUE),), ca_file="/nowhere.pem")

    client_of(target, "http://127.0.0.1:1/v1")  # neither read nor sent
    with pytest.raises(BackendError, match="Cannot read"):
        client_of(Target(base_url="https://127.0.0.1:1/v1", ca_file="/nowhere.pem"))


def test_a_target_shows_no_value():
    assert VALUE not in repr(Target(extra_headers=(("X-Key", VALUE),)))
