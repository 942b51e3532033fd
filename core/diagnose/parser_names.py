"""Which tool parsers of vLLM read which format, and how Kimi K2 spells tool call ids.

Source: vLLM 0.32.0, every registered tool parser run on one correct call of
every format; a parser is listed if it returned exactly that call, or is the one meant for the family.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

# The first name is the one to recommend.
PARSERS_BY_FORMAT: Mapping[str, tuple[str, ...]] = {
    "apertus": ("apertus",),
    "cohere_command": ("cohere_command3", "cohere_command4"),
    "deepseek_v3": ("deepseek_v3",),
    "deepseek_v31": ("deepseek_v31",),
    "deepseek_v32": ("deepseek_v32", "deepseek_v4", "deepseek_v41"),
    "dots": ("dots",),
    "ernie45": ("ernie45",),
    "functiongemma": ("functiongemma",),
    "gemma4": ("gemma4",),
    "gigachat": ("gigachat3",),
    "glm45": ("glm45", "glm47", "ling3", "poolside_v1"),
    "granite3": ("granite",),
    "granite4": ("granite4", "hermes"),
    "granite_20b": ("granite-20b-fc",),
    "harmony": ("openai",),
    "hermes": ("hermes", "qwen3_json", "granite4", "ernie45", "llama3_json", "llama4_json"),
    "hunyuan": ("hunyuan_a13b",),
    "hunyuan_v3": ("hy_v3", "hy_v4"),
    "inkling": ("inkling",),
    "internlm2": ("internlm",),
    "jamba": ("jamba",),
    "k2_horizon": ("k2_horizon",),
    "kimi_k2": ("kimi_k2",),
    "kimi_k3": ("kimi_k3",),
    "lfm2": ("lfm2",),
    "llama3_json": ("llama3_json", "llama4_json"),
    "llama4_pythonic": ("llama4_pythonic",),
    "longcat": ("longcat",),
    "mimo": ("mimo", "qwen3_coder", "qwen3_xml"),
    "minicpm5": ("minicpm5",),
    "minimax_m2": ("minimax_m2",),
    "minimax_m3": ("minimax_m3",),
    "mistral": ("mistral",),
    "mistral_v11": ("mistral",),
    "muse_glimmer": ("muse_glimmer",),
    "olmo3": ("olmo3",),
    "phi4_mini": ("phi4_mini_json",),
    "plamo3": ("plamo3",),
    "pythonic": ("pythonic", "llama4_pythonic"),
    "qwen3_coder": ("qwen3_coder", "qwen3_xml", "step3p5", "seed_oss", "mimo"),
    "seed_oss": ("seed_oss",),
    "step3": ("step3",),
    "xlam": ("xlam",),
}
# Parsers of no family of their own: this one is told its format by the model's files.
PARSERS_OF_ANY_FORMAT = frozenset({"hf"})

_KIMI_ID = re.compile(r"functions\.[\w.-]+:\d+")
_KIMI_BARE_INDEXED = re.compile(r"[\w.-]+:\d+")


def kimi_id_problem(call_id: str) -> str | None:
    """Return what is off in a Kimi K2 tool call id, and what it does; `None` for `functions.NAME:N`.

    >>> kimi_id_problem("functions.search:0") is None
    True
    """
    if _KIMI_ID.fullmatch(call_id):
        return None
    if _KIMI_BARE_INDEXED.fullmatch(call_id):
        return "it lacks the prefix `functions.`: vLLM up to 0.11 fails on it, later releases accept it"
    if re.search(r":\d+$", call_id) is None:
        return "it has no index `:N` at its end: vLLM's `kimi_k2` drops such a call without a word"
    return "its name holds characters that no tool name has: parsers that match a pattern fail on it"
