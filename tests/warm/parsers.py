"""Lets the parser helpers of a run split off from one process for each vLLM, whatever engine they belong to."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from prompt_debugger.core.parse.engines import client, pool, vllm_worker
from prompt_debugger.core.room.stem import Offshoot, Stem
from tests.warm.labs import ADDRESS

VLLM_WORKER = Path(vllm_worker.__file__).parent

_Key = tuple[tuple[str, ...], tuple[tuple[str, str], ...]]


class _Stems:
    """The stems that run, by command line and environment."""

    def __init__(self) -> None:
        self._by_key: dict[_Key, Stem] = {}
        self._splitting = threading.RLock()

    def share(self, command: Sequence[str], environment: Mapping[str, str]) -> Stem | SharedStem:
        if str(command[-1]) != str(VLLM_WORKER):
            return Stem(command, environment)
        key = (tuple(command), tuple(sorted(environment.items())))
        with self._splitting:
            stem = self._by_key.get(key)
            if stem is None or not stem.is_running:
                stem = self._by_key[key] = Stem(command, environment)
            return SharedStem(stem, self)

    def split(self, stem: Stem, *, is_slow: bool) -> Offshoot:
        with self._splitting:
            return stem.split(is_slow=is_slow)

    def drop(self, stem: Stem) -> None:
        """End a stem that could not do its imports, or is not trusted any more."""
        with self._splitting:
            self._by_key = {key: one for key, one in self._by_key.items() if one is not stem}
        stem.close(0.0)

    def close(self) -> None:
        with self._splitting:
            stems, self._by_key = list(self._by_key.values()), {}
        for stem in stems:
            stem.close(0.0)


class SharedStem:
    """One engine's share in a stem: to close it ends what split off for this engine."""

    def __init__(self, stem: Stem, stems: _Stems) -> None:
        self._stem = stem
        self._stems = stems
        self._offshoots: list[Offshoot] = []

    @property
    def is_running(self) -> bool:
        return self._stem.is_running

    def split(self, *, is_slow: bool) -> Offshoot:
        offshoot = self._stems.split(self._stem, is_slow=is_slow)
        self._offshoots.append(offshoot)
        return offshoot

    def close(self, patience_s: float) -> None:
        for offshoot in self._offshoots:
            offshoot.kill()
        if not patience_s:
            self._stems.drop(self._stem)


@contextmanager
def warm_parsers() -> Iterator[None]:
    """Engines of this process share what has imported the same vLLM, which is what the labs split off from, too."""
    stems = _Stems()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(client, "_KEPT_ENVIRONMENT", (*client._KEPT_ENVIRONMENT, "PYTHONPATH", ADDRESS))
        patch.setattr(pool, "Stem", stems.share)
        yield
    stems.close()
