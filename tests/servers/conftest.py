"""Real servers on loopback with the lab model; each starts once, when the first test asks for it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.servers.gguf_model import write_gguf
from tests.servers.processes import free_port, running

HERE = Path(__file__).parent


@pytest.fixture(scope="session")
def gguf_file(lab_model_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The lab model as GGUF."""
    file = tmp_path_factory.mktemp("gguf") / "lab-model.gguf"
    write_gguf(lab_model_dir, file)
    return file


@pytest.fixture(scope="session")
def llama_cpp_url(gguf_file: Path) -> Iterator[str]:
    """Base URL of llama.cpp's own server."""
    command = [sys.executable, str(HERE / "llama_cpp_main.py"), str(gguf_file)]
    with running(command, r"^serving (http://\S+)$") as match:
        yield f"{match[1]}/v1"


@pytest.fixture(scope="session")
def transformers_url(lab_model_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Base URL of `transformers serve`, which names the model by its folder."""
    port = free_port()
    command = [str(Path(sys.executable).with_name("transformers")), "serve", str(lab_model_dir)]
    command += ["--host", "127.0.0.1", "--port", str(port), "--device", "cpu", "--log-level", "info"]
    home = tmp_path_factory.mktemp("hf-home")
    (home / "hub").mkdir()
    with running(command, r"Uvicorn running on", environment={"HF_HOME": str(home)}):
        yield f"http://127.0.0.1:{port}/v1"
