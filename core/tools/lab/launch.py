"""The command line and environment of one lab server, and the folder it reads. Pure but for that folder.

How vLLM 0.32 on CPU is made small and quick (measured on 2 cores, miniature model):

* `--enforce-eager` skips compilation (35 s → 15 s).
* `--kv-cache-memory-bytes` in place of `VLLM_CPU_KVCACHE_SPACE`, which counts whole GiB and wins if set.
* `VLLM_ENABLE_V1_MULTIPROCESSING=0` keeps the worker inside the engine process (three processes → two).
* `TORCHDYNAMO_DISABLE=1` lets the sampler be as uncompiled as the model: the first answer with log probabilities cost
  13 to 20 s of processor time in every lab, now 0.1.
* `OMP_NUM_THREADS=1` for the miniature model, and no binding of threads to cores: bound threads that spin on a core
  which another program also wants take seconds per request instead of 0.07 s.
"""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Mapping
from pathlib import Path

from prompt_debugger.core.base.interpreter import vllm_python
from prompt_debugger.core.tools.lab.spec import LabSpec

HOST = "127.0.0.1"

_MODULE_BY_KIND = {
    "engine": "vllm.entrypoints.launchers.api_server.entry",
    "renderer": "vllm.entrypoints.launchers.render.entry",
}
# Variables of vLLM that a user may rightly have set for the machine; any other would change what the lab is.
_KEPT_VLLM_VARIABLES = frozenset({"VLLM_CACHE_ROOT", "VLLM_TARGET_DEVICE"})
HUB_TOKENS = frozenset({"HF_TOKEN", "HUGGING_FACE_HUB_TOKEN"})
_SETS_KEY = re.compile(r"^--[\w-]*(?:key|token|password)s?$")
_FOR_NO_ONE = re.compile(r"[/\\~]|^--[\w-]*(?:key|token|password)s?=")
_SECRET_ENDINGS = ("_API_KEY", "_TOKEN", "_SECRET", "_PASSWORD")


def build_command(spec: LabSpec, model: str, port: int) -> tuple[str, ...]:
    """Return the command line that serves `spec`."""
    command = [spec.python or vllm_python(), "-m", _MODULE_BY_KIND[spec.kind], "--model", model]
    command += ["--host", HOST, "--port", str(port), "--served-model-name", spec.model]
    command += ["--max-model-len", str(spec.max_model_len), "--disable-uvicorn-access-log"]
    command += _shaping_options(spec, str(spec.chat_template or ""))
    if spec.kind == "engine":
        command += ["--enforce-eager", "--kv-cache-memory-bytes", str(spec.kv_cache_bytes)]
        command += ["--enable-scale-out", "--enable-tokenizer-info-endpoint"]
    return (*command, *spec.extra_args)


def start_words(spec: LabSpec) -> str:
    """Return the shell command that starts such a server anywhere: what shapes its answers, and no folder's path."""
    folder_or_id = str(spec.model_dir)
    words = ["vllm", "serve", folder_or_id if spec.is_hub_id else Path(folder_or_id).name]
    words += ["--served-model-name", spec.model] if spec.model != words[-1] else []
    words += ["--max-model-len", str(spec.max_model_len)]
    words += _shaping_options(spec, "" if spec.chat_template is None else spec.chat_template.name)
    return shlex.join(words + _shown_words(spec.extra_args))


def build_environment(spec: LabSpec, inherited: Mapping[str, str], scratch: Path) -> dict[str, str]:
    """Return the environment of the server: our settings, and what is inherited but for secrets and vLLM's settings."""
    environment = {name: value for name, value in inherited.items() if _is_passed_on(name, spec)}
    environment |= {
        "TMPDIR": str(scratch),
        "VLLM_ENABLE_V1_MULTIPROCESSING": "0",
        "VLLM_CPU_OMP_THREADS_BIND": "nobind",
        "TORCHDYNAMO_DISABLE": "1",
        "OMP_NUM_THREADS": "1" if spec.is_lab_model else str(os.cpu_count() or 1),
        "VLLM_NO_USAGE_STATS": "1",
        "DO_NOT_TRACK": "1",
        "NO_COLOR": "1",
    }
    if spec.dev_mode:
        environment["VLLM_SERVER_DEV_MODE"] = "1"
    if not spec.is_hub_id:
        environment["HF_HUB_OFFLINE"] = "1"
    return environment


def prepare_model(spec: LabSpec, scratch: Path) -> str:
    """Return the folder or hub id that vLLM is to read.

    The renderer needs a `config.json` though it uses next to nothing of it. For a folder of tokenizer files alone
    this makes a folder of links to them, with a minimal `config.json` next to them.
    """
    if spec.kind == "engine" or spec.is_hub_id or (Path(spec.model_dir) / "config.json").exists():
        return str(spec.model_dir)
    folder = scratch / "model"
    folder.mkdir()
    for file in Path(spec.model_dir).iterdir():
        (folder / file.name).symlink_to(file)
    config = {"model_type": "llama", "max_position_embeddings": spec.max_model_len}
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    return str(folder)


def _shaping_options(spec: LabSpec, chat_template: str) -> list[str]:
    """Return what decides how requests are rendered and answers are read."""
    options: list[str] = []
    if spec.tool_parser is not None:
        options += ["--enable-auto-tool-choice", "--tool-call-parser", spec.tool_parser]
    if spec.reasoning_parser is not None:
        options += ["--reasoning-parser", spec.reasoning_parser]
    if chat_template:
        options += ["--chat-template", chat_template]
    if spec.default_chat_template_kwargs:
        options += ["--default-chat-template-kwargs", json.dumps(dict(spec.default_chat_template_kwargs))]
    return options


def _shown_words(arguments: tuple[str, ...]) -> list[str]:
    """Return further arguments with `…` for what is a path, or follows an option that sets a key."""
    pairs = zip(("", *arguments), arguments, strict=False)
    return ["…" if _FOR_NO_ONE.search(word) or _SETS_KEY.search(before) else word for before, word in pairs]


def _is_passed_on(name: str, spec: LabSpec) -> bool:
    if name in HUB_TOKENS:
        return spec.is_hub_id
    if name.startswith("VLLM_"):
        return name in _KEPT_VLLM_VARIABLES
    if name == "PYTHONUNBUFFERED":  # two processes writing piecemeal to one log would mix their lines
        return False
    return not name.endswith(_SECRET_ENDINGS)
