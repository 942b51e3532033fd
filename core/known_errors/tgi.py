"""What Hugging Face's Text Generation Inference says."""

from __future__ import annotations

from prompt_debugger.core.base.types import Stage
from prompt_debugger.core.known_errors.base import Cause, KnownError

MAKER = "Text Generation Inference"

SENTENCES: tuple[KnownError, ...] = (
    KnownError(
        "Failed to parse generated text: EOF while parsing",
        Stage.COMPLETE,
        "With tools, this server has the model write its call as JSON, and the output ended before that JSON did: most "
        "likely the token limit was reached.",
        "Raise `max_tokens` (some clients and routes have a small default), and have the model write less into one "
        "argument.",
        "https://github.com/huggingface/smolagents/issues/97",
        example="Tool error: Failed to parse generated text: EOF while parsing a string at line 4 column 349 "
        '"{\\n  \\"function\\": {\\n    \\"_name\\": \\"f\\",\\n    \\"answer\\": \\"one"',
        cause=Cause.OUTPUT,
    ),
    KnownError(
        "Failed to parse generated text: {why}",
        Stage.PARSE,
        "With tools, this server has the model write its call as JSON, and what the model wrote is not JSON.",
        "Look at the text that the error quotes. Ask again, or use a route whose server parses this model's own "
        "notation.",
        "https://github.com/huggingface/smolagents/issues/97",
        example="Failed to parse generated text: expected value at line 1 column 1",
        cause=Cause.OUTPUT,
    ),
    KnownError(
        "Request failed during generation: Server error:",
        Stage.COMPLETE,
        "The model's process failed while it generated; its reason follows these words, or is only in the server's "
        "log.",
        "Look into the server's log at that time: memory that ran out, a grammar that it could not build, and a crash "
        "are the usual reasons. A shared endpoint may run without grammars: ask your own server.",
        "https://github.com/huggingface/text-generation-inference/issues/1745",
        cause=Cause.SERVER,
        is_general=True,
    ),
    KnownError(
        "Unable to parse tokenizer config: {why}",
        Stage.RENDER,
        "The router could not read the model's `tokenizer_config.json`, so that it has no chat template, and chat "
        "requests fail with *template not found*. Releases of early 2024 expect special tokens such as `bos_token` to "
        "be plain strings there, and fail on objects (*expected a string*).",
        "Update the server. Until then serve a copy of the model in which `bos_token` and `eos_token` are plain "
        "strings, or give `--tokenizer-config-path` of one.",
        "https://github.com/huggingface/text-generation-inference/issues/1534",
        example="WARN text_generation_router: Unable to parse tokenizer config: invalid type: map, expected a string "
        "at line 7 column 16",
        cause=Cause.SETTING,
    ),
    KnownError(
        "Error compiling FSM: {why}",
        Stage.REQUEST,
        "The server could not build a grammar from the JSON Schema or the regular expression in the request, and goes "
        "on without one or fails.",
        "Check `grammar` (or `response_format`): its value must be a JSON Schema, with `type` and `properties`, and "
        "not an example of the answer. Reduce it to find the part that is not understood.",
        "https://github.com/huggingface/text-generation-inference/pull/2282",
        example="ERROR text_generation_launcher: Error compiling FSM: Could not translate the instance {'a': 'b'} to a",
        field="response_format",
    ),
)
