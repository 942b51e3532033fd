# ruff: noqa: ANN401 - the objects of vLLM are untyped
"""One order → the outcome of every parser it names. Whatever a parser does is an outcome."""

from __future__ import annotations

import contextlib
import functools
import importlib
import logging
from dataclasses import replace
from typing import Any

from prompt_debugger.core.parse.engines.vllm_worker import release
from prompt_debugger.core.parse.engines.vllm_worker.errors import plain_error
from prompt_debugger.core.parse.engines.vllm_worker.harmony import PARSERS, HarmonyVocabulary
from prompt_debugger.core.parse.engines.vllm_worker.judging import (
    Lines,
    arm_time_limit,
    compare_outcome,
    outcome_of,
    unknown,
)
from prompt_debugger.core.parse.engines.vllm_worker.pieces import pieces_of_output
from prompt_debugger.core.parse.engines.vllm_worker.runs import Setting, build_request
from prompt_debugger.core.parse.engines.vllm_worker.vocabulary import (
    StandIn,
    absent_tokens,
    byte_tokenizer,
    load_tokenizer,
    suffixed_tags,
)

_LAYERS = {"unified": "unified", "server": "serving"}


_LINES = Lines()


def describe() -> dict[str, Any]:
    """Return version and parser names, and take over vLLM's log."""
    log = logging.getLogger("vllm")
    log.handlers, log.propagate = [_LINES], False
    arm_time_limit()
    _layer()
    return {
        "version": release.version(),
        "layer": release.layer(),
        "tool_parsers": _tool_parsers(),
        "reasoning_parsers": _reasoning_parsers(),
    }


def import_parsers() -> None:
    """Import every parser that is available, so that helpers need not, each for itself."""
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
    return {
        name: outcome_of(functools.partial(_parse, tool, reasoning, order), order, _LINES)
        for name, tool, reasoning in parsers
    }


def _name(tool: str | None, reasoning: str | None) -> str:
    return f"vllm:{tool or '-'}" + (f"+{reasoning}" if reasoning else "")


@functools.lru_cache(maxsize=32)
def _import_plugin(path: str) -> None:
    _LINES.lines = []
    release.tool_registry().import_tool_parser(path)  # which logs a failure and does not raise it
    if failed := [line for line in _LINES.lines if line.startswith("error")]:
        raise ImportError(failed[0])
    _layer().compose.cache_clear()  # it may register another parser under a name that was asked before


def _parse(tool: str | None, reasoning: str | None, order: dict[str, Any], outcome: dict[str, Any]) -> None:
    outcome["error"] = unknown(_engine(), "tool", tool, _tool_parsers()) or unknown(
        _engine(), "reasoning", reasoning, _reasoning_parsers()
    )
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
    finish_reason = _layer().finish_reason(setting, whole, setting.sampled)
    stream = functools.partial(_layer().parse_deltas, setting, pieces)
    outcome.update(finish_reason=finish_reason, tools_called=whole.tools_called)
    compare_outcome(whole, pieces, stream, order, outcome)


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
    if reason is not None and not PARSERS.isdisjoint((tool, reasoning)):
        setting, reason = _use_harmony(setting, reason)
    if reason is not None:
        markers = [*order.get("markers", ()), *suffixed_tags(order["raw"])]
        setting = replace(setting, tokenizer=StandIn(tokenizer, absent_tokens(order["raw"]), markers))
        _layer().new_parser(setting)  # asks for its markers, so that the vocabulary knows them
    if prompt_ids is None and order.get("prompt_text"):
        ids = setting.tokenizer.encode(order["prompt_text"], add_special_tokens=False)
        setting = replace(setting, prompt_ids=tuple(ids))
    return setting, reason


def _use_harmony(setting: Setting, reason: str) -> tuple[Setting, str | None]:
    """Return a parser of harmony with harmony's own vocabulary, else why that is not available."""
    try:
        return replace(setting, tokenizer=HarmonyVocabulary()), None
    except Exception as error:  # noqa: BLE001 - the package may be missing, or want to load the vocabulary from afar
        return setting, f"{reason}, and harmony's vocabulary cannot be loaded: {plain_error(error)}"


def _refusal(setting: Setting) -> str | None:
    try:
        _layer().new_parser(setting)
    except Exception as error:  # noqa: BLE001 - parsers refuse a vocabulary with whatever exception comes to hand
        return f"the tokenizer does not fit the parser: {plain_error(error)}"
    return None


@functools.cache
def _layer() -> Any:
    """Return the module that runs parsers the way this release's server does."""
    return importlib.import_module(f"prompt_debugger.core.parse.engines.vllm_worker.{_LAYERS[release.layer()]}")


def _engine() -> str:
    return f"vLLM {release.version()}"


def _tool_parsers() -> list[str]:
    return release.registered(release.tool_registry(), "tool")


def _reasoning_parsers() -> list[str]:
    return release.registered(release.reasoning_registry(), "reasoning")
