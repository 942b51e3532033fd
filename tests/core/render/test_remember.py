"""The request as pasted is rendered once in a run, and what its steps get is what they would have got."""

from __future__ import annotations

import pytest

from prompt_debugger.core.base.types import JSON, JSONObject, Prompt
from prompt_debugger.core.pipeline.rendering import Renderer
from prompt_debugger.core.render import (
    Remembered,
    ReportedPrompt,
    explain_server_prompt,
    generation_prompt,
    render_local,
)
from prompt_debugger.core.render.job import RenderJob, RenderOutcome, Variable
from prompt_debugger.core.render.worker import RenderWorker

TEMPLATE = (
    "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}{{ flag }}"
)
MESSAGES = Variable("messages", [{"role": "user", "content": "Hi"}], ("messages",))
BODY: JSONObject = {"messages": [{"role": "user", "content": "Hi"}]}


@pytest.fixture
def jobs(monkeypatch: pytest.MonkeyPatch) -> list[RenderJob]:
    """What reaches the render sandbox."""
    seen: list[RenderJob] = []
    render = RenderWorker.render

    def noted(self: RenderWorker, job: RenderJob) -> RenderOutcome:
        seen.append(job)
        return render(self, job)

    monkeypatch.setattr(RenderWorker, "render", noted)
    return seen


def steps(remembered: Remembered | None, server_text: str) -> tuple[Prompt, str | None, Prompt]:
    """Return what the three steps of a run that render get."""
    local = render_local(BODY, template=TEMPLATE, renderer=remembered)
    opened = generation_prompt(TEMPLATE, BODY, renderer=remembered)
    sent = {**BODY, "model": "lab"}
    server = explain_server_prompt(
        sent, ReportedPrompt(text=server_text), template=TEMPLATE, tokenizer=None, remembered=remembered
    )
    return local, opened, server


@pytest.mark.parametrize("text", ["<|user|>Hi<|assistant|>", "<|user|>Hi", "<|user|>Bye<|assistant|>"])
def test_the_steps_get_what_they_would_have_got(text: str) -> None:
    assert steps(Remembered(), text) == steps(None, text)


def test_a_run_renders_the_request_as_pasted_once_and_once_without_its_generation_prompt(jobs: list[RenderJob]) -> None:
    steps(Remembered(), "<|user|>Hi<|assistant|>")

    assert [
        (job.is_traced, [one.value for one in job.variables if one.name == "add_generation_prompt"]) for job in jobs
    ] == [
        (True, [True]),
        (False, [False]),
    ]


@pytest.mark.parametrize(("first", "then"), [(1, True), (1, 1.0), (False, 0), (None, "None")])
def test_values_that_only_look_equal_are_rendered_anew(first: JSON, then: JSON) -> None:
    remembered = Remembered()

    texts = [remembered(RenderJob("{{ flag }}", (MESSAGES, Variable("flag", value)))).text for value in (first, then)]

    assert texts == [str(first), str(then)]


def test_a_fault_is_remembered_too_and_another_run_starts_anew(jobs: list[RenderJob]) -> None:
    job = RenderJob("{{ nothing.at.all }}", (MESSAGES,))
    renderer = Renderer(TEMPLATE, None).for_one_run()
    assert renderer.remembered is not None
    first, again = renderer.remembered(job), renderer.remembered(job)
    assert first.fault is not None
    assert again == first
    assert len(jobs) == 1

    other = renderer.for_one_run().remembered

    assert other is not None
    assert other(job).fault == first.fault
    assert len(jobs) == 2
