"""The lines under the editor: the server that a pasted call names, and what a press takes of it."""

import pytest

from prompt_debugger.core.request import read_request
from prompt_debugger.ui.present import notices_payload, unpack_payload
from prompt_debugger.ui.present.notices import Going

BODY = '"messages": [{"role": "user", "content": "Hi"}]'
URL = "http://127.0.0.1:8000/v1"


ELSEWHERE = Going("Run asks another one instead.", "choose")


def items_of(text, *, going=Going(), is_public=False):  # noqa: B008  # a constant
    return unpack_payload(notices_payload(read_request(text), is_public=is_public, going=going))[0]["items"]


@pytest.mark.parametrize(("model", "taken"), [('"model": "qwen", ', "qwen"), ("", "")])
def test_the_server_of_a_pasted_call_is_offered_with_its_model(model, taken):
    items = items_of(
        f"curl {URL}/chat/completions -H 'Authorization: Bearer sk-mine' -d '{{{model}{BODY}}}'", going=ELSEWHERE
    )

    offered = [(item["server"], item["wants_key"]) for item in items if "server" in item]
    assert offered == [({"url": URL, "model": taken}, False)]
    assert "sk-mine" not in str(items)


@pytest.mark.parametrize(
    ("going", "wants_key"), [(Going(), True), (Going("Run sends it there, with its key.", ""), False)]
)
def test_a_server_that_is_the_target_already_is_not_offered_again(going, wants_key):
    [item] = [one for one in items_of(f"curl {URL}/chat/completions -d '{{{BODY}}}'", going=going) if "server" in one]

    assert (item["server"], item["wants_key"]) == (None, wants_key)


def test_a_public_page_offers_no_server_and_a_bare_body_has_none():
    curl = f"curl {URL}/chat/completions -d '{{{BODY}}}'"

    assert not any("server" in item for item in items_of(curl, is_public=True))
    assert "does not send requests there" in str(items_of(curl, is_public=True))
    assert not any("server" in item for item in items_of(f"{{{BODY}}}"))
