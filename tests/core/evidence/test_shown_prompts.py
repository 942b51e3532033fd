"""What people print of prompts and start servers with: literals, ids, lists of tokens, programs in fences, commands."""

from __future__ import annotations

import pytest

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.evidence import read_evidence
from prompt_debugger.core.evidence.commands.lost_flags import find_lost_flags
from prompt_debugger.core.evidence.values.token_lists import is_token_list
from tests.core.evidence.pasted import codes, shown


@pytest.mark.parametrize(
    "text",
    [
        "'<s>[INST] Name a river. [/INST]'",
        '["<s>[INST] Name a river. [/INST]", "<s>[INST] Name a hill. [/INST]"]',
        "prompt: '<s>[INST] Name a river. [/INST]'",
        'EXPECTED = [\n    """<s>[INST] Name a river. [/INST]""",\n]',
        'formatted_prompt = "<s>[INST] Name a river. [/INST]"',
    ],
)
def test_a_prompt_that_python_printed_is_a_prompt(text: str):
    evidence = read_evidence(text)

    assert (evidence.prompt, evidence.raw) == ("<s>[INST] Name a river. [/INST]", None)
    assert not codes(text)


def test_a_literal_that_is_no_prompt_stays_an_output():
    assert read_evidence("'<think>short</think>Oslo'").prompt is None


def test_a_label_of_an_output_makes_no_prompt_of_it():
    assert read_evidence("output: '<|im_start|>assistant\\nOslo<|im_end|>'").prompt is None


def test_a_text_in_single_quotes_after_a_label_is_read_without_its_escapes():
    evidence = read_evidence("content: '\\nOslo\\n<think>no'\nfinish_reason: stop")

    assert evidence.chat is not None
    assert evidence.chat.message["content"] == "\nOslo\n<think>no"


@pytest.mark.parametrize("ids", ["[128000, 128000, 128006, 9125]", "{'input_ids': [151646, 151646, 151644, 14990]}"])
def test_printed_ids_that_begin_with_bos_twice(ids: str):
    assert codes(ids) == ["PD230"]
    assert codes(f"```python\ntok = f('m')\n```\nThe tokens are:\n```\n{ids}\n```") == ["PD230"]


@pytest.mark.parametrize("ids", ["[128000, 128006, 9125]", "{'attention_mask': [1, 1, 1, 1]}", "[7, 7, 8, 9]"])
def test_other_ids_say_nothing(ids: str):
    with pytest.raises(RequestError):
        read_evidence(ids)


def test_a_list_of_tokens_was_written_by_no_model():
    names = ["tool_call", "/tool_call", "think", "/think", "|im_start|", "|im_end|", "|fim_pad|", "|file_sep|"]
    listed = "\n".join(f"{151643 + at} <{name}> {'true' if '|' in name else 'false'}" for at, name in enumerate(names))
    quoted = "[" + ",\n ".join(f"'<{name}>'" for name in names) + "]"

    assert is_token_list(listed)
    assert is_token_list(quoted)
    with pytest.raises(RequestError, match="lists the tokens of a vocabulary"):
        read_evidence(f"My tokenizer has:\n\n{listed}")
    with pytest.raises(RequestError):
        read_evidence(quoted)


def test_an_output_with_each_tag_on_its_line_is_no_list():
    call = (
        "<tool_call>\n<function=f>\n<parameter=a>\ntrue\n</parameter>\n<parameter=b>\n12\n</parameter>\n</function>\n"
    )

    assert not is_token_list(call + "</tool_call>")
    assert read_evidence(call + "</tool_call>").raw


@pytest.mark.parametrize(
    "command",
    [
        "vllm serve m \\\n  --max-model-len 9 \\\n  --enforce-eager\n  --tool-call-parser hermes \\\n  --port 1",
        "vllm serve m \\\n  --enforce-eager \\ \n  --tool-call-parser hermes \\\n  --seed 1 \\\n  --port 1",
        "vllm serve m \\\n  --enforce-eager \\\n  # --dtype half \\\n  --tool-call-parser hermes \\\n  --port 1",
        "docker run \\\n  -p 1 \\\n  vllm/vllm-openai:v0.9.1 \\\n  --model m\n  --tool-call-parser hermes\n  --port 1",
    ],
)
def test_flags_below_the_end_of_a_command_are_lost(command: str):
    assert find_lost_flags(command)[0] == "--tool-call-parser"
    assert codes(command) == ["PD472"]


@pytest.mark.parametrize(
    "command",
    [
        "vllm serve m \\\n  --max-model-len 9 \\\n  --tool-call-parser hermes",
        "vllm serve m \\\n  --max-num-seqs 9 \\\n  --port 1\n\n--tool-call-parser is what I tried before",
        "vllm serve m\n  --enforce-eager\n  --tool-call-parser hermes",
        "vllm serve m --enforce-eager --port 1",
        "services:\n  a:\n    image: vllm/vllm-openai:v0.9.1\n    command: >\n      --model m\n",
    ],
)
def test_other_commands_lose_nothing(command: str):
    assert not find_lost_flags(command)


def test_one_end_token_printed_alone_is_an_empty_output():
    printed = "CompletionOutput(index=0, text='', token_ids=[IDS], finish_reason=stop, stop_reason=None)"

    assert codes(printed.replace("IDS", "151645")) == ["PD303"]
    assert not codes(printed.replace("IDS", "25, 220, 23, 151645"))  # which may not have been decoded
    assert "PD303" not in codes(printed.replace("IDS", "25").replace("=stop,", "=length,"))


def test_an_object_in_place_of_a_dict_is_named_whole():
    trace = shown("jinja2.exceptions.UndefinedError: 'app.chat.UserMessage object' has no attribute 'get'")

    assert trace.findings[0].title.endswith("'app.chat.UserMessage object' has no attribute 'get'.")
    assert "object of a Python class" in trace.findings[0].detail
    other = shown("jinja2.exceptions.UndefinedError: 'str object' has no attribute 'get'")
    assert "object of a Python class" not in other.findings[0].detail


def test_a_program_in_a_fence_is_named_by_its_own_fault():
    text = "I run this:\n```python\nllm.chat(messages=unknown)\nx = 1\n```\nand it's odd:\n```\nNight\n```\n"

    with pytest.raises(RequestError) as caught:
        read_evidence(text)

    assert "cannot be read as Python" not in str(caught.value)


def test_a_paste_that_begins_within_a_fence_is_read():
    code = 'client.chat.completions.create(model="m", messages=[{"role": "user", "content": "hi"}])'

    assert read_evidence(f"{code}\n```\n\nIt's what I get:\n\n```\nHello.\n```\n").request is not None


def test_a_report_whose_last_fence_is_cut_is_not_turned_inside_out():
    report = (
        "The `<|tool_call_start|>` tokens came as raw text in the chat output.\n\nI get:\n```\n<|tool_call_start|>[f"
    )

    assert read_evidence(report).raw != report
    assert "came as raw text" not in str(read_evidence(report).raw)


def test_a_program_that_asks_for_plain_completions():
    evidence = read_evidence('r = client.completions.create(model="m", prompt="<s><s>[INST] Hi [/INST]")')

    assert evidence.prompt == "<s><s>[INST] Hi [/INST]"
    assert codes('r = client.completions.create(model="m", prompt="<s><s>[INST] Hi [/INST]")') == ["PD226"]


def test_a_printed_dict_without_a_label_is_not_called_arguments():
    with pytest.raises(RequestError):
        read_evidence("{'river': 'Glomma', 'length': 600}")
    assert codes("arguments: {'river': 'Glomma', 'length': 600}") == ["PD450"]


def test_a_printed_prompt_ends_where_a_person_goes_on():
    code = "prompt = tokenizer.apply_chat_template([{'role': 'ROLE', 'content': 'Which river?'}], tokenize=False)"
    printed = "the prompt printed:\n<|im_start|>user\nWhich river?<|im_end|>\n\nI used the helper to make this.\n"

    trace = shown(f"```\n{code.replace('ROLE', 'user')}\n```\n{printed}")
    assert [one.code for one in trace.findings] == ["PD227"]
    assert trace.prompt is not None
    assert trace.prompt.text.rstrip().endswith("<|im_end|>")
    assert not codes(f"```\n{code.replace('ROLE', 'assistant')}\n```\n{printed}")  # a finished conversation


def test_a_person_who_misses_a_field_reports_no_error():
    command = "```\npython -m sglang.launch_server --model-path m --port 1\n```\n"

    assert not codes(f'{command}but the response doesn\'t contain the "reasoning_content".\n')
    assert codes("Error: the response does not contain the expected keys.") == ["PD445"]


def test_what_the_ai_sdk_did_not_read_is_explained():
    trace = shown('AI_NoOutputGeneratedError: No output generated.\n  finishReason: tool-calls\n  lastText: "{}"')
    other = shown("AI_NoOutputGeneratedError: No output generated. Check the stream for errors.")

    assert "ended with `tool-calls`" in trace.findings[0].detail
    assert "ended with `tool-calls`" not in other.findings[0].detail


def test_encrypted_reasoning_that_openai_cannot_read_is_known():
    error = '{"error": {"message": "The encrypted content gAAA...c90= could not be verified.", "code": "MORE"}}'

    assert "`reasoning` items" in str(shown(error.replace("MORE", "invalid_encrypted_content")).findings[0].fix)
