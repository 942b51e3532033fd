"""What OpenAI's Agents SDK itself says."""

from __future__ import annotations

from prompt_debugger.core.base.types import Stage
from prompt_debugger.core.known_errors.base import Cause, KnownError

MAKER = "OpenAI's Agents SDK"

SENTENCES: tuple[KnownError, ...] = (
    KnownError(
        "Max turns ({count:int}) exceeded",
        Stage.CONTRACT,
        "The agent asked the model as often as it may, and no answer ended the run: the model repeats itself, or the "
        "task needs more turns.",
        "Look at the calls of the run: the same one again and again means that its result does not help the model, or "
        "does not reach it, or that `tool_choice` forces a call each time. Otherwise raise `max_turns` where the agent "
        "is run; an agent that serves as a tool has a limit for itself.",
        "https://github.com/openai/openai-agents-python/issues/844",
        example="Max turns (10) exceeded",
        cause=Cause.CLIENT,
    ),
    KnownError(
        "additionalProperties should not be set for object types. This could be because you're using an older version "
        "of Pydantic,",
        Stage.REQUEST,
        "The SDK makes every schema strict before it sends it, and a strict schema cannot have an object with keys "
        "that are not listed: a `dict`, `**kwargs`, or a class that allows more fields.",
        "Name the fields in a class, or a list of key and value; or give up strictness: `AgentOutputSchema(TYPE, "
        "strict_json_schema=False)` for `output_type`, `strict_mode=False` for `function_tool`.",
        "https://github.com/openai/openai-agents-python/issues/608",
        cause=Cause.CLIENT,
    ),
    KnownError(
        "Invalid JSON input for tool {name:word}: {text}",
        Stage.PARSE,
        "The arguments that the model wrote for a call are not JSON.",
        "Look at the arguments: a cut end means that the token limit came first, so raise `max_tokens`; markup or a "
        "second object in them points to the server's tool parser.",
        "src/agents/tool.py",
        example='Invalid JSON input for tool search: {"q": "a',
    ),
    KnownError(
        "Hosted tools are not supported with the ChatCompletions API",
        Stage.REQUEST,
        "Tools that OpenAI runs itself (web search, file search, computer) exist only in the Responses API, and this "
        "model is asked through chat completions.",
        "Leave those tools out, or write them as functions; or use `OpenAIResponsesModel` with a server that has "
        "that API.",
        "src/agents/models/chatcmpl_converter.py",
        cause=Cause.CLIENT,
    ),
)
