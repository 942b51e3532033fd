"""Classes of errors about the body of the request: its bytes, its values and their limits, and its settings."""

from __future__ import annotations

from prompt_debugger.core.base.types import Stage
from prompt_debugger.core.known_errors._classes.base import ErrorClass
from prompt_debugger.core.known_errors._classes.of_media import CLASSES as MEDIA
from prompt_debugger.core.known_errors.base import Cause

FIRST: tuple[ErrorClass, ...] = (
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
)
"""Tried before those of messages and tools."""

CLASSES: tuple[ErrorClass, ...] = (
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
        "text-too-long-to-read",
        r"string (?:value )?length \(\d{1,12}\) exceeds the maximum (?:length )?allowed",
        Stage.REQUEST,
        Cause.REQUEST,
        "One text in the request is longer than the server's reader of JSON takes",
        "The numbers are characters of a single text, not tokens: usually an image or a file in base64, or what a tool "
        "returned, which the history then sends with every request.",
        "Find it in the request, and send less: an image by its address or smaller, a result of a tool cut before it "
        "enters the history. An agent that holds it already needs a new conversation.",
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
        "max-tokens-negative",
        r"\bmax_(?:completion_|output_|new_)?tokens\b.{0,80}?(?:at least|greater than|positive|>=?)[^-\n]{0,60}-"
        r"(?![12]\b)(?P<missing>\d{1,7})\b",
        Stage.REQUEST,
        Cause.CONTEXT,
        "The prompt leaves no tokens for the answer",
        "The number for `max_tokens` is negative. That is seldom what was sent: a server or client that subtracts the "
        "tokens of the prompt from the context length gets it where the prompt alone is longer than the context.",
        "Shorten the messages or the tools, or start the server with a longer context (`--max-model-len` of vLLM). If "
        "the request itself sends a negative number, leave `max_tokens` out.",
    ),
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
        r"|\bnot both\b|\beither .{1,120}?; ?found both\b|both .{1,60}? and .{1,60}? (?:cannot|are (?:set|specified))"
        r"|unsupported combination|\binvalid combination of (?=\w{2,40} and \w)|is unsupported (?:with|when)"
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
        r"\w{1,20}|response ?mime ?type|text\.format)\b[^{}=]{0,100}?(?:must be|should be|not (?:supported|"
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
