"""3 · Prompt or request → what the server answered. The only place that speaks HTTP.

    ServerClient ──▶ backends/   http.py: one connection, its limits, its failures in words
       │                         openai_chat.py completions.py vllm.py probe.py: the wire protocols
       │                         sse.py: bytes → events
       ▼
    gather ──▶ ladder.py         what the raw output rests on, and why
    ask_once, gather_from_answer  the same for one question of thousands, without any further request

    engines/                     one file per server software: how it is recognised, how far it can be trusted

    guard.py ──▶ which machines a page open to untrusted users may talk to

Public: `ServerClient`, `Timeouts`, `RenderAnswer`, `gather`, `gather_raw`, `Gathered`, `ask_once`,
`gather_from_answer`, `Decoding`, `TakesTurn`, `is_passing`, `refusal_of`, `NetworkGuard`, `guard_of`,
`is_this_machine`, `may_carry_key`, `read_headers`, `ENGINES`, `Engine`, `OutputToParse`, `OwnParsers`, `engine_of`,
`title_of`, `families_of_parser`, `PARSER_NAMES`, `ParserNames`, `StartWith`, `StartCommand`, `Proof`, `ParserTest`,
`ParserCase`, `UnaskedClient`, `Known`, `known_by`, `MustAskError`, `taken_by_api`.
"""

from prompt_debugger.core.complete.answer_evidence import Decoding, TakesTurn, ask_once, gather_from_answer, is_passing
from prompt_debugger.core.complete.backends.address import is_this_machine, may_carry_key
from prompt_debugger.core.complete.backends.extra_headers import read_headers
from prompt_debugger.core.complete.backends.guard import NetworkGuard, guard_of
from prompt_debugger.core.complete.backends.limits import Timeouts
from prompt_debugger.core.complete.backends.vllm import RenderAnswer
from prompt_debugger.core.complete.client import ServerClient
from prompt_debugger.core.complete.engines import (
    ENGINES,
    PARSER_NAMES,
    OutputToParse,
    OwnParsers,
    ParserCase,
    ParserNames,
    ParserTest,
    Proof,
    StartCommand,
    StartWith,
    engine_of,
    families_of_parser,
    parser_names_of,
    taken_by_api,
    title_of,
)
from prompt_debugger.core.complete.evidence import gather
from prompt_debugger.core.complete.ladder import Gathered, refusal_of
from prompt_debugger.core.complete.offline_client import Known, MustAskError, UnaskedClient, known_by
from prompt_debugger.core.complete.raw_only import gather_raw

__all__ = [
    "ENGINES",
    "PARSER_NAMES",
    "Decoding",
    "Gathered",
    "Known",
    "MustAskError",
    "NetworkGuard",
    "OutputToParse",
    "OwnParsers",
    "ParserCase",
    "ParserNames",
    "ParserTest",
    "Proof",
    "RenderAnswer",
    "ServerClient",
    "StartCommand",
    "StartWith",
    "TakesTurn",
    "Timeouts",
    "UnaskedClient",
    "ask_once",
    "engine_of",
    "families_of_parser",
    "gather",
    "gather_from_answer",
    "gather_raw",
    "guard_of",
    "is_passing",
    "is_this_machine",
    "known_by",
    "may_carry_key",
    "parser_names_of",
    "read_headers",
    "refusal_of",
    "taken_by_api",
    "title_of",
]
