"""What notebooks show below a cell: logs of agents, states of graphs, printed objects, warnings, tracebacks."""

from __future__ import annotations

import asyncio
import json

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
    died = "ERROR 01-02 10:00:03 [core.py:5] ImportError: cannot import name 'Kernel' from 'transformers'\n"

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


MESSAGE = "message=AssistantMessage(content='Oslo.', tool_calls=None, prefix=False, role='assistant')"
CHOICE = f"index=0 {MESSAGE} finish_reason='stop'"
WHOLE = (
    "id='e1f2' object='chat.completion' model='small' usage=Usage(total_tokens=9) "
    f"choices=[ChatChoice(index=0, {MESSAGE}, finish_reason='stop')]"
)


@pytest.mark.parametrize("text", [WHOLE, f"Final answer: {WHOLE}", CHOICE, f"Choice of the day: {CHOICE}"])
def test_an_answer_that_pydantic_printed_without_its_class_is_read(text: str) -> None:
    evidence = read_evidence(text)

    assert evidence.chat is not None
    assert (evidence.chat.message["content"], evidence.finish_reason) == ("Oslo.", "stop")
    assert not [note for note in evidence.notes if "words around" in note]


def test_other_fields_are_no_answer() -> None:
    with pytest.raises(RequestError):
        read_evidence("id='e1f2' object='list' data=[Model(id='small', owned_by='me')]")


TAKEN = (
    "First call: ChoiceMessage(content=None, role='assistant', tool_calls=[ChoiceMessageToolCall(id='c1', "
    "function=ChoiceMessageToolCallFunction(arguments='{\"days\": 2}', name='forecast'), type='function')])\n\n"
    "Second answer: It will be dry, and nothing is missing.\n"
)


def test_classes_of_older_packages_are_read_behind_a_label() -> None:
    evidence = read_evidence(TAKEN)

    assert evidence.chat is not None
    assert '"name": "forecast"' in json.dumps(evidence.chat.message["tool_calls"])
    assert not reported(TAKEN)


HISTORY = """[{'role': 'user', 'content': 'Remind me.'},
 {'role': 'assistant', 'content': None, 'tool_calls': [{'function': {'name': 'remind',
   'arguments': {'at': datetime.datetime(2026, 1, 2, 14, 0), 'kind': <Kind.LOUD: 'loud'>}}}]}]"""


def test_values_that_only_python_prints_do_not_end_the_reading() -> None:
    evidence = read_evidence(HISTORY)

    assert evidence.chat is not None
    kept = json.dumps(evidence.chat.message["tool_calls"])
    assert '{"at": "datetime.datetime(2026, 1, 2, 14, 0)", "kind": "loud"}' in kept
    assert not reported(HISTORY)


def test_a_call_in_json_is_not_printed_by_python() -> None:
    with pytest.raises(RequestError, match="A JSON value is expected here, not 'Document'"):
        read_evidence('{"messages": [{"role": "user", "content": Document(1)}]}')


def test_arguments_that_are_an_object_in_an_answer_of_a_server_are_told() -> None:
    call = '{"id": "c1", "type": "function", "function": {"name": "remind", "arguments": {"at": 1}}}'

    assert "PD506" in reported(
        f'{{"choices": [{{"message": {{"role": "assistant", "content": null, "tool_calls": [{call}]}}}}]}}'
    )


def test_of_a_printed_call_nothing_is_said_that_no_label_shows() -> None:
    shown = "Tool Call #1\n  Tool Name: search\n  Arguments: {'limit': 1}\n"

    assert not reported(shown)
    assert "PD450" in reported(shown.replace("{'limit': 1}", "{'limit': 1, 'all': True"))


ASKED = '[{"role": "user", "content": "It\\"s for Ann\'s day."}]'


@pytest.mark.parametrize("printed", [repr(ASKED), repr(ASKED.replace("'", ""))])
def test_json_that_python_printed_as_a_string_is_unwrapped(printed: str) -> None:
    request = read_evidence(printed).request

    assert request is not None
    assert [one["role"] for one in request.messages] == ["user"]


def test_a_printed_string_that_is_no_json_stays_as_it_is() -> None:
    with pytest.raises(RequestError):
        read_evidence("'[draft] It is for you.'")


def test_a_row_of_numbers_has_no_status() -> None:
    row = "     is_outlier  score\n429        True  0.009\n430       False  0.011\n"

    assert "not recognized" in refused(f"The data set for llama has these:\n\n{row}")
    assert read_evidence("429 Too many requests to the chat completions API").error is not None


def test_documents_that_a_search_found_report_nothing() -> None:
    found = (
        'Answer for vllm.\\nContext: [Document(metadata={}, page_content="ValueError: Invalid type list in messages")]'
    )

    assert "not recognized" in refused(f"'{found}'")
    assert read_evidence("ValueError: Invalid type list in messages, said vLLM").error is not None


def test_a_hub_without_a_token_only_warns() -> None:
    words = (
        "/site-packages/huggingface_hub/utils/_auth.py:9: UserWarning: \n"
        "Error while fetching `HF_TOKEN` secret: 'timed out'.\n"
        "You are not authenticated with the Hub.\n  warnings.warn(\n"
    )

    assert "a warning of huggingface_hub about a token" in refused(words)
    assert "PD100" in reported(
        f"{words}openai.AuthenticationError: Error code: 401 - {{'error': {{'message': 'No key'}}}}"
    )
