"""What notebooks show below a cell: logs of agents, states of graphs, printed objects, warnings, tracebacks."""

from __future__ import annotations

import asyncio

import pytest

from prompt_debugger.core.evidence import gather_evidence, read_evidence, show_evidence

REACT = "Thought: I have to add.\nAction: add\nAction Input: {{'a': 4, 'b': 5}}\n{0}Observation: 9\n{0}Answer: 9\n"


def reported(text: str) -> dict[str, str]:
    """Return the findings of a paste: the titles and details by their codes."""
    run = asyncio.run(show_evidence(gather_evidence([text])))
    return {found.code: f"{found.title} {found.detail}" for found in run.findings}


@pytest.mark.parametrize("colour", ["", "\x1b[0m\x1b[1;3;34m"])
def test_of_a_log_of_an_agent_it_is_not_said_that_the_model_made_a_result_up(colour: str) -> None:
    said = reported(REACT.format(colour))["PD426"]

    assert "made the tool's result up" not in said
    assert "the framework ran the tool and wrote the `Observation:`" in said


def test_of_an_answer_of_a_server_it_is_said() -> None:
    content = REACT.format("").replace("\n", "\\n")
    answer = f'{{"choices": [{{"message": {{"role": "assistant", "content": "{content}"}}}}]}}'

    assert "made the tool's result up" in reported(answer)["PD426"]


STATE = "{{'messages': [HumanMessage(content='Write it.', id='h1'){}], 'iterations': {}}}\n"
ANSWERS = ", AIMessage(content='First.', id='a1'), AIMessage(content='Second.', id='a2')"


def test_states_of_a_graph_are_read_as_the_last_of_them() -> None:
    evidence = read_evidence(f"{STATE.format('', 0)}---CHECK---\n{STATE.format(ANSWERS, 1)}")

    assert evidence.request is not None
    assert [one["role"] for one in evidence.request.messages] == ["user", "assistant"]
    assert not asyncio.run(show_evidence(evidence)).findings


def test_messages_with_different_ids_are_one_conversation() -> None:
    evidence = read_evidence(f"{STATE.format('', 0)}{STATE.format(ANSWERS, 1).replace('h1', 'h2')}")

    assert evidence.request is not None
    assert [one["role"] for one in evidence.request.messages] == ["user", "user", "assistant"]
