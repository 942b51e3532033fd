"""The lines under the editor: the server that a pasted call names, and what a press takes of it."""

import pytest

from prompt_debugger.core.request import read_request
from prompt_debugger.ui.present import notices_payload, unpack_payload

BODY = '"messages": [{"role": "user", "content": "Hi"}]'
URL = "http://127.0.0.1:8000/v1"


def items_of(text, *, is_public=False):
    return unpack_payload(notices_payload(read_request(text), is_public=is_public))[0]["items"]


@pytest.mark.parametrize(("model", "taken"), [('"model": "qwen", ', "qwen"), ("", "")])
def test_the_server_of_a_pasted_call_is_offered_with_its_model(model, taken):
    items = items_of(f"curl {URL}/chat/completions -H 'Authorization: Bearer sk-mine' -d '{{{model}{BODY}}}'")

    offered = [item["server"] for item in items if "server" in item]
    assert offered == [{"url": URL, "model": taken}]
    assert "sk-mine" not in str(items)


def test_a_public_page_offers_no_server_and_a_bare_body_has_none():
    curl = f"curl {URL}/chat/completions -d '{{{BODY}}}'"

    assert not any("server" in item for item in items_of(curl, is_public=True))
    assert "does not send requests there" in str(items_of(curl, is_public=True))
    assert not any("server" in item for item in items_of(f"{{{BODY}}}"))
