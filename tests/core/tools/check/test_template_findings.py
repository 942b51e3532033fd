"""Each defect of a template is found under its name, and the template without it is silent."""

import json
import re

import pytest

from prompt_debugger.core.render.traced_render import run_job
from prompt_debugger.core.tools.check.model import CheckedModel, load_model
from prompt_debugger.core.tools.check.run import write_answers
from prompt_debugger.core.tools.check.template import check_template
from prompt_debugger.core.tools.fixes.exports import template_line
from tests.conftest import ROOT
from tests.core.tools.check.templates import HERMES, changed

LAB = ROOT / "assets" / "lab-model"
OPENING = "{%- if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
REASONING = "{%- if m.reasoning_content %}<think>\n{{ m.reasoning_content }}\n</think>{{ '\n\n' }}{% endif %}"
CONTENT = "{{- m.content or '' }}"
CALLS = "{%- for call in m.tool_calls or [] %}"


def check(template, **more):
    model = template if isinstance(template, CheckedModel) else CheckedModel("test", template)
    _, ideals = write_answers(model, is_thorough=False, renderer=run_job)
    return check_template(model, ideals, renderer=run_job, **more)


def names(found):
    return [(one.name, str(one.severity)) for one in found.findings]


def test_a_good_template_is_silent():
    assert names(check(HERMES)) == []


@pytest.mark.parametrize(
    ("old", "new", "finding"),
    [
        (CALLS, "{%- for call in (m.tool_calls or [])[:1] %}", ("answer-not-printed", "error")),
        (CALLS, "{%- for call in [] %}", ("answer-not-printed", "error")),
        (CONTENT, "{{- '' if m.tool_calls else m.content }}", ("answer-not-printed", "warning")),
        (REASONING, REASONING.replace("m.reasoning_content %", "m.reasoning_content and m.tool_calls %"),
         ("answer-not-printed", "note")),
        (CALLS, "{%- if m.tool_calls | length > 1 %}{{ raise_exception('one') }}{% endif %}" + CALLS,
         ("answer-refused", "error")),
        (REASONING, REASONING.replace("m.reasoning_content %", "m.reasoning_content and loop.last %"),
         ("history-leaves-prompt", "warning")),
        (CONTENT, "{{- m.content | string }}", ("null-printed", "note")),
        (OPENING, "", ("missing-generation-prompt", "error")),
        ("{%- if tools %}", "{%- if false %}", ("tools-absent", "error")),
        (OPENING, OPENING.replace("<|im_start|>a", "Today is {{ strftime_now('%d %B %Y') }}<|im_start|>a"),
         ("volatile-prompt", "note")),
    ],
)  # fmt: skip
def test_a_planted_defect_is_found_and_has_a_line_in_the_template(old, new, finding):
    found = check(changed(HERMES, old, new)).findings

    assert finding in [(one.name, str(one.severity)) for one in found]
    own = [one for one in found if one.code.startswith("PD8") and "does not mention" not in one.detail]
    assert all(template_line(one, None) in range(1, HERMES.count("\n") + 2) for one in own)


def test_a_loss_of_what_the_template_never_mentions_says_so_instead_of_a_line():
    silent = changed(HERMES, HERMES[HERMES.index(CALLS) : HERMES.index("{% endfor %}", HERMES.index(CALLS)) + 12], "")
    [lost] = [one for one in check(silent).findings if one.severity == "error"]

    assert lost.detail.endswith("The template does not mention `tool_calls`.")
    assert template_line(lost, None) is None


@pytest.mark.parametrize(
    ("old", "new"),
    [
        # A model that does not reason loses nothing by not printing it.
        (REASONING, ""),
        # The clock is asked and what it says not printed; a date that is there is no clock's.
        (OPENING, "{% set now = strftime_now('%d') %}" + OPENING),
        ("{%- if tools %}", "1 January 2020{%- if tools %}"),
        # Turns of one call each refused would be a defect; a template that says how many there are is not.
        (CALLS, "{%- if m.tool_calls | length > 9 %}{{ raise_exception('ten') }}{% endif %}" + CALLS),
    ],
)
def test_what_only_looks_like_a_defect_is_none(old, new):
    assert names(check(changed(HERMES, old, new))) == []


def test_reasoning_that_the_history_leaves_open_is_noted():
    opened = changed(HERMES, "<|im_start|>assistant\n{% endif %}", "<|im_start|>assistant\n<think>\n{% endif %}")

    assert ("reasoning-not-closed", "note") in names(check(opened))


def test_parameters_of_two_types_are_tried_and_told():
    loop = "{% for p in t.function.parameters.properties.values() %}{{ p.type + '' }}{% endfor %}"
    picky = "{%- for t in tools or [] %}" + loop + "{% endfor %}"

    model = CheckedModel("test", picky + HERMES)
    tools, ideals = write_answers(model, is_thorough=False, renderer=run_job)

    assert all(isinstance(p["type"], str) for t in tools for p in t["function"]["parameters"]["properties"].values())
    assert ideals[0].refusal is None
    found = check(model, has_plain_tools=True)
    assert ("union-types-refused", "warning") in names(found)
    assert "(template line 1)" in detail_of(found, "union-types-refused")


def test_who_can_forge_a_marker_is_reported():
    escaped = changed(
        HERMES, CONTENT, "{{- (m.content or '') | replace('<|', '<') if m.role != 'assistant' else m.content }}"
    )

    assert check(HERMES).supports["user-text-cannot-forge"] is False
    assert check(HERMES).supports["tool-result-cannot-forge"] is False
    assert check(escaped).supports["user-text-cannot-forge"] is True
    assert check(escaped).supports["tool-result-cannot-forge"] is True


@pytest.fixture
def folder(tmp_path):
    """The lab model's own files, without its weights."""
    for name in ("tokenizer.json", "tokenizer_config.json", "generation_config.json", "chat_template.jinja"):
        (tmp_path / name).write_bytes((LAB / name).read_bytes())
    return tmp_path


def rewrite(folder, name, change):
    file = folder / name
    data = json.loads(file.read_text())
    change(data)
    file.write_text(json.dumps(data))


def test_the_lab_model_own_files_agree(folder):
    assert (
        not {"end-token-unknown", "variants-differ", "marker-split", "double-bos"}
        & dict(names(check(load_model(str(folder))))).keys()
    )


def test_an_end_of_turn_that_no_file_names_is_found(folder):
    rewrite(folder, "tokenizer_config.json", lambda data: data.update(eos_token="<|im_user|>"))
    rewrite(folder, "generation_config.json", lambda data: data.pop("eos_token_id", None))

    assert ("end-token-unknown", "error") in names(check(load_model(str(folder))))


def test_a_marker_of_another_family_is_found(folder):
    template = folder / "chat_template.jinja"
    template.write_text(template.read_text().replace("<|im_end|>", "<|im_ended|>"))

    found = check(load_model(str(folder)))
    named = re.search(r"\(template line (\d+)\)\.$", detail_of(found, "marker-split"))
    assert named is not None
    assert "<|im_ended|>" in template.read_text().splitlines()[int(named[1]) - 1]


def test_named_templates_that_differ_are_reported_and_equal_ones_are_not(folder):
    more = folder / "additional_chat_templates"
    more.mkdir()
    text = (folder / "chat_template.jinja").read_text()
    (more / "rag.jinja").write_text(text)

    assert "variants-differ" not in dict(names(check(load_model(str(folder)))))

    (more / "rag.jinja").write_text(text.replace("You are a helpful assistant.", "You are a search engine."))
    found = check(load_model(str(folder)))
    line = text.partition("You are a helpful assistant.")[0].count("\n") + 1
    assert ("variants-differ", "note") in names(found)
    assert f"(template line {line})" in detail_of(found, "variants-differ")


def detail_of(found, name):
    return next(one.detail for one in found.findings if one.name == name)
