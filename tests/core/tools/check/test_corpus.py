"""For each real template with a parser in vLLM made for it: that one is recommended, or its failure is shown."""

from __future__ import annotations

import pytest

from prompt_debugger.core.parse.engines import read_parser_name
from prompt_debugger.core.tools.check import Checker, load_model

pytestmark = [pytest.mark.corpus, pytest.mark.vllm, pytest.mark.slow]

# By the names of vLLM 0.32's parsers and their own documentation. The others of the corpus have none made for them.
MADE_FOR = {
    "Apertus-8B-Instruct": "apertus",
    "Bielik-11B-v3.0-Instruct": "hermes",
    "Cohere2MoE": "cohere_command4",
    "CohereForAI-c4ai-command-r7b-12-2024-tool_use": "cohere_command3",
    "GLM-4.7-Flash": "glm47",
    "GigaChat3.1-10B-A1.8B": "gigachat3",
    "Kimi-K2-Instruct": "kimi_k2",
    "Kimi-K3": "kimi_k3",
    "LFM2.5-8B-A1B": "lfm2",
    "MiniMax-M2": "minimax_m2",
    "Mistral-Small-3.2-24B-Instruct-2506": "mistral",
    "NousResearch-Hermes-3-Llama-3.1-8B-tool_use": "hermes",
    "Qwen-Qwen2.5-7B-Instruct": "hermes",
    "Qwen3-Coder": "qwen3_coder",
    "deepseek-ai-DeepSeek-V3.2": "deepseek_v32",
    "deepseek-ai-DeepSeek-V4": "deepseek_v4",
    "google-gemma-4-31B-it": "gemma4",
    "ibm-granite-granite-4.0": "granite4",
    "inclusionai-ling-3.0-flash": "ling3",
    "meta-llama-Llama-3.2-3B-Instruct": "llama3_json",
    "mistralai-Mistral-Nemo-Instruct-2407": "mistral",
    "moonshotai-Kimi-K2": "kimi_k2",
    "muse-glimmer": "muse_glimmer",
    "openbmb-MiniCPM5-1B": "minicpm5",
    "poolside-Laguna-XS-2.1": "poolside_v1",
    "tencent-Hy3": "hy_v3",
    "unsloth-mistral-Devstral-Small-2507": "mistral",
}
REFUSED_BY_ITSELF = {"Kimi-K2-Instruct"}  # the template fails in the reference library's sandbox
NO_PARSER_READS_THEM = {"gemma-2", "rwkv", "Phi-3.5", "functionary"}  # print no call, or one that no parser reads


async def checked(engine, file):
    return await Checker([engine]).check(load_model(str(file)))


@pytest.mark.parametrize("name", MADE_FOR)
async def test_the_parser_made_for_it_is_recommended_or_its_failure_is_shown(engine, corpus_dir, name):
    check = await checked(engine, corpus_dir / f"{name}.jinja")
    chosen, own = check.recommendation, MADE_FOR[name]

    if name in REFUSED_BY_ITSELF:
        assert chosen.reasons[0].startswith("The template fails for the simplest call:")
        return
    rows = [row for pair, row in check.cells.items() if read_parser_name(pair).tool == own]
    problems = {cell.problem for row in rows for cell in row.values() if cell.problem}
    assert chosen.tool_parser == own or any(one in reason for one in problems for reason in chosen.reasons), chosen


@pytest.mark.parametrize("part", sorted(NO_PARSER_READS_THEM))
async def test_where_nothing_reads_the_calls_it_is_reported(engine, corpus_dir, part):
    (file,) = [file for file in corpus_dir.glob("*.jinja") if part in file.name]

    check = await checked(engine, file)

    assert (check.recommendation.tool_parser, check.recommendation.verdict) == (None, "unknown")
