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


def changed(template: str, old: str, new: str) -> str:
    """Return a template with one place changed, which must be there."""
    assert template.count(old) == 1, old
    return template.replace(old, new)
