"""What Dify says of its plug-ins."""

from __future__ import annotations

from prompt_debugger.core.base.types import Stage
from prompt_debugger.core.known_errors.base import Cause, KnownError

MAKER = "Dify"

_UPDATE = (
    "Update both Dify and the plug-in of that vendor or agent, so that their releases match, and select the model "
    "again in the node; if the error persists, report it to the plug-in's authors. The request needs no change."
)

SENTENCES: tuple[KnownError, ...] = (
    KnownError(
        '"error_type":"AttributeError","message":"\'{kind:word}\' object has no attribute \'{name:word}\'',
        Stage.COMPLETE,
        "The plug-in read an attribute that Dify's objects do not have: plug-in, its SDK and Dify are of releases that "
        "do not belong together, or the plug-in has a bug.",
        _UPDATE,
        "https://github.com/langgenius/dify/issues/21232",
        example='PluginInvokeError: {"args":{},"error_type":"AttributeError","message":"\'AgentRuntime\' object has no '
        "attribute 'model'\"}",
        cause=Cause.UNCLEAR,
    ),
    KnownError(
        'Error: PluginInvokeError: {"args":{},"error_type":"KeyError","message":"\'{key:word}\'"',
        Stage.COMPLETE,
        "The plug-in of that vendor looked for a key that was not there, in the tools that it was given or in the "
        "vendor's answer: a fault of the plug-in.",
        _UPDATE,
        "https://github.com/langgenius/dify/issues/15725",
        example='[tongyi] Error: PluginInvokeError: {"args":{},"error_type":"KeyError","message":"\'name\'"}',
        cause=Cause.UNCLEAR,
    ),
    KnownError(
        "validation error for LLMNodeData {path:word} Field required [type=missing, input_value=",
        Stage.REQUEST,
        "The settings of an LLM node in the workflow lack a field (`model.mode` is the mode of its model, `chat` or "
        "`completion`). Dify checks them before it asks the model.",
        "Select the model again in the node; if the error persists, export the DSL of the app, write the field into "
        "the node and import it, and update Dify and the vendor's plug-in.",
        "https://github.com/langgenius/dify/issues/16180",
        example="Run failed: 1 validation error for LLMNodeData model.mode Field required [type=missing, "
        "input_value={}",
        cause=Cause.CLIENT,
    ),
    KnownError(
        "validation error for FunctionCallingParams {path:word} Input should be a valid dictionary or instance of",
        Stage.COMPLETE,
        "The agent's plug-in got settings of the node that are not in the form that it knows, such as a model without "
        "its description; no model was asked.",
        _UPDATE,
        "https://github.com/junjiem/dify-plugin-agent-mcp_sse/issues/10",
        example="1 validation error for FunctionCallingParams model.entity Input should be a valid dictionary or "
        "instance of X",
        cause=Cause.UNCLEAR,
    ),
    KnownError(
        '"error_type":"ValidationError","message":"{count:int} validation error',
        Stage.COMPLETE,
        "The plug-in, or its SDK, checked an object that Dify passed to it against a class of its release, and a "
        "field differs: plug-in and Dify are of releases that do not belong together.",
        _UPDATE,
        "https://github.com/yangyaofei/dify-vllm-provider/issues/10",
        example='PluginInvokeError: {"args":{},"error_type":"ValidationError","message":"2 validation errors for X',
        cause=Cause.UNCLEAR,
    ),
    KnownError(
        "validation error for LLMResultChunk{path}",
        Stage.COMPLETE,
        "A piece of the answer, as Dify or a plug-in passes it on, lacks a field or has it in another form than the "
        "plug-in's SDK expects: plug-in, its SDK and Dify are of releases that do not belong together.",
        _UPDATE,
        "https://github.com/langgenius/dify/issues/18671",
        example="Failed to parse response: 1 validation error for LLMResultChunk prompt_messages Field required",
        cause=Cause.UNCLEAR,
    ),
    KnownError(
        "validation error for PluginDaemonBasicResponse[",
        Stage.COMPLETE,
        "Dify's API and its plug-in daemon are of different releases: the daemon answered in a form that Dify does "
        "not read.",
        "Start both from the same release's `docker-compose.yaml`. The request needs no change.",
        "https://github.com/langgenius/dify/issues/20298",
        example="1 validation error for PluginDaemonBasicResponse[PluginListResponse] data Input should be",
        cause=Cause.SERVER,
    ),
    KnownError(
        "'InvokePluginRequest[{request:word}].Data.PromptMessages[{index:int}].{field:word}' Error:Field validation",
        Stage.REQUEST,
        "Dify's plug-in daemon does not know the form of a message: often its content is a list of text and images.",
        "Update the plug-in daemon to the release that belongs to this Dify; until then send text alone. The model "
        "was not asked.",
        "https://github.com/langgenius/dify-plugin-daemon/issues/22",
        example="Key: 'InvokePluginRequest[a.b/c.RequestInvokeLLM].Data.PromptMessages[1].Content' Error:Field "
        "validation for 'Content' failed on the 'x' tag",
        cause=Cause.SERVER,
    ),
)
