"""Probes: each verdict has a template that earns it and one, a little different, that does not."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from prompt_debugger.core.base.errors import RenderError
from prompt_debugger.core.render import load_template
from prompt_debugger.core.render.job import Fault, RenderJob, RenderOutcome
from prompt_debugger.core.render.probes import PROBE_NAMES, ProbeAnswer, Support, probe_template, step_probes
from prompt_debugger.core.render.traced_render import run_job
from prompt_debugger.core.tools.experiments import probes_to_json
from tests.conftest import ROOT

TURNS = (
    "{% for m in messages %}<|{{ m.role }}|>{% if m.content is string %}{{ m.content }}{% endif %}\n{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)
CALLS = (
    "{{ tools | tojson }}{% for m in messages %}<|{{ m.role }}|>{{ m.content or '' }}"
    "{% for call in m.tool_calls or [] %}[%s]{% endfor %}\n{% endfor %}"
)
ARGUMENTS = "call.function.arguments"
AS_JSON = CALLS.replace("%s", "{{ call.function.name }}{{ " + ARGUMENTS + " | tojson }}")
AS_GIVEN = CALLS.replace("%s", "{{ call.function.name }}{{ " + ARGUMENTS + " }}")
EITHER = CALLS.replace(
    "%s",
    "{{ call.function.name }}{% if " + ARGUMENTS + " is string %}{{ " + ARGUMENTS + " }}"
    "{% else %}{{ " + ARGUMENTS + " | tojson }}{% endif %}",
)
ITEMS = CALLS.replace(
    "%s", "{{ call.function.name }}{% for k, v in " + ARGUMENTS + ".items() %}<{{ k }}>{{ v }}{% endfor %}"
)


def ask(template: str, name: str) -> ProbeAnswer:
    return next(one for one in probe_template(template, renderer=run_job) if one.name == name)


def support(template: str, name: str) -> Support:
    return ask(template, name).support


def test_every_probe_answers_and_is_named_once() -> None:
    answers = probe_template(TURNS, renderer=run_job)

    assert tuple(one.name for one in answers) == PROBE_NAMES
    assert len(set(PROBE_NAMES)) == len(PROBE_NAMES)
    assert all(one.detail.endswith((".", ")")) for one in answers)


def test_the_guide_names_every_probe() -> None:
    guide = (ROOT / "docs" / "template-editor.md").read_text(encoding="utf-8")

    assert [name for name in PROBE_NAMES if f"`{name}`" not in guide] == []


MERGED = "[INST]{% for m in messages %}{{ m.content }}\n\n{% endfor %}[/INST]"
REFUSING = "{% if messages[0].role == 'system' %}{{ raise_exception('no system here') }}{% endif %}" + TURNS
SILENT = TURNS.replace("{% for m in messages %}", "{% for m in messages if m.role != 'system' %}")


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        (TURNS, Support.SUPPORTED),
        (MERGED, Support.CHANGED),
        (REFUSING, Support.REFUSED),
        (SILENT, Support.IGNORED),
    ],
)
def test_a_system_message(template: str, expected: Support) -> None:
    assert support(template, "system-role") is expected


def test_a_refusal_carries_the_templates_own_words_and_their_place() -> None:
    answer = ask("\n" + REFUSING, "system-role")

    assert answer.detail == "The template refuses this request: no system here."
    assert (answer.template_line, answer.template_column) == (2, 41)


def test_a_template_that_refuses_everything_is_not_said_to_refuse_the_system_message() -> None:
    answer = ask("{{ raise_exception('closed') }}", "system-role")

    assert answer.support is Support.UNKNOWN
    assert "closed" in answer.detail


def test_a_developer_message_printed_as_another_role_is_changed() -> None:
    as_system = TURNS.replace("{{ m.role }}", "{{ 'system' if m.role == 'developer' else m.role }}")

    assert support(TURNS, "developer-role") is Support.SUPPORTED
    assert ask(as_system, "developer-role").detail == "Printed exactly as a message of role `system` would be."


def test_a_system_message_that_moves_to_the_front() -> None:
    front = "{% for m in messages if m.role == 'system' %}{{ m.content }}|{% endfor %}" + SILENT

    assert support(front, "late-system") is Support.CHANGED
    assert support(TURNS, "late-system") is Support.SUPPORTED
    assert support(SILENT, "late-system") is Support.IGNORED


PARTS = TURNS.replace(
    "{% endif %}\n{% endfor %}",
    "{% else %}{{ m.content | map(attribute='text') | join('#') }}{% endif %}\n{% endfor %}",
)
ONE_PART = TURNS.replace("{% endif %}\n{% endfor %}", "{% else %}{{ m.content[0].text }}{% endif %}\n{% endfor %}")
WHOLE = TURNS.replace("{% if m.content is string %}{{ m.content }}{% endif %}", "{{ m.content }}")


def test_content_as_parts() -> None:
    assert ask(PARTS, "content-parts").detail == "Text parts are printed, joined by '#'."
    assert support(TURNS, "content-parts") is Support.IGNORED
    assert ask(ONE_PART, "content-parts").detail == "One of two text parts was dropped: the second."
    assert ask(WHOLE, "content-parts").detail.startswith("The parts are printed as Python writes a list")
    joined = TURNS.replace("{% if m.content is string %}{{ m.content }}{% endif %}", "{{ 'x' + m.content }}")
    assert support(joined, "content-parts") is Support.REFUSED


def test_two_user_messages_in_a_row() -> None:
    strict = "{% if messages[1] and messages[1].role == 'user' %}{{ raise_exception('alternate') }}{% endif %}"

    assert support(TURNS, "same-role-twice") is Support.SUPPORTED
    assert ask(strict + TURNS, "same-role-twice").detail == "The template refuses this request: alternate."


def test_bos_is_what_the_tokenizer_calls_so() -> None:
    named = {"bos_token": "<bos>"}
    printed = next(
        one
        for one in probe_template("{{ bos_token }}" + TURNS, special_tokens=named, renderer=run_job)
        if one.name == "prints-bos"
    )
    literal = next(
        one for one in probe_template("<s>" + TURNS, special_tokens=named, renderer=run_job) if one.name == "prints-bos"
    )

    assert (printed.support, literal.support) == (Support.SUPPORTED, Support.IGNORED)


@pytest.mark.parametrize(
    ("template", "as_object", "as_text"),
    [
        (AS_JSON, "Printed as JSON.", "Encoded as JSON twice: a quoted string instead of an object."),
        (
            AS_GIVEN,
            "Printed like a Python object, with single quotes, True and None.",
            "Printed as JSON, differently",
        ),
        (EITHER, "Printed as JSON.", "Printed as JSON."),
        (ITEMS, "Printed in the format's own markup.", "The template uses something that is not defined"),
    ],
)
def test_arguments_as_an_object_and_as_text(template: str, as_object: str, as_text: str) -> None:
    assert ask(template, "object-arguments").detail.startswith(as_object)
    assert ask(template, "text-arguments").detail.startswith(as_text)


def test_what_vllm_does_to_text_arguments_is_reported_where_it_matters() -> None:
    assert "vLLM decodes" in ask(ITEMS, "text-arguments").detail
    assert "vLLM decodes" not in ask(EITHER, "text-arguments").detail


def test_tools_and_what_is_left_out_of_them() -> None:
    names = "{% for t in tools or [] %}{{ t.function.name }},{% endfor %}" + TURNS

    assert support(AS_JSON, "tools") is Support.SUPPORTED
    assert ask(names, "tools").detail == "Names arrive, but not their description and their parameters."
    assert ask(TURNS, "tools").detail == "What the tools are does not arrive: the template never reads it."


def test_calls_two_at_a_time() -> None:
    single = "{% for m in messages if m.tool_calls and m.tool_calls[1] %}{{ raise_exception('one only') }}{% endfor %}"
    first = EITHER.replace("m.tool_calls or []", "(m.tool_calls or [])[:1]")
    turned = EITHER.replace("m.tool_calls or []", "(m.tool_calls or []) | reverse")

    assert support(EITHER, "parallel-calls") is Support.SUPPORTED
    assert support(single + EITHER, "parallel-calls") is Support.REFUSED
    assert ask(first, "parallel-calls").detail == "Only one of two calls in one turn is printed."
    assert ask(turned, "parallel-calls").detail == "Both calls are printed, the second first."
    assert support(TURNS, "parallel-calls") is Support.IGNORED


def test_a_call_whose_id_is_for_its_name() -> None:
    by_id = EITHER.replace("call.function.name", "call.id")

    assert ask(by_id, "tool-calls").detail.startswith("The call's id is printed instead of its name")
    assert support(EITHER, "tool-calls") is Support.SUPPORTED
    assert support(EITHER, "call-ids") is Support.IGNORED
    assert support(by_id, "call-ids") is Support.SUPPORTED


def test_results_that_are_refused_are_not_blamed_on_the_call() -> None:
    no_results = "{% for m in messages if m.role == 'tool' %}{{ raise_exception('no tools') }}{% endfor %}" + EITHER

    assert support(no_results, "tool-calls") is Support.SUPPORTED
    assert support(no_results, "tool-results") is Support.REFUSED


def test_content_null_next_to_a_call() -> None:
    assert support(EITHER, "null-content") is Support.SUPPORTED
    assert support(EITHER.replace("m.content or ''", "m.content"), "null-content") is Support.CHANGED
    assert support(EITHER.replace("m.content or ''", "m.content + ''"), "null-content") is Support.REFUSED


KEPT = EITHER.replace(
    "{{ m.content or '' }}", "{% if m.reasoning %}<think>{{ m.reasoning }}</think>{% endif %}{{ m.content or '' }}"
)
LAST_ONLY = KEPT.replace(
    "m.reasoning %}", "m.reasoning and (messages[-1].role == 'tool' or clear_thinking is false) %}", 1
)
BEHIND_THINK = TURNS.replace("{{ m.content }}", "{{ m.content.split('</think>')[-1] }}")


def test_reasoning_in_the_history() -> None:
    assert (support(KEPT, "reasoning"), support(KEPT, "reasoning_content")) == (Support.SUPPORTED, Support.IGNORED)
    assert (support(KEPT, "past-reasoning"), support(LAST_ONLY, "past-reasoning")) == (
        Support.SUPPORTED,
        Support.IGNORED,
    )
    assert support(LAST_ONLY, "reasoning") is Support.SUPPORTED
    assert (
        ask(LAST_ONLY, "keep-reasoning").detail == "`clear_thinking` set to false keeps the reasoning of earlier turns."
    )
    assert ask(KEPT, "keep-reasoning").detail.startswith("Not needed")
    assert support(TURNS, "keep-reasoning") is Support.IGNORED


def test_a_think_block_in_the_content_of_an_earlier_answer() -> None:
    assert support(TURNS, "reasoning-in-content") is Support.SUPPORTED
    assert ask(BEHIND_THINK, "reasoning-in-content").detail == "The `<think>` block of an earlier answer is removed."


def test_the_switches_that_turn_thinking_on() -> None:
    default_on = TURNS + "{% if enable_thinking is defined and not enable_thinking %}<think></think>{% endif %}"

    assert "`enable_thinking` controls it" in ask(default_on, "thinking-switch").detail
    assert ask(default_on, "thinking-switch").detail.endswith("The default is on.")
    assert ask(TURNS + "{% if thinking %}<think>{% endif %}", "thinking-switch").detail.endswith("The default is off.")
    assert support(TURNS, "thinking-switch") is Support.IGNORED


def test_reasoning_effort_as_a_field_and_as_a_kwarg() -> None:
    assert support("{{ reasoning_effort }}" + TURNS, "reasoning-effort") is Support.SUPPORTED
    assert "`thinking_effort`" in ask("{{ thinking_effort }}" + TURNS, "reasoning-effort").detail
    assert support(TURNS, "reasoning-effort") is Support.IGNORED


def test_the_end_of_the_prompt() -> None:
    fixed = TURNS.replace("{% if add_generation_prompt %}", "{% if true %}")
    changed = "{{ add_generation_prompt }}" + TURNS

    assert ask(TURNS, "generation-prompt").detail == "It adds '<|assistant|>' at the end."
    assert support(fixed, "generation-prompt") is Support.IGNORED
    assert support(changed, "generation-prompt") is Support.CHANGED
    assert support(TURNS, "continue-final-message") is Support.SUPPORTED
    upper = TURNS.replace("{{ m.content }}", "{{ m.content | upper }}")
    assert support(upper, "continue-final-message") is not Support.SUPPORTED


def test_a_template_that_wants_tools_is_asked_with_tools() -> None:
    demanding = "{% if not tools %}{{ raise_exception('tools please') }}{% endif %}" + TURNS

    assert support(demanding, "system-role") is Support.SUPPORTED


def test_a_template_that_uses_up_its_time_is_asked_no_further() -> None:
    asked: list[RenderJob] = []

    def overrun(job: RenderJob) -> RenderOutcome:
        asked.append(job)
        raise RenderError("The template ran for more than 1 s without ending.")

    answers = probe_template(TURNS, renderer=overrun)

    assert len(asked) == 1
    assert {one.support for one in answers} == {Support.UNKNOWN}


def test_a_template_that_merely_fails_is_asked_everything() -> None:
    asked: list[RenderJob] = []

    def failing(job: RenderJob) -> RenderOutcome:
        asked.append(job)
        return RenderOutcome(fault=Fault("TemplateError", "no"))

    probe_template(TURNS, renderer=failing)

    assert len(asked) > len(PROBE_NAMES)


def test_the_lab_template_by_the_worker(lab_model_dir: Path) -> None:
    template = load_template(lab_model_dir)
    assert template is not None

    answers = {one.name: one for one in probe_template(template)}

    assert answers["tool-calls"].detail.startswith("The call's id is printed instead of its name")
    assert answers["past-reasoning"].support is Support.IGNORED
    assert answers["reasoning"].support is Support.SUPPORTED
    assert answers["thinking-switch"].detail.startswith("`thinking` controls it; the quoted prompt has true.")
    found = probes_to_json(tuple(answers.values()))["tool-calls"]
    assert isinstance(found, dict)
    assert found["support"] == "changed"


@pytest.mark.corpus
def test_real_templates_answer_every_probe(corpus_dir: Path) -> None:
    """Known facts about published templates, and that nothing of ours fails on any of them."""
    answers = {
        path.stem: {one.name: one for one in probe_template(path.read_text(encoding="utf-8"))}
        for path in sorted(corpus_dir.glob("*.jinja"))
    }

    counts = Counter(one.support for found in answers.values() for one in found.values())
    assert len(answers) >= 30
    assert counts[Support.UNKNOWN] < 0.03 * counts.total()
    assert all(counts[one] > 20 for one in (Support.SUPPORTED, Support.CHANGED, Support.IGNORED, Support.REFUSED))
    assert answers["google-gemma-2-2b-it"]["system-role"].detail.endswith("System role not supported.")
    assert answers["meta-llama-Llama-3.2-3B-Instruct"]["parallel-calls"].support is Support.REFUSED
    assert answers["mistralai-Mistral-Nemo-Instruct-2407"]["system-role"].support is Support.CHANGED
    assert answers["mistralai-Mistral-Nemo-Instruct-2407"]["text-arguments"].support is Support.CHANGED
    assert answers["moonshotai-Kimi-K2"]["developer-role"].support is Support.SUPPORTED
    assert answers["Qwen3-Coder"]["text-arguments"].support is Support.REFUSED


def test_all_probes_of_a_template_share_one_limit_of_time() -> None:
    clock = iter(range(0, 10_000, 4))  # every look at it is four seconds later

    answers = [*step_probes(TURNS, renderer=run_job, clock=lambda: float(next(clock)))]

    tested = [one for one in answers if not one.detail.startswith("Not tested")]
    rest = answers[len(tested) :]
    assert 0 < len(tested) < 5
    assert len(answers) == len(PROBE_NAMES)
    assert {(one.support, one.detail) for one in rest} == {
        (
            Support.UNKNOWN,
            "Not tested: the probes of this template took 20 s, the limit for all of them together.",
        )
    }


def test_a_template_that_answers_at_once_is_asked_everything() -> None:
    answers = [*step_probes(TURNS, renderer=run_job, clock=lambda: 0.0)]

    assert [one.name for one in answers if one.detail.startswith("Not tested")] == []
