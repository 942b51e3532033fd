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
        "input '{name}' batch size does not match other inputs for '{model}'",
        Stage.COMPLETE,
        "The inputs of a model of the repository came with different batch sizes. In an ensemble one model passes them "
        "to the next: the chat or text request has no such input, and needs no change.",
        "Give all models of the ensemble the same `max_batch_size`, with the shapes of the release that the server "
        "runs. A client that calls the model itself must send every input with the same first dimension.",
        "https://github.com/triton-inference-server/tensorrtllm_backend/issues/228",
        example="in ensemble 'e', [request id: 7] input 'input_ids' batch size does not match other inputs for 'm'",
        cause=Cause.SETTING,
    ),
    KnownError(
        "input '{name}' has no shape but model requires batch dimension for '{model}'",
        Stage.REQUEST,
        "The model of the repository takes batches, and one of its inputs came without a dimension for them.",
        "Send the input as a list of rows, also for one row, or set `max_batch_size: 0` in the `config.pbtxt`.",
        "triton-inference-server/core, src/infer_request.cc",
        example="input 'text_input' has no shape but model requires batch dimension for 'm'",
        cause=Cause.SETTING,
    ),
    KnownError(
        "inference request batch-size must be {bound} for '{model}'",
        Stage.REQUEST,
        "The inputs have more rows, or fewer, than the model's `max_batch_size` allows.",
        "Send fewer rows in a request, or raise `max_batch_size` in the model's `config.pbtxt` (and build the engine "
        "for it).",
        "triton-inference-server/core, src/infer_request.cc",
        example="inference request batch-size must be <= 8 for 'ensemble'",
        cause=Cause.SETTING,
    ),
    KnownError(
        "doesn't support models with decoupled transaction policy",
        Stage.REQUEST,
        "The model is decoupled, that is, it answers in pieces, and this way of asking takes one answer.",
        "Ask over gRPC as a stream, or `/v2/models/MODEL/generate_stream`; or set `decoupled: false` in the "
        "`model_transaction_policy` of the model's `config.pbtxt`.",
        "https://github.com/NVIDIA/TensorRT-LLM/issues/89",
        example="[400] HTTP end point doesn't support models with decoupled transaction policy",
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
    KnownError(
        "unexpected error when creating modelInstanceState: [json.exception.parse_error.101]",
        Stage.COMPLETE,
        "Triton could not load the engine: the `config.json` beside it is empty, missing or no JSON, or the directory "
        "of the engine is not the one that its configuration names.",
        "Check `gpt_model_path` in the model's `config.pbtxt`: it must name the directory with the engine and its "
        "`config.json`, as the server sees it (inside the container). No request was read yet.",
        "https://github.com/triton-inference-server/tensorrtllm_backend/issues/500",
        cause=Cause.SERVER,
    ),
    KnownError(
        "[json.exception.out_of_range.403] key '{key}' not found",
        Stage.COMPLETE,
        "Triton could not load the engine: the `config.json` beside it lacks an entry that the backend reads, so the "
        "engine was built by another release of TensorRT-LLM than the one the backend is from.",
        "Build the engine again with the release of TensorRT-LLM that the backend's image contains, or take the image "
        "of the engine's release. No request was read yet.",
        "https://github.com/triton-inference-server/tensorrtllm_backend/issues/297",
        example="unexpected error when creating modelInstanceState: [json.exception.out_of_range.403] key 'builder' "
        "not found",
        cause=Cause.SERVER,
    ),
    KnownError(
        "Failed to process the request(s) for model instance 'preprocessing{instance:word}', message: {why}",
        Stage.COMPLETE,
        "The `preprocessing` model of the repository raised an error before the engine was asked; the frames below "
        "*At:* show where in its `model.py`.",
        "Take `preprocessing` with its `config.pbtxt` from the release of the backend that the server runs, and undo "
        "own changes one by one. Tokens for padding and end are passed as numbers (`pad_token_id`), stop and bad words "
        "as lists of texts, left out where there are none.",
        "https://github.com/NVIDIA/TensorRT-LLM/issues/862",
        example="in ensemble 'ensemble', Failed to process the request(s) for model instance 'preprocessing_0_0', "
        "message: ValueError: no number",
        cause=Cause.SERVER,
    ),
    KnownError(
        "Failed to process the request(s) for model instance '{instance:word}', message: {why}",
        Stage.COMPLETE,
        "A Python model of the repository raised an error while it handled the request; the frames below *At:* show "
        "where in its `model.py`.",
        "Read that place of the model's `model.py`: it is a program of the server, and the exception says what it "
        "could not handle. Models of the repository must come from the release of the backend that the server runs.",
        "triton-inference-server/python_backend, src/python_be.cc",
        example="Failed to process the request(s) for model instance 'postprocessing_0_1', message: TypeError: no text",
        cause=Cause.SERVER,
        is_general=True,
    ),
)
