"""What a record says that a server does to requests explains its prompt, or is not believed."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from prompt_debugger.core.base.json_values import as_object
from prompt_debugger.core.base.protocols import RequestChange
from prompt_debugger.core.base.types import JSONObject, Prompt
from prompt_debugger.core.render import ReportedPrompt, explain_server_prompt
from prompt_debugger.core.render.traced_render import run_job
from tests.core.render.shapes import assistant, call, user

TEMPLATE = (
    "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}"
    "{% for c in m.tool_calls or [] %}{{ c.function.arguments | tojson }}{% endfor %}{% endfor %}"
    "{% for t in tools or [] %}{{ t | tojson }}{% endfor %}"
)
BODY: JSONObject = {"messages": [{"role": "system", "content": "Be brief."}, user("Weather?"), user("Now!")]}


def of_messages(make: Callable[[list[JSONObject]], list[JSONObject]]) -> Callable[[JSONObject], JSONObject]:
    def apply(body: JSONObject) -> JSONObject:
        messages = body["messages"]
        assert isinstance(messages, list)
        return {**body, "messages": [*make([as_object(one) for one in messages])]}

    return apply


SYSTEM_LAST = RequestChange("moves the system message to the end", of_messages(lambda all_: [*all_[1:], all_[0]]))
LOUD = RequestChange(
    "writes capitals", of_messages(lambda all_: [{**one, "content": str(one["content"]).upper()} for one in all_])
)
BARE_TOOLS = RequestChange(
    "passes functions without what wraps them",
    lambda body: {**body, "tools": [as_object(tool)["function"] for tool in body["tools"]]},  # type: ignore[union-attr]  # a list
)
RAISES = RequestChange("raises", lambda body: {**body, "messages": body["nothing"]})
RETURNS_NOTHING = RequestChange("returns nothing", lambda _: None)  # type: ignore[arg-type, return-value]  # a slip


def explain(text: str, *changes: RequestChange, body: JSONObject = BODY) -> Prompt:
    shown = ReportedPrompt(text=text, changes=changes)
    return explain_server_prompt(body, shown, template=TEMPLATE, tokenizer=None, renderer=run_job)


def origins(prompt: Prompt) -> list[tuple[str, str | None]]:
    return [(prompt.text[slice(*span.char_span)], span.field) for span in prompt.spans if span.kind.value != "template"]


def test_a_change_that_gives_the_prompt_is_its_proof_and_fields_are_those_of_the_request_as_pasted() -> None:
    prompt = explain("<|user|>Weather?<|user|>Now!<|system|>Be brief.", LOUD, SYSTEM_LAST)

    assert prompt.proof == ("the server moves the system message to the end",)
    assert prompt.identical
    assert origins(prompt) == [
        ("user", "messages[1].role"),
        ("Weather?", "messages[1].content"),
        ("user", "messages[2].role"),
        ("Now!", "messages[2].content"),
        ("system", "messages[0].role"),
        ("Be brief.", "messages[0].content"),
    ]


def test_what_a_change_made_anew_is_of_no_field() -> None:
    prompt = explain("<|system|>BE BRIEF.<|user|>WEATHER?<|user|>NOW!", LOUD)

    assert prompt.proof == ("the server writes capitals",)
    assert ("WEATHER?", None) in origins(prompt)
    assert ("system", "messages[0].role") in origins(prompt)


def test_changes_are_tried_together_and_with_the_habits_of_other_software() -> None:
    body: JSONObject = {"messages": [user("Go"), assistant("x", tool_calls=[call("f", '{"a":1}')])]}
    turned = RequestChange("turns the messages round", of_messages(lambda all_: all_[::-1]))

    prompt = explain('<|assistant|>X{"a": 1}<|user|>GO', turned, LOUD, body=body)

    assert prompt.proof is not None
    assert set(prompt.proof[-2:]) == {"the server turns the messages round", "the server writes capitals"}
    assert any("decoded" in sentence for sentence in prompt.proof[:-2])


def test_the_order_of_keys_is_a_change() -> None:
    body: JSONObject = {"messages": [user("Go")], "tools": [{"a": 1, "b": 2}]}
    turned = RequestChange(
        "sorts keys backwards",
        lambda body: {**body, "tools": [dict(sorted(as_object(one).items(), reverse=True)) for one in body["tools"]]},  # type: ignore[union-attr]  # a list
    )

    prompt = explain('<|user|>Go{"b": 2, "a": 1}', turned, body=body)

    assert prompt.proof == ("the server sorts keys backwards",)
    assert origins(prompt)[:2] == [("user", "messages[0].role"), ("Go", "messages[0].content")]
    assert {field for _, field in origins(prompt)[2:]} == {None}, "of what was made anew no place is known"


def test_fields_that_a_change_leaves_alone_keep_their_origins() -> None:
    body: JSONObject = {**BODY, "tools": [{"a": 1}]}

    prompt = explain('<|user|>Weather?<|user|>Now!<|system|>Be brief.{"a": 1}', SYSTEM_LAST, body=body)

    assert any(field is not None and field.startswith("tools[0]") for _, field in origins(prompt))


@pytest.mark.parametrize("odd", [RAISES, RETURNS_NOTHING, BARE_TOOLS])
def test_a_change_that_a_request_is_not_made_for_explains_nothing_and_stops_nothing(odd: RequestChange) -> None:
    shown = explain("<|user|>Weather?<|user|>Now!<|system|>Be brief.", odd, SYSTEM_LAST)
    without = explain("<|system|>Be brief.<|user|>Else", odd)

    assert shown.proof == ("the server moves the system message to the end",)
    assert without == explain("<|system|>Be brief.<|user|>Else")


def test_a_prompt_that_the_request_as_pasted_gives_needs_no_change() -> None:
    text = "<|system|>Be brief.<|user|>Weather?<|user|>Now!"

    assert explain(text, LOUD, SYSTEM_LAST) == explain(text)
