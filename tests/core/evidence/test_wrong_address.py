"""A chat request whose address is that of another endpoint."""

import asyncio
import json

import pytest

from prompt_debugger.core.evidence import read_evidence, show_evidence

CHAT = {"model": "m", "messages": [{"role": "user", "content": "Hi"}]}
PLAIN = {"model": "m", "prompt": "Hi"}


def codes(text: str) -> list[str]:
    return [finding.code for finding in asyncio.run(show_evidence(read_evidence(text))).findings]


def curl(path: str, body: object) -> str:
    return f"curl http://localhost:8000{path} -H 'Content-Type: application/json' -d '{json.dumps(body)}'"


@pytest.mark.parametrize("path", ["/v1/completions", "/v1/completions/", "/v1/completions?a=b"])
def test_messages_sent_to_plain_completions_are_reported(path):
    assert codes(curl(path, CHAT)) == ["PD144"]


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/chat/completions", CHAT),
        ("/v1/completions", PLAIN),
        ("/v1", CHAT),
        ("/openai/deployments/m/chat/completions", CHAT),
        ("/v1/completions/extra", CHAT),
    ],
)
def test_an_address_that_fits_or_is_not_known_is_not_reported(path, body):
    assert "PD144" not in codes(curl(path, body))
