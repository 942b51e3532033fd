"""Forkservers that several users of this process share, each as if it had one of its own."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence

from prompt_debugger.core.sandbox.forkserver import ForkedChild, Forkserver

_Key = tuple[tuple[str, ...], tuple[tuple[str, str], ...]]
_END_S = 5.0


class Forkservers:
    """The forkservers that run, by command line and environment.

    Args:
        is_shared: Says of a command whether its forkserver is shared.
    """

    def __init__(self, is_shared: Callable[[Sequence[str]], bool] = lambda _: True) -> None:
        self._is_shared = is_shared
        self._by_key: dict[_Key, Forkserver] = {}
        self._forking = threading.RLock()

    def share(
        self, command: Sequence[str], environment: Mapping[str, str], modules: Sequence[str] = ()
    ) -> Forkserver | SharedForkserver:
        """Return what `Forkserver` would: one that has done its imports, if there is one."""
        if not self._is_shared(command):
            return Forkserver(command, environment, modules)
        key = (tuple(command), tuple(sorted(environment.items())))
        with self._forking:
            forkserver = self._by_key.get(key)
            if forkserver is None or not forkserver.is_running:
                forkserver = self._by_key[key] = Forkserver(command, environment, modules)
            return SharedForkserver(forkserver, self)

    def fork(self, forkserver: Forkserver, *, is_slow: bool) -> ForkedChild:
        with self._forking:
            return forkserver.fork(is_slow=is_slow)

    def drop(self, forkserver: Forkserver) -> None:
        """End a forkserver that could not do its imports, or is not trusted any more."""
        with self._forking:
            self._by_key = {key: one for key, one in self._by_key.items() if one is not forkserver}
        forkserver.close(0.0)

    def close(self) -> None:
        with self._forking:
            forkservers, self._by_key = list(self._by_key.values()), {}
        for forkserver in forkservers:
            forkserver.close(0.0)


class SharedForkserver:
    """One user's share of a forkserver; closing it ends the children forked for this user."""

    def __init__(self, forkserver: Forkserver, forkservers: Forkservers) -> None:
        self._forkserver = forkserver
        self._forkservers = forkservers
        self._children: list[ForkedChild] = []
        self._is_retired = False

    @property
    def modules(self) -> tuple[str, ...]:
        return self._forkserver.modules

    @property
    def is_running(self) -> bool:
        return not self._is_retired and self._forkserver.is_running

    @property
    def cpu_s(self) -> float:
        return self._forkserver.cpu_s

    def fork(self, *, is_slow: bool) -> ForkedChild:
        if self._is_retired:
            raise OSError("the forkserver is closed")
        child = self._forkservers.fork(self._forkserver, is_slow=is_slow)
        self._children.append(child)
        return child

    def last_words(self) -> bytes:
        return self._forkserver.last_words()

    def retire(self) -> None:
        self._is_retired = True

    def close(self, patience_s: float = _END_S) -> None:
        self.retire()
        for child in self._children:
            child.kill()
        for child in self._children if patience_s else ():
            if child.has_started:
                child.wait(patience_s)
        if not patience_s:
            self._forkservers.drop(self._forkserver)
