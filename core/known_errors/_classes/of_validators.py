"""Classes of errors of clients and agents that check what came: an answer's form, a call's name and its arguments."""

from __future__ import annotations

from prompt_debugger.core.base.types import Stage
from prompt_debugger.core.known_errors._classes.base import ErrorClass
from prompt_debugger.core.known_errors.base import Cause

_NAME = (
    r"['\"`]?(?P<{}>(?!(?:parser|type|choice|calls?|use|results?|server|template|option|dependency|attachment"
    r"|was|is|were)\b)"
    r"[\w.:<|>/-]{{1,100}})['\"`]?"
)

CLASSES: tuple[ErrorClass, ...] = (
    ErrorClass(
        "harmony-content",
        r"\bvalid dictionary or instance of Content\b(?! ?\w)",
        Stage.RENDER,
        Cause.REQUEST,
        "The format of gpt-oss does not allow this `content`",
        "The server turns each message into one of harmony, OpenAI's format for gpt-oss. The `content` of a message is "
        "a list of parts that it does not convert, or an empty list.",
        "Send `content` as a plain text in every message, and leave it out or send `null` beside `tool_calls`; or "
        "update the server.",
    ),
    ErrorClass(
        "agent-without-call",
        r"did(?: not|n't) use (?:a|any) tools? (?:in|to)\b|inability to use a tool\b"
        r"|(?:response|answer|reply|turn) without (?:a |any )?tool (?:use|calls?)\b|no tools? (?:was|were) used\b"
        r"|expected (?:a |at least one )?tool[ _](?:call|use)s?\b(?!, tool).{0,60}?(?:but|got|received|none)"
        r"|\b(?:model|agent|llm) (?:\S{1,20} ){0,5}did(?: not|n't) call any (?:of the )?(?:\w{1,20} )?tools?\b"
        r"|\bno (?:\w{1,30} )?(?:tool|function)[ _]calls? (?:(?:was |were )?(?:generated|found|returned|made|present)"
        r"|correctly extracted)\b(?! for| to match)"
        r"|\btool[ _]calls? (?:are|is|were|was) not present in (?:the )?(?:response|answer|message)"
        r"|\b(?:returned|made|contains?|contained|produced|found) no (?:tool|function)[ _]calls?\b"
        r"|\b(?:make|made) a (?:tool|function) call\b.{0,10}?\bbut none (?:was|were) found"
        r"|\b(?:model|llm|agent) failed to (?:invoke|call|use) (?:the |a |any )?(?:\w{1,20} ){0,3}tool\b"
        r"|\bexpected tool calls to be present\b"
        r"|\b(?:cannot|could not|unable to) (?:retrieve|find|extract|get) (?:the |a |any )?(?:tool|function)[ _]calls? "
        r"(?:from|in) (?:the )?(?:response|answer|message|output)",
        Stage.CONTRACT,
        Cause.OUTPUT,
        "The answer contains no call that the program could take",
        "The program requires a call in this answer and found none; the message does not show the answer.",
        "Look at the answer itself (paste it): a call in its text is one that the server or the program did not parse;"
        " prose alone means that the model did not call. Use a model that is trained for tools, and a "
        "context long enough for the agent's prompt: where it is cut, the tool instructions are lost first.",
    ),
    ErrorClass(
        "tool-name-repeated",
        r"(?<![\w.-])(?P<name>[a-z][\w-]{3,50}?)(?P=name){1,9}(?![\w-])",
        Stage.PARSE,
        Cause.OUTPUT,
        "A call reached the program with its tool's name written several times",
        "The name is {name|one name} several times, one after the other: in a stream only the first piece of a call "
        "has the name, and here several pieces had it, which the client joined.",
        "Ask without streaming, or run a release of the server that sends the name once. A client can take the name "
        "from the first piece with an index, and ignore the others.",
        around=r"\b(?:tool|function)\b.{0,200}?\b(?:not (?:found|available|registered|defined)|does(?: not|n't) exist"
        r"|unknown|unavailable)\b|\b(?:not a valid|unknown|unavailable|no such) (?:tool|function)\b",
    ),
    ErrorClass(
        "more-than-a-tool-name",
        r"\btool (?P<name>[^\"{<(=\n]{0,80}[\"{<(=][^\n]{0,160}?) not found in agent\b"
        r"|\bfunction '(?P<leaked>[^'\n]{0,80}<\|[^'\n]{1,80})' does(?: not|n't) exist"
        r"|\bunavailable tool '(?P<asked>[^'{<(\n]{0,80}[{<(][^'\n]{1,200})'",
        Stage.PARSE,
        Cause.OUTPUT,
        "Markup or arguments of a call are in its name",
        "{name|The name} has signs that no tool's name has: more of the call than its name was taken for the name. "
        "The model departed from its notation, or the parser does not read all forms of it.",
        "Do not rename the tool. Run a current release of the server, with the parser of this model's family; ask "
        "again, without this call in the history. If the model writes it so (paste the raw output), a grammar for "
        "calls prevents it: `tool_choice` as `required`, or `strict` in the tool, where the server has one. For a "
        "hosted model, report the call to the provider.",
    ),
    ErrorClass(
        "unknown-tool",
        rf"\btool (?:with (?:the )?name )?{_NAME.format('name')} (?:was |is |could )?"
        r"(?:not (?:be )?(?:found|available|registered|defined)"
        r"|does(?: not|n't) exist|unavailable\b)"
        rf"|(?:no such|unknown|unavailable|non-?existent|undefined|unregistered) tool(?: available| name| called)?"
        rf"[: ]{{1,3}}{_NAME.format('called')}(?! type)"
        rf"|\baction {_NAME.format('action')} (?:does(?: not|n't)|don't) exist"
        r"|\btool (?P<spaced>.{1,120}?) not found in agent\b"
        r"|\berror in call: function '(?P<function>.{1,120}?)' does(?: not|n't) exist"
        r"|\baction '(?P<worded>.{1,200}?)' (?:does(?: not|n't)|don't) exist, these are the only available"
        rf"|\btool {_NAME.format('refused')} (?:was )?(?:denied|rejected|refused|blocked)\b.{{0,80}}?\bunknown tools?\b"
        r"|attempted to call tool ['\"](?P<asked>[\w.:<|>/-]{1,100})['\"] which was not in"
        r"|(?P<valid>[\w.:<|>/-]{1,100}) is not a valid tool\b"
        r"|\brequested tool(?: ['\"`]?(?P<requested>[\w.:/-]{1,100}?)['\"`]?)? (?:does(?: not|n't) exist"
        r"|was not found)\b"
        r"|\btool not found(?:: ?['\"`]?(?P<missed>[\w.:/-]{1,100})['\"`]?)?(?:\W{0,3}\Z|\. ?available tools\b)"
        r"|\A(?P<alone>[a-z]\w{1,60}) tool not found\W{0,3}\Z"
        r"|\bunknown tool_name: ['\"`]?(?P<unknown>[\w.:/-]{1,100})"
        r"|\bcannot find (?:a |any )?tool with (?:the )?name ['\"`]?(?P<sought>[\w.:/-]{1,100})"
        r"|\btool ['\"`](?P<offered>[\w.:/-]{1,100})['\"`] (?:is )?not advertised\b"
        r"|\bfunction ['\"`]?(?P<dictionary>[\w.:/-]{1,100})['\"`]? is not found in (?:the )?tools\w{0,10}\b"
        r"|\btool call ['\"`]?(?P<allowed>[\w.:/-]{1,100})['\"`]? is not a known allowed tool\b"
        r"|\btool call name \"(?P<expected>[\w.:/-]{1,100})\" does not match expected tool call names\b",
        Stage.CONTRACT,
        Cause.OUTPUT,
        "A tool was called by a name that the program does not know",
        "The tool {name|that was called} is not registered where the call is run: the model made the name up "
        "or changed it, or the tool was not loaded this time.",
        "Compare {name|the name} with the tools that the request declares. If it is not among them, the model "
        "invented it; if it is, the program did not register it, or under another name (clients of MCP put a prefix "
        "before it). Markup in the name points to the server's parser.",
        unless=r"tool_choice|tools list",
    ),
    ErrorClass(
        "schema-as-arguments",
        r"validation errors? for (?:call\[)?(?P<function>(?-i:[a-z][a-z0-9_]{1,80}))\]? .{0,400}?"
        r"missing required argument \[type=missing_argument, input_value=ArgsKwargs\(\(\), \{'propert",
        Stage.CONTRACT,
        Cause.OUTPUT,
        "A call passes the shape of the tool's schema in place of its arguments",
        "The call of {function|the tool} has the keys of a JSON schema (`properties`, `type`) where its arguments "
        "should be, with the values inside: the model copied the declaration.",
        "Check that the prompt shows the tools as this model's own template does (`render`): smaller models copy a "
        "schema that they are shown. A grammar for calls prevents it (`tool_choice` as `required`, or `strict` in the "
        "tool, where the server constrains calls by it); or use a model that is trained for tool calls.",
    ),
    ErrorClass(
        "call-arguments-unfit",
        rf"invalid (?:arguments|input|parameters|params|args) (?:for|to|in) (?:the )?tool {_NAME.format('name')}"
        rf"|tool (?:input |argument |call )?validation failed for (?:tool )?{_NAME.format('tool')}"
        rf"|parameters for tool {_NAME.format('groq')} did not match schema"
        r"|validation errors? for (?:call\[)?(?P<function>(?-i:[a-z][a-z0-9_]{1,80}(?:Arguments)?))\]? "
        r"|(?:tried to use|use of) (?P<used>[\w.-]{1,80}) without (?:a )?value for (?:the )?required parameter"
        r"|missing (?:a )?value for (?:the )?required parameter"
        r"|missing (?:the )?required (?:parameters?|arguments?) (?:for|of) (?:the )?(?:tool|function) "
        r"['\"`]?(?P<lacking>[\w.:-]{1,80})"
        r"|(?:error|failed) (?:while |when )?(?:pars|validat)\w{1,3} (?:the )?(?:tool|function)(?: call)? "
        r"(?:args|arguments|input|parameters)"
        r"|\bvalidation failed for tool [\"'](?P<refused>[\w.:/-]{1,100})[\"']:"
        r"|\bparams/[\w./-]{1,80} must be \w"
        r"|\b(?:executing|invok\w{1,3}) tool .{0,400}?\bgot an unexpected keyword argument"
        r"|\bparameter ['\"`][\w.-]{1,80}['\"`] is not allowed for (?:the )?(?:tool|function) "
        r"['\"`](?P<takes>[\w.:/-]{1,100})['\"`]"
        r"|dictionary value @ data\[|(?:required key not provided|extra keys not allowed) @ data\["
        r"|`(?:params\.)?arguments`: (?:invalid input: )?expected (?:object|record), received string",
        Stage.CONTRACT,
        Cause.OUTPUT,
        "The arguments of a call do not match the tool",
        "The call arrived, and what it passes to {name|the tool} does not match the tool's parameters: one is "
        "missing, has another name, or is of another type.",
        "Compare the arguments, as the model wrote them (paste the call), with the schema that the request declares. "
        "If they match it, the program checks against another one; if a list, number or object arrived as a string, "
        "the server's tool parser did not follow the schema; otherwise describe the parameter better, with an example.",
    ),
    ErrorClass(
        "chat-for-responses",
        r"received [\"'`]chat\.completion(?:\.chunk)?\b"
        r"|expected [\"'`]chat\.completion(?:\.chunk)?[\"'`].{0,80}?received [\"'`]response",
        Stage.CONTRACT,
        Cause.OUTPUT,
        "The answer comes from a different API than the client reads",
        "The client reads one of two APIs (chat completions, Responses), and the server answered with the other.",
        "Set the client to the API that this address serves: a provider for chat completions reads `choices`, one for "
        "the Responses API reads `output` and events named `response.…`; update the client if it chooses by itself.",
    ),
    ErrorClass(
        "value-refused-by-own-check",
        r"validation errors? for (?P<name>(?!\w{0,60}(?:Request|Params?|Body|Config|Settings|Completion|Response|Chunk"
        r"|Choice|Message|Arguments|Args)\b)[A-Z]\w{1,60})\b.{0,200}? (?:Value error|Assertion failed), .{0,400}?"
        r"\[type=(?:value|assertion)_error, input_value=",
        Stage.CONTRACT,
        Cause.OUTPUT,
        "A check that the program itself defines refused a value",
        "The value has the form that the class asks for; a validator of {name|the class} refused it, and the words "
        "after *Value error* or *Assertion failed* are that validator's own.",
        "Say the same rule in the prompt or in the field's description: a JSON schema does not carry it to the server. "
        "Allow a retry that sends the message back, or express the rule in the schema (`enum`, `minimum`, `pattern`).",
        around=r"instructor|pydantic[_ ]ai|response_model|output_type|langchain|llm|completion|openai|structured",
    ),
    ErrorClass(
        "value-unlike-class",
        r"validation errors? for (?P<name>(?!\w{0,60}(?:Request|Params?|Body|Config|Settings|Completion|Response|Chunk"
        r"|Choice|Message|Arguments|Args)\b)[A-Z]\w{1,60})\b.{0,600}?\[type=\w{1,40}, input_value=",
        Stage.CONTRACT,
        Cause.OUTPUT,
        "A value does not match the class that a program checks it against",
        "pydantic checked a value, usually from a model, against {name|a class}; its message names each field, what "
        "is wrong with it, and the value that came.",
        "Look at `input_value`: an empty one means that nothing arrived; an object with `properties` is the schema "
        "sent back in place of data; an extra key around all of it is the name of the class. Have the server enforce "
        "the schema (`response_format` of type `json_schema`, or a strict tool), check that it does so for this "
        "model, and give a field that may be absent a default.",
        never_around=r"instructor\.exceptions|InstructorRetry",
    ),
    ErrorClass(
        "value-unlike-old-class",
        r"validation errors? for (?P<name>(?!\w{0,60}(?:Request|Params?|Body|Config|Settings|Completion|Response|Chunk"
        r"|Choice|Message|Arguments|Args)\b)[A-Z]\w{1,60})\b.{0,600}?\(type=(?:value|type|assertion)_error",
        Stage.CONTRACT,
        Cause.OUTPUT,
        "A value does not match the class that a program checks it against",
        "pydantic 1 checked a value, usually from a model, against {name|a class}; its message names each field and "
        "what is wrong with it, and does not show the value.",
        "Print the text that the model wrote, and compare it with the class. Have the server enforce the schema "
        "(`response_format` of type `json_schema`, or a strict tool), and give a field that may be absent a default.",
    ),
    ErrorClass(
        "own-answer-unfit",
        r"validation errors? for (?P<name>\w{0,40}(?:ChatCompletion|Completion|Response|Chunk|Choice|Delta)"
        r"(?:Message)?) ",
        Stage.COMPLETE,
        Cause.SERVER,
        "The server failed on its own answer",
        "The request was accepted, and the server's class of the answer, {name|which the message names}, refused what "
        "was put into it: fields are missing, or have another type.",
        "The request needs no change: update the server, or install the release of pydantic that it was written for. "
        "If it only passes on what another server answers, look at that answer first.",
        around=r"exception in asgi application|(?:uvicorn|starlette)[/\\]|fastapi[/\\]routing",
        never_around=r"[/\\](?:openai|anthropic|litellm|pydantic_ai|langchain\w{0,20}|groq|mistralai|instructor|ollama)[/\\]",
    ),
    ErrorClass(
        "answer-unfit",
        r"validation errors? for (?P<name>\w{0,40}(?:ChatCompletion|Completion|Response|Chunk|Choice|Delta)"
        r"(?:Message)?) |`(?P<path>(?:choices|candidates|delta|usage)(?:[\[.][^`]{0,200})?)`: "
        r"|\bpath\"?:? ?\[ ?\"(?P<place>(?:choices|candidates|delta|usage)\"[^\]\n]{0,200})\]",
        Stage.CONTRACT,
        Cause.OUTPUT,
        "The answer does not have the form that the client expects",
        "The request was answered, and the client's check of the answer failed at {path|the fields that it names}: "
        "the server leaves out, or writes differently, what the client requires.",
        "Record the answer (`capture`) and paste it: if it is an error, its words say more; if a field is missing or "
        "null there, the server departs from the API. Update both; a client made for any server (*OpenAI-compatible*) "
        "requires less than one made for a single vendor.",
    ),
    ErrorClass(
        "role-of-answer",
        r"validation errors? for (?:Message|Delta)\b.{0,40}?\brole\b.{0,200}?input_value='(?P<name>[\w-]{1,40})'"
        r"|`role`: input should be '(?:assistant'\Z|assistant', ?'user')",
        Stage.CONTRACT,
        Cause.OUTPUT,
        "The answer has a role that the client does not know",
        "The server answered with the role {name|that the message names} where chat completions have `assistant`, and "
        "the client's check of the answer refused it.",
        "The request needs no change: update that server or gateway, or put a gateway in between "
        "that writes `assistant`; Gemini's own API says `model`, so check that the address is the one for chat "
        "completions.",
        around=r"convert_to_model_response_object|convert_dict_to_response|invalid response object",
    ),
    ErrorClass(
        "json-not-whole",
        r"invalid json: (?:eof while|expected|trailing|invalid|control|key must|recursion|unexpected)",
        Stage.PARSE,
        Cause.OUTPUT,
        "A text that should be JSON is not",
        "A program parsed text as JSON, usually the model's output, and the message names the place where it gave up: "
        "*EOF* means that the text ends, or contains only whitespace, before the JSON is closed.",
        "Look at the text and at `finish_reason`: if it is `length`, raise `max_tokens`; whitespace up to the limit "
        "means that the prompt does not ask for JSON while the grammar allows whitespace; prose or a code fence means "
        "that the schema was not enforced.",
    ),
    ErrorClass(
        "value-unfit",
        r"failed validating ['\"](?P<keyword>\w{1,40})['\"] in schema|\bon instance(?:\[[^\]]{1,80}\]){0,8}:"
        r"|'(?P<name>[\w.-]{1,80})' is a required property",
        Stage.CONTRACT,
        Cause.OUTPUT,
        "A value does not match its JSON Schema",
        "A program checked a value, such as an answer or the arguments of a call, against a schema; the message names "
        "the rule that was violated.",
        "Compare the value below *On instance* with the schema. If a model wrote it, have the server enforce the "
        "schema (`response_format`, or `strict` tools), and check that the answer was not cut.",
        around=r"jsonschema|on instance|llm|model|tool|openai|agent",
    ),
)
"""In this order: the first class whose words are found counts."""
