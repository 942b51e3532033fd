"""4 · What parsers of servers made of a raw output, with what each has to add."""

from __future__ import annotations

from dataclasses import field
from typing import NamedTuple

from prompt_debugger.core.base.types.base import LEFT_OUT_IF_EMPTY, LEFT_OUT_IF_NONE, JSONObject
from prompt_debugger.core.base.types.frozen import value
from prompt_debugger.core.base.types.reading import ParserOutcome


class SplitTrial(NamedTuple):
    """One chunking that was tried: what it is, how many deltas it has, in what its message differs, if it does."""

    name: str
    deltas: int
    difference: str | None


class Divergence(NamedTuple):
    """Assistant messages as streamed: before and after the delta at which they leave the whole one, and at the end.

    `None` where there is none: before the first delta, or because streaming failed.
    """

    before: JSONObject | None
    after: JSONObject | None
    streamed: JSONObject | None


@value(frozen=True, slots=True)
class VllmOutcome(ParserOutcome):
    """The outcome of one of vLLM's own parsers, or of another engine's that was run offline.

    Attributes:
        stand_in: Why an approximate vocabulary was used, `None` if the model's own was; with one, whether streaming
            agrees is a guess.
        usual_stream_equal: Whether streaming token by token, as servers usually do, gave the same; `None` if not tried.
        smallest_split: Texts of the deltas of the smallest chunking that streams to something else; none if there is
            none or the output is very long.
        parts_at: The delta of it, from 0, at which the streamed message leaves the whole one.
        usual_unequal: How streaming token by token differs, where it does and `first_unequal` is another chunking.
        trials: Every chunking that was tried.
        parting: The streamed messages around `parts_at`; `None` unless a thorough comparison found a difference.
        log: Warnings and errors that the parser logged.
        vllm_version: Version of the vLLM it came from, "" for another engine.
        engine: Whose parser it is: `vllm`, `sglang`, `mlx-lm`, `lmdeploy`.
        release: Its version without a local part.
        words: What the engine itself said: why it failed, else the first warning that it logged.
        layer: What was run: `server`, the code through which the engine's chat server parses, or `parser`, the parser
            alone, without its server's code.
        tools_called: What the tool parser said about having found calls; `None` if it was not heard. A parser may say
            yes and give no call.
    """

    stand_in: str | None = None
    usual_stream_equal: bool | None = None
    smallest_split: tuple[str, ...] = field(default=(), metadata=LEFT_OUT_IF_EMPTY)
    parts_at: int | None = None
    usual_unequal: str | None = None
    trials: tuple[SplitTrial, ...] = field(default=(), metadata=LEFT_OUT_IF_EMPTY)
    parting: Divergence | None = field(default=None, metadata=LEFT_OUT_IF_NONE)
    log: tuple[str, ...] = ()
    vllm_version: str = ""
    engine: str = "vllm"
    release: str = ""
    words: str | None = None
    layer: str = "server"
    tools_called: bool | None = None


@value(frozen=True, slots=True)
class ServerOutcome(ParserOutcome):
    """What a server's own parser made of an output.

    Attributes:
        base_url: The server.
    """

    base_url: str = ""
