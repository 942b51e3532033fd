"""JavaScript calls of a client: read, never run."""

import pytest

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.request import read_request
from tests.attacks.growth import grows_linearly

BODY = {"model": "m", "messages": [{"role": "user", "content": 'say "hi"'}], "temperature": 0}
NODE = """import OpenAI from "openai";

const client = new OpenAI({ baseURL: 'http://localhost:8000/v1', apiKey: process.env.KEY });
// a comment with { in it
const answer = await client.chat.completions.create({
  model: "m",
  messages: [{ role: 'user', content: "say \\"hi\\"" }],
  temperature: 0, // none
});
console.log(answer.choices[0]);
"""


def test_the_object_of_a_javascript_call_is_read():
    request = read_request(NODE)

    assert request.body == BODY
    assert request.base_url == "http://localhost:8000/v1"
    assert "apiKey" not in request.text


def test_a_javascript_value_that_is_not_a_literal_is_named_at_its_place():
    with pytest.raises(RequestError) as caught:
        read_request("const r = await client.chat.completions.create({\n  model: 'm',\n  messages: history,\n});")

    assert caught.value.line == 3


def test_python_that_looks_alike_is_python():
    request = read_request(
        'client.chat.completions.create(**{"model": "m", "messages": [{"role": "user", "content": "{"}]})'
    )

    assert request.source == "python"
    assert request.body["messages"][0]["content"] == "{"


@pytest.mark.parametrize(
    "text",
    [
        """curl http://h/v1 -d '{"messages": [{"role": "user", "content": "chat.completions.create({a: 1})"}]}'""",
        """call(messages=[{"role": "user", "content": "chat.completions.create({a: 1})"}])
body = {"messages": [{"role": "user", "content": "chat.completions.create({a: 1})"}]}""",
    ],
    ids=["curl", "Python"],
)
def test_javascript_that_is_only_talked_about_is_not_a_call(text):
    assert read_request(text).body["messages"][0]["content"] == "chat.completions.create({a: 1})"


GIVEN = """
const model = `qwen`;
const sampling = { temperature: 0.2, top_p: 1 };
const system = { role: "system", content: "Be " + 'short' } as const;
const messages: Message[] = [system, { role: "user", content: `Hi ${model}, say "x"\\n` }];
const tools = [{ type: "function", function: { name: "f", parameters: { type: "object" } } }];
const stream = await openai.chat.completions.create({
  model, messages: [...messages], tools, ...sampling, seed: undefined });
"""


def test_names_that_were_given_literals_are_followed():
    assert read_request(GIVEN).body == {
        "model": "qwen",
        "messages": [{"role": "system", "content": "Be short"}, {"role": "user", "content": 'Hi qwen, say "x"\n'}],
        "tools": [{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}],
        "temperature": 0.2,
        "top_p": 1,
    }


@pytest.mark.parametrize(
    "text",
    [
        """await fetch("http://h:8000/v1/chat/completions", {
  method: "POST", headers: { Authorization: `Bearer ${key}` },
  body: JSON.stringify({ messages: [{ role: "user", content: "hi" }] }) });""",
        """axios.post('http://h:8000/v1/chat/completions',
  { messages: [{ role: "user", content: "hi" }] }, { headers })""",
    ],
    ids=["fetch", "axios"],
)
def test_a_plain_post_is_read_without_its_headers(text):
    request = read_request(text)

    assert request.body == {"messages": [{"role": "user", "content": "hi"}]}
    assert request.base_url == "http://h:8000/v1"
    assert "Bearer" not in request.text


def test_a_schema_that_is_made_at_run_time_is_left_out_and_said():
    request = read_request(
        'openai.chat.completions.parse({ messages: [{ role: "user", content: "hi" }],'
        ' response_format: zodResponseFormat(Event, "event") })'
    )

    assert request.body == {"messages": [{"role": "user", "content": "hi"}]}
    assert any("zodResponseFormat" in notice.message for notice in request.notices)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("const messages = []; messages.push(x);", "is modified here"),
        ("const messages = load();", "no readable value"),
        ("const messages = messages;", "given without a value"),
        ("let messages = [{ role: 'user', content: 'a' }]; messages = other;", "is modified here"),
        ("const messages = [{ role: 'user', content: `${now()}` }];", "no readable value"),
        ("const messages = [{ role: 'user', content: 1 + x.length }];", "no readable value"),
        ("const messages = [1, 2;", "expected here"),
        ("const messages = `never closed", "never closed"),
    ],
)
def test_what_would_have_to_be_run_is_refused_with_a_place(given, words):
    with pytest.raises(RequestError, match=words) as caught:
        read_request(given + "\nopenai.chat.completions.create({ messages })")

    assert caught.value.line is not None


@pytest.mark.slow
@pytest.mark.parametrize("before", ["const a = 1;\n", "let a = 1;\nlet b = 2;\n" * 100], ids=["one", "many"])
def test_names_are_read_in_linear_time(before):
    """Each use of a name looked for it in all of the snippet."""
    call = f"{before}client.chat.completions.create({{messages: [], a: ["

    assert grows_linearly(lambda size: read_request(f"{call}{'a,' * size}]}})"), first=2_000, doublings=6)


def test_a_long_value_cannot_be_used_forever():
    text = f"const a = `{'x' * 50_000}`;\nclient.chat.completions.create({{messages: [], a: [{'a,' * 100}]}})"

    with pytest.raises(RequestError, match="are too large"):
        read_request(text)


def test_a_change_of_another_name_is_none():
    text = """let a = 1; const $a = 2; $a += 1; let ba = 3; ba = 4;
client.chat.completions.create({messages: [], model: "m", n: a})"""

    assert read_request(text).body["n"] == 1


def test_a_call_may_be_broken_before_its_method():
    request = read_request(
        "const { data } = await openai.chat.completions\n  .create({ messages: [] })\n  .withResponse();"
    )

    assert request.body == {"messages": []}


def test_a_model_that_only_a_run_would_tell_is_left_out_and_said():
    request = read_request(
        "await client.chat.completions.create({\n  model: process.env.MODEL ?? 'x',\n  messages: [],\n});"
    )

    assert request.body == {"messages": []}
    assert [(notice.field, notice.line) for notice in request.notices if notice.field == "model"] == [("model", 2)]


def test_a_call_of_another_api_is_named_also_where_its_body_is_the_same():
    request = read_request(
        "const m = await client.messages.create({ model: 'm', messages: [{ role: 'user', content: 'Hi' }] });"
    )

    assert request.native == {"model": "m", "messages": [{"role": "user", "content": "Hi"}]}


def test_javascript_without_a_call_that_is_read_is_reported_to_be_that():
    with pytest.raises(RequestError) as caught:
        read_request("import { generateText } from 'ai';\nconst { text } = await generateText({ prompt: 'Hi' });")

    assert "no supported call of JavaScript" in caught.value.message
    assert caught.value.line == 1
