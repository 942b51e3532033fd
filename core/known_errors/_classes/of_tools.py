"""Classes of errors about the tools of the request, the choice among them, and the schemas of tools and answer."""

from __future__ import annotations

from prompt_debugger.core.base.types import Stage
from prompt_debugger.core.known_errors._classes.base import ErrorClass
from prompt_debugger.core.known_errors.base import Cause, Look

_SCHEMA_PLACE = (
    r"(?:function_?declarations?|response_?schema|responseschema|response_?format|input_?schema|json_?schema|"
    r"tools[.\[]\d+\]?|tools\.function|parameters|\bfunction\b|\btool\b)"
)

FIRST: tuple[ErrorClass, ...] = (
    ErrorClass(
        "schema-too-complex",
        r"\bcompiled grammar is too large\b|\btoo many (?:optional parameters|states for serving)\b"
        r"|\b(?:schema|grammar)\b[^:]{0,80}?\b(?:too (?:complex|large|deep)|(?:exceeds?"
        r"|exceeding) the maximum (?:allowed )?"
        r"(?:nesting )?(?:depth|complexity))\b|\bschema .{0,40}?nested too deep",
        Stage.REQUEST,
        Cause.REQUEST,
        "A schema of the request is too complex to be enforced",
        "The server turns the schemas of answer and tools into a grammar, and this one would have too many states: "
        "many optional fields, long lists or enums, deep nesting, or limits on numbers and texts.",
        "Make the schema smaller: fewer optional properties, shorter enums and names, no `minItems`, `maxLength` or "
        "`pattern`, less nesting. Mark only the tools as strict that need it, and check the other rules in the "
        "program.",
    ),
    ErrorClass(
        "tool-twice",
        r"\b(?:tool|function) names must be unique\b(?! across)|\bduplicate (?:tool|function) (?:name|declaration)s?"
        r"(?:\W{1,3}(?P<name>[\w.-]{1,80}))?",
        Stage.REQUEST,
        Cause.REQUEST,
        "Two tools of the request have the same name",
        "The name says which tool a call means, so each may be declared once; {name|one} is declared twice.",
        "Take one of the two out of `tools`, or rename it. Agents get them twice from two servers of MCP, from a "
        "built-in tool beside one from a configuration, or from a list that is extended on each turn.",
    ),
    ErrorClass(
        "tools-too-many",
        r"\btoo many (?:tools|functions)\b|\bmaximum of \d{1,5} (?:tools|functions)\b"
        r"|\b(?:at most|up to|more than) \d{1,5} (?:tools|functions)\b.{0,40}?(?:supported|allowed|per request)",
        Stage.REQUEST,
        Cause.REQUEST,
        "The request declares more tools than the API allows",
        "The API limits how many tools one request may declare, and the list is longer.",
        "Send the tools that this request needs: choose them by task, switch servers of MCP off that are not used, or "
        "let a search tool find the rest.",
    ),
    ErrorClass(
        "tool-of-other-api",
        r"\btools\W{1,2}\d{1,4}\W{1,4}input tag '(?P<name>[\w.-]{1,60})' found using",
        Stage.REQUEST,
        Cause.REQUEST,
        "A tool of the request is written for another API",
        "Its `type` is {name|one that this API does not know}: `function` is the form of chat completions and "
        "Responses, and names with a date belong to one vendor or release.",
        "Anthropic's Messages API takes a tool as `name`, `description` and `input_schema`, without `type` (or with "
        "`custom`); chat completions take `type: function` with a `function` in it. Let the client convert the tools, "
        "or leave out a built-in tool that this model does not have.",
    ),
    ErrorClass(
        "value-of-other-api",
        r"\A(?:\w{1,40}: )?(?P<path>[\w.\[\]]{1,160}?): input tag '(?P<name>[\w.-]{1,60})' found using",
        Stage.REQUEST,
        Cause.REQUEST,
        "A `type` in the request is not one that this API knows",
        "At {path|its place} the `type` is {name|one of another API}, where the message lists those that are expected.",
        "Send one of those that the message lists: OpenAI's `required` is `any` of the Messages API, `input_text` is "
        "`text`, `image_url` is `image` with a `source`. A gateway that converts between the two does not know this "
        "one yet.",
    ),
    ErrorClass(
        "schema-type-absent",
        r"\b(?P<place>[\w.\[\]]{0,200}schema\.properties[\w.\[\]]{1,200})\.type: must be specified\b",
        Stage.REQUEST,
        Cause.REQUEST,
        "A place of a schema has no `type`",
        "Gemini's schemas need a `type` at every place, and {place|one of them} has none: usually it is `anyOf`, a "
        "union or any value.",
        "Give that place one `type`: in place of a union, write one object whose fields are optional, with a field "
        "that says which case it is. In newer releases send the schema as `responseJsonSchema` or "
        "`parametersJsonSchema`, which accepts JSON Schema unchanged.",
    ),
    ErrorClass(
        "list-for-object",
        r"unknown name \W{1,3}(?!type\b)(?P<name>[\w$]{1,60})\W{1,3} at \W{1,2}"
        r"(?P<place>(?![\w.\[\]]{0,200}(?:schema|parameters|tools|declarations))[\w.\[\]]{1,200})\W{1,3} ?"
        r"proto field is not repeating, cannot start list",
        Stage.REQUEST,
        Cause.REQUEST,
        "A field of the request is a list where the API accepts one value",
        "At {place|its place}, {name|the field} arrived as a list, and the API expects an object or one value there.",
        "Send {name|it} as an object, or leave it out while it is empty. PHP writes an empty array as `[]`, also where "
        "an object is meant: a client in PHP has to leave it out, or to write `new stdClass()`.",
    ),
    ErrorClass(
        "schema-type-list",
        r"proto field is not repeating, cannot start list",
        Stage.REQUEST,
        Cause.REQUEST,
        "A schema gives a list where this API accepts one value",
        "Gemini's schemas accept one `type` for each place, and {field|a schema} gives a list, such as "
        '`["string", "null"]`.',
        "Write one type and `nullable: true`, or `anyOf` where the API accepts it; in newer releases send the schema "
        "as `parametersJsonSchema`, which accepts JSON Schema unchanged. Gateways and clients convert it in newer "
        "releases.",
    ),
    ErrorClass(
        "schema-enum-type",
        r"invalid value at .{0,300}?\.enum\[\d{1,5}\]|\Aenum values must be (?:of type )?strings?\b",
        Stage.REQUEST,
        Cause.REQUEST,
        "A schema has an `enum` of values that are not strings",
        "Gemini's schemas accept an `enum` of strings only, and {field|a schema} lists numbers or other values.",
        'Write the values as strings with `"type": "string"`, or leave the `enum` out and name the values in the '
        "description; in newer releases send the schema as `parametersJsonSchema`.",
    ),
)
"""What only one reading fits; tried before the words of engines."""

CLASSES: tuple[ErrorClass, ...] = (
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
        "schema-refused",
        rf"(?:`(?P<name>[\w.-]{{1,64}})` )?{_SCHEMA_PLACE}.{{0,160}}?(?:should be of type|must be of type"
        rf"|must have a? ?[`'\"]?type|missing field(?! `(?:name|function|type)`)|"
        r"should be non-empty|must be non-empty|only allowed for|schema.{0,60}?(?:invalid|not valid|unsupported"
        r"|not supported))"
        r"|invalid (?:json )?schema\b|(?:function|tool|input)_?\s?schema is invalid|(?:json ?schema"
        r"|schema)\b.{0,60}?(?:unsupported|not supported|unrecognized|"
        r"is invalid|not valid|conversion failed|must be|error)|unsupported[^{}]{0,40}?schema"
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
)
"""In this order: the first class whose words are found counts."""
