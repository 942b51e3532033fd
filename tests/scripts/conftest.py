"""What the tests of the miniature model share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest


@pytest.fixture(scope="module")
def one_thread() -> Iterator[None]:
    """Let torch compute on one core: for networks this small, others would mostly wait for each other's steps."""
    torch = pytest.importorskip("torch", reason="PyTorch comes with the lab")
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)
