"""Forks the sandboxes of a run that serve the same jobs from one process that has imported them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from prompt_debugger.core.sandbox import forkserver
from tests.warm.forkservers import Forkservers


@contextmanager
def warm_sandboxes() -> Iterator[None]:
    """Sandboxes that are opened meanwhile, in this process, share their forkservers."""
    forkservers = Forkservers()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(forkserver, "Forkserver", forkservers.share)
        yield
    forkservers.close()


@contextmanager
def cold_sandboxes() -> Iterator[None]:
    """Sandboxes that are opened meanwhile have a forkserver each, as users' have."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(forkserver, "Forkserver", forkserver_of_users)
        yield


forkserver_of_users = forkserver.Forkserver
