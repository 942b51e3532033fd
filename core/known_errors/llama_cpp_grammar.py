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
        "error parsing grammar: number of repetitions exceeds sane defaults",
        Stage.COMPLETE,
        "The grammar repeats something more than 2,000 times. The server makes such repetitions of `maxLength`, "
        "`minLength`, `maxItems` and `minItems` in a schema, and of `{m,n}` in a `pattern`; the schemas of tools count "
        "as well.",
        "Lower these bounds or take them out, in the tools and in the format, and check the length in the program; "
        "newer builds read a large upper bound as none.",
        "ggml-org/llama.cpp, src/llama-grammar.cpp: MAX_REPETITION_THRESHOLD",
        cause=Cause.REQUEST,
    ),
    KnownError(
        "error initializing grammar sampler for grammar:",
        Stage.COMPLETE,
        "The server runs the grammar over the end of the prompt before the model writes, and the grammar does not "
        "accept it. The log shows both: the grammar, and below it the *Generation prompt*, which may open or close a "
        "block of thinking that the grammar has no place for.",
        "Update the server. Until then, ask with another thinking setting than now, so that the template ends the "
        "prompt differently, or send a `grammar` in place of the schema: it is not run over the prompt.",
        "ggml-org/llama.cpp, common/sampling.cpp: common_sampler_init",
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
