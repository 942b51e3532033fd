"""What the Triton inference server says, with its TensorRT-LLM backend."""

from __future__ import annotations

from prompt_debugger.core.base.types import Stage
from prompt_debugger.core.known_errors.base import Cause, KnownError

MAKER = "Triton"

SENTENCES: tuple[KnownError, ...] = (
    KnownError(
        "generate expects model to produce exactly 1 response, use generate stream for model",
        Stage.REQUEST,
        "The model is decoupled, that is, it answers in pieces, and `/generate` is for models that give one answer.",
        "Call `/v2/models/MODEL/generate_stream`, or set `decoupled: false` in the `model_transaction_policy` of the "
        "model's `config.pbtxt`.",
        "https://github.com/triton-inference-server/tensorrtllm_backend/issues/193",
    ),
    KnownError(
        "expected {wanted:int} inputs but got {given:int} inputs for model '{model}'",
        Stage.REQUEST,
        "A model of the repository was called with another number of inputs than its `config.pbtxt` declares. Where a "
        "client called it, the request lacks inputs; where another model did (`tensorrt_llm_bls`, `ensemble`), the "
        "models of the repository come from different releases.",
        "Compare the inputs with the model's `config.pbtxt`. If a model called it, take all models of the repository, "
        "with their `config.pbtxt`, from the release of the backend that the server runs.",
        "https://github.com/triton-inference-server/tensorrtllm_backend/issues/193",
        example="[request id: 7] expected 4 inputs but got 1 inputs for model 'postprocessing'",
        cause=Cause.SETTING,
    ),
    KnownError(
        "unexpected inference input '{name}' for model '{model}'",
        Stage.COMPLETE,
        "What calls the model gives it an input that the model's `config.pbtxt` does not declare. Where that is "
        "Triton's OpenAI frontend, it and the models of the repository come from different releases; a chat request "
        "has no such field.",
        "Take the models of the repository, with their `config.pbtxt`, from the release of the backend that the server "
        "runs, or declare the input there. A client that calls the model itself can leave the input out.",
        "https://github.com/triton-inference-server/server/issues/8640",
        example="unexpected inference input 'return_num_input_tokens' for model 'm'",
        cause=Cause.SETTING,
    ),
)
