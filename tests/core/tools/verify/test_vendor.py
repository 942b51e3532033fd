"""Checks of a vendor: what passes, what fails, and what says nothing."""

import json

import pytest

from prompt_debugger.ui.cli.main import main
from tests.core.tools.verify.counting_server import answer, call, counting_server


def asked(text, **fields):
    return {"messages": [{"role": "user", "content": text}], **fields}


@pytest.fixture
def check(tmp_path, capsys):
    """Runs the checks; gives the exit status and the report."""

    def run(server, *options, cases=()):
        file = tmp_path / "cases.jsonl"
        file.write_text("".join(json.dumps(case) + "\n" for case in cases))
        files = [str(file)] if cases else []
        status = main(["verify", "vendor", *files, "--endpoint", server.base_url, "--json", *options])
        return status, json.loads(capsys.readouterr().out)

    return run


def statuses(report):
    return {(case["id"], case["mode"]): case["status"] for case in report["cases"]}


def test_a_parameter_that_must_not_be_set_has_to_be_refused_with_400(check):
    with counting_server() as server:
        server.refuse = lambda sent: {0.5: 400, 0.9: 422}.get(sent.get("top_p") or sent.get("temperature"))
        status, report = check(
            server, "--immutable", "temperature=0.5", "--immutable", "top_p=0.9", "--immutable", "n=2"
        )

    assert statuses(report) == {
        ("temperature", "as-it-is"): "passed", ("top_p", "as-it-is"): "failed", ("n", "as-it-is"): "failed"
    }  # fmt: skip
    assert status == 1


@pytest.mark.parametrize(("mode", "field"), [("kimi", "thinking"), ("opensource", "chat_template_kwargs")])
def test_parameters_are_tried_with_thinking_and_without(check, mode, field):
    with counting_server() as server:
        server.refuse = lambda sent: 400 if sent.get("temperature") else None
        status, report = check(server, "--immutable", "temperature=0.5", "--think-mode", mode)

    assert statuses(report) == {("temperature", "thinking"): "passed", ("temperature", "non-thinking"): "passed"}
    assert len({json.dumps(sent[field]) for sent in server.bodies}) == 2
    assert status == 0


@pytest.mark.parametrize(("expected", "status"), [(5, "passed"), (2, "passed"), (1, "failed"), (6, "failed")])
def test_prompt_tokens_may_be_three_more_and_none_fewer(check, expected, status):
    with counting_server() as server:  # which counts 5
        _, report = check(server, cases=[{"id": "a", "request": asked("say"), "expected_prompt_tokens": expected}])

    assert statuses(report) == {("a", "streamed"): status}
    assert all(sent["stream"] for sent in server.bodies)


ARGUMENTS = {
    '{"value": 3}': "passed",
    '{"value": "3"}': "failed",
    '{"value": 0}': "failed",
    '{"value": 3, "more": 1}': "failed",
    "{": "failed",
}


@pytest.mark.parametrize("arguments", ARGUMENTS)
def test_the_arguments_of_a_forced_call_have_to_pass_the_schema(check, arguments):
    schema = {"$defs": {"n": {"type": "integer", "minimum": 1, "default": 7}}, "$ref": "#/$defs/n"}
    calls = [call(arguments, "kvv_walle_case")]
    with counting_server(lambda _: answer({"role": "assistant", "tool_calls": calls}, "tool_calls")) as server:
        _, report = check(server, cases=[{"id": "a", "schema": schema}])

    expected = ARGUMENTS[arguments]
    assert statuses(report) == {("a", "whole"): expected, ("a", "streamed"): expected}
    assert all(sent["tool_choice"] == "required" for sent in server.bodies)


def test_an_answer_without_a_call_fails(check):
    with counting_server() as server:
        status, report = check(server, cases=[{"type": "string"}])

    assert {case["said"] for case in report["cases"]} == {"there is no call"}
    assert status == 1


@pytest.mark.parametrize("status", [429, 500, 503])
def test_load_says_nothing_of_the_vendor(check, status):
    with counting_server() as server:
        server.refuse = lambda _: status
        code, report = check(server, "--immutable", "temperature=0.5")

    assert report["by_status"] == {"passed": 0, "failed": 0, "infra_error": 1}
    assert code == 2


def test_a_line_that_is_not_a_case_is_named(tmp_path, capsys):
    file = tmp_path / "cases.jsonl"
    file.write_text('{"type": "string"}\n{broken\n')
    with counting_server() as server:
        status = main(["verify", "vendor", str(file), "--endpoint", server.base_url])

    assert status == 2
    assert "Line 2" in capsys.readouterr().err
