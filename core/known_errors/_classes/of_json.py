"""Classes of what decoders of JSON say, in whatever language: a text that ends too early, continues, or breaks inside.

The words are those of V8, JavaScriptCore, SpiderMonkey, Python (json, orjson, simplejson), Rust (serde), Go, Java
(Jackson, Gson), .NET and C++ (nlohmann, simdjson). Their authors checked texts of any kind, so something around must
speak of a model.
"""

from __future__ import annotations

from prompt_debugger.core.base.types import Stage
from prompt_debugger.core.known_errors._classes.base import ErrorClass
from prompt_debugger.core.known_errors._classes.of_answers import SERVERS
from prompt_debugger.core.known_errors.base import Cause

_AT = r".{0,40}?(?:position \d|line:? \d|char(?:acter)? \d|offset \d|column \d|of the json data)"

CLASSES: tuple[ErrorClass, ...] = (
    ErrorClass(
        "words-garbled",
        r"\ufffd.{0,40}?\ufffd{2}",
        Stage.REQUEST,
        Cause.UNCLEAR,
        "The server's words came in an encoding that was not understood",
        "Each \ufffd is a character that was lost when the answer was read: usually Chinese in UTF-8 that the client "
        "took for something else.",
        "Let the client read the body as UTF-8, or print its bytes. The error's code, if it has one, is in the "
        "documentation of the API and says as much as the words.",
        has_reason=False,
    ),
    ErrorClass(
        "stream-line-not-json",
        r"expecting (?:',' delimiter|value|property name)\b.{0,60}?line \d|extra data: line \d"
        r"|unterminated string starting|invalid \\?escape: line \d",
        Stage.COMPLETE,
        Cause.OUTPUT,
        "A line of the stream is not JSON",
        "The client decodes each line that comes over HTTP, not what the model wrote: the line is an error whose "
        "quotation marks are not escaped, plain words or a blank, or only a piece of a longer line.",
        "Print the line before it is decoded, or record the stream (`capture`): if it is an error, its words say what "
        "failed. Update server and client: older releases wrote such lines, or cut them where a packet ended.",
        around=r"\b(?:chunk|data|event|part)\w{0,10} = json\.loads\((?:line|chunk)\w{0,10}\)",
    ),
    ErrorClass(
        "json-cut",
        rf"unterminated string(?: in json|{_AT})|unexpected end of (?:json|data|input\b{_AT})"
        rf"|json parse error: (?:unexpected eof|unterminated string)|end of data (?:while|when){_AT}"
        r"|json\.parse: (?:unterminated string|unexpected end of data)|eof while parsing a"
        r"|unexpected end-of-input|end of input at line \d|reached end of data|incomplete json"
        r"|unclosed (?:string|object|array)\b.{0,30}?json|json.{0,30}?\bis (?:truncated|incomplete|cut off)",
        Stage.PARSE,
        Cause.OUTPUT,
        "A text ends before its JSON is complete",
        "A program parsed text as JSON, usually the model's output, and the text ended inside a string, list or "
        "object.",
        "Look at `finish_reason` of the answer: if it is `length` (`max_tokens`, `MAX_TOKENS`), the limit cut it: "
        "raise `max_tokens`, or ask for less in one answer. If it is `stop`, look at the text itself: nothing at all, "
        "or a quotation mark that was not escaped. A stream must be read to its end first.",
        is_distinctive=False,
    ),
    ErrorClass(
        "json-character",
        rf"(?:bad|invalid|illegal|unescaped) (?:control character|escape|\\{{1,2}}\w|unicode escape|escaped character)"
        rf"\b.{{0,40}}?(?:json|string|{_AT})|control character .{{0,40}}?found while parsing"
        rf"|bad (?:control|escaped) character in|invalid \\{{1,2}}(?:escape|uxxxx)",
        Stage.PARSE,
        Cause.OUTPUT,
        "A string in the JSON contains a character that must be escaped",
        "A program parsed text as JSON, usually the model's output; a line break, a backslash or another control "
        "character in a string is not escaped.",
        "Look at the place that the message names. Have the server enforce JSON (`response_format` with a schema, "
        "`strict` tools), or read the text leniently (`strict=False` of Python's `json.loads` takes line breaks).",
        is_distinctive=False,
    ),
    ErrorClass(
        "json-goes-on",
        rf"(?:unexpected )?(?:non-whitespace|trailing) (?:characters?|data|content|garbage)\b.{{0,20}}?(?:json|{_AT})"
        rf"|unexpected content after document|(?:extra|trailing) (?:data|content){_AT}",
        Stage.PARSE,
        Cause.OUTPUT,
        "More text follows the JSON",
        "A program parsed text as JSON, usually the model's output; the first value is followed by something else: "
        "prose, the end of a code fence, a stop token, or a second value.",
        "Look at what follows. Have the server enforce the form (`response_format` with a schema), or read the first "
        "value only (`raw_decode` of Python's decoder).",
        is_distinctive=False,
    ),
    ErrorClass(
        "json-broken",
        r"expected (?:'|`|double-quoted|property name|comma|,).{0,60}? in json at"
        r"|json parse error: (?:expected|property)"
        rf"|json\.parse: (?:expected|bad)|(?:expected|expecting) [`'\"][,:}}\]][`'\"].{{0,40}}?{_AT}"
        r"|unexpected (?:string|number) in json|key must be a string at|was expecting (?:comma|double-quote)"
        r"|unexpected close marker ['\"]"
        r"|expecting (?:',' delimiter|':' delimiter|property name)|trailing comma at line",
        Stage.PARSE,
        Cause.OUTPUT,
        "The JSON is broken at the place that the message names",
        "A program parsed text as JSON, usually the model's output; a comma, a colon or a quotation mark is wrong or "
        "missing there, or the text was cut there.",
        "Look at the text around that place: if it ends there, raise `max_tokens`; if a quotation mark in a string is "
        "not escaped, or keys are in single quotes, have the server enforce JSON (`response_format` with a schema, "
        "`strict` tools).",
        is_distinctive=False,
    ),
    ErrorClass(
        "json-start",
        r"unexpected character \('.{1,3}' \(code \d{1,6}(?: / 0x\w{1,6})?\)\): expected a valid value"
        r"|expected value at line 1 column 1\b|json parse error: (?:unrecognized token|unexpected identifier)"
        r"|json\.parse: unexpected character at line 1 column 1\b|is an invalid start of a value"
        r"|unexpected token .{1,12} in json at position [0-3]\b",
        Stage.PARSE,
        Cause.OUTPUT,
        "What should be JSON begins with something else",
        "A program parsed text as JSON, usually an answer; it is empty, or begins with prose, a code fence, reasoning, "
        "or the page of a proxy.",
        "Print the text before it is read. If it is a model's answer, enforce the form (`response_format` with a "
        "schema) and switch thinking off or use the model's reasoning parser; if it is a page, check the address.",
        is_distinctive=False,
    ),
    ErrorClass(
        "json-unread",
        r"\bjson\w{0,10}error \(its words were not copied\)",
        Stage.PARSE,
        Cause.OUTPUT,
        "A text that should be JSON could not be read",
        "A program parsed text as JSON, usually the model's output; the end of the traceback, which says where it "
        "gave up, was not copied.",
        "Print the text before it is read: prose, a code fence, reasoning, nothing at all and a cut end each need a "
        "different fix. Check that the schema reaches the server, and copy the traceback to its last line.",
        is_distinctive=False,
    ),
    ErrorClass(
        "object-for-json",
        r"\[object object\]\W{0,4} is not valid json|unexpected token o in json at position 1\b"
        r"|the json object must be str, bytes or bytearray, not (?:dict|list)\b",
        Stage.PARSE,
        Cause.OUTPUT,
        "A program parsed as JSON what is an object already",
        "It expects a text with JSON, and got the object itself: usually the `arguments` of a call, which chat "
        "completions write as a string, while Ollama and other APIs write an object.",
        "If a server answers so, send the `arguments` of the calls in the history as a text with JSON. Otherwise look "
        "at the call as it came (`capture` records it): if `arguments` is an object there, the server or a gateway "
        "departs from the API, so update it; if it is a text, the client decodes it twice. The model's output is not "
        "to blame.",
        around=r"\b(?:tools?|arguments|chat|completions?|llm|function[_ ]call|langchain|ollama|openai)\b"
        r"|\bhttp/[\d.]{1,3} [45]\d\d\b|\berror code: [45]\d\d\b",
    ),
    ErrorClass(
        "null-among-pieces",
        r"\bsequence item \d{1,6}: expected str(?:ing)?(?: instance)?, NoneType found",
        Stage.PARSE,
        Cause.CLIENT,
        "A program joined the pieces of a text, and one of them is null",
        "It collects the pieces of a stream, or the texts of messages, and joins them; one piece has no text, as that "
        "of a call, of reasoning or of the usage.",
        "Update the program that the traceback names. Until then ask without streaming, or leave tools out of "
        "streamed requests; a whole answer has no such pieces.",
        is_distinctive=False,
    ),
    ErrorClass(
        "null-for-text",
        r"expected (?:a )?(?:string|str)\b(?! for ['\"`]).{0,40}?(?:got|found|not|received) ['\"`]?"
        r"(?:NoneType|null|undefined)\b"
        r"|must be (?:a )?(?:str|string)\b.{0,40}?not ['\"`]?NoneType|argument of type ['\"`]NoneType"
        r"|(?:can only concatenate.{0,60}?|unsupported operand.{0,40}?'str' and ['\"]?)NoneType"
        r"|valid string.{0,40}?input_value=None"
        r"|cannot read properties of null \(reading '(?:trim|match|replace|split)'",
        Stage.PARSE,
        Cause.OUTPUT,
        "A program got no text where it expected the model's answer",
        "The answer arrived without text (`content` is null): only a call, only reasoning, a filtered or an empty "
        "answer, and the program works with it as if it were text.",
        "Record the answer (`capture`) and look at `tool_calls`, `reasoning_content` and `finish_reason`: they say "
        "which it is. In the program, check for null before the text is used; an update of a framework may fix it.",
        is_distinctive=False,
        unless=r"\b(?:messages|input|tools|contents)\W{0,2}[\[.]\W{0,2}\d",
        never_around=SERVERS,
    ),
)
"""In this order: the first class whose words are found counts."""
