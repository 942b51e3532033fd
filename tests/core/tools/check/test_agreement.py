"""The same conversations through transformers and vLLM's own renderer: what differs, and the cause that is proved."""

import re
from dataclasses import replace

import pytest

from prompt_debugger.core.base.errors import EngineError
from prompt_debugger.core.parse.engines.rendered import EnginePrompt
from prompt_debugger.core.render.traced_render import run_job
from prompt_debugger.core.tools.check import CheckedModel, load_model
from prompt_debugger.core.tools.check.agreement import Agreement, Engines, compare_engines, engine_findings
from prompt_debugger.core.tools.check.run import write_answers
from tests.conftest import ROOT
from tests.core.tools.check.templates import HERMES, changed

CONTENT = "{{- m.content or '' }}"
GENERATES = "{%- if add_generation_prompt %}"
REASONING = "{%- if m.reasoning_content %}<think>\n{{ m.reasoning_content }}"


async def compared(engine, model):
    model = model if isinstance(model, CheckedModel) else CheckedModel("ours", model)
    tools, ideals = write_answers(model, is_thorough=False, renderer=run_job)
    engines = await compare_engines(engine, model, ideals, tools, renderer=run_job)
    assert engines.skipped is None
    return engines


def by_name(engines):
    return {one.name: one for one in engines.conversations}


@pytest.mark.vllm
async def test_what_vllm_does_to_every_request_is_a_cause_and_no_finding(engine):
    engines = await compared(engine, HERMES)
    found = by_name(engines)

    assert [name for name, one in found.items() if one.agrees] == [
        "plain", "system", "tools", "reasoning-content-sent-back",
    ]  # fmt: skip
    assert found["arguments-as-text"].causes == (
        "the server decoded `messages[1].tool_calls[0].function.arguments` from text to an object",
    )
    assert "from text to an object" not in found["reasoning-sent-back"].causes[0]
    assert "(content format `string`)" in found["content-parts"].causes[0]
    assert "description` as null" in found["bare-tool"].causes[0]
    assert found["no-generation-prompt"].causes[0].startswith("`add_generation_prompt` in `chat_template_kwargs`")
    assert "into a system message" in found["developer"].causes[0]
    assert found["arguments-as-object"].refusals["engine"].endswith("arguments: Input should be a valid string")
    assert all(one.is_explained for one in found.values())
    assert list(engine_findings(engines)) == []


@pytest.mark.vllm
@pytest.mark.parametrize(
    ("old", "new", "conversation", "title"),
    [
        # Going through the parts makes vLLM hand parts over, and then they are printed as Python.
        (
            CONTENT,
            "{%- if m.role == 'user' %}{% for p in m.content %}{% if p.type %}{{ p.text }}{% endif %}{% endfor %}"
            "{% else %}{{ m.content }}{% endif %}",
            "arguments-as-text",
            "prints content as a Python list",
        ),
        # A template that tests for text gets a list from vLLM, and prints nothing.
        (
            CONTENT,
            "{%- if m.content is string %}{{ m.content }}{% else %}{% for p in m.content %}"
            "{{ p.words }}{% endfor %}{% endif %}",
            "plain",
            "leaves out `zqWhat`",
        ),
    ],
)
async def test_a_template_that_vllm_feeds_differently_is_found(engine, old, new, conversation, title):
    engines = await compared(engine, changed(HERMES, old, new))

    findings = [one for one in engine_findings(engines) if title in one.title]
    assert len(findings) == 1, list(engine_findings(engines))
    assert f"`{conversation}`" in findings[0].title
    assert (findings[0].code, findings[0].name) == ("PD809", "engines-differ")
    assert re.search(r"\(template line \d+\)", findings[0].detail)
    assert by_name(engines)[conversation].causes


@pytest.mark.vllm
async def test_thinking_that_an_effort_of_none_turns_off_in_vllm_alone_is_reported(engine):
    template = changed(HERMES, GENERATES, "{%- if enable_thinking is false %}/no_think{% endif %}" + GENERATES)

    found = by_name(await compared(engine, template))

    assert found["no-effort"].causes == ('`reasoning_effort` "none" sets `enable_thinking` to false',)
    assert found["no-effort"].engine.count("/no_think") == 1
    assert found["enable-thinking-off"].agrees is True


@pytest.mark.vllm
async def test_a_template_that_fails_for_arguments_as_text_fails_in_transformers_alone(engine):
    template = changed(
        HERMES, "{{ call.function.arguments | tojson }}", "{{ dict(call.function.arguments.items()) | tojson }}"
    )

    one = by_name(await compared(engine, template))["arguments-as-text"]

    assert one.agrees is False
    assert list(one.refusals) == ["transformers"]
    assert "from text to an object" in one.causes[0]


@pytest.mark.vllm
async def test_the_lab_model_own_tokenizer_gives_vllm_the_ids_that_we_give(engine):
    found = by_name(await compared(engine, load_model(str(ROOT / "assets" / "lab-model"))))

    assert found["plain"].agrees is True
    assert found["tools"].agrees is True
    assert found["arguments-as-text"].loss == "prints content as a Python list"  # `content: ""` beside a call


@pytest.mark.vllm
async def test_a_conversation_that_the_template_refuses_in_both_ends_no_comparison(engine):
    strict = changed(
        HERMES,
        "{%- for m in messages %}",
        "{%- for m in messages %}{% if m.role == 'system' %}{{ raise_exception('no system here') }}{% endif %}",
    )

    engines = await compared(engine, strict)

    found = by_name(engines)
    assert found["plain"].agrees is True
    assert found["system"].agrees is None
    assert [(who, "no system here" in why) for who, why in found["system"].refusals.items()] == [
        ("transformers", True), ("engine", True),
    ]  # fmt: skip
    (finding,) = engine_findings(engines)  # which vLLM makes a system message of
    assert finding.title.startswith("Of `developer`, vLLM refuses the request: ")


class _NoRenderer:
    async def render(self, *_, **__):
        raise EngineError("vLLM's renderer is not available: this release has none.")


async def test_a_release_without_such_a_renderer_is_one_sentence():
    engines = await compare_engines(_NoRenderer(), CheckedModel("ours", HERMES), (), (), renderer=run_job)

    assert engines == Engines("vLLM", skipped="vLLM's renderer is not available: this release has none.")


class _RefusesAll:
    async def render(self, bodies, **_):
        return [EnginePrompt(refusal="no") for _ in bodies]


@pytest.mark.parametrize(("kind", "loss"), [("vllm", ""), ("openai-compatible", "refuses the request: no")])
async def test_what_an_api_refuses_by_its_record_is_not_a_loss(kind, loss):
    tools, ideals = write_answers(CheckedModel("ours", HERMES), is_thorough=False, renderer=run_job)
    engines = await compare_engines(
        _RefusesAll(), CheckedModel("ours", HERMES), ideals, tools, kind=kind, renderer=run_job
    )
    found = by_name(engines)

    assert found["arguments-as-object"].loss == loss
    assert any("as text, like" in cause for cause in found["arguments-as-object"].causes) == (not loss)
    assert found["plain"].loss == "refuses the request: no"


def test_a_difference_without_a_cause_is_a_finding():
    unknown = Agreement("plain", "a question", {}, agrees=False, transformers="a", engine="b")
    known = replace(unknown, name="system", causes=("the server did it",))

    (finding,) = engine_findings(Engines("vLLM", (unknown, known)))

    assert finding.title == "Of `plain`, vLLM gives a different prompt, for an unknown reason."
