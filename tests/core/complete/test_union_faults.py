"""Errors of unions of forms: what no form accepts is named itself, one error of one field keeps its words."""

from __future__ import annotations

import json
import time

import pytest

from prompt_debugger.core.base.types import JSON
from prompt_debugger.core.complete.backends.error_words import ServerWords, read_words

NONE = "None of the forms that the server knows accepts this value"
# (form, field, words, given) of an item, as a validator lists them; the names are of the API's own types.
FORMS: list[tuple[str, str, str, str]] = [
    ("EasyInputMessageParam", "content", "Field required", "<dict of 3 items>"),
    ("EasyInputMessageParam", "type", "Input should be 'message'", "novel"),
    ("Message", "content", "Field required", "<dict of 3 items>"),
    ("Message", "type", "Input should be 'message'", "novel"),
    ("ResponseFunctionToolCallParam", "arguments", "Field required", "<dict of 3 items>"),
    ("ResponseFunctionToolCallParam", "type", "Input should be 'function_call'", "novel"),
]
LIST = "list[union[EasyInputMessageParam,Message,ResponseFunctionToolCallParam]]"


def _read(message: str, param: str | None = None) -> ServerWords:
    return read_words("application/json", json.dumps({"error": {"message": message, "param": param, "code": 400}}))


def _joined(count: int, forms: list[tuple[str, str, str, str]] = FORMS, *, place: str = "input.1") -> str:
    """Return errors as vLLM 0.32 prints them: places joined with dots, at most ten."""
    lines = [{"type": "string_type", "loc": "body.input", "msg": "Input should be a valid string", "input": "<list>"}]
    lines += [
        {"type": "x", "loc": f"body.{place}.{form}.{field}", "msg": words, "input": given}
        for form, field, words, given in forms
    ]
    more = [f"  ...and {count - len(lines)} more errors"] if count > len(lines) else []
    return "\n".join([f"{count} validation errors:", *(f"  {line}" for line in lines), *more])


def _tuples() -> str:
    """Return errors as vLLM printed them before: whole, each with what it is about."""
    item = {"type": "novel", "role": "developer"}
    lines: list[object] = [
        {"type": "x", "loc": ("body", "input", "str"), "msg": "Input should be a valid string", "input": [item]}
    ]
    lines += [
        {"type": "x", "loc": ("body", "input", LIST, 1, form, field), "msg": words, "input": given}
        for form, field, words, given in FORMS
    ]
    return "\n".join([f"{len(lines)} validation errors:", *(f"  {line}" for line in lines)])


def _pydantic() -> str:
    lines = ["7 validation errors for ResponsesRequest", "input.str"]
    lines.append(
        "  Input should be a valid string [type=string_type, input_value=[{'type': 'novel'}], input_type=list]"
    )
    for form, field, words, given in FORMS:
        lines += [f"input.{LIST}.1.{form}.{field}", f"  {words} [type=x, input_value='{given}', input_type=str]"]
    return "\n".join(lines)


@pytest.mark.parametrize("message", [_joined(228), _joined(7), _tuples(), _pydantic()])
def test_an_item_of_unknown_type_is_named_whatever_prints_the_errors(message: str) -> None:
    said = _read(message, "body.input")

    assert said.text == f"`input[1]`: {NONE}, whose `type` is `novel`"
    assert said.field == "input[1]"


def test_a_json_list_of_the_errors_is_read_as_well() -> None:
    detail: JSON = [
        {"loc": ["body", "input", LIST, 1, form, field], "msg": words, "input": given}
        for form, field, words, given in FORMS
    ]

    said = read_words("application/json", json.dumps({"detail": detail}))

    assert said[:2] == (f"`input[1]`: {NONE}, whose `type` is `novel`", "input[1]")


def test_several_items_and_tools_are_named_each() -> None:
    both = _joined(14) + "\n" + "\n".join(_joined(7, place="input.3").splitlines()[2:])
    tools = [(form, field, words, given) for form, field, words, given in FORMS if field == "type"]

    assert [part.partition("`:")[0] for part in _read(_joined(4, tools, place="tools.2")).text.split("; ")][-1] == (
        "`tools[2]"
    )
    assert "`input[1]`" in _read(both.replace("  ...and 7 more errors\n", "")).text


def test_an_item_that_was_meant_as_one_form_keeps_what_that_form_lacks() -> None:
    forms = [
        *(one for one in FORMS if one[0] != "ResponseFunctionToolCallParam"),
        ("ResponseFunctionToolCallParam", "arguments", "Input should be a valid string", "<dict of 1 items>"),
    ]
    whole = [(form, field, words, "function_call" if field == "type" else given) for form, field, words, given in forms]

    assert _read(_joined(6, whole)).text == "`input[1].arguments`: Input should be a valid string"


def test_an_item_without_a_type_is_named_by_its_role() -> None:
    forms = [
        (form, "role", f"Input should be '{role}'", "tool")
        for form, role in (
            ("EasyInputMessageParam", "user"),
            ("Message", "user"),
            ("ResponseOutputMessage", "assistant"),
        )
    ]

    assert _read(_joined(231, forms)).text == f"`input[1]`: {NONE}, whose `role` is `tool`"


@pytest.mark.parametrize(
    ("listed", "text", "field"),
    [
        (["body.temperature"], "`temperature`: Input should be a valid number", "temperature"),
        (
            ["body.temperature", "body.top_p"],
            "`temperature`: Input should be a valid number; `top_p`: Input should be a valid number",
            "temperature",
        ),
        (
            ["body.messages.0.content", "body.messages.3.name"],
            "`messages[0].content`: Input should be a valid number; `messages[3].name`: Input should be a valid number",
            "messages[0].content",
        ),
    ],
)
def test_errors_of_plain_fields_keep_their_words(listed: list[str], text: str, field: str) -> None:
    lines = [{"type": "x", "loc": loc, "msg": "Input should be a valid number", "input": "hot"} for loc in listed]
    label = "error" if len(lines) == 1 else "errors"

    said = _read("\n".join([f"{len(lines)} validation {label}:", *(f"  {line}" for line in lines)]), listed[0])

    assert said[:2] == (text, field)


def test_a_value_that_is_neither_a_text_nor_a_list_is_said_to_be_neither() -> None:
    lines = [
        {"type": "x", "loc": "body.input", "msg": f"Input should be a valid {kind}", "input": "5"}
        for kind in ("string", "list")
    ]

    said = _read("\n".join(["2 validation errors:", *(f"  {line}" for line in lines)]))

    assert NONE not in said.text
    assert said.field == "input"


@pytest.mark.parametrize(
    "piece", ["{'type': 'x', 'loc': (", "a.[", "  {'type': 'x', 'loc': 'a', 'msg': '\\", "input.1.A,"]
)
def test_floods_are_read_at_once(piece: str) -> None:
    flood = piece * (200_000 // len(piece))
    began = time.process_time()

    _read(f"228 validation errors:\n  {{'type': '{flood}")
    _read(f"228 validation errors for X\n{flood}")

    assert time.process_time() - began < 5
