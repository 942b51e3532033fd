"""Other people's parsers, each in its own process that may fail without taking us along.

RawOutput     what they are asked about
VllmEngine    the parsers of one vLLM, in a warm helper
VllmReleases  the same for several engines and releases side by side, by names such as `vllm@0.11.0:kimi_k2`
WheelEngine   the parsers of another engine, from a wheel that `fetch` brought
"""

from prompt_debugger.core.parse.engines.client import EngineLimits, VllmEngine, VllmParsers
from prompt_debugger.core.parse.engines.fetch import fetch_release, find_release
from prompt_debugger.core.parse.engines.names import (
    ParserPair,
    engine_of_parser,
    read_parser_name,
    refuse_engine_not_asked,
    write_parser_name,
)
from prompt_debugger.core.parse.engines.raw_output import ParseOptions, RawOutput, RunsParsers
from prompt_debugger.core.parse.engines.releases import VllmReleases
from prompt_debugger.core.parse.engines.wheels import (
    CHECKED,
    WHEELS,
    WheelEngine,
    bring_wheel,
    fetch,
    find_wheel,
    releases_here,
)

__all__ = [
    "CHECKED",
    "WHEELS",
    "EngineLimits",
    "ParseOptions",
    "ParserPair",
    "RawOutput",
    "RunsParsers",
    "VllmEngine",
    "VllmParsers",
    "VllmReleases",
    "WheelEngine",
    "bring_wheel",
    "engine_of_parser",
    "fetch",
    "fetch_release",
    "find_release",
    "find_wheel",
    "read_parser_name",
    "refuse_engine_not_asked",
    "releases_here",
    "write_parser_name",
]
