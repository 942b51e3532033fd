"""Chat templates of ours, in the layouts that model families use; each test plants its own defect in one of them."""

HERMES = (
    "{%- if tools %}<|im_start|>system\n{{ tools | tojson }}<|im_end|>\n{% endif %}"
    "{%- for m in messages %}<|im_start|>{{ m.role + '\n' }}"
    "{%- if m.reasoning_content %}<think>\n{{ m.reasoning_content }}\n</think>{{ '\n\n' }}{% endif %}"
    "{{- m.content or '' }}"
    "{%- for call in m.tool_calls or [] %}{{ '\n' }}<tool_call>\n"
    '{"name": "{{ call.function.name }}", "arguments": {{ call.function.arguments | tojson }}}'
    "\n</tool_call>{% endfor %}<|im_end|>\n{% endfor %}"
    "{%- if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)

HARMONY = (
    "{%- for tool in tools or [] %}{{- '<|start|>developer<|message|>' + (tool.function | tojson) + '<|end|>' }}"
    "{%- endfor %}"
    "{%- for m in messages %}"
    "{%- if m.role == 'assistant' %}"
    "{%- if m.thinking %}<|start|>assistant<|channel|>analysis<|message|>{{ m.thinking }}<|end|>{% endif %}"
    "{%- if m.content and m.tool_calls %}<|start|>assistant<|channel|>commentary<|message|>{{ m.content }}<|end|>"
    "{%- elif m.content %}<|start|>assistant<|channel|>final<|message|>{{ m.content }}<|return|>{% endif %}"
    "{%- for call in m.tool_calls or [] %}"
    "{{- '<|start|>assistant<|channel|>commentary to=functions.' + call.function.name }} <|constrain|>json<|message|>"
    "{{- call.function.arguments | tojson }}<|call|>{% endfor %}"
    "{%- else %}{{- '<|start|>' + m.role + '<|message|>' + m.content + '<|end|>' }}{% endif %}{% endfor %}"
    "{%- if add_generation_prompt %}<|start|>assistant{% endif %}"
)


def changed(template: str, old: str, new: str) -> str:
    """Return a template with one place changed, which must be there."""
    assert template.count(old) == 1, old
    return template.replace(old, new)
