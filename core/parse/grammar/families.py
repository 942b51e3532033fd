"""Which structural tag goes with which format, as vLLM 0.32 has it.

Source: vLLM 0.32.0, `structural_tag_model` of each tool parser; XGrammar 0.2.8, `builtin_structural_tag.py`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

StrictLevel = Literal["auto", "function", "parameter"]


@dataclass(frozen=True, slots=True)
class GrammarFamily:
    """A format that can be enforced.

    Attributes:
        name: Name of the format.
        structural_tag: Name of its structural tag.
        parser: vLLM tool parser that asks for that tag.
        ends: End tokens, spelled out.
        reasoning_end: Closes a reasoning block; the grammar sets in after it. `None` if the grammar covers reasoning.
        default_level: Strict level that the parser sets by itself.
        reasoning_start: Opens a reasoning block.
        format: The format that reads it, where several families share one.
        sign: What tells this family from the others of its format, as a pattern.
        constrains_auto: False if nothing is enforced while the model may choose.
        suffix: What the markers of this checkpoint end in, with its colon.
    """

    name: str
    structural_tag: str
    parser: str
    ends: tuple[str, ...]
    reasoning_end: str | None = "</think>"
    default_level: StrictLevel = "auto"
    reasoning_start: str | None = "<think>"
    format: str | None = None
    sign: str = ""
    constrains_auto: bool = True
    suffix: str = ""


_CHATML = ("<|im_end|>", "<|endoftext|>")
_DEEPSEEK = ("<｜end▁of▁sentence｜>",)

FAMILIES: Mapping[str, GrammarFamily] = {
    family.name: family
    for family in (
        GrammarFamily("kimi_k2", "kimi", "kimi_k2", ("<|im_end|>",)),
        GrammarFamily("hermes", "hermes", "hermes", _CHATML),
        GrammarFamily("qwen3", "hermes", "qwen3_json", _CHATML),
        GrammarFamily("qwen3_coder", "qwen_3_coder", "qwen3_coder", _CHATML),
        GrammarFamily("llama3_json", "llama", "llama3_json", ("<|eot_id|>", "<|eom_id|>", "<|end_of_text|>")),
        GrammarFamily("deepseek_v3", "deepseek_r1", "deepseek_v3", _DEEPSEEK),
        GrammarFamily("deepseek_v31", "deepseek_v3_1", "deepseek_v31", _DEEPSEEK),
        GrammarFamily("deepseek_v32", "deepseek_v3_2", "deepseek_v32", _DEEPSEEK),
        GrammarFamily(
            "glm45", "glm_4_7", "glm45", ("<|user|>", "<|observation|>", "<|endoftext|>"), default_level="function"
        ),
        GrammarFamily(
            "harmony",
            "harmony",
            "openai",
            ("<|call|>", "<|return|>", "<|endoftext|>"),
            reasoning_end=None,
            reasoning_start=None,
        ),
        GrammarFamily("mimo", "mimo", "mimo", _CHATML),
        GrammarFamily("longcat", "longcat", "longcat", ("</longcat_s>",)),
        GrammarFamily("minimax_m2", "minimax", "minimax_m2", ("[e~[",)),
        GrammarFamily(
            "kimi_k3",
            "kimi_k3",
            "kimi_k3",
            ("<|end_of_msg|>",),
            reasoning_end="<|close|>think<|sep|>",
            reasoning_start="<|open|>think<|sep|>",
        ),
        GrammarFamily(
            "plamo3",
            "plamo3",
            "plamo3",
            ("<|plamo:tag|>", "<|plamo:eos|>"),
            reasoning_end="<|plamo:end_think:plamo|>",
            reasoning_start="<|plamo:begin_think:plamo|>",
        ),
        GrammarFamily(
            "deepseek_v4",
            "deepseek_v4",
            "deepseek_v4",
            _DEEPSEEK,
            format="deepseek_v32",
            sign=r"<｜DSML｜tool_calls>",
        ),
        GrammarFamily(
            "deepseek_v41", "deepseek_v4_1", "deepseek_v41", _DEEPSEEK, format="deepseek_v32", sign=r"<｜DSML｜ calls>"
        ),
        GrammarFamily(
            "hy_v4",
            "hy_v4",
            "hy_v4",
            _CHATML,
            format="hunyuan_v3",
            sign=r"<tool_calls(?::[^\s<>]{1,40})?>\s*<tool_call(?::[^\s<>]{1,40})?>[^<]*<(?:arg_key|/tool_call)",
            constrains_auto=False,
        ),
    )
}


def find_family(name: str, raw: str = "") -> GrammarFamily | None:
    """Return the family of a format, `None` if vLLM 0.32 has no structural tag for it.

    Args:
        name: Name of a format, or of a family.
        raw: The output; tells families of one format apart.
    """
    others = [family for family in FAMILIES.values() if family.format == name and re.search(family.sign, raw)]
    found = others[0] if others else FAMILIES.get(name)
    if found is None or found.structural_tag != "hy_v4":
        return found
    suffix = _SUFFIX.search(raw)
    ending = "" if suffix is None else suffix.group(1)
    return replace(found, suffix=ending, reasoning_start=f"<think{ending}>", reasoning_end=f"</think{ending}>")


_SUFFIX = re.compile(r"</?(?:think|tool_calls?|arg_key)(:[^\s<>]{1,40})>")
