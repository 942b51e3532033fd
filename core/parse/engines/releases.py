"""Several engines and releases side by side: the parsers of any of them, by name.

A release is an overlay: its unpacked folder comes first on the path of an
interpreter that has today's vLLM. Every release runs in its own helper, of
half a gigabyte, so only a few are kept warm.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Self, Unpack

from prompt_debugger.core.base.errors import EngineError
from prompt_debugger.core.base.types import ParserOutcome
from prompt_debugger.core.parse.engines.client import EngineLimits, VllmEngine
from prompt_debugger.core.parse.engines.fetch import fetch_release, find_release
from prompt_debugger.core.parse.engines.names import read_parser_name
from prompt_debugger.core.parse.engines.raw_output import ParseOptions, RawOutput
from prompt_debugger.core.parse.engines.wheels import WheelEngine, bring_wheel, fetch

_AT_ONCE = 8  # parsers in one request, which has a time limit


class VllmReleases:
    """Parsers of any engine and release, by names such as `vllm@0.11.0:kimi_k2` and `sglang:qwen`; as a `VllmEngine`.

    Args:
        python: Interpreter that has vLLM; by default `core.base.interpreter` decides.
        limits: How far each helper is trusted.
        max_warm: How many helpers are kept at a time.
        fetch: Whether a release that is not in the cache may be downloaded.
    """

    def __init__(
        self,
        python: str | Path | None = None,
        *,
        limits: EngineLimits | None = None,
        max_warm: int = 2,
        fetch: bool = False,
    ) -> None:
        self._python = python
        self._limits = limits
        self._max_warm = max(max_warm, 1)
        self._fetch = fetch
        self._engines: dict[tuple[str, str | None], VllmEngine] = {}  # in order of use, the latest last
        self._installed: str | None = None

    async def parse_with(
        self, parsers: Sequence[str], output: RawOutput, **options: Unpack[ParseOptions]
    ) -> dict[str, ParserOutcome]:
        """Parse one raw output with parsers of one or more releases; see `VllmEngine.parse_with`.

        Raises:
            EngineError: A release is not there or does not start, or a helper failed as a whole.
        """
        wanted: dict[tuple[str, str | None], list[str]] = {}
        for name in parsers:
            pair = read_parser_name(name)
            wanted.setdefault((pair.engine, pair.version), []).append(name)
        outcomes: dict[str, ParserOutcome] = {}
        for (kind, version), names in wanted.items():
            engine = await self.engine(version, kind)
            for at in range(0, len(names), _AT_ONCE):
                some = names[at : at + _AT_ONCE]
                outcomes |= await engine.parse_with(some, output, **options)
        return {name: outcomes[name] for name in parsers}

    async def engine(self, version: str | None = None, kind: str = "vllm") -> VllmEngine:
        """Return the warm engine of a release; `None` is the installed vLLM, of others the newest that was fetched.

        Raises:
            EngineError: The release is not there or does not start.
        """
        if kind == "vllm" and version is not None and find_release(version) is None:
            version = None if await self._is_installed(version) else version
        key = (kind, version)
        engine = self._engines.pop(key, None) or await (
            self._start(version) if kind == "vllm" else self._start_wheel(kind, version)
        )
        self._engines[key] = engine
        while len(self._engines) > self._max_warm:
            await asyncio.to_thread(self._engines.pop(next(iter(self._engines))).close)
        return engine

    def close(self) -> None:
        """End all helpers."""
        while self._engines:
            self._engines.popitem()[1].close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await asyncio.to_thread(self.close)

    async def _is_installed(self, version: str) -> bool:
        if self._installed is None:
            await self.engine(None)
        return self._installed == version

    async def _start_wheel(self, kind: str, version: str | None) -> VllmEngine:
        engine = WheelEngine(kind, await asyncio.to_thread(self._wheel, kind, version), limits=self._limits)
        try:
            await engine.parsers()
        except EngineError:
            await asyncio.to_thread(engine.close)
            raise
        return engine

    def _wheel(self, kind: str, version: str | None) -> Path:
        return fetch(f"{kind}=={version}")[0] if self._fetch and version else bring_wheel(kind, version)

    async def _start(self, version: str | None) -> VllmEngine:
        overlay = () if version is None else (await asyncio.to_thread(_bring, version, fetch=self._fetch),)
        engine = VllmEngine(self._python, overlay=overlay, limits=self._limits)
        try:
            found = (await engine.parsers()).version
        except EngineError as error:
            await asyncio.to_thread(engine.close)
            raise error if version is None else _cannot_run(version, error) from error
        if version is None:
            self._installed = found.partition("+")[0]
        return engine


def _bring(version: str, *, fetch: bool) -> Path:
    folder = fetch_release(version) if fetch else find_release(version)
    if folder is None:
        raise EngineError(
            f"vLLM {version} is neither installed nor among the releases already downloaded.",
            (
                f"Download it with `python -m prompt_debugger.core.parse.engines {version}`; nothing is "
                "installed by that."
            ),
        )
    return folder


def _cannot_run(version: str, error: EngineError) -> EngineError:
    return EngineError(f"vLLM {version} does not run with the installed packages. {error.message}", error.hint)
