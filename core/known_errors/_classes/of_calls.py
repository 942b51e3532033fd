"""Classes of errors of programs that run calls: one without a name, an id or its arguments, or in its own form."""

from __future__ import annotations

from prompt_debugger.core.base.types import Stage
from prompt_debugger.core.known_errors._classes.base import IN_PARSER, ErrorClass
from prompt_debugger.core.known_errors.base import Cause, Look

_IS_EMPTY = r"['\"`]?:? (?:(?:cannot|can't|must not|may not) be|is|was) (?:an? )?(?:null|empty|blank|none|undefined)\b"
_OF_REQUEST = r"(?:messages|tools|input|contents)\W{0,2}[\[.]\W{0,2}\d"  # a place in a request
# What a client says before the fault that it found in an answer.
_OF_ANSWER = (
    r"(?:\b(?:failed|unable|could not|cannot) ?(?:to )?(?:parse|decode|deserialize) (?:the )?(?:api |llm |server |chat "
    r"|completion |model )?response\b\W{1,3}(?:error\W{1,3})?"
    r"|\bcompletionerror\b.{0,80}?)\b"
)

CLASSES: tuple[ErrorClass, ...] = (
    ErrorClass(
        "anthropic-stream-unlike",
        r"\bcontent block (?:is not an? (?P<kind>\w{1,30}) block|not found)\b",
        Stage.CONTRACT,
        Cause.OUTPUT,
        "The stream does not keep to the order of Anthropic's events",
        "Each `content_block_delta` belongs to a block that `content_block_start` opened before it, and its type has "
        "to go with that block: here a piece came for a block that was not opened, or that is of another type.",
        "Record the stream (`capture`) and paste it: it shows the event. What writes these events is the server or the "
        "gateway that speaks Anthropic's API for another model: update it, or ask without streaming. Where the "
        "piece is of a thought, switch thinking off.",
    ),
    ErrorClass(
        "argument-not-converted",
        r"\b(?:invalid literal for int\(\) with base 10|could not convert string to float): ?"
        r"(?P<given>'[^'\n]{0,60}')",
        Stage.PARSE,
        Cause.OUTPUT,
        "A tool parser could not convert an argument",
        "The tool declares a number, the parser had {given|something else}, and it converts by Python's rules: `9.0`, "
        "or a piece of a number, is not a whole number there. Some parsers then drop the call, others keep the text.",
        "Run a current release of the server. In a log of a stream the entry may mean nothing: the parser tried a "
        "piece of the number. If the call is missing in the answer, declare the field as `number`, or as a string.",
        around=r"tool_parsers?\b|_tool_parser\.py|_convert_param_value|tool-call-parser",
    ),
    ErrorClass(
        "call-in-history-empty",
        r"\b(?:function|tool_calls?|name|arguments)(?:/(?:function|name|arguments)){1,3} (?:cannot|can't|must not) be "
        r"(?:empty|null)\b",
        Stage.REQUEST,
        Cause.REQUEST,
        "A call in the history lacks its name or its arguments",
        "The server checks the calls of earlier assistant messages, and one has no `function`, or an empty `name` or "
        "`arguments` in it.",
        "Look at `tool_calls` of the assistant messages: the name of the tool must be there, and `arguments` as a "
        "text, at least an empty object. A client that stored a stream piece by piece, or an answer that broke off, "
        "leaves such a call; take it out together with its result, or start a new session.",
        look=Look.BROKEN_ARGUMENTS,
    ),
    ErrorClass(
        "call-without-name",
        rf"\b(?:tool|function)_?name{_IS_EMPTY}|plugin name - '', function name - ''"
        r"|error: {1,3}is not a valid tool, try one of"
        rf"|\binvalid (?:tool|function)[ _-]?call\b.{{0,60}}?\b(?:tool|function) name{_IS_EMPTY}"
        rf"|\b(?:tool|function) name{_IS_EMPTY}.{{0,40}}?\b(?:chunk|delta|piece|event)\b"
        r"|\btool (?P<q>['\"`])(?P=q) (?:is |was |does )?not (?:available|found|exist|registered|defined)\b"
        r"|\bunknown tool:? (?:''|\"\"|``)(?!\w)",
        Stage.PARSE,
        Cause.OUTPUT,
        "A call reached the program without the name of its tool",
        "The program that runs the calls got one whose name is empty. In a stream only the first piece of a call has "
        "the name: a client that takes every piece for a call, or lets an empty name overwrite the first one, loses "
        "it.",
        "Ask once without streaming. If the call has its name there, the client joins the pieces of a stream wrongly: "
        "update it, or leave streaming off for turns with tools. If it has none, paste that answer.",
        unless=_OF_REQUEST,
    ),
    ErrorClass(
        "call-without-id",
        rf"\b(?:tool_?call|tool_?use|call)_?id{_IS_EMPTY}|parameter '(?:tool)?callId'"
        r"|\bno tool[_ -]?call[_ -]?id (?:is |was )?(?:available|found|given|provided|set)\b",
        Stage.PARSE,
        Cause.OUTPUT,
        "A call has no id for its result to refer to",
        "The result of a call names the call by its id, and this call came without one: the server sent none, or the "
        "client lost it. In a stream only the first piece of a call has it.",
        "Look at the answer (paste it). If its call has no `id`, update the server, or let the client make one up and "
        "use it in both call and result. If it has one, ask without streaming, and update the client.",
        unless=_OF_REQUEST,
    ),
    ErrorClass(
        "part-of-call-not-found",
        r"'NoneType' object (?:is not (?:subscriptable|iterable)|has no attribute)",
        Stage.PARSE,
        Cause.OUTPUT,
        "The server's parser did not find what it looks for in the model's text",
        "The traceback goes through a parser of the server: it searched what the model wrote for a part of its "
        "notation, such as the name of a call, found nothing, and did not provide for that.",
        "Look at the raw output (the server's log, or the prompt sent to `/v1/completions`): the model wrote a call in "
        "another notation than this parser reads, or half of one. Update the server, or choose the parser that fits. "
        "The request needs no change.",
        around=IN_PARSER,
    ),
    ErrorClass(
        "call-lacks-key",
        r"\bfailed to (?:decode|parse|extract|load) (?:the )?(?:tool|function)[ _-]?calls?: ?"
        r"(?:KeyError: ?|KeyError\()?['\"](?P<key>name|arguments)['\"](?!\w)",
        Stage.PARSE,
        Cause.OUTPUT,
        "A call is JSON without a key that the parser needs",
        "Python names the key that it did not find, {key|`name` or `arguments`}, and no more: the model wrote JSON "
        "where a call belongs, with other keys or within another object or list.",
        "Look at the raw output. If the call has other keys (`parameters`, `function`, `tool`), the model keeps to "
        "another notation than this parser reads: choose the parser of its family, and check that the prompt teaches "
        "the same notation (`render`). A model in training that has not learnt it yet writes this often.",
    ),
    ErrorClass(
        "piece-is-no-text",
        r"can only concatenate str \(not ['\"`]dict['\"`]\) to str",
        Stage.PARSE,
        Cause.CLIENT,
        "The client joined pieces of a stream as texts, and one was an object",
        "`arguments` of a streamed call come in pieces of text from servers with OpenAI's API, and as one object from "
        "others, such as Ollama's `/api/chat`: this client knows the first form alone.",
        "Update the client, use the route `/v1/chat/completions`, or ask without streaming. The request needs no "
        "change.",
        around=r"\bstream(?:ed|ing)?\b.{0,40}\b(?:pars\w{0,4}|delta|chunk|event|error|failed)\b"
        r"|\bpars\w{0,4} (?:the )?stream",
        never_around=r"jinja|template",
    ),
    ErrorClass(
        "empty-piece",
        r"value cannot be null\. \(parameter 'bytes'\)",
        Stage.PARSE,
        Cause.CLIENT,
        "A piece of a streamed call has no arguments, and the client failed on it",
        "A call is streamed in pieces, of which some have empty `arguments` or none. This release of the .NET client "
        "turns each into text, and an empty one into an exception.",
        "Update the client (Semantic Kernel, Microsoft.Extensions.AI) and `OpenAI`, the package below it, together. "
        "Until then ask without streaming. The request needs no change.",
        around=r"\b(?:binarydata\.tostring|stringbuilder\.append|trackstreamingtoolingupdate"
        r"|\w{0,40}streaming\w{0,40}async)\b",
    ),
    ErrorClass(
        "empty-for-json",
        rf"\b(?:tool_?input|(?:tool_?)?(?:call_?)?arguments){_IS_EMPTY}"
        r"|\b(?:non-json|invalid json|unparsable) arguments:? (?:''|\"\"|``)(?!\w)"
        r"|json parsing failed: text: ?\.? {0,2}(?:error message: )?unexpected end of json input"
        r"|eof while parsing a value at line 1 column 0\b.{0,40}?input_value=''"
        r"|(?:tool|call|function|arguments)\b.{0,120}?: ?eof while parsing a value at line 1 column 0\b",
        Stage.PARSE,
        Cause.OUTPUT,
        "An empty string arrived where JSON was expected",
        "The text that should be JSON has no characters at all. In a call, these are its arguments: some servers send "
        "an empty string for a tool without parameters, where an empty object is expected.",
        "If the tool has no parameters, read an empty string as an empty object, or update the client that does not. "
        "If it has some, or if an answer was read, ask once without streaming and look at the whole body: a gateway "
        "may have lost the text, or the model wrote none.",
        unless=_OF_REQUEST,
    ),
    ErrorClass(
        "joined-arguments",
        r"\b(?:json parsing failed: text: |failed to unmarshal arguments in json,).{0,1500}?"
        r"\}\s{0,4}\{\s{0,4}\\{0,3}[\"']",
        Stage.PARSE,
        Cause.OUTPUT,
        "The arguments of a call are two JSON objects end to end",
        "The text that the program read as the arguments of one call has a second object after the first: they are "
        "the arguments of two calls, which the server or the client joined.",
        "Ask without streaming: the calls are then kept apart. In a stream, pieces of calls are joined by `index`, and "
        "a server or gateway that gives two calls one index joins them; report it there, with the stream (`capture` "
        "records it).",
        unless=_OF_REQUEST,
    ),
    ErrorClass(
        "call-arguments-no-json",
        r"\binvalid (?:input|arguments) for tool [`'\"]?(?P<name>[\w.:/-]{1,100})[`'\"]?: json parsing failed\b"
        r"(?!: text: ?\.)"
        r"|\bfailed to unmarshal arguments in json, toolname=(?P<eino>[\w.:/-]{1,100})",
        Stage.PARSE,
        Cause.OUTPUT,
        "The arguments of a call are not JSON",
        "A call to {name|a tool} arrived, and the text of its arguments, which the message quotes, could not be read "
        "as JSON.",
        "Look at that text. If it ends early, look at `finish_reason`, and raise `max_tokens` if it is `length`. If it "
        "is in single quotes, or contains tags, the server's parser does not fit what the model wrote. Otherwise ask "
        "without streaming, and compare.",
        unless=_OF_REQUEST,
    ),
    ErrorClass(
        "answer-not-decoded",
        r"\bmalformed (?:api |llm |server |chat )?response (?:data|body)\b"
        r"|\bfailed to deserialize (?:the )?api response\W{1,4}(?:error\W{1,3})?(?:expected value|EOF while|trailing)\b"
        r"|\basync_openai::error: failed deserialization of\b"
        r"|\bJSONDeserialize\(",
        Stage.CONTRACT,
        Cause.OUTPUT,
        "The client could not decode the server's answer",
        "The server answered, and the body of its answer is not one that this client can read; the words do not say "
        "what is wrong with it.",
        "The request needs no change: look at the answer, which the client's log often quotes, or record it with "
        "`capture`. It may be the page of a proxy, or an error; otherwise update the client, or report what differs "
        "from the API to the server or gateway.",
        unless=r"missing field|untagged enum",
    ),
    ErrorClass(
        "answer-lacks-field",
        rf"(?:{_OF_ANSWER}|JSONDeserialize\(Error\(\W{{0,3}})missing field `(?P<field>\w{{1,80}})`",
        Stage.CONTRACT,
        Cause.OUTPUT,
        "The server's answer lacks a field that the client requires",
        "The server answered, and its answer, or an event of its stream, lacks {field|a field} that this client's "
        "types require.",
        "The request needs no change: compare the answer with the API, and report what is missing to the server or "
        "gateway. Until then update the client, or ask through the API that the server knows better (chat completions "
        "in place of Responses).",
        unless=r"json body|target type",
    ),
    ErrorClass(
        "answer-lacks-key",
        r"\bno value associated with key (?:\w{0,30}keys\(stringvalue: )?\W{0,2}(?P<field>choices|finish_reason"
        r"|finishreason|tool_calls|toolcalls|system_fingerprint|completion_tokens|prompt_tokens|logprobs|refusal"
        r"|reasoning_content|stop_reason)\b",
        Stage.CONTRACT,
        Cause.OUTPUT,
        "The server's answer lacks a field that the client requires",
        "A server answered, and its answer, or an event of its stream, lacks {field|a field} that the types of this "
        "client in Swift require. If that is `choices`, the answer is often an error.",
        "The request needs no change: look at the body of the answer. If it is an error, its words say what went "
        "wrong. Otherwise the server or gateway leaves out what OpenAI sends: update the client, or make that property "
        "optional in its types.",
    ),
    ErrorClass(
        "answer-of-other-form",
        rf"(?:{_OF_ANSWER}|\berror in model response stream\b\W{{1,3}})"
        r"(?:unknown variant(?: {1,8}[`'\"](?P<name>[\w.-]{1,60}))?|invalid (?:type|value): "
        r"|duplicate field )",
        Stage.CONTRACT,
        Cause.OUTPUT,
        "The server's answer has a value that the client does not accept",
        "The server answered, and its answer, or an event of its stream, has {name|a value} that this client does not "
        "accept: it is new, or other servers do not send it. An empty text is not null either: `finish_reason` has to "
        "be null until the last event.",
        "The request needs no change: compare the answer, which the client's log often quotes, with the API. What "
        "differs is for the server or the gateway to mend; until then update the client, or use a more tolerant one.",
        unless=r"json body|target type",
    ),
    ErrorClass(
        "event-of-other-form",
        r"\bfailed to (?:parse|decode|deserialize) (?:the )?(?:responses |sse )?stream(?:ing)? (?:event|chunk"
        r"|data)\w{0,2}: "
        r"(?:unknown variant(?: {1,8}\W?(?P<name>[\w.-]{1,60}))?|invalid type: )",
        Stage.CONTRACT,
        Cause.OUTPUT,
        "The client could not decode an event of the stream",
        "The server answered, and one event of its stream has {name|a value} that this client does not expect: a part "
        "of a kind that it does not know, or `null` where it wants a text, such as `arguments` in the first piece of a "
        "call.",
        "The request needs no change: update the client, which has to skip what it does not know. Until then ask "
        "without streaming, or through the API that it knows better (chat completions in place of Responses); a "
        "gateway that writes `null` for fields that are not set should leave them out.",
    ),
    ErrorClass(
        "event-not-decoded",
        r"missing field `(?P<field>\w{1,80})` at line \d",
        Stage.COMPLETE,
        Cause.OUTPUT,
        "The client could not decode an event of the stream",
        "The client expects {field|a field} in each event of a stream, and one came without it: often an error that a "
        "gateway or server sent in place of an event.",
        "Look at the event: the client's log may quote it, or record the stream with `capture` and paste it. If it is "
        "an error, its words say what went wrong; otherwise report the missing field to the server or gateway.",
        around=r"\b(?:response|event) stream: missing field",
    ),
    ErrorClass(
        "call-lacks-argument",
        r"missing argument for function parameter.{0,40}?'(?P<name>\w{1,80})'"
        r"|missing field `(?P<field>\w{1,80})`"
        r"|missing \d{1,3} required (?:positional|keyword-only) arguments?: '(?P<argument>\w{1,80})'"
        r"|tool input was not fully received"
        r"|required (?:parameter|argument) \W?(?P<lacking>[\w.-]{1,80})\W? (?:is )?missing for tool\b"
        r"|required parameter [`'\"](?P<needed>(?!(?:messages?|model|tools?|input|prompt|contents?|role|type|stream"
        r"|max_\w{1,30})\b)\w{1,80})[`'\"] (?:is|was) (?:missing|not provided)",
        Stage.CONTRACT,
        Cause.OUTPUT,
        "A call lacks an argument that the tool needs",
        "The call was run, and {name|a parameter of the tool} got no value: the model left it out or named it "
        "differently, or the arguments were cut or lost in transit.",
        "Look at the arguments as they came (paste the call). If {name|the parameter} is in them, the program that "
        "runs the call read them too early or by another name: update it. If not, list it under `required`, describe "
        "it with an example, and give the program's complaint back as the tool's result, so that the model corrects "
        "itself.",
        around=r"(?:\b|_)tools?[\W_]|semantickernel|kernelfunction|agents?\W|function_call|tool input"
        r"|inputvalidationerror",
        unless=_OF_REQUEST + r"|failed to deserialize|json body",
    ),
    ErrorClass(
        "piece-not-decoded",
        r"did not match any variant of untagged enum \w{0,30}(?:stream|chunk|event|delta)"
        r"|failed to (?:parse|deserialize|decode) [\w ]{0,30}(?:response|stream|chunk|event)\w{0,10} (?:into|as) "
        r"|list indices must be integers or slices, not nonetype",
        Stage.COMPLETE,
        Cause.OUTPUT,
        "The client could not decode a piece of the answer",
        "The client accepts events of a stream in only one form, and got one in which a field is missing, null or "
        "of another type: often `index` in the pieces of a call.",
        "Look at the event that the message quotes, or record the stream with `capture` and paste it: it shows the "
        "field. Report that to the server or gateway; until then ask without streaming, or use a more tolerant client.",
        around=r"untagged enum|accumulate_delta|_deltas\.py|tool_calls|stream|chunk",
    ),
    ErrorClass(
        "call-thrown-away",
        r"malformed_function_call|unexpected_tool_call",
        Stage.COMPLETE,
        Cause.OUTPUT,
        "The vendor's API dropped a call that the model wrote",
        "Gemini's API reports this where it could not parse the model's call, or where the request offered no tools: "
        "the call is not in the answer.",
        "Ask again. If it happens again, give the tools simpler schemas, short names and fewer nested objects, offer "
        "fewer of them, and do not ask for calls as code in the prompt; check that the request carries the tools.",
    ),
    ErrorClass(
        "text-ends-before-action",
        r"could not parse (?:llm )?output:? ?[`'\"]?\s{0,3}thought:(?!.{0,1500}?\b(?:action|answer)\b).{0,1500}\Z",
        Stage.COMPLETE,
        Cause.OUTPUT,
        "The model's text ends before it names an action or an answer",
        "The agent reads lines of `Thought:` and `Action:` from the text. Here there is only the thought: the output "
        "was cut, or the model ended its turn there.",
        "Look at `finish_reason`: if it is `length`, raise `max_tokens`, whose default is small in some clients. If it "
        "is `stop`, check the stop texts that the agent sends; otherwise use a model with tool calls, and let the "
        "agent send `tools`.",
    ),
    ErrorClass(
        "text-off-agents-form",
        r"missing 'action(?: input)?:' after|\baction input is not a valid\b"
        r"|\bi did it wrong\. (?:tried|invalid format)|\btried reusing the same input\b"
        r"|parsing (?:the )?agent'?s? output\b"
        r"|could not parse (?:llm )?output:? ?[`'\"]?\s{0,3}(?:thought|action):",
        Stage.CONTRACT,
        Cause.OUTPUT,
        "The model's text is not in the form that the agent reads calls from",
        "The agent teaches a form in its prompt, such as lines of `Action:` and `Action Input:`, and reads the call "
        "from the text; the model followed only a part of it, or its text ended before that.",
        "Look at the text (paste it). Let the agent send `tools` instead, where model and server have tool calls. Else "
        "check that the prompt fits the context (Ollama cuts it at `num_ctx`), that no stop text ends the output "
        "within the form, and that `max_tokens` is large enough.",
    ),
)
"""In this order: the first class whose words are found counts."""
