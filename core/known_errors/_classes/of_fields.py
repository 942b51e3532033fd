"""Classes of errors about single fields: unknown ones, unsupported ones, and values of a wrong type or form."""

from __future__ import annotations

from prompt_debugger.core.base.types import Stage
from prompt_debugger.core.known_errors._classes.base import ErrorClass
from prompt_debugger.core.known_errors.base import Cause

CLASSES: tuple[ErrorClass, ...] = (
    ErrorClass(
        "functions-not-accepted",
        r"(?<![\w\].])(?:body\.)?(?P<path>functions|function_call)\W{1,4}extra inputs? (?:is|are) not permitted"
        r"|(?:unrecognized|unknown|unexpected) (?:request )?(?:arguments?|fields?|parameters?)"
        r"(?: supplied| provided| passed| found)?\W{1,6}(?P<name>functions|function_call)\b",
        Stage.REQUEST,
        Cause.REQUEST,
        "The request offers its functions in the old form, which is not accepted",
        "`functions` and `function_call` are the older form of `tools` and `tool_choice`; this server does not know "
        "{path|that field}.",
        'Send `tools` (each function as `{"type": "function", "function": {…}}`) and `tool_choice`, or update the '
        "client that writes the old form.",
    ),
    ErrorClass(
        "field-moved",
        r"(?:unsupported|unknown|unrecognized|deprecated) (?:request )?(?:parameter|field|argument|option)s?\W{1,4}"
        r"(?P<name>[\w.]{1,60})\W{1,4}[^\n]{0,100}?\b(?:has|have|was|is|been) (?:been )?(?:moved|renamed|replaced) "
        r"(?:to|by|with)\W{1,4}(?P<to>[\w.]{1,80}\w)",
        Stage.REQUEST,
        Cause.REQUEST,
        "The request has a field under a name that this API no longer reads",
        "This API reads {to|another field} in place of {name|that one}.",
        "Send {to|the field that the message names} in place of {name|the old one}. A client that writes the old name "
        "is set to another API (chat completions and Responses differ), or needs an update.",
    ),
    ErrorClass(
        "unknown-name-in-tools",
        r"unknown name \W{1,4}(?P<name>[\w$]{1,60})\W{1,4} at \W{1,2}(?P<place>(?:request\.)?tools\[\d{1,4}\])\W{1,3} ?"
        r"cannot find field",
        Stage.REQUEST,
        Cause.REQUEST,
        "A tool of the request is not written as this API wants it",
        "At {place|its place} the tool has {name|a key} where the API expects `functionDeclarations`: the tools "
        "arrived in another form.",
        "Let the client convert the tools: keys `lc`, `type` and `id` together are objects of LangChain that were "
        "serialized as they are, `type` with `function` is the form of chat completions. Give the framework the tools "
        "themselves (`bind_tools`), and keep its packages for core and vendor at releases that belong together.",
    ),
    ErrorClass(
        "newer-limit",
        r"\bmax_completion_tokens\W{1,4}extra inputs? (?:is|are) not permitted"
        r"|(?:unrecognized|unknown|unexpected) (?:request )?(?:arguments?|fields?|parameters?)"
        r"(?: supplied| provided| passed| found)?\W{1,6}(?P<path>max_completion_tokens)\b",
        Stage.REQUEST,
        Cause.REQUEST,
        "The server does not know `max_completion_tokens`",
        "Only newer servers read that name of the limit, and this one refuses fields that it does not know.",
        "Send `max_tokens` in its place (many clients have a switch for it), or update the server.",
    ),
    ErrorClass(
        "part-has-field",
        r"(?<![\w.])(?P<place>messages?\[\d{1,6}\]\.content\[\d{1,6}\]) has invalid fields?(?:\(s\))?: ?"
        r"(?P<name>(?:input_)?text|image_url|image|input_audio|audio_url|video_url|file|source)\b",
        Stage.REQUEST,
        Cause.REQUEST,
        "A part of a message has a field that its type does not have",
        "At {place|its place}, {name|the field} belongs to parts of another type; this server checks each part by its "
        "`type`.",
        "Leave {name|that field} out of that part: a part of type `text` has `text`, one of type `image_url` has "
        "`image_url`, and neither has the field of the other. A client or gateway that converts messages of another "
        "API usually writes it; update it.",
    ),
    ErrorClass(
        "unknown-field",
        r"(?P<path>[\w$.\[\]-]{1,160}): extra inputs? (?:is|are) not permitted"
        r"|validation errors? for [A-Z]\w{1,60} (?P<held>[\w$.-]{1,120}) extra inputs are not permitted"
        r"|extra (?:inputs?|fields?) (?:is|are)? ?not (?:permitted|allowed)|extra_forbidden"
        r"|(?:unrecognized|unknown|unexpected) (?:request )?(?:arguments?|fields?|parameters?|keys?|property"
        r"|properties|name)(?:\(s\))?(?: supplied| provided| passed| found)?(?: in (?:the )?(?:object|request|body)\b)?"
        r"(?<=[\w)])\W{0,20}(?P<name>[\w$.]{1,60})?"
        r"|additional (?:fields?|properties|keys?) .{0,40}?not (?:allowed|permitted)"
        r"|[\w.\[\]-]{1,160} has invalid fields?(?:\(s\))?: ?(?P<wrong>\w{1,60})"
        r"|property \W?(?P<prop>[\w.]{1,60})\W? is (?:unsupported|not allowed)"
        r"|\b(?:a?create|a?completion|chat|stream)\(\) got an unexpected keyword argument \W?(?P<keyword>\w{0,60})",
        Stage.REQUEST,
        Cause.REQUEST,
        "The request has a field that is not accepted",
        "The server checks the request strictly and does not know {field|that field}.",
        "Leave {field|the field that is named} out in every place. Where a client, framework or gateway "
        "adds it, switch that off there (LiteLLM: `drop_params: true`) or update it.",
        unless=r"\bunrecognized arguments: "  # of a command line
        r"|\b(?!(?:Async)?(?:Completions|Messages|Responses"
        r"|Client)\.)[A-Z]\w{1,60}\.\w{1,60}\(\) got an unexpected",
        each=r"\bunknown name \W{1,3}([\w$]{1,60})\W{1,3}(?: at |cannot find field)"
        r"|\b([\w$.\[\]-]{1,160}): extra inputs? (?:is|are) not permitted",
    ),
    ErrorClass(
        "unsupported-value",
        r"unsupported value: \W?(?P<path>[\w.\[\]]{1,120})\W{1,3}does not support \W?(?P<value>[\w.-]{1,60})"
        r"|does(?:n't| not) support (?:the )?(?P<name>\w{2,30})(?: (?:level|value|mode|type))? ['\"`]"
        r"(?P<asked>[\w.-]{1,60})['\"`]\W{1,3}(?:supported|valid|allowed) \w{3,10}(?: are| is)?:"
        r"|invalid (?P<only>temperature|top_p|n|presence_penalty|frequency_penalty): only [\d.]{1,8} is allowed"
        r"|\bthinking level [A-Z]{2,12} is not supported for this model",
        Stage.REQUEST,
        Cause.REQUEST,
        "The request has a value that this model does not accept",
        "The model knows {field|the field}, but not this value of it.",
        "Set {field|the field} to a value that this model takes, or leave it out; which ones, its message or the "
        "model's documentation says.",
        unless=r"\bmessages\[\d{1,6}\]\.role\b",
    ),
    ErrorClass(
        "role-not-of-model",
        r"unsupported value: \W?(?P<path>messages\[\d{1,6}\]\.role)\W{1,3}does not support \W?(?P<value>\w{1,20})",
        Stage.REQUEST,
        Cause.REQUEST,
        "The request has a role that this model does not accept",
        "The model takes no message with the role {value|that is named}.",
        "Give that text as a message with another role: `developer` in place of `system` or the reverse, or `user` "
        "where the model takes neither.",
    ),
    ErrorClass(
        "unsupported-field",
        r"(?:\W|^)(?:argument|parameter|field)s? not supported (?:on|by|for|with) this model: (?P<called>[\w.]{2,60})"
        r"|`(?P<path>[a-z]\w{1,40}(?:\.\w{1,40}){1,6})` is not supported for this model\b"
        r"|unsupported (?:parameter|field|argument|option|value|request)(?:\(s\)|s\b)?\W{0,4}(?P<name>[\w.]{1,60})?"
        r"|(?:parameter|field|argument|option|value)s?\b.{0,60}?(?:is |are )?not (?:supported|allowed|"
        r"permitted|available|enabled)"
        r"|(?<![\w.])(?P<texts>[a-z]\w{1,40}) is not supported by Responses\b"
        r"|(?:\W|^)(?:(?:thinking|reasoning|token|tool) \w{2,40}|(?P<param>(?!(?:is|are)\b)\w{2,40}))\W{1,3}(?:is "
        r"|are )?"
        r"(?:not supported|unsupported|deprecated|not available) (?:with|by|for|in|on) (?:this|the|your) "
        r"(?:model|api|provider|endpoint)"
        r"|(?:this|the|your) model (?:does(?:n't| not)|do not) (?:support|accept) (?:setting |the )?.{0,10}?"
        r"(?P<feature>[\w.]{2,60})"
        r"|does(?:n't| not) support (?:the |setting )?\W?(?P<other>[\w.]{2,60})\W? (?:parameter|field|"
        r"argument|option)|does(?:n't| not) support parameter (?P<argument>\w{2,60})"
        r"|(?:penalty|thinking level) is not (?:enabled|supported) for|remove (?P<removed>[\w.]{2,80}) and try again",
        Stage.REQUEST,
        Cause.REQUEST,
        "The request has a setting that this model or server does not accept",
        "The field is known, but not for this model, or not with this value.",
        "Leave {field|the setting that is named} out, or use a model that accepts it; a client may send it on its own.",
        unless=r"\bargument -{1,2}\w"  # of a command line
        r"|\bignor(?:es|ed|ing) (?:the |an? )?(?:un\w{4,12} )?(?:parameter|field|argument|option)",  # and answers
    ),
    ErrorClass(
        "needs-another-field",
        r"\b(?P<name>[a-z][\w.]{1,60})\W{0,2}(?: (?:parameter|field|option))? (?:is|are) only "
        r"(?:allowed|valid|supported) (?:when|if|together with|with) (?:the )?"
        r"[`'\"]?(?P<other>(?!use\b)[a-z]\w{1,60})[`'\"]? (?:is|are) "
        r"(?:enabled|specified|set|present|true)\b"
        r"|\bwhen using [`'\"](?P<used>[a-z]\w{1,60})[`'\"], [`'\"](?P<also>[a-z]\w{1,60})[`'\"] must be "
        r"(?:set|true|specified|provided|enabled)\b"
        r"|(?<![\w-])(?P<set>[a-z]\w{1,60})=\w{1,20} requires (?P<with>[a-z]\w{1,60})=\w"
        r"|(?<![\w-])[`'\"]?(?P<only>[a-z]\w{1,60})[`'\"]? can only be (?:used|set|defined|specified) (?:when|if|with) "
        r"[`'\"]?(?P<where>[a-z]\w{1,60})\b[`'\"]? ?(?:=|is (?:set|true|enabled))",
        Stage.REQUEST,
        Cause.REQUEST,
        "The request has a field that needs another one",
        "{name|A field} means something only together with {other|another one}, which the request does not set.",
        "Set {other|the other field} as well, or leave {name|this one} out; a client may send it on its own.",
    ),
    ErrorClass(
        "number-out-of-range",
        r"(?:integer|decimal|number) (?:above max|below min)imum value\b|(?:integer|decimal)_(?:above_max|below_min)"
        r"|\b(?P<name>[a-z]\w{1,40})(?: parameter)? (?:should be in [\[(]-?\d|must be between -?\d"
        r"|must be a positive integer"
        r" and not greater than)|\A(?:\w{1,40}: )?(?P<path>[a-z]\w{1,40}): range: "
        r"|\bvalidation error: range\b",
        Stage.REQUEST,
        Cause.REQUEST,
        "A number in the request is outside the range that the server allows",
        "The server checks {field|the field that is named} against a smallest and a largest value.",
        "Set {field|it} within the limits that the message names, or leave it out for the server's own default.",
    ),
)
"""In this order: the first class whose words are found counts."""

LOOSE: tuple[ErrorClass, ...] = (
    ErrorClass(
        "wrong-type",
        r"invalid type\b|\(?expected type \w{1,20}|input should be (?!greater|less|at (?:least|most))(?:a )?"
        r"(?:valid )?\w{1,20}"
        r"|is not of type"
        r"|must be (?:a |an )?(?:string|array|list|object|dict\w*|integer|number|boolean|int|bool)\b"
        r"|expected (?:a |an |one of (?:a |an )?)?(?:string|array|list|object|map|integer|number|boolean"
        r"|sequence)\b|cannot unmarshal"
        r"|is not (?:a valid )?(?:string|array|list|object|integer|number|boolean)\b|wrong type"
        r"|expected '(?P<name>\w{1,40})' to be an? (?:string|array|object)|\binvalid message (?:content type|format)\b"
        r"|\boption \W?(?P<option>\w{1,40})\W? must be (?:of (?:type )?)?(?:an? )?(?:array|boolean|float32|integer"
        r"|string)"
        r"|type mismatch",
        Stage.REQUEST,
        Cause.REQUEST,
        "A field of the request has a value of the wrong type",
        "The API expects another type of value at that place.",
        "Send {field|the field that is named} in the type that the message asks for; leave an absent text out, or send "
        'it as `""`.',
        is_distinctive=False,
    ),
    ErrorClass(
        "key-store",
        r"\b(?:macos |login |system )?keychain\b|\bseckeychain\w{0,40}|\bsecret service\b|\blibsecret\b"
        r"|\bcredential (?:manager|store|helper)\b|\bkeyring(?:error)?\b",
        Stage.REQUEST,
        Cause.CLIENT,
        "The program could not use the system's key store",
        "The program keeps its key or its login in the system's store (Keychain, Secret Service, Credential Manager), "
        "and the store did not let it. No server was asked, so none refused a request.",
        "Unlock the store (on macOS `security unlock-keychain`; over SSH it is locked), or give the program its key in "
        "the environment.",
        is_distinctive=False,
    ),
    ErrorClass(
        "missing-header",
        r"(?:missing|lacks?|without|requires?) (?:the |a |an )?(?:required )?(?:http |request )?headers?(?:: ?| ['\"`])"
        r"(?P<name>[a-z][\w-]{2,40})|(?P<header>(?:x|anthropic|openai)-[a-z][\w-]{1,40})\W{0,3} (?:header is required|"
        r"header (?:is )?missing|is a required header)|request is missing (?:the )?(?P<absent>x-[a-z][\w-]{1,40})"
        r"|(?P<named>[a-z]{2,20}-[a-z][\w-]{1,40}): header is required",
        Stage.REQUEST,
        Cause.CLIENT,
        "A header that the API requires was not sent",
        "The API reads {name|a header} from every request; the program that sent this one did not set it, or a proxy "
        "removed it. Messages and tools have no part in it.",
        "Let the client set {name|that header} (most have a setting for extra headers), update it, or use one that is "
        "made for this API.",
    ),
    ErrorClass(
        "argument-of-method",
        r"\(parameter '(?P<name>[a-z_]\w{0,60})'\)|\.(?: |\\r|\\n|\n){1,3}parameter name: (?P<older>[a-z_]\w{0,60})",
        Stage.COMPLETE,
        Cause.CLIENT,
        "A method of the program does not accept what it was passed",
        "In .NET, {name|the name in brackets} is an argument of a method of the program or of a library, not a field "
        "of the request.",
        "Read the stack from the top: the first of your methods shows what was passed. If those above it read an "
        "answer or a stream, update the client's library, and ask once without streaming; if they build the client or "
        "the request, give the argument a value that the method takes.",
        is_distinctive=False,
    ),
    ErrorClass(
        "missing-field",
        r"\bmust (?:provide|specify|include|send) an? (?P<lacking>[a-z]\w{1,40}) (?:parameter|field|argument)\b"
        r"|(?:missing|lacks?) (?:the |a |an )?(?:required )?(?:field|parameter|argument|property|key|value"
        r")s?\b|missing [`'\"][\w.]{1,60}[`'\"] (?:field|parameter|argument|property|key)\b|field required|is (?:a "
        r")?required(?: field)?\b"
        r"|required (?:field|parameter|property)"
        r"|must (?:be )?(?:provided?|defined|specified|present|non-?empty|have|include)\b"
        r"|(?:cannot|must not|can't|may not|should not) be (?:empty|blank|null|none|undefined)"
        r"|is (?:empty|mandatory)\b(?! by default)|\bmissing required '(?P<name>\w{1,40})' field\b"
        r"|\bmissing tool (?:name|call type|function)\b"
        r"|\bcontents is not specified\b",
        Stage.REQUEST,
        Cause.REQUEST,
        "Something that the request must contain is missing or empty",
        "The API requires a field that is absent, empty or null.",
        "Send {field|what the message names} with a value, or leave out what needs it.",
        is_distinctive=False,
        # of a call, where an API names `body`; of an answer, as somebody describes it
        unless=r"(?<![\w\]/] )must have required property|\ball (?:the )?required (?:fields?|parameters?|propert)"
        r"|\b(?:found multiple|more than one|too many|at most one|duplicate)\b"  # not absent, but there too often
        r"|\bcontent[`'\"]? is (?:empty|null)\b.{0,160}?\b(?:reasoning|response|answer|output)\b"
        r"|\b(?:model|answer(?:s|ed)?|return(?:s|ed)?|repl(?:y|ies|ied)|content)\b.{0,300}?"
        r"\btool_calls\b[`'\"]? (?:is|was|are|were|comes?|stays?|remains?) (?:\w{1,9} )?(?:empty|missing|null)",
    ),
    ErrorClass(
        "nothing-named",
        r"\A(?:\w{1,40}: )?(?:\d{1,6}: )?(?:input validation error|invalid_request_error"
        r"|(?:the )?(?:request|parameters?) (?:is|are) (?:not valid|invalid|illegal)(?:\. please check(?: again| it)?)?"
        r"|invalid (?:request )?parameters?|bad request parameters?|invalid request(?: error)?(?: trace_?id: \w{1,80})?"
        r"|(?:one or more|some) (?:of the )?parameters (?:specified )?(?:in the request )?are (?:not valid|invalid)"
        r"(?:\. request id: \w{1,80})?)[\s.!]{0,3}\Z",
        Stage.REQUEST,
        Cause.REQUEST,
        "The API refused the request without naming what is wrong with it",
        "Its answer names no field and no value.",
        "Paste the request to have it checked. Otherwise take things out until it is accepted: fields that other "
        "vendors have, `response_format`, tools, images, then older messages. Check that the model is one for chat: "
        "one for embeddings or images may refuse messages in these words.",
        is_distinctive=False,
    ),
    ErrorClass(
        "part-of-no-form",
        r"(?P<path>\w[\w.\[\]]{1,120}): data did not match any variant of untagged enum",
        Stage.REQUEST,
        Cause.REQUEST,
        "A part of the request has a form that the server does not know",
        "A server written in Rust tries each form that {field|the place it names} may have, and none fits: a role, a "
        "type of content or a field that it does not know, or one that is missing or null. It does not say which.",
        "Compare {field|that place} with the API's documentation: the usual reasons are `content` as a list of parts "
        "or `null` where a text is expected, a tool's result without `tool_call_id`, and a role such as `developer`. "
        "Paste the request to have it checked.",
        is_distinctive=False,
    ),
    ErrorClass(
        "invalid-value",
        r"supported values|invalid value|is not one of|not (?:a )?valid|are not valid"
        r"|invalid (?:parameter|argument|request|input|params|format|option)|out of range"
        r"|is (?:illegal|invalid)"
        r"|\b(?P<path>messages|tools|prompt|input|stop)\W{0,2} (?:in (?:the )?request )?are illegal"
        r"|must be (?:one of|either|>|<|less|greater|at (?:most|least)|between|'|\"|`)"
        r"|must be in (?:(?:the |a )?(?:range|format|form|set|list)|[\[(\d])"
        r"|unknown variant|should be (?:one of|either|less|greater|>|<)|not acceptable|not allowed"
        r"|malformed|reserved (?:keyword|word|name)|(?:may|must|can) ?not (?:be used in|contain)|must contain"
        r"|invalid_(?:request|argument|parameter)|failed to deserialize",
        Stage.REQUEST,
        Cause.REQUEST,
        "A value in the request is not accepted",
        "The API does not accept the value that was sent at that place.",
        "Change {field|what the message names} to a value that the API accepts: its message, or its documentation "
        "for this model, lists them; values come and go with releases, so update the client as well.",
        is_distinctive=False,
    ),
)
"""Words that programs of any kind use: tried last."""
