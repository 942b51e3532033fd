"""Python snippets: read, never run."""

import json
from pathlib import Path

import pytest

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.base.types import Api
from prompt_debugger.core.request import read_request

CALL = """
import os
from openai import OpenAI

client = OpenAI(
    base_url="http://localhost:8000/v1",
    api_key="sk-SECRET",
)
SYSTEM = "Be " "brief."
messages = [{"role": "system", "content": SYSTEM}]
messages.append({"role": "user", "content": f"What is {42}?"})
messages += [{"role": "assistant", "content": "42"}]
tools = [{"type": "function", "function": {"name": "f", "parameters": dict(type="object")}}]

def main():
    return client.chat.completions.create(
        model="m", messages=messages, tools=tools, temperature=0.5, max_tokens=1_024,
        extra_body={"chat_template_kwargs": {"thinking": False}, "temperature": 0.1},
        extra_headers={"Authorization": "Bearer SECRET"},
    )
"""


def fail(text: str) -> RequestError:
    with pytest.raises(RequestError) as caught:
        read_request(text)
    return caught.value


def test_a_call_of_the_openai_client_gives_the_body_it_would_send() -> None:
    request = read_request(CALL)

    assert request.body == {
        "model": "m",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "What is 42?"},
            {"role": "assistant", "content": "42"},
        ],
        "tools": [{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}],
        "temperature": 0.1,
        "max_tokens": 1024,
        "chat_template_kwargs": {"thinking": False},
    }
    assert (request.source, request.base_url) == ("python", "http://localhost:8000/v1")
    assert {"temperature", "extra_headers"} == {notice.field for notice in request.notices}


def test_only_the_body_is_kept() -> None:
    request = read_request(CALL)

    assert "SECRET" not in repr(request)
    assert json.loads(request.text) == request.body


def test_a_snippet_is_not_executed(tmp_path: Path) -> None:
    target = tmp_path / "made"

    error = fail(f'client.chat.completions.create(messages=[open({str(target)!r}, "w")])')

    assert "without running" in error.message
    assert not target.exists()


@pytest.mark.parametrize(
    "snippet",
    [
        "{'messages': [MESSAGE], 'stream': True}",
        'payload = {"messages": [MESSAGE], "stream": True}',
        'requests.post("http://h/v1/chat/completions", json={"messages": [MESSAGE], "stream": True})',
        'messages = [MESSAGE]\nextra_body = {"stream": True}',
        ">>> m = [MESSAGE]\n>>> r = c.chat.completions.create(\n...     messages=m, stream=True)",
        "!pip install openai\nr = await c.chat.completions.create(messages=[MESSAGE], stream=True)",
        '    b = {}\n    b["messages"] = []\n    b["messages"].append(MESSAGE)\n    b.update(stream=True)',
        'o = {"stream": True}\nc.chat.completions.create(messages=[MESSAGE], n=NOT_GIVEN, **o)',
        'd = {"messages": [MESSAGE], "stream": True}\nrequests.post("h/v1/chat/completions", data=json.dumps(d))',
    ],
)
def test_the_ways_to_write_one_request_read_alike(snippet: str) -> None:
    body = {"messages": [{"role": "user", "content": None}], "stream": True}

    request = read_request(snippet.replace("MESSAGE", 'dict(role="user", content=None)'))

    assert (request.source, request.body) == ("python", body)


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ('"a" + "b" "c"', "abc"),
        ('"""\n  a\n"""', "\n  a\n"),
        ('json.dumps({"city": "Zürich"}, ensure_ascii=False)', '{"city": "Zürich"}'),
        ('names["b"][-1]', "z"),
        ('f"{names!r}"', None),
        ("f\"{names['b'][0]} {who.name!r:>9}: {ask(1)}\"", "y {who.name}: {ask(1)}"),
        ('os.getenv("X", "default")', "default"),
        ('os.getenv("X")', None),
        ('textwrap.dedent("  a")', "a"),
        ('inspect.cleandoc("""\n    a\n    """)', "a"),
        ('" a".strip().upper()', "A"),
        ('", ".join(["a", "b"])', "a, b"),
        ('", ".join(["a", 1])', None),
        ('names["b"].copy()[0]', "y"),
        ("copy.deepcopy(names)['b'][0]", "y"),
        ("str(4)", "4"),
        ("str(uuid.uuid4())", "00000000-0000-4000-8000-000000000000"),
        ("uuid.uuid4().hex[0]", "0"),
        ('f"call_{uuid4()}"', "call_00000000-0000-4000-8000-000000000000"),
        ("datetime.now().strftime('%A')", "2026-01-01"),
        ("str(int(time.time()))", "1767225600"),
        ("secrets.token_hex(8)", "0" * 32),
        ("my.uuid5.thing()", None),
        ("strip(' a')", None),
        ("open('x').read().strip()", None),
        ("client.models.list().copy()", None),
        ('json.loads("1")', None),
        ('"a" * 2', None),
        ("2 ** 2", None),
        ("1 + 1", None),
        ("not 1", None),
        ("lambda: 1", None),
        ("b'bytes'", None),
        ("1j", None),
        ('"%s" % x', None),
        ('"\\ud83d"', None),
        ("-" * 300 + "1", None),
    ],
)
def test_expressions_are_read_or_refused_by_place(expression: str, value: str | None) -> None:
    message = f'{{"role": "user", "content": {expression}}}'
    snippet = f'names = {{"b": ["y", "z"]}}\nc.chat.completions.create(messages=[{message}])'

    if value is None:
        error = fail(snippet)
        assert error.line == 2 or "nested" in error.message
    else:
        assert value == read_request(snippet).messages[0]["content"]


@pytest.mark.parametrize(
    ("snippet", "place", "field"),
    [
        ('M = os.environ["M"]\nc.chat.completions.create(model="m", messages=M)', (1, 5), "messages"),
        ('c.chat.completions.create(messages=[{"role": "é", "content": q.text}])', (1, 62), "messages[0].content"),
        (
            '  c.chat.completions.create(\n    messages=[{"role": "user", "content": q}])',
            (2, 43),
            "messages[0].content",
        ),
        ("c.chat.completions.create(messages=history)", (1, 36), "messages"),
        ("m = []\nm.pop()\nc.chat.completions.create(messages=m)", (2, 1), "messages"),
        ("c.chat.completions.create(messages=[)", (1, 37), None),
        ('c.chat.completions.create(messages=[{"content": 1}])', (1, 37), "messages[0]"),
        ('m = [{"role": "user", "content": 1}]\nc.chat.completions.create(messages=m)', (1, 34), "messages[0].content"),
        ("c.chat.completions.create(messages=[], extra_body=3)", (1, 51), "extra_body"),
    ],
)
def test_errors_name_line_column_and_field(snippet: str, place: tuple[int, int], field: str | None) -> None:
    error = fail(snippet)

    assert (*place, field) == (error.line, error.column, error.field)


def test_only_the_first_of_several_calls_is_read() -> None:
    request = read_request(
        'c.chat.completions.create(model="a", messages=[])\nc.chat.completions.create(model="b", messages=[])'
    )

    assert request.body["model"] == "a"
    assert any("another call" in notice.message for notice in request.notices)


def test_what_an_f_string_takes_from_elsewhere_is_told() -> None:
    request = read_request('messages = [{"role": "user", "content": f"Say {word}, not {word}."}]')

    assert request.body["messages"] == [{"role": "user", "content": "Say {word}, not {word}."}]
    assert [notice.message for notice in request.notices] == [
        "`word` is not known from the snippet: `{word}` stands for it."
    ]


@pytest.mark.slow
@pytest.mark.parametrize(
    "snippet",
    [
        "a = ['" + "x" * 1000 + "']\n" + "a = [a, a]\n" * 60 + "messages = a",
        "a = ['" + "x" * 1000 + "']\n" + "a = [a, a]\n" * 40 + "messages = json.dumps(a)",
        "a = []\na.append(a)\nmessages = a",
        "a = [1]\n" + "a.extend(a)\n" * 60 + "messages = a",
        'a = "x"\n' + 'a = f"{a}{a}"\n' * 60 + "messages = a",
    ],
)
def test_values_that_grow_without_end_are_refused(snippet: str) -> None:
    assert "grow beyond" in fail(snippet).message


def test_an_extra_body_alone_says_what_is_missing() -> None:
    error = fail('extra_body={"chat_template_kwargs": {"thinking": False}}')

    assert "extra_body" in error.hint


HI = [{"role": "user", "content": "Hi"}]


def test_a_model_that_only_a_run_would_tell_is_left_out_and_said() -> None:
    model = "models.data[0].id"
    request = read_request(
        f"models = client.models.list()\nclient.chat.completions.create(model={model}, messages={HI})"
    )

    assert request.body == {"messages": HI}
    assert [(notice.field, notice.line) for notice in request.notices] == [("model", 2)]
    assert "left out" in request.notices[0].message


def test_messages_that_only_a_run_would_tell_are_refused() -> None:
    assert fail("client.chat.completions.create(model='m', messages=history.load())").field == "messages"


@pytest.mark.parametrize("way", ["with_raw_response.create", "with_streaming_response.create", "stream"])
def test_the_client_s_other_ways_to_call_are_read(way: str) -> None:
    assert read_request(f"with client.chat.completions.{way}(messages={HI}) as answer:\n    print(answer)").body == {
        "messages": HI
    }


def test_a_call_of_another_api_is_named_also_where_its_body_is_the_same() -> None:
    plain = read_request(f"client.messages.create(model='m', max_tokens=5, messages={HI})")
    marked = read_request(f"client.messages.create(model='m', max_tokens=5, messages={HI}, system='Be brief.')")

    for request in (plain, marked):
        assert [notice.message.split(";")[0] for notice in request.notices] == ["This is a body of Anthropic Messages"]
        assert request.api is Api.MESSAGES
        assert request.native is not None
    assert read_request(f"client.chat.completions.create(model='m', messages={HI})").notices == ()


LOCAL = """
from transformers import AutoTokenizer
tokenizer = AutoTokenizer.from_pretrained("Qwen/Qwen3-8B")
talk = [{"role": "user", "content": "Hi"}]
text = tokenizer.apply_chat_template(talk, TOOLS, tokenize=False, WITH)
"""
TALK = [{"role": "user", "content": "Hi"}]


def test_a_template_applied_in_the_script_keeps_what_it_is_given() -> None:
    given = "add_generation_prompt=True, enable_thinking=False, custom_flag=[1], max_length=9"

    request = read_request(LOCAL.replace("TOOLS", "[]").replace("WITH", given))

    assert request.body == {
        "model": "Qwen/Qwen3-8B",
        "messages": TALK,
        "tools": [],
        "add_generation_prompt": True,
        "chat_template_kwargs": {"enable_thinking": False, "custom_flag": [1]},
    }


def test_a_template_applied_without_a_generation_prompt_says_so() -> None:
    request = read_request(LOCAL.replace("TOOLS, ", "").replace(", WITH", ""))

    assert request.body["add_generation_prompt"] is False
    assert [notice.field for notice in request.notices] == ["add_generation_prompt"]


def test_tools_that_are_functions_are_left_out_and_said() -> None:
    request = read_request(LOCAL.replace("TOOLS", "[get_weather]").replace("WITH", "add_generation_prompt=True"))

    assert "tools" not in request.body
    assert [notice.message for notice in request.notices] == [
        "`tools` is left out: The snippet does not assign a value to `get_weather`."
    ]


@pytest.mark.parametrize(
    "call",
    [
        'llm = LLM(model="m")\nsampling = SamplingParams(temperature=0, max_tokens=64)\nllm.chat(talk, sampling, KW)',
        'LLM("m").chat([talk], sampling_params=SamplingParams(temperature=0, max_tokens=64), use_tqdm=False, KW)',
    ],
)
def test_a_chat_of_vllm_without_a_server_is_read(call: str) -> None:
    kwargs = 'tools=[], chat_template_kwargs={"enable_thinking": False}, lora_request=LoRARequest("a")'

    request = read_request(f"talk = {TALK!r}\n" + call.replace("KW", kwargs))

    assert request.body == {
        "model": "m",
        "messages": TALK,
        "temperature": 0,
        "max_tokens": 64,
        "tools": [],
        "chat_template_kwargs": {"enable_thinking": False},
    }


@pytest.mark.parametrize(
    "call", ["room.chat(talk, 1)", "ollama.chat(talk)", "tokenizer.apply_chat_template()", "model.generate(talk)"]
)
def test_other_calls_of_that_name_are_not_followed(call: str) -> None:
    request = read_request(f"messages = {TALK!r}\ntalk = 1\n{call}")

    assert request.body == {"messages": TALK}


def test_a_call_of_a_client_comes_before_one_in_the_script() -> None:
    client = 'c.chat.completions.create(model="m", messages=talk)'

    request = read_request(f"{LOCAL.replace('TOOLS, ', '').replace(', WITH', '')}\n{client}")

    assert request.body == {"model": "m", "messages": TALK}


def test_messages_of_a_script_that_cannot_be_known_are_refused_at_their_place() -> None:
    error = fail("t = AutoTokenizer.from_pretrained('m')\nt.apply_chat_template(load_talk())")

    assert (error.line, error.column, error.field) == (2, 23, "messages")


def test_a_value_that_is_new_in_every_run_is_named_with_its_placeholder() -> None:
    request = read_request("messages = [{'role': 'user', 'content': str(uuid.uuid4())}]")

    assert [notice.message for notice in request.notices] == [
        "`uuid.uuid4()` gives a new value in every run: `00000000-0000-4000-8000-000000000000` stands for it."
    ]


@pytest.mark.parametrize("sent", ["data", "data.encode()", 'data.encode("utf-8")', "DATA_OF_TEXT"])
def test_a_body_that_is_sent_as_a_text_of_json_is_the_request(sent):
    body = '{\n  "messages": [{"role": "user", "content": "Hi"}],\n  "stream": false\n}'
    snippet = f'import requests\ndata = """{body}"""\nrequests.post("http://h/v1/chat/completions", data={sent})'

    request = read_request(snippet.replace("DATA_OF_TEXT", repr(body)))

    assert request.body == json.loads(body)


def test_a_text_that_is_sent_and_is_no_json_is_named_with_its_place():
    snippet = 'import requests\nrequests.post(\n    "http://h/v1/chat/completions",\n    data="messages=Hi",\n)'

    with pytest.raises(RequestError, match="The text that is sent is not JSON") as raised:
        read_request(snippet)

    assert (raised.value.line, raised.value.column) == (4, 10)


@pytest.mark.parametrize("opened", ["", 'image = Image.open("a.png")\n'])
def test_an_image_that_a_script_opens_is_its_name(opened: str) -> None:
    talk = '[{"role": "user", "content": [{"type": "image", "image": image}, {"type": "text", "text": "Read it."}]}]'

    request = read_request(f"{opened}processor.apply_chat_template({talk}, tokenize=False, add_generation_prompt=True)")

    assert request.messages[0]["content"] == [{"type": "image", "image": "image"}, {"type": "text", "text": "Read it."}]


def test_a_text_that_a_script_computes_is_asked_for() -> None:
    call = 'processor.apply_chat_template([{"role": "user", "content": [{"type": "text", "text": words}]}])'

    assert "does not assign a value to `words`" in fail(call).message
