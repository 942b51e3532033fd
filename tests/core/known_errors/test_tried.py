"""Sentences that are marked as tried are raised by the installed packages, word for word."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from prompt_debugger.core.known_errors import KNOWN_ERRORS, recognise_error
from tests.warm.labs import FORKED

HERE = Path(__file__).parent
TRIED = {error.says: error.tried for errors in KNOWN_ERRORS.values() for error in errors if error.tried}


def raised_by(script: str) -> list[str]:
    """Return what a script raises, run by itself: it imports much."""
    command = [sys.executable, str(HERE / f"{script}.py")]
    environment = os.environ | FORKED | {"PYTHONWARNINGS": "ignore"}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    found: list[str] = json.loads(done.stdout.strip().splitlines()[-1])
    return found


@pytest.mark.slow
@pytest.mark.vllm
@pytest.mark.parametrize(("script", "is_vllm"), [("raised_by_vllm", True), ("raised_by_packages", False)])
def test_what_is_marked_as_tried_is_raised(script: str, *, is_vllm: bool) -> None:
    said = {words: recognise_error(words) for words in raised_by(script)}

    unknown = [words for words, found in said.items() if found is None]
    seen = {found.error.says for found in said.values() if found is not None}
    marked = {says for says, release in TRIED.items() if release.startswith("vLLM") == is_vllm}
    assert unknown == []
    assert seen == marked
