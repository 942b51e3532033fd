"""Other people's parsers, each in a process of its own that may fail without taking us along.

RawOutput       what they are asked about
VllmEngine      the parsers of one vLLM, in a warm helper
VllmReleases    the same for several releases side by side, by names such as `vllm@0.11.0:kimi_k2`
bisect_releases which release takes which calls of an output
"""

from prompt_debugger.core.parse.engines.client import EngineLimits, VllmEngine, VllmParsers
from prompt_debugger.core.parse.engines.fetch import fetch_release, find_release
from prompt_debugger.core.parse.engines.names import ParserPair, read_parser_name, write_parser_name
from prompt_debugger.core.parse.engines.outcome import splits_to_json
from prompt_debugger.core.parse.engines.raw_output import RawOutput
from prompt_debugger.core.parse.engines.release_table import (
    CallHistory,
    ReleaseRow,
    ReleaseTable,
    bisect_releases,
    step_releases,
    table_to_json,
)
from prompt_debugger.core.parse.engines.releases import VllmReleases

__all__ = [
    "CallHistory",
    "EngineLimits",
    "ParserPair",
    "RawOutput",
    "ReleaseRow",
    "ReleaseTable",
    "VllmEngine",
    "VllmParsers",
    "VllmReleases",
    "bisect_releases",
    "fetch_release",
    "find_release",
    "read_parser_name",
    "splits_to_json",
    "step_releases",
    "table_to_json",
    "write_parser_name",
]
