"""What LangChain itself says."""

from __future__ import annotations

from prompt_debugger.core.base.types import Stage
from prompt_debugger.core.known_errors.base import Cause, KnownError, Look

MAKER = "LangChain"

SENTENCES: tuple[KnownError, ...] = (
    KnownError(
        "tool_call() got an unexpected keyword argument '{name:word}'",
        Stage.REQUEST,
        "A call was given to LangChain's `AIMessage` in the form of the API (`type`, `function`), and its own form has "
        "`name`, `args` and `id`.",
        'Give `tool_calls=[{"name": …, "args": {…}, "id": …}]`, with the arguments decoded, or leave the calls '
        'as they are and give them as `additional_kwargs={"tool_calls": [...]}`, from where it converts them.',
        "https://github.com/langchain-ai/langchain/issues/27938",
        example="tool_call() got an unexpected keyword argument 'function'",
        cause=Cause.CLIENT,
    ),
    KnownError(
        "Could not parse function call: 'function_call'",
        Stage.PARSE,
        "LangChain's parser of functions (`JsonOutputFunctionsParser`) reads `function_call` of the message, and this "
        "answer has none: the server ignored `functions`, the older form of `tools`, or the model answered with a "
        "text.",
        "Send the function as a tool (`bind_tools` with `tool_choice`, or `with_structured_output`), to a server and a "
        "model that take tools; servers of local models often ignore `functions` and `function_call`.",
        "https://www.reddit.com/r/LangChain/comments/1bwq86t/langgraph_function_call_error_using_lmstudio/",
    ),
    KnownError(
        "Function {name:word} arguments: {text} are not valid JSON.",
        Stage.PARSE,
        "The arguments that the model wrote for a call are not JSON.",
        "Look at what is quoted. Markup of a call (`<tool_call>`) means that the server did not parse its own model's "
        'notation, usually of a forced call: send `tool_choice: "auto"`, or update the server. If the text '
        "ends early, raise `max_tokens`; otherwise ask again.",
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
        "The input that the model wrote for a tool does not match the tool's schema: a required parameter is absent, "
        "or has another type.",
        "Compare the call with the schema: describe each required parameter, and make those optional that may be "
        "absent.",
        "https://github.com/n8n-io/n8n/issues/37916",
    ),
    KnownError(
        "Error invoking tool '{name:word}' with kwargs {given} with error:",
        Stage.CONTRACT,
        "The arguments that the model wrote for the tool do not match the tool's schema; the lines below name the "
        "parameter. LangGraph sends this text back to the model as the tool's result.",
        "Compare the call with the schema: describe each required parameter, and make those optional that may be "
        "absent. If the arguments are `{}`, see in the server's answer whether the model wrote any.",
        "langchain-ai/langgraph, langgraph/prebuilt/tool_node.py: TOOL_INVOCATION_ERROR_TEMPLATE",
        example="Error invoking tool 'look' with kwargs {} with error:\n at: Field required",
        cause=Cause.OUTPUT,
    ),
    KnownError(
        "'{model:word}' did not respond with valid JSON.",
        Stage.PARSE,
        "This client has the model write calls as JSON in its text, but the text is something else.",
        "Use the client with tool calls of the API (`ChatOllama` with `bind_tools`), with a model that is trained "
        "for tools.",
        "https://github.com/langchain-ai/langchain/issues/23156",
        example="'llama3' did not respond with valid JSON.",
    ),
    KnownError(
        "{name:word} is not a valid tool, try {what}",
        Stage.CONTRACT,
        "The model named a tool that the agent does not have, often with words around its name.",
        "Use tool calls of the API instead of a prompt that asks for them, or name the tools so that the model "
        "adds no words around them.",
        "https://github.com/langchain-ai/langchain/issues/1559",
        example="Use Requests is not a valid tool, try another one.",
    ),
    KnownError(
        "Could not parse LLM output: {text}",
        Stage.PARSE,
        "The agent reads `Action:` and `Action Input:` from the model's text, but the text does not have that "
        "form; the error quotes it.",
        "Use tool calls of the API (`bind_tools`) instead of an agent that reads text, or let the agent try "
        "again (`handle_parsing_errors=True`).",
        "https://github.com/langchain-ai/langchain/issues/1358",
        example="ValueError: Could not parse LLM output: `Thought: Do I need to use a tool? No",
    ),
    KnownError(
        'Failed to parse. Text: "{text}". Error: {why}',
        Stage.PARSE,
        "The agent's parser expects JSON in the model's text, and found something else; the error quotes it.",
        "Ask for the format with structured output that the server enforces, or use an agent that calls tools of the "
        "API. Small models often answer in prose instead of the form that a prompt describes.",
        "https://github.com/n8n-io/n8n/issues/9312",
        example='Failed to parse. Text: "I will look.". Error: SyntaxError: Unexpected token I in JSON at position 0',
    ),
    KnownError(
        "Got invalid return object. Expected markdown code snippet with JSON object, but got:",
        Stage.PARSE,
        "This release of LangChain finds JSON only in a code fence; the model wrote it without one, or wrote none.",
        "Update LangChain, whose later parsers read JSON without a fence, too, or have the prompt ask for the fence.",
        "https://github.com/langchain-ai/langchain/issues/5163",
        example="Got invalid return object. Expected markdown code snippet with JSON object, but got: {}",
    ),
    KnownError(
        "Invalid json output: {text}",
        Stage.PARSE,
        "The model's text is not JSON; the error quotes it.",
        "Ask for JSON with `with_structured_output` and a server that enforces the schema; prose, a code "
        "fence or reasoning around the JSON makes the parser fail.",
        "https://docs.langchain.com/oss/python/langchain/errors/OUTPUT_PARSING_FAILURE",
        example="Invalid json output: Sure! Here is the JSON",
    ),
    KnownError(
        "Failed to parse {model:word} from completion {text}",
        Stage.CONTRACT,
        "The model's JSON does not match the program's class.",
        "Compare the quoted JSON with the class; a server that enforces the schema (`with_structured_output`, "
        "`response_format`) keeps the model to its keys.",
        "https://docs.langchain.com/oss/python/langchain/errors/OUTPUT_PARSING_FAILURE",
        example='Failed to parse Joke from completion {"a": 1}. Got: 1 validation error for Joke',
    ),
    KnownError(
        "in bind_tools raise NotImplementedError",
        Stage.REQUEST,
        "This chat model's class has no way to send tools, so nothing was sent.",
        "Use a class that has `bind_tools`: `ChatOpenAI` with the address of the server, or `ChatOllama`.",
        "https://github.com/langchain-ai/langchain/issues/21352",
        cause=Cause.CLIENT,
    ),
    KnownError(
        "NotImplementedError: bind_tools",
        Stage.REQUEST,
        "This chat model's class has no way to send tools, so nothing was sent.",
        "Use a class that has `bind_tools`: `ChatOpenAI` with the address of the server, or `ChatOllama`.",
        "https://github.com/langchain-ai/langchain/issues/28692",
        cause=Cause.CLIENT,
    ),
    KnownError(
        "Received response with null value for `choices`.",
        Stage.COMPLETE,
        "The answer came without choices: some servers and gateways send an error that way, with status 200.",
        "Print the status and body of the answer where the program reads it; paste that body here, or record it "
        "with `capture`.",
        "https://github.com/langchain-ai/langchain/pull/35236",
        cause=Cause.OUTPUT,
    ),
    KnownError(
        "Could not parse tool input: {call} because the `arguments` is not valid JSON.",
        Stage.PARSE,
        "The arguments of the model's call are not the text of a JSON object; the error quotes the call.",
        "Look at the quoted arguments: prose in their place comes from models that know only one parameter and write "
        "only its value. Use `tools` instead of the older `functions` (`create_tool_calling_agent`), and a tool with "
        "a described schema.",
        "https://github.com/langchain-ai/langchain/issues/10433",
        example="Could not parse tool input: {'name': 'ask', 'arguments': 'What is it?'} because the `arguments` is "
        "not valid JSON.",
    ),
    KnownError(
        "Unexpected message type: '{name}'. Use one of",
        Stage.REQUEST,
        "A message has a role that LangChain does not know, so nothing was sent.",
        "Write the role as `system`, `user` (`human`), `assistant` (`ai`) or `tool`; the message lists them.",
        "https://docs.langchain.com/oss/python/langchain/errors/MESSAGE_COERCION_FAILURE",
        example="Unexpected message type: 'bot'. Use one of 'human', 'user', 'ai', 'assistant', 'function', 'tool', "
        "'system', or 'developer'.",
        field="messages",
        cause=Cause.CLIENT,
    ),
    KnownError(
        "we could not infer a called tool name for ToolMessage",
        Stage.REQUEST,
        "Gemini's API names the tool with each result, and this result has neither a name nor a call in the history "
        "that gives one.",
        "Give the `ToolMessage` its `name`, and keep the message with the call before it, with the same "
        "`tool_call_id`.",
        "libs/providers/langchain-google-genai/src/utils/common.ts",
        field="messages",
        cause=Cause.CLIENT,
    ),
    KnownError(
        "Malformed tool call chunk args.",
        Stage.PARSE,
        "The arguments that the pieces of a streamed call make are not the JSON of an object.",
        "Look at the arguments as they came: an end that was cut needs a larger `max_tokens`; pieces of two calls in "
        "one, or markup, point to the server. Ask once without streaming.",
        "libs/langchain-core/src/messages/ai.ts",
    ),
    KnownError(
        "'{name:word}' must contain non-empty content.",
        Stage.REQUEST,
        "A message has an empty text, which Gemini's API does not take, so nothing was sent.",
        "Leave that message out, or give it a text; an answer that was only a call is sent with its `tool_calls`.",
        "libs/providers/langchain-google-common/src/utils/gemini.ts",
        example="Invalid message content: empty string. 'human' must contain non-empty content.",
        field="messages",
        cause=Cause.CLIENT,
        look=Look.EMPTY_TEXT,
    ),
    KnownError(
        "additional_kwargs[{key:word}] already exists in this message chunk",
        Stage.PARSE,
        "LangChain.js joined the pieces of a streamed answer, and two of them have a value under this key that it "
        "cannot join, such as the empty `tool_calls` that some servers send with every piece.",
        "Update `@langchain/core` and what the client is built of. Until then ask without streaming.",
        "https://github.com/n4ze3m/page-assist/issues/614",
        example="additional_kwargs[tool_calls] already exists in this message chunk.",
    ),
)
