# ruff: noqa: ANN401 - the objects of vLLM are untyped
"""One order → the outcome of every parser it names. Whatever a parser does is an outcome."""

from __future__ import annotations

import contextlib
import difflib
import functools
import importlib
import logging
import signal
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from prompt_debugger.core.parse.engines.vllm_worker import release
from prompt_debugger.core.parse.engines.vllm_worker.errors import plain_error
from prompt_debugger.core.parse.engines.vllm_worker.message import Message, trimmed
from prompt_debugger.core.parse.engines.vllm_worker.piece import Piece
from prompt_debugger.core.parse.engines.vllm_worker.pieces import pieces_of_output
from prompt_debugger.core.parse.engines.vllm_worker.runs import Setting, build_request
from prompt_debugger.core.parse.engines.vllm_worker.splits import Stream, TrimmedStream, compare
from prompt_debugger.core.parse.engines.vllm_worker.vocabulary import (
    StandIn,
    absent_tokens,
    byte_tokenizer,
    load_tokenizer,
)

MAX_OUTCOME_CHARS = 8_000_000
_MAX_LOG_LINES = 10
_LAYERS = {"unified": "unified", "server": "serving"}


class TimeUp(BaseException):
    """A parser took too long. No `Exception`, so that no parser swallows it."""


class _Lines(logging.Handler):
    """Keeps what is logged while a parser runs."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep one record, with the exception it tells of."""
        if len(self.lines) < _MAX_LOG_LINES:
            cause = record.exc_info[1] if record.exc_info else None
            told = f" ({plain_error(cause)})" if cause is not None else ""
            self.lines.append(f"{record.levelname.lower()}: {record.getMessage()[:400]}{told}")


_LINES = _Lines()


def describe() -> dict[str, Any]:
    """Return version and parser names, and take over vLLM's log."""
    log = logging.getLogger("vllm")
    log.handlers, log.propagate = [_LINES], False
    signal.signal(signal.SIGVTALRM, _time_is_up)
    _layer()
    return {
        "version": release.version(),
        "layer": release.layer(),
        "tool_parsers": _tool_parsers(),
        "reasoning_parsers": _reasoning_parsers(),
    }


def import_parsers() -> None:
    """Import every parser that can be had, so that helpers need not, each for itself."""
    pairs = [(name, None) for name in _tool_parsers()] + [(None, name) for name in _reasoning_parsers()]
    for tool, reasoning in pairs:
        with contextlib.suppress(Exception):  # said when it is asked for
            _layer().compose(tool, reasoning)
    byte_tokenizer()


def parse_with_all(order: dict[str, Any]) -> dict[str, Any]:
    """Return the outcome of every parser that an order names, by name.

    The names are pairs of a tool parser and a reasoning parser, either of which may be `None`.
    """
    for path in order.get("plugins", ()):
        _import_plugin(path)
    parsers = order["parsers"]
    if parsers is None:
        reasoning = order.get("reasoning_parser")
        parsers = [[_name(tool, reasoning), tool, reasoning] for tool in _tool_parsers()]
    return {name: _outcome(tool, reasoning, order) for name, tool, reasoning in parsers}


def _name(tool: str | None, reasoning: str | None) -> str:
    return f"vllm:{tool or '-'}" + (f"+{reasoning}" if reasoning else "")


@functools.lru_cache(maxsize=32)
def _import_plugin(path: str) -> None:
    _LINES.lines = []
    release.tool_registry().import_tool_parser(path)  # which logs what goes wrong, and goes on
    if failed := [line for line in _LINES.lines if line.startswith("error")]:
        raise ImportError(failed[0])
    _layer().compose.cache_clear()  # it may register another parser under a name that was asked before


def _outcome(tool: str | None, reasoning: str | None, order: dict[str, Any]) -> dict[str, Any]:
    _LINES.lines = []
    outcome: dict[str, Any] = {"error": None, "stand_in": None}
    try:
        with time_limit(order["limit_s"]):
            _parse(tool, reasoning, order, outcome)
    except TimeUp:
        outcome["error"] = f"took longer than {order['limit_s']:g} s and was stopped"
    except Exception as error:  # noqa: BLE001 - a parser may raise anything; that is an outcome
        outcome["error"] = plain_error(error)
    outcome["log"] = _LINES.lines
    return outcome


def _parse(tool: str | None, reasoning: str | None, order: dict[str, Any], outcome: dict[str, Any]) -> None:
    outcome["error"] = _unknown("tool", tool, _tool_parsers()) or _unknown("reasoning", reasoning, _reasoning_parsers())
    if outcome["error"]:
        return
    setting, outcome["stand_in"] = _prepare(tool, reasoning, order)
    setting = replace(setting, request=_layer().adjust(setting))
    pieces = pieces_of_output(
        setting.tokenizer,
        order["raw"],
        order.get("token_ids"),
        setting.prompt_ids or (),
        order.get("tokenizer"),
        setting.request,
    )
    whole = _layer().parse_whole(setting, pieces)
    if whole.size > MAX_OUTCOME_CHARS:
        outcome["error"] = f"returned {whole.size:,} characters, which is more than {MAX_OUTCOME_CHARS:,}"
        return
    finish_reason = _layer().finish_reason(setting, whole, setting.sampled)
    outcome.update(_shown(whole), finish_reason=finish_reason, tools_called=whole.tools_called)
    if order.get("streaming"):
        outcome.update(_compare_streaming(setting, pieces, whole, order))


def _compare_streaming(setting: Setting, pieces: list[Piece], whole: Message, order: dict[str, Any]) -> dict[str, Any]:
    stream: Stream = functools.partial(_layer().parse_deltas, setting, pieces)
    if order.get("is_space_free"):
        whole, stream = trimmed(whole), TrimmedStream(stream)
    try:
        with time_limit(order["limit_s"]):
            found = compare(
                whole,
                pieces,
                stream,
                seed=order.get("seed", 0),
                budget_s=order["limit_s"] / 2,
                thorough=bool(order.get("thorough")),
            )
    except TimeUp:
        told = f"streaming took longer than {order['limit_s']:g} s and was stopped"
        return {"stream_equal": False, "splits_tried": 1, "first_unequal": told}
    return {
        "stream_equal": found.equal,
        "splits_tried": found.tried,
        "first_unequal": found.first_unequal,
        "usual_equal": found.usual_equal,
        "smallest_split": found.smallest_split,
        "parts_at": found.parts_at,
        "usual_unequal": found.usual_unequal,
        "trials": found.trials,
        "parting": None if found.parting is None else [part and _shown(part) for part in found.parting],
    }


def _prepare(tool: str | None, reasoning: str | None, order: dict[str, Any]) -> tuple[Setting, str | None]:
    """Return parser and vocabulary, and why the vocabulary is a stand-in, if it is."""
    request = build_request(order.get("request") or {})
    kwargs = _layer().effective_kwargs(request, order.get("template_kwargs"))
    folder = order.get("tokenizer")
    tokenizer = load_tokenizer(folder) if folder else byte_tokenizer()
    prompt_ids = order.get("prompt_token_ids")
    setting = Setting(
        _layer().compose(tool, reasoning),
        tokenizer,
        request,
        kwargs,
        None if prompt_ids is None else tuple(prompt_ids),
        order.get("finish_reason"),
    )
    reason: str | None = "no tokenizer was given"
    if folder:
        reason = _refusal(setting)
    if reason is not None:
        setting = replace(setting, tokenizer=StandIn(tokenizer, absent_tokens(order["raw"]), order.get("markers", ())))
        _layer().new_parser(setting)  # asks for its markers, so that the vocabulary knows them
    if prompt_ids is None and order.get("prompt_text"):
        ids = setting.tokenizer.encode(order["prompt_text"], add_special_tokens=False)
        setting = replace(setting, prompt_ids=tuple(ids))
    return setting, reason


def _refusal(setting: Setting) -> str | None:
    try:
        _layer().new_parser(setting)
    except Exception as error:  # noqa: BLE001 - parsers refuse a vocabulary with whatever exception comes to hand
        return f"the tokenizer does not fit the parser: {plain_error(error)}"
    return None


def _shown(message: Message) -> dict[str, Any]:
    calls: Sequence[dict[str, Any]] = [
        {"id": call["id"], "type": "function", "function": {"name": call["name"], "arguments": call["arguments"]}}
        for call in message.calls
    ]
    return {"reasoning": message.reasoning, "content": message.content, "tool_calls": calls}


def _unknown(kind: str, name: str | None, known: list[str]) -> str | None:
    if name is None or name in known:
        return None
    close = difflib.get_close_matches(name, known, n=1, cutoff=0.75)
    hint = f"; did you mean `{close[0]}`?" if close else f"; it has {', '.join(known)}"
    return f"vLLM {release.version()} has no {kind} parser `{name[:60]}`{hint}"


@functools.cache
def _layer() -> Any:
    """Return the module that runs parsers the way this release's server does."""
    return importlib.import_module(f"prompt_debugger.core.parse.engines.vllm_worker.{_LAYERS[release.layer()]}")


def _tool_parsers() -> list[str]:
    return release.registered(release.tool_registry(), "tool")


def _reasoning_parsers() -> list[str]:
    return release.registered(release.reasoning_registry(), "reasoning")


@contextlib.contextmanager
def time_limit(limit_s: float) -> Iterator[None]:
    """Raise `TimeUp` in what runs within, when its time is up."""
    # Processor time: a busy machine makes nobody too slow. And again, should the first be lost in a callback.
    signal.setitimer(signal.ITIMER_VIRTUAL, limit_s, 0.5)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)


def _time_is_up(*_: object) -> None:
    raise TimeUp
