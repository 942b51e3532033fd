"""Classes of errors about the request: fields, values, roles, tools and their schemas."""

from __future__ import annotations

from prompt_debugger.core.base.types import Stage
from prompt_debugger.core.known_errors._classes.base import ErrorClass
from prompt_debugger.core.known_errors._classes.of_media import CLASSES as MEDIA
from prompt_debugger.core.known_errors.base import Cause, Look

_SCHEMA_PLACE = (
    r"(?:function_?declarations?|response_?schema|responseschema|response_?format|input_?schema|json_?schema|"
    r"tools[.\[]\d+\]?|tools\.function|parameters|\bfunction\b|\btool\b)"
)

CLASSES: tuple[ErrorClass, ...] = (
    ErrorClass(
        "value-not-listed",
        r"input should be '[^'\n]{1,60}'(?:, '[^'\n]{1,60}'){0,30} or '[^'\n]{1,60}',? field: "
        r"'(?P<path>[\w.\[\]]{2,160})'(?:, value: '(?P<value>[^'\n]{1,80})')?",
        Stage.REQUEST,
        Cause.REQUEST,
        "A field of the request has a value that is not one of those allowed",
        "{path|The field} has {value|a value} where only those that the message lists are allowed; faults that it "
        "names beside it at the same place follow from that.",
        "Send one of the values that the message lists. For the type of a tool: tools that a vendor runs itself "
        "(`web_search_…`) exist only there, so leave that tool out or declare a `function`.",
    ),
    ErrorClass(
        "no-response-format",
        r"\A(?:wrong_api_format: )?type: input should be 'text'\W{0,3}\Z",
        Stage.REQUEST,
        Cause.REQUEST,
        "The `response_format` has none of the forms that the API takes",
        "Of all its forms, the message names only the first, `text`; the one that was meant lacks something.",
        "Compare `response_format` with the form that its `type` needs: `json_schema` needs a `name` beside the "
        "`schema`.",
    ),
    ErrorClass(
        "null-for-list-in-messages",
        r"\A(?:\w{1,40}: )?'nonetype' object is not iterable(?:\W{0,3}\Z|\W{0,6}param)",
        Stage.REQUEST,
        Cause.REQUEST,
        "A message has `null` where the server expects a list",
        "The server's code failed on `messages`, which it names as the field: one of them has a list that is `null`, "
        "most often `tool_calls` of an assistant message.",
        "Leave `tool_calls` out of messages without calls, in place of `null`; the same for `content`, which should be "
        '`""` there.',
        around=r"[\"']param[\"']: ?[\"']messages[\"']",
        is_distinctive=False,
    ),
    ErrorClass(
        "constraint-of-body",
        r"violated json schema constraint \W?type\W{0,3} .{0,40}?field \W?(?P<path>[\w.\[\]]{2,120})",
        Stage.REQUEST,
        Cause.REQUEST,
        "A field of the request has a value of the wrong type",
        "The server checks the body of the request against its own schema, and {path|a field} is of another type "
        "than that, or `null`.",
        "Send {path|the field} with the type that the message names, or leave it out; a gateway that adds `null` for "
        "fields that were not set has to leave them out.",
    ),
    ErrorClass(
        "value-empty",
        r"\bvalue '' at '(?P<path>[\w.\[\]]{3,200})' failed to satisfy constraint",
        Stage.REQUEST,
        Cause.REQUEST,
        "A value of the request is empty, and must not be",
        "Bedrock got an empty text at {path|that place}; the other constraints that it lists there follow from that.",
        "Fill {path|the field} in: its numbers count from 1, and `member` stands for an entry of a list. An empty name "
        "or description of a tool often means that the client sent the tool in another form than the gateway reads "
        '(`{"type": "function", "function": {"name": NAME, …}}` in chat completions, the name beside `type` in '
        "Responses).",
    ),
    ErrorClass(
        "value-off-pattern",
        r"\bvalue(?: '[^']{0,200}')? at '(?P<path>[\w.\[\]]{3,200})' failed to satisfy constraint"
        r"[\W ]{0,4}member must satisfy regular expression",
        Stage.REQUEST,
        Cause.REQUEST,
        "A value of the request contains characters that are not allowed there",
        "Bedrock allows only the characters of the pattern that it names in {path|that field}; for the name of a tool "
        "these are letters, digits, `_` and `-`.",
        "Look at {path|the field}: a name in the history that the model made up, or one with a dot, a space or a "
        "slash. Rename it there, too, as each later request repeats it; its numbers count from 1, and `member` stands "
        "for an entry of a list.",
    ),
    ErrorClass(
        "schema-word-unknown",
        r"\bunrecognized schema: ?\{ ?['\"](?P<name>[\w$]{1,40})['\"]",
        Stage.REQUEST,
        Cause.REQUEST,
        "A schema uses a keyword that the server cannot enforce",
        "The server makes a grammar from the schemas of tools and answer, and cannot make one from "
        "{name|the part that it quotes}.",
        "Take {name|that keyword} out of the schema of the tool or of `response_format`, and say it in the "
        "description instead; tools of MCP servers come with such schemas, and llama.cpp (also within other programs) "
        "knows only a part of JSON Schema.",
    ),
    ErrorClass(
        "answer-refused-by-server",
        r"\bprocessing (?:the )?(?:chat )?completions? request: \d{1,3} validation errors? for "
        r"(?:Message|Choice|ChatCompletion|ChatCompletion\w{0,10}(?:Response|Choice|Chunk|Delta))\b"
        r"(?! ?(?:Request|Param))",
        Stage.COMPLETE,
        Cause.SERVER,
        "The server could not put the model's output into an answer",
        "The server built an answer whose fields are not of the types that its own class asks for: the output was "
        "there, and the server's code does not fit what its parser made of it.",
        "Update the server, or try it without its reasoning and tool parsers to see which of them returns something "
        "else than text; report the lines below the message, which name the field. The request needs no change.",
    ),
    ErrorClass(
        "half-character",
        r"unexpected end of hex escape|(?:lone|unpaired|invalid) (?:leading |trailing |high |low |unicode )*surrogate"
        r"|surrogates not allowed|no low surrogate|incomplete surrogate pair|invalid unicode code point",
        Stage.REQUEST,
        Cause.REQUEST,
        "A text of the request contains half of a character",
        "An emoji or another character outside the Basic Multilingual Plane was cut in half, for example by a length "
        "limit. What is left is an unpaired surrogate (`\\ud83d`), which strict decoders reject.",
        "Find it in {field|the text that the message names}, usually a tool's result that was cut, and cut by "
        "characters instead; before sending, `text.encode('utf-8', 'replace').decode()` in Python or `toWellFormed()` "
        "in JavaScript fixes it.",
    ),
    ErrorClass(
        "body-too-large",
        r"\b(?:body|payload|entity)(?: size)? (?:is )?(?:too (?:large|big)\b|exceeds? (?:the "
        r"|its )?(?:[\w-]{1,20} ){0,3}?"
        r"(?:limit|maximum|max|size)\b)|\brequest_too_large\b|\bentity\.too\.large\b"
        r"|\bexceeds the maximum (?:allowed )?(?:size|number of bytes)\b"
        r"|\b(?:message|request|body|payload) size \d{4,12} exceeds (?:the )?(?:limit|maximum)",
        Stage.REQUEST,
        Cause.REQUEST,
        "The body of the request has more bytes than the server accepts",
        "A limit of bytes, of the server or of a proxy before it, refused the body before any model saw it; the "
        "model's context, in tokens, is another limit.",
        "Send less: images and files as `data:` URLs are the largest part of most such bodies, tools' results and a "
        "long history of the others. Where the limit is yours, raise it: `client_max_body_size` of nginx, "
        "`max_request_bytes` of Envoy, `max_size` of Caddy's `request_body`, `limit` of Express's `express.json`.",
        unless=r"\btokens?\b",
    ),
    ErrorClass(
        "body-not-json",
        r"(?:pars|decod|deserializ)\w{1,4} (?:the )?(?:json )?(?:of the )?request(?: body)?\b.{0,30}?json"
        r"|(?:request )?(?:body|payload) (?:is |was )?not (?:a )?(?:valid|well-formed) json"
        r"|could not parse the json body|invalid json (?:in )?(?:the )?(?:request|body|payload)"
        r"|\bpars\w{1,4} request body: unexpected eof\b",
        Stage.REQUEST,
        Cause.REQUEST,
        "The body of the request is not JSON",
        "The server could not decode the body before it looked at any field: it was cut, written by hand, escaped "
        "wrongly by a shell, or contains a character that JSON does not allow.",
        "Write the body with a JSON library, send it from a file (`curl --data-binary @body.json`), and look at the "
        "place that the message names; `Content-Length` must count bytes.",
        unless=r"into the target type|missing field|unknown (?:variant|field|name)|invalid (?:type|value)"
        r"|cannot find field|proto field|json payload received",
    ),
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
        "roles-out-of-order",
        r"roles? must alternate|must alternate"
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
        "unknown-schema-keyword",
        r"unknown name [\\\"'`]{0,8}(?P<name>[\w$-]{1,60})[\\\"'`]{0,8} at [\\\"'`]{0,8}(?P<field>"
        r"[^'\" ]{0,300}?(?:function_declarations|response_schema|parameters|schema)[^'\" ]{0,200})",
        Stage.REQUEST,
        Cause.REQUEST,
        "A schema has a keyword that this API does not know",
        "The schema at {field|the place that is named} contains {name|a keyword}, which this API does not accept.",
        "Take {name|that keyword} out of the schema: insert what `$ref` and `$defs` point to, and leave out `title`, "
        "`default`, `examples`, `additionalProperties` and the like. Gateways do so in newer releases.",
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
        "schema-not-found",
        r"\bKeyError\b\W{0,4}schema\W{0,2}\Z",
        Stage.REQUEST,
        Cause.REQUEST,
        "The server did not find the schema of `response_format`",
        "It reads the schema at `response_format.json_schema.schema`, and nothing was there: the request has the "
        "schema in another place, or this release loses it.",
        "Send `response_format` with the type `json_schema`, and in its `json_schema` a `name` and the schema as "
        "`schema`; if it was sent so, update the server.",
        around=r"(?:site|dist)-packages/(?:lmdeploy|vllm|sglang|mlx_lm|mlx_vlm)/|\blmdeploy\b",
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
    ErrorClass(
        "schema-refused",
        rf"(?:`(?P<name>[\w.-]{{1,64}})` )?{_SCHEMA_PLACE}.{{0,160}}?(?:should be of type|must be of type"
        rf"|must have a? ?[`'\"]?type|missing field|"
        r"should be non-empty|must be non-empty|only allowed for|schema.{0,60}?(?:invalid|not valid|unsupported"
        r"|not supported))"
        r"|invalid (?:json )?schema\b|(?:function|tool|input)_?\s?schema is invalid|(?:json ?schema"
        r"|schema)\b.{0,60}?(?:unsupported|not supported|unrecognized|"
        r"is invalid|not valid|conversion failed|must be|error)|unsupported.{0,40}?schema"
        r"|properties\[(?P<field>[^\]]{1,80})\][^ ]{0,80}: missing field"
        r"|schema didn't specify the schema type|reference to undefined schema|moonshot flavored json schema"
        r"|\bobject fields require at least one of\b|'additionalproperties' must be (?:set to )?\W?false"
        r"|input_schema does not support (?:oneof|allof|anyof)|cannot handle union types",
        Stage.REQUEST,
        Cause.REQUEST,
        "A schema of the request is not accepted",
        "The JSON Schema of a tool, or of the answer, is not one that this server can use.",
        "Correct the schema of {name|the tool or format that is named}: `type: object` with `properties` at its root, "
        "`items` for every array, no reference that leads nowhere, no keyword that this server does not know.",
        unless=r"unexpected empty grammar|does not match|did not match"
        r"|json_schema\W{0,3}(?:is )?(?:not (?:supported|available)|unsupported)"
        r"|response_?format\W.{0,30}?(?:not (?:supported|available)|unsupported)"
        r"|(?:receive|read|parse) tool (?:input|arguments): missing field"
        r"|into the target type: (?:tools\[\d{1,6}\]|response_format): missing field",
    ),
    ErrorClass(
        "tool-type",
        r"'?type'? of tool must be '\w{1,40}'"
        r"|(?:unsupported|unknown|invalid) (?:\w{1,20} )?tool type\W{0,4}(?P<name>[\w.-]{1,60})?"
        r"|tool type\b.{0,40}?(?:not supported|unsupported|not allowed)"
        r"|unsupported (?:(?:custom|freeform|hosted|built-in) )?tools?\W{1,3}(?P<kind>[\w.-]{1,60})"
        r"|(?:hosted tools?|web_search|custom tool)\W.{0,60}?(?:not supported|unsupported)"
        r"|\btools\[\d{1,4}\]\.type\W{1,4}input should be 'function'",
        Stage.REQUEST,
        Cause.REQUEST,
        "A tool is of a type that this server does not have",
        "The server accepts tools of the type `function`, and some built-in ones; the request has another one.",
        "Leave {name|that tool} out (agents have a switch for built-in tools such as web search), or use a server that "
        "has it; types are renamed between releases, so update the client as well.",
    ),
    ErrorClass(
        "choice-without-tools",
        r"\btool_choice\b\W{1,3}(?:is |can |may )?(?:only )?(?:be )?(?:only )?(?:allowed|used|set|valid|specified"
        r"|requires?)\b"
        r"[\w ]{0,20}?(?:when|with|if|requires?|without|but no)\W{1,3}(?:an? |no |any )?\W?tools\b"
        r"|\btool[_ ]choice\b.{0,40}?\brequired\b.{0,6}?but no (?:function )?tools (?:are|were) (?:defined|provided)\b"
        r"|\bfunction calling config is set without function_declarations\b|\btool choice requires tools\b"
        r"|\btool_?choice\b.{0,20}? requires at least one (?:function )?tool\b",
        Stage.REQUEST,
        Cause.REQUEST,
        "The request has `tool_choice` and no `tools`",
        "A choice among tools was sent, and no tools to choose from.",
        "Leave `tool_choice` out where the request has no `tools`, or send the tools. Some clients write "
        '`tool_choice: "auto"` into every request: switch that off, or update the client.',
    ),
    ErrorClass(
        "tool-choice-undeclared",
        r"\btool[_ ]choice\b.{0,60}?'(?P<name>[\w.:-]{1,100})' (?:was |is )?not (?:found|declared) in (?:provided "
        r")?[`'\"]?tools\b"
        r"|\btool[_ ]choice references \W?(?P<referred>[\w.:-]{1,100})\W?,? but that tool is not available"
        r"|\btool with name '?(?P<called>[\w.:-]{1,100})'? (?:is )?not found in (?:the )?tools list"
        r"|\btool[_ ]choice\b.{0,200}?was specified, but the only provided tools\b"
        r"|\btool '(?P<tool>[\w.:-]{1,100})' (?:has not been passed|is not declared) in [`'\"]?tools\b"
        r"|\btool choice '(?P<choice>[\w.:-]{1,100})' is not in the tools list"
        r"|\btool_choice should match one of the function tools\b"
        r"|\btool choice requires the (?P<needed>[\w.:-]{1,100}) tool but no tools with this name",
        Stage.REQUEST,
        Cause.REQUEST,
        "The `tool_choice` names a tool that the request does not declare",
        "`tool_choice` asks for {name|a tool}, and `tools` contains none of that name.",
        "Name one of the declared tools, letter for letter, or declare {name|that tool} in `tools`.",
    ),
    ErrorClass(
        "tool-choice",
        r"tool[_ ]?choice\b.{0,120}?(?:must be|only|not (?:supported|allowed)|unsupported|invalid|does"
        r" not support|cannot)"
        r"|(?:does(?:n't| not) support|unsupported|invalid).{0,40}?tool_?choice(?P<rest>[\w.]{0,40})"
        r"|support the provided \W?tool_choice\b",
        Stage.REQUEST,
        Cause.REQUEST,
        "The server does not accept this `tool_choice`",
        "This model or server does not accept the choice that was sent: often it cannot force a call, or not while "
        "thinking.",
        'Send `tool_choice: "auto"`, or leave it out; to force a call, use a model and server that can, with thinking '
        "off.",
    ),
    ErrorClass(
        "tool-name",
        r"(?:tool|function)(?:\[\d+\])?\W{0,3}(?:function\W)?names?\b.{0,80}?(?:pattern|must (?:be|match"
        r"|start|contain)|invalid|unique|duplicate|alphanumeric|characters|too long|at most|reserved"
        r")|(?:duplicate|(?<!\ban )invalid) (?:tool|function) (?:name|declaration)",
        Stage.REQUEST,
        Cause.REQUEST,
        "A tool's name is not accepted",
        "Names of tools must be unique, and most servers accept only letters, digits, `_` and `-`, at most 64 "
        "characters.",
        "Rename the tool, and keep a map back to its own name.",
        look=Look.TOOL_NAMES,
    ),
    ErrorClass(
        "tool-call-id",
        r"tool[_ ]?(?:call|use)[_ ]?ids?\b.{0,100}?(?:length|alphanumeric|pattern|characters|duplicate"
        r"|unique|too long|invalid|must be)|(?:duplicate|invalid) tool[_ ]?(?:call|use)[_ ]?ids?",
        Stage.REQUEST,
        Cause.REQUEST,
        "The id of a call is not accepted",
        "The API checks the form of the ids that pair calls and results, and that each is used once.",
        "Send ids as this API made them; map ids of another API to a form that this one accepts, in both calls "
        "and results.",
    ),
    ErrorClass(
        "empty-list",
        r"\bempty [`'\"]?(?P<field>tool_calls|tools|messages|content|input)\b[^.]{0,40}?"
        r"(?:not (?:supported|allowed|permitted)|invalid)"
        r"|(?P<name>\b(?:messages|tools|tool_calls|contents|parts|input)\b[\w.\[\]]{0,60})[`'\"]? "
        r"(?:must not|cannot|can't|may not|should not) be (?:an )?empty (?:list|array)\b"
        r"|invalid '(?P<path>[\w.\[\]]{1,160})': empty array\b"
        r"|\[\] is too short - '(?P<short>[\w.]{1,160})'",
        Stage.REQUEST,
        Cause.REQUEST,
        "The request contains an empty list where this server accepts none",
        "A list without entries is not the same as a list that is left out: this server refuses {field|it}.",
        "Leave {field|the field} out where it would be empty (clients often write `tool_calls: []` into assistant "
        "messages without calls), or send at least one entry where the API requires it, as it does `messages`.",
    ),
    ErrorClass(
        "tools-not-supported",
        r"(?:does(?:n't| not)|cannot|not) support (?:the )?(?:tools?\b|function[ -]?call|native tool|tool"
        r"[ _]?(?:use|call))"
        r"|(?:tools?|tool[ _](?:use|calling|calls)|function[ _]?calling) (?:(?:is|are) (?:not "
        r"(?:supported|available|enabled)|unsupported|disabled)|not support\w{0,3}\b)"
        r"|`?tools`? (?:parameter )?(?:is )?not supported|support(?:ing|s)? tool use"
        r"|\btool calling\W? is not supported with this model|not supported for function calling"
        r"|'tool(?:-call)? messages' functionality not supported|only compatible with llms that support function",
        Stage.COMPLETE,
        Cause.SETTING,
        "This model or server does not support tools",
        "The request declares tools, and the model, its template or the provider that it goes to supports none.",
        "Use a model and a provider that list tools, or a server started with a tool parser; or send the request "
        "without `tools`.",
        unless=r"stream|\bempty\b",
    ),
    ErrorClass(
        "value-too-long",
        r"(?:string|array|value) (?:is )?too long\b|string_above_max|array_above_max"
        r"|maximum (?:string |array )?length \d{1,9}, but got|at most \d{1,6} (?:characters|items)\b",
        Stage.REQUEST,
        Cause.REQUEST,
        "A value in the request is longer than the API allows",
        "The text or list at {field|the place that is named} is longer than the limit that the message names; this "
        "limit belongs to that field, not to the model's context.",
        "Shorten {field|it}: an id or a name to the length that is allowed, a list of tools to those that this request "
        "needs.",
    ),
    *MEDIA,
    ErrorClass(
        "max-tokens-value",
        r"(?:max_(?:completion_|output_|new_)?tokens|maxoutputtokens|max tokens)\b.{0,80}?(?:too large"
        r"|must be|less than|greater|at most|at least|out of range|exceeds? (?:the )?(?:maximum|limit)"
        r"|invalid|should be|range of|supports at most)"
        r"|which is the maximum allowed number of output tokens|maximum value for \W?max_(?:completion_)?tokens\b"
        r"|maximum tokens you requested exceeds|\bmaxoutputtokens value of \d",
        Stage.REQUEST,
        Cause.REQUEST,
        "The value of `max_tokens` is not accepted",
        "The model allows fewer tokens of output than the request asks for, or requires a different number.",
        "Set it within the range that the message names; agents and gateways have it in the model's settings.",
        unless=r"maximum context length|context length|`inputs`|unsupported|not supported",
    ),
    ErrorClass(
        "exclusive",
        r"(?:cannot|can't|can not|must not) (?:specify|set|use|pass|provide|combine|have|contain|send)"
        r" both|mutually exclusive"
        r"|(?:cannot|can't|must not|may not) be (?:used|combined|set|specified|enabled|passed|provided"
        r"|present) (?:together|simultaneously|at the same time|with\b|when\b|if\b|alongside)"
        r"|(?:not compatible|incompatible) with\b(?! (?:your|this (?:approach|planner|version|release|platform))\b)"
        r"|only one of .{1,120}?(?:can|may|should|must|allowed)"
        r"|\bnot both\b|both .{1,60}? and .{1,60}? (?:cannot|are (?:set|specified))"
        r"|unsupported combination|is unsupported (?:with|when)"
        r"|\bcannot both be (?:specified|set|used|defined|provided)\b|\bplease use only one\b"
        r"|\b(?:cannot|can't) (?:be defined|be combined|be used|be set) (?:at the same time|in the same (?:request"
        r"|turn))\b"
        r"|\bcannot (?:set|specify|use) \W?\w{2,40}\W? (?:and use \w{2,40} at the same time"
        r"|if \w{2,40} (?:or \w{2,40} )?"
        r"(?:is|are) (?:specified|set|used))|\bnot supported (?:with json mode or tool|when using strict)\b"
        r"|\braw mode does not support\b|\b(?:and|with) (?:output|function) tools at the same time\b",
        Stage.REQUEST,
        Cause.REQUEST,
        "Two settings of the request exclude each other",
        "The server accepts only one of the two that its message names, not both.",
        "Send one of them and leave the other out; a client may add one by itself.",
        is_distinctive=False,
    ),
    ErrorClass(
        "response-format",
        r"(?:response_?format|json[_ ]?schema|json[_ ]mode|json_object|structured[_ ]outputs?|guided_"
        r"\w{1,20}|response ?mime ?type|text\.format)\b.{0,100}?(?:must be|should be|not (?:supported|"
        r"available|allowed|enabled)|unsupported|unavailable|is invalid|invalid|unknown|does not|removed"
        r")"
        r"|(?:does(?:n't| not) support|unsupported|unavailable|invalid).{0,30}?(?:response_?format|json"
        r"[_ ]?schema|json[_ ]mode|structured[_ ]outputs?|json_object|output[_ ]format)"
        r"|does not support json output\b",
        Stage.REQUEST,
        Cause.REQUEST,
        "The server does not support this response format",
        "The server or model does not offer structured output in the form that was asked for.",
        "Send the form that its message names: `json_schema` with a schema, `json_object`, or none at all; then ask "
        "for JSON in the prompt and check the answer. Frameworks let you choose the method for structured output.",
        unless=r"grammar stack|flavored json schema|if tools (?:or documents )?are specified|at the same time",
    ),
)
"""In this order: the first class whose words are found counts."""
