"""The tests of the browser are given out by files: what boots a real vLLM goes to one of the processes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.browser.conftest import share_of

HERE = Path(__file__).parent


@pytest.mark.parametrize("name", ["test_lab_run.py", "test_parse_tools.py", "test_compare.py"])
def test_what_boots_a_real_vllm_is_one_share(name: str) -> None:
    assert share_of(HERE / name) == "vllm"


@pytest.mark.parametrize("name", ["test_walk.py", "test_reload.py", "test_public.py"])
def test_any_other_file_is_one_by_itself(name: str) -> None:
    assert share_of(HERE / name) == str(HERE / name)
