"""What Anthropic's API says."""

from __future__ import annotations

from prompt_debugger.core.base.types import Stage
from prompt_debugger.core.known_errors.base import Cause, KnownError, Look

MAKER = "Anthropic"

SENTENCES: tuple[KnownError, ...] = (
    KnownError(
        "messages.{index:int}.content.{part:int}: `tool_use` ids must be unique",
        Stage.REQUEST,
        "The history holds a second call with an id that another call has already: a turn was kept twice, or a gateway "
        "turned one call into two (`tool_calls` next to `tool_use` blocks, or the growing pieces of a stream).",
        "Look at that part of the request and drop the copy. In an agent, go back to before it or start a new session; "
        "update the client or the gateway.",
        "https://github.com/anthropics/claude-code/issues/28515",
        example="messages.43.content.2: `tool_use` ids must be unique",
        field="messages[{index}].content[{part}]",
    ),
    KnownError(
        "`tool_use` ids were found without `tool_result` blocks immediately after: {ids}. Each `tool_use` block",
        Stage.REQUEST,
        "The message after a call does not contain its result.",
        "Put the results of all calls first in the user's next message.",
        "https://github.com/anthropics/claude-code/issues/8210",
        example="messages.4: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_7. Each "
        "`tool_use` block must have a corresponding `tool_result` block in the next message.",
        field="messages",
        look=Look.OPEN_CALLS,
    ),
    KnownError(
        "each tool_use must have a single result. Found multiple `tool_result` blocks with id: {id:word}",
        Stage.REQUEST,
        "A call is answered twice: two `tool_result` blocks have its id.",
        "Send one `tool_result` for each call: drop the copy that the client added, such as one made after a stop or a "
        "retry, or join both texts in one block. In an agent, go back to before that turn or start a new session.",
        "https://github.com/JohnnyZ93/oai-compatible-copilot/issues/270",
        example="messages.2.content.4: each tool_use must have a single result. Found multiple `tool_result` blocks "
        "with id: toolu_7",
        field="messages",
    ),
    KnownError(
        "unexpected `tool_use_id` found in `tool_result` blocks: {id:word}",
        Stage.REQUEST,
        "A result refers to a call that is not in the message before it.",
        "Keep call and result together when the history is shortened.",
        "https://github.com/anthropics/claude-code/issues/13460",
        example="messages.2.content.0: unexpected `tool_use_id` found in `tool_result` blocks: toolu_7. Each "
        "`tool_result` block must have a corresponding `tool_use` block in the previous message.",
        field="messages",
        look=Look.ORPHAN_RESULTS,
    ),
    KnownError(
        "unexpected `tool_use_id` found in `{block:word}` blocks: {id:word} Each `{same:word}` block must have a "
        "corresponding `server_tool_use` block before it",
        Stage.REQUEST,
        "A result of a tool that Anthropic runs itself comes without the `server_tool_use` block that it answers.",
        "Send both blocks back in the same assistant message, or neither. A client that shortens, repairs or stops a "
        "turn can lose one: start a new session, or go back to before that turn, and update the client.",
        "https://github.com/anthropics/claude-code/issues/64383",
        example="messages.2.content.0: unexpected `tool_use_id` found in `web_search_tool_result` blocks: srvtoolu_7. "
        "Each `web_search_tool_result` block must have a corresponding `server_tool_use` block before it.",
        field="messages",
    ),
    KnownError(
        "Expected `thinking` or `redacted_thinking`, but found `{kind:word}`.",
        Stage.REQUEST,
        "Thinking is on, and an assistant message of the tool loop does not begin with its thinking block.",
        "Send thinking blocks back unchanged, or switch thinking off.",
        "https://github.com/mastra-ai/mastra/issues/7799",
        example="messages.3.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`.",
        field="messages",
        look=Look.REASONING_ABSENT,
    ),
    KnownError(
        "Invalid `signature` in `thinking` block",
        Stage.REQUEST,
        "A thinking block was changed since it was received, or comes from another model.",
        "Send the block back byte for byte; drop it when the model changes.",
        "https://github.com/anthropics/anthropic-sdk-python/issues/1598",
        example="messages.1.content.0: Invalid `signature` in `thinking` block",
        field="messages",
    ),
    KnownError(
        "When thinking is disabled, an `assistant` message in the final position cannot contain `thinking`.",
        Stage.REQUEST,
        "The last message contains thinking, and thinking is off.",
        "Switch thinking on, or remove the block.",
        "https://github.com/tailcallhq/forgecode/issues/1853",
        field="messages",
        look=Look.LAST_ROLE,
    ),
    KnownError(
        "Thinking may not be enabled when tool_choice forces tool use.",
        Stage.REQUEST,
        "Thinking and a forced call exclude each other.",
        "Send `tool_choice` as `auto`, or switch thinking off.",
        "https://github.com/can1357/oh-my-pi/issues/341",
        field="tool_choice",
    ),
    KnownError(
        "thinking.adaptive.budget_tokens: Extra inputs are not permitted",
        Stage.REQUEST,
        "With `thinking` of the type `adaptive` the model chooses how much it thinks, and `budget_tokens` is not "
        "allowed beside it.",
        "Leave `thinking.budget_tokens` out, and say how much with `output_config.effort`; a budget goes only with the "
        "type `enabled`, which older models take.",
        "https://platform.claude.com/docs/en/build-with-claude/adaptive-thinking",
        example="thinking.adaptive.budget_tokens: Extra inputs are not permitted",
        field="thinking.budget_tokens",
    ),
    KnownError(
        "thinking.enabled.budget_tokens: Input should be greater than or equal to {least:int}",
        Stage.REQUEST,
        "The budget for thinking is below the smallest one that is accepted; clients that take it as a share of "
        "`max_tokens` get there with a small limit, as for a title.",
        "Raise `thinking.budget_tokens` to the number that the message names, and `max_tokens` above it, or switch "
        "thinking off for this request.",
        "https://github.com/themaximalist/llm.js/issues/30",
        example="thinking.enabled.budget_tokens: Input should be greater than or equal to 1024",
        field="thinking.budget_tokens",
    ),
    KnownError(
        "`max_tokens` must be greater than `thinking.budget_tokens`.",
        Stage.REQUEST,
        "The budget for thinking leaves no room for the answer.",
        "Raise `max_tokens` or lower `thinking.budget_tokens`.",
        "https://github.com/liuw1535/antigravity2api-nodejs/issues/149",
        field="max_tokens",
    ),
    KnownError(
        "`temperature` may only be set to 1 when thinking is enabled",
        Stage.REQUEST,
        "With thinking the temperature cannot be chosen.",
        "Leave `temperature` out.",
        "https://github.com/MartialBE/one-hub/issues/529",
        field="temperature",
    ),
    KnownError(
        "text content blocks must contain non-whitespace text",
        Stage.REQUEST,
        "A text block somewhere in the messages is empty, or has nothing but blanks and line breaks.",
        "Drop blocks like that; a single blank is refused as well. Where a turn would then have no block, leave it out "
        "or write a word into it.",
        "https://github.com/NousResearch/hermes-agent/pull/63983",
        example="messages: text content blocks must contain non-whitespace text",
        field="messages",
        look=Look.EMPTY_TEXT,
    ),
    KnownError(
        "text content blocks must be non-empty",
        Stage.REQUEST,
        "A text block somewhere in the messages is empty.",
        "Drop empty blocks.",
        "https://github.com/anthropics/claude-code/issues/59812",
        example="messages: text content blocks must be non-empty",
        field="messages",
        look=Look.EMPTY_TEXT,
    ),
    KnownError(
        "This model does not support assistant message prefill.",
        Stage.REQUEST,
        "The conversation ends with an assistant message, which this model does not continue.",
        "End with a user message.",
        "https://github.com/agenticloops-ai/agentic-ai-engineering/issues/43",
        field="messages",
        look=Look.LAST_ROLE,
    ),
    KnownError(
        "prompt is too long: {tokens:int} tokens > {limit:int} maximum",
        Stage.REQUEST,
        "The prompt is longer than the model's window.",
        "Shorten the messages or the tools.",
        "https://docs.anthropic.com/en/api/errors",
        example="prompt is too long: 205000 tokens > 200000 maximum",
        field="messages",
        cause=Cause.CONTEXT,
    ),
    KnownError(
        "Your credit balance is too low to access",
        Stage.REQUEST,
        "The account has no credit left.",
        "Check the plan and billing of the account that the key belongs to: waiting does not help.",
        "https://docs.anthropic.com/en/api/errors",
        example="Your credit balance is too low to access the Anthropic API.",
        cause=Cause.QUOTA,
    ),
    KnownError(
        "The request body is not valid JSON: no low surrogate in string{where}",
        Stage.REQUEST,
        "The body that was sent contains half a character, such as an emoji that was cut in two when a text was "
        "shortened.",
        "Find the text that was shortened, at the character that the message names, and cut it between characters; a "
        "new session without that message works.",
        "https://github.com/anthropics/claude-code/issues/558",
        example="The request body is not valid JSON: no low surrogate in string: line 1 column 9 (char 8)",
    ),
    KnownError(
        "The request body is not valid JSON: unexpected control character in string{where}",
        Stage.REQUEST,
        "The body that was sent has a raw control character, such as a line break or the end of a terminal's colour, "
        "within a string, where JSON requires an escape (`\\n`, `\\u001b`).",
        "Have a JSON library write the body instead of joining texts. Where a program writes it, update the program "
        "and begin a new session without the text at that character: often pasted output of a terminal, or a setting "
        "(a header, a name) with a line break in it.",
        "https://github.com/anthropics/claude-code/issues/77525",
        example="The request body is not valid JSON: unexpected control character in string: line 1 column 9 (char 8)",
    ),
    KnownError(
        "The request body is not valid JSON: {why}",
        Stage.REQUEST,
        "The body that was sent cannot be decoded as JSON, so nothing else of the request was read.",
        "Look at the character that the message names: a body that was put together from texts lacks an escape, a "
        "quotation mark or a comma there; have a JSON library write it. An empty or cut body was lost on the way.",
        "https://github.com/anthropics/claude-code/issues/558",
        example="The request body is not valid JSON: unexpected end of data: line 1 column 9 (char 8)",
    ),
    KnownError(
        "messages.{index:int}: all messages must have non-empty content except for the optional final assistant",
        Stage.REQUEST,
        "A message of the history is empty: usually an answer that was stopped, or one that lost its thinking or its "
        "call, and was kept anyway.",
        "Leave that message out, or send its real content; then check that roles still alternate. In an agent, go "
        "back to before it or start a new session.",
        "https://github.com/anthropics/claude-code/issues/21392",
        example="messages.99: all messages must have non-empty content except for the optional final assistant message",
        field="messages[{index}].content",
        look=Look.EMPTY_TEXT,
    ),
    KnownError(
        "If an assistant message contains any thinking blocks, the first block must be",
        Stage.REQUEST,
        "An assistant message of the history has a thinking block that does not come first.",
        "Send the blocks of each message back in the order in which they came, thinking first; or switch thinking off.",
        "https://github.com/anthropics/claude-code/issues/20692",
        field="messages",
    ),
    KnownError(
        "`thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified",
        Stage.REQUEST,
        "The last assistant message has thinking blocks that differ from the ones that the model wrote: a client "
        "changed, merged, reordered or dropped some of them, or their signatures, or the answers of two turns were "
        "joined.",
        "Send the blocks of that message back exactly as they came, with their signatures and in their order, or "
        "leave out that whole turn; in an agent, go back to before it or start a new session.",
        "https://github.com/anthropics/claude-code/issues/63284",
        example="messages.3.content.8: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot "
        "be modified. These blocks must remain as they were in the original response.",
        field="messages",
    ),
    KnownError(
        "A maximum of {limit:int} blocks with cache_control may be provided. Found {found:int}",
        Stage.REQUEST,
        "The API caches a prompt at no more places than the message says, and the request marks more: each part of "
        "the system prompt, of a message or of a tool that has `cache_control` counts.",
        "Take `cache_control` off the older parts: one at the end of the system prompt, one at the end of the tools "
        "and one at the last message are enough. An agent or gateway that sets it must remove its earlier marks.",
        "https://github.com/aws-samples/demo_mcp_on_amazon_bedrock/issues/91",
        example="A maximum of 4 blocks with cache_control may be provided. Found 5.",
    ),
    KnownError(
        "custom.input_schema: Field required",
        Stage.REQUEST,
        "A tool came without the schema of its parameters: a gateway or client that converts tools from another API "
        "left it out, or wrote it under another name.",
        'Send each tool with `name` and `input_schema` (at least `{"type": "object"}`), or update what converts '
        "the tools (OpenAI's `function.parameters`, MCP's `inputSchema`).",
        "https://github.com/su-kaka/gcli2api/issues/388",
        example="tools.2.custom.input_schema: Field required",
        field="tools",
    ),
    KnownError(
        "not_found_error: model: {model:word}",
        Stage.REQUEST,
        "Anthropic's API has no model of that name, or the key's workspace may not use it; models are taken out of "
        "service, too.",
        "Set `model` to a name as Anthropic documents it, without the prefix of a gateway (`anthropic/…`, "
        "`us.anthropic.…`).",
        "https://github.com/anthropics/claude-code/issues/5349",
        example="not_found_error: model: claude-sonet-5",
        field="model",
        cause=Cause.MODEL_NAME,
    ),
    KnownError(
        'prompt must end with an "{gap}Assistant:" turn',
        Stage.REQUEST,
        "The request uses Anthropic's old API for plain completions (`prompt`), whose text has to end where the "
        "assistant is to go on.",
        "Let the client use the Messages API (`messages`), which newer models need anyway; if it is a completion of "
        "code, set the provider of completions to the server that you mean: the request went to Anthropic.",
        "https://github.com/sourcegraph/cody/issues/2956",
        example='prompt must end with an " Assistant:" turn',
        field="prompt",
    ),
)
