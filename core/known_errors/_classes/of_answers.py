"""Classes of errors about what the model wrote: answers that are not JSON, do not fit, are empty, or come too often."""

from __future__ import annotations

from prompt_debugger.core.base.types import Stage
from prompt_debugger.core.known_errors._classes.base import ErrorClass
from prompt_debugger.core.known_errors.base import Cause, Look

# A shell says *near unexpected token*.
_TOKEN = r"(?<!near )(?:unexpected|invalid|unrecognized) (?:token|character|identifier)\W{0,4}"
# Frames of what serves, which reads requests, not answers.
SERVERS = (
    r"(?:site-packages|dist-packages)/(?:vllm|sglang|mlx_lm|mlx_vlm|lmdeploy|transformers|jinja2|tensorrt_llm"
    r"|llama_cpp)/"
    r"|chat[_ ]?template"
)
_NOT_JSON = r"is not (?:a )?valid json|in json at|json"

FIRST: tuple[ErrorClass, ...] = (
    ErrorClass(
        "answer-unlike-struct",
        r"\bcannot unmarshal \w{1,20} into Go (?:struct field |value of type (?:[\w*]{1,40}\.)?)"
        r"(?:\w{0,60}?(?:Response(?!\w{0,40}(?:Format|Request|Param|Input|Body))|Chunk|Delta|(?<!Tool)Choice)\w{0,40}"
        r"|ChatCompletion(?=\.(?:choices|usage|created|id|object)\b|(?![\w.])))(?:\.(?P<name>[\w.]{1,120}))?(?![\w.])",
        Stage.COMPLETE,
        Cause.OUTPUT,
        "A field of the answer has another type than the program expects",
        "A client or gateway written in Go decodes the answer, or an event of its stream, into a struct; what the "
        "server sent in {name|one of the fields} is of another type. The request may be right.",
        "Record the answer (`capture`) and compare the field: `arguments` of a call are a string of JSON in chat "
        "completions and Responses, and an object in Ollama's own API. Update the program that reads it, or the "
        "server that deviates; an error sent with status 200 does not fit either.",
    ),
    ErrorClass(
        "answer-of-no-form",
        r"did not match any variant of untagged enum \w{0,40}(?:response|completion|answer)\w{0,20}(?<!request)\b",
        Stage.COMPLETE,
        Cause.OUTPUT,
        "The client could not read the answer: it has none of the forms that the client knows",
        "A client written in Rust tries each form that an answer may have, an error among them; a field that is "
        "missing, null or of another type makes all of them fail, and the message does not say which.",
        "Record the answer with `capture` and paste it. If it is an error, its words say what to change; if it is an "
        "answer, compare it with the API: fields that the client requires and the server leaves out (`id`, `usage`, "
        "`reasoning_details`) are the usual reason. Update the client, or report it there.",
    ),
    ErrorClass(
        "answer-lacks-fields",
        r"\bfields? \[?'?(?P<name>\w[\w, ]{0,200})'?\]? (?:is|are) required for type with serial name "
        r"'[\w.$]{0,200}?(?:response|completion|chunk|choice|message|answer|result|usage|delta|output)\w{0,40}', "
        r"but (?:it was|they were) missing",
        Stage.COMPLETE,
        Cause.OUTPUT,
        "The answer lacks what the client requires",
        "A program in Kotlin decodes the answer into a class, and its JSON has no {name|such field}. A body without "
        "`choices` is usually an error, which some servers send with status 200; where a single field is missing, the "
        "server leaves it out and the client insists on it.",
        "Look at the body itself (`capture` records it): if it is an error, its words say what to change. If it is an "
        "answer, update the client, or let it ignore what is absent.",
    ),
    ErrorClass(
        "call-only-announced",
        r"\b(?:finish|stop)[_ ]?reason\b.{0,12}?\btool[_ ](?:calls?|use)\b.{0,20}?\bbut no (?:tool|function)"
        r"[_ ]calls?\b",
        Stage.PARSE,
        Cause.OUTPUT,
        "The answer says that it ends with a call, and has none",
        "`finish_reason` names a call, and the program found none in the message: the server's parser or a gateway "
        "lost it, or the client looked at one event of a stream that has the reason alone.",
        "Look at the whole body of the answer (paste it, with its `content`): if the call is in the text, the server's "
        "tool parser does not read it. If the body has `tool_calls`, update the client, or ask without streaming.",
    ),
    ErrorClass(
        "reason-of-end-unknown",
        r"\b(?:unknown|unhandled|unexpected|unsupported|unrecognized) (?:[A-Z]?[\w.]{1,30} )?(?:finish|stop)[_ ]?"
        r"reason\b(?:\W{1,4}(?P<name>[\w-]{1,60}))?",
        Stage.CONTRACT,
        Cause.OUTPUT,
        "The client does not know why the answer ended",
        "The answer's `finish_reason` is {name|one} that this client does not know. Servers write other words than "
        "OpenAI's `stop`, `length`, `tool_calls` and `content_filter`, such as `abort`, `error` or none at all.",
        "Look at the whole body of the answer (paste it): a reason such as `error` is usually explained in the body or "
        "in the server's log. If the answer is whole, update the client, or have a gateway write `stop`.",
    ),
    ErrorClass(
        "pieces-out-of-order",
        r"\b(?:tool_?call|tool_?use|thinking|text)_?(?:start_|end_)?(?:chunk|delta|end)\b.{0,20}?\bfor (?:an )?"
        r"(?:unknown|non-)|\bno current_tool_id\b|\btool_call_start_chunk with duplicate id\b"
        r"|\bunexpected (?:tool_use|thinking|text) delta\b"
        r"|\breceived (?:thinking|text|toolcall|tool_call)_(?:delta|end) for non-\w",
        Stage.COMPLETE,
        Cause.OUTPUT,
        "The pieces of a streamed answer do not fit together",
        "A stream begins each block or call, continues it and ends it; the client got a piece that belongs to nothing "
        "that was begun, or a beginning that came twice.",
        "Record the stream (`capture`) and paste it: it shows the event. Ask without streaming until it is fixed; a "
        "gateway that converts one API's events into another's is the usual place.",
    ),
    ErrorClass(
        "arguments-no-object",
        r"\b(?:tool[ _]?calls?|tool|function(?: call)?)s?(?: function)? arguments (?:must|should) (?:be|parse to) "
        r"(?:a |an )?(?:valid )?(?:json )?object\b"
        r"|\b(?:provided |the )arguments are not a json (?:dictionary|object)\b"
        r"|\bfunction call arguments were invalid json\b|\binvalid json streamed for tool\b"
        r"|\b(?:failed|unable|could not) (?:to )?(?:parse|decode) (?:the )?"
        r"(?:(?:tool |function )(?:call )?arguments|arguments (?:as json|for (?:tool|function)))\b",
        Stage.PARSE,
        Cause.OUTPUT,
        "The arguments of a call are not a JSON object",
        "A program decoded the `arguments` of a call and got no object: nothing, a cut end, a bare value, several "
        "objects in a row, or a text that is encoded twice.",
        "Look at the arguments as they came (paste the call) and at `finish_reason`: `length` means that the token "
        "limit cut them. For a tool without parameters an empty string stands for an empty object. Ask once without "
        "streaming: if they are whole then, the client joins the pieces wrongly.",
    ),
    ErrorClass(
        "call-told-to-come-again",
        r"\barguments?\b.{0,120}?(?:re-?call the tool|call (?:the tool|it) again|try again) with valid"
        r"|\btool ['\"`][\w.-]{1,80}['\"`] arguments (?:could not be|were not|are not) (?:parsed|valid)"
        r"|\b[\w.:-]{1,80} was called with input that could not be parsed",
        Stage.PARSE,
        Cause.OUTPUT,
        "The arguments of the model's call could not be read",
        "A program says this to the model, in place of the tool's result: the arguments it sent are not JSON.",
        "Look at the arguments as they came (paste the call): markup of another call in them, several objects, or a "
        "cut end each need a different fix.",
    ),
)
CLASSES: tuple[ErrorClass, ...] = (
    ErrorClass(
        "output-not-read",
        r"(?:failed|unable|could not|cannot|error) ?(?:to )?(?:pars|read|decod|extract)\w{0,4} (?:the "
        r")?(?:tool|function)[ _]calls?\b"
        r"|(?:tool|function)[ _]call\w{0,3} (?:could not be|failed to) (?:be )?pars"
        r"|(?:non-json|has empty) arguments\b|invalid json for (?:a )?(?:tool|function)[ _]call"
        r"|\btool_calls?: arguments: invalid json\b"
        r"|harmony.{0,60}(?:error|pars)|HarmonyError",
        Stage.PARSE,
        Cause.OUTPUT,
        "The output could not be read",
        "The model answered, and the server's or client's parser could not extract a call or a message from it.",
        "Ask again; if it happens again, compare the raw output with the notation that the server's parser expects: a "
        "parser of another model, an output that was cut, or a call in another form.",
    ),
    ErrorClass(
        "stream-for-json",
        rf"{_TOKEN}['\"]?[de]['\"]?.{{0,12}}?(?:data|event): ?",
        Stage.PARSE,
        Cause.OUTPUT,
        "A stream arrived where a single JSON answer was expected",
        "The text that should be JSON begins with `data:`: the server answered with a stream of events.",
        "Send `stream: false`, or let the client read a stream; a proxy or plugin in between may have turned one "
        "into the other.",
    ),
    ErrorClass(
        "fence-for-json",
        rf"{_TOKEN}['\"]?`|invalid character '`'",
        Stage.PARSE,
        Cause.OUTPUT,
        "The JSON is in a code fence",
        "The model wrote its JSON as Markdown code, and the program reads the text as it is.",
        "Enforce the form with `response_format`, or remove the fence before reading; asking for *JSON without a code "
        "fence* in the prompt helps, but not always.",
    ),
    ErrorClass(
        "reasoning-for-json",
        rf"{_TOKEN}.{{0,8}}?<think",
        Stage.PARSE,
        Cause.OUTPUT,
        "Reasoning arrived where JSON was expected",
        "The text begins with the model's thinking, which nothing has separated from the answer.",
        "Start the server with the model's reasoning parser (`--reasoning-parser`), switch thinking off, or drop "
        "everything up to `</think>` before reading.",
    ),
    ErrorClass(
        "failure-for-json",
        rf"{_TOKEN}['\"]?[A-Z<]['\"]?, ?['\"]{{1,2}}"
        r"(?:All connec|Internal S|Bad Gatewa|Bad Reques|Service Un|Gateway T"
        r"|Unauthoriz|Forbidden|Not Found|Method Not|Too Many R|Connection|Upstream|Request ti|Error occu|Error: con)",
        Stage.COMPLETE,
        Cause.CONNECTION,
        "A plain error arrived where JSON was expected",
        "No model answered: a server, or a program in between, wrote a short error as plain text, which the "
        "message quotes; the client then failed to read it as JSON.",
        "Ask the same address with `curl -i`: it shows the status and the whole text. If there is a gateway or proxy "
        "in between, look at its log, and check that it reaches the model's server.",
        around=_NOT_JSON,
    ),
    ErrorClass(
        "prose-for-json",
        rf"{_TOKEN}['\"]?[A-Z*#]['\"]?, ?['\"]{{1,2}}[^<{{\[]{{3,80}}?['\"]? ?\.\.\.",
        Stage.PARSE,
        Cause.OUTPUT,
        "Prose arrived where JSON was expected",
        "The model answered in sentences, and the program reads the whole text as JSON.",
        "Enforce the form (`response_format` with a schema, or a tool that must be called) and check that it reaches "
        "the server; an agent's last turn is often sent without it.",
        around=_NOT_JSON,
    ),
    ErrorClass(
        "text-for-object",
        r"json parsing failed: text: (?!data:|event:|error\b)[a-z][^<{\[`\n]{2,300}?\.\s{1,3}error message: ",
        Stage.PARSE,
        Cause.OUTPUT,
        "The model answered with a text where JSON was expected",
        "The text that the message quotes is the model's whole answer, and it is not JSON: the provider did not "
        "enforce the schema, or was not asked to.",
        "Use a model and a provider that enforce a schema (in the SDK's openai-compatible provider, set "
        "`supportsStructuredOutputs`), or have the model call a tool; a bare value is right where only that is asked "
        "for, so ask for an object in the prompt, too.",
        around=r"no ?object ?generated",
    ),
    ErrorClass(
        "unlike-format",
        r"(?:model |llm )?(?:outputs?|response|answer|completion|generation)\b.{0,40}?(?:does(?:n't| not"
        r") (?:fit|match|conform|contain)|(?:could|can) ?not be parsed|is not (?:valid|in the)|failed"
        r" (?:to parse|validation))"
        r"|(?:failed|unable|could not|error|cannot) (?:to )?(?:pars\w{1,3}|extract|validat\w{1,3}) "
        r"(?:the )?(?:(?:model|llm|agent|structured|json|ai)[ '\w]{0,20}?)?(?:output|response|completion"
        r"|answer|object|result)|output[ _]?pars(?:er|ing)|parsing llm output"
        r"|structured output\b.{0,80}?(?:fail|invalid|not)"
        r"|did not (?:match|conform to) (?:the )?schema|no object generated"
        r"|could not parse the given text to the desired target type"
        r"|(?:no|not returning a|did not return a) valid (?:response|answer|output)"
        r"|\bno (?:final output|structured (?:output|response|answer)) (?:was )?(?:found|returned|for)\b"
        r"|\binvalid json extracted from (?:the )?model\b|\bdid not return (?:valid json\b|content with <)"
        r"|\binvalid llm response format\b|\breturned unparsea?ble output\b|\bstructured response is not set\b"
        r"|\bfailed to (?:obtain|get|produce) (?:a )?structured (?:output|response)\b"
        r"|\bexpected a (?:completed )?structured choice\b"
        r"|\b(?:failed|unable) to decode json from (?:the )?(?:llm|model)\b",
        Stage.CONTRACT,
        Cause.OUTPUT,
        "The answer does not match what the program expects",
        "The model answered, but not in the form that the program reads.",
        "Look at the answer itself (paste it with the schema): prose, a code fence or reasoning around the JSON, "
        "other keys, an end that was cut, or nothing at all each need a different fix. Check that the schema is sent "
        "and that the server enforces it.",
        unless=r"valid jpe?g or png|\A\W{0,3}(?:but|and|however|so|now|then|yet|though)\b"
        r"|doesn't contain (?:the )?.?reasoning|\bnot (?:currently |yet )?supported\b|\bmust be '",
    ),
    ErrorClass(
        "structured-none",
        r"'NoneType' object (?:has no attribute|is not (?:subscriptable|iterable))"
        r"|(?:parsed|structured)\w{0,12} (?:is|was|returned) (?:none|null)\b",
        Stage.CONTRACT,
        Cause.OUTPUT,
        "The structured answer is empty (`None`)",
        "The program asked for a structured answer and got None: the model answered in prose, or with a call that "
        "was not parsed, or the answer was filtered or cut; the library then returns None without an error.",
        "Look at the answer itself (`include_raw=True` of LangChain, `.refusal` and `finish_reason` of OpenAI's "
        "`parse`), and paste it. Try the other method (`json_schema` in place of `function_calling`), and a server "
        "started with the tool parser of this model.",
        around=r"with_structured_output|structured_llm|response_model|\.parse\(|\.parsed\b|output_parsed"
        r"|structured_output",
        never_around=SERVERS,
        is_distinctive=False,
    ),
    ErrorClass(
        "server-program-failed",
        r"\A(?:\{[\"'](?:detail|error|message)[\"']: ?|\W{0,4}(?:internal )?server error\W{1,3}(?:5\d\d\W{1,3})?)?"
        r"\W{0,3}(?:(?:failed|error) [\w ]{1,60}: )?"
        r"'\w{1,40}' object (?:has no attribute|is not (?:subscriptable|iterable|callable))\b"
        r"|\A\W{0,3}(?:local variable '\w{1,60}' referenced before|(?:list|string) index out of range"
        r"|unsupported operand type|object of type '\w{1,40}' has no len|argument of type '\w{1,40}' is not iterable)",
        Stage.COMPLETE,
        Cause.SERVER,
        "The server's own program failed on the request",
        "The body of the answer is an error of Python from inside the server or gateway: it came upon a value that its "
        "code does not expect, and says nothing of what the request should have been.",
        "Look for the traceback in its log, and update it. If the same request works elsewhere, send less until it "
        "passes: first without fields beyond `model` and `messages`, then with one message.",
        around=r"\A\W{0,6}\{[\"'](?:detail|error|message|object)[\"']|\A\W{0,4}(?:internal )?server error\b",
        is_distinctive=False,
    ),
    ErrorClass(
        "program-reads-answer",
        r"\b(?:string|list) indices must be integers\b"
        r"|has no (?:attribute|field|key|member) \W?(?P<name>content|choices|message|messages|tool_calls"
        r"|delta|text|usage|finish_reason|reasoning(?:_content)?|role|index|function|arguments|name|id"
        r"|model_dump|parsed)\b"
        r"|KeyError: \W?(?P<key>content|choices|message|tool_calls|delta|text|usage|finish_reason|role"
        r"|candidates|parts|output|response|index|function|arguments|name)\W?$"
        r"|[\"']error_type[\"']: ?[\"']KeyError[\"'],.{0,20}?'(?P<kept>name|content|choices|message|tool_calls"
        r"|delta|arguments)'"
        r"|cannot read propert\w{1,3} .{0,30}?(?:undefined|null).{0,30}?\W(?P<property>content|choices"
        r"|message|tool_calls|delta|text|usage|role|index|length|map|0|function|name)\b"
        r"|(?:undefined|null) is not an object .{0,60}?(?:choices|content|delta|message)"
        r"|'NoneType' object (?:is not (?:subscriptable|iterable)|has no)"
        r"|cannot invoke \"[^\"]{1,120}\" because [^\n]{0,160}?\b(?P<getter>choices|message|delta|content|toolCalls"
        r"|usage|finishReason|output|text)(?:\(\))?\" is null",
        Stage.COMPLETE,
        Cause.OUTPUT,
        "A program failed where it read the answer",
        "It expects {name|a field} in every answer and every event of a stream. Fields are absent or null where "
        "they do not apply: an event with only the usage has no choices, one with a call or reasoning has no text, "
        "and an error has neither.",
        "Record the answer with `capture` and paste it: it shows whether it is an error, or an event that the program "
        "does not know. If the answer is right, update that program, or report it there.",
        is_distinctive=False,
        never_around=SERVERS,
    ),
    ErrorClass(
        "program-crashed",
        r"\bindex out of range \[\d{1,9}\] with length \d{1,9}|\bslice bounds out of range \["
        r"|\b(?:list|string|tuple) index out of range\b|\bindex \d{1,9} out of bounds for length \d"
        r"|\bindex out of bounds: the len is \d{1,9} but the index is \d|\bnil pointer dereference\b"
        r"|\bindex was out of range\. must be non-negative"
        r"|\bobject reference not set to an instance of an object\b|\bNullPointerException: null\W{0,3}\Z"
        r"|\bno match of right hand side value: \{|\bno (?:case|function) clause matching\b"
        r"|\bcannot invoke \"[^\"]{1,200}\" because [^\n]{1,300}? is null\b",
        Stage.COMPLETE,
        Cause.OUTPUT,
        "A program failed in its own code",
        "It took an element of a list that has fewer, or a part of something that is not there. If it was reading an "
        "answer, that has no `choices`, as an error sent with status 200 and the event with a stream's usage, or no "
        "text.",
        "Read the trace for the first line of that program, which shows what it was reading. If it is an answer, "
        "record its body with `capture`: where it is an error, its words say what to change. Where the body is right, "
        "update the program, or report the crash there.",
        is_distinctive=False,
        never_around=SERVERS,
    ),
    ErrorClass(
        "empty-at-limit",
        r"(?:empty|no (?:content|text|answer)|blank)(?![a-z]).{0,200}?finish_?reason\W{0,4}(?:length|max_tokens)"
        r"|finish_?reason\W{0,4}length\b.{0,40}?produced no assistant text\b"
        r"|\btoken limit \(\d{1,7}\) exceeded before any response"
        r"|finish_?reason\W{0,4}(?:length|max_tokens)\b.{0,200}?(?:empty|no (?:content|text|answer)|blank)\b",
        Stage.COMPLETE,
        Cause.OUTPUT,
        "The answer is empty because the token limit was reached first",
        "The model wrote up to the limit, and none of it was the answer's text: thinking counts as output, too.",
        "Raise `max_tokens` (`max_completion_tokens`, `maxOutputTokens`), or have the model think less "
        "(`reasoning_effort`, a thinking budget, or thinking off).",
        look=Look.SMALL_LIMIT,
    ),
    ErrorClass(
        "empty-answer",
        r"(?<!non-)(?<!non )(?<!not )(?:empty|no|none or empty|null|blank) (?:assistant )?"
        r"(?:response|content|outputs?|completion"
        r"|message|choices|answer|generations?)\b(?! (?:format|type|model|event|segment|keys?)\b)"
        r"|(?<!reasoning_)(?<!reasoning )(?:response|content|answer|output|completion|choices) "
        r"(?:is|was|were|are) (?:empty|null|none|missing)|returned (?:an )?empty|invalid response from llm"
        r"|(?:contained|received|produced) no (?:content|text|message|output|assistant)"
        r"|\bcontain(?:s|ing|ed) only (?:thinking|reasoning) content\b"
        r"|stream (?:ended|closed|finished|stopped) (?:before|without) (?:producing |sending |any |a )"
        r"(?:\w{1,12} ){0,2}(?:content|text|outputs?|data|chunks?|events?)\b",
        Stage.COMPLETE,
        Cause.OUTPUT,
        "The answer was empty",
        "The model, or what the client extracted from its answer, contained no text: all of it may be reasoning, cut "
        "by the token limit, filtered, or a call that was lost.",
        "Look at the whole body of the answer: `finish_reason`, `reasoning_content`, `tool_calls` and `usage` "
        "distinguish these; `capture` records it.",
        is_distinctive=False,
        look=Look.SMALL_LIMIT,
        unless=r"\Ainvalid (?:request|params)\b",
    ),
    ErrorClass(
        "words-not-shown",
        r"(?:client|server) error(?: '\d{3}|:) [\w -]{1,40}'? for url|status code \(no body\)"
        r"|(?:request |http )?failed with (?:(?:http )?status(?: code)? ?:?|http) ?\d{3}"
        r"|\b[45]\d\d (?:client|server) error|non-200|http error \d{3}"
        r"|status[_ ]?code[:= ]{1,3}[45]\d\d|\b[45]\d\d, message=['\"]"
        r"|\Aservice request failed\.? status: [45]\d\d \([\w -]{1,60}\)\W{0,3}\Z",
        Stage.COMPLETE,
        Cause.UNCLEAR,
        "The server answered with an error, whose words are not shown",
        "The client reports only the status; the reason is in the body of the answer.",
        "Print the body where the program catches the error (`error.response.text`), look into the server's log, or "
        "put `prompt-debugger capture` in between; then paste what it shows.",
        is_distinctive=False,
        has_reason=False,
        unless=r"\(Service: \w{1,40}, Status Code: \d{3}|\bmessage: (?:error: )?[a-z][^:/]{14}"
        r"|for url:? ?\S{1,300}+(?: \(request id: [^)]{1,120}\))?[ :,-]{1,4}"
        r"(?!for more|note|see )[a-z'\"{][^:/]{14}"
        r"|status[_ ]?code[:= ]{1,3}[45]\d\d for (?:the )?(?:model|provider|request|deployment) \S{1,200}: [a-z'\"{]"
        r"|status[_ ]?code[:= ]{1,3}[45]\d\d ?[:,-] ?"
        r"(?!url|uri|for |path|method|headers?|request|body\W{0,3}$|see |retry)[a-z'\"{<\[].{14}",
    ),
    ErrorClass(
        "no-reason-given",
        r"\A(?:\w{1,40}: )?invalid input(?: error)?\W{0,3}\Z|there was an issue with your request\b"
        r"|request contains an invalid argument"
        r"|the request is not valid, http status"
        r"|bad request\W{0,3}$|\A\W*(?:422\W*)?unprocessable (?:entity|content)\W{0,3}\Z"
        r"|(?:an )?unknown error(?: occurred)?\W{0,3}$|something went wrong\b"
        r"|(?:there was |an? )?(?:unexpected |unknown )?error (?:occurred )?(?:while |during |when |in"
        r" )?(?:processing|handling|executing|running|intent|calling|sending)\b[^:]{0,60}[.:]?$"
        r"|\b(?:upstream|provider|backend) request failed\W{0,3}$"
        r"|(?:provider|upstream|backend|server) returned (?:an )?error\W{0,3}(?:(?:code|status)\W{0,3})?"
        r"(?:[45]\d\d)?\W{0,3}$",
        Stage.REQUEST,
        Cause.UNCLEAR,
        "An error was reported without its reason",
        "Its words name no field and no reason.",
        "Compare the request with one that works: take tools, schemas, media and unusual settings out, one after the "
        "other, until it is answered. Check whether the body contains `details` or `metadata` that the program does "
        "not print, or put `prompt-debugger capture` in between.",
        has_reason=False,
        unless=r"\A\W{0,6}error handling\b",
    ),
    ErrorClass(
        "no-words",
        r"\A(?:[\w.$]{1,160}\.)?(?!NullPointer)\w{1,60}(?:Error|Exception): (?:null|none|undefined|nil)\W{0,3}\Z"
        r"|\A\{(?:\"(?:type|message|code|param|status)\": (?:\"\"|null)(?:, )?){1,6}\}\Z",
        Stage.REQUEST,
        Cause.UNCLEAR,
        "An error was reported without words",
        "The program that reports it had nothing to say, usually because the server's answer had no body, an empty "
        "one, or none that the client reads.",
        "Have the client log requests and answers (`logRequests` and `logResponses` of LangChain4j), or put "
        "`prompt-debugger capture` in between; then paste the answer's status and body.",
        has_reason=False,
    ),
    ErrorClass(
        "reason-cut-off",
        r"\A(?:[\w.]{1,80}(?:Error|Exception) ?[:-] ?)?\w{1,60}(?:Error|Exception) ?-\W{0,4}\Z"
        r"|\A\W{0,4}GenerateContentRequest\.(?P<path>[\w.\[\]]{3,200})(?:…|\.{3})?\W{0,3}\Z",
        Stage.REQUEST,
        Cause.UNCLEAR,
        "The copy of the error ends before its reason",
        "Each program between client and model put its own words before those that it received; the reason comes "
        "last, and was cut off.",
        "Copy the whole message, from a log rather than from a terminal that shortens it; the innermost words name "
        "the field and the reason.",
        has_reason=False,
    ),
    ErrorClass(
        "fault-of-server",
        r"\bcode\b\W{1,4}internal_(?:server_)?error\b|\A\W{0,3}server error, please report\b"
        r"|\berror processing completion request\b",
        Stage.COMPLETE,
        Cause.SERVER,
        "The service failed while it worked on the request, and gives no reason",
        "The service reports a fault inside itself; its words name no field of the request.",
        "Send the request again; if it fails every time, try it with another model or a shorter history, and report "
        "the request's id to the service.",
        has_reason=False,
    ),
    ErrorClass(
        "attempts-used-up",
        r"exceeded max(?:imum)? (?:number of )?(?:retries|attempts|iterations|turns|steps)"
        r"|max(?:imum)? (?:number of )?(?:retries|attempts|iterations|turns|steps)\b.{0,40}?"
        r"(?:exceeded|reached|hit)|reached max(?:imum)? (?:turns|iterations|steps)|recursion limit"
        r"|iteration limit|all (?:retries|attempts) failed|failed after \d{1,3} (?:attempts|retries)",
        Stage.CONTRACT,
        Cause.OUTPUT,
        "The program gave up after its allowed attempts",
        "An agent tried again and again, or went in circles; why each attempt failed is not part of the message.",
        "Look at the individual attempts: the messages of the run show the answer that was not accepted, or the call "
        "that came again and again.",
        is_distinctive=False,
        has_reason=False,
    ),
)
"""In this order: the first class whose words are found counts."""
