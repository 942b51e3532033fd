"""Python dicts where JSON is due: malformed, but their name and arguments are known."""

from __future__ import annotations

import pytest

from prompt_debugger.core.base.protocols import ReadContext
from prompt_debugger.core.formats import FORMATS

HERMES = FORMATS["hermes"]


def read_one(body):
    raw = f"<tool_call>\n{body}\n</tool_call>"
    (call,) = HERMES.read(raw, ReadContext()).calls
    assert call.arguments_span is not None
    assert call.arguments == raw[call.arguments_span.start : call.arguments_span.stop]
    assert call.name_span is None or call.name == raw[call.name_span.start : call.name_span.stop]
    return call


@pytest.mark.parametrize(
    ("body", "arguments"),
    [
        ("{'name': 'f', 'arguments': {'a': True}}", "{'a': True}"),
        ("{'arguments': {'a': 'x}'}, 'name': 'f'}", "{'a': 'x}'}"),
        ('{"name": "f", "arguments": {"a": None}}', '{"a": None}'),
        ("{'name': 'f', 'arguments': '{\"a\": 1}'}", "'{\"a\": 1}'"),
        ("{'name': 'f'}", ""),
        ("{'name': 'f', 'arguments': {'a': it's}}", "{'a': it's}"),
    ],
)
def test_name_and_arguments_of_a_dict_are_known(body, arguments):
    call = read_one(body)

    assert ("f", arguments, None, "malformed") == (call.name, call.arguments, call.arguments_json, str(call.status))


def test_the_problem_says_that_it_is_python():
    assert "written as in Python" in read_one("{'name': 'f', 'arguments': {'a': True}}").problem


@pytest.mark.parametrize("body", ['{"name": "f", "arguments": {"a": tru}}', '{"name": "f", "arguments": {"a": "x"y"}}'])
def test_other_broken_json_is_not_called_python(body):
    call = read_one(body)

    assert call.status == "malformed"
    assert "Python" not in call.problem


def test_arguments_of_a_dict_that_are_json_are_decoded():
    assert read_one("{'name': 'f', 'arguments': {\"a\": true}}").arguments_json == {"a": True}


def test_the_problem_of_arguments_after_a_header_says_so_too():
    raw = "[TOOL_CALLS]f[ARGS]{'a': True}"

    (call,) = FORMATS["mistral_v11"].read(raw, ReadContext()).calls

    assert (call.name, call.arguments, call.arguments_json) == ("f", "{'a': True}", None)
    assert "written as in Python" in (call.problem or "")
