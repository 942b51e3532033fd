"""What a link carries: the request as it was written, nothing of the command around it."""

import json

import pytest

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.ui.report import link_state

BODY = {"messages": [{"role": "user", "content": "hi"}]}


def test_a_json_request_goes_in_as_it_was_written():
    text = json.dumps(BODY, indent=7) + "\n"

    assert link_state(text, {}) == ({"request": text}, ())


def test_of_a_command_only_the_body_goes_in():
    command = f"curl http://10.1.2.3:8000/v1/chat/completions -H 'X-Team: blue' -d '{json.dumps(BODY)}'"

    state, notes = link_state(command, {})

    assert json.loads(state["request"]) == BODY
    assert "10.1.2.3" not in json.dumps(state)
    assert "body" in notes[0]


def test_a_covered_secret_is_reported_and_the_layout_stays():
    text = json.dumps({**BODY, "user": "sk-abcdefghijklmnop1234"}, indent=2)

    state, notes = link_state(text, {})

    assert len(state["request"]) == len(text)
    assert "masked" in notes[0]


def test_evidence_goes_in_whole_with_its_secrets_covered():
    """An answer, a log, a raw output: what a person pastes most."""
    answer = {"choices": [{"message": {"role": "assistant", "content": "the key is sk-abcdefghijklmnop1234"}}]}
    pair = json.dumps({"request": BODY, "response": answer})
    raw = '<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>'

    state, notes = link_state(pair, {})

    assert "sk-abc" not in state["request"]
    assert len(state["request"]) == len(pair)
    assert ["whole text" in notes[0], "masked" in notes[1]] == [True, True]
    assert link_state(raw, {})[0] == {"request": raw}


def test_a_request_that_cannot_be_read_goes_into_no_link():
    with pytest.raises(RequestError):
        link_state('{"messages": [,]', {})


@pytest.mark.parametrize(
    ("tokenizer", "is_named"), [("Qwen/Qwen3-8B", True), ("/models/qwen", False), ("models/a/b", False), ("", False)]
)
def test_a_tokenizer_is_named_if_it_is_one_of_the_hub(tokenizer, is_named):
    state, notes = link_state(json.dumps(BODY), {"tokenizer": tokenizer, "model": ""})

    assert ("tokenizer" in state) == is_named
    assert "model" not in state
    assert bool(notes) == (bool(tokenizer) and not is_named)
