"""Lets the parser helpers of a run split off from one process for each vLLM, whatever engine they belong to."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from prompt_debugger.core.parse.engines import client, pool, vllm_worker
from tests.warm.forkservers import Forkservers
from tests.warm.labs import ADDRESS

VLLM_WORKER = Path(vllm_worker.__file__).parent


@contextmanager
def warm_parsers() -> Iterator[None]:
    """Engines of this process share what has imported the same vLLM, which is what the labs split off from, too."""
    forkservers = Forkservers(lambda command: str(command[-1]) == str(VLLM_WORKER))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(client, "_KEPT_ENVIRONMENT", (*client._KEPT_ENVIRONMENT, "PYTHONPATH", ADDRESS))
        patch.setattr(pool, "Forkserver", forkservers.share)
        yield
    forkservers.close()
