"""A client for processes without a network: it has what another client knows about its server, and asks nothing."""

from __future__ import annotations

from typing import NamedTuple, NoReturn, cast

from prompt_debugger.core.base.types import Api, Server
from prompt_debugger.core.complete.backends.http import HttpConnection
from prompt_debugger.core.complete.client import ServerClient
from prompt_debugger.core.sandbox.values import admit


class MustAskError(Exception):
    """The server would have to be asked."""


@admit
class Known(NamedTuple):
    """What a client knows of its server.

    Attributes:
        server: What a look at it found; `None` before.
        notes: What could not be seen, one sentence each.
        refused_fields: Our added fields that it refused, with its words.
    """

    base_url: str
    server: Server | None
    notes: tuple[str, ...]
    refused_fields: dict[str, str]


def known_by(client: ServerClient) -> Known | None:
    """Return what a client knows; `None` if it asks by another API, whose requests it makes itself."""
    if client.api is not Api.CHAT:
        return None
    return Known(client.base_url, client.server, client.notes, dict(client.refused_fields))


class UnaskedClient(ServerClient):
    """That client; asking raises `MustAskError`.

    Args:
        known: What it knows.
    """

    def __init__(self, known: Known) -> None:
        self.base_url, self.server, self.notes = known.base_url, known.server, known.notes
        self._refused_fields = known.refused_fields
        self.api, self._native, self.wants_key = Api.CHAT, {}, False
        self._connection = cast("HttpConnection", _Nobody())


class _Nobody:
    """In place of a connection."""

    def __getattr__(self, _: str) -> NoReturn:
        raise MustAskError
