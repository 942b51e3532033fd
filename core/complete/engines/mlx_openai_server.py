"""mlx-openai-server: a server over MLX whose list of models names no software; its own paths do.

    GET /v1/queue/stats   status, queue_stats: {queue_stats: {…}, batch_stats: {…}}

It has no raw completions. With its parser for Kimi K2, streams lose the text of an answer without a call.

Source: mlx-openai-server 1.8.1 with the lab model, run 2026-12.
"""

from __future__ import annotations

from collections.abc import Sequence

from prompt_debugger.core.base.json_values import as_object
from prompt_debugger.core.base.types import JSONObject
from prompt_debugger.core.complete.engines._record import Engine, Marks


def _has_queues(answers: Sequence[JSONObject]) -> bool:
    return "batch_stats" in as_object(answers[0].get("queue_stats"))


ENGINE = Engine(
    kind="mlx-openai-server",
    title="mlx-openai-server",
    marks=Marks(paths=("/v1/queue/stats",), is_it=_has_queues, order=60),
)
