"""What is read of many answers in one visit is what is read of each by itself: rows, findings, runs, every field."""

import asyncio
import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prompt_debugger.core.base.types import Refusal, Server
from prompt_debugger.core.complete import Decoding, ServerClient, UnaskedClient, known_by
from prompt_debugger.core.complete.answers import read_chat_text
from prompt_debugger.core.complete.offline_client import MustAskError
from prompt_debugger.core.pipeline.rendering import Renderer
from prompt_debugger.core.render import load_template, load_tokenizer
from prompt_debugger.core.sandbox import sandbox_of
from prompt_debugger.core.tools.lab import packaged_model_dir
from prompt_debugger.core.tools.verify import visits as visiting
from prompt_debugger.core.tools.verify.answer import Answer, answer_to_json
from prompt_debugger.core.tools.verify.dataset import Row
from prompt_debugger.core.tools.verify.flow import Flow
from prompt_debugger.core.tools.verify.journal import Answered, pack_document
from prompt_debugger.core.tools.verify.judge import Judge
from prompt_debugger.core.tools.verify.visits import Visits
from tests.conftest import ROOT

TOKENIZER = load_tokenizer(packaged_model_dir())
TEMPLATE = load_template(packaged_model_dir())
SERVER = Server(base_url="http://127.0.0.1:9/v1", kind="vllm", version="0.32.0", model="lab-model")
CALL = (
    "<|tool_calls_section_begin|><|tool_call_begin|>functions.get_weather:0<|tool_call_argument_begin|>"
    '{"city": "Paris"}<|tool_call_end|><|tool_calls_section_end|><|im_end|>'
)
FRAGMENTS = (
    CALL, "<|tool_call_begin|>", "functions.get_weather:1", "<|tool_call_argument_begin|>", '{"city": "Rome"}',
    '{"city": ', "<|tool_call_end|>", "<|tool_calls_section_end|>", "<|im_end|>", "It is warm. ", "<think>", "</think>",
    "\ud83c", "ä\u200b", "[search(query='x')]", "\n",
)  # fmt: skip


def judge_of(server=SERVER, **fields):
    client = ServerClient(server.base_url)
    client.server = server
    renderer = Renderer(TEMPLATE, TOKENIZER, server_template=None)
    given_judge = Judge(client, server, renderer, Flow(None, lambda: 0.0).place, Decoding())
    return replace(given_judge, **fields)


def answered(index, body, raw, message, finish_reason, *, prompt=None, refusal=None):
    ids = TOKENIZER.encode(raw)
    choice = {"index": 0, "message": message, "finish_reason": finish_reason, "token_ids": [*ids]}
    usage = {"prompt_tokens": 9, "completion_tokens": len(ids), "total_tokens": 9 + len(ids)}
    document = {"id": "a", "object": "chat.completion", "choices": [choice], "usage": usage}
    text = json.dumps({**document, **({} if prompt is None else {"prompt_token_ids": [*TOKENIZER.encode(prompt)]})})
    chat = replace(read_chat_text(text), body=text)
    given_answer = Answer(Row(index, body, "h", {}), {}, chat, "2026-01-01T00:00:00.000+00:00", 7)
    return Answered(index, 1, pack_document(answer_to_json(given_answer, refusal)))


def said(call=None, content=None):
    calls = [] if call is None else [{"id": "functions.get_weather:0", "type": "function", "function": call}]
    return {"role": "assistant", "content": content, **({"tool_calls": calls} if calls else {})}


async def differing(answers):
    """Return how many of the answers were read in visits, and those of which something else is kept when alone."""
    visits = Visits(judge_of())
    n_visited, found = 0, []
    for first in range(0, len(answers), 16):
        some = answers[first : first + 16]
        for one, filed in zip(some, await visits.read(some), strict=True):
            if filed is None:
                continue
            n_visited += 1
            if filed != await visits.read_here(one):
                found.append(one.index)
    return n_visited, found


def answers_of_the_lab():
    """The lab's requests, each with one of nine answers: good, lost, altered, cut, leaked, in prose, odd."""
    paris, rome = ({"name": "get_weather", "arguments": json.dumps({"city": city})} for city in ("Paris", "Rome"))
    shapes = [
        (CALL, said(paris), "tool_calls"),
        (CALL, said(), "stop"),
        (CALL, said(rome), "tool_calls"),
        (CALL[:-80], said(), "length"),
        (CALL, said(content=CALL), "stop"),
        ("It is warm.<|im_end|>", said(content="It is warm."), "stop"),
        ("It is warm.<|im_end|>", said(paris), "tool_calls"),
        ("<|im_end|>", said(), "stop"),
        (CALL, said(paris), "stop"),
    ]
    lines = (ROOT / "assets" / "datasets" / "lab.jsonl").read_text().splitlines()
    for index, line in enumerate(lines):
        raw, message, reason = shapes[index % len(shapes)]
        prompt = None if index % 16 else f"<|im_user|>user<|im_middle|>{index}<|im_end|>"
        yield answered(index + 1, json.loads(line), raw, message, reason, prompt=prompt)


def answers_of_the_goldens():
    """The goldens of every family, each as its server should have told it, and spoilt in one of four ways."""
    for index, path in enumerate(sorted((ROOT / "tests" / "cases").glob("*/*/raw.txt"))):
        context, parsed = path.with_name("context.json"), json.loads(path.with_name("parsed.json").read_text())
        tools = json.loads(context.read_text()).get("tools", []) if context.exists() else []
        body = {"model": "m", "messages": [{"role": "user", "content": "Do it."}], "tools": tools}
        functions = [{"name": call["name"], "arguments": call["arguments"]} for call in parsed["calls"]]
        calls = [{"id": "functions.f:0", "type": "function", "function": function} for function in functions]
        message = {"role": "assistant", "content": parsed["content"], "reasoning": parsed["reasoning"]}
        raw, good = path.read_bytes().decode(), {**message, "tool_calls": calls}
        spoilt = [
            {**message, "tool_calls": calls[1:]},
            {**good, "tool_calls": [*calls, *calls]},
            {**message, "content": raw},
            {**good, "content": "Done."},
        ]
        yield answered(2 * index + 1, body, raw, good, "tool_calls" if calls else "stop")
        yield answered(2 * index + 2, body, raw, spoilt[index % len(spoilt)], "stop")


@pytest.mark.parametrize("made", [answers_of_the_lab, answers_of_the_goldens])
async def test_known_answers_read_alike(made):
    answers = [*made()]

    n_visited, found = await differing(answers)

    assert found == []
    assert n_visited >= 0.8 * len(answers)  # of the others the server would have to be asked


MESSAGES = st.fixed_dictionaries(
    {"role": st.just("assistant"), "content": st.none() | st.lists(st.sampled_from(FRAGMENTS)).map("".join)},
    optional={
        "tool_calls": st.lists(
            st.fixed_dictionaries({
                "id": st.sampled_from(["functions.get_weather:0", "a", ""]),
                "type": st.just("function"),
                "function": st.fixed_dictionaries({
                    "name": st.sampled_from(["get_weather", "search", "nothing"]),
                    "arguments": st.sampled_from(['{"city": "Paris"}', '{"city": ', "{}", "", '{"city": 3}']),
                }),
            }),
            max_size=3,
        ),
        "reasoning": st.sampled_from(FRAGMENTS),
    },
)  # fmt: skip


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.sampled_from(FRAGMENTS), min_size=1, max_size=6).map("".join),
    MESSAGES,
    st.sampled_from(["stop", "tool_calls", "length", None, "other"]),
    st.none() | st.lists(st.sampled_from(FRAGMENTS), max_size=4).map("".join),
    st.integers(0, 335),
)
def test_any_answer_reads_alike(raw, message, reason, prompt, line):
    raw, prompt = (None if text is None else text.replace("\ud83c", "\ufffd") for text in (raw, prompt))
    body = json.loads((ROOT / "assets" / "datasets" / "lab.jsonl").read_text().splitlines()[line])

    answer = answered(1, body, raw, message, reason, prompt=prompt)

    assert asyncio.run(differing([answer]))[1] == []


async def test_a_refused_request_is_explained_alike():
    body = {"model": "m", "messages": [{"role": "nobody", "content": "a"}]}
    refusal = Refusal(400, "Unexpected message role.")

    assert await differing([answered(1, body, "", said(), None, refusal=refusal)]) == (1, [])


async def test_a_template_that_does_not_end_costs_its_row_a_visit_and_no_other_one():
    endless = "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}"
    body = {"model": "m", "messages": [{"role": "user", "content": "Where?"}]}
    judge = judge_of(SERVER)
    slow = replace(judge, renderer=replace(judge.renderer, template=endless))
    visits, answer = Visits(slow), answered(1, body, CALL, said(), "stop")

    assert await visits.read([answer]) == [None]
    assert (await visits.read_here(answer)).is_answer
    assert [filed is not None for filed in await Visits(judge).read([answer])] == [True]


async def test_an_answer_for_which_the_server_has_to_be_asked_comes_back_unread():
    """Without ids and with nothing left to chance, the prompt is run again raw."""
    body = {"model": "m", "messages": [{"role": "user", "content": "Where?"}], "temperature": 0}
    text = json.dumps({"choices": [{"index": 0, "message": said(content="Here."), "finish_reason": "stop"}]})
    chat = replace(read_chat_text(text), body=text)
    document = answer_to_json(Answer(Row(1, body, "h", {}), {}, chat, "", 1))
    visits = Visits(judge_of())

    for index in range(2, 40):
        assert await visits.read([Answered(index, 1, pack_document(document))]) == [None]
    assert visits.most == 1  # each of them would have to be asked


async def test_a_server_whose_own_decoding_is_wanted_is_asked_first():
    server = replace(SERVER, features=frozenset({"detokenize"}))
    answer = answered(1, {"model": "m", "messages": []}, CALL, said(), "stop")

    assert await Visits(judge_of(server)).read([answer]) == [None]
    assert (await Visits(judge_of(server, decoding=Decoding(4))).read([answer]))[0] is not None


async def test_a_long_answer_is_read_step_by_step(monkeypatch):
    answer = answered(1, {"model": "m", "messages": []}, CALL, said(), "stop")
    monkeypatch.setattr(visiting, "_LONG_BYTES", len(answer.packed) - 1)

    assert await Visits(judge_of()).read([answer]) == [None]


async def test_a_client_that_asks_nothing_knows_what_the_other_knows():
    client = judge_of().client
    known = known_by(client)
    assert known is not None
    unasked = UnaskedClient(known)

    assert unasked.body_as_sent({"messages": []}) == client.body_as_sent({"messages": []})
    with pytest.raises(MustAskError):
        await unasked.detokenize((1, 2))


def test_a_process_that_was_not_told_the_setting_asks_for_it():
    assert visiting.read_answers("unheard of", None, known_by(judge_of().client), 0, []) is None


def test_a_killed_process_is_told_again():
    answer = answered(1, {"model": "m", "messages": []}, CALL, said(), "stop")

    async def twice():
        visits = Visits(judge_of())
        before = await visits.read([answer])
        sandbox_of("answers").close()
        sandbox_of.cache_clear()
        return before, await visits.read([answer])

    before, after = asyncio.run(twice())
    assert before == after
    assert None not in after
