"""The lab model's template and tokenizer as setups."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from prompt_debugger.core.render import load_template, load_tokenizer
from prompt_debugger.core.render.local import Renderer
from prompt_debugger.core.render.worker import RenderWorker
from prompt_debugger.core.render.worker.jobs import LIMITS
from prompt_debugger.core.tools.experiments import RenderSetup


@pytest.fixture(scope="session")
def lab(lab_model_dir: Path) -> RenderSetup:
    template = load_template(lab_model_dir)
    assert template is not None
    return RenderSetup(template, load_tokenizer(lab_model_dir))


@pytest.fixture(scope="session")
def mended(lab: RenderSetup, lab_model_dir: Path) -> RenderSetup:
    """The lab with the template that has no fault."""
    return replace(lab, template=(lab_model_dir / "chat_template.mended.jinja").read_text(encoding="utf-8"))


@pytest.fixture(scope="session")
def hasty() -> Renderer:
    """The shared worker, which gives up a fifth as late: for templates that never end."""
    return RenderWorker(replace(LIMITS, cpu_s=0.2), is_shared=True).render
