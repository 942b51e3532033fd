"""Small templates and requests for the experiments, written for these tests."""

from __future__ import annotations

from prompt_debugger.core.base.types import JSON, JSONObject

CHATML = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
STRIPPING = (
    "{% set seen = namespace(last=-1) %}"
    "{% for m in messages %}{% if m.role == 'user' %}{% set seen.last = loop.index0 %}{% endif %}{% endfor %}"
    "{% for m in messages %}<|im_start|>{{ m.role }}\n"
    "{% if m.reasoning and (loop.index0 > seen.last or preserve_thinking) %}<think>{{ m.reasoning }}</think>{% endif %}"
    "{{ m.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


def chat(*texts: str) -> list[JSON]:
    """Messages of user and assistant by turns."""
    return [{"role": ("user", "assistant")[index % 2], "content": text} for index, text in enumerate(texts)]


def tool(name: str, **function: JSON) -> JSONObject:
    return {"type": "function", "function": {"name": name, **function}}


def call(name: str, arguments: JSON, call_id: str) -> JSONObject:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def calling(arguments: JSON = '{"city": "Rome"}', call_id: str = "call_1", content: JSON = "") -> list[JSON]:
    """A conversation with one tool call and its result."""
    return [
        {"role": "user", "content": "Weather in Rome?"},
        {"role": "assistant", "content": content, "tool_calls": [call("get_weather", arguments, call_id)]},
        {"role": "tool", "tool_call_id": call_id, "content": "24"},
    ]
