"""What Ollama says."""

from __future__ import annotations

from prompt_debugger.core.base.types import Stage
from prompt_debugger.core.known_errors.base import Cause, KnownError, Look

MAKER = "Ollama"

SENTENCES: tuple[KnownError, ...] = (
    KnownError(
        "{model:word} does not support tools",
        Stage.REQUEST,
        "The template of that model has no section for tools, so the server does not accept any.",
        "Serve a model whose template supports tools, or send the request without `tools`.",
        "https://github.com/ollama/ollama/issues/5793",
        example="registry.ollama.ai/library/gemma3:4b does not support tools",
        field="tools",
        cause=Cause.SETTING,
    ),
    KnownError(
        '"{model:word}" does not support thinking',
        Stage.REQUEST,
        "The request sets `think`, and that model does not think.",
        "Leave `think` out.",
        "https://github.com/ollama/ollama/issues/14212",
        example='"llama3.2" does not support thinking',
        field="think",
    ),
    KnownError(
        'think value "{value}" is not supported for this model',
        Stage.REQUEST,
        "That model does not support this level of thinking.",
        "Send `true` or `false`, or a level that the model's page lists.",
        "https://github.com/charmbracelet/crush/issues/2623",
        example='think value "high" is not supported for this model',
        field="think",
    ),
    KnownError(
        'invalid think value: "{value:word}" (must be ',
        Stage.REQUEST,
        "`think` is a text other than the levels. On and off are booleans: in quotation marks, `true` and `false` are "
        "texts.",
        "Send `true` or `false` without quotation marks, or one of the levels that the message lists. In Ollama's "
        "command line, write `/set think` or `/set nothink`; a model that always thinks (gpt-oss) takes levels only.",
        "https://github.com/ollama/ollama/issues/17837",
        example='invalid think value: "false" (must be "high", "medium", "low", "max", true, or false)',
        field="think",
    ),
    KnownError(
        "failed to create tool parser",
        Stage.PARSE,
        "Ollama derives how calls are read from the model's template, and found no form of calls in it.",
        "Take the model from Ollama's library and update Ollama, or give the Modelfile a template whose part with "
        "`.ToolCalls` writes calls as the model does.",
        "https://github.com/ollama/ollama/issues/11155",
        cause=Cause.TEMPLATE,
    ),
    KnownError(
        "error parsing tool call: raw=",
        Stage.PARSE,
        "The arguments that the model wrote for a call are not JSON, and the server answers with an error "
        "instead of the output.",
        "Ask again, with a lower temperature if it happens again; if the text ends early, allow more "
        "tokens (`num_predict`).",
        "https://github.com/ollama/ollama/issues/12064",
        example="error parsing tool call: raw='{\"a\": 1', err=unexpected end of JSON input",
    ),
    KnownError(
        "{family:word} tool call parsing failed",
        Stage.PARSE,
        "The call that the model wrote is not in the notation of its family, and the attempt to repair it failed.",
        "Ask again, with a lower temperature if it happens again. A newer release may read more of this notation.",
        "https://github.com/ollama/ollama/issues/15315",
        example='msg="gemma4 tool call parsing failed" error="invalid character" content="call:f{a:}"',
    ),
    KnownError(
        "harmony parser: no reverse mapping found for function name",
        Stage.PARSE,
        "The model (gpt-oss) called a tool that the request does not declare in `tools`: often one that the client "
        "only describes in its prompt and wants written there in its own notation.",
        "Send the client's tools in `tools` (a mode for native tool calls, where it has one), or use a model that "
        "writes the notation of the client's prompt; if the tools were sent, the model invented the name.",
        "https://github.com/ollama/ollama/issues/11991",
        example='msg="harmony parser: no reverse mapping found for function name" harmonyFunctionName=ask_user',
        look=Look.UNDECLARED_TOOL,
    ),
    KnownError(
        "XML syntax error on line {line:int}: {why}",
        Stage.PARSE,
        "The call that the model wrote in tags is not well-formed, and the server answers with an error "
        "instead of the output.",
        "Ask again. A value with `<` or `&` in it can break this parser just like an unclosed tag; a newer "
        "release may be more tolerant.",
        "https://github.com/ollama/ollama/issues/17276",
        example="XML syntax error on line 35: element <parameter> closed by </function>",
    ),
    KnownError(
        "expected element type <{wanted:word}> but have <{found:word}>",
        Stage.PARSE,
        "The call that the model wrote in tags begins with another tag than the parser expects: an outer tag is "
        "missing, and the server answers with an error instead of the output.",
        "Ask again. If it happens again, look at the raw output in the server's log (`OLLAMA_DEBUG=2`), and update "
        "Ollama: a newer release may be more tolerant.",
        "https://github.com/continuedev/continue/issues/10896",
        example="expected element type <function> but have <parameter>",
    ),
    KnownError(
        "json: cannot unmarshal array into Go struct field ChatRequest.messages.content of type string",
        Stage.REQUEST,
        "The content of a message was sent as a list of parts, but this API accepts only a string.",
        "Send `content` as one string, images in `images`; or use the route `/v1/chat/completions`, which accepts "
        "parts.",
        "https://github.com/BerriAI/litellm/issues/11273",
        field="messages",
    ),
    KnownError(
        "json: cannot unmarshal {kind:word} into Go struct field ChatRequest.{path:word} of type {wanted}",
        Stage.REQUEST,
        "A field of the request has a different type than the server expects there.",
        "Send the field that the message names with the type that it names.",
        "https://github.com/ollama/ollama/issues/8235",
        example="json: cannot unmarshal string into Go struct field ChatRequest.tools of type api.Tools",
    ),
    KnownError(
        "json: cannot unmarshal {kind:word} into Go struct field GenerateRequest.{path:word} of type {wanted}",
        Stage.REQUEST,
        "A field of the request has a different type than the server expects there.",
        "Send the field that the message names with the type that it names.",
        "ollama/ollama, api/types.go: GenerateRequest",
        example="json: cannot unmarshal number into Go struct field GenerateRequest.prompt of type string",
    ),
    KnownError(
        "json: cannot unmarshal string into Go struct field ChatRequest.messages{path}of type "
        "api.ToolCallFunctionArguments",
        Stage.REQUEST,
        "`arguments` of a call in the history came as a string of JSON, as OpenAI's API has it; Ollama's own "
        "`/api/chat` takes an object there.",
        "Send them as an object (decode the string before the message goes back), or use `/v1/chat/completions`, which "
        "takes the string. Where a framework builds the history, update it.",
        "https://github.com/neuron-core/neuron-ai/issues/219",
        example="json: cannot unmarshal string into Go struct field ChatRequest.messages.tool_calls.function.arguments "
        "of type api.ToolCallFunctionArguments",
        field="messages",
    ),
    KnownError(
        "Value looks like object, but can't find closing '}' symbol",
        Stage.REQUEST,
        "A text of the request could not be read as a JSON object: usually `arguments` of a call in the history, "
        "which came as a string of JSON, where Ollama's own `/api/chat` takes an object.",
        "Send the arguments of earlier calls as objects (decode the string before the message goes back), or use "
        "`/v1/chat/completions`, which takes the string.",
        "https://github.com/Xoshbin/asyar/pull/513",
        field="messages",
    ),
    KnownError(
        "error parsing tool call: {why} (status code: {status:int})",
        Stage.PARSE,
        "The arguments that the model wrote for a call are not JSON, and the server answers with an error "
        "instead of the output.",
        "Check the arguments in the server's log, and ask again; if they end early, allow more tokens (`num_predict`).",
        "https://github.com/ollama/ollama/issues/12064",
        example="error parsing tool call: invalid character ']' after object key:value pair (status code: 500)",
    ),
    KnownError(
        "template: {where} executing {name} at <{field}>: can't evaluate field {missing:word} in type {kind:word}",
        Stage.RENDER,
        "The model's Go template reads a field that does not exist: the template is wrong, or was made for another "
        "release.",
        "Pull the model again, or update Ollama: the template was corrected there. If the Modelfile is your own, "
        "correct its TEMPLATE.",
        "https://github.com/ollama/ollama/issues/10143",
        example='template: :6:10: executing "" at <.Tools>: can\'t evaluate field Tools in type api.Tools',
        cause=Cause.SETTING,
    ),
    KnownError(
        "template: {where} executing {name} at <{field}>: error calling index: reflect: slice index out of range",
        Stage.RENDER,
        "The model's template reads the first type of each tool parameter, but one parameter has none.",
        "Give every parameter of the tools a `type` (also in place of `anyOf` and `$ref`), or pull the model again "
        "for a newer template.",
        "https://github.com/ollama/ollama/issues/11800",
        example='template: :108:130: executing "" at <index $prop.Type 0>: error calling index: reflect: slice index '
        "out of range",
        field="tools",
        cause=Cause.REQUEST,
    ),
    KnownError(
        'template: {where} function "{name:word}" not defined',
        Stage.RENDER,
        "The template uses a function that this release of Ollama does not have; text of the request that "
        "contains `{{` causes this too, if it was read as a template.",
        "Update Ollama to a release that is as new as the model. Text with `{{` belongs in `messages`, not into "
        "`template`.",
        "https://github.com/ollama/ollama/issues/11679",
        example='template: :3: function "currentDate" not defined',
        cause=Cause.SETTING,
    ),
    KnownError(
        "invalid tool call arguments",
        Stage.REQUEST,
        "A call in the history has arguments that are not a JSON object.",
        "Check the assistant's calls in the request: send arguments as the model should have written them, "
        "or leave that turn out.",
        "https://github.com/duolahypercho/codex-router/issues/161",
        field="messages",
        look=Look.BROKEN_ARGUMENTS,
    ),
    KnownError(
        "invalid tool usage: mismatch between tool calls and tool results",
        Stage.REQUEST,
        "The tool results of the history do not fit its tool calls: a call has no result, a result has no call because "
        "the assistant's message with `tool_calls` was not sent back, or a result does not name its tool.",
        "Keep the assistant's message with its `tool_calls` in the history, then one message with the role `tool` for "
        "each call; `/api/chat` reads the tool's name from `tool_name`, not from `name`.",
        "https://github.com/jonigl/mcp-client-for-ollama/pull/106",
        field="messages",
        look=Look.OPEN_CALLS,
    ),
    KnownError(
        "invalid tool usage",
        Stage.REQUEST,
        "A call in the history has no result, or calls a tool that was not sent.",
        "Add a message with the role `tool` for each call, also where the tool does not exist.",
        "https://github.com/ollama/ollama-python/pull/569",
        example="invalid tool usage (status code: 400)",
        field="messages",
        look=Look.OPEN_CALLS,
    ),
    KnownError(
        "no user query found in messages",
        Stage.RENDER,
        "Ollama's renderer for Qwen 3.5 finds no user message in the request: only tool results, or nothing, "
        "follow the system message.",
        "Keep the user's message in every request of the tool loop; check in the client what it leaves out of the "
        "history.",
        "https://github.com/QwenLM/qwen-code/issues/9438",
        field="messages",
        cause=Cause.REQUEST,
        look=Look.NO_USER,
    ),
    KnownError(
        "Did not receive done or success response in stream",
        Stage.COMPLETE,
        "Ollama's client for JavaScript read the stream to its end, and no event had `done: true`: it broke off, or a "
        "gateway or another server in between wrote it in another form.",
        "Ask once without streaming, and look at the server's log for that moment: a model process that ended, a "
        "timeout of a proxy, or a model that this release serves only in part; update the server.",
        "ollama-js, src/utils.ts: AbortableAsyncIterator",
    ),
    KnownError(
        "Expected a completed response.",
        Stage.COMPLETE,
        "Ollama's client for JavaScript asked for a complete answer and got one without `done: true`, as if it "
        "were part of a stream.",
        "Check that what answers is Ollama itself, and that nothing in between turns streaming on.",
        "ollama-js, src/browser.ts: processStreamableRequest",
        is_distinctive=False,
    ),
    KnownError(
        'do load request: Post "{address:word}": EOF',
        Stage.COMPLETE,
        "The process that Ollama started for the model ended while it loaded the model, so no request reached it.",
        "Look at the lines above in Ollama's log: too little memory, a driver of the GPU, or a model file that this "
        "release cannot read. Update Ollama, pull the model again, or load it with a smaller `num_ctx`. The request "
        "needs no change.",
        "https://github.com/aaif-goose/goose/issues/4482",
        example='do load request: Post "http://127.0.0.1:52960/load": EOF',
    ),
)
