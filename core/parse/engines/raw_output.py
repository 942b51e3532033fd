"""One raw output with all that a parser may know of it: what every engine is asked about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypedDict, Unpack

from prompt_debugger.core.base.errors import EngineError
from prompt_debugger.core.base.types import JSON, JSONObject, ParserOutcome
from prompt_debugger.core.parse.tools import wrapped_tool

MAX_RAW_CHARS = 4_000_000


@dataclass(frozen=True, slots=True)
class RawOutput:
    """A raw output and its circumstances.

    Attributes:
        raw: Raw output, special tokens spelled out, the end token included where there was one.
        request: The chat request; what parsers look at is taken from it.
        tools: Tool specs, instead of the request's; an empty sequence means none, and then the server parses no
            calls. With neither request nor tools, those of `called` are assumed, else one of any name.
        token_ids: Ids of `raw`, where known.
        prompt_token_ids: The prompt's ids; streaming parsers look there for an open reasoning block.
        prompt_text: The prompt, or its end, where the ids are not known.
        tokenizer: Folder or hub id of the model's tokenizer. Without it, or if it lacks what a parser wants, an
            approximate vocabulary serves, and the outcome says so.
        template_kwargs: Effective template kwargs; by default those that follow from the request.
        finish_reason: The sampler's word, `stop` or `length`, where known.
        markers: Texts that the approximate vocabulary takes for one token each.
        called: Names of the tools that the output calls; some parsers drop a call of a tool that is not declared.
    """

    raw: str
    request: JSONObject | None = None
    tools: tuple[JSONObject, ...] | None = None
    token_ids: tuple[int, ...] | None = None
    prompt_token_ids: tuple[int, ...] | None = None
    prompt_text: str | None = None
    tokenizer: str | Path | None = None
    template_kwargs: Mapping[str, JSON] | None = None
    finish_reason: str | None = None
    markers: tuple[str, ...] = ()
    called: tuple[str, ...] = ()

    def order(self) -> JSONObject:
        """Return it as the helper reads it.

        Raises:
            EngineError: It is too long.
        """
        if len(self.raw) > MAX_RAW_CHARS:
            raise EngineError(f"The raw output has {len(self.raw):,} characters; at most {MAX_RAW_CHARS:,} are parsed.")
        body: JSONObject = {name: value for name, value in (self.request or {}).items() if name != "messages"}
        if self.tools is not None:
            body["tools"] = list(self.tools)
        elif self.request is not None:
            body.setdefault("tools", [])
        elif self.called:
            body["tools"] = [{"name": name, "parameters": {"type": "object"}} for name in dict.fromkeys(self.called)]
        if isinstance(tools := body.get("tools"), list):
            body["tools"] = [wrapped_tool(tool) for tool in tools]
        return {
            "raw": self.raw,
            "request": body,
            "token_ids": _list(self.token_ids),
            "prompt_token_ids": _list(self.prompt_token_ids),
            "prompt_text": self.prompt_text,
            "tokenizer": None if self.tokenizer is None else _resolve(self.tokenizer),
            "template_kwargs": None if self.template_kwargs is None else dict(self.template_kwargs),
            "finish_reason": self.finish_reason,
            "earlier_calls": _count_calls((self.request or {}).get("messages")),
            "markers": list(self.markers),
        }


def _count_calls(messages: JSON) -> int:
    """Return how many calls a conversation has: some servers number the next ones from there."""
    turns = [one for one in messages if isinstance(one, dict)] if isinstance(messages, list) else []
    return sum(len(calls) for turn in turns if isinstance(calls := turn.get("tool_calls"), list))


def _list(ids: tuple[int, ...] | None) -> JSON:
    return None if ids is None else list(ids)


def _resolve(tokenizer: str | Path) -> str:
    """Return the whole path of a folder, a hub id as it is."""
    return str(Path(tokenizer).resolve()) if Path(tokenizer).is_dir() else str(tokenizer)


class ParseOptions(TypedDict, total=False):
    """How parsers are tried on one raw output.

    Attributes:
        streaming: Whether to stream the output in several chunkings, too, and compare; by default true.
        seed: Of the random chunkings; by default 0.
        thorough: Whether to try many more chunkings, single cuts among them.
        is_space_free: Whether that comparison ignores whitespace around content and reasoning, and how the JSON of
            arguments is written.
    """

    streaming: bool
    seed: int
    thorough: bool
    is_space_free: bool


class RunsParsers(Protocol):
    """What runs parsers by name: `VllmEngine`, `VllmReleases`."""

    async def parse_with(
        self, parsers: Sequence[str], output: RawOutput, **options: Unpack[ParseOptions]
    ) -> dict[str, ParserOutcome]:
        """Parse one raw output with some parsers."""
        ...
