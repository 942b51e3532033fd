"""Command lines of servers, as people paste them: the parsers and the template that they name."""

import asyncio
import json

import pytest

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.evidence import Form, Part, read_evidence, show_evidence, trace_of
from prompt_debugger.core.report.repeat import curl_of

COMPOSE = """services:
  app:
    image: vllm/vllm-openai:v0.11.0
    ports: ["8000:8000"]
    command:
      - --model
      - a/b
      - --enable-auto-tool-choice
      - "--tool-call-parser"
      - hermes
    environment:
      - KEY=secret
"""
BLOCK = """    image: vllm/vllm-openai:v0.11.0
    command: >
      --model a/b --enable-auto-tool-choice
      --tool-call-parser hermes
    restart: always
"""
POD = """      containers:
      - name: vllm
        image: vllm/vllm-openai:v0.11.0
        command: ["/bin/sh", "-c"]
        args: ["vllm serve a/b --enable-auto-tool-choice --tool-call-parser hermes"]
"""
UNIT = """[Service]
ExecStart=/opt/venv/bin/vllm serve a/b \\
  --enable-auto-tool-choice --tool-call-parser=hermes
Restart=always
"""
FILE = (
    'FROM vllm/vllm-openai:v0.11.0\nCMD ["--model", "a/b", "--enable-auto-tool-choice", "--tool-call-parser", "hermes"]'
)


@pytest.mark.parametrize(
    "text",
    [
        "vllm serve a/b --enable-auto-tool-choice --tool-call-parser hermes --port 8000",
        "$ nohup vllm serve a/b \\\n  --enable-auto-tool-choice \\\n  --tool-call-parser 'hermes' > log 2>&1 &",
        "python3 -m vllm.entrypoints.openai.api_server --model a/b --enable-auto-tool-choice --tool-call-parser hermes",
        "docker run --rm vllm/vllm-openai:v0.11.0 --model a/b --enable-auto-tool-choice --tool-call-parser hermes",
        COMPOSE,
        BLOCK,
        POD,
        UNIT,
        FILE,
        f"My compose file:\n\n```yaml\n{COMPOSE}```\n",
    ],
)
def test_flags_are_read_wherever_they_stand(text):
    evidence = read_evidence(text)

    server = evidence.server
    assert (evidence.form, evidence.holds) == (Form.COMMAND, (Part.FLAGS,))
    assert (server.kind, server.model, server.tool_parser) == ("vllm", "a/b", "hermes")
    assert server.has_reasoning_parser is False
    assert server.version == ("0.11.0" if "v0.11.0" in text else None)
    assert "`--tool-call-parser hermes`" in evidence.words


def test_other_servers_are_known_by_their_programs():
    sglang = read_evidence("python -m sglang.launch_server --model-path a/b --tool-call-parser qwen25").server
    llama = read_evidence("./llama-server -m /models/a.gguf --jinja -c 8192 --chat-template-file t.jinja")

    assert (sglang.kind, sglang.model, sglang.parser_families) == ("sglang", "a/b", ("hermes",))
    assert (llama.server.kind, llama.server.max_model_len) == ("llama.cpp", 8192)
    assert any("`t.jinja`" in note for note in llama.notes)


def test_what_belongs_together_and_does_not_is_reported():
    lacks_switch = read_evidence("vllm serve a/b --tool-call-parser hermes")
    lacks_parser = read_evidence("vllm serve a/b --enable-auto-tool-choice")

    assert any("without `--enable-auto-tool-choice`" in note for note in lacks_switch.notes)
    assert any("without a tool parser" in note for note in lacks_parser.notes)


def test_the_template_of_the_flags_is_kept():
    text = "vllm serve a/b --tool-call-parser minimax_m2 --chat-template examples/tool_chat_template_minimax_m1.jinja"

    evidence = read_evidence(text)

    assert evidence.server.chat_template == "examples/tool_chat_template_minimax_m1.jinja"
    assert any("not with the model's own" in note for note in evidence.notes)


def test_flags_meet_the_raw_output_and_the_answer():
    raw = '<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call><|im_end|>'
    pair = {"raw": raw, "message": {"role": "assistant", "content": raw}}

    evidence = read_evidence(f"```\nvllm serve a/b --tool-call-parser mistral\n```\n\n```json\n{json.dumps(pair)}\n```")

    assert evidence.holds == (Part.RAW, Part.MESSAGE, Part.FLAGS)
    assert (evidence.server.tool_parser, evidence.raw) == ("mistral", raw)


@pytest.mark.parametrize(
    "text",
    [
        "I run vllm serve and it fails --sometimes",
        "llama-server is slow",
        "vllm serve",
        'image: nginx\ncommand: ["nginx"]',
    ],
)
def test_prose_and_other_commands_are_not_evidence(text):
    with pytest.raises(RequestError):
        read_evidence(text)


def test_a_snippet_that_starts_nothing_stays_a_request():
    text = 'curl http://h/v1/chat/completions -d \'{"messages": [{"role": "user", "content": "vllm serve a --x"}]}\''

    assert read_evidence(text).form is Form.REQUEST


def test_no_address_is_made_of_flags():
    trace = trace_of(read_evidence("vllm serve a/b --host 10.0.0.7 --tool-call-parser hermes"))

    assert trace.server.base_url == ""
    assert curl_of(trace).startswith("curl http://localhost:8000/v1/chat/completions")


LISTED = (
    "- '--model=Qwen--Qwen3-Coder-480B-A35B-Instruct'\n- \"--enable-auto-tool-choice\"\n- --tool-call-parser=hermes\n"
)


def test_a_list_of_flags_that_one_program_has_is_its_command():
    evidence = read_evidence(LISTED)

    assert evidence.server is not None
    assert (evidence.server.kind, evidence.server.tool_parser) == ("vllm", "hermes")
    assert "PD465" in [one.code for one in asyncio.run(show_evidence(evidence)).findings]


@pytest.mark.parametrize(
    "text", [LISTED.replace("--enable-auto-tool-choice", "--verbose"), "- --color=auto\n- --long\n"]
)
def test_a_list_of_flags_that_many_programs_have_is_no_command(text):
    with pytest.raises(RequestError):
        read_evidence(text)
