"""Short questions to a server that is not known yet, each asked once."""

from __future__ import annotations

import asyncio

from prompt_debugger.core.base.errors import BackendError
from prompt_debugger.core.base.types import JSONObject
from prompt_debugger.core.complete.backends.http import Answer, HttpConnection
from prompt_debugger.core.complete.shapes import parse_look

_ABSENT = frozenset({403, 404, 405, 501})


class Looks:
    """What a server answered so far.

    Attributes:
        connection: To the server, for questions of another shape.
    """

    def __init__(self, connection: HttpConnection) -> None:
        self.connection = connection
        self._asked: dict[str, Answer | BackendError] = {}

    async def ask(self, *paths: str) -> tuple[Answer | BackendError, ...]:
        """Return the answers at some paths; what was not asked yet is asked now, all at once."""
        missing = [path for path in paths if path not in self._asked]
        self._asked |= dict(zip(missing, await asyncio.gather(*map(self._look, missing)), strict=True))
        return tuple(self._asked[path] for path in paths)

    async def ask_beside(self, first: str, *others: str) -> tuple[Answer | BackendError, ...]:
        """Return the answers at some paths, all asked at once: of a server that answers the first, some may hang.

        Once it has, the others have `beside_s`, or three times what it took: a slow server is slow at all of them.
        """
        clock = asyncio.get_running_loop().time
        began = clock()
        asking = {path: asyncio.create_task(self._look(path)) for path in others}
        try:
            answer = self._asked[first] = await self._look(first, self.connection.timeouts.wake_s)
            patience = max(self.connection.timeouts.beside_s, 3 * (clock() - began))
            await asyncio.wait(asking.values(), timeout=patience if isinstance(answer, Answer) else None)
            hangs = BackendError(f"No answer within {patience:.0f} s of {first}.", kind="timeout")
            self._asked |= {path: look.result() if look.done() else hangs for path, look in asking.items()}
        finally:
            for look in asking.values():
                look.cancel()
            await asyncio.gather(*asking.values(), return_exceptions=True)
        return tuple(self._asked[path] for path in (first, *others))

    async def fields(self, path: str) -> JSONObject:
        """Return what a path answers, as far as it is a JSON object; nothing of one that does not answer."""
        await self.ask(path)
        return parse_look(self.text(path))

    def text(self, path: str) -> str:
        """Return what a path answered when it was asked; "" if it was not, or did not answer."""
        answer = self._asked.get(path)
        return answer.text if isinstance(answer, Answer) else ""

    async def answers(self, path: str, *, is_get: bool = False) -> bool:
        """Return whether an endpoint is there: an empty body makes it complain, not work."""
        try:
            if is_get:
                await self.connection.get(path, total_s=self.connection.timeouts.probe_s)
            else:
                await self.connection.post(path, {}, total_s=self.connection.timeouts.probe_s)
        except BackendError as error:
            return error.status is not None and error.status not in _ABSENT
        return True

    async def _look(self, path: str, at_least_s: float = 0.0) -> Answer | BackendError:
        try:
            return await self.connection.get(path, total_s=max(self.connection.timeouts.probe_s, at_least_s))
        except BackendError as error:
            return error
