"""Real servers on loopback with the lab model; each starts once, when the first test asks for it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from prompt_debugger.core.tools.lab import LabPool, LabSpec
from tests.servers.running_servers import (
    LAB_MODEL,
    LITELLM_PYTHON,
    LLAMA_CPP_PYTHON,
    MLX_PYTHON,
    SMG_PYTHON,
    litellm_proxy,
    llama_cpp,
    llama_cpp_python,
    mlx_lm,
    smg,
    transformers_serve,
    two_models,
)


@pytest.fixture(scope="session")
def llama_cpp_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Base URL of llama.cpp's own server."""
    with llama_cpp(tmp_path_factory.mktemp("llama-cpp")) as base_url:
        yield base_url


@pytest.fixture(scope="session")
def llama_cpp_python_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Base URL of llama-cpp-python's server."""
    if not LLAMA_CPP_PYTHON.exists():
        pytest.skip(
            "llama-cpp-python is not installed: compile it into .venv-llama-cpp-python (scripts/server_table.py)"
        )
    with llama_cpp_python(tmp_path_factory.mktemp("llama-cpp-python")) as base_url:
        yield base_url


@pytest.fixture(scope="session")
def transformers_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Base URL of `transformers serve`."""
    with transformers_serve(tmp_path_factory.mktemp("hf-home")) as base_url:
        yield base_url


@pytest.fixture(scope="session")
def mlx_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Base URL of mlx-lm's server."""
    if not MLX_PYTHON.exists():
        pytest.skip("mlx-lm is not installed: `make .venv-mlx/.ready`, which `make test` does where there are wheels")
    with mlx_lm(tmp_path_factory.mktemp("mlx")) as base_url:
        yield base_url


@pytest.fixture(scope="session")
def two_models_url(llama_cpp_url: str) -> Iterator[str]:
    """Base URL of llama.cpp's server behind an address that lists a smaller model first."""
    small = {"id": "small", "object": "model", "owned_by": "vllm", "root": "org/small", "max_model_len": 100}
    lab = {"id": "lab", "object": "model", "owned_by": "vllm", "root": str(LAB_MODEL), "max_model_len": 2048}
    with two_models(llama_cpp_url, [small, lab]) as base_url:
        yield base_url


@pytest.fixture(scope="module")
def litellm_url(labs: LabPool, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Base URL of LiteLLM's proxy before a real vLLM."""
    if not LITELLM_PYTHON.exists():
        pytest.skip("LiteLLM is not installed: `make .venv-litellm/.ready`, which `make test` does")
    lab_url = asyncio.run(labs.get(LabSpec())).base_url
    with litellm_proxy(tmp_path_factory.mktemp("litellm"), lab_url) as base_url:
        yield base_url


@pytest.fixture(scope="module")
def smg_url(labs: LabPool, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Base URL of SGLang's gateway before a real vLLM."""
    if not SMG_PYTHON.exists():
        pytest.skip("smg is not installed: `make .venv-smg/.ready`, which `make test` does where there is a wheel")
    with smg(tmp_path_factory.mktemp("smg"), asyncio.run(labs.get(LabSpec())).base_url) as base_url:
        yield base_url
