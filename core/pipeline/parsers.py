"""What vLLM's own parsers would have made of a run's raw output: which of them reads it?"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from core.diagnose import diagnose_trace, reach_verdict
from core.parse.engines import VllmEngine
from core.types import Trace


async def ask_parsers(trace: Trace, engine: VllmEngine, tokenizer: str | Path | None = None) -> Trace:
    """Fill in `parse.parsers` with the outcome of every tool parser, and judge the run anew.

    Args:
        trace: A complete run.
        engine: The warm helper; it is started if need be, which takes some seconds.
        tokenizer: Folder or hub id of the model's tokenizer; without one a stand-in vocabulary serves.

    Returns:
        The trace with outcomes (those that read most calls first), findings and verdict; as it was if there is no
        raw output.

    Raises:
        EngineError: There is no vLLM here, or the helper failed.
    """
    if trace.parse is None or trace.raw is None:
        return trace
    prompt_ids = None if trace.prompt is None else trace.prompt.token_ids
    server = trace.server
    outcomes = await engine.matrix(
        trace.parse.raw,
        request=trace.request.body,
        token_ids=trace.raw.token_ids,
        prompt_token_ids=prompt_ids,
        tokenizer=tokenizer,
        reasoning_parser=None if server is None else server.reasoning_parser,
    )
    ranked = dict(sorted(outcomes.items(), key=lambda item: (item[1].error is not None, -len(item[1].tool_calls))))
    judged = replace(trace, parse=replace(trace.parse, parsers=ranked))
    judged = replace(judged, findings=diagnose_trace(judged))
    return replace(judged, verdict=reach_verdict(judged))
