"""`LLM.chat` and `LLM.generate` of the real vLLM: its prompt, its ids, and what differs from a server."""

from __future__ import annotations

import json

import pytest

from prompt_debugger.core.base.errors import LabError
from prompt_debugger.core.base.types import CallOutcome, Severity
from prompt_debugger.core.pipeline import find_example
from prompt_debugger.core.request import read_request
from prompt_debugger.core.tools.lab import LabSpec
from prompt_debugger.core.tools.offline import run_offline
from prompt_debugger.core.tools.offline.run import _answer_of, _job, _notes

BODY = {"messages": [{"role": "user", "content": "x"}], "temperature": 0, "max_completion_tokens": 7, "model": "m"}


@pytest.mark.lab
@pytest.mark.parametrize(("method", "keeps"), [("chat", False), ("generate", False), ("generate", True)])
async def test_a_call_is_written_and_its_markers_are_in_the_text_if_they_are_asked_for(method, keeps):
    body = json.loads(find_example("healthy-call").request_text)
    body |= {"skip_special_tokens": False} if keeps else {}

    trace = await run_offline(read_request(json.dumps(body)), LabSpec(), method)

    assert trace.prompt.token_ids == trace.local_prompt.token_ids
    assert trace.raw.text.startswith("<|tool_calls_section_begin|>")
    assert trace.chat.message["content"].startswith("functions.get_weather:0") is not keeps
    assert [match.outcome for match in trace.parse.ledger.matches] == [CallOutcome.DROPPED]
    assert ("PD407" in {finding.code for finding in trace.findings}) is not keeps
    assert any("skip_special_tokens=False" in note for note in trace.notes) is not keeps
    dropped = next(finding for finding in trace.findings if finding.code == "PD401")
    assert ("skip_special_tokens=False" in dropped.fix) is not keeps
    assert f"`LLM.{method}` runs no tool parser" in dropped.fix
    assert "--tool-call-parser" not in dropped.fix
    assert any(finding.severity is Severity.ERROR for finding in trace.findings) is not keeps


def test_fields_of_the_request_reach_sampling_and_chat():
    kwargs = {"chat_template_kwargs": {"thinking": True}, "tools": [{}], "stop": None, "logit_bias": {}}

    job = _job({**BODY, **kwargs}, LabSpec(), "chat", "")

    assert job["sampling"] == {"temperature": 0, "max_tokens": 7}
    assert job["chat"] == {"tools": [{}], "chat_template_kwargs": {"thinking": True}}
    of_template = _job({**BODY, **kwargs, "documents": [], "chat_template": "{{ 1 }}"}, LabSpec(), "chat", "")["chat"]
    assert of_template["chat_template_kwargs"] == {"documents": [], "thinking": True}
    assert of_template["chat_template"] == "{{ 1 }}"
    assert "kv_cache_memory_bytes" in job["engine"]
    assert "kv_cache_memory_bytes" not in _job(BODY, LabSpec(model_dir="a/b"), "chat", "")["engine"]


@pytest.mark.parametrize(("more", "count"), [({}, 2), ({"skip_special_tokens": False}, 1)])
def test_what_differs_is_reported_as_far_as_it_does(more, count):
    assert len(_notes({**BODY, **more}, "chat")) == count
    assert "16 tokens" in _notes({"messages": []}, "generate")[-1]


@pytest.mark.parametrize(
    ("out", "err", "words"),
    [
        (b"", b"a\nRuntimeError: no memory\n", "no memory"),
        (b"", b"", "ended without output"),
        (json.dumps({"error": "ValueError: max_tokens"}).encode(), b"", "max_tokens"),
        (b"[1]", b"", "could not run"),
    ],
)
def test_a_vllm_that_cannot_is_reported_in_its_own_words(out, err, words):
    with pytest.raises(LabError, match=words):
        _answer_of(out, err)
