"""What people paste is cut, quoted, numbered, wrapped: it shows what the whole text shows, or less, or is refused.

Some forty texts of all forms, healthy and faulty, are mutilated in some thirty ways each. None may raise anything but
`RequestError` with a sentence and a hint, and none may show a fault that the whole text does not show.
"""

from __future__ import annotations

import functools
import html
import json
import re
import textwrap
from dataclasses import replace

import pytest

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.diagnose import diagnose_trace
from prompt_debugger.core.evidence import read_evidence, trace_of
from prompt_debugger.core.pipeline.census import take_census

# What a text that is cut may show besides: that it has no end, or that a marker at its beginning is missing.
CUT_CODES = {"PD310", "PD435", "PD463", "PD468", "PD227"}  # that it ends early; what a text alone is, or a prompt

BODY = {
    "model": "m",
    "messages": [{"role": "user", "content": "What's the weather in Oslo?"}],
    "tools": [
        {
            "type": "function",
            "function": {
                "name": "get_weather",
                "description": "Weather",
                "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
            },
        }
    ],
}
ARGUMENTS = '{"city": "Oslo"}'
RAW = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Oslo"}}\n</tool_call><|im_end|>'
KIMI = (
    "<|tool_calls_section_begin|><|tool_call_begin|>functions.get_weather:0<|tool_call_argument_begin|>"
    '{"city": "Oslo"}<|tool_call_end|><|tool_calls_section_end|><|im_end|>'
)
PROMPT = "<|im_start|>user\nWhat's the weather in Oslo?<|im_end|>\n<|im_start|>assistant\n"


def call(arguments=ARGUMENTS, name="get_weather", call_id="call_1"):
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def answer(*calls, content=None, reason="tool_calls"):
    message = {"role": "assistant", "content": content, "tool_calls": list(calls)}
    usage = {"prompt_tokens": 20, "completion_tokens": 30, "total_tokens": 50}
    return {"id": "x", "choices": [{"index": 0, "message": message, "finish_reason": reason}], "usage": usage}


def printed(value):
    """Return an answer as the openai package prints it."""
    choice = value["choices"][0]
    calls = ", ".join(
        f"ChatCompletionMessageFunctionToolCall(id={one['id']!r}, function=Function("
        f"arguments={one['function']['arguments']!r}, name={one['function']['name']!r}), type='function')"
        for one in choice["message"]["tool_calls"]
    )
    return (
        f"ChatCompletion(id='x', choices=[Choice(finish_reason={choice['finish_reason']!r}, index=0, logprobs=None, "
        f"message=ChatCompletionMessage(content={choice['message']['content']!r}, refusal=None, role='assistant', "
        f"audio=None, function_call=None, tool_calls=[{calls}]))], created=1, model='m', object='chat.completion', "
        "usage=CompletionUsage(completion_tokens=30, prompt_tokens=20, total_tokens=50))"
    )


def stream(*arguments, reason="tool_calls"):
    deltas = [{"role": "assistant", "content": None, "tool_calls": [{"index": 0, **call("")}]}]
    deltas += [{"tool_calls": [{"index": 0, "function": {"arguments": piece}}]} for piece in arguments]
    events = [{"choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
    events.append({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
    return "".join(f"data: {json.dumps(event)}\n\n" for event in events) + "data: [DONE]\n\n"


def vllm(output, streamed=" (streaming complete)"):
    head = "INFO 11-23 10:00:01 [logger.py:39]"
    return (
        f"{head} Received request chatcmpl-1: prompt: {PROMPT!r}, params: SamplingParams(n=1), lora_request: None.\n"
        f"{head} Generated response chatcmpl-1{streamed}: output: {output!r}, output_token_ids: None, "
        "finish_reason: stop\n"
    )


HEALTHY, BROKEN, TWICE = answer(call()), answer(call("{'city': 'Oslo'}")), answer(call(ARGUMENTS * 2))
LEAKED, EMPTY = answer(content=RAW[:-10], reason="stop"), answer()
DELTAS = "\n".join(
    [
        "ChoiceDelta(content='Hello', function_call=None, refusal=None, role='assistant', tool_calls=None)",
        "ChoiceDelta(content=' there', function_call=None, refusal=None, role=None, tool_calls=None)",
    ]
)
BLOCK = "ToolUseBlock(id='t1', input={'city': 'Oslo'}, name='get_weather', type='tool_use')"
CURL = f"curl http://localhost:8000/v1/chat/completions -H 'X-Id: 1' -d {json.dumps(json.dumps(BODY))}"
SERVE = "vllm serve a/b --enable-auto-tool-choice --tool-call-parser hermes --port 8000"
SESSION = "\n".join(
    json.dumps({"type": role, "uuid": "u", "sessionId": "s", "message": {"id": role, "role": role, "content": content}})
    for role, content in (
        ("user", "Hi"),
        ("assistant", [{"type": "tool_use", "id": "t1", "name": "get_weather", "input": {"city": "Oslo"}}]),
    )
)

BOS_WARNING = (
    "check_double_bos_eos: Added a BOS token to the prompt as specified by the model but the prompt also starts with a "
    "BOS token. So now the final prompt starts with 2 BOS tokens. Are you sure this is what you want?"
)
CODEX = (
    {"type": "thread.started", "thread_id": "t"},
    {"type": "turn.started"},
    {"type": "item.completed", "item": {"id": "item_0", "type": "agent_message", "text": "It is sunny."}},
    {"type": "turn.completed", "usage": {"input_tokens": 5, "output_tokens": 2}},
)
PYDANTIC = """1 validation error for ChatCompletionRequest
messages.0.content
  Input should be a valid string [type=string_type, input_value=7, input_type=int]
    For further information visit https://errors.pydantic.dev/2.11/v/string_type"""
SCRIPT = """import uuid
from transformers import AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("a/b")
messages = [{"role": "user", "content": "What's the weather in Oslo?"}, {"role": "user", "content": str(uuid.uuid4())}]
text = tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True, enable_thinking=False)"""

PASTES = {
    "a request": json.dumps(BODY, indent=1),
    "a request on one line": json.dumps(BODY),
    "curl": CURL,
    "curl and its answer": f"{CURL}\n{json.dumps(HEALTHY)}",
    "an answer": json.dumps(HEALTHY, indent=2),
    "an answer on one line": json.dumps(HEALTHY),
    "Python in arguments": json.dumps(BROKEN, indent=2),
    "arguments twice": json.dumps(TWICE),
    "a leaked call": json.dumps(LEAKED, indent=2),
    "no call": json.dumps(EMPTY),
    "a pair": json.dumps({"raw": RAW, "message": HEALTHY["choices"][0]["message"]}),
    "a lost call": json.dumps({"raw": KIMI, "message": {"role": "assistant", "content": ""}}, indent=1),
    "an exchange": json.dumps({"request": BODY, "response": HEALTHY}),
    "a raw output": RAW,
    "a raw output of another family": KIMI,
    "reasoning": f"<think>\nThe user wants the weather.\n</think>\n\n{RAW}",
    "a prompt and an output": PROMPT + RAW,
    "a stream": stream('{"city"', ': "Oslo"}'),
    "a stream with a fault": stream('{"city"', ": 'Oslo'}"),
    "a printed answer": printed(HEALTHY),
    "a printed fault": printed(BROKEN),
    "a printed leak": printed(LEAKED),
    "a printed dict": repr(HEALTHY),
    "printed deltas": DELTAS,
    "a printed block": f"Message(id='m', content=[{BLOCK}], role='assistant', stop_reason='tool_use', type='message')",
    "a log": vllm(RAW),
    "a log with a leak": vllm(RAW[:-10], streamed=""),
    "a command": SERVE,
    "a session": SESSION,
    "a tutorial's print": f"Prompt: {PROMPT!r}, Generated text: {RAW!r}",
    "an older call": json.dumps(
        {"choices": [{"message": {"role": "assistant", "content": None, "function_call": call()["function"]}}]},
        indent=1,
    ),
    "a stripped call of harmony": 'analysisI look it up.assistantcommentary to=functions.f json{"city": "Oslo"}',
    "a warning of two BOS tokens": BOS_WARNING,
    "a prompt that was cut": 'level=WARN source=x.go:1 msg="truncating input prompt" limit=2048 prompt=8632',
    "slots": "slot process_toke: id  0 | task 0 | stopped by limit, n_decoded = 64, n_predict = 64",
    "turns of codex exec": "\n".join(map(json.dumps, CODEX)),
    "faults of a request": PYDANTIC,
    "a refusal": json.dumps({"error": {"message": "registry.ollama.ai/library/gemma3:4b does not support tools"}}),
    "a script": SCRIPT,
    "a template that does not belong": f"{SERVE} --chat-template examples/tool_chat_template_mistral.jinja",
    "a report": f"I run\n\n```\n{SERVE}\n```\n\nand get\n\n```json\n{json.dumps(BROKEN, indent=1)}\n```\n\nWhy?",
}


def lines_of(text, change):
    return "\n".join(change(number, line) for number, line in enumerate(text.split("\n"), 1))


def cut_at(share):
    return lambda text: text[: int(len(text) * share)]


def typographic(text):
    """Return a text whose quotation marks a word processor paired."""
    opened = re.sub(r'(^|[\s\[({:,])"', "\\1\u201c", text)
    return re.sub(r"(^|[\s\[({:,])'", "\\1\u2018", opened).replace('"', "\u201d").replace("'", "\u2019")


MUTILATIONS = {
    "cut in the middle": cut_at(0.53),
    "cut near the end": cut_at(0.94),
    "cut at the beginning": lambda text: text[int(len(text) * 0.21) :],
    "quoted": lambda text: lines_of(text, lambda _, line: f"> {line}"),
    "fenced": lambda text: f"```\n{text}\n```",
    "numbered": lambda text: lines_of(text, lambda number, line: f"{number:4} | {line}"),
    "below a shell's prompt": lambda text: f"user@host:~$ cat answer.txt\n{text}\nuser@host:~$ ",
    "wrapped": lambda text: lines_of(
        text, lambda _, line: "\n".join(textwrap.wrap(line, 79)) if len(line) > 79 else line
    ),
    "wrapped by a terminal": lambda text: lines_of(
        text, lambda _, line: "\n".join(line[at : at + 80] for at in range(0, max(len(line), 1), 80))
    ),
    "indented": lambda text: lines_of(text, lambda _, line: f"    {line}"),
    "CRLF": lambda text: text.replace("\n", "\r\n"),
    "coloured": lambda text: lines_of(text, lambda _, line: f"\x1b[32m{line}\x1b[0m"),
    "typographic quotes": lambda text: text.replace('"', "\u201d").replace("'", "\u2019"),
    "paired typographic quotes": typographic,
    "escaped for HTML": html.escape,
    "quoted twice": lambda text: lines_of(text, lambda _, line: f"> > {line}"),
    "quoted without a blank": lambda text: lines_of(text, lambda _, line: f">{line}"),
    "quoted and fenced": lambda text: lines_of(f"```\n{text}\n```", lambda _, line: f"> {line}"),
    "fenced with a language": lambda text: f"```json\n{text}\n```",
    "fenced with tildes": lambda text: f"~~~\n{text}\n~~~",
    "fenced and not closed": lambda text: f"Log:\n```\n{text}",
    "numbered with colons": lambda text: lines_of(text, lambda number, line: f"{number}: {line}"),
    "numbered with tabs": lambda text: lines_of(text, lambda number, line: f"{number:6}\t{line}"),
    "indented by tabs": lambda text: lines_of(text, lambda _, line: f"\t{line}"),
    "indented by two tabs": lambda text: lines_of(text, lambda _, line: f"\t\t{line}"),
    "typed at a prompt": lambda text: lines_of(text, lambda _, line: f"$ {line}"),
    "below a command": lambda text: f"$ cat answer.txt\n{text}\n$ echo $?\n0\n$ ",
    "below a root's prompt": lambda text: f"root@host:/app# python run.py\n{text}\nroot@host:/app# exit",
    "below PowerShell's prompt": lambda text: f"PS C:\\Users\\me> type answer.txt\n{text}\nPS C:\\Users\\me>",
    "CRLF and quoted": lambda text: lines_of(text, lambda _, line: f"> {line}\r"),
    "CRLF, fenced and numbered": lambda text: (
        "```\r\n" + lines_of(text, lambda number, line: f"{number:3}| {line}\r") + "\n```\r\n"
    ),
    "added in a diff": lambda text: lines_of(text, lambda _, line: f"+{line}"),
    "a byte order mark": lambda text: f"\ufeff{text}",
    "no-break spaces": lambda text: text.replace(" ", "\u00a0"),
    "cut and fenced": lambda text: f"```\n{text[: int(len(text) * 0.71)]}\n```",
    "cut and quoted": lambda text: lines_of(text[: int(len(text) * 0.37)], lambda _, line: f"> {line}"),
    "in a container's log": lambda text: lines_of(text, lambda _, line: f"app-1  | {line}"),
    "between sentences": lambda text: f"Hello,\n\nI get this:\n\n{text}\n\nWhat is wrong?",
}


@functools.cache  # most texts are asked for by two tests, the whole ones by seventy
def codes_of(text):
    """Return the codes of what a text shows; `None` if it is refused with a hint."""
    try:
        evidence = read_evidence(text)
    except RequestError as error:
        is_said = error.hint and error.message.strip().endswith((".", "!", "?", "…", "`"))
        return None if is_said else {f"without a sentence or a hint: {error}"}
    trace = evidence.run or trace_of(evidence)
    if trace.raw is not None:
        trace = replace(trace, parse=take_census(trace, special_texts=frozenset()))
    return {finding.code for finding in diagnose_trace(trace)}


@pytest.mark.parametrize("mutilation", MUTILATIONS)
def test_what_is_mutilated_shows_no_fault_of_its_own(mutilation):
    whole = {paste: codes_of(text) for paste, text in PASTES.items()}

    shown = {paste: codes_of(MUTILATIONS[mutilation](text)) or set() for paste, text in PASTES.items()}

    assert None not in whole.values()
    assert {paste: own for paste in PASTES if (own := shown[paste] - whole[paste] - CUT_CODES)} == {}


KEPT = (
    "quoted", "fenced", "numbered", "indented", "CRLF", "coloured", "in a container's log", "between sentences",
    "quoted twice", "quoted without a blank", "quoted and fenced", "fenced with a language", "fenced with tildes",
    "fenced and not closed", "numbered with colons", "numbered with tabs", "indented by tabs", "indented by two tabs",
    "CRLF and quoted", "CRLF, fenced and numbered", "a byte order mark", "no-break spaces", "below a command",
    "below a root's prompt", "typed at a prompt", "below a shell's prompt",
)  # fmt: skip


# Where one thing ends and another begins is not seen there: of a script in prose or below a prompt, of plain words.
NOT_KEPT = {
    *((mutilation, "a script") for mutilation in KEPT if mutilation.startswith(("below", "between"))),
    *((mutilation, "a stripped call of harmony") for mutilation in KEPT if mutilation.startswith(("below", "between"))),
    ("CRLF, fenced and numbered", "a report"),
    ("typed at a prompt", "a report"),
}


@pytest.mark.parametrize("mutilation", KEPT)
def test_what_loses_nothing_is_read(mutilation):
    texts = {paste: text for paste, text in PASTES.items() if (mutilation, paste) not in NOT_KEPT}

    read = {paste: codes_of(MUTILATIONS[mutilation](text)) for paste, text in texts.items()}

    assert read == {paste: codes_of(text) for paste, text in texts.items()}


def test_there_are_enough():
    assert len(PASTES) * len(MUTILATIONS) >= 300
