"""The commands as a script drives them: JSON on stdout, one clear line on stderr, exit status."""

import json
import subprocess
import sys

import pytest

from tests.conftest import ROOT
from tests.patience import PATIENCE_S
from tests.warm.program import warm_environment

TEMPLATE = (
    "{% for m in messages %}<{{ m.role }}>{{ m.content }}\n{% endfor %}"
    "{% if add_generation_prompt %}<assistant>{% endif %}"
)
REQUEST = {"messages": [{"role": "user", "content": "hi"}]}
CALL = (
    "<|tool_calls_section_begin|><|tool_call_begin|>functions.get_weather:0<|tool_call_argument_begin|>"
    '{"city": "Paris"}<|tool_call_end|><|tool_calls_section_end|>'
)


def run(*arguments, text=""):
    command = [sys.executable, "app.py", *map(str, arguments)]
    return subprocess.run(
        command, cwd=ROOT, input=text, capture_output=True, text=True, timeout=PATIENCE_S, check=False,
        env=warm_environment(),
    )  # fmt: skip


def test_render_reads_standard_input_and_traces_every_character(tmp_path):
    template = tmp_path / "t.jinja"
    template.write_text(TEMPLATE)

    done = run("render", "-", "--chat-template", template, "--json", text=json.dumps(REQUEST))

    document = json.loads(done.stdout)
    assert done.returncode == 0, done.stderr
    assert document["text"] == "<user>hi\n<assistant>"
    assert document["identical"] is True
    assert document["tokens"] is None
    content = next(span for span in document["spans"] if span["field"] == "messages[0].content")
    assert document["text"][slice(*content["char_span"])] == "hi"
    assert (content["kind"], content["field_span"], content["template_line"]) == ("request", [0, 2], 1)


def test_render_with_the_lab_model_gives_tokens():
    done = run("render", "-", "--json", text=json.dumps(REQUEST))

    tokens = json.loads(done.stdout)["tokens"]
    assert [token["text"] for token in tokens][-3:] == ["<|im_assistant|>", "assistant", "<|im_middle|>"]
    assert tokens[-3]["kind"] == "special"
    assert "lab model" in done.stderr


def test_a_field_that_became_several_variables_is_named_once_as_unread():
    done = run(
        "render", "-", "--tokenizer", "assets/lab-model", text=json.dumps({**REQUEST, "reasoning_effort": "low"})
    )

    assert "never read by the template: reasoning_effort\n" in done.stdout


def test_a_call_without_an_id_says_so_in_words():
    done = run("parse", "-", text='<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>')

    assert "call f {} · no id\n" in done.stdout


ANSWER = {"choices": [{"message": {"role": "assistant", "content": "Hi"}, "finish_reason": "stop"}]}


@pytest.mark.parametrize(
    ("command", "value", "said"),
    [
        ("parse", ANSWER, "This is a chat response, not a raw output."),
        ("parse", ANSWER["choices"][0]["message"], "This is a message, not a raw output."),
        ("render", ANSWER, "This is a chat response, without a request."),
        ("render", {"raw": CALL, "message": {"role": "assistant", "content": ""}}, "This is a raw output of"),
    ],
)
def test_a_command_says_what_it_was_given_instead(command, value, said):
    done = run(command, "-", text=json.dumps(value))

    assert done.returncode == 2
    assert said in done.stderr
    assert "`inspect` reads it" in done.stderr


@pytest.mark.parametrize(
    ("text", "is_said"),
    [
        ("agents.exceptions.ModelBehaviorError: Tool look not found in agent Desk", True),
        ("I could not find any tool for that.", False),
        (CALL, False),
    ],
)
def test_a_text_without_a_call_that_may_be_something_else_is_not_passed_over(text, is_said):
    done = run("parse", "-", text=text)

    assert ("`inspect` reads this text as an error" in done.stdout) == is_said


def test_an_output_that_is_json_is_parsed():
    done = run("parse", "-", "--json", text='{"city": "Oslo", "content": 1}')

    assert json.loads(done.stdout)["raw"] == '{"city": "Oslo", "content": 1}'


def test_cases_keep_order_and_survive_bad_lines(tmp_path):
    cases = tmp_path / "cases.jsonl"
    good = {"request": REQUEST, "chat_template": TEMPLATE}
    lines = [{"id": "a", **good}, "{broken", {"id": "b", **good, "chat_template": "{% if %}"}, 7, {"id": "c", **good}]
    cases.write_text("\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines))

    done = run("render", "--cases", cases)

    documents = [json.loads(line) for line in done.stdout.splitlines()]
    assert [document["id"] for document in documents] == ["a", None, "b", None, "c"]
    assert [document.get("error") is None for document in documents] == [True, False, False, False, True]
    assert documents[2]["error"]["template_line"] == 1
    assert done.returncode == 1


def test_parse_finds_the_call_and_accounts_for_the_message(tmp_path):
    message = tmp_path / "message.json"
    message.write_text(json.dumps({"role": "assistant", "content": None}))

    done = run("parse", "-", "--json", "--message", message, "--finish-reason", "stop", text=CALL)

    document = json.loads(done.stdout)
    assert document["format"] == "kimi_k2"
    assert document["calls"][0]["arguments_json"] == {"city": "Paris"}
    assert "".join(CALL[slice(*entry["char_span"])] for entry in document["ledger"]) == CALL
    assert "lost" in {entry["fate"] for entry in document["ledger"]}
    assert "dropped-call" in {finding["name"] for finding in document["findings"]}
    assert done.returncode == 1


@pytest.mark.parametrize(
    ("text", "place"),
    [('{"messages": [}', "line 1"), ("", ""), ('{"messages": [{"content": "x"}]}', "messages[0]")],
)
def test_bad_input_is_one_line_and_an_error_object(text, place):
    done = run("run", "-", "--json", text=text)

    error = json.loads(done.stdout)["error"]
    assert done.returncode == 2
    assert error["type"] == "RequestError"
    assert place in json.dumps(error) or place in done.stderr or str(error.get("line")) in place
    assert len(done.stderr.strip().splitlines()) == 1


def test_an_unreachable_endpoint_is_status_2_and_names_the_address():
    done = run("run", "-", "--endpoint", "http://127.0.0.1:9/v1", "--json", text=json.dumps(REQUEST))

    error = json.loads(done.stdout)["error"]
    assert done.returncode == 2
    assert (error["type"], error["kind"]) == ("BackendError", "unreachable")
    assert "127.0.0.1:9" in error["message"]


def test_an_unknown_example_lists_the_known_ones():
    done = run("run", "--example", "nope")

    assert done.returncode == 2
    assert "dropped-call" in done.stderr


def test_render_tries_switches_counts_and_turns():
    request = {
        **REQUEST,
        "messages": [*REQUEST["messages"], {"role": "assistant", "content": "ho"}, *REQUEST["messages"]],
    }

    done = run("render", "-", "--json", "--what-if", "--prompt-tokens", 7, "--turns", text=json.dumps(request))

    document = json.loads(done.stdout)
    assert done.returncode == 0, done.stderr
    assert "no-generation-prompt" in json.dumps(document["what_if"])
    assert document["prompt_tokens"]["counted"] == 7
    assert len(document["turns"]["turns"]) == 1


@pytest.mark.parametrize(
    ("endpoint", "variable", "expected"),
    [
        ("https://api.example/v1", None, "k"),
        ("http://127.0.0.1:8000/v1", None, "k"),
        ("localhost:8000", None, "k"),
        ("http://192.0.2.7:8000/v1", None, None),
        ("http://192.0.2.7:8000/v1", "OPENAI_API_KEY", "k"),
        (None, None, None),
    ],
)
def test_a_key_that_no_one_named_is_not_sent_in_clear(monkeypatch, endpoint, variable, expected):
    from prompt_debugger.ui.cli.target_options import api_key_for

    monkeypatch.setenv("OPENAI_API_KEY", "k")

    assert api_key_for(endpoint, variable) == expected


@pytest.mark.vllm
def test_parse_tries_every_split_and_every_release_that_is_named():
    done = run(
        "parse", "-", "--json", "--parser", "vllm:kimi_k2", "--splits", "--seed", 5, "--releases", "0.32.0", text=CALL
    )

    document = json.loads(done.stdout)
    assert done.returncode == 0, done.stderr
    names = [trial["name"] for trial in document["splits"]["vllm:kimi_k2"]["trials"]]
    assert names[:2] == ["token by token", "as one delta"]
    assert any(name.endswith("seed 5") for name in names)
    assert document["splits"]["vllm:kimi_k2"]["equal"] is True
    assert [row["version"] for row in document["releases"]["rows"]] == ["0.32.0"]
    assert document["releases"]["calls"][0]["taken_by"] == ["0.32.0"]


@pytest.mark.vllm
def test_parse_asks_every_parser_and_holds_the_output_against_none_of_them():
    done = run("parse", "-", "--json", "--parser", "vllm:*", text=CALL)

    document = json.loads(done.stdout)
    assert len(document["parsers"]) == 54
    assert [call["function"]["name"] for call in document["parsers"]["vllm:kimi_k2"]["tool_calls"]] == ["get_weather"]
    assert "lost" not in {entry["fate"] for entry in document["ledger"]}


def test_releases_of_an_output_that_no_parser_is_made_for_are_one_clear_line():
    done = run("parse", "-", "--releases", "0.32.0", text="Just a text.")

    assert done.returncode == 2
    assert "vLLM has no parser for this output, which is of the format generic." in done.stderr
