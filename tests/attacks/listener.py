"""A server on this machine that no one must reach, which counts anyone who does."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from tests.patience import PATIENCE_S

_LAST = b"\0last\0"


class Listener:
    """Takes connections and answers each with a small JSON Schema."""

    def __init__(self) -> None:
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._socket.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}/schema.json"
        self._seen: list[bytes] = []
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def requests(self) -> list[bytes]:
        """Return what came until now; connections are taken in order, so ours is the last of them."""
        with socket.create_connection(("127.0.0.1", self.port)) as ours:
            ours.sendall(_LAST)
        self._thread.join(PATIENCE_S)
        assert not self._thread.is_alive()
        return self._seen

    def _serve(self) -> None:
        with self._socket:
            while True:
                connection, _ = self._socket.accept()
                with connection:
                    data = connection.recv(65_536)
                    if data == _LAST:
                        return
                    self._seen.append(data)
                    body = b'{"type": "string"}'
                    connection.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%s" % (len(body), body))


@contextmanager
def listening() -> Iterator[Listener]:
    """Give a listener; it ends when it is asked what came."""
    listener = Listener()
    yield listener
