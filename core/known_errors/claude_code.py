"""What Claude Code says of answers that it cannot use."""

from __future__ import annotations

from prompt_debugger.core.base.types import Stage
from prompt_debugger.core.known_errors.base import Cause, KnownError

MAKER = "Claude Code"

SENTENCES: tuple[KnownError, ...] = (
    KnownError(
        "API returned an empty or malformed response (HTTP {status:int})",
        Stage.COMPLETE,
        "The server answered with success, and what came is not a message of Anthropic's API: empty, a page, or a "
        "stream in which an error came in place of the message.",
        "Ask the same address with `curl -N`, with `stream` as the client sends it, and look at the events: an event "
        "`error` has the reason in its words. If a proxy translates in between, its log and that of the model's server "
        "show the first failure.",
        "https://github.com/Alishahryar1/free-claude-code/issues/137",
        example="API Error: API returned an empty or malformed response (HTTP 200) - check for a proxy or gateway",
    ),
    KnownError(
        "is not an object (evaluating '$.input_tokens')",
        Stage.COMPLETE,
        "The answer has no `usage`, from which the client reads the number of tokens.",
        "Let the proxy send `usage` with `input_tokens` and `output_tokens` in `message_start` and `message_delta`, or "
        "update it; if the answer is an error, its words say more (record it with `capture`).",
        "https://github.com/Alishahryar1/free-claude-code/issues/121",
        example="undefined is not an object (evaluating '$.input_tokens')",
    ),
    KnownError(
        "Claude's response exceeded the {limit:int} output token maximum",
        Stage.COMPLETE,
        "The answer reached the token limit that the program sets.",
        "Raise `CLAUDE_CODE_MAX_OUTPUT_TOKENS` as far as the model and its server allow, or ask for smaller steps, "
        "such as one file at a time.",
        "https://docs.claude.com/en/docs/claude-code/settings",
        example="Claude's response exceeded the 32000 output token maximum.",
        cause=Cause.OUTPUT,
    ),
    KnownError(
        "{tool:word} failed due to the following issues: {what}parameter",
        Stage.CONTRACT,
        "The program compared the arguments of the model's call with the tool's schema, and they do not fit: what "
        "follows names each parameter that is missing, or that the tool does not have.",
        "Look at the arguments as they came (paste the call). If they are whole there, or all of them came under "
        "another name such as `raw_arguments`, a router or proxy did not decode or join them: update it. Otherwise the "
        "model left them out: take a model that is made for tools.",
        "https://github.com/anthropics/claude-agent-sdk-python/issues/113",
        example="InputValidationError: Write failed due to the following issues: The required parameter `file_path` is "
        "missing An unexpected parameter `raw_arguments` was provided",
        cause=Cause.OUTPUT,
    ),
    KnownError(
        "Your tool call was malformed and could not be parsed",
        Stage.COMPLETE,
        "The model wrote a call that the client could not read, often as text: a stray word in place of the marker "
        "that opens it, then the bare tags of a call. The request is not the cause, and nothing was run.",
        "Ask again. If it comes again, begin a new session or compact it: models repeat the broken form that they read "
        "in their history. If another model than Claude answers through a proxy, paste the answer: its own "
        "notation may have come as text.",
        "https://github.com/anthropics/claude-code/issues/72352",
        cause=Cause.OUTPUT,
    ),
)
