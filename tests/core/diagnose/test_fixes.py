"""What each kind of fix changes, and where it changes nothing."""

from __future__ import annotations

import pytest

from prompt_debugger.core.base.types import (
    JSON,
    Finding,
    FindingEvidence,
    JSONObject,
    Prompt,
    Request,
    Server,
    Severity,
    Stage,
    Trace,
)
from prompt_debugger.core.diagnose.fixes import (
    ClientFix,
    FlagsFix,
    PluginFix,
    RequestFix,
    TemplateFix,
    drop_named_fields,
    each_field,
    each_message,
    holder_of,
    setting,
)
from prompt_debugger.core.diagnose.output_limit import MORE_OUTPUT
from tests.core.diagnose.cases import build_trace

CALL = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Paris"}}\n</tool_call><|im_end|>'


def found(*fields: str, fix: str = "") -> Finding:
    evidence = tuple(FindingEvidence("request", field=field) for field in fields)
    return Finding("PD900", "a-fault", Severity.ERROR, Stage.PARSE, "It broke.", "", evidence, fix)


def trace_of(body: JSONObject, *, kind: str | None = None, context: int | None = None) -> Trace:
    server = None if kind is None else Server("http://127.0.0.1:1/v1", kind, max_model_len=context)
    return Trace(Request(body, ""), server=server)


def read_by(kind: str | None, **parsers: str) -> Trace:
    server = {} if kind is None else {"server": {"kind": kind, **parsers}}
    return build_trace({"raw": CALL, "tools": ["get_weather"], "format": "hermes", **server})


def test_a_request_fix_has_its_name_or_makes_it_of_the_finding() -> None:
    trace = trace_of({"a": 1})

    plain = RequestFix("b set", setting(b=2)).change(trace, found())
    made = RequestFix(lambda _, finding: finding.title, setting(a=3)).change(trace, found())

    assert (plain.name, plain.kind, plain.body) == ("b set", "request", {"a": 1, "b": 2})
    assert (made.name, made.body) == ("It broke.", {"a": 3})
    assert trace.request.body == {"a": 1}


def test_the_fields_that_a_finding_names_are_left_out_and_no_others() -> None:
    change = drop_named_fields().change(trace_of({"a": 1, "b": 2, "c": 3}), found("b", "a", "b"))

    assert (change.name, change.body) == ("a, b left out", {"c": 3})


@pytest.mark.parametrize(
    ("path", "holder", "key"),
    [
        ("n", {"n": 1, "m": [{"c": 2}, {"c": 3}]}, "n"),
        ("m[1].c", {"c": 3}, "c"),
        ("m[2].c", None, ""),
        ("m[x].c", None, ""),
        ("n.c.d", None, ""),
        ("x.c", None, "c"),
    ],
)
def test_a_field_is_held_by_what_its_path_leads_to(path: str, holder: JSON, key: str) -> None:
    assert holder_of({"n": 1, "m": [{"c": 2}, {"c": 3}]}, path) == (holder, key)


def test_each_field_is_changed_in_a_copy_and_what_is_not_there_is_passed_over() -> None:
    body: JSONObject = {"m": [{"c": 2}, {"c": 3}]}
    change = each_field(lambda value: f"<{value}>")

    assert change(trace_of(body), found("m[1].c", "m[0].d", "m[9].c")) == {"m": [{"c": 2}, {"c": "<3>"}]}
    assert body == {"m": [{"c": 2}, {"c": 3}]}


def test_each_message_is_changed_in_a_copy() -> None:
    body: JSONObject = {"messages": [{"role": "user"}, "odd", {"role": "tool"}]}

    def mark(message: JSONObject) -> None:
        message["seen"] = True

    changed = each_message(mark)(trace_of(body), found())

    assert changed == {"messages": [{"role": "user", "seen": True}, "odd", {"role": "tool", "seen": True}]}
    assert body["messages"] == [{"role": "user"}, "odd", {"role": "tool"}]
    assert each_message(mark)(trace_of({"messages": "odd"}), found()) == {"messages": "odd"}


@pytest.mark.parametrize(
    ("template", "made"), [("{{ bos_token }}x", "x"), ("x", None), (None, None)], ids=["changed", "as it is", "unknown"]
)
def test_a_template_is_changed_only_where_it_is_known_and_differs_then(template: str | None, made: str | None) -> None:
    fix = TemplateFix(lambda prompt, _: (prompt.template or "").replace("{{ bos_token }}", ""), "without BOS")
    trace = Trace(Request({}, ""), local_prompt=Prompt("local", "x", (), None, template=template))

    change = fix.change(trace, found())

    assert (None if change is None else (change.name, change.kind, change.template)) == (
        None if made is None else ("without BOS", "template", made)
    )
    assert TemplateFix(lambda *_: None).change(trace, found()) is None
    assert fix.change(trace_of({}), found()) is None


def test_flags_name_the_parser_of_what_was_written() -> None:
    tool = FlagsFix("tool").change(read_by("vllm", tool_parser="mistral"), found())
    reasoning = FlagsFix("reasoning").change(read_by("vllm"), found())

    assert tool is not None
    assert (tool.name, tool.kind, tool.tool_parser, tool.reasoning_parser) == (
        "the tool parser hermes", "flags", "hermes", None
    )  # fmt: skip
    assert tool.flags == "--enable-auto-tool-choice --tool-call-parser hermes"
    if reasoning is not None:
        assert reasoning.flags == f"--reasoning-parser {reasoning.reasoning_parser}"
        assert reasoning.tool_parser is None


@pytest.mark.parametrize(
    "trace",
    [read_by("vllm", tool_parser="hermes"), read_by("sglang"), read_by(None), trace_of({}, kind="vllm")],
    ids=["it has it", "not vLLM", "no server", "nothing read"],
)
def test_no_flags_where_the_server_has_them_or_is_another(trace: Trace) -> None:
    assert FlagsFix("tool").change(trace, found()) is None


@pytest.mark.parametrize(("fix", "is_offered"), [("Decode them twice.", True), ("Ask again.", False)])
def test_lines_for_a_client_are_offered_only_where_the_advice_says_so(fix: str, *, is_offered: bool) -> None:
    lines = ClientFix("decoded twice", "def fix(message): return message", advice="twice")
    anywhere = ClientFix("decoded twice", "def fix(message): return message")

    assert (lines.change(trace_of({}), found(fix=fix)) is not None) is is_offered
    made = anywhere.change(trace_of({}), found(fix=fix))
    assert made is not None
    assert (made.name, made.kind, made.source) == ("decoded twice", "client", "def fix(message): return message")


def test_lines_for_a_client_are_not_offered_where_another_finding_of_the_rule_needs_something_else() -> None:
    lines = ClientFix("decoded twice", "def fix(message): return message", advice="twice")
    trace = Trace(Request({}, ""), findings=(found(fix="Decode them twice."), found(fix="Ask again.")))

    assert lines.change(trace, trace.findings[0]) is None


def test_a_plugin_is_for_vllm_and_for_the_family_that_was_read() -> None:
    change = PluginFix().change(read_by("vllm"), found())

    assert change is not None
    assert (change.kind, change.family) == ("plugin", "hermes")
    assert PluginFix().change(read_by("sglang"), found()) is None
    assert PluginFix().change(trace_of({}, kind="vllm"), found()) is None
    assert PluginFix().change(trace_of({}), found()) is None


@pytest.mark.parametrize(
    ("body", "context", "raised"),
    [
        ({"max_tokens": 5}, None, {"max_tokens": 128}),
        ({"max_tokens": 100}, None, {"max_tokens": 800}),
        ({"max_tokens": 600}, None, {"max_tokens": 1200}),
        ({"max_tokens": 300}, 4096, {"max_tokens": 1024}),
        ({"max_tokens": 300, "max_completion_tokens": 100}, None, {"max_completion_tokens": 800}),
        ({}, None, {}),
        ({"max_tokens": "many"}, None, {}),
    ],
    ids=str,
)
def test_a_limit_is_raised_within_the_context_and_never_by_less_than_twice(
    body: JSONObject, context: int | None, raised: JSONObject
) -> None:
    change = MORE_OUTPUT.change(trace_of(body, kind="vllm", context=context), found())

    assert change.body == body | raised
    assert change.name == ", ".join(f"{name}: {value}" for name, value in raised.items())
