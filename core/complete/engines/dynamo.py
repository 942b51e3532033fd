"""NVIDIA Dynamo: its frontend renders prompts and reads calls itself, before workers of vLLM, SGLang or TensorRT-LLM.

    /metrics    dynamo_frontend_…
    nvext       in a request {"extra_fields": […]}; in an answer, or an event of a stream, {"completion_token_ids": […],
                "prompt_token_ids": […]}

It refuses fields that it does not know. Whether it parses calls is set at the worker.

Source: ai-dynamo 1.6.1, its frontend run with the lab model's output, 2026-12.
"""

from __future__ import annotations

from prompt_debugger.core.base.types import JSONObject
from prompt_debugger.core.complete.engines._record import AnswerPlaces, Engine, Marks, OwnFields

_FIELDS: JSONObject = {"nvext": {"extra_fields": ["completion_token_ids", "prompt_token_ids"]}}

ENGINE = Engine(
    kind="dynamo",
    title="NVIDIA Dynamo",
    marks=Marks(metrics="dynamo_frontend_", believed_with=""),
    own_fields=OwnFields(chat=_FIELDS, stream=_FIELDS),
    answer_places=AnswerPlaces(output_ids=("nvext", "completion_token_ids"), prompt_ids=("nvext", "prompt_token_ids")),
    reports_ids=True,
    takes_several=True,
)
