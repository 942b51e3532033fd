"""Joining a Ray cluster for as long as a command runs."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path

from prompt_debugger.core.base.errors import RequestError

# Where this package lies, for workers that share our files; others have it installed.
_HOME = str(Path(__file__).resolve().parents[3])


@contextmanager
def joined(address: str) -> Iterator[int]:
    """Join a cluster until the block ends; gives its number of processors.

    Args:
        address: As Ray takes it: `auto`, `HOST:PORT`, `ray://HOST:PORT`; `local` for one on this machine alone.

    Raises:
        RequestError: Ray is not installed, or there is no such cluster.
    """
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")  # what matters reaches us as an error
    try:
        import ray
    except ImportError:
        raise RequestError(
            "`--ray` needs Ray, which is not installed.", "pip install 'prompt-debugger[ray]'", field="--ray"
        ) from None
    paths = os.pathsep.join(path for path in (_HOME, os.environ.get("PYTHONPATH")) if path)
    with redirect_stdout(sys.stderr):  # where Ray, too, says what it has to say, at its end most of it
        try:
            ray.init(
                address=address,
                log_to_driver=False,
                logging_level=logging.ERROR,
                runtime_env={"env_vars": {"PYTHONPATH": paths}},
            )
        except (ConnectionError, ValueError, RuntimeError, OSError) as error:
            raise RequestError(
                f"Cannot join a Ray cluster at {address!r}: {error}",
                "Start one with `ray start --head`.",
                field="--ray",
            ) from None
        try:
            yield max(1, int(ray.cluster_resources().get("CPU", 1)))
        finally:
            ray.shutdown()
