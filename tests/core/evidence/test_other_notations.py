"""Requests and answers that Ruby, Elixir and PHP print, or that were dumped as YAML."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable

import pytest
import yaml

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.base.types import JSON, JSONObject
from prompt_debugger.core.evidence import read_evidence, show_evidence
from prompt_debugger.core.evidence.copying.other_notations import printed_as_json, yaml_as_json
from prompt_debugger.core.evidence.values.arrow_literals import arrow_literal
from prompt_debugger.core.evidence.values.php_dumps import php_dump
from tests.attacks.growth import grows_linearly

Print = Callable[[JSON], str]


def answer(arguments: str, reason: str = "tool_calls", content: str | None = None) -> JSONObject:
    call: JSONObject = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": arguments}}
    message: JSONObject = {"role": "assistant", "content": content}
    if arguments:
        message["tool_calls"] = [call]
    choice: JSONObject = {"index": 0, "message": message, "finish_reason": reason}
    usage: JSONObject = {"prompt_tokens": 9, "completion_tokens": 5, "total_tokens": 14}
    return {"id": "x", "object": "chat.completion", "model": "m", "choices": [choice], "usage": usage}


def arrows(value: JSON, opening: str = "{", arrow: str = "=>", nothing: str = "nil") -> str:
    if isinstance(value, dict):
        pairs = (f"{json.dumps(name)}{arrow}{arrows(one, opening, arrow, nothing)}" for name, one in value.items())
        return opening + ", ".join(pairs) + "}"
    if isinstance(value, list):
        return f"[{', '.join(arrows(one, opening, arrow, nothing) for one in value)}]"
    return nothing if value is None else json.dumps(value)


def ruby(value: JSON) -> str:
    return arrows(value)


def elixir(value: JSON) -> str:
    return arrows(value, "%{", " => ")


def exported(value: JSON) -> str:
    """As `var_export` of PHP."""
    if isinstance(value, dict | list):
        pairs = value.items() if isinstance(value, dict) else enumerate(value)
        return "array (\n" + "".join(f"{exported(name)} => \n{exported(one)},\n" for name, one in pairs) + ")"
    if isinstance(value, str):
        return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"
    return "NULL" if value is None else str(value)


def printed(value: JSON, indent: int = 0) -> str:
    """As `print_r` of PHP."""
    gap = " " * indent
    if isinstance(value, dict | list):
        pairs = value.items() if isinstance(value, dict) else enumerate(value)
        inner = "".join(f"{gap}    [{name}] => {printed(one, indent + 8)}\n" for name, one in pairs)
        return f"Array\n{gap}(\n{inner}{gap})\n"
    return "" if value is None else str(value)


def dumped(value: JSON, indent: int = 0) -> str:
    """As `var_dump` of PHP."""
    gap = " " * indent
    if isinstance(value, dict | list):
        pairs = list(value.items() if isinstance(value, dict) else enumerate(value))
        keys = [json.dumps(name) if isinstance(name, str) else str(name) for name, _ in pairs]
        texts = [dumped(one, indent + 2) for _, one in pairs]
        inner = "".join(f"{gap}  [{key}]=>\n{gap}  {text}\n" for key, text in zip(keys, texts, strict=True))
        return f"array({len(pairs)}) {{\n{inner}{gap}}}"
    if isinstance(value, str):
        return f'string({len(value.encode())}) "{value}"'
    return "NULL" if value is None else f"int({value})"


def as_yaml(value: JSON) -> str:
    return yaml.safe_dump(value)


PRINTERS = [ruby, elixir, exported, printed, dumped, as_yaml]
LEFT = '<tool_call>\n{"name": "look", "arguments": {"at": "gate"}}\n</tool_call>'


def codes(text: str) -> set[str]:
    return {one.code for one in asyncio.run(show_evidence(read_evidence(text))).findings}


@pytest.mark.parametrize("lay_out", PRINTERS)
def test_an_answer_is_read_whatever_printed_it(lay_out: Print) -> None:
    assert not codes(lay_out(answer('{"at": "gate"}')))
    assert codes(lay_out(answer('{"at": "ga', "length"))) == {"PD320"}
    assert "PD426" in codes(lay_out(answer("", "stop", LEFT)))


@pytest.mark.parametrize("lay_out", PRINTERS)
def test_a_request_is_read_whatever_printed_it(lay_out: Print) -> None:
    tools: list[JSON] = [{"role": "user", "content": "a"}, {"role": "tool", "tool_call_id": "c9", "content": "b"}]

    assert "PD106" in codes(lay_out({"messages": tools, "model": "m"}))


@pytest.mark.parametrize("lay_out", [ruby, elixir, exported, printed, dumped, as_yaml])
@pytest.mark.parametrize("share", [0.3, 0.5, 0.7, 0.85, 0.95])
def test_a_cut_text_blames_nothing_that_the_whole_does_not_show(lay_out: Print, share: float) -> None:
    text = lay_out(answer('{"at": "gate"}'))
    found: set[str] = set()
    try:
        found = codes(text[: int(len(text) * share)])
    except RequestError:
        return

    assert not found


def test_escapes_objects_and_names_of_classes() -> None:
    text = r'{:model=>"m", :messages=>[{:role=>:user, :content=>"a\u{e9}\n\"b\" \#{c} \\"}], :n=>-1.5}'
    value = arrow_literal(text)
    struct = '%Msg{role: "assistant", content: nil, meta: %{"a" => [1, 2]}}'
    classes = (
        "Acme\\Response Object\n(\n    [choices] => Array\n        (\n            [0] => stdClass Object\n"
        "                (\n                    [message] => stdClass Object\n                        (\n"
        "                            [content] => one\ntwo\n                            [toolCalls] => Array\n"
        "                                (\n                                )\n\n                        )\n\n"
        "                    [finishReason] => stop\n                )\n\n        )\n\n)\n"
    )

    assert value == {"model": "m", "messages": [{"role": "user", "content": 'aé\n"b" #{c} \\'}], "n": -1.5}
    assert arrow_literal(struct) == {"role": "assistant", "content": None, "meta": {"a": [1, 2]}}
    choice = json.loads(printed_as_json(classes) or "")["choices"][0]
    assert choice == {"message": {"content": "one\ntwo", "tool_calls": []}, "finish_reason": "stop"}


@pytest.mark.parametrize(
    "text",
    [
        '{"a" => 1}',
        '{tool => "look", args => {--at "gate"}}',
        '{"choices": [{"text": "a => b"}]}',
        '[TOOL_CALL]\n{tool => "look"}\n[/TOOL_CALL]',
        '{"messages"=>[1, 2}',
        "(a, b) => { return a }",
        "Array\n(\n    [a] => b\n",
        'array(1) {\n  ["content"]=>\n  string(99) "a"\n}',
    ],
)
def test_near_misses_stay_as_they_are(text: str) -> None:
    assert printed_as_json(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "choices:\n- a\n- b\nid: 1\n",
        "model_list:\n- model_name: m\nmessages: none\n",
        "content:\n- type: text\n  text: a\n",
        "a: &x [1]\nmessages:\n- role: user\n  content: *x\n",
        "messages: [\n",
        "content:\nThe answer is: no",
    ],
)
def test_near_misses_of_yaml(text: str) -> None:
    assert yaml_as_json(text) is None


def test_a_flood_takes_time_that_grows_with_its_length() -> None:
    def read_arrows(size: int) -> JSON:
        return arrow_literal("{" + '"a"=>1,' * size + "=>")

    def read_dump(size: int) -> JSON:
        return php_dump("Array\n(\n" + "    [a] => b\n" * size)

    assert grows_linearly(read_arrows, first=2_000, doublings=3)
    assert grows_linearly(read_dump, first=2_000, doublings=3)
    assert arrow_literal("{" * 100_000 + "=>") is None
    assert php_dump("array(1) {\n" * 10_000) is None


@pytest.mark.parametrize("odd", ["2020-01-01: x", "? !!binary aGk=\n    : x", "seed: " + "1:" * 20_000 + "1"])
def test_yaml_that_json_cannot_hold_is_no_request(odd: str) -> None:
    assert yaml_as_json(f"messages:\n  - role: user\n    {odd}\n") is None
