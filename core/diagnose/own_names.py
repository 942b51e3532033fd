"""Whether a server's tool parser is made for a format, be its name vLLM's or one of the server software's own."""

from __future__ import annotations

from prompt_debugger.core.base.types import Server
from prompt_debugger.core.formats import TABLES

FAMILYS_PARSER = "Start the server with the tool parser of this model's family."


def has_own_names(server: Server | None) -> bool:
    """Return whether this server software has its own names for parsers, so that vLLM's mean nothing to it."""
    return server is not None and server.parser_families is not None


def is_made_for(server: Server | None, family: str) -> bool | None:
    """Return whether the tool parser is made for a format; `None` if that is not known, as for an unknown name."""
    if server is None or server.tool_parser is None:
        return None
    if server.parser_families is None and all(
        server.tool_parser not in names for names in TABLES.tool_parsers.values()
    ):
        return None
    if server.parser_families is None:
        return server.tool_parser in TABLES.tool_parsers.get(family, ())
    return family in server.parser_families if server.parser_families else None
