"""What notebooks show below a cell: logs of agents, states of graphs, printed objects, warnings, tracebacks."""

from __future__ import annotations

import asyncio

import pytest

from prompt_debugger.core.base.errors import RequestError
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


def refused(text: str) -> str:
    """Return what is said of a paste in which nothing is read."""
    with pytest.raises(RequestError) as caught:
        read_evidence(text)
    return caught.value.message


TRACEBACK = 'Traceback (most recent call last):\n  File "/tmp/cell.py", line 3, in <module>\n    assert total == 7\n'


def test_an_exception_without_words_is_the_end_of_its_traceback() -> None:
    said = refused(f"{TRACEBACK}           ^^^^^^^^^^\nAssertionError\n")

    assert "`AssertionError`, raised without words at `assert total == 7`" in said
    assert "without its end" in refused(TRACEBACK)


def test_a_name_that_a_program_did_not_assign_is_its_own_matter() -> None:
    above = "NameError                                 Traceback (most recent call last)\nCell In[2], line 1\n"
    code = "----> 1 ids = tokenizer.apply_chat_template(messages)\n\n"

    assert "it uses `tokenizer` before anything assigns it" in refused(
        f"{above}{code}NameError: name 'tokenizer' is not defined"
    )
    assert "before anything assigns" not in refused(f"{above}{code}NameError: the name is taken")


CONVERSATION = """User: I get an error message saying "Invalid API key".
Agent: Which error is it?
User: It says "401 Unauthorized", and my account is locked.
Agent: I escalate this to our engineers.
"""


@pytest.mark.parametrize("text", [CONVERSATION, repr(CONVERSATION)])
def test_what_people_say_of_errors_in_a_conversation_is_not_a_servers(text: str) -> None:
    assert "not recognized" in refused(text)


def test_an_error_below_a_conversation_is_read() -> None:
    error = read_evidence(f"{CONVERSATION}\nopenai.AuthenticationError: Error code: 401 - {{'error': 'no key'}}").error

    assert error is not None
    assert error.status == 401


CODES = "The manual lists these:\n\n- Error 1001: No network connection.\n- Error 2002: The disk is full.\n"


def test_a_list_of_codes_is_no_error() -> None:
    assert "not recognized" in refused(CODES)
    assert read_evidence("Error 1001: no network connection to the vLLM server").error is not None


def test_a_time_limit_alone_may_be_any_programs() -> None:
    assert "not recognized" in refused("Timed out with error = Timed out after 3s")
    assert read_evidence("Error: Timed out after 3s while waiting for the completion").error is not None


LOADED = """INFO:convert:Loading model: Small-Instruct
INFO:vocab:Setting chat_template to {%- if messages[0]["role"] == "system" %}
{%- set rest = messages[1:] %}{%- endif %}
{{- raise_exception("Conversation roles must alternate user/assistant/user/assistant/...") }}
INFO:convert:Model successfully exported
"""


def test_the_source_of_a_template_in_a_log_raises_nothing() -> None:
    assert "contains a chat template" in refused(LOADED)
    raised = (
        f"{LOADED}jinja2.exceptions.TemplateError: Conversation roles must alternate user/assistant/user/assistant/..."
    )
    assert "PD221" in reported(raised)


def test_a_package_that_a_healthy_server_does_without_is_no_error() -> None:
    head = "INFO 01-02 10:00:00 [config.py:10] Using max model len 2048\n"
    line = "WARNING 01-02 10:00:01 [_xpu_ops.py:16] Import error msg: No module named 'xpu_kernels'\n"
    last = "INFO 01-02 10:00:02 [weights.py:5] Loading weights\n"
    died = "ERROR 01-02 10:00:03 [core.py:5] ModuleNotFoundError: No module named 'xpu_kernels'\n"

    assert not reported(f"{head}{line}{last}")
    assert "PD100" in reported(f"{head}{last}{died}")


def test_a_warning_about_a_models_config_speaks_of_no_request() -> None:
    words = "Unrecognized keys in `rope_scaling` for 'rope_type'='linear': {'beta'}"

    assert "about the model's `config.json`" in refused(words)
    assert read_evidence("400 Bad Request: Unrecognized request argument supplied: rope_scaling").error is not None


AGENT = """======== New task ========
Add the numbers.
==== Agent is executing the code below:
total = sum(1, 2)
====
Code execution failed due to the following error:
sum() missing 1 required positional argument: 'iterable'
Traceback (most recent call last):
  File "/site-packages/transformers/agents/agents.py", line 10, in step
    result = self.python_evaluator(code)
transformers.agents.agents.AgentExecutionError: Code execution failed due to the following error:
sum() missing 1 required positional argument: 'iterable'
=== Agent thoughts:
Thought: I pass a list.
"""


def test_an_error_of_code_that_a_model_wrote_is_not_a_servers() -> None:
    assert "an error of that code goes back to the model" in refused(AGENT)
    said = reported(f"{AGENT}======\nopenai.RateLimitError: Error code: 429 - {{'error': {{'message': 'Too many'}}}}\n")
    assert "Too many" in said["PD100"]
