"""What decoders of JSON say when a text is not JSON: Python, JavaScript, Go, Rust and C++."""

from __future__ import annotations

from prompt_debugger.core.base.types import Stage
from prompt_debugger.core.known_errors.base import KnownError

MAKER = "JSON decoders"

SENTENCES: tuple[KnownError, ...] = (
    KnownError(
        "Expecting value: line 1 column 1 (char 0)",
        Stage.PARSE,
        "A text was to be read as JSON, and it is empty or begins with something else: arguments of a call that are "
        "an empty string, prose or markup in place of JSON, or an empty body.",
        "Look at that text: read empty arguments as `{}`; where it is the answer of a model, compare its notation "
        "with the parser, and see whether anything came at all.",
        "https://github.com/open-webui/open-webui/issues/13908",
        is_general=True,
    ),
    KnownError(
        "Extra data: line {line:int} column {column:int} (char {at:int})",
        Stage.PARSE,
        "A text was to be read as JSON, and more follows after its first value: a second call, a bracket too many, "
        "or prose.",
        "Look at the character that the sentence names: take the first value alone, or read the values one by one.",
        "https://github.com/vllm-project/vllm/issues/17790",
        example="Extra data: line 3 column 1 (char 527)",
        is_general=True,
    ),
    KnownError(
        "Unterminated string starting at: line {line:int} column {column:int} (char {at:int})",
        Stage.PARSE,
        "A text was to be read as JSON, and it ends inside a string: it was cut, or a quotation mark or a line "
        "break in the string is not escaped.",
        "Look at `finish_reason`: if it is `length`, raise `max_tokens`; else look at the place that the sentence "
        "names.",
        "https://docs.python.org/3/library/json.html",
        example="Unterminated string starting at: line 1 column 12 (char 11)",
        is_general=True,
    ),
    KnownError(
        "Expecting ',' delimiter: line {line:int} column {column:int} (char {at:int})",
        Stage.PARSE,
        "A text was to be read as JSON; where it breaks, a comma or a bracket is missing, most often after a "
        "quotation mark that is not escaped, or where the text was cut.",
        "Look at the character that the sentence names; where the text ends there, raise `max_tokens`.",
        "https://docs.python.org/3/library/json.html",
        example="Expecting ',' delimiter: line 1 column 20 (char 19)",
        is_general=True,
    ),
    KnownError(
        "Expecting property name enclosed in double quotes: line {line:int} column {column:int} (char {at:int})",
        Stage.PARSE,
        "A text was to be read as JSON; where it breaks, a key is not in double quotes (as Python prints a dict), a "
        "comma is too many, or the text was cut.",
        "Look at the character that the sentence names: a dict that Python printed is read with `ast.literal_eval`, "
        "or better not printed that way.",
        "https://docs.python.org/3/library/json.html",
        example="Expecting property name enclosed in double quotes: line 1 column 2 (char 1)",
        is_general=True,
    ),
    KnownError(
        "Unexpected end of JSON input",
        Stage.PARSE,
        "A text was to be read as JSON, and it is empty or ends before it is whole: it was cut, or arguments of a "
        "call are an empty string.",
        "Look at that text: read empty arguments as `{}`; if `finish_reason` is `length`, raise `max_tokens`.",
        "https://developer.mozilla.org/docs/Web/JavaScript/Reference/Errors/JSON_bad_parse",
        is_general=True,
    ),
    KnownError(
        "is not valid JSON",
        Stage.PARSE,
        "A text was to be read as JSON, and it is something else, such as a page of HTML, prose or markup.",
        "Look at the beginning of the text that the sentence quotes: a `<` is a web page of a wrong address, or "
        "markup of a call.",
        "https://developer.mozilla.org/docs/Web/JavaScript/Reference/Errors/JSON_bad_parse",
        example="Unexpected token '<', \"<tool_call\"... is not valid JSON",
        is_distinctive=False,
        is_general=True,
    ),
    KnownError(
        "invalid character '{found}' looking for beginning of value",
        Stage.PARSE,
        "A text was to be read as JSON, and it begins with something else: markup, prose, or a Python value such as "
        "`None`.",
        "Look at the beginning of that text: where it is the answer of a model, compare its notation with the parser.",
        "https://pkg.go.dev/encoding/json",
        example="invalid character '<' looking for beginning of value",
        is_general=True,
    ),
    KnownError(
        "json.exception.parse_error.101",
        Stage.PARSE,
        "A text was to be read as JSON, and it breaks off or is something else.",
        "Look at the place that the sentence names: arguments of a call in the history that are not JSON, or an "
        "answer that was cut.",
        "https://json.nlohmann.me/home/exceptions/",
        example="[json.exception.parse_error.101] parse error at line 1, column 5: syntax error while parsing value",
        is_general=True,
    ),
    KnownError(
        "Expecting value: line {line:int} column {column:int} (char {at:int})",
        Stage.PARSE,
        "A text was to be read as JSON; at the place that is named something else stands than a value: a marker "
        "such as `[TOOL_CALLS]`, a Python value such as `None`, or nothing, because the text was cut.",
        "Look at the character that the sentence names: a marker belongs to the notation of the model, whose parser "
        "reads it; where the text ends there, raise `max_tokens`.",
        "https://github.com/vllm-project/vllm/issues/16594",
        example="Expecting value: line 1 column 2 (char 1)",
        is_general=True,
    ),
)
