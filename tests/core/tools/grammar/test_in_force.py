"""Was the grammar that a request asks for in force? By server, reasoning and output."""

import dataclasses
import json

import pytest

from prompt_debugger.core.api import run_async
from prompt_debugger.core.base.types import Api, Notice, Server, ServerGrammar
from prompt_debugger.core.pipeline import Target
from prompt_debugger.core.report import trace_to_json
from prompt_debugger.core.report.wire import trace_from_json
from prompt_debugger.core.tools.grammar import GrammarEngine, judge_in_force
from prompt_debugger.core.tools.grammar.asked import asked_of
from tests.core.diagnose.cases import build_trace

SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"], "additionalProperties": False}
FORM = {"response_format": {"type": "json_schema", "json_schema": {"name": "x", "schema": SCHEMA}}}
WORD = {"structured_outputs": {"choice": ["yes", "no"]}}
CALL = (
    "<|tool_calls_section_begin|><|tool_call_begin|>functions.search:0<|tool_call_argument_begin|>{}<|tool_call_end|>"
)
CALL += "<|tool_calls_section_end|>"
END = "<|im_end|>"


def judged(engine, *, told=None, request=None, raw, message, **case):
    """Judge a run; `told` is what the server's render says: whether it waits for reasoning, and whether that ended."""
    trace = build_trace({"request": request or FORM, "raw": raw + END, "message": message, **case})
    if told is not None:
        waits, ended, *constraint = told
        text = json.dumps({"json": SCHEMA}) if not constraint else constraint[0]
        trace = dataclasses.replace(trace, server_grammar=ServerGrammar(text, waits, ended))
    return judge_in_force(trace, engine)


@pytest.mark.parametrize(
    ("told", "raw", "message", "status", "token", "reason"),
    [
        ((False, None), '{"a": 1}', {"content": '{"a": 1}'}, "in-force", 0, None),
        ((True, True), '{"a": 1}', {"content": '{"a": 1}'}, "in-force", 0, None),
        ((True, False), "Well", {"reasoning": "Well", "content": None}, "never", None, "reasoning-not-ended"),
        # It obeys by chance, for the grammar waits for an end that never comes.
        ((True, False), '{"a": 1}', {"reasoning": '{"a": 1}'}, "never", None, "reasoning-not-ended"),
        ((False, None), "Well", {"content": "Well"}, "never", None, "not-applied"),
        ((False, None, None), "Well", {"content": "Well"}, "never", None, "not-read"),
        (None, "Well", {"content": "Well"}, "never", None, "not-applied"),
        (None, '{"a": 1}', {"content": '{"a": 1}'}, "unknown", 0, "obeyed-anyway"),
    ],
)
def test_what_is_reported_of_a_schema(engine, told, raw, message, status, token, reason):
    found = judged(engine, told=told, raw=raw, message=message)

    assert (found.status, found.from_token, found.reason, found.fields) == (status, token, reason, ("response_format",))
    assert (found.forbidden is None) == (raw != "Well")


def test_after_reasoning_it_holds_from_the_token_after_its_end(engine):
    raw = '<think>So.</think>{"a": 1}'
    message = {"reasoning": "So.", "content": '{"a": 1}'}
    case = {"request": FORM, "raw": raw + END, "message": message, "special": ["<think>", "</think>", END]}
    told = ServerGrammar(json.dumps({"json": SCHEMA}), waits_for_reasoning=True, reasoning_ended=False)
    trace = dataclasses.replace(build_trace(case), server_grammar=told)

    found = judge_in_force(trace, engine)

    assert (found.status, found.from_char, found.certainty) == ("in-force", raw.index("{"), "observed")
    assert trace.raw.tokens[found.from_token].char_span.start == raw.index("{")
    assert f"was in force from token {found.from_token} on" in found.sentence


@pytest.mark.parametrize(
    ("raw", "message", "status"),
    [
        # The server split the thought off: it has a reasoning parser, and waits for the end of the thought.
        ('<think>So.</think>{"a": 1}', {"reasoning": "So.", "content": '{"a": 1}'}, "in-force"),
        # It left the end of a thought in the content: it has none, so the grammar would have held from the start.
        ('So.</think>{"a": 1}', {"content": 'So.</think>{"a": 1}'}, "unknown"),
        # Neither shows.
        ('{"a": 1}', {"content": '{"a": 1}'}, "unknown"),
    ],
)
def test_what_a_vllm_made_of_the_thought_shows_whether_it_waits_for_its_end(engine, raw, message, status):
    case = {"request": FORM, "raw": raw + END, "message": message, "special": ["<think>", "</think>", END]}
    trace = dataclasses.replace(build_trace(case), server=Server(base_url="", kind="vllm", version="", model="m"))

    assert judge_in_force(trace, engine).status == status
    other = dataclasses.replace(trace, server=Server(base_url="", kind="other", version="", model="m"))
    assert judge_in_force(other, engine).status == "unknown"


def test_the_first_forbidden_token_is_named_with_what_was_allowed(engine):
    found = judged(engine, told=(False, None), raw='{"a": "x"}', message={"content": '{"a": "x"}'})

    assert (found.forbidden.text, found.forbidden.char) == (' "x"}', 6)
    assert "It would have forbidden token" in found.sentence


def test_an_answer_that_was_cut_obeys_as_far_as_it_came(engine):
    case = {
        "request": {**FORM, "max_tokens": 3},
        "raw": '{"a',
        "message": {"content": '{"a'},
        "finish_reason": "length",
    }
    trace = build_trace({**case, "raw_finish_reason": "length"})
    trace = dataclasses.replace(
        trace, server_grammar=ServerGrammar(json.dumps({"json": SCHEMA}), waits_for_reasoning=False)
    )

    assert judge_in_force(trace, engine).status == "in-force"


@pytest.mark.parametrize(("raw", "status"), [(CALL, "in-force"), ("I would search." + CALL, "never")])
def test_calls_are_held_to_the_grammar_of_their_family(engine, raw, status):
    request = {"tool_choice": "required"}
    call = {"content": None, "calls": [["search", "{}", "functions.search:0"]]}
    trace = build_trace({"request": request, "tools": ["search"], "raw": raw + END, "message": call})
    server = dataclasses.replace(trace.server, kind="vllm", has_reasoning_parser=False) if trace.server else None
    trace = dataclasses.replace(trace, server=server)

    found = judge_in_force(trace, engine)

    assert found.fields == ("tool_choice",)
    assert found.status in (status, "unknown" if status == "in-force" else status)


def test_a_field_that_an_api_has_no_place_for_was_never_in_force(engine):
    trace = build_trace({"request": WORD, "raw": "Well." + END, "message": {"content": "Well."}, "api": "messages"})
    trace = dataclasses.replace(trace, lost=(Notice("structured_outputs", "has no place"),), api=Api.MESSAGES)

    found = judge_in_force(trace, engine)

    assert (found.status, found.reason, found.forbidden.text) == ("never", "no-place-in-api", "Well.")
    assert found.fix == "Send the request with `--api chat`, which has the field."


def test_a_removed_field_names_its_successor(engine):
    found = judged(engine, told=(False, None, None), request={"guided_regex": "a+"}, raw="b", message={"content": "b"})

    assert (found.status, found.reason) == ("never", "not-read")
    assert found.fix.startswith("Use `structured_outputs.regex`")


def test_a_grammar_that_xgrammar_refuses_is_not_known(engine):
    request = {"structured_outputs": {"regex": "("}}

    found = judged(engine, request=request, raw="b", message={"content": "b"})

    assert (found.status, found.reason) == ("unknown", "grammar-refused")


def test_without_xgrammar_it_cannot_be_said(tmp_path):
    with GrammarEngine(python=tmp_path / "none") as missing:
        found = judged(missing, raw="b", message={"content": "b"})

    assert (found.status, found.reason) == ("unknown", "no-engine")


@pytest.mark.parametrize("request_", [{}, {"response_format": {"type": "text"}}, {"structured_outputs": {}}])
def test_a_request_that_asks_for_no_grammar_is_passed_over(engine, request_):
    assert judged(engine, request=request_ or {"n": 1}, raw="b", message={"content": "b"}) is None


def test_what_asks_for_a_grammar_is_listed_by_its_fields():
    tools = [{"type": "function", "function": {"name": "f", "strict": True}}, {"type": "function", "function": {}}]

    assert asked_of({**FORM, "tools": tools, "parallel_tool_calls": False}).fields == (
        "response_format",
        "tools[0].function.strict",
        "parallel_tool_calls",
    )
    assert asked_of({"tools": tools, "tool_choice": "none"}) is None


def test_what_a_server_says_of_it_is_kept_in_a_bundle():
    trace = build_trace({"request": FORM, "raw": "b" + END, "message": {"content": "b"}})
    trace = dataclasses.replace(trace, server_grammar=ServerGrammar('{"json": {}}', waits_for_reasoning=True))

    assert trace_from_json(trace_to_json(trace, whole=True)).server_grammar == trace.server_grammar
    assert "server_grammar" not in trace_to_json(dataclasses.replace(trace, server_grammar=None))


@pytest.mark.lab
@pytest.mark.parametrize("api", [api for api in Api if api is not Api.GEMINI])  # which vLLM does not have
async def test_a_real_server_holds_to_what_it_reads(engine, lab_url, lab_model_dir, api):
    weather = {"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object"}}}
    kinds = {
        "response_format": FORM,
        "structured_outputs.choice": WORD,
        "tool_choice": {"tools": [weather], "tool_choice": "required"},
    }
    said = {}
    for field, more in kinds.items():
        body = {"model": "lab-model", "messages": [{"role": "user", "content": "What is the weather in Paris?"}]}
        text = json.dumps({**body, "temperature": 0, "max_tokens": 60, **more})
        trace = await run_async(text, Target(base_url=lab_url, tokenizer=lab_model_dir, api=api))
        found = judge_in_force(trace, engine)
        assert found.fields == (field,)
        said[field] = (found.status, found.from_token)

    choice = ("never", None) if api is Api.MESSAGES else ("in-force", 0)
    assert said == dict.fromkeys(kinds, ("in-force", 0)) | {"structured_outputs.choice": choice}
