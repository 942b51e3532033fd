"""The file of `check --lock`: what a model did, to compare a later one with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from prompt_debugger.core.report.wire.documents import WIRE


@dataclass(frozen=True, slots=True, kw_only=True)
class LockDocument:
    """What a check found, as far as a later check is compared with it.

    Attributes:
        lock_version: Raised if a meaning changes.
        model: What was checked.
        release: Version of the vLLM whose parsers were asked.
        template_sha256: Of the chat template.
        tokenizer_sha256: Of `tokenizer.json` or `tiktoken.model`; "" without one.
        special_tokens: Named special tokens.
        verdict: How well the recommended parsers work.
        recommended: Their name in `parsers`; "" if nothing works.
        prompt: The prompt in front of the simplest call.
        prompt_tokens: Its length in tokens; -1 without a tokenizer.
        raws: The ideal output of each answer that the template prints whole.
        parsers: By name, then by answer: `+` comes back, `~` not in every chunking, `-` does not. Parsers that
            read no call are left out.
        supports: What the template supports, by probe.
        findings: Codes and titles of what is wrong with the template.
        prompts: The prompt of each usual conversation, "" for one that is refused; empty in locks of earlier releases.
        lengths: Their lengths in tokens; empty without a tokenizer.
        tools: What becomes of each kind of tool in the prompt; empty in locks of earlier releases.
    """

    __pydantic_config__ = WIRE

    lock_version: int = 1
    model: str
    release: str
    template_sha256: str
    tokenizer_sha256: str
    special_tokens: Mapping[str, str]
    verdict: str
    recommended: str
    prompt: str
    prompt_tokens: int
    raws: Mapping[str, str]
    parsers: Mapping[str, Mapping[str, str]]
    supports: Mapping[str, bool]
    findings: Mapping[str, str]
    prompts: Mapping[str, str] = field(default_factory=dict)
    lengths: Mapping[str, int] = field(default_factory=dict)
    tools: Mapping[str, str] = field(default_factory=dict)
