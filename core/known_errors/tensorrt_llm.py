"""What TensorRT-LLM says."""

from __future__ import annotations

from prompt_debugger.core.base.types import Stage
from prompt_debugger.core.known_errors.base import Cause, KnownError

MAKER = "TensorRT-LLM"

SENTENCES: tuple[KnownError, ...] = (
    KnownError(
        "chat_template cannot be supplied per request unless request-level chat templates are enabled",
        Stage.REQUEST,
        "The server does not run chat templates sent with a request unless it was started to.",
        "Give the template at the start with `--chat_template FILE`, or leave it out of the request.",
        "tensorrt_llm/serve/openai_protocol.py: ensure_request_chat_template_allowed",
        field="chat_template",
        cause=Cause.SETTING,
    ),
    KnownError(
        "logit_bias requires a tokenizer, but the server was started without one",
        Stage.REQUEST,
        "With separate processes for postprocessing, this server cannot apply `logit_bias`.",
        "Leave `logit_bias` out, or start the server with `num_postprocess_workers: 0`.",
        "tensorrt_llm/serve/openai_protocol.py: _logit_bias_to_embedding_bias",
        field="logit_bias",
        cause=Cause.SETTING,
    ),
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
