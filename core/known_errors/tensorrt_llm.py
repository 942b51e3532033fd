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
)
