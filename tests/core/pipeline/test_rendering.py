"""Whose word counts when a tokenizer is looked for."""

from __future__ import annotations

from pathlib import Path

import pytest

from prompt_debugger.core.base.types import Server
from prompt_debugger.core.complete import guard_of
from prompt_debugger.core.pipeline import Target
from prompt_debugger.core.pipeline.rendering import load_renderer

pytestmark = pytest.mark.slow


def _server(base_url: str, root: Path | str) -> Server:
    return Server(base_url=base_url, model_root=str(root))


@pytest.mark.parametrize("base_url", ["http://127.0.0.1:8000/v1", "http://localhost:8000/v1", "http://[::1]:8000/v1"])
def test_a_server_on_this_machine_may_name_a_folder_of_it(base_url: str, lab_model_dir: Path) -> None:
    renderer = load_renderer(Target(base_url=base_url), _server(base_url, lab_model_dir))

    assert renderer.tokenizer is not None


@pytest.mark.parametrize("base_url", ["http://10.0.0.7:8000/v1", "https://api.example/v1"])
def test_a_server_elsewhere_may_not(base_url: str, lab_model_dir: Path) -> None:
    renderer = load_renderer(Target(base_url=base_url), _server(base_url, lab_model_dir))

    assert (renderer.tokenizer, renderer.template) == (None, None)


def test_after_a_guard_a_server_names_no_tokenizer_at_all(lab_model_dir: Path) -> None:
    """Not even one of this machine: anyone who chose it is a stranger."""
    base_url = "http://127.0.0.1:8000/v1"
    target = Target(base_url=base_url, guard=guard_of([base_url]))

    assert load_renderer(target, _server(base_url, lab_model_dir)).tokenizer is None
    assert "give one" in load_renderer(target, _server(base_url, "org/model")).note


def test_after_a_guard_the_tokenizer_of_the_operator_still_counts(lab_model_dir: Path) -> None:
    base_url = "https://api.example/v1"
    target = Target(base_url=base_url, guard=guard_of([base_url]), tokenizer=lab_model_dir)

    assert load_renderer(target, _server(base_url, "org/model")).tokenizer is not None
