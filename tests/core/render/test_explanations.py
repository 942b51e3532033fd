"""Each thing that a server may have done is named if it was done, and not if the text differs otherwise."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from prompt_debugger.core.base.types import JSON, JSONObject, Prompt, SpanKind
from prompt_debugger.core.render import ReportedPrompt, explain_server_prompt
from prompt_debugger.core.render.job import RenderJob
from prompt_debugger.core.render.request_variables import read_variables
from prompt_debugger.core.render.tokenizers import load_tokenizer
from prompt_debugger.core.render.traced_render import run_job
from tests.core.render.shapes import SEARCH, assistant, user

TEMPLATE = (
    "{{ bos_token }}{% if tools %}{{ tools | tojson }}\n{% endif %}"
    "{% for m in messages %}<|im_{{ m.role }}|>{{ m.content }}<|im_end|>{% endfor %}"
    "{% if style %}[{{ style }}]{% endif %}{% if reasoning_effort %}({{ reasoning_effort }}){% endif %}"
    "{% if add_generation_prompt %}<|im_assistant|>{% endif %}"
)
OTHER = TEMPLATE.replace("<|im_end|>", "<|im_end|>\n")
BODY: JSONObject = {"messages": [user("Hello there, how do you do?")]}


@pytest.fixture(scope="module")
def lab(lab_model_dir: object) -> str:
    return str(lab_model_dir)


def text_of(body: JSONObject, template: str = TEMPLATE, **changed: JSON) -> str:
    made = read_variables(
        {**body, **changed}, special_tokens={"bos_token": "[BOS]"}, template_kwargs={}, add_generation_prompt=None
    )
    return run_job(RenderJob(template, made.variables, made.continue_final_message)).text


def explain(body: JSONObject, text: str, lab: str, **known: str) -> Prompt:
    tokenizer = load_tokenizer(lab)
    template = known.pop("template", TEMPLATE)
    return explain_server_prompt(
        body,
        ReportedPrompt(
            tokenizer.encode(text),
            template=known.get("server_template"),
            kind=known.get("server_kind", "vllm"),
        ),
        template=template,
        tokenizer=tokenizer,
        renderer=run_job,
    )


WITH_TOOLS: JSONObject = {**BODY, "tools": [SEARCH]}
ANSWERED: JSONObject = {"messages": [*BODY["messages"], assistant("Well, ")]}  # type: ignore[misc]  # it is a list


@pytest.mark.parametrize(
    ("body", "made", "says"),
    [
        (BODY, lambda: "[BOS]" + text_of(BODY), "the server puts '[BOS]' in front of the prompt"),
        (BODY, lambda: text_of(BODY).removeprefix("[BOS]"), "removes the '[BOS]' that the template writes in front"),
        (WITH_TOOLS, lambda: text_of(BODY), "the server leaves the tools out."),
        (
            {**WITH_TOOLS, "tool_choice": "none"},
            lambda: text_of(BODY),
            "leaves the tools out because `tool_choice` is none",
        ),
        ({**BODY, "chat_template_kwargs": {"style": "x"}}, lambda: text_of(BODY), "ignores `chat_template_kwargs`"),
        ({**BODY, "reasoning_effort": "low"}, lambda: text_of(BODY), "ignores `reasoning_effort`"),
        (BODY, lambda: text_of(BODY, add_generation_prompt=False), "renders with `add_generation_prompt` false"),
        (ANSWERED, lambda: text_of(ANSWERED, continue_final_message=True), "continues the last assistant message"),
    ],
)
def test_what_the_server_did_is_named(body: JSONObject, made: Callable[[], str], says: str, lab: str) -> None:
    text = made()
    prompt = explain(body, text, lab)

    assert prompt.identical
    assert says in prompt.note
    assert SpanKind.UNKNOWN not in {span.kind for span in prompt.spans}
    assert prompt.spans[-1].char_span.stop == len(prompt.text) == len(text)


@pytest.mark.parametrize(
    ("body", "made"),
    [
        (BODY, lambda: text_of(BODY).replace("Hello", "Hullo")),
        (BODY, lambda: "[PAD]" + text_of(BODY)),
        (WITH_TOOLS, lambda: text_of(BODY) + "."),
        (ANSWERED, lambda: text_of(BODY) + "Well."),
    ],
)
def test_what_nothing_explains_stays_unknown(body: JSONObject, made: Callable[[], str], lab: str) -> None:
    text = made()
    prompt = explain(body, text, lab)

    assert not prompt.identical
    assert "the rest is unknown" in prompt.note
    assert prompt.proof is None
    assert SpanKind.UNKNOWN in {span.kind for span in prompt.spans}


@pytest.mark.parametrize("side", ["left", "right"])
def test_a_prompt_that_was_cut_is_named_if_the_request_asks_for_it(side: str, lab: str) -> None:
    tokenizer = load_tokenizer(lab)
    ids = tokenizer.encode(text_of(BODY))
    kept = tokenizer.decode(ids[-9:] if side == "left" else ids[:9])

    asked = explain({**BODY, "truncate_prompt_tokens": 9}, kept, lab)
    not_asked = explain(BODY, kept, lab)

    assert f"kept only the {'last' if side == 'left' else 'first'} 9 tokens" in asked.note
    assert {span.field for span in asked.spans} >= {"messages[0].content"} if side == "left" else True
    assert "kept only" not in not_asked.note


def test_another_template_is_named_only_if_it_gives_the_text(lab: str) -> None:
    text = text_of(BODY, OTHER)

    named = explain(BODY, text, lab, server_template=OTHER)
    not_named = explain(BODY, text, lab, server_template=TEMPLATE.replace("<|im_end|>", "!"))
    equal = explain(BODY, text_of(BODY), lab, server_template=OTHER)

    assert "the server uses a different template; line 2 is" in named.note
    assert named.template == OTHER
    assert [one.startswith("the server uses a different template") for one in named.proof or ()] == [True]
    assert "another template" not in not_named.note
    assert not_named.proof is None
    assert equal.note == "Equal to our own render of the request as pasted."
    assert equal.proof == ()
    assert equal.template == TEMPLATE


def test_the_habits_of_the_other_server_are_not_blamed(lab: str) -> None:
    """vLLM writes null where llama.cpp writes "": each is proved for its own server only."""
    body: JSONObject = {**BODY, "tools": [{"type": "function", "function": {"name": "f"}}]}
    text = text_of(
        {**BODY, "tools": [{"type": "function", "function": {"name": "f", "description": "", "parameters": {}}}]}
    )

    assert explain(body, text, lab, server_kind="llama.cpp").identical
    assert not explain(body, text, lab, server_kind="vllm").identical
