"""vLLM's own parsers, offline, in helper processes that are started on first use and kept warm.

vLLM is never imported here. A process that imports it costs half a gigabyte and
some seconds once; helpers are forked from it within milliseconds, and a parser
answers within one. Whatever happens to a helper (crash, hang, flood, out of
memory) is one `EngineError` to the caller, and the next request finds another.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Collection, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self, TypeVar, Unpack

from prompt_debugger.core.base.errors import EngineError
from prompt_debugger.core.base.interpreter import vllm_python
from prompt_debugger.core.base.json_values import as_text
from prompt_debugger.core.base.types import JSON, Divergence, JSONObject, ParserOutcome, SplitTrial, VllmOutcome
from prompt_debugger.core.parse.engines.names import read_parser_name, write_parser_name
from prompt_debugger.core.parse.engines.pool import HelperPool
from prompt_debugger.core.parse.engines.process import HelperProcess
from prompt_debugger.core.parse.engines.raw_output import ParseOptions, RawOutput
from prompt_debugger.core.parse.engines.rendered import (
    EnginePrompt,
    RendererChoice,
    choice_from_json,
    render_order,
    rendered_from_json,
)

_WORKER = Path(__file__).parent / "vllm_worker"
_KEPT_ENVIRONMENT = (
    "PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "LD_LIBRARY_PATH", "LD_PRELOAD", "VIRTUAL_ENV", "HF_HOME",
    "HF_HUB_CACHE", "XDG_CACHE_HOME",
)  # fmt: skip
_ENVIRONMENT = {
    "HF_HUB_OFFLINE": "1",
    "VLLM_LOGGING_LEVEL": "WARNING",
    "VLLM_NO_USAGE_STATS": "1",
    "DO_NOT_TRACK": "1",
    "CUDA_VISIBLE_DEVICES": "",
    "VLLM_TARGET_DEVICE": "cpu",
    "OMP_NUM_THREADS": "1",
    "TOKENIZERS_PARALLELISM": "false",
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONUNBUFFERED": "1",
}

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class EngineLimits:
    """How far the helper is trusted.

    Attributes:
        start_s: Seconds until it must have imported vLLM. These and the next count anew as long as the helper works and
            gets little of a busy machine, on which the 9 s of work of the import may take minutes.
        request_s: Seconds for one request, all its parsers together.
        parser_s: Seconds of processor time for one parser, and once more for its streaming.
        cpu_s: Seconds of processor time for one request, by default three quarters of `request_s`; what does not hear
            of `parser_s` ends with the helper.
        memory_growth_bytes: How much address space it may take beyond what it has once warm.
        answer_bytes: Longest answer.
    """

    start_s: float = 180.0
    request_s: float = 60.0
    parser_s: float = 5.0
    cpu_s: float | None = None
    memory_growth_bytes: int = 2 << 30
    answer_bytes: int = 64 << 20


@dataclass(frozen=True, slots=True)
class VllmParsers:
    """What a vLLM has to offer.

    Attributes:
        version: Its version.
        tool_parsers: Names that `--tool-call-parser` takes.
        reasoning_parsers: Names that `--reasoning-parser` takes.
        layer: What runs them, `unified` or `server`; see `VllmOutcome`.
    """

    version: str
    tool_parsers: tuple[str, ...]
    reasoning_parsers: tuple[str, ...]
    layer: str = "unified"


class VllmEngine:
    """vLLM's parsers, run by a few helper processes; to be used from any thread or loop.

    Args:
        python: Interpreter that has vLLM; by default `core.base.interpreter` decides at each start.
        overlay: Folders that come first on its path, such as an unpacked older release.
        plugins: Files that register further tool parsers.
        limits: How far the helper is trusted.
    """

    engine = "vllm"
    title = "vLLM"
    _worker_arguments: tuple[str, ...] = ()

    def __init__(
        self,
        python: str | Path | None = None,
        *,
        overlay: Sequence[str | Path] = (),
        plugins: Sequence[str | Path] = (),
        limits: EngineLimits | None = None,
    ) -> None:
        self._python = python
        self._overlay = tuple(str(Path(folder).resolve()) for folder in overlay)
        self._plugins = tuple(str(Path(file).resolve()) for file in plugins)
        self._readable: tuple[str, ...] = ()
        self._limits = limits or EngineLimits()
        self._pool = HelperPool(
            lambda: [str(self._python or vllm_python()), str(_WORKER), *self._worker_arguments],
            self._environment,
            start_s=self._limits.start_s,
            max_answer_bytes=self._limits.answer_bytes,
        )

    @property
    def pids(self) -> tuple[int, ...]:
        """Process ids of the helpers that run."""
        return self._pool.pids

    async def parsers(self) -> VllmParsers:
        """Return the version and the parser names; starts a helper if need be."""
        return await self._pool.run(lambda _, hello: self._parsers_of(hello))

    async def parse_with(
        self, parsers: Sequence[str], output: RawOutput, **options: Unpack[ParseOptions]
    ) -> dict[str, ParserOutcome]:
        """Parse one raw output with some of vLLM's parsers, as its server would.

        Args:
            parsers: Names such as `vllm:kimi_k2`, `vllm:hermes+deepseek_r1`, `vllm:-+qwen3`; with a release, such as
                `vllm@0.11.0:kimi_k2`, it must be this one.
            output: The raw output.
            options: See `ParseOptions`.

        Returns:
            One outcome per name, in the order given; a parser that fails has an `error` in it.

        Raises:
            EngineError: There is no vLLM, or the helper failed as a whole.
        """
        read = [(name, read_parser_name(name)) for name in parsers]
        pairs: list[JSON] = [[name, pair.tool, pair.reasoning] for name, pair in read]
        order = self._order(output) | {
            "parsers": pairs,
            "streaming": options.get("streaming", True),
            "seed": options.get("seed", 0),
            "thorough": options.get("thorough", False),
            "is_space_free": options.get("is_space_free", False),
        }
        versions = {pair.version for _, pair in read if pair.version is not None}
        return await self._parse(order, versions)

    async def matrix(
        self, output: RawOutput, *, reasoning_parser: str | None = None, streaming: bool = False
    ) -> dict[str, ParserOutcome]:
        """Parse one raw output with every tool parser: which of them would have read it?

        Args:
            output: The raw output.
            reasoning_parser: Name of the reasoning parser to go with each of them.
            streaming: Whether to compare with streaming, too.

        Returns:
            The outcomes by name, such as `vllm:kimi_k2`.

        Raises:
            EngineError: There is no vLLM, or the helper failed as a whole.
        """
        order = self._order(output)
        order |= {"parsers": None, "reasoning_parser": reasoning_parser, "streaming": streaming}
        return await self._parse(order)

    async def plugin_parsers(
        self, plugins: Sequence[str | Path], *, readable: Sequence[str | Path] = ()
    ) -> tuple[str, ...]:
        """Take other plugin files from now on, and return the names of the tool parsers that they add.

        Args:
            plugins: Files; one that has changed needs another name to be read again.
            readable: Folders that they import from, besides their own.

        Raises:
            EngineError: There is no vLLM, a file cannot be imported, or the helper failed.
        """
        self._plugins = tuple(str(Path(file).resolve()) for file in plugins)
        self._readable = tuple(str(Path(folder).resolve()) for folder in readable)
        known = {write_parser_name(name, None) for name in (await self.parsers()).tool_parsers}
        found = await self.matrix(RawOutput("", tools=()))
        return tuple(read_parser_name(name).tool or "" for name in found if name not in known)

    async def render(
        self,
        bodies: Sequence[JSONObject],
        *,
        template: str,
        special_tokens: Mapping[str, str],
        tokenizer: str | Path | None = None,
    ) -> list[EnginePrompt]:
        """Return what vLLM's own renderer makes of chat requests, one after the other; no engine is started.

        Args:
            bodies: Chat requests.
            template: Jinja source of the chat template.
            special_tokens: Named special tokens, for a template without a tokenizer.
            tokenizer: Folder of the model's tokenizer; `None` for texts without ids.

        Raises:
            EngineError: There is no vLLM, this release has no such renderer, or the helper failed.
        """
        folder = None if tokenizer is None else str(Path(tokenizer).resolve())
        order = render_order(bodies, template, folder, special_tokens) | self._limited()
        answer = await self._ask(order)
        prompts = answer.get("prompts")
        if not isinstance(prompts, list) or len(prompts) != len(bodies):
            raise EngineError(f"vLLM's renderer is not available: {answer.get('error')}")
        return list(map(rendered_from_json, prompts))

    async def renderer_of(self, architectures: tuple[str, ...], folder: str | None) -> RendererChoice:
        """Return how vLLM renders a model: with the model's chat template, or with a renderer of vLLM's own.

        Args:
            architectures: What the model's `config.json` names.
            folder: Folder of the model's tokenizer; `None` for none.

        Raises:
            EngineError: There is no vLLM, this release has no such choice, or the helper failed.
        """
        order: JSONObject = {"architectures": list(architectures), **self._limited()}
        if folder is not None:
            order["tokenizer"] = str(Path(folder).resolve())
        answer = await self._ask(order)
        choice = answer.get("renderer")
        if not isinstance(choice, dict):
            raise EngineError(f"vLLM did not report how it renders: {answer.get('error')}")
        return choice_from_json(choice)

    @staticmethod
    def wait(call: Coroutine[object, object, _T]) -> _T:
        """Run one of the asynchronous methods from code that is not: `engine.wait(engine.matrix(output))`."""
        return asyncio.run(call)

    def close(self) -> None:
        """End the helpers; the engine can be used no more."""
        self._pool.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await asyncio.to_thread(self.close)

    def _order(self, output: RawOutput) -> JSONObject:
        files: JSONObject = {"plugins": [*self._plugins], "readable": [*self._readable]}
        return output.order() | files | self._limited()

    def _limited(self) -> JSONObject:
        return {
            "limit_s": self._limits.parser_s,
            "cpu_s": self._limits.cpu_s or self._limits.request_s * 0.75,
            "memory_mb": self._limits.memory_growth_bytes >> 20,
        }

    async def _ask(self, order: JSONObject) -> JSONObject:
        def ask(helper: HelperProcess, hello: JSONObject) -> JSONObject:
            self._parsers_of(hello)
            return helper.exchange(order, self._limits.request_s)

        return await self._pool.run(ask)

    async def _parse(self, order: JSONObject, versions: Collection[str] = ()) -> dict[str, ParserOutcome]:
        def ask(helper: HelperProcess, hello: JSONObject) -> tuple[VllmParsers, JSONObject]:
            parsers = self._parsers_of(hello)
            if others := sorted(set(versions) - {parsers.version.partition("+")[0]}):
                raise EngineError(
                    f"This helper runs {self.title} {parsers.version}, but {self.title} {others[0]} was requested.",
                    "`VllmReleases` starts one helper per release.",
                )
            return parsers, helper.exchange(order, self._limits.request_s)

        parsers, answer = await self._pool.run(ask)
        outcomes = answer.get("outcomes")
        if not isinstance(outcomes, dict):
            raise EngineError(f"The parser helper failed: {answer.get('error')}")
        return {
            name: outcome_from_json(outcome, parsers.version, parsers.layer, self.engine)
            for name, outcome in outcomes.items()
        }

    def _parsers_of(self, hello: JSONObject) -> VllmParsers:
        """Return what a helper's engine has to offer.

        Raises:
            EngineError: It has none.
        """
        if hello.get("ready") is not True:
            raise self._cannot_start(hello)
        tools, reasoning = _texts(hello.get("tool_parsers")), _texts(hello.get("reasoning_parsers"))
        return VllmParsers(str(hello.get("version")), tools, reasoning, str(hello.get("layer")))

    def _cannot_start(self, hello: JSONObject) -> EngineError:
        if hello.get("missing") == "vllm":
            return EngineError(
                "vLLM is not installed for the parser helper's Python, so its parsers cannot be tried; "
                "everything else works.",
                "`prompt-debugger lab --install` installs it; in a checkout `make setup` does.",
            )
        return EngineError(
            f"vLLM cannot be imported by the parser helper: {hello.get('error')}",
            "An older release that cannot be imported next to the others needs a separate environment.",
        )

    def _environment(self) -> dict[str, str]:
        environment = {name: os.environ[name] for name in _KEPT_ENVIRONMENT if name in os.environ} | _ENVIRONMENT
        return environment | ({"PYTHONPATH": os.pathsep.join(self._overlay)} if self._overlay else {})


def _texts(value: JSON) -> tuple[str, ...]:
    return tuple(str(item) for item in value) if isinstance(value, list) else ()


def outcome_from_json(value: JSON, version: str, layer: str, engine: str = "vllm") -> VllmOutcome:
    """Return the outcome that the helper wrote as JSON."""
    fields: JSONObject = value if isinstance(value, dict) else {"error": "the helper returned no outcome"}
    calls, log = fields.get("tool_calls"), fields.get("log")
    equal, usual, tried = (fields.get(name) for name in ("stream_equal", "usual_equal", "splits_tried"))
    called, split, parts_at = (fields.get(name) for name in ("tools_called", "smallest_split", "parts_at"))
    return VllmOutcome(
        reasoning=as_text(fields.get("reasoning")),
        content=as_text(fields.get("content")),
        tool_calls=tuple(call for call in calls if isinstance(call, dict)) if isinstance(calls, list) else (),
        error=as_text(fields.get("error")),
        finish_reason=as_text(fields.get("finish_reason")),
        stream_equal=equal if isinstance(equal, bool) else None,
        splits_tried=tried if isinstance(tried, int) else 0,
        first_unequal=as_text(fields.get("first_unequal")),
        stand_in=as_text(fields.get("stand_in")),
        usual_stream_equal=usual if isinstance(usual, bool) else None,
        smallest_split=tuple(map(str, split)) if isinstance(split, list) else (),
        parts_at=parts_at if isinstance(parts_at, int) else None,
        usual_unequal=as_text(fields.get("usual_unequal")),
        trials=_trials(fields.get("trials")),
        parting=_divergence(fields.get("parting")),
        log=tuple(map(str, log)) if isinstance(log, list) else (),
        vllm_version=version if engine == "vllm" else "",
        engine=engine,
        release=version.partition("+")[0],
        words=_words(fields),
        layer="parser" if layer == "parser" else "server",
        tools_called=called if isinstance(called, bool) else None,
    )


def _words(fields: JSONObject) -> str | None:
    """Return what the engine itself said: why it failed, else the first line that it logged."""
    log = fields.get("log")
    return as_text(fields.get("error")) or (as_text(log[0]) if isinstance(log, list) and log else None)


def _trials(value: JSON) -> tuple[SplitTrial, ...]:
    rows = [row for row in value if isinstance(row, list) and len(row) == 3] if isinstance(value, list) else []
    return tuple(SplitTrial(str(name), int(str(deltas)), as_text(difference)) for name, deltas, difference in rows)


def _divergence(value: JSON) -> Divergence | None:
    if not isinstance(value, list) or len(value) != 3:
        return None
    before, after, streamed = (part if isinstance(part, dict) else None for part in value)
    return Divergence(before, after, streamed)
