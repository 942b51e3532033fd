"""What llama-cpp-python says. Read in its sources of 2026."""

from __future__ import annotations

from prompt_debugger.core.base.types import Stage
from prompt_debugger.core.known_errors.base import Cause, KnownError

MAKER = "llama-cpp-python"

SENTENCES: tuple[KnownError, ...] = (
    KnownError(
        "logprobs is not supported for models created with logits_all=False",
        Stage.REQUEST,
        "The request asks for log-probabilities, and the model was loaded without them.",
        "Load the model with `logits_all=True` (`--logits_all true` of its server), or leave `logprobs` out.",
        "llama_cpp/llama.py: Llama._create_completion",
        field="logprobs",
        cause=Cause.SETTING,
    ),
    KnownError(
        "Requested tokens ({count:int}) exceed context window of {limit:int}",
        Stage.REQUEST,
        "The message says that the prompt fills the context that the model was loaded with, or is longer than it: no "
        "room is left for an answer.",
        "Load the model with a longer `n_ctx` (its default is small), or shorten the messages. If the first number of "
        "the message is the smaller one, the release is at fault: update llama-cpp-python.",
        "llama_cpp/llama.py: Llama._create_completion",
        example="Requested tokens (9000) exceed context window of 512",
        field="messages",
        cause=Cause.CONTEXT,
    ),
    KnownError(
        "Requested tokens ({count:int}) exceed batch size of {limit:int}",
        Stage.REQUEST,
        "A text for embeddings has more tokens than one batch holds.",
        "Load the model with a larger `n_batch`, or send shorter texts.",
        "llama_cpp/llama.py: Llama.embed",
        example="Requested tokens (9000) exceed batch size of 512",
        field="input",
        cause=Cause.SETTING,
    ),
    KnownError(
        "No formatter registered under the name '{name:word}'.",
        Stage.RENDER,
        "The model was loaded with a `chat_format` that this release does not have.",
        "Use a name that the release lists, or leave `chat_format` out: the template in the GGUF file is used then.",
        "llama_cpp/llama_chat_format.py: LlamaChatCompletionHandlerRegistry",
        example="No formatter registered under the name 'qwen9'.",
        cause=Cause.SETTING,
    ),
    KnownError(
        "Failed to load mtmd context from: {path}",
        Stage.REQUEST,
        "The projector for images could not be loaded.",
        "Give the `mmproj` file of exactly this model, complete and readable, as `clip_model_path`.",
        "llama_cpp/llama_chat_format.py: MTMDChatHandler",
        example="Failed to load mtmd context from: mmproj.gguf",
        cause=Cause.SETTING,
    ),
)
