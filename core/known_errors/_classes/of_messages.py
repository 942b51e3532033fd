"""Classes of errors about the messages of the request: their roles and order, what they must contain, thinking."""

from __future__ import annotations

from prompt_debugger.core.base.types import Stage
from prompt_debugger.core.known_errors._classes.base import ErrorClass
from prompt_debugger.core.known_errors.base import Cause, Look

CLASSES: tuple[ErrorClass, ...] = (
    ErrorClass(
        "role-unknown",
        r"\brole\W{0,4}(?:[^.]{0,30}?)unknown variant \W?(?P<name>\w{1,40})|unknown variant \W?(?P<role>developer)\b"
        r"|(?:unexpected|unknown|invalid|unsupported) (?:message )?role\W{1,4}(?P<called>developer|latest_reminder"
        r"|function|model|human|ai|bot|thinking|reasoning|ipython|observation|tool_result|tool_response)\b"
        r"(?!\W{1,4}after)"
        r"|\b(?:unknown|unrecogni[sz]ed|invalid|unsupported) (?:message )?role\W{0,2}: ?\W?(?P<other>[\w-]{1,40})"
        r"\W{0,3}\Z",
        Stage.REQUEST,
        Cause.REQUEST,
        "A message has a role that this API does not know",
        "The role {name|that was sent} is not one of those that this API or template accepts.",
        "Send `developer` as `system`, `human` as `user`, `ai`, `bot` and `model` as `assistant`, `function` as "
        "`tool` with `tool_call_id`, and the text of `thinking` or `reasoning` in a field of the assistant message "
        "(`reasoning_content`, `thinking`) or not at all. A client that writes one of these on its own usually has a "
        "setting for it.",
    ),
    ErrorClass(
        "item-type",
        r"(?:unsupported|unknown|invalid|unexpected) (?:responses api )?input item types?\W{0,4}(?P<name>\w{1,60})?"
        r"|input item type\W{0,4}(?P<type>\w{1,60})?\W{0,4}(?:is )?(?:not supported|unsupported|unknown)",
        Stage.REQUEST,
        Cause.REQUEST,
        "The input contains an item of a type that this server or gateway does not know",
        "`input` of the Responses API is a list of items of many types, and {name|one of them} is not supported "
        "here; clients send new types before gateways know them.",
        "Update the gateway, or have the client leave {name|that item} out (a built-in tool or feature that is "
        "switched off, an older release of the client, or chat completions in place of Responses).",
    ),
    ErrorClass(
        "assistant-empty",
        r"(?:content|tool_calls)\b.{0,30}?\bor\b.{0,12}?(?:content|tool_calls|function_call)\b.{0,20}?"
        r"(?:must|should|needs?|required|has to)|(?:must|should) (?:have|contain|include) (?:either )?.{0,12}?"
        r"(?:content|tool_calls)\b.{0,12}?\bor\b|neither content nor tool_?calls"
        r"|(?:assistant|model) message.{0,40}?(?:must not be empty|cannot be empty|is empty|has no content)",
        Stage.REQUEST,
        Cause.REQUEST,
        "An assistant message of the history is empty",
        "An assistant message must have text or calls, and one has neither: an answer that was only reasoning, was "
        "stopped, or whose calls were dropped in transit, was kept in the history.",
        "Leave that message out, or send what it really contained: its calls (with their results after it), or a text. "
        "Gateways that convert between APIs lose calls or reasoning here: try without them.",
        look=Look.CONTENT_ABSENT,
    ),
    ErrorClass(
        "json-not-mentioned",
        r"must contain the word .{0,4}json\b|the word .{0,4}json.{0,4} (?:must|has to|should) (?:be|appear)",
        Stage.REQUEST,
        Cause.REQUEST,
        "JSON was requested, but no message mentions it",
        "With the format `json_object` this API requires the word *JSON* in a message, so that the model knows what "
        "to write.",
        "Say in the system message, or in the last one of the user, that the answer must be JSON, and with which "
        "keys; or send `json_schema` with a schema.",
        look=Look.NO_MENTION_OF_JSON,
    ),
    ErrorClass(
        "reasoning-not-sent-back",
        r"(?:reasoning_content|reasoning content|thinking block|`?thinking`? or `?redacted_thinking|thought"
        r"_?signature).{0,120}?(?:missing|must be (?:passed|sent|preserved|provided|included)|passed"
        r" back|required)"
        r"|(?:missing|must (?:include|contain)).{0,40}(?:reasoning_content|thought_?signature)",
        Stage.REQUEST,
        Cause.REQUEST,
        "A message was sent back without its reasoning",
        "With thinking on, this API requires the assistant messages of the history to keep their reasoning.",
        "Keep what came with the answer (`reasoning_content`, thinking blocks, signatures) and send it back unchanged "
        "with that message; or switch thinking off.",
        look=Look.REASONING_ABSENT,
    ),
    ErrorClass(
        "always-thinks",
        r"\b(?:reasoning|thinking)\b (?:mode )?(?:is mandatory|is always (?:on|enabled))"
        r"|\b(?:reasoning|thinking)\b (?:mode )?(?:can't|cannot|can not|may not|must not) be (?:disabled|turned off"
        r"|switched off)\b"
        r"|(?:can't|cannot|can not|unable to|does(?:n't| not) support) (?:disabl|turn|switch)\w{0,3} (?:off )?"
        r"(?:reasoning|thinking)\b|\bmodel only works in thinking mode\b"
        r"|\benable_thinking\W{0,2} parameter is restricted to true\b",
        Stage.REQUEST,
        Cause.REQUEST,
        "This model does not answer without thinking",
        "The request switches thinking off, or gives it a budget that counts as that; this model, or its provider, "
        "always thinks.",
        "Leave out what switches it off or limits it (`reasoning.enabled: false`, `reasoning_effort: none`, `thinking` "
        "of type `disabled`, `enable_thinking: false`, `thinking_budget`); clients have a setting for it. Or choose a "
        "model that can answer without thinking.",
    ),
    ErrorClass(
        "stream-wanted",
        r"thinking.{0,120}?(?:non-?stream|stream\s?=\s?f|streaming calls|非流式)|only supports? (?:the )?stream"
        r"|please enable the stream|(?:must|need to) (?:have|use|enable|set) (?:the )?stream(?:ing)?\b(?! options)"
        r"|streaming is (?:strongly )?(?:required|recommended)",
        Stage.REQUEST,
        Cause.REQUEST,
        "The server does this only in a stream",
        "The model, or its thinking, is served only as a stream, and the request asked for one answer.",
        "Send `stream: true`; or, where thinking is the reason, switch it off for this call (`enable_thinking: false` "
        "in the body, `extra_body` of the OpenAI client).",
    ),
    ErrorClass(
        "calls-without-tools",
        r"(?:toolconfig|`?tools`?=?)\b.{0,60}?(?:must be (?:defined|provided|set|specified)|required|expected)"
        r".{0,80}?(?:tool_?use|tool_?result|tool_?calls?|tool blocks|tool calling)"
        r"|without specifying `?tools|\btool_(?:use|result)\W{0,2} (?:blocks )?must define tools\b",
        Stage.REQUEST,
        Cause.REQUEST,
        "The history contains calls, but the request declares no tools",
        "The messages contain calls or their results; this API then requires the tools in the same request.",
        "Send `tools` (Bedrock: `toolConfig`) with every request whose messages contain calls or results, even if no "
        "further call is wanted, as in a summary; or write those messages as plain text.",
    ),
    ErrorClass(
        "calls-without-results",
        r"(?:tool_?calls?|tool_?use|function calls?)\b.{0,100}?(?:must be followed|did not have (?:a )"
        r"?(?:response|result)|without (?:a |matching )?.{0,20}?(?:results?|responses?|outputs?))"
        r"|no (?:tool )?(?:outputs?|results?|responses?) (?:was |were )?found for (?:tool|function)"
        r"|(?:insufficient|missing) tool (?:messages|results?|outputs?)"
        r"|(?:expected|missing) toolresult|did not find \d{1,4} \W?tool_result\W{0,2} block"
        r"|must have a corresponding \W?tool_result|tool results? (?:is|are) missing for tool calls?\b",
        Stage.REQUEST,
        Cause.REQUEST,
        "A call in the history has no result",
        "Each call of an assistant message must be answered by a result with its id right after it.",
        "Send a result for every call, also for one that failed or was stopped; when history is cut, cut calls and "
        "results together.",
        look=Look.OPEN_CALLS,
    ),
    ErrorClass(
        "results-without-call",
        r"(?:tool_?results?|toolresult|role\W{1,4}tool\b|tool (?:messages?|results?|responses?)|function"
        r"_call_output|function response)\b.{0,100}?(?:must (?:be a response|follow|be preceded)|unexpected"
        r"|no (?:matching |tool |function )*call|without (?:a )?(?:matching|corresponding|preceding"
        r")|exceeds the number of tool_?use|does not match)|no tool call found",
        Stage.REQUEST,
        Cause.REQUEST,
        "A result in the history has no call",
        "A tool's result must follow the assistant message that made the call, with the same id.",
        "Send the message with the call right before its results; when history is cut, cut calls and results together.",
        look=Look.ORPHAN_RESULTS,
    ),
    ErrorClass(
        "system-not-taken",
        r"system (?:messages?|role|prompts?|instructions?).{0,30}?(?:not (?:allowed|supported|enabled|"
        r"permitted)|unsupported)"
        r"|(?:does not|doesn't|not) support (?:a |the )?(?:system|developer) (?:message|role|prompt|instruction"
        r")|developer instruction is not enabled|cannot contain system messages",
        Stage.REQUEST,
        Cause.REQUEST,
        "System messages are not accepted here",
        "This model or API accepts no message with the role `system` in the list of messages.",
        "Put its text where the API expects it: `instructions` (Responses), `system` (Messages), `system_instruction` "
        "(Gemini); or at the beginning of the first user message.",
    ),
    ErrorClass(
        "role-not-known",
        r"\brole\W{1,4}(?P<name>\w{1,20})\W{0,3} (?:is )?not (?:supported|allowed|known|recogni[sz]ed)\b"
        r"|\b(?P<role>developer|tool|function|ipython|system)\W{0,3} is not one of \[[^\]]{0,120}\].{0,40}?\brole\b",
        Stage.REQUEST,
        Cause.REQUEST,
        "The server does not know the role of a message",
        "A message has the role {name|that the message names}, and this server accepts other ones only.",
        "Send instructions as `system` in place of `developer` (clients have a switch or a map of roles for servers "
        "other than OpenAI's), and tool results in the form that this server knows.",
    ),
    ErrorClass(
        "content-not-text",
        r"\binvalid \W?content\W? type\W{1,3}expected (?:one of: )?\W{0,3}str(?:ing)?\b"
        r"|\bmessages? content must be (?:a )?(?:string|str|text)\b"
        r"|\bexpects a single \W?text\W? element per message\b",
        Stage.REQUEST,
        Cause.REQUEST,
        "The content of a message is not a text",
        "This server accepts `content` as one string only; the request sends a list of parts, or `null`.",
        "Send `content` as one string: join the texts of its parts, leave out images, and write an absent text as "
        '`""`. Many clients and gateways have a setting that joins the parts.',
        look=Look.CONTENT_ABSENT,
        unless=r"\b(?:model|answer|response|reply|repl(?:y|ies|ied)|returned)\b.{0,80}?\bcontent must\b",
    ),
    ErrorClass(
        "roles-out-of-order",
        r"roles? must alternate|must alternate"
        r"|\b(?:user and assistant|assistant and user) (?:roles|messages|turns) should (?:be )?alternat(?:e|ing)\b"
        r"|(?:first|last) (?:message|turn|content|role)\b.{0,60}?\b(?:must|should|role|be|has to)"
        r"|conversation must (?:start|end|begin)|system (?:messages?|role).{0,30}?must (?:be|come)"
        r"|after the optional system"
        r"|(?:unexpected|invalid|unknown|unsupported|bad) (?:message )?role\b"
        r"|role\W{1,4}\w{1,20}\W{1,4}(?:is )?(?:not (?:supported|allowed)|invalid)"
        r"|(?:consecutive|successive|multiple)(?: non-consecutive| and not continuous)? (?:user(?: or assistant)?"
        r"|assistant"
        r"|system) messages?|assistant message prefill|requests? (?:must )?(?:alternate|end with a user)\b"
        r"|must (?:end with a user|contain alternating roles)\b"
        r"|system messages? (?:is|are) only (?:permitted|allowed|supported) (?:as|at) the (?:first|beginning)"
        r"|use a valid role|no user (?:query|message) found",
        Stage.REQUEST,
        Cause.REQUEST,
        "The roles of the messages, or their order, are not accepted",
        "This API, or the model's template, accepts messages only in a certain order.",
        "Send at most one system message, first; then alternate user and assistant, with consecutive messages "
        "of one role joined, and end with a message from the user or a tool.",
        look=Look.ROLES_ALTERNATE,
    ),
    ErrorClass(
        "history-not-decoded",
        r"\bexpecting value: line \d|\bexpecting (?:',' delimiter|':' delimiter|property name)|\bextra data: line \d"
        r"|\bunterminated string starting at: line \d|\binvalid control character at: line \d",
        Stage.RENDER,
        Cause.REQUEST,
        "The server could not decode a JSON text in the messages",
        "It failed before the model ran, while it made the prompt: servers decode the `arguments` of the calls in the "
        "history, and those of one call are not JSON, or empty.",
        "Look at `tool_calls` of the assistant messages: `arguments` must be a string with a whole JSON object, at "
        "least an empty one. Calls that broke off, or whose pieces were not joined, must not go into the history as "
        "they are; newer releases of servers accept an empty string.",
        around=r"error in preprocessing promp|_preprocess_chat|parse_chat_messages|_postprocess_messages",
        look=Look.BROKEN_ARGUMENTS,
    ),
    ErrorClass(
        "content-key-absent",
        r"\bKeyError\b\W{0,4}content\W{0,2}\Z",
        Stage.RENDER,
        Cause.REQUEST,
        "A message has no `content`",
        "The server reads `content` of every message, and one has no such key: usually an assistant message that only "
        "makes calls, from which a client left it out.",
        'Send `"content": ""` with each message that has no text, also beside `tool_calls`; newer releases of servers '
        "do not need it.",
        around=r"(?:site|dist)-packages/(?:lmdeploy|vllm|sglang|mlx_lm|mlx_vlm|transformers)/",
        look=Look.CONTENT_KEY_ABSENT,
    ),
)
"""In this order: the first class whose words are found counts."""
