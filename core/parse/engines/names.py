"""Names of parsers as people write them: `vllm:TOOL`, `vllm:TOOL+REASONING`, `vllm:-+REASONING`, `vllm@0.11.0:TOOL`.

The same with another engine in place of `vllm`.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from prompt_debugger.core.base.errors import EngineError, shorten

_NAME = re.compile(
    r"(?P<engine>vllm|sglang|mlx-lm|lmdeploy|transformers)(?:@(?P<version>[^:]*))?:(?P<tool>[^+]*)(?P<plus>\+)?(?P<reasoning>.*)",
    re.DOTALL,
)
# Their parsers can be called by hand, but what their servers do around them is a large part of what a client gets.
_NOT_ASKED = {"rapid-mlx": "Rapid-MLX", "vllm-mlx": "vllm-mlx"}
_VERSION = re.compile(r"\d+(\.\d+)+[0-9A-Za-z.+-]*")


class ParserPair(NamedTuple):
    """A tool parser and a reasoning parser, `None` for none; the release, `None` for the one at hand; the engine."""

    tool: str | None
    reasoning: str | None
    version: str | None = None
    engine: str = "vllm"


def read_parser_name(name: str) -> ParserPair:
    """Return the parsers that a name stands for.

    >>> read_parser_name("vllm:hermes+deepseek_r1")
    ParserPair(tool='hermes', reasoning='deepseek_r1', version=None, engine='vllm')
    >>> read_parser_name("vllm@0.11.0:kimi_k2")
    ParserPair(tool='kimi_k2', reasoning=None, version='0.11.0', engine='vllm')

    Raises:
        EngineError: It is no such name.
    """
    found = _NAME.fullmatch(name)
    tool, plus, reasoning, version = (
        found.group("tool", "plus", "reasoning", "version") if found else ("", "", "", None)
    )
    engine = found.group("engine") if found else "vllm"
    pair = ParserPair(None if tool == "-" else tool, reasoning if plus else None, version, engine)
    if not tool or (plus and not reasoning) or (pair.tool, pair.reasoning) == (None, None):
        refuse_engine_not_asked(engine_of_parser(name), "Write `sglang:TOOL`, for example.")
        raise EngineError(
            f"{shorten(name)} is not the name of a vLLM parser.",
            "Write `vllm:TOOL`, `vllm:TOOL+REASONING`, or `vllm:-+REASONING`, with the names that vLLM's options take; "
            "`vllm@0.11.0:TOOL` for another release.",
        )
    if version is not None:
        check_version(version)
    return pair


def check_version(version: str) -> str:
    """Return a version as it is.

    Raises:
        EngineError: It is not a version: `latest`, for instance, or a path.
    """
    if not _VERSION.fullmatch(version):
        raise EngineError(f"{shorten(version)} is not a vLLM version.", "Write it in full, such as `0.11.0`.")
    return version


def refuse_engine_not_asked(engine: str, hint: str) -> None:
    """Say of an engine that has parsers, but none that this program asks, that it cannot be asked, and which can.

    Args:
        engine: Its name as it was typed.
        hint: What to write instead.

    Raises:
        EngineError: It is such an engine. Of a name that is no engine's, nothing is said.
    """
    if (title := _NOT_ASKED.get(engine.strip().casefold().replace("_", "-"))) is not None:
        raise EngineError(
            f"The parsers of {title} cannot be asked here, only those of vLLM, SGLang, mlx-lm, LMDeploy and "
            "transformers.",
            hint,
        )


def engine_of_parser(name: str) -> str:
    """Return the engine of a parser by its name, which need not be complete.

    >>> engine_of_parser("sglang@0.5.23:kimi_k2"), engine_of_parser("hermes")
    ('sglang', 'vllm')
    """
    return name.partition(":")[0].partition("@")[0] if ":" in name else "vllm"


def write_parser_name(tool: str | None, reasoning: str | None, version: str | None = None, engine: str = "vllm") -> str:
    """Return the name of a pair of parsers.

    >>> write_parser_name("kimi_k2", None)
    'vllm:kimi_k2'
    >>> write_parser_name(None, "qwen3", "0.17.0")
    'vllm@0.17.0:-+qwen3'
    """
    release = f"@{version}" if version else ""
    return f"{engine}{release}:{tool or '-'}" + (f"+{reasoning}" if reasoning else "")
