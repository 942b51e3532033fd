"""Which structural tag goes with which format, as vLLM 0.32 has it.

Source: vLLM 0.32.0, `structural_tag_model` of each tool parser; XGrammar 0.2.8, `builtin_structural_tag.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
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
    """

    name: str
    structural_tag: str
    parser: str
    ends: tuple[str, ...]
    reasoning_end: str | None = "</think>"
    default_level: StrictLevel = "auto"

    @property
    def reasoning_start(self) -> str | None:
        """Opens a reasoning block."""
        return self.reasoning_end and self.reasoning_end.replace("</", "<")


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
        GrammarFamily("harmony", "harmony", "openai", ("<|call|>", "<|return|>", "<|endoftext|>"), reasoning_end=None),
        GrammarFamily("mimo", "mimo", "mimo", _CHATML),
        GrammarFamily("longcat", "longcat", "longcat", ("</longcat_s>",)),
    )
}


def find_family(name: str) -> GrammarFamily | None:
    """Return the family of a format, `None` if vLLM 0.32 has no structural tag that we know for it."""
    return FAMILIES.get(name)
