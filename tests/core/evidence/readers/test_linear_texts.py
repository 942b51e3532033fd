"""Logs, printed objects, transcripts and reports are read in time that grows with them, whatever is in them."""

from __future__ import annotations

from contextlib import suppress

import pytest

from prompt_debugger.core.base.errors import DebuggerError
from prompt_debugger.core.evidence import read_evidence
from tests.attacks.growth import grows_linearly

pytestmark = pytest.mark.slow

# What a text begins with, and what goes on for ever after it.
SHAPES = {
    "printed objects": ("", "ChatCompletion(id='a', choices=[])\n"),
    "printed objects that are cut": ("", "ChatCompletion(id='a\n"),
    "printed chunks": ("", "ChoiceDelta(content='a', tool_calls=None)\n"),
    "messages of LangChain": ("", "HumanMessage(content='a')\n"),
    "messages that are cut": ("", "HumanMessage(content='a\n"),
    "ruled messages": ("", "=== Ai Message ===\nTool Calls:\n  f (a)\n Call ID: a\n  Args:\n    b: c\n"),
    "events of AutoGen": ("", "source='a' models_usage=None content='b' type='TextMessage' "),
    "lines of AutoGen": ("", "source='a' models_usage=None content='b' type='TextMessage'\n"),
    "calls of Spring": ("", "ToolCall[id=a, type=function, name=f, arguments={"),
    "texts of Spring": ("ToolCall[id=a, type=function, name=f, arguments=]", "textContent="),
    "classes of JavaScript": ("", "AIMessage {"),
    "results of JavaScript": ("", "{ toolCalls: ["),
    "parts of a stream": ("", '{"type":"tool-input-delta","id":"a","delta":"b"}\n'),
    "actions": ("", "Action: a\nAction Input: b\n"),
    "transcripts of AutoGen": ("", "a (to b):\n\n{"),
    "pieces of calls": ("", "[{'name': '', 'args': 'a', 'type': 'tool_call_chunk'}]\n"),
    "printed nesting": ("ChatCompletion(a=", "[("),
    "printed strings": ("ChatCompletion(id=", "'a' "),
    "printed dicts": ("", "{'role': 'assistant', 'content': None}\n"),
    "fields": ("content='' ", "a=1 "),
    "prompts of vLLM": ("", "Received request a: prompt: 'x', params: SamplingParams(n=1)\n"),
    "prompts that are cut": ("", 'Received request a: prompt: "x\n'),
    "outputs of vLLM": ("", "Generated response a: output: 'x', finish_reason: stop\n"),
    "flags in a log": ("", "non-default args: {'a': 1}\n"),
    "flags that are cut": ("", "non-default args: {'a': [\n"),
    "outputs of llama.cpp": ("", "Parsing input with format X: <tool_call>\n"),
    "outputs without an end": ("Parsing input with format X: ", "<tool_call>\n"),
    "requests of LM Studio": ("", "Received request: POST to /v1/chat/completions with body {\n"),
    "prompts of Ollama": ("", 'msg="chat request" images=0 prompt="a\n'),
    "commands": ("", "vllm serve a --b c\n"),
    "commands on one line": ("", "vllm serve a --b c "),
    "commands with quotes": ("", "vllm serve a --b 'c\n"),
    "lists of a manifest": ("image: vllm/vllm-openai:v1\ncommand:\n", "- --model\n"),
    "keys of a manifest": ("image: vllm/vllm-openai:v1\n", "command:\n"),
    "fences": ("", "```\n"),
    "fences around fences": ("", "```\n~~~\n"),
    "fenced blocks": ("", "```json\n{}\n```\n"),
    "quotes": ("", "> a\n"),
    "quotes of quotes": ("", "> > a\n"),
    "prompts of a shell": ("", "$ curl 'a\n"),
    "prompts of Python": ("", ">>> a\n"),
    "objects in prose": ("a\n", '{"a": [\n'),
    "numbered lines": ("", "1 | a\n"),
    "prefixes": ("", "app-1  | a\n"),
    "colours": ("", "\x1b[32m"),
    "half a colour": ("", "\x1b["),
    "escapes for HTML": ("", "&quot;"),
    "typographic quotes": ("", "\u201ca"),
    "wrapped strings": ('{"choices": "', "a\n"),
    "thoughts": ("", "Thought: a\nAction: b\n"),
    "ends of turns": ("[", "}</s>"),
    "labels": ("", "content: a\n"),
    "long labels": ("", "content content "),
    "comments": ("", "# content: a\n"),
    "sessions": ("", '{"type": "assistant", "uuid": "u", "message": {"id": "m", "content": []}}\n'),
    "sessions of one message": ("", '{"type": "response_item", "payload": {"type": "message", "role": "assistant"}}\n'),
    "spans": ('{"gen_ai.x": 1, "spans": [{}', ',{"attributes": {"gen_ai.prompt.0.role": "a"}}'),
    "turns": ("<|im_start|>user\n", "<|im_start|>assistant\n"),
    "beginnings of turns": ("", "<s>"),
    "printed pairs": ("", "Prompt: 'a', Generated text: 'b'\n"),
    "printed prompts": ("", "Prompt: 'a'\n"),
    "cut answers": ('{"choices": [', '{"message": {"role": "assistant", "tool_calls": ['),
    "arguments in a log": ("Generated response a: output: '[tool_calls: ", "f({), "),
}


def read(text: str) -> None:
    """Read a text, whatever comes of it."""
    with suppress(DebuggerError):
        read_evidence(text)


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())
def test_texts_are_read_in_linear_time(shape: tuple[str, str]) -> None:
    head, part = shape

    assert grows_linearly(lambda size: read(head + part * size), first=500, tries=2, doublings=4)
