"""Forks the parser helpers of a run from one process for each vLLM, whatever engine they belong to.

So it forks the tests for maintainers that are tried in vLLM or in a wheel.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from prompt_debugger.core.parse.engines import client, pool, vllm_worker
from prompt_debugger.core.parse.engines.client import VllmEngine
from prompt_debugger.core.parse.engines.wheels import installed_folder
from prompt_debugger.core.tools.fixes import trial
from tests.warm.forkservers import Forkservers
from tests.warm.labs import ADDRESS, FORKED

VLLM_WORKER = Path(vllm_worker.__file__).parent


@contextmanager
def warm_parsers() -> Iterator[None]:
    """Engines of this process share the forkserver with the same vLLM; the labs are forked from it, too.

    Those of wheels are forked from it as well: it has imported all that they need except the wheel itself.
    """
    forkservers = Forkservers(lambda command: str(command[-1]) == str(VLLM_WORKER))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(client, "_KEPT_ENVIRONMENT", (*client._KEPT_ENVIRONMENT, "PYTHONPATH", ADDRESS))
        patch.setattr(pool, "Forkserver", forkservers.share)
        patch.setattr(VllmEngine, "_environment", _warm_environment)
        patch.setattr(trial, "_run", _run_trial)
        yield
    forkservers.close()


_environment_of_users = VllmEngine._environment


def _warm_environment(engine: VllmEngine) -> dict[str, str]:
    environment, warm = _environment_of_users(engine), os.environ.get("PYTHONPATH")
    if not (engine._worker_arguments and warm and ADDRESS in environment):  # another vLLM is imported by itself
        return environment
    return environment | {"PYTHONPATH": os.pathsep.join([environment["PYTHONPATH"], warm])}


_run_trial_of_users = trial._run


def _run_trial(command: list[str], environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Run a test for maintainers; one of a changed copy of vLLM imports it anew, as do those of other packages."""
    package, wheel = command[6], command[8:]
    is_vllm = package == "vllm" and environment.get("PYTHONPATH") in (None, str(installed_folder("vllm")))
    if ADDRESS in os.environ and (is_vllm or wheel):
        told = {name: os.environ[name] for name in ("PYTHONPATH", ADDRESS)}
        environment = environment | told | FORKED
    return _run_trial_of_users(command, environment)
