"""Seeded breaks are found at their field, and none is found where nothing changed."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from prompt_debugger.core.render.tokenizers.folder import load_tokenizer
from prompt_debugger.core.render.vllm_view import usual_causes
from prompt_debugger.core.tools.experiments import RenderSetup
from prompt_debugger.core.tools.experiments.variant import Rendered, Variant, facts_of, render_variant
from prompt_debugger.core.tools.sessions import follow_sessions, gather_exchanges, sessions_to_json
from prompt_debugger.ui.cli.main import main
from prompt_debugger.ui.report.sessions import sessions_to_svg
from tests.conftest import ROOT

TOOLS: Any = [
    {"type": "function", "function": {"name": name, "parameters": {"type": "object", "properties": {"a": {}}}}}
    for name in ("read", "write", "run")
]
SYSTEM: Any = {"role": "system", "content": "You are an agent. Today is 2026-11-24. Be careful."}
CALL: Any = {"id": "c1", "type": "function", "function": {"name": "read", "arguments": '{"a": "x", "b": 1}'}}
FIRST: Any = {
    "model": "m",
    "tools": TOOLS,
    "messages": [
        SYSTEM,
        {"role": "user", "content": "Fix the tests."},
        {"role": "assistant", "content": "I read.", "reasoning_content": "I must read.", "tool_calls": [CALL]},
        {"role": "tool", "tool_call_id": "c1", "content": "line one\n" * 20},
    ],
}
MORE: Any = [{"role": "assistant", "content": "Done."}, {"role": "user", "content": "Go on."}]


def _exchange(number: int, body: Any, **usage: Any) -> Any:
    message = {"role": "assistant", "content": "ok"}
    answer = {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}], "usage": usage}
    return {"id": number, "captured": {"at": f"2026-11-24T10:{number:02}"}, "request": body, "response": answer}


def _lines(tmp_path: Path, *exchanges: Any) -> Path:
    file = tmp_path / "captures.jsonl"
    file.write_text("".join(f"{json.dumps(one)}\n" for one in exchanges), encoding="utf-8")
    return file


def _second(change: Callable[[Any], None]) -> Any:
    body = copy.deepcopy(FIRST)
    body["messages"] += MORE
    change(body)
    return body


def _date(body: Any) -> None:
    body["messages"][0]["content"] = SYSTEM["content"].replace("24", "25")


def _system(body: Any) -> None:
    body["messages"][0]["content"] = "You are an agent. Be quick."


def _order(body: Any) -> None:
    body["tools"].reverse()


def _keys(body: Any) -> None:
    body["tools"] = json.loads(json.dumps(body["tools"], sort_keys=True))


def _fewer(body: Any) -> None:
    del body["tools"][0]


def _thinking(body: Any) -> None:
    del body["messages"][2]["reasoning_content"]


def _trimmed(body: Any) -> None:
    body["messages"][3]["content"] = "line one\n[truncated]"


def _arguments(body: Any) -> None:
    body["messages"][2]["tool_calls"][0]["function"]["arguments"] = '{"b":1,"a":"x"}'


SEEDED = {
    "date": (_date, "messages[0].content", "A date, number or id in the system prompt changes."),
    "system": (_system, "messages[0].content", "The system prompt changes."),
    "order": (_order, "tools[0]", "The tools are in a different order."),
    "keys": (_keys, "tools[0]", "The keys of a tool are in a different order."),
    "fewer": (_fewer, "tools[0]", "The tools offered differ from those of the previous turn: without read."),
    "thinking": (_thinking, "messages[2].reasoning_content", "The thinking of a past turn was removed by the client."),
    "trimmed": (_trimmed, "messages[3].content", "A tool's result was trimmed after it had been sent in full."),
    "arguments": (
        _arguments,
        "messages[2].tool_calls",
        "The arguments of a past call were written again in another form.",
    ),
}


@pytest.mark.parametrize("name", SEEDED)
def test_a_seeded_break_is_found_at_its_field(name: str, tmp_path: Path) -> None:
    change, field, cause = SEEDED[name]
    file = _lines(tmp_path, _exchange(1, FIRST), _exchange(2, _second(change)))

    (session,) = follow_sessions(gather_exchanges([file]).exchanges)

    first, second = session.turns
    assert first.broken is None
    assert second.broken is not None
    assert (second.broken.field, second.broken.cause) == (field, cause)
    assert second.broken.cure
    assert second.broken.certainty == "observed"
    assert 0 < second.kept < first.count
    assert second.recomputed > 0


def test_a_session_that_only_grows_has_no_break(tmp_path: Path) -> None:
    file = _lines(tmp_path, _exchange(1, FIRST), _exchange(2, _second(lambda _: None)))

    (session,) = follow_sessions(gather_exchanges([file]).exchanges)

    assert [turn.broken for turn in session.turns] == [None, None]
    assert session.recomputed == 0
    assert session.turns[1].kept == session.turns[0].count


def test_marks_for_a_cache_and_text_as_a_list_are_not_a_break(tmp_path: Path) -> None:
    marked = copy.deepcopy(FIRST)
    for index in (0, 1):
        text = marked["messages"][index]["content"]
        part = {"type": "text", "text": text, "cache_control": {"type": "ephemeral"}}
        marked["messages"][index]["content"] = [part]
    file = _lines(tmp_path, _exchange(1, marked), _exchange(2, _second(lambda _: None)))

    (session,) = follow_sessions(gather_exchanges([file]).exchanges)

    assert [turn.broken for turn in session.turns] == [None, None]


def test_two_agents_are_two_sessions_and_a_new_start_is_another(tmp_path: Path) -> None:
    other = {"model": "m", "messages": [SYSTEM, {"role": "user", "content": "Write a poem."}]}
    grown = {**other, "messages": [*other["messages"], *MORE]}
    bodies = [FIRST, other, _second(lambda _: None), grown, other]
    file = _lines(tmp_path, *(_exchange(number, body) for number, body in enumerate(bodies, 1)))

    sessions = list(follow_sessions(gather_exchanges([file]).exchanges))

    assert [len(session.turns) for session in sessions] == [2, 2, 1]
    assert all(turn.broken is None for session in sessions for turn in session.turns)


def test_tokens_fields_and_template_lines_with_a_tokenizer(tmp_path: Path) -> None:
    folder = ROOT / "assets" / "lab-model"
    setup = RenderSetup((folder / "chat_template.jinja").read_text("utf-8"), load_tokenizer(folder))
    file = _lines(tmp_path, _exchange(1, FIRST), _exchange(2, _second(_date)), _exchange(3, _second(_date)))

    (session,) = follow_sessions(gather_exchanges([file]).exchanges, setup)

    broken = session.turns[1].broken
    assert session.unit == "token"
    assert broken is not None
    assert (broken.field, broken.first) == ("messages[0].content", session.turns[1].kept)
    assert broken.template_line is not None
    assert session.turns[2].broken is None
    assert session.turns[2].kept == session.turns[2].count  # the same request again


def test_thinking_that_the_template_leaves_out_is_found_in_the_prompt(tmp_path: Path) -> None:
    """The requests only grow; the lab model's template prints thinking until a user says something."""
    folder = ROOT / "assets" / "lab-model"
    setup = RenderSetup((folder / "chat_template.jinja").read_text("utf-8"), load_tokenizer(folder))
    file = _lines(tmp_path, _exchange(1, FIRST), _exchange(2, _second(lambda _: None)))

    (session,) = follow_sessions(gather_exchanges([file]).exchanges, setup)

    broken = session.turns[1].broken
    assert broken is not None
    assert broken.cause == "The template leaves out the thinking of a past turn from here on."
    assert (broken.field, broken.first) == ("messages[2].reasoning_content", session.turns[1].kept)


def test_messages_responses_and_the_servers_own_count(tmp_path: Path) -> None:
    tools = [{"name": "read", "input_schema": {"type": "object"}}]
    said = [{"role": "user", "content": "Hi"}]
    messages: Any = {"model": "c", "max_tokens": 9, "system": "Be good.", "tools": tools, "messages": said}
    more = [{"role": "assistant", "content": "Hello."}, {"role": "user", "content": "Read."}]
    usage = {"input_tokens": 3, "cache_read_input_tokens": 40, "cache_creation_input_tokens": 7, "output_tokens": 1}
    shown = {"type": "message", "role": "assistant", "content": [{"type": "text", "text": "Hello."}], "usage": usage}
    pairs = [messages, {**messages, "messages": [*messages["messages"], *more]}]
    file = tmp_path / "messages.jsonl"
    file.write_text("".join(f"{json.dumps({'request': one, 'response': shown})}\n" for one in pairs), encoding="utf-8")

    document: Any = sessions_to_json(follow_sessions(gather_exchanges([file]).exchanges), price=2.0)

    (session,) = document["sessions"]
    assert [turn["cached_tokens"] for turn in session["turns"]] == [40, 40]
    assert [turn["server_prompt_tokens"] for turn in session["turns"]] == [50, 50]
    assert (session["recomputed_tokens"], session["cost"]) == (0, 0.0)


def test_session_files_of_agents_and_a_folder_of_them(tmp_path: Path) -> None:
    used = {"input_tokens": 1, "cache_read_input_tokens": 8, "output_tokens": 1}
    texts = [("user", "Hi"), ("assistant", "Hello."), ("user", "More."), ("assistant", "Yes.")]
    called: Any = [{"type": "tool_use", "id": "t", "name": "read", "input": {}}]
    claude: Any = [
        {
            "type": role,
            "uuid": str(number),
            "message": {"id": f"m{number}", "role": role, "content": text, "usage": used},
        }
        for number, (role, text) in enumerate(texts)
    ]
    codex = [
        {
            "type": "response_item",
            "payload": {"type": "message", "role": role, "content": [{"type": "text", "text": text}]},
        }
        for role, text in texts
    ]
    claude.append({**claude[3], "message": {**claude[3]["message"], "id": "m5", "content": called}})
    for name, lines in (("claude", claude), ("codex", codex)):
        (tmp_path / f"{name}.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")

    gathered = gather_exchanges([tmp_path])
    sessions = list(follow_sessions(gathered.exchanges))

    assert [len(session.turns) for session in sessions] == [3, 2]
    assert [turn.exchange.cached_tokens for turn in sessions[0].turns] == [8, 8, 8]
    assert all(turn.broken is None for session in sessions for turn in session.turns)


def test_the_command_its_document_and_its_picture(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    count = {"prompt_tokens": 200, "prompt_tokens_details": {"cached_tokens": 16}}
    file = _lines(tmp_path, _exchange(1, FIRST, **count), _exchange(2, _second(_order), **count), {"no": "request"})

    assert main(["sessions", str(file), "--json", "--price", "3", "--svg", str(tmp_path / "s.svg")]) == 1

    document = json.loads(capsys.readouterr().out)
    (session,) = document["sessions"]
    assert (session["unit"], session["is_cost_estimated"]) == ("character", True)
    assert 0 < session["cost"] < 0.001
    turn = session["turns"][1]
    assert turn["break"]["certainty"] == "observed"
    assert turn["cached_tokens"] == 16
    svg = (tmp_path / "s.svg").read_text("utf-8")
    assert svg == sessions_to_svg(document)
    assert "breaks at tools[0]" in svg
    main(["sessions", str(file)])
    assert "The tools are in a different order." in capsys.readouterr().out
    assert main(["sessions", str(tmp_path / "nowhere")]) == 2


def test_the_view_is_the_one_that_the_servers_counts_prove(tmp_path: Path) -> None:
    folder = ROOT / "assets" / "lab-model"
    setup = RenderSetup((folder / "chat_template.jinja").read_text("utf-8"), load_tokenizer(folder))
    facts = facts_of(setup)
    as_vllm = usual_causes(facts.content_format, knows_developer=facts.knows_developer)
    counts = {
        view: _count(replace(setup, causes=causes)) for view, causes in ((None, ()), ("vllm", as_vllm), ("other", ()))
    }
    assert counts[None] != counts["vllm"]
    counts["other"] = 7  # no one's

    found = {}
    for view, count in counts.items():
        exchanges = gather_exchanges([_lines(tmp_path, _exchange(1, FIRST, prompt_tokens=count))]).exchanges
        (session,) = follow_sessions(exchanges, setup)
        found[view] = session.view, session.turns[0].count

    assert found == {
        None: (None, counts[None]),
        "vllm": ("vllm", counts["vllm"]),
        "other": (None, counts[None]),
    }


def _count(setup: RenderSetup) -> int:
    prompt = render_variant(Variant({**FIRST, "add_generation_prompt": True}, setup))
    assert isinstance(prompt, Rendered)
    return len(prompt.keys)
