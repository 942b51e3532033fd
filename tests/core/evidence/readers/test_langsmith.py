"""Runs of LangSmith: the messages that a model was given, its answer, its tools, or its error."""

from __future__ import annotations

import asyncio
import json

import pytest

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.base.types import Trace
from prompt_debugger.core.evidence import Form, read_evidence, show_evidence

TOOL = {"type": "function", "function": {"name": "find", "parameters": {"type": "object", "properties": {}}}}


def message(name, **kwargs):
    return {"lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", name], "kwargs": kwargs}


def run(answer=None, **more):
    given = [[message("SystemMessage", content="Be brief."), message("HumanMessage", content="Find 7.")]]
    generation = {"generation_info": {"finish_reason": "stop"}, "message": answer}
    outputs = None if answer is None else {"generations": [[generation]]}
    parameters = {"model": "m-8b", "temperature": 0, "tools": [TOOL], "_type": "openai-chat"}
    held = {"run_type": "llm", "inputs": {"messages": given}, "outputs": outputs, "error": None}
    return {**held, "extra": {"invocation_params": parameters}, **more}


def shown(value) -> Trace:
    return asyncio.run(show_evidence(read_evidence(json.dumps(value))))


def test_a_run_is_a_request_with_its_tools_and_an_answer():
    evidence = read_evidence(json.dumps(run(message("AIMessage", content="Done."))))

    assert evidence.form is Form.EXCHANGE
    assert evidence.words == "a run of a chat model, as LangSmith keeps it"
    assert [one["role"] for one in evidence.request.messages] == ["system", "user"]
    assert evidence.request.body["model"] == "m-8b"
    assert list(evidence.request.tools) == [TOOL]
    assert evidence.chat.message["content"] == "Done."
    assert evidence.chat.finish_reason == "stop"


def test_calls_of_the_answer_are_its_calls():
    call = {"name": "find", "args": {"id": 7}, "id": "c1", "type": "tool_call"}
    trace = shown(run(message("AIMessage", content="", tool_calls=[call])))

    assert trace.chat.message["tool_calls"][0]["function"] == {"name": "find", "arguments": '{"id": 7}'}


def test_the_last_run_of_a_model_within_a_tree_is_read():
    markup = '<tool_call>\n{"name": "find", "arguments": {"id": 7}}\n</tool_call>'
    runs = [run(message("AIMessage", content="First.")), {"run_type": "tool", "inputs": {}}]
    tree = {"run_type": "chain", "inputs": {}, "child_runs": [*runs, run(message("AIMessage", content=markup))]}
    trace = shown(tree)

    assert "PD426" in {one.code for one in trace.findings}
    assert "2 runs of models; the last one was read" in " ".join(trace.notes)


def test_an_error_of_a_run_is_read_from_its_traceback():
    words = "Invalid schema for function 'find': None is not of type 'object'"
    raised = f"openai.BadRequestError: Error code: 400 - {{'error': {{'message': \"{words}\", 'code': None}}}}"
    trace = shown(
        run(error=f"BadRequestError('…')Traceback (most recent call last):\n  File \"a.py\", line 1\n{raised}")
    )

    assert trace.refusal.status == 400
    assert trace.refusal.message == words
    assert trace.request.body["model"] == "m-8b"


def test_a_run_of_a_tool_alone_is_none_of_a_model():
    value = {"run_type": "tool", "inputs": {"messages": [[]]}, "outputs": {}}

    with pytest.raises(RequestError, match="was not recognized"):
        read_evidence(json.dumps(value))
