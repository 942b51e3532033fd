"""Lets the rooms of a run that serve the same jobs split off from one process that has imported them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from prompt_debugger.core.room import stem
from tests.warm.stems import Stems


@contextmanager
def warm_rooms() -> Iterator[None]:
    """Rooms that are opened meanwhile, in this process, share their stems."""
    stems = Stems()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stem, "Stem", stems.share)
        yield
    stems.close()


@contextmanager
def cold_rooms() -> Iterator[None]:
    """Rooms that are opened meanwhile have a stem each, as users' have."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stem, "Stem", stem_of_users)
        yield


stem_of_users = stem.Stem
