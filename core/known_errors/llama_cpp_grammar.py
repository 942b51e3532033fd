"""What llama.cpp says of grammars, which it reads as text or makes from a schema."""

from __future__ import annotations

from prompt_debugger.core.base.types import Stage
from prompt_debugger.core.known_errors.base import Cause, KnownError

MAKER = "llama.cpp (grammars)"

SENTENCES: tuple[KnownError, ...] = (
    KnownError(
        "error parsing grammar file: {why}",
        Stage.COMPLETE,
        "The Python binding could not read the grammar, which is text in GBNF: the line that llama.cpp printed above "
        "says where it gave up. An empty list of rules means that it read none.",
        "Correct the grammar there: one rule per line, as `NAME ::= …`, and one of them named `root`. A JSON schema is "
        "given to `LlamaGrammar.from_json_schema`, or as `schema` in `response_format`.",
        "https://github.com/abetlen/llama-cpp-python/issues/615",
        example="from_string: error parsing grammar file: parsed_grammar.rules is empty",
        cause=Cause.REQUEST,
    ),
    KnownError(
        "error parsing grammar: Undefined rule identifier {name}",
        Stage.COMPLETE,
        "A rule of the grammar names another one that the grammar does not have. If the server made the "
        "grammar from a schema, its converter usually failed on the order or the names of the properties.",
        "If the request has a `grammar`, define that rule in it. If it has a schema, give the properties "
        "names of plain letters and digits, mark them as `required`, and update the server.",
        "ggml-org/llama.cpp, src/llama-grammar.cpp: llama_grammar_parser::parse",
        example="parse: error parsing grammar: Undefined rule identifier 'tags-kv'",
        cause=Cause.REQUEST,
    ),
    KnownError(
        "error parsing grammar: {why}",
        Stage.COMPLETE,
        "The grammar is not valid GBNF: the message quotes the place at which reading failed. Some releases "
        "then answer without the grammar, others crash.",
        "Correct the request's `grammar` at that place: one rule per line, as `NAME ::= …`, and one of them "
        "named `root`. A JSON schema belongs in `json_schema` or `response_format`. If the server made the "
        "grammar itself, simplify the schema and update the server.",
        "ggml-org/llama.cpp, src/llama-grammar.cpp: llama_grammar_parser::parse",
        example='parse: error parsing grammar: expecting ::= at := "yes"',
        cause=Cause.REQUEST,
    ),
    KnownError(
        "error parsing grammar: unknown escape at {place}",
        Stage.COMPLETE,
        "A `pattern` of the schema, or the grammar, has an escape that grammars do not know, such as `\\d`. Ollama and "
        "older releases of llama.cpp then answer without the schema.",
        "Write `[0-9]` for `\\d`, `[A-Za-z0-9_]` for `\\w` and a blank for `\\s`, or take the `pattern` out and "
        "check the value in the program; newer releases convert more of them.",
        "https://github.com/ollama/ollama/issues/8063",
        example='parse: error parsing grammar: unknown escape at \\d"{4} "-"',
        cause=Cause.REQUEST,
    ),
)
