"""A lab server that does not come up; no vLLM is started here."""

from __future__ import annotations

import socket
from importlib.util import find_spec
from pathlib import Path

import pytest

from prompt_debugger.core.base.errors import LabError
from prompt_debugger.core.tools.lab.progress import LabProgress, LabState
from prompt_debugger.core.tools.lab.server import Lab
from prompt_debugger.core.tools.lab.spec import LabSpec

needs_vllm = pytest.mark.skipif(find_spec("vllm") is None, reason="vLLM is not installed")


def test_a_model_that_is_not_there_fails_before_anything_starts(tmp_path: Path) -> None:
    lab = Lab(LabSpec(model_dir=tmp_path / "nowhere"))
    reports: list[LabProgress] = []

    with pytest.raises(LabError, match="There is no model folder"):
        lab.boot(reports.append)

    assert lab.state is LabState.FAILED
    assert lab.failure() is lab.error
    assert lab.pid is None
    assert [report.state for report in reports] == [LabState.FAILED]


@needs_vllm
def test_a_port_that_someone_listens_on_is_refused(tmp_path: Path) -> None:
    (tmp_path / "tokenizer.json").write_text("{}")
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        lab = Lab(LabSpec(model_dir=tmp_path, kind="renderer", port=port))

        with pytest.raises(LabError, match=f"Port {port} on 127.0.0.1 cannot be used") as caught:
            lab.boot()

    assert "another port" in caught.value.hint


@needs_vllm
def test_a_lab_that_was_stopped_does_not_start(tmp_path: Path) -> None:
    lab = Lab(LabSpec(model_dir=tmp_path, kind="renderer"))
    lab.stop()

    with pytest.raises(LabError, match="stopped before it started"):
        lab.boot()

    assert lab.state is LabState.STOPPED
    assert not lab.is_healthy()
