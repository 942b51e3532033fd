"""Reasoning that was open in the prompt, for every family: a text cut inside it is no answer that was swallowed."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prompt_debugger.core.base.errors import RenderError
from prompt_debugger.core.base.types import Certainty, Finding, JSONObject, Severity, Stage
from prompt_debugger.core.diagnose import diagnose_trace, reach_verdict
from prompt_debugger.core.formats import FORMATS, TABLES
from prompt_debugger.core.render import render_local
from tests.core.diagnose.cases import build_trace
from tests.examples import examples

CUT = "They ask about the weather in Paris.\n\nI should look it up, so"
HEADERS = {"harmony", "inkling", "muse_glimmer"}
# What the prompt ends with where the model is to answer at once.
ANSWERING = {
    "harmony": "<|start|>assistant<|channel|>final<|message|>",
    "inkling": "<|message_model|><|content_text|>",
    "muse_glimmer": "<|start|>assistant to=user<|message|>",
    "kimi_k3": '<|open|>message role="assistant"<|sep|><|open|>response<|sep|>',
}


class Opened(NamedTuple):
    format: str
    header: str
    opener: str
    closer: str

    def __str__(self) -> str:
        return f"{self.format} {self.opener.strip()}"


def opened() -> list[Opened]:
    found = []
    for name, model_format in FORMATS.items():
        tags = model_format.facts.reasoning or model_format.conventions.reasoning
        turns = model_format.conventions.turns
        header = turns[-1] if turns and name not in HEADERS else ""
        header = {"muse_glimmer": "<|start|>assistant ", "harmony": "<|start|>assistant"}.get(name, header)
        found += [] if tags is None else [Opened(name, header, *pair) for pair in tags.pairs]
    return found


def findings(raw: str, prompt: str | None, finish: str = "length") -> list[Finding]:
    case = {
        "request": {"messages": [{"role": "user", "content": "Hello"}]},
        "raw": raw,
        "message": {"content": None, "reasoning": raw},
        "raw_finish_reason": finish,
        "finish_reason": finish,
        "special": [],
    }
    trace = build_trace(case if prompt is None else {**case, "prompt": prompt})
    found = diagnose_trace(trace)
    assert finish != "length" or reach_verdict(trace).stage is not Stage.PARSE
    return list(found)


def errors(found: list[Finding]) -> set[str]:
    return {finding.code for finding in found if finding.severity is Severity.ERROR}


@pytest.mark.parametrize("case", opened(), ids=str)
@pytest.mark.parametrize("behind", ["", "\n"], ids=["at once", "behind a line break"])
def test_text_cut_inside_reasoning_that_the_prompt_opened_is_not_a_swallowed_answer(case: Opened, behind: str) -> None:
    prompt = f"Hello{case.header}{case.opener}{behind}"

    found = findings(CUT, prompt)

    assert errors(found) == {"PD302"}  # the budget is used up, and that is all


@settings(max_examples=examples(60), deadline=None)
@given(
    case=st.sampled_from(opened()),
    words=st.lists(st.sampled_from(["the", "So,", "Paris", "天气", "1.5", "x = [1]", "\n\n", "é"]), min_size=1),
)
def test_whatever_the_words(case: Opened, words: list[str]) -> None:
    found = findings("I think " + " ".join(words), f"Hello{case.header}{case.opener}")

    assert errors(found) <= {"PD302"}


@pytest.mark.parametrize("case", opened(), ids=str)
def test_where_the_prompt_closed_the_block_the_answer_was_swallowed(case: Opened) -> None:
    prompt = f"Hello{case.header}" + ANSWERING.get(case.format, f"{case.opener}\n\n{case.closer}\n\n")

    found = findings("It is sunny in Paris.", prompt, "stop")

    assert "PD408" in errors(found)


@pytest.mark.parametrize("case", opened(), ids=str)
def test_where_the_prompt_opened_no_block_the_answer_was_swallowed(case: Opened) -> None:
    prompt = f"Hello{ANSWERING.get(case.format, case.header)}"

    found = findings("It is sunny in Paris.", prompt, "stop")

    assert "PD408" in errors(found)


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_a_tag_in_an_earlier_turn_opens_nothing(name: str) -> None:
    conventions = FORMATS[name].conventions
    if conventions.reasoning is None or not conventions.turns:
        pytest.skip("the family has no tags, or no turn that is known")
    prompt = f"What does {conventions.reasoning.openers[0]} mean?{conventions.turns[-1]}"

    found = findings("It opens reasoning.", prompt, "stop")

    assert "PD408" in errors(found)


@pytest.mark.parametrize("finish", ["stop", "length"])
def test_without_the_prompt_an_output_without_a_marker_may_all_be_reasoning(finish: str) -> None:
    found = findings("They ask about Paris.", None, finish)

    assert errors(found) == set()
    assert {finding.certainty for finding in found if finding.code == "PD408"} <= {Certainty.INFERRED}


def test_every_opener_of_a_prompt_is_in_the_table() -> None:
    assert {(case.opener, case.closer) for case in opened()} == set(TABLES.prompt_pairs)


@pytest.mark.parametrize("header", ["\n\nAssistant:", "<sep>assistant: ", " ASSISTANT:"])
def test_a_tag_in_an_earlier_turn_opens_nothing_after_a_header_in_plain_words(header: str) -> None:
    found = findings("It opens reasoning.", f"User: What does <think> mean?{header}", "stop")

    assert "PD408" in errors(found)


# How real templates end where the model is to think at once; all else answers.
THINKING_TAILS = ("<think>", "<think:opensource>", "<|START_THINKING|>", "<|open|>think<|sep|>")
SETTINGS: tuple[JSONObject, ...] = (
    {},
    {"enable_thinking": True, "thinking": True, "thinking_mode": "thinking", "reasoning_effort": "high"},
    {"enable_thinking": False, "thinking": False, "thinking_mode": "chat", "reasoning_effort": "no_think"},
)


@pytest.mark.corpus
@pytest.mark.parametrize("kwargs", SETTINGS, ids=["default", "on", "off"])
def test_real_templates_are_read_as_they_end(corpus_dir: Path, kwargs: JSONObject) -> None:
    body: JSONObject = {
        "messages": [{"role": "user", "content": "What does <think> mean?"}],
        "chat_template_kwargs": kwargs,
    }
    wrong, n_rendered = [], 0
    for path in sorted(file for file in corpus_dir.rglob("*") if file.is_file()):
        template = path.read_text(encoding="utf-8", errors="replace")
        special = {"bos_token": "<s>", "eos_token": "</s>"}
        try:
            prompt = render_local(body, template=template, tokenizer=None, special_tokens=special).text
        except RenderError:
            continue  # the template refuses this conversation
        n_rendered += 1
        thinks = prompt.rstrip().endswith(THINKING_TAILS)
        found = findings(CUT, prompt, "stop")
        if thinks is ("PD408" in errors(found)):
            wrong.append((path.name, prompt[-40:]))

    assert n_rendered >= 10
    assert wrong == []
