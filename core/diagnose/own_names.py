"""Whether a server's tool parser is made for a format, be its name vLLM's or one of the server software's own."""

from __future__ import annotations

from prompt_debugger.core.base.types import Server
from prompt_debugger.core.formats import TABLES

FAMILYS_PARSER = "Start the server with the tool parser of this model's family."


def has_own_names(server: Server | None) -> bool:
    """Say whether this server software has names of its own for parsers, so that vLLM's say nothing to it."""
    return server is not None and server.parser_families is not None


def is_made_for(server: Server | None, family: str) -> bool | None:
    """Say whether the tool parser is made for a format; `None` where that is not known, as of a name seen nowhere."""
    if server is None or server.tool_parser is None:
        return None
    if server.parser_families is None and all(
        server.tool_parser not in names for names in TABLES.tool_parsers.values()
    ):
        return None
    if server.parser_families is None:
        return server.tool_parser in TABLES.tool_parsers.get(family, ())
    return family in server.parser_families if server.parser_families else None
