"""A fix never repeats what the request or the server holds already, in any rule."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from prompt_debugger.core.base.types import (
    JSON,
    Finding,
    FindingEvidence,
    Prompt,
    PromptSpan,
    Request,
    Server,
    Severity,
    Span,
    SpanKind,
    Stage,
    Trace,
)
from prompt_debugger.core.diagnose import RULES, diagnose_trace
from prompt_debugger.core.diagnose.advice import Step, advise, is_done, strict_tools
from prompt_debugger.core.diagnose.fixes import rewritten
from prompt_debugger.core.diagnose.rules.base import TraceRule
from tests.core.diagnose.cases import RuleCase, build_trace, load_rule_cases

FIRING = {code: [case for case in load_rule_cases() if case.code == code and case.fires] for code in RULES}
# A value in a fix that a client could paste into a request: `"field": value` or `field: value`.
SETTING = re.compile(r'`"?(\w+)"?: (true|false|null|\d+|"[^"`]*"|\{[^`]*\})`')
# Named in a fix, and about text or history, not about a setting that could be there already.
NO_SETTINGS = {"PD135", "PD204", "PD213"}
OF_PROXIES = {"drop_params"}  # settings of a program in front of the server, not of the request


def steps_of(rule_case: RuleCase, trace: Trace) -> list[Step]:
    rule = RULES[rule_case.code]
    assert isinstance(rule, TraceRule)
    return [
        step for report in rule.find(trace) if not isinstance(report.fix, str) for step in report.fix if step.request
    ]


def set_field(body: dict[str, JSON], path: str, value: JSON) -> None:
    """Set a field of a body by the path of a step."""
    name, _, rest = path.partition(".")
    if name.endswith("[]"):
        for item in body.get(name[:-2], []):  # type: ignore[union-attr]  # lists, in these cases
            set_field(item, rest, value)  # type: ignore[arg-type]
    elif rest:
        inside: Any = body.setdefault(name, {})
        set_field(inside, rest, value)
    else:
        body[name] = value


def applied(trace: Trace, step: Step) -> Trace:
    body = copy.deepcopy(trace.request.body)
    for path, value in step.request.items():
        set_field(body, path, value)
    server = trace.server
    if step.server:
        server = replace(server or Server("http://127.0.0.1:1/v1"), **step.server)  # type: ignore[arg-type]
    return replace(trace, request=Request(body, "", notices=trace.request.notices), server=server)


@pytest.mark.parametrize("code", RULES)
def test_what_was_tried_is_not_advised_again(code: str) -> None:
    for rule_case in FIRING[code]:
        trace = build_trace(rule_case.case)

        for step in steps_of(rule_case, trace):
            tried = applied(trace, step)
            assert is_done(tried, step), rule_case.name
            for finding in RULES[code].check(tried):
                assert step.text not in finding.fix, rule_case.name
                assert finding.fix, rule_case.name
                if any(step.text == other.text for other in steps_of(rule_case, tried)):
                    assert "set already, and the problem remains." in finding.fix, rule_case.name


@pytest.mark.parametrize("code", RULES)
def test_a_setting_in_a_fix_is_data_and_so_can_be_checked(code: str) -> None:
    for rule_case in FIRING[code]:
        trace = build_trace(rule_case.case)
        known = {json.dumps(value) for step in steps_of(rule_case, trace) for value in step.request.values()}

        for finding in RULES[code].check(trace):
            for field, value in SETTING.findall(finding.fix):
                is_data = value in known or any(value.endswith(f"{one}}}") for one in known)
                is_removal = f"Leave out `{field}" in finding.fix
                is_other = field in OF_PROXIES or code in NO_SETTINGS
                assert is_data or is_removal or is_other, (rule_case.name, field, value)


def test_steps_that_are_left_are_reported_in_order() -> None:
    trace = Trace(request=Request({"seed": 1}, ""))
    steps = (Step("Send a seed.", {"seed": 1}), Step("Send `temperature: 0`.", {"temperature": 0}), Step("Ask again."))

    assert advise(trace, steps) == (
        "`seed: 1` is set already, and the problem remains. Send `temperature: 0`. If that does not help: ask again."
    )
    assert advise(trace, steps[1:]) == "Send `temperature: 0`. If that does not help: ask again."
    assert advise(trace, steps[:1]).endswith("report it with the saved run to the authors of the server or the model.")
    assert advise(trace, "Read the log.") == "Read the log."


@pytest.mark.parametrize(
    ("body", "is_there"),
    [
        ({"tools": [{"function": {"strict": True}}, {"function": {"strict": True}}]}, True),
        ({"tools": [{"function": {"strict": True}}, {"function": {}}]}, False),
        ({"tools": [{"function": {"strict": 1}}]}, False),
        ({"tools": []}, False),
        ({}, False),
    ],
)
def test_a_setting_of_every_tool_must_be_in_every_tool(body: dict[str, JSON], is_there: bool) -> None:
    trace = Trace(request=Request(body, ""))

    assert is_done(trace, Step("", {"tools[].function.strict": True})) is is_there


@pytest.mark.parametrize(
    ("tool", "says"),
    [
        ({"strict": True, "function": {"name": "f"}}, "Move `strict: true` into `function`"),
        ({"strict": True, "function": {"name": "f", "strict": False}}, "Constrain the arguments"),
        ({"strict": False, "function": {"name": "f"}}, "Constrain the arguments"),
        ({"function": {"name": "f"}}, "Constrain the arguments"),
    ],
)
def test_strict_next_to_the_function_is_to_be_moved(tool: dict[str, JSON], says: str) -> None:
    [step] = strict_tools(Trace(Request({"messages": [], "tools": [tool]}, "")))

    assert step.text.startswith(says)


def test_a_template_kwarg_that_the_server_was_started_with_counts() -> None:
    step = Step("", {"chat_template_kwargs.thinking": False})
    server = Server("http://127.0.0.1:1/v1", default_template_kwargs={"thinking": False})
    asked: dict[str, JSON] = {"chat_template_kwargs": {"thinking": True}}

    assert is_done(Trace(request=Request({}, ""), server=server), step)
    assert not is_done(Trace(request=Request(asked, ""), server=server), step)
    assert not is_done(Trace(request=Request({}, "")), step)


def fixes(case: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for finding in diagnose_trace(build_trace(case)):
        yield finding.code, finding.fix


CALL = '<|tool_call_begin|>functions.get_weather:0<|tool_call_argument_begin|>{"city": "Paris"}<|tool_call_end|>'
RAW = f"<|tool_calls_section_begin|>{CALL}<|tool_calls_section_end|><|im_end|>"


def test_a_dropped_call_has_the_fix_of_its_cause() -> None:
    case = {"raw": RAW, "message": {"content": RAW.removesuffix("<|im_end|>")}, "server": {"tool_parser": "hermes"}}
    found = dict(fixes({"tools": ["get_weather"], **case}))

    assert found["PD401"] == found["PD405"]
    assert "--tool-call-parser kimi_k2" in found["PD401"]


def test_a_call_that_no_parser_took_is_the_parsers_fault_and_not_its_headers() -> None:
    raw = RAW.replace("functions.get_weather:0", "get_weather")
    unread = {"tools": ["get_weather"], "raw": raw, "message": {"content": raw.removesuffix("<|im_end|>")}}
    taken = {**unread, "message": {"content": None}}
    wrong = {one.code: one for one in diagnose_trace(build_trace(unread))}
    header = {one.code: one for one in diagnose_trace(build_trace(taken))}

    assert (wrong["PD401"].follows, wrong["PD404"].follows) == ("PD405", "PD405")
    assert "--tool-call-parser kimi_k2" in wrong["PD401"].fix
    assert header["PD401"].follows == "PD404"
    assert "PD405" not in header


def test_a_dropped_call_without_a_cause_names_a_parser_that_reads_it() -> None:
    case = {"tools": ["get_weather"], "raw": RAW, "message": {"content": None}}
    unknown, meant = dict(fixes(case)), dict(fixes({**case, "server": {"tool_parser": "kimi_k2"}}))

    assert "`--enable-auto-tool-choice --tool-call-parser kimi_k2`" in unknown["PD401"]
    assert "--tool-call-parser" not in meant["PD401"]
    assert "the parser `kimi_k2`" in meant["PD401"]
    assert "see the finding" not in unknown["PD401"] + meant["PD401"]


def test_where_the_parser_is_unknown_it_is_asked_about_first() -> None:
    case = {"raw": RAW, "message": {"content": 'functions.get_weather:0{"city": "Paris"}'}, "tools": ["get_weather"]}
    unknown = dict(fixes(case))
    tried = dict(fixes({**case, "request": {"skip_special_tokens": False}}))
    known = dict(fixes({**case, "server": {"tool_parser": "kimi_k2"}}))

    assert unknown["PD407"].startswith("Check whether the server runs a tool parser that reads the format `kimi_k2`")
    assert known["PD407"].startswith("Send `skip_special_tokens: false`")
    assert "Send `skip_special_tokens" not in tried["PD407"]
    assert tried["PD407"].startswith("`skip_special_tokens: false` is set already")


@pytest.mark.parametrize(
    ("expression", "made"),
    [
        ("{{ m.content }}", "{{ (m.content) or '' }}"),
        ("{{- m['content'] -}}", "{{- (m['content']) or '' -}}"),
        ("{{ m.content | trim }}", None),
        ("{{ m.role }}", None),
    ],
)
def test_only_an_expression_by_itself_that_fits_is_rewritten(expression: str, made: str | None) -> None:
    template = f"{{% for m in messages %}}\n<{expression}>\n{{% endfor %}}\n"
    spans = (
        PromptSpan(Span(0, 1), SpanKind.TEMPLATE, template_line=2, template_column=1),
        PromptSpan(Span(1, 5), SpanKind.REQUEST, template_line=2, template_column=3),
    )
    shown = FindingEvidence("prompt", char_span=Span(2, 4))
    finding = Finding("PD213", "null-printed", Severity.ERROR, Stage.RENDER, "It is so.", "", evidence=(shown,))
    prompt = Prompt("local", "<None>", spans, None, template=template)

    found = rewritten(prompt, finding, lambda body: f"({body}) or ''", lambda body: "content" in body)

    assert found == (None if made is None else template.replace(expression, made))
