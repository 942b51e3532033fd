"""One defect of each kind, planted in a template or the files beside it: found by name; without it, silence."""

from __future__ import annotations

import json

import pytest
from tokenizers import Tokenizer
from tokenizers.processors import TemplateProcessing

from prompt_debugger.core.render.traced_render import run_job
from prompt_debugger.core.tools.check.model import CheckedModel, load_model
from prompt_debugger.core.tools.check.run import write_answers
from prompt_debugger.core.tools.check.template import check_template
from tests.conftest import ROOT
from tests.core.tools.check.templates import HERMES, changed

LAB = ROOT / "assets" / "lab-model"
CONTENT = "{{- m.content or '' }}"
ARGUMENTS = "{{ call.function.arguments | tojson }}"
OPENING = "{%- if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
CALLS = "{%- for call in m.tool_calls or [] %}"
MESSAGES = "{%- for m in messages %}"
# It prints what HERMES prints, goes through content parts, and takes arguments in both forms.
GOOD = changed(
    changed(
        HERMES,
        CONTENT,
        "{%- if m.content is string %}{{ m.content }}{% else %}{% for part in m.content %}"
        "{{- part.text }}{% endfor %}{% endif %}",
    ),
    ARGUMENTS,
    "{% if call.function.arguments is string %}{{ call.function.arguments }}{% else %}"
    "{{ call.function.arguments | tojson }}{% endif %}",
)
GOOD_ARGUMENTS = GOOD[GOOD.index("{% if call.function") : GOOD.index("}\n</tool_call>")]

# kind: what to replace, by what, the finding
IN_TEMPLATES = {
    "generation prompt missing": (OPENING, "", ("missing-generation-prompt", "error")),
    "prefix not kept": (
        "{{ m.reasoning_content }}", "{{ m.reasoning_content if loop.last else '' }}",
        ("history-leaves-prompt", "warning"),
    ),
    "prefix not kept after a tool result": (
        MESSAGES, "{%- if messages[-1].role == 'tool' %}Mind the result.{% endif %}" + MESSAGES,
        ("history-leaves-prompt", "warning"),
    ),
    "list content dropped": ("{{- part.text }}", "{{- part.words }}", ("input-not-printed", "warning")),
    "second text of a list dropped": (
        "{% for part in m.content %}", "{% for part in m.content[:1] %}", ("input-not-printed", "warning"),
    ),
    "system message dropped": (
        "<|im_start|>{{ m.role + '\n' }}", "<|im_start|>{{ m.role + '\n' }}{% if m.role == 'system' %}{% continue %}"
        "{% endif %}", ("input-not-printed", "warning"),
    ),
    "tool result dropped": (
        "<|im_start|>{{ m.role + '\n' }}", "{% if m.role == 'tool' %}{% continue %}{% endif %}"
        "<|im_start|>{{ m.role + '\n' }}", ("input-not-printed", "error"),
    ),
    "crash for arguments as text": (
        GOOD_ARGUMENTS, "{{ dict(call.function.arguments.items()) | tojson }}", ("arguments-refused", "note"),
    ),
    "crash for arguments as an object": (
        GOOD_ARGUMENTS, "{{ call.function.arguments + '' }}", ("arguments-refused", "error"),
    ),
    "arguments printed as Python": (
        GOOD_ARGUMENTS, "{{ call.function.arguments }}", ("arguments-as-python", "error"),
    ),
    "date of today": (
        OPENING, OPENING.replace("<|im_start|>a", "{{ strftime_now('%Y-%m-%d') }}<|im_start|>a"),
        ("volatile-prompt", "note"),
    ),
    "calls dropped": (CALLS, "{%- for call in [] %}", ("answer-not-printed", "error")),
    "second call dropped": (CALLS, "{%- for call in (m.tool_calls or [])[:1] %}", ("answer-not-printed", "error")),
    "two calls refused": (
        CALLS, "{%- if m.tool_calls | length > 1 %}{{ raise_exception('one') }}{% endif %}" + CALLS,
        ("answer-refused", "error"),
    ),
    "tools dropped": ("{%- if tools %}", "{%- if false %}", ("tools-absent", "error")),
}  # fmt: skip


def findings(model):
    _, ideals = write_answers(model, is_thorough=False, renderer=run_job)
    return {(one.name, str(one.severity)) for one in check_template(model, ideals, renderer=run_job).findings}


def test_the_template_without_a_defect_is_silent():
    assert findings(CheckedModel("good", GOOD)) == set()


@pytest.mark.parametrize("kind", IN_TEMPLATES)
def test_a_defect_in_a_template_is_found(kind):
    old, new, (name, severity) = IN_TEMPLATES[kind]

    got = findings(CheckedModel("planted", changed(GOOD, old, new)))

    assert any(name == one and severity in (None, how) for one, how in got), got


def test_whose_text_can_forge_a_marker_is_reported():
    guarded = changed(GOOD, "{{ m.content }}", "{{ m.content if m.role == 'assistant' else m.content | e }}")
    half = changed(GOOD, "{{ m.content }}", "{{ m.content | e if m.role == 'user' else m.content }}")

    def supports(template):
        model = CheckedModel("forged", template)
        _, ideals = write_answers(model, is_thorough=False, renderer=run_job)
        found = check_template(model, ideals, renderer=run_job).supports
        return found["user-text-cannot-forge"], found["tool-result-cannot-forge"]

    assert supports(guarded) == (True, True)
    assert supports(half) == (True, False)
    assert supports(GOOD) == (False, False)


@pytest.fixture
def folder(tmp_path):
    """The lab model's vocabulary with a template that fits it, and files that agree with it."""
    for name in ("tokenizer.json", "tokenizer_config.json", "generation_config.json"):
        (tmp_path / name).write_bytes((LAB / name).read_bytes())
    template = GOOD.replace("<|im_start|>", "<|im_user|>")
    (tmp_path / "chat_template.jinja").write_text("{{- bos_token }}" + template)
    return tmp_path


def rewrite(folder, name, **changes):
    file = folder / name
    file.write_text(json.dumps({**json.loads(file.read_text()), **changes}))


def add_bos(folder):
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    bos = tokenizer.token_to_id("[BOS]")
    tokenizer.post_processor = TemplateProcessing(single="[BOS] $A", special_tokens=[("[BOS]", bos)])
    tokenizer.save(str(folder / "tokenizer.json"))


def edit(folder, old, new):
    file = folder / "chat_template.jinja"
    file.write_text(file.read_text().replace(old, new))


IN_FOLDERS = {
    "end tokens disagree": (
        lambda folder: (rewrite(folder, "tokenizer_config.json", eos_token="[EOS]"),
                        rewrite(folder, "generation_config.json", eos_token_id=None)),
        ("end-token-unknown", "error"),
    ),
    "marker no single token": (lambda folder: edit(folder, "<|im_user|>", "<|zq_user|>"), ("marker-split", "warning")),
    "BOS written twice": (
        lambda folder: edit(folder, "{{- bos_token }}", "{{- bos_token }}{{ bos_token }}"), ("double-bos", "error"),
    ),
    "BOS written and added": (add_bos, ("bos-added-to-text", "note")),
    "BOS added and not written": (
        lambda folder: (add_bos(folder), edit(folder, "{{- bos_token }}", "")), ("missing-bos", "warning"),
    ),
    "named variants differ": (
        lambda folder: (
            (folder / "additional_chat_templates").mkdir(),
            (folder / "additional_chat_templates" / "tool_use.jinja").write_text("{{ bos_token }}" + HERMES),
        ),
        ("variants-differ", "note"),
    ),
}  # fmt: skip


def test_files_that_agree_are_silent(folder):
    assert findings(load_model(str(folder))) == set()


@pytest.mark.parametrize("kind", IN_FOLDERS)
def test_a_defect_in_the_files_is_found(kind, folder):
    plant, (name, severity) = IN_FOLDERS[kind]
    plant(folder)

    got = findings(load_model(str(folder)))

    assert any(name == one and severity in (None, how) for one, how in got), got
