"""What the grammar backend llguidance says, also through vLLM and SGLang."""

from __future__ import annotations

from prompt_debugger.core.base.types import Stage
from prompt_debugger.core.known_errors.base import Cause, KnownError

MAKER = "llguidance"

SENTENCES: tuple[KnownError, ...] = (
    KnownError(
        "assertion failed: self.parser.inference_caps.ff_tokens",
        Stage.COMPLETE,
        "The grammar was asked for tokens that it forces, and was not set up for that; LiteRT-LM fails like this where "
        "a thinking budget and a response format are set together.",
        "Ask for the response format without a thinking budget, or with thinking switched off, and update the program. "
        "The schema needs no change.",
        "https://github.com/google-ai-edge/LiteRT-LM/issues/3463",
    ),
    KnownError(
        "Unimplemented keys: [{keys}]",
        Stage.COMPLETE,
        "A schema of the request, of a tool or of `response_format`, uses keywords that the grammar backend does "
        "not know.",
        "Take these keywords out of the schemas; the model still reads them in descriptions.",
        "https://github.com/noonghunna/club-3090/issues/45",
        example='Grammar error: Unimplemented keys: ["propertyNames"].',
        cause=Cause.REQUEST,
    ),
    KnownError(
        "Grammar error: Unknown format: {name:word}",
        Stage.COMPLETE,
        "A schema of the request has a `format` that the grammar backend does not know.",
        "Take that `format` out of the schema, or say it in the description.",
        "https://github.com/z-lab/paroquant/issues/31",
        example="Grammar error: Unknown format: uri",
        cause=Cause.REQUEST,
    ),
    KnownError(
        "Grammar error: Invalid type: {name:word}",
        Stage.REQUEST,
        "A schema of the request has a `type` that JSON Schema does not define.",
        "Replace it with one of JSON Schema's seven types (`string`, `number`, `integer`, `boolean`, `object`, "
        "`array`, `null`).",
        "vLLM 0.32 with llguidance",
        example="Grammar error: Invalid type: town",
    ),
    KnownError(
        "Grammar error: Pointer '{path:word}' does not exist",
        Stage.REQUEST,
        "A `$ref` in a schema of the request leads to a definition that the schema does not contain.",
        "Put the definition where the reference points (`$defs` at the schema's own root), or write it in its place.",
        "vLLM 0.32 with llguidance",
        example="Grammar error: Pointer '/$defs/b' does not exist",
    ),
    KnownError(
        "Unsatisfiable schema: {why}",
        Stage.COMPLETE,
        "No output can match the schema of the request: a forced call without a tool to call, or conditions that "
        "exclude one another.",
        "Send at least one tool where `tool_choice` is `required`; otherwise look for conditions in the schema "
        "that contradict each other.",
        "https://github.com/vllm-project/vllm/pull/21052",
        example="Grammar error: Unsatisfiable schema: required item is unsatisfiable",
        cause=Cause.REQUEST,
    ),
    KnownError(
        "doesn't satisfy the grammar; byte {byte} fails parse",
        Stage.COMPLETE,
        "The server's grammar for structured output was given a token that it does not allow, and stopped checking: "
        "the token was not chosen under the grammar, as with a draft of speculative decoding, reasoning before the "
        "answer, or text that another feature wrote.",
        "Start the server once without speculative decoding (`--speculative-config`, `--speculative-model`), and send "
        "the request with thinking off; then update the server, or choose another backend for structured output.",
        "https://github.com/vllm-project/vllm/issues/15554",
        example="LLMatcher error: Parser Error: token \" null\" doesn't satisfy the grammar; byte 'n' fails parse",
    ),
    KnownError(
        "doesn't satisfy the grammar; forced bytes: {bytes}",
        Stage.COMPLETE,
        "The model's next token does not fit the grammar that the server built from a schema or the tools: another "
        "feature wrote it, such as a thinking block, a template's own text or speculative decoding.",
        "Send the request once with thinking off; if that helps, start the server with the model's reasoning parser, "
        "so that the grammar waits for the end of reasoning. Otherwise update the server.",
        "https://github.com/guidance-ai/llguidance/issues",
        example="Parser Error: token \"Hello\" doesn't satisfy the grammar; forced bytes: got '{'; applying 'H'",
    ),
)
