"""What LangChain says by itself."""

from __future__ import annotations

from prompt_debugger.core.base.types import Stage
from prompt_debugger.core.known_errors.base import Cause, KnownError, Look

MAKER = "LangChain"

SENTENCES: tuple[KnownError, ...] = (
    KnownError(
        "Function {name:word} arguments: {text} are not valid JSON.",
        Stage.PARSE,
        "The arguments that the model wrote for a call are not JSON.",
        "Ask again; if the text ends early, raise `max_tokens`.",
        "https://docs.langchain.com/oss/python/langchain/errors/OUTPUT_PARSING_FAILURE",
        example='Function get_weather arguments: {"city": are not valid JSON. Received JSONDecodeError',
    ),
    KnownError(
        "Found AIMessages with tool_calls that do not have a corresponding ToolMessage.",
        Stage.REQUEST,
        "Calls in the history have no result.",
        "Add a `ToolMessage` for each call, even if a tool failed.",
        "https://docs.langchain.com/oss/python/langchain/errors/INVALID_CHAT_HISTORY",
        field="messages",
        cause=Cause.CLIENT,
        look=Look.OPEN_CALLS,
    ),
    KnownError(
        "Received tool input did not match expected schema",
        Stage.CONTRACT,
        "The input that the model wrote for a tool does not fit the tool's schema: a required parameter is absent, "
        "or has another type.",
        "Compare the call with the schema: say in the description what each required parameter is, and make "
        "optional what may be absent.",
        "https://github.com/n8n-io/n8n/issues/37916",
    ),
    KnownError(
        "'{model:word}' did not respond with valid JSON.",
        Stage.PARSE,
        "This client has the model write calls as JSON in its text, and the text is something else.",
        "Use the client that has calls of the API (`ChatOllama` with `bind_tools`), with a model that is made for "
        "tools.",
        "https://github.com/langchain-ai/langchain/issues/23156",
        example="'llama3' did not respond with valid JSON.",
    ),
    KnownError(
        "is not a valid tool, try {what}",
        Stage.CONTRACT,
        "The model named a tool that the agent does not have, often with words around its name.",
        "Use calls of the API in place of a prompt that asks for them, or name the tools so that no words are "
        "wanted around them.",
        "https://github.com/langchain-ai/langchain/issues/1559",
        example="Use Requests is not a valid tool, try another one.",
    ),
)
