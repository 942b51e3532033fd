"""Rules of the render stage on real chat templates: silent wherever nothing is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from prompt_debugger.core.base.errors import RenderError
from prompt_debugger.core.base.types import JSONObject, Request, Severity, Trace
from prompt_debugger.core.diagnose import diagnose_trace
from prompt_debugger.core.render import generation_prompt, render_local

SPECIAL = {"bos_token": "<s>", "eos_token": "</s>"}
CONVERSATIONS: dict[str, JSONObject] = {
    "one question": {"messages": [{"role": "user", "content": 'Weather in "Zürich" & <Bern>?\nNow.'}]},
    "an earlier answer with reasoning": {
        "messages": [
            {"role": "user", "content": "Hi"},
            {"role": "assistant", "content": "<think>greet</think>\n\nHello there!"},
            {"role": "user", "content": "  Bye now  "},
        ]
    },
}


@pytest.mark.corpus
@pytest.mark.parametrize("name", CONVERSATIONS)
def test_no_real_template_raises_a_false_alarm(name: str, corpus_dir: Path) -> None:
    body = CONVERSATIONS[name]
    alarms, n_rendered = [], 0
    for path in sorted(file for file in corpus_dir.rglob("*") if file.is_file()):
        template = path.read_text(encoding="utf-8", errors="replace")
        try:
            prompt = render_local(body, template=template, tokenizer=None, special_tokens=SPECIAL)
            header = generation_prompt(template, body)
        except RenderError:
            continue  # the template refuses this conversation

        n_rendered += 1
        trace = Trace(request=Request(body=body, text=""), local_prompt=prompt, generation_prompt=header)
        found = [finding for finding in diagnose_trace(trace) if finding.severity is not Severity.NOTE]
        alarms += [(path.name, finding.code, finding.detail) for finding in found]

    assert n_rendered >= 10
    assert alarms == []
