# ruff: noqa: ANN401 - the objects of vLLM are untyped
"""Where this release of vLLM keeps what is needed, and which of two layers its server parses through.

0.23 …            unified   one `Parser` object does everything the server hands on
0.10 … 0.22       server    two legacy interfaces, joined by the chat server's own code, which is run as it is
"""

from __future__ import annotations

import importlib
from typing import Any, Literal

import vllm

Layer = Literal["unified", "server"]


def version() -> str:
    """Return vLLM's version."""
    return str(getattr(vllm, "__version__", "of unknown version"))


def layer() -> Layer:
    """Return the layer through which this release parses."""
    try:
        parser = importlib.import_module("vllm.parser").Parser
    except (ModuleNotFoundError, AttributeError) as error:
        if isinstance(error, ModuleNotFoundError) and error.name != "vllm.parser":
            raise
        return "server"
    return "unified" if hasattr(parser, "parse") and hasattr(parser, "parse_delta") else "server"


def tool_registry() -> Any:
    """Return the registry of tool parsers."""
    return _first("vllm.tool_parsers", "vllm.entrypoints.openai.tool_parsers").ToolParserManager


def reasoning_registry() -> Any:
    """Return the registry of reasoning parsers."""
    return _first("vllm.reasoning").ReasoningParserManager


def registered(registry: Any, kind: Literal["tool", "reasoning"]) -> list[str]:
    """Return the names that a registry knows."""
    if hasattr(registry, "list_registered"):
        return list(registry.list_registered())
    return sorted(getattr(registry, f"{kind}_parsers"))


def chat_protocol() -> Any:
    """Return the module of the chat request."""
    return _first("vllm.entrypoints.openai.chat_completion.protocol", "vllm.entrypoints.openai.protocol")


def chat_server() -> Any:
    """Return the module of the chat server."""
    return _first("vllm.entrypoints.openai.chat_completion.serving", "vllm.entrypoints.openai.serving_chat")


def get_tokenizer(folder: str) -> Any:
    """Return this release's tokenizer of a folder or hub id."""
    _restore_transformers_4_attribute()
    return _first("vllm.tokenizers", "vllm.transformers_utils.tokenizer").get_tokenizer(folder)


def cached_tokenizer(tokenizer: Any) -> Any:
    """Return a tokenizer as this release wraps it for speed."""
    _restore_transformers_4_attribute()
    return _first("vllm.tokenizers.hf", "vllm.transformers_utils.tokenizer").get_cached_tokenizer(tokenizer)


def _restore_transformers_4_attribute() -> None:
    """Let vLLM up to 0.11 wrap a tokenizer of transformers 5, which has one attribute less."""
    from transformers import PreTrainedTokenizerBase

    if not hasattr(PreTrainedTokenizerBase, "all_special_tokens_extended"):
        same = property(lambda tokenizer: list(tokenizer.all_special_tokens))
        PreTrainedTokenizerBase.all_special_tokens_extended = same


def _first(*names: str) -> Any:
    """Import the first module there is; one that is there and lacks something else is an error."""
    for name in names:
        try:
            return importlib.import_module(name)
        except ModuleNotFoundError as error:
            if error.name is None or not f"{name}.".startswith(f"{error.name}."):
                raise
    raise ImportError(f"vLLM {version()} has none of {', '.join(names)}")
