"""What decoders of JSON say when a text is not JSON: Python, JavaScript, Go, Rust and C++."""

from __future__ import annotations

from prompt_debugger.core.base.types import Stage
from prompt_debugger.core.known_errors.base import KnownError

MAKER = "JSON decoders"

SENTENCES: tuple[KnownError, ...] = (
    KnownError(
        "Expecting value: line 1 column 1 (char 0)",
        Stage.PARSE,
        "Text was parsed as JSON, but it is empty or begins with something else: arguments of a call that are an "
        "empty string, prose or markup instead of JSON, or an empty body.",
        "Check that text: read empty arguments as `{}`; if it is a model's answer, compare its notation with the "
        "parser, and check whether anything arrived at all.",
        "https://github.com/open-webui/open-webui/issues/13908",
        is_general=True,
    ),
    KnownError(
        "Extra data: line {line:int} column {column:int} (char {at:int})",
        Stage.PARSE,
        "Text was parsed as JSON, but more follows its first value: a second call, a bracket too many, or prose.",
        "Check the position that the message gives: use only the first value, or read the values one by one.",
        "https://github.com/vllm-project/vllm/issues/17790",
        example="Extra data: line 3 column 1 (char 527)",
        is_general=True,
    ),
    KnownError(
        "Unterminated string starting at: line {line:int} column {column:int} (char {at:int})",
        Stage.PARSE,
        "Text was parsed as JSON, but it ends inside a string: it was cut, or a quotation mark or a line "
        "break in the string is not escaped.",
        "Look at `finish_reason`: if it is `length`, raise `max_tokens`; otherwise check the position that the "
        "message gives.",
        "https://docs.python.org/3/library/json.html",
        example="Unterminated string starting at: line 1 column 12 (char 11)",
        is_general=True,
    ),
    KnownError(
        "Expecting ',' delimiter: line {line:int} column {column:int} (char {at:int})",
        Stage.PARSE,
        "Text was parsed as JSON, but a comma or a bracket is missing, usually after a quotation mark that is not "
        "escaped, or where the text was cut.",
        "Check the position that the message gives; if the text ends there, raise `max_tokens`.",
        "https://docs.python.org/3/library/json.html",
        example="Expecting ',' delimiter: line 1 column 20 (char 19)",
        is_general=True,
    ),
    KnownError(
        "Expecting property name enclosed in double quotes: line {line:int} column {column:int} (char {at:int})",
        Stage.PARSE,
        "Text was parsed as JSON, but a key is not in double quotes (as Python prints a dict), there is an extra "
        "comma, or the text was cut.",
        "Check the position that the message gives. At the beginning (char 1) it is a dict that Python printed: write "
        "it with `json.dumps`. Further on, look at the text there: if it ends, raise `max_tokens`; otherwise remove "
        "the extra comma, or have the server enforce JSON.",
        "https://docs.python.org/3/library/json.html",
        example="Expecting property name enclosed in double quotes: line 1 column 2 (char 1)",
        is_general=True,
    ),
    KnownError(
        "Unexpected end of JSON input",
        Stage.PARSE,
        "Text was parsed as JSON, but it is empty or incomplete: it was cut, or arguments of a call are an empty "
        "string.",
        "Check that text: read empty arguments as `{}`; if `finish_reason` is `length`, raise `max_tokens`.",
        "https://developer.mozilla.org/docs/Web/JavaScript/Reference/Errors/JSON_bad_parse",
        is_general=True,
    ),
    KnownError(
        "Unexpected token ''', ...\"{around}\"... is not valid JSON",
        Stage.PARSE,
        "Text was parsed as JSON, but it has a value or a key in single quotes, as Python prints lists and dicts.",
        "Look at the arguments, or the answer, that was being read. If the model wrote single quotes, have the server "
        "enforce JSON (`strict`, `tool_choice`, or a schema in `response_format`), or read it as a Python literal; if "
        "a parser or a gateway printed a dict, update it: it should write JSON.",
        "https://github.com/QwenLM/qwen-code/issues/288",
        example="Unexpected token ''', ...\"\"files\": ['a.py', \"... is not valid JSON",
        is_general=True,
    ),
    KnownError(
        "Unexpected token '{found}', ...\"{around}\"... is not valid JSON",
        Stage.PARSE,
        "Text was parsed as JSON, but it breaks in the middle, where the message quotes it: a quotation mark or a line "
        "break that is not escaped, a missing comma or bracket, or a second value after the first.",
        "Look at the place that the message quotes, in the arguments or the answer that was being read. If the model "
        "wrote them like that, ask again, or have the server enforce JSON (`strict`, `tool_choice`).",
        "https://developer.mozilla.org/docs/Web/JavaScript/Reference/Errors/JSON_bad_parse",
        example='Unexpected token \'b\', ...""text": "a"b"c"}"... is not valid JSON',
        is_general=True,
    ),
    KnownError(
        "is not valid JSON",
        Stage.PARSE,
        "Text was parsed as JSON, but it is something else, such as a page of HTML, prose or markup.",
        "Check the beginning of the text that the message quotes: a `<` is a web page from a wrong address, or the "
        "markup of a call.",
        "https://developer.mozilla.org/docs/Web/JavaScript/Reference/Errors/JSON_bad_parse",
        example="Unexpected token '<', \"<tool_call\"... is not valid JSON",
        is_distinctive=False,
        is_general=True,
    ),
    KnownError(
        "invalid character '{found}' looking for beginning of value",
        Stage.PARSE,
        "Text was parsed as JSON, but it begins with something else: markup, prose, or a Python value such as `None`.",
        "Check the beginning of that text: if it is a model's answer, compare its notation with the parser.",
        "https://pkg.go.dev/encoding/json",
        example="invalid character '<' looking for beginning of value",
        is_general=True,
    ),
    KnownError(
        "invalid character '{found}' after",
        Stage.PARSE,
        "Text was parsed as JSON, but it breaks in the middle: a quotation mark that is not escaped, a missing comma "
        "or bracket, or a second value after the first.",
        "Look at the arguments of the call that was being read: the model wrote them like that. Ask again, or have the "
        "server constrain calls (`strict`, `tool_choice`).",
        "https://pkg.go.dev/encoding/json",
        example="invalid character '}' after array element",
        is_general=True,
    ),
    KnownError(
        "invalid character '{found}' in",
        Stage.PARSE,
        "Text was parsed as JSON, but a string, number or word in it is broken, as by a line break that is not "
        "escaped.",
        "Look at the arguments of the call that was being read: the model wrote them like that. Ask again, or have the "
        "server constrain calls (`strict`, `tool_choice`).",
        "https://pkg.go.dev/encoding/json",
        example="invalid character '\\n' in string literal",
        is_general=True,
    ),
    KnownError(
        "json.exception.parse_error.101",
        Stage.PARSE,
        "Text was parsed as JSON, but it breaks off or is something else.",
        "Check the position that the message gives: in the body of the request, if it was written by hand; else "
        "arguments of a call in the history that are not JSON, or an answer that was cut.",
        "https://json.nlohmann.me/home/exceptions/",
        example="[json.exception.parse_error.101] parse error at line 1, column 5: syntax error while parsing value",
        is_general=True,
    ),
    KnownError(
        "Expecting value: line {line:int} column {column:int} (char {at:int})",
        Stage.PARSE,
        "Text was parsed as JSON, but at the position given there is something other than a value: a marker "
        "such as `[TOOL_CALLS]`, a Python value such as `None`, or nothing, because the text was cut.",
        "Check the position that the message gives: a marker belongs to the model's notation, which its parser "
        "reads; if the text ends there, raise `max_tokens`.",
        "https://github.com/vllm-project/vllm/issues/16594",
        example="Expecting value: line 1 column 2 (char 1)",
        is_general=True,
    ),
)
