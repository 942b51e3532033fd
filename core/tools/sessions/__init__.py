"""Agents' sessions: where the prefix cache of a server breaks from one turn to the next, why, and what it costs.

    files ──► gather ──► stitch ──► turns ──► document
    captures,  exchanges  by the     where the   JSON
    HARs, logs            messages   prompts part

Public: `gather_exchanges`, `gather_pasted`, `Exchange`, `follow_sessions`, `sessions_to_json`.
"""

from prompt_debugger.core.tools.sessions.document import sessions_to_json
from prompt_debugger.core.tools.sessions.gather import Exchange, gather_exchanges, gather_pasted
from prompt_debugger.core.tools.sessions.turns import follow_sessions

__all__ = [
    "Exchange",
    "follow_sessions",
    "gather_exchanges",
    "gather_pasted",
    "sessions_to_json",
]
