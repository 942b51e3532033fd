"""What LangChain would send, as far as its literals say."""

import pytest

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.request import read_request

TOOL = {"type": "function", "function": {"name": "search", "parameters": {"type": "object"}}}
MADE = f"""
from langchain_openai import ChatOpenAI
llm = ChatOpenAI(model="qwen", base_url="http://h:8000/v1", api_key="sk-none", temperature=0, max_retries=2)
tools = [{TOOL}]
"""


def test_text_is_a_user_message_and_the_clients_options_stay_out():
    request = read_request(MADE + "print(llm.invoke('hi').content)")

    assert request.body == {"model": "qwen", "temperature": 0, "messages": [{"role": "user", "content": "hi"}]}
    assert request.base_url == "http://h:8000/v1"


@pytest.mark.parametrize(
    ("choice", "sent"),
    [
        ("", None),
        (", tool_choice='any'", "required"),
        (", tool_choice=True", "required"),
        (", tool_choice='search'", {"type": "function", "function": {"name": "search"}}),
        (", tool_choice='auto'", "auto"),
    ],
)
def test_tools_are_bound_under_any_name(choice, sent):
    body = read_request(
        MADE + f"agent = llm.bind_tools(tools{choice})\nfor part in agent.stream('hi'): print(part)"
    ).body

    assert body["tools"] == [TOOL]
    assert body.get("tool_choice") == sent


def test_messages_are_read_as_pairs_classes_and_dicts():
    body = read_request(
        MADE
        + """
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
history = [("system", "Be short"), ("human", "hi"), HumanMessage(content="go"),
    AIMessage(content="", tool_calls=[{"name": "search", "args": {"q": "x"}, "id": "c1"}]),
    ToolMessage("3 results", tool_call_id="c1"), {"role": "user", "content": "and?"}]
await llm.ainvoke(history)
"""
    ).body

    assert [message["role"] for message in body["messages"]] == [
        "system", "user", "user", "assistant", "tool", "user",
    ]  # fmt: skip
    assert body["messages"][3]["tool_calls"] == [
        {"id": "c1", "type": "function", "function": {"name": "search", "arguments": '{"q": "x"}'}}
    ]
    assert body["messages"][4] == {"role": "tool", "content": "3 results", "tool_call_id": "c1"}


@pytest.mark.parametrize(
    ("method", "field"),
    [("", "response_format"), (", method='json_mode'", "response_format"), (", method='function_calling'", "tools")],
)
def test_a_schema_written_as_a_dict_is_sent_as_its_method_says(method, field):
    schema = "{'title': 'Person', 'type': 'object', 'properties': {}}"

    body = read_request(MADE + f"llm.with_structured_output({schema}{method}).invoke('Ann is 12')").body

    assert field in body
    assert ("tool_choice" in body) == (field == "tools")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("def search(q: str): ...\nllm.bind_tools([search]).invoke('hi')", "convert_to_openai_tool(search)"),
        ("class Person: ...\nllm.with_structured_output(Person).invoke('hi')", "convert_to_openai_tool(Person)"),
        ("llm.invoke(prompt)", "`prompt`"),
        ("llm.invoke(3)", "neither a string"),
    ],
)
def test_what_langchain_makes_when_it_runs_is_named_with_its_place(text, words):
    with pytest.raises(RequestError) as caught:
        read_request(MADE + text)

    assert words in caught.value.message
    assert caught.value.line is not None


def test_another_object_with_such_a_method_is_not_a_chat_model():
    with pytest.raises(RequestError, match="contains no request"):
        read_request("chain = load()\nchain.invoke('hi')")
