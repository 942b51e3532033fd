"""What openai-harmony says, the parser of gpt-oss that vLLM and others run. It gives ids of tokens, not text."""

from __future__ import annotations

from prompt_debugger.core.base.types import Stage
from prompt_debugger.core.known_errors.base import Cause, KnownError

MAKER = "openai-harmony"

_ISSUES = "https://github.com/openai/harmony/issues"
_PARSER = "openai_harmony, StreamableParser"

SENTENCES: tuple[KnownError, ...] = (
    KnownError(
        "You have passed a message containing <|channel|> tags in the content field",
        Stage.RENDER,
        "The chat template of gpt-oss refuses an assistant message of the history whose `content` still contains the "
        "markup of its channels: the answer was sent back as the server had left it, unparsed.",
        "Have the server separate reasoning and answer (llama.cpp: `--reasoning-format auto`, not `none`; vLLM: its "
        "parser for gpt-oss), and send back the text of the final channel as `content` and the analysis as `thinking` "
        "or `reasoning_content`, or not at all.",
        "https://github.com/ggml-org/llama.cpp/issues/15242",
        cause=Cause.REQUEST,
    ),
    KnownError(
        "Unexpected token {got:int} while expecting start token {wanted:int}",
        Stage.PARSE,
        ("After a message of gpt-oss ended, the model wrote something other than the token that starts the next one."),
        "Check the raw output before that token. Often a message ended with `<|call|>` or `<|return|>` and "
        "the model continued: make these two stop the generation. A newer release of the server may "
        "recover by itself.",
        f"{_ISSUES}/60",
        example="Unexpected token 12606 while expecting start token 200006",
    ),
    KnownError(
        "unexpected tokens remaining in message header: {tokens}",
        Stage.PARSE,
        "A message header of gpt-oss contains words that are neither role, recipient, channel nor content type.",
        "Check the header in the raw output: the model wrote text where a marker was expected. Ask again, "
        "or use a release of the server that recovers.",
        f"{_ISSUES}/38",
        example='unexpected tokens remaining in message header: ["functions.get_weather", "to=json"]',
    ),
    KnownError(
        "Unexpected EOS while waiting for message header to complete",
        Stage.PARSE,
        "The output ends inside a message header; it was cut, or a prompt was parsed instead of an output.",
        "Allow more tokens. If you parse it yourself, give the parser only the tokens of the completion, "
        "and the role that it begins with.",
        f"{_ISSUES}/33",
    ),
    KnownError(
        "channel marker present but no channel value found in header",
        Stage.PARSE,
        "The model wrote `<|channel|>` and no channel after it.",
        "Check the header in the raw output; ask again.",
        _PARSER,
    ),
    KnownError(
        "message header did not contain a role",
        Stage.PARSE,
        "A message begins without a role.",
        "Check the header in the raw output. If you parse it yourself, start the parser with the role.",
        _PARSER,
    ),
    KnownError(
        "error downloading or loading vocab file",
        Stage.RENDER,
        "The vocabulary of gpt-oss could not be fetched: the machine has no network access.",
        "Put the vocabulary files on the machine and point `TIKTOKEN_ENCODINGS_BASE` at their folder.",
        "https://github.com/openai/harmony/issues/95",
        cause=Cause.SETTING,
    ),
)
