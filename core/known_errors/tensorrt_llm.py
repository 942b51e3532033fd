"""What TensorRT-LLM says."""

from __future__ import annotations

from prompt_debugger.core.base.types import Stage
from prompt_debugger.core.known_errors.base import Cause, KnownError

MAKER = "TensorRT-LLM"

SENTENCES: tuple[KnownError, ...] = (
    KnownError(
        "Request is specified with GuidedDecodingParams, but GuidedDecoder is not setup",
        Stage.COMPLETE,
        "The request asks for structured output (`response_format`, `guided_json`), and the server was started "
        "without a backend for it.",
        "Start the server with `guided_decoding_backend: xgrammar` in the file of `--extra_llm_api_options`; or send "
        "the request without that field.",
        "https://github.com/NVIDIA/TensorRT-LLM/issues/2624",
        cause=Cause.SETTING,
    ),
    KnownError(
        "Draft request {request:int} at slot {slot:int} failed to accept last new token",
        Stage.COMPLETE,
        "Guided decoding and speculative decoding run together: the draft model wrote a token that the grammar does "
        "not allow, so the grammar was not applied to its drafts.",
        "Draft one token (`num_nextn_predict_layers: 1`) or switch speculative decoding off for requests with "
        "structured output; or update TensorRT-LLM.",
        "https://github.com/NVIDIA/TensorRT-LLM/issues/7878",
        example="Draft request 3 at slot 1 failed to accept last new token: 42.",
    ),
)
