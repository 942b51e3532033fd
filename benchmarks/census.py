"""How right the census is, and whether the findings tell a parser's faults from its good work.

Every scenario of `tests/core/formats/scenarios.py` in every family's notation, read by our census and by
vLLM's own parsers of that family. What was meant is known, so a parser is at fault where its message differs
(whitespace at the edges of text aside); the findings should say so there (recall) and nowhere else (precision).
A parser that fails gives no message to judge, and is counted apart. So are faults told in a note alone: without the
prompt, which no case here has, a text without markers may all be reasoning, and nothing more can be said of it.

Claims: at least 97 % read exactly; precision at least 99 %, recall at least 95 %.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from prompt_debugger.core.base.json_values import decode_json
from prompt_debugger.core.base.protocols import ReadContext
from prompt_debugger.core.base.types import Finding, ParserOutcome, Severity, Stage
from prompt_debugger.core.formats import FORMATS, pick_format
from prompt_debugger.core.pipeline import CaseParser
from tests.core.formats.scenarios import Scenario, Written, written

# Tool and reasoning parsers of vLLM 0.32 that are meant for a family, or that people give it.
PARSERS: Mapping[str, tuple[str, ...]] = {
    "apertus": ("apertus",),
    "cohere_command": ("cohere_command3+cohere_command3",),
    "deepseek_v3": ("deepseek_v3+deepseek_r1", "deepseek_v31"),
    "deepseek_v31": ("deepseek_v31+deepseek_v3",),
    "deepseek_v32": ("deepseek_v32+deepseek_v3", "deepseek_v4+deepseek_v4", "deepseek_v41"),
    "dots": ("dots",),
    "ernie45": ("ernie45+ernie45",),
    "functiongemma": ("functiongemma",),
    "gemma4": ("gemma4+gemma4",),
    "gigachat": ("gigachat3",),
    "glm45": ("glm45+glm45", "glm47+glm47", "ling3+ling3", "poolside_v1+poolside_v1"),
    "granite3": ("granite+granite",),
    "granite4": ("granite4",),
    "granite_20b": ("granite-20b-fc",),
    "harmony": ("openai+openai_gptoss",),
    "hermes": ("hermes+qwen3", "qwen3_json+qwen3", "hermes+deepseek_r1", "llama3_json"),
    "hunyuan": ("hunyuan_a13b+hunyuan_a13b",),
    "hunyuan_v3": ("hy_v3+hy_v3", "hy_v4+hy_v4"),
    "inkling": ("inkling+inkling",),
    "internlm2": ("internlm",),
    "jamba": ("jamba",),
    "k2_horizon": ("k2_horizon+k2_horizon",),
    "kimi_k2": ("kimi_k2+kimi_k2", "hermes"),
    "kimi_k3": ("kimi_k3+kimi_k3",),
    "lfm2": ("lfm2",),
    "llama3_json": ("llama3_json", "llama4_json"),
    "llama4_pythonic": ("llama4_pythonic",),
    "longcat": ("longcat",),
    "mimo": ("mimo+mimo", "qwen3_coder+qwen3"),
    "minicpm5": ("minicpm5",),
    "minimax_m2": ("minimax_m2+minimax_m2",),
    "minimax_m3": ("minimax_m3+minimax_m3",),
    "mistral": ("mistral+mistral",),
    "mistral_v11": ("mistral+mistral",),
    "muse_glimmer": ("muse_glimmer+muse_glimmer",),
    "nemotron": ("hermes",),
    "olmo3": ("olmo3+olmo3",),
    "phi4_mini": ("phi4_mini_json",),
    "plamo3": ("plamo3+plamo3",),
    "pythonic": ("pythonic",),
    "qwen3_coder": ("qwen3_coder+qwen3", "qwen3_xml+qwen3", "step3p5+step3p5", "mimo+mimo"),
    "seed_oss": ("seed_oss+seed_oss",),
    "step3": ("step3+step3",),
    "xlam": ("xlam",),
}

LONGEST = 4_000


def faults_of(meant: Scenario, outcome: ParserOutcome) -> Iterator[str]:
    """Yield in which ways a parser's message is not what was meant."""
    if outcome.error is not None:
        yield "failed"
        return
    calls = [(name, dict(given)) for name, given in meant.calls]
    returned = []
    for call in outcome.tool_calls:
        function = call.get("function")
        fields = function if isinstance(function, dict) else {}
        returned.append((fields.get("name"), decode_json(str(fields.get("arguments") or ""))))
    if len(returned) < len(calls):
        yield "dropped"
    if len(returned) > len(calls):
        yield "invented"
    if any(a != b or repr(a) != repr(b) for a, b in zip(sorted_(calls), sorted_(returned), strict=False)):
        yield "altered"
    if (outcome.content or "").strip() != meant.content.strip():
        yield "content"
    if (outcome.reasoning or "").strip() != (meant.reasoning or "").strip():
        yield "reasoning"


def sorted_(calls: Sequence[tuple[object, object]]) -> list[tuple[object, object]]:
    """Return calls with the members of their arguments in one order."""
    return [(name, sorted(given.items()) if isinstance(given, dict) else given) for name, given in calls]


def is_read_right(case: Written) -> bool:
    """Say whether the census, with the family detected, reads a case exactly."""
    context = ReadContext(case.tools, finish_reason="stop")
    parsed = pick_format(case.raw, context).read(case.raw, context)
    calls = [(call.name, call.arguments_json) for call in parsed.calls]
    meant = case.scenario
    return (parsed.content or "", parsed.reasoning, calls) == (
        meant.content,
        meant.reasoning,
        [(name, dict(given)) for name, given in meant.calls],
    )


def told_by(findings: tuple[Finding, ...]) -> str:
    """Say whether findings blame the parse stage: `told`, `noted` if by notes alone, or `silent`."""
    severities = {finding.severity for finding in findings if finding.stage is Stage.PARSE}
    if severities - {Severity.NOTE}:
        return "told"
    return "noted" if severities else "silent"


def judged() -> Iterator[tuple[str, list[str], str]]:
    """Yield parsers, in which ways each one's message is at fault, and what the findings say of it, case by case."""
    with CaseParser() as parser:
        for case in written():
            # Streaming a long output in every chunking takes minutes and says nothing new.
            for pair in PARSERS.get(case.format, ()) if len(case.raw) < LONGEST else ():
                name = f"vllm:{pair}"
                parse, findings, _ = parser.parse(
                    {"raw": case.raw, "tools": list(case.tools), "parsers": [name], "format": case.format}
                )
                yield pair, list(faults_of(case.scenario, parse.parsers[name])), told_by(findings)


def main() -> int:
    """Print figures per parser; returns 1 if a claim does not hold."""
    cases = list(written())
    right = sum(map(is_read_right, cases))
    print(f"census       {right} of {len(cases)} read exactly, {len(FORMATS)} formats, family detected")
    rows: dict[str, Counter[tuple[str, str]]] = {}
    kinds: Counter[str] = Counter()
    for pair, faults, told in judged():
        kinds.update(faults)
        state = "failed" if "failed" in faults else "wrong" if faults else "right"
        rows.setdefault(pair, Counter())[state, told] += 1
    for pair, row in sorted(rows.items()):
        print(
            f"{pair:34} at fault and told {row['wrong', 'told']:4}   noted {row['wrong', 'noted']:3}   "
            f"missed {row['wrong', 'silent']:3}   "
            f"right and silent {row['right', 'silent'] + row['right', 'noted']:4}   "
            f"accused {row['right', 'told'] + row['failed', 'told']:3}"
        )
    total = sum(rows.values(), Counter[tuple[str, str]]())
    n_told = total["wrong", "told"]
    accused, missed = total["right", "told"] + total["failed", "told"], total["wrong", "silent"]
    precision, recall = n_told / max(1, n_told + accused), n_told / max(1, n_told + missed)
    print(f"faults       {', '.join(f'{kind} {count}' for kind, count in kinds.most_common())}")
    print(
        f"precision    {precision:.3f}   recall {recall:.3f}   noted only {total['wrong', 'noted']}   "
        f"of {sum(total.values())} parses"
    )
    return int(right < 0.97 * len(cases) or precision < 0.99 or recall < 0.95)


if __name__ == "__main__":
    sys.exit(main())
