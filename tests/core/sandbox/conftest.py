"""What the tests of the sandbox share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from prompt_debugger.core.sandbox import Sandbox


@pytest.fixture
def sandbox() -> Iterator[Sandbox]:
    sandbox = Sandbox(most=2)
    yield sandbox
    sandbox.close()


@pytest.fixture
def enough_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether a further process is started is a matter of what visitors do, not of what else this machine does."""
    monkeypatch.setattr("prompt_debugger.core.sandbox.workers.has_memory_for_another", lambda: True)
