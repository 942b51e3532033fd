"""Whether vLLM is there is found out without importing it."""

from __future__ import annotations

import subprocess
import sys
import venv
from importlib.util import find_spec
from pathlib import Path

import pytest

from prompt_debugger.core.base.errors import LabError
from prompt_debugger.core.tools.lab.installation import require_vllm

ROOT = Path(__file__).resolve().parents[4]


@pytest.mark.skipif(find_spec("vllm") is None, reason="vLLM is not installed")
def test_asking_for_the_version_imports_neither_vllm_nor_torch() -> None:
    source = (
        "import sys, core.tools.lab; print(core.tools.lab.vllm_version()); core.tools.lab.require_vllm();"
        "print(*(name for name in ('vllm', 'torch', 'transformers') if name in sys.modules))"
    )

    result = subprocess.run([sys.executable, "-c", source], cwd=ROOT, capture_output=True, text=True, check=True)

    assert result.stdout.split() == ["0.32.0"]


def test_an_interpreter_without_vllm_is_refused_with_the_way_to_get_it(tmp_path: Path) -> None:
    venv.create(tmp_path / "bare", with_pip=False)

    with pytest.raises(LabError, match="vLLM is not installed") as caught:
        require_vllm(str(tmp_path / "bare" / "bin" / "python"))

    assert "make setup" in caught.value.hint
    assert "lab --install" in caught.value.hint


def test_an_interpreter_that_does_not_exist_is_refused() -> None:
    with pytest.raises(LabError, match="/no/such/python"):
        require_vllm("/no/such/python")
