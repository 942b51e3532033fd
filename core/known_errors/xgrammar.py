"""What XGrammar says, which makes grammars from schemas in vLLM, SGLang, TensorRT-LLM and others."""

from __future__ import annotations

from prompt_debugger.core.base.types import Stage
from prompt_debugger.core.known_errors.base import Cause, KnownError

MAKER = "XGrammar"

SENTENCES: tuple[KnownError, ...] = (
    KnownError(
        "Token id {id:int}: {token} is regarded as a special token, and cannot be accepted by the GrammarMatcher",
        Stage.COMPLETE,
        "The engine gave the grammar a special token that no grammar allows: it was sampled without the grammar's "
        "mask, or the mask and the model count their tokens differently.",
        "The request needs no change: update the engine and XGrammar. Until then choose another backend for structured "
        "output (vLLM: `--structured-outputs-config.backend guidance`, in older releases "
        "`--guided-decoding-backend`), or send the request without a schema.",
        "https://github.com/vllm-project/vllm/issues/11044",
        example="cpp/matcher.cc:296: Token id 3: <pad> is regarded as a special token, and cannot be accepted by the "
        "GrammarMatcher",
        cause=Cause.SERVER,
    ),
    KnownError(
        "json_schema_converter.cc:{line:int}: items must be a boolean or an object",
        Stage.REQUEST,
        "A schema of the request has a list as `items`: the notation of old drafts of JSON Schema for a list whose "
        "places have different schemas.",
        "Write one schema as `items`, or `prefixItems` for the places; servers of MCP and agents often declare it "
        "so, and the schema of every tool that is sent counts.",
        "https://github.com/anomalyco/opencode/issues/33919",
        example="/project/cpp/json_schema_converter.cc:2999: items must be a boolean or an object",
    ),
    KnownError(
        "json_schema_converter.cc:{line:int}: Cannot find field {name:word} in {path:word}",
        Stage.REQUEST,
        "A `$ref` in a schema of the request leads nowhere: the schema was moved into another one without its "
        "definitions, or the path is wrong.",
        "Correct the `$ref`, put what it names under `$defs` at the root of that schema, or write it in its place. "
        "If the tool comes from a server of MCP, switch that tool off until its schema is right.",
        "https://github.com/anomalyco/opencode/issues/33919",
        example="/project/cpp/json_schema_converter.cc:3006: Cannot find field create in #/properties/parameter/items",
    ),
)
