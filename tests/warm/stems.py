"""Stems that several users of this process share, each as if it had one of its own."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence

from prompt_debugger.core.room.stem import Offshoot, Stem

_Key = tuple[tuple[str, ...], tuple[tuple[str, str], ...]]
_END_S = 5.0


class Stems:
    """The stems that run, by command line and environment.

    Args:
        is_shared: Says of a command whether its stem is shared.
    """

    def __init__(self, is_shared: Callable[[Sequence[str]], bool] = lambda _: True) -> None:
        self._is_shared = is_shared
        self._by_key: dict[_Key, Stem] = {}
        self._splitting = threading.RLock()

    def share(
        self, command: Sequence[str], environment: Mapping[str, str], modules: Sequence[str] = ()
    ) -> Stem | SharedStem:
        """Return what `Stem` would: one that has done its imports, if there is one."""
        if not self._is_shared(command):
            return Stem(command, environment, modules)
        key = (tuple(command), tuple(sorted(environment.items())))
        with self._splitting:
            stem = self._by_key.get(key)
            if stem is None or not stem.is_running:
                stem = self._by_key[key] = Stem(command, environment, modules)
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
    """One user's share in a stem: to close it ends what split off for this user."""

    def __init__(self, stem: Stem, stems: Stems) -> None:
        self._stem = stem
        self._stems = stems
        self._offshoots: list[Offshoot] = []
        self._is_retired = False

    @property
    def modules(self) -> tuple[str, ...]:
        return self._stem.modules

    @property
    def is_running(self) -> bool:
        return not self._is_retired and self._stem.is_running

    def split(self, *, is_slow: bool) -> Offshoot:
        if self._is_retired:
            raise OSError("nothing more splits off")
        offshoot = self._stems.split(self._stem, is_slow=is_slow)
        self._offshoots.append(offshoot)
        return offshoot

    def last_words(self) -> bytes:
        return self._stem.last_words()

    def retire(self) -> None:
        self._is_retired = True

    def close(self, patience_s: float = _END_S) -> None:
        self.retire()
        for offshoot in self._offshoots:
            offshoot.kill()
        for offshoot in self._offshoots if patience_s else ():
            if offshoot.is_born:
                offshoot.wait(patience_s)
        if not patience_s:
            self._stems.drop(self._stem)
