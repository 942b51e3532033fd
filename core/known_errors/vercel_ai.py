"""What Vercel's AI SDK itself says."""

from __future__ import annotations

from prompt_debugger.core.base.types import Stage
from prompt_debugger.core.known_errors.base import REACH_SERVER, Cause, KnownError, Look

MAKER = "Vercel's AI SDK"

SENTENCES: tuple[KnownError, ...] = (
    KnownError(
        "No object generated: the model did not return a response.",
        Stage.COMPLETE,
        "The answer had no text: a thinking model may have spent all of `maxOutputTokens` on its thoughts, or the "
        "answer is in another field than the SDK reads.",
        "Look at `finishReason` and at the tokens of reasoning in `usage`: with `length`, raise `maxOutputTokens` or "
        "ask for less thinking; otherwise record the answer (`capture`) and paste it.",
        "https://github.com/vercel/ai/issues/8237",
        cause=Cause.OUTPUT,
    ),
    KnownError(
        "Model tried to call unavailable tool '{name}<{rest}'.",
        Stage.PARSE,
        "The name of the call contains markup of the model's notation: the server's parser took more of what the model "
        "wrote for the name, or all of it, and the arguments are lost.",
        "Start the server with the tool parser of this model's family, in a current release; with a hosted model, its "
        "provider has to fix it. The tools of the request need no change.",
        "https://github.com/zai-org/GLM-5/issues/84",
        example="Model tried to call unavailable tool 'read<arg_key>path</arg_key><arg_value>a.md</arg_value>'.",
    ),
    KnownError(
        "Model tried to call unavailable tool 'multi_tool_use.parallel'.",
        Stage.PARSE,
        "`multi_tool_use.parallel` is how OpenAI's models write several calls at once within the model's own notation: "
        "the provider did not unfold it, and its arguments hold the real calls in `tool_uses`.",
        "Run the calls in `tool_uses` one by one, or ask again with `parallel_tool_calls: false`; declaring a tool of "
        "this name does not help.",
        "https://github.com/vercel/ai/issues/1922",
        cause=Cause.OUTPUT,
    ),
    KnownError(
        "Model tried to call unavailable tool 'invalid'.",
        Stage.CONTRACT,
        "A call of the model could not be used: OpenCode puts its own tool `invalid` in place of a call whose name is "
        "unknown or whose arguments do not fit, and here that is not among the tools that are offered.",
        "Look at the call as the model wrote it: its own error usually comes with it (missing parameters, an unknown "
        "name). Declaring a tool of this name does not help; a new session does where the model repeats it.",
        "https://github.com/anomalyco/opencode/issues/34071",
        cause=Cause.OUTPUT,
    ),
    KnownError(
        "Model tried to call unavailable tool '{name}'.",
        Stage.CONTRACT,
        "The model called a tool that the program does not have.",
        "Declare the tool, or name the tools in the prompt as they are declared. A gateway that renames tools has to "
        "rename the calls back.",
        "https://github.com/vercel/ai/issues/1922",
        example="Model tried to call unavailable tool 'search'. Available tools: read, write.",
        field="tools",
        look=Look.UNDECLARED_TOOL,
    ),
    KnownError(
        "Model tried to call unavailable tool '{name}'. Available tools: .",
        Stage.CONTRACT,
        "The model called a tool, and this request offered none.",
        "Send this request with the tools of its history, or without calls in it: a model keeps calling what it reads "
        "there. In agents these are often summaries (compaction), or a mode whose tools are switched off.",
        "https://github.com/code-yeongyu/oh-my-openagent/issues/1803",
        example="Model tried to call unavailable tool 'read'. Available tools: .",
        field="tools",
        look=Look.UNDECLARED_TOOL,
    ),
    KnownError(
        "Expected 'function.name' to be a string.",
        Stage.PARSE,
        "The first piece of a streamed call has no name: the client reads the name there, and drops the whole stream.",
        "Record the stream with `capture` and paste it: if the name comes with a later piece, report that to the "
        "server or gateway. Until then ask without streaming.",
        "https://github.com/anomalyco/opencode/issues/24137",
        cause=Cause.OUTPUT,
    ),
    KnownError(
        "Expected 'id' to be a string.",
        Stage.PARSE,
        "The first piece of a streamed call has no id: the client reads the id there, and drops the whole stream.",
        "Record the stream with `capture` and paste it: if the id is missing or comes with a later piece, report "
        "that to the server or gateway. Until then ask without streaming.",
        "https://github.com/vercel/ai/issues/6687",
        cause=Cause.OUTPUT,
    ),
    KnownError(
        "Tool results are missing for tool calls: {ids}",
        Stage.REQUEST,
        "A new turn was sent while calls have no result.",
        "Add the results, or the answer to a request for approval.",
        "https://ai-sdk.dev/docs/troubleshooting/missing-tool-results-error",
        example="Tool results are missing for tool calls: call_7, call_8",
        field="messages",
        cause=Cause.CLIENT,
        look=Look.OPEN_CALLS,
    ),
    KnownError(
        "Invalid input for tool {name:word}: Type validation failed: Value: {value}",
        Stage.CONTRACT,
        "The arguments of a call do not match the tool's schema.",
        "Compare the value with the schema. If a list or an object arrived as a string, the server's tool parser did "
        "not follow the schema: update it, or choose another parser.",
        "https://github.com/anomalyco/opencode/issues/1809",
        example='Invalid input for tool todo: Type validation failed: Value: {"todos":"[]"}.',
    ),
    KnownError(
        "No object generated: response did not match schema.",
        Stage.CONTRACT,
        "The model's JSON does not match the program's schema. The answer is in the error's `text`, the "
        "first difference in its `cause`.",
        "Paste `error.text` with the schema. Check that the request carries the schema (`response_format`) "
        "and that the server enforces it: one that ignores it lets the model choose its own keys.",
        "https://github.com/vercel/ai/issues/9422",
    ),
    KnownError(
        "No object generated: could not parse the response.",
        Stage.PARSE,
        "The model's text is not JSON. It is in the error's `text`.",
        "Paste `error.text`: prose or a code fence around the JSON, reasoning before it, or a truncated end each "
        "need a different fix.",
        "https://ai-sdk.dev/docs/reference/ai-sdk-errors/ai-no-object-generated-error",
    ),
    KnownError(
        "No object generated: the tool was not called.",
        Stage.PARSE,
        "The model was expected to answer with a call, but none was read from its answer: it wrote text, or the "
        "server's parser read none.",
        "Check the answer's content: markup of a call in it means that the server's tool parser does not "
        "fit the model.",
        "https://ai-sdk.dev/docs/reference/ai-sdk-errors/ai-no-object-generated-error",
    ),
    KnownError(
        "Invalid JSON response",
        Stage.CONTRACT,
        "The server answered, and the client's check of the answer failed: it is not JSON, or a field is "
        "missing, null or of the wrong type.",
        "Compare the body (`responseBody` of the error) with `cause`, which names the field; paste the body here. "
        "Report a field that the server leaves out to the server or gateway.",
        "https://github.com/OpenRouterTeam/ai-sdk-provider/issues/287",
        cause=Cause.OUTPUT,
        is_distinctive=False,
        is_general=True,
    ),
    KnownError(
        "AI_TypeValidationError",
        Stage.CONTRACT,
        "A value does not have the shape that the program expects: an answer, an event of a stream, or what "
        "the model wrote. The error contains the value.",
        "Compare the value with the list of differences below it; `path` and `expected` say what was expected.",
        "https://github.com/vercel/ai/issues/2265",
        is_distinctive=False,
        is_general=True,
    ),
    KnownError(
        "AI_RetryError: Failed after {count:int} attempts",
        Stage.COMPLETE,
        "Every attempt failed; the reason shown is that of the last one.",
        "Check the last error that it names, and the server's log.",
        "https://ai-sdk.dev/docs/reference/ai-sdk-errors/ai-retry-error",
        example="AI_RetryError: Failed after 3 attempts. Last error: Too busy",
        cause=Cause.UNCLEAR,
        is_general=True,
    ),
    KnownError(
        "Cannot connect to API: {why}",
        Stage.COMPLETE,
        "The client got no answer: it could not reach the server.",
        REACH_SERVER,
        "https://ai-sdk.dev/docs/reference/ai-sdk-errors/ai-api-call-error",
        example="Cannot connect to API: connect ETIMEDOUT",
        cause=Cause.CONNECTION,
    ),
    KnownError(
        "No output generated.{gap}finishReason: tool-calls",
        Stage.COMPLETE,
        "`generateText` reads the structured output only where the last step ended with `stop`; this one ended with "
        "`tool-calls`, so its text was not read.",
        "If the step made no call, the provider reports the wrong finish reason: update `ai`, or parse `result.text` "
        "yourself. If it made one, allow another step (`stopWhen`).",
        "https://github.com/vercel/ai/issues/15349",
        example='No output generated. finishReason: tool-calls lastText: "{}"',
        cause=Cause.OUTPUT,
    ),
    KnownError(
        "AI_NoOutputGeneratedError",
        Stage.COMPLETE,
        "The stream ended without any output, usually because an error came before any text.",
        "Check the error before it (`onError`), or record the stream with `capture`.",
        "https://ai-sdk.dev/docs/reference/ai-sdk-errors/ai-no-output-generated-error",
        cause=Cause.OUTPUT,
        is_general=True,
    ),
    KnownError(
        "The messages do not match the ModelMessage[] schema.",
        Stage.REQUEST,
        "The messages are not in the form of the SDK's `ModelMessage`, so nothing was sent.",
        "Convert messages of the page (`UIMessage`) with `convertToModelMessages`; in those written by hand check "
        "`role`, the type of each part, and that results of tools are in messages with the role `tool`.",
        "https://ai-sdk.dev/docs/reference/ai-sdk-errors/ai-invalid-prompt-error",
        field="messages",
        cause=Cause.CLIENT,
    ),
    KnownError(
        "prompt and messages cannot be defined at the same time",
        Stage.REQUEST,
        "The call has both `prompt` and `messages`, and the SDK takes one of them.",
        "Give `messages` alone, with the prompt as the last user message, or `prompt` alone.",
        "packages/ai/src/prompt/standardize-prompt.ts",
        cause=Cause.CLIENT,
    ),
    KnownError(
        "Tool result is missing for tool call {id:word}",
        Stage.REQUEST,
        "A new turn was sent while a call has no result.",
        "Add the result, or the answer to a request for approval; drop a call that was stopped together with its "
        "message.",
        "https://ai-sdk.dev/docs/troubleshooting/missing-tool-results-error",
        example="Tool result is missing for tool call call_9.",
        field="messages",
        cause=Cause.CLIENT,
        look=Look.OPEN_CALLS,
    ),
    KnownError(
        "Unsupported model version {version:word} for provider {provider}",
        Stage.REQUEST,
        "The provider's package and the package `ai` belong to different major releases, so nothing was sent.",
        "Install releases of `ai` and of the provider's package (`@ai-sdk/…`) that belong together; the lock file "
        "may hold two of one.",
        "https://ai-sdk.dev/docs/troubleshooting/unsupported-model-version",
        example='Unsupported model version v3 for provider "openai.chat" and model "gpt-4o".',
        cause=Cause.CLIENT,
    ),
    KnownError(
        "Expected 'function' type.",
        Stage.PARSE,
        "The first piece of a streamed call has a `type` other than `function`, such as an empty one: the client "
        "drops the whole stream.",
        "Record the stream with `capture` and paste it, and report the `type` to the server or gateway. Until then "
        "ask without streaming.",
        "packages/provider-utils/src/streaming-tool-call-tracker.ts",
        cause=Cause.OUTPUT,
    ),
    KnownError(
        "Failed to process successful response",
        Stage.COMPLETE,
        "The server answered with success, and the client could not read the body as the answer that it expects.",
        "Look at the `cause` of the error and at `responseBody`: it may be an error with the status 200, a page of "
        "HTML, or a stream where one answer was asked for. `capture` records it.",
        "packages/provider-utils/src/post-to-api.ts",
        cause=Cause.OUTPUT,
    ),
)
