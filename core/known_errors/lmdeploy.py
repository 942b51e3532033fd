"""What LMDeploy says. Read in release 0.14.0."""

from __future__ import annotations

from prompt_debugger.core.base.types import Stage
from prompt_debugger.core.known_errors.base import Cause, KnownError

MAKER = "LMDeploy"

_PARSERS = "lmdeploy/serve/parsers/response_parser.py"

SENTENCES: tuple[KnownError, ...] = (
    KnownError(
        '`tool_choice="required"` requires a configured tool-call parser.',
        Stage.REQUEST,
        "A call is required, but the server has no parser to read it.",
        "Start the server with `--tool-call-parser NAME`; the request itself needs no change.",
        f"{_PARSERS}: ResponseParser",
        field="tool_choice",
        cause=Cause.SETTING,
    ),
    KnownError(
        "`tool_choice={value}` requires at least one tool.",
        Stage.REQUEST,
        "A call is required, and the request offers no tools.",
        "Send the tools as well, or leave `tool_choice` out.",
        "lmdeploy/serve/anthropic/endpoints/validation.py",
        example="`tool_choice=any` requires at least one tool.",
        field="tool_choice",
    ),
    KnownError(
        "The tool parser {name:word} is not in the parser list: {names}",
        Stage.REQUEST,
        "The server did not start: this release does not have a tool parser with that name.",
        "Choose one of the names that the message lists, or update LMDeploy. For gpt-oss, leave `--tool-call-parser` "
        "out: current releases choose its reader by the model.",
        f"{_PARSERS}: ResponseParserManager",
        example="The tool parser qwen9 is not in the parser list: dict_keys(['internlm', 'llama3', 'qwen'])",
        cause=Cause.SETTING,
    ),
    KnownError(
        "The reasoning parser {name:word} is not in the parser list: {names}",
        Stage.REQUEST,
        "The server did not start: this release does not have a reasoning parser with that name.",
        "Choose one of the names that the message lists, or update LMDeploy.",
        f"{_PARSERS}: ResponseParserManager",
        example="The reasoning parser qwen9 is not in the parser list: dict_keys(['default', 'deepseek-v3'])",
        cause=Cause.SETTING,
    ),
    KnownError(
        "argument --reasoning-parser: not allowed with argument --tool-call-parser",
        Stage.REQUEST,
        "The server did not start: this release of LMDeploy accepts only one of the two flags.",
        "Update LMDeploy: newer releases take both. Until then, leave one of the two out.",
        "https://github.com/InternLM/lmdeploy/pull/3550",
        cause=Cause.SETTING,
    ),
    KnownError(
        "argument --tool-call-parser: not allowed with argument --reasoning-parser",
        Stage.REQUEST,
        "The server did not start: this release of LMDeploy accepts only one of the two flags.",
        "Update LMDeploy: newer releases take both. Until then, leave one of the two out.",
        "https://github.com/InternLM/lmdeploy/pull/3550",
        cause=Cause.SETTING,
    ),
    KnownError(
        "Failed to parse fc related info to json format!",
        Stage.PARSE,
        "The tool parser failed on a call that the model wrote, so the server refused the whole answer.",
        "Look at the server's log: the line `Failed to parse …` above it quotes the output. Compare it with the "
        "notation of `--tool-call-parser`.",
        "lmdeploy/serve/openai/api_server.py: chat_completions_v1",
    ),
    KnownError(
        "Tool call arguments contain invalid JSON",
        Stage.REQUEST,
        "The arguments of a call in the history are not JSON.",
        "Send back the arguments as valid JSON text; a call without arguments has `{}`.",
        f"{_PARSERS}: _parse_tool_call_arguments_dict",
        field="messages",
    ),
    KnownError(
        "Allowed tool(s) not found in request.tools: {names}",
        Stage.REQUEST,
        "`tool_choice` allows tools that the request does not declare.",
        "Allow only tools that are in `tools`.",
        f"{_PARSERS}: ResponseParser",
        example="Allowed tool(s) not found in request.tools: ['get_time']",
        field="tool_choice",
    ),
)
