"""Flags that a server was started with → what is known of the server: its software, its parsers, its model.

An address is never taken: nothing of a pasted text is asked. What `Server` has no field for is a note.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from prompt_debugger.core.base.json_values import as_object
from prompt_debugger.core.base.types import JSON, JSONObject, Server
from prompt_debugger.core.complete.engines import families_of_parser
from prompt_debugger.core.diagnose.calls.unparsed_calls import MISTRAL_TOKENIZER
from prompt_debugger.core.evidence.values.json_of import json_of

_MAX_WORDS = 5_000
_FLAG = re.compile(r"--?([A-Za-z][\w.-]*)(?:=(.*))?\Z", re.DOTALL)
_SHORT: Mapping[str, Mapping[str, str]] = {
    "llama.cpp": {"m": "model", "hf": "hf_repo", "c": "ctx_size", "a": "alias"},
    "vllm": {"tp": "tensor_parallel_size"},
}
_MODEL = ("served_model_name", "alias", "model_name", "model_tag", "model_path", "model", "hf_repo", "hf_file")
_LENGTH = ("max_model_len", "context_length", "ctx_size")
_TOOL_PARSER = ("tensorrt-llm", "ovms")  # whose flag has no `call` in its name
_TEMPLATE = ("chat_template", "chat_template_file", "hf_chat_template_name")
_MODELS_OWN = {"lmdeploy": "hf"}  # a name that stands for the model's own template
_SHOWN = (
    "chat_template", "chat_template_file", "enable_auto_tool_choice", "tool_parser_plugin", "reasoning_format", "jinja",
    "tokenizer_mode", "config_format", "chat_template_content_format", "reasoning_budget",
)  # fmt: skip


class Started(NamedTuple):
    """What flags show.

    Attributes:
        server: Without an address.
        notes: What else they say of prompts and answers, a sentence each.
    """

    server: Server
    notes: tuple[str, ...]


def flags_of(kind: str, words: Sequence[str]) -> JSONObject:
    """Return the flags of a command line by name, with `_` for `-`; the first word that is no flag is `model_tag`."""
    flags: JSONObject = {}
    short = _SHORT.get(kind, {})
    words = words[:_MAX_WORDS]
    at = 0
    while at < len(words):
        found = _FLAG.match(words[at])
        at += 1
        if found is None:
            flags.setdefault("model_tag", words[at - 1])
            continue
        name = short.get(found[1], found[1]).replace("-", "_").lower()
        value: JSON = found[2]
        if value is None:
            follows = at < len(words) and (_FLAG.match(words[at]) is None or words[at].lstrip("-").isdecimal())
            takes = name not in _SWITCHES or (follows and words[at].lower() in _STATES)
            value = words[at].rstrip("`") if follows and takes else True  # of code within a sentence
            at += value is not True
        flags[name] = value
    return flags


_STATES = frozenset({"on", "off", "auto", "true", "false", "0", "1"})  # which some releases want after a switch
_SWITCHES = frozenset(
    {
        "disable_log_requests", "enable_auto_tool_choice", "enable_chunked_prefill", "enable_log_requests",
        "enable_prefix_caching", "enable_reasoning", "enforce_eager", "fa", "jinja", "no_webui", "trust_remote_code",
        "v", "verbose",
    }
)  # fmt: skip


def server_of(kind: str, flags: JSONObject, version: str | None = None, *, is_whole: bool = True) -> Started:
    """Return the server that was started with flags.

    Args:
        kind: `kind` of a record in `complete.engines`.
        flags: By name, with `_` for `-`.
        version: Of the software, where an image or a log says it.
        is_whole: Whether these are all its flags, so that one that is not there was not set.
    """
    tool_parser = _text(flags.get("tool_parser" if kind in _TOOL_PARSER else "tool_call_parser"))
    reasoning_parser = _text(flags.get("reasoning_parser"))
    model = next((text for name in _MODEL if (text := _text(flags.get(name))) is not None), None)
    kwargs = flags.get("default_chat_template_kwargs", flags.get("chat_template_kwargs"))
    has_reasoning = True if reasoning_parser else False if is_whole and kind in ("vllm", "sglang") else None
    server = Server(
        "",
        kind=kind,
        version=version,
        model=model,
        max_model_len=next((n for name in _LENGTH if (n := _number(flags.get(name))) is not None), None),
        tool_parser=tool_parser,
        reasoning_parser=reasoning_parser,
        has_reasoning_parser=has_reasoning,
        default_template_kwargs=as_object(json_of(kwargs) if isinstance(kwargs, str) else kwargs),
        parser_families=families_of_parser(kind, tool_parser) if tool_parser else None,
        chat_template="" if _template(flags) == _MODELS_OWN.get(kind) else (_template(flags) or "")[:120],
    )
    return Started(server, _notes(kind, flags, is_whole=is_whole))


def _notes(kind: str, flags: JSONObject, *, is_whole: bool) -> tuple[str, ...]:
    notes: list[str] = []
    template = _template(flags)
    if template is not None and template != _MODELS_OWN.get(kind):
        notes.append(f"The server was started with the chat template `{template[:120]}`, not with the model's own.")
    if (read_as := _text(flags.get("chat_format"))) is not None:
        is_none = read_as.lower().startswith("content-only")
        complaint = (
            "found no tool format in the template, so it reads no calls" if is_none else "takes the template for"
        )
        notes.append(f"llama.cpp {complaint}: `{read_as}`." if is_none else f"llama.cpp {complaint} `{read_as}`.")
    has_auto = flags.get("enable_auto_tool_choice") not in (None, False)
    if kind == "vllm" and is_whole and _text(flags.get("tool_call_parser")) and not has_auto:
        notes.append("The server was started with a tool parser and without `--enable-auto-tool-choice`.")
    if kind == "vllm" and is_whole and has_auto and not _text(flags.get("tool_call_parser")):
        notes.append("The server was started with `--enable-auto-tool-choice` and without a tool parser.")
    if kind == "vllm" and _text(flags.get("tokenizer_mode")) == "mistral":
        notes.append(MISTRAL_TOKENIZER)
    return tuple(notes)


def _template(flags: JSONObject) -> str | None:
    return next((text for name in _TEMPLATE if (text := _text(flags.get(name))) is not None), None)


def shown_flags(flags: JSONObject) -> str:
    """Return the flags that say how prompts are made and answers are read, as they are written; no secret."""
    shown: list[str] = []
    for name in ("tool_call_parser", "tool_parser", "reasoning_parser", *_SHOWN):
        value = flags.get(name)
        if value not in (None, False):
            flag = f"--{name if name == 'tool_parser' else name.replace('_', '-')}"
            shown.append(f"`{flag} {value[:60]}`" if isinstance(value, str) else f"`{flag}`")
    return ", ".join(shown)


def _text(value: JSON) -> str | None:
    if isinstance(value, list):
        value = value[0] if value else None
    return value[:300] if isinstance(value, str) and value else None


def _number(value: JSON) -> int | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    return int(value) if isinstance(value, str) and value.isdecimal() and len(value) < 12 else None
