"""Forkservers that several users of this process share, each as if it had one of its own."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence

from prompt_debugger.core.sandbox.forkserver import Forkserver, Offshoot

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
        self._splitting = threading.RLock()

    def share(
        self, command: Sequence[str], environment: Mapping[str, str], modules: Sequence[str] = ()
    ) -> Forkserver | SharedForkserver:
        """Return what `Forkserver` would: one that has done its imports, if there is one."""
        if not self._is_shared(command):
            return Forkserver(command, environment, modules)
        key = (tuple(command), tuple(sorted(environment.items())))
        with self._splitting:
            forkserver = self._by_key.get(key)
            if forkserver is None or not forkserver.is_running:
                forkserver = self._by_key[key] = Forkserver(command, environment, modules)
            return SharedForkserver(forkserver, self)

    def split(self, forkserver: Forkserver, *, is_slow: bool) -> Offshoot:
        with self._splitting:
            return forkserver.split(is_slow=is_slow)

    def drop(self, forkserver: Forkserver) -> None:
        """End a forkserver that could not do its imports, or is not trusted any more."""
        with self._splitting:
            self._by_key = {key: one for key, one in self._by_key.items() if one is not forkserver}
        forkserver.close(0.0)

    def close(self) -> None:
        with self._splitting:
            forkservers, self._by_key = list(self._by_key.values()), {}
        for forkserver in forkservers:
            forkserver.close(0.0)


class SharedForkserver:
    """One user's share in a forkserver: to close it ends what split off for this user."""

    def __init__(self, forkserver: Forkserver, forkservers: Forkservers) -> None:
        self._forkserver = forkserver
        self._forkservers = forkservers
        self._offshoots: list[Offshoot] = []
        self._is_retired = False

    @property
    def modules(self) -> tuple[str, ...]:
        return self._forkserver.modules

    @property
    def is_running(self) -> bool:
        return not self._is_retired and self._forkserver.is_running

    def split(self, *, is_slow: bool) -> Offshoot:
        if self._is_retired:
            raise OSError("nothing more splits off")
        offshoot = self._forkservers.split(self._forkserver, is_slow=is_slow)
        self._offshoots.append(offshoot)
        return offshoot

    def last_words(self) -> bytes:
        return self._forkserver.last_words()

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
            self._forkservers.drop(self._forkserver)
