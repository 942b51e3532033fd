"""The meter of a boot, fed with log lines of vLLM 0.32."""

from __future__ import annotations

from typing import Literal

from hypothesis import given
from hypothesis import strategies as st

from prompt_debugger.core.tools.lab.progress import ENGINE_MILESTONES, RENDERER_MILESTONES, BootMeter

ENGINE_LOG = (
    "(APIServer pid=1) INFO 11-21 08:14:21 [api_utils.py:347]  ▄▄ ▄█ █     █     █ ▀▄▀ █  version 0.32.0",
    "(APIServer pid=1) INFO 11-21 08:14:21 [model.py:733] Resolved architecture: LlamaForCausalLM",
    "(EngineCore pid=2) INFO 11-21 08:14:28 [core.py:133] Initializing a V1 LLM engine (v0.32.0) with config: …",
    "(EngineCore pid=2) INFO 11-21 08:14:29 [cpu_model_runner.py:68] Starting to load model tiny...",
    "(EngineCore pid=2) INFO 11-21 08:14:30 [kv_cache_utils.py:2327] CPU KV cache size: 10,880 tokens, …",
    "(APIServer pid=1) INFO 11-21 08:14:31 [entry.py:140] Starting vLLM server on http://127.0.0.1:50489",
)
RENDERER_LOG = (ENGINE_LOG[0], ENGINE_LOG[-1])


def test_every_milestone_of_an_engine_is_seen_in_its_log() -> None:
    meter = BootMeter("engine")
    seen = [meter.measure(0.0).sentence]

    for line in ENGINE_LOG:
        meter.read_line(line, 0.0)
        seen.append(meter.measure(0.0).sentence)

    assert [milestone.sentence for milestone in ENGINE_MILESTONES] == seen


def test_every_milestone_of_a_renderer_is_seen_in_its_log() -> None:
    meter = BootMeter("renderer")

    for line in RENDERER_LOG:
        meter.read_line(line, 0.0)

    assert meter.milestone_index == len(RENDERER_MILESTONES) - 1


def test_a_milestone_may_be_missing() -> None:
    meter = BootMeter("engine")

    meter.read_line(ENGINE_LOG[-1], 9.0)

    assert meter.measure(9.0).fraction == ENGINE_MILESTONES[-1].fraction


@given(
    kind=st.sampled_from(("engine", "renderer")),
    steps=st.lists(st.tuples(st.sampled_from((*ENGINE_LOG, "noise")) | st.text(), st.floats(0, 100))),
)
def test_the_estimate_never_falls_and_never_says_ready(
    kind: Literal["engine", "renderer"], steps: list[tuple[str, float]]
) -> None:
    meter = BootMeter(kind)
    elapsed_s, before = 0.0, 0.0

    for line, step_s in steps:
        elapsed_s += step_s
        meter.read_line(line, elapsed_s)
        fraction = meter.measure(elapsed_s).fraction

        assert before <= fraction < 1
        before = fraction
