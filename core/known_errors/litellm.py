"""What LiteLLM says before a provider is asked. Read in release 1.109.1."""

from __future__ import annotations

from prompt_debugger.core.base.types import Stage
from prompt_debugger.core.known_errors.base import REACH_SERVER, Cause, KnownError, Look

MAKER = "LiteLLM"

_UTILS = "litellm/utils.py"
_FACTORY = "litellm/litellm_core_utils/prompt_templates/factory.py"

_NO_NAME_OF_CALL = (
    "Where tools or a JSON format are set, this adapter of LiteLLM takes every answer of Ollama that is JSON for a "
    "call, and this one has no `name`: it is other JSON."
)
_USE_CHAT = (
    "Name the model with `ollama_chat/` in place of `ollama/`, which has real tool calls, and update LiteLLM; without "
    "tools or `format`, the error does not arise."
)

SENTENCES: tuple[KnownError, ...] = (
    KnownError(
        "Failed to parse tool call arguments for tool '{name}' ({of}). Error: Extra data: line",
        Stage.PARSE,
        "The arguments of the call are several JSON objects end to end, or an object with more text after it. LiteLLM "
        "only logs that, and goes on as if there were no call.",
        "Look at the arguments (paste the call). Several objects are several calls in one entry: make a call "
        "of each. If the answer was streamed, ask without streaming: the pieces of calls may share an index.",
        "https://github.com/BerriAI/litellm/issues/40582",
        example="Failed to parse tool call arguments for tool 'run' (chat completions).\n"
        'Error: Extra data: line 1 column 9 (char 8). Arguments: {"a": 1}{"a": 2}',
    ),
    KnownError(
        "APIConnectionError: Extra data: line {line:int} column {column:int} (char {at:int}){where}ollama_chat",
        Stage.REQUEST,
        "The arguments of a call in the history are several JSON objects end to end: LiteLLM decodes them before it "
        "asks Ollama, and reports any failure as one of the connection. Its streams from `ollama_chat` gave every call "
        "the index 0, and a client that puts the pieces together by index made one call of several.",
        "Split that call of the history into one call for each object, or begin a new session. Then ask "
        "without streaming, or put calls together by id, or update LiteLLM.",
        "https://github.com/BerriAI/litellm/issues/33678",
        example="litellm.APIConnectionError: Extra data: line 1 column 18 (char 17) in completion response = "
        "_complete_ollama_chat(context)",
        field="messages",
        look=Look.BROKEN_ARGUMENTS,
        cause=Cause.REQUEST,
    ),
    KnownError(
        '"name": function_call["name"], KeyError: \'name\'',
        Stage.PARSE,
        _NO_NAME_OF_CALL,
        _USE_CHAT,
        "https://github.com/BerriAI/litellm/issues/10291",
    ),
    KnownError(
        "APIConnectionError: 'name'",
        Stage.PARSE,
        "LiteLLM failed where it read the answer, and not in the connection: the words are those of a `KeyError`, and "
        f"it gives that name to other failures, too. {_NO_NAME_OF_CALL}",
        _USE_CHAT,
        "https://github.com/BerriAI/litellm/issues/10291",
        cause=Cause.CLIENT,
    ),
    KnownError(
        "{model:word} does not support {field:word}={value}. To drop unsupported params, set `litellm.drop_params",
        Stage.REQUEST,
        "LiteLLM knows that this model does not accept that value of the field.",
        "Send a value that the model accepts, leave the field out, or set `litellm.drop_params` (in the proxy: "
        "`drop_params: true`).",
        "litellm/llms/bedrock/chat/converse_transformation.py: AmazonConverseConfig",
        example="my-model does not support top_k=1. To drop unsupported params, set `litellm.drop_params = True`.",
        field="{field}",
    ),
    KnownError(
        "The model is repeating the same chunk = {chunk}",
        Stage.COMPLETE,
        "LiteLLM ended the stream: the model wrote the same piece again and again.",
        "Raise temperature or add a repetition penalty, and check template and quantization of the model; the limit is "
        "`litellm.REPEATED_STREAMING_CHUNK_LIMIT`.",
        "litellm/litellm_core_utils/streaming_handler.py: raise_on_model_repetition",
        example="The model is repeating the same chunk = the.",
        cause=Cause.OUTPUT,
    ),
    KnownError(
        "Image url not in expected format. Example Expected input",
        Stage.REQUEST,
        "LiteLLM has to send the image itself to this provider, and the address is not a `data:` URL that it can read.",
        "Send the image as `data:image/jpeg;base64,…` with its real type.",
        f"{_FACTORY}: convert_to_anthropic_image_obj",
        field="messages",
    ),
    KnownError(
        "Unable to create messages for completion request. This can happen when: 1) Using previous_response_id",
        Stage.REQUEST,
        "LiteLLM translates the Responses API to chat completions, and nothing is left of the input: it has only "
        "results of tools, and the calls that they answer are in an earlier response that LiteLLM did not keep.",
        "Send the whole conversation in `input`, or give the proxy a database for sessions.",
        "litellm/responses/litellm_completion_transformation/transformation.py",
        field="input",
    ),
    KnownError(
        "{provider:word} does not support parameters: {names}, for model=",
        Stage.REQUEST,
        "LiteLLM knows that this provider does not support some of the fields.",
        "Leave these fields out, or set `litellm.drop_params` (in the proxy: `drop_params: true`).",
        f"{_UTILS}: get_optional_params",
        example="UnsupportedParamsError: groq does not support parameters: ['logit_bias'], for model=llama-3. To drop "
        "these, set `litellm.drop_params=True`",
        cause=Cause.CLIENT,
    ),
    KnownError(
        "LLM Provider NOT provided. Pass in the LLM provider you are trying to call. You passed model={model}",
        Stage.REQUEST,
        "LiteLLM cannot determine the provider from the model's name.",
        "Put the provider before the model's name, as in `hosted_vllm/NAME` or `openai/NAME`.",
        "litellm/litellm_core_utils/get_llm_provider_logic.py: get_llm_provider",
        example="LLM Provider NOT provided. Pass in the LLM provider you are trying to call. You passed model=my-qwen",
        field="model",
        cause=Cause.CLIENT,
    ),
    KnownError(
        "Invalid message at index {index:int}. Please ensure all messages are valid OpenAI chat completion messages.",
        Stage.REQUEST,
        "A message lacks a required field.",
        "Correct that message: it needs a `role`, and `content` in the form of its role.",
        f"{_UTILS}: validate_chat_completion_user_messages",
        example="Invalid message at index 3. Please ensure all messages are valid OpenAI chat completion messages.",
        field="messages[{index}]",
        cause=Cause.CLIENT,
    ),
    KnownError(
        "Invalid tool choice, tool_choice={value}. Please ensure tool_choice follows the OpenAI spec",
        Stage.REQUEST,
        "`tool_choice` does not have OpenAI's shape.",
        'Send `none`, `auto`, `required` or `{"type": "function", "function": {"name": NAME}}`.',
        f"{_UTILS}: validate_chat_completion_tool_choice",
        example="Invalid tool choice, tool_choice={'name': 'f'}. Please ensure tool_choice follows the OpenAI spec",
        field="tool_choice",
        cause=Cause.CLIENT,
    ),
    KnownError(
        "Invalid first message. Should always start with 'role'='user' for Anthropic.",
        Stage.REQUEST,
        "The history does not begin with a user message, which Anthropic requires.",
        "Begin with a user message, or let LiteLLM add one (`modify_params`).",
        f"{_FACTORY}: anthropic_messages_pt_xml",
        field="messages[0].role",
        cause=Cause.CLIENT,
    ),
    KnownError(
        "Anthropic requires at least one non-system message.",
        Stage.REQUEST,
        "Only system text was sent.",
        "Add a user message.",
        f"{_FACTORY}: anthropic_messages_pt",
        field="messages",
        cause=Cause.CLIENT,
        look=Look.NO_USER,
    ),
    KnownError(
        "Missing corresponding tool call for tool response message.",
        Stage.REQUEST,
        "LiteLLM finds no call for a tool result while it translates the history for Gemini.",
        "Keep the message with the call when the history is shortened.",
        f"{_FACTORY}: convert_to_gemini_tool_call_result",
        field="messages",
        cause=Cause.CLIENT,
        look=Look.ORPHAN_RESULTS,
    ),
    KnownError(
        "Unable to convert openai tool calls={calls} to {provider:word} tool calls. Received error={why}",
        Stage.REQUEST,
        "LiteLLM cannot translate the calls of a message in the history for this provider, usually because "
        "their arguments are not JSON.",
        "Send back valid JSON as the arguments of every call; a call without arguments has `{}`.",
        f"{_FACTORY}: convert_to_gemini_tool_call_invoke",
        example="Unable to convert openai tool calls=[{'id': 'c1', 'function': {'name': 'f', 'arguments': ''}}] to "
        "bedrock tool calls. Received error=Expecting value: line 1 column 1 (char 0)",
        field="messages",
        cause=Cause.CLIENT,
        look=Look.BROKEN_ARGUMENTS,
    ),
    KnownError(
        "thinking.budget_tokens must be a number, got {kind:word}",
        Stage.REQUEST,
        "The budget for thinking is not a number.",
        "Send `thinking.budget_tokens` as a number.",
        "litellm/litellm_core_utils/reasoning_effort_utils.py: non_numeric_thinking_budget_error",
        example="thinking.budget_tokens must be a number, got str.",
        field="thinking.budget_tokens",
        cause=Cause.CLIENT,
    ),
    KnownError(
        "No connected db.",
        Stage.REQUEST,
        "The key is not the proxy's master key, and LiteLLM's proxy has no database in which it could look up others.",
        "Send the master key (`LITELLM_MASTER_KEY`, `master_key` of the proxy's settings), or give the proxy a "
        "database (`DATABASE_URL`) and create the key there.",
        "litellm/proxy/auth/user_api_key_auth.py",
        example="No connected db.",
        cause=Cause.ACCESS,
    ),
    KnownError(
        "Error parsing chunk: {why}",
        Stage.PARSE,
        "LiteLLM could not read an event of the provider's stream.",
        "Check the event that it quotes: a newer release may read it; without `stream` the answer comes whole.",
        "https://github.com/BerriAI/litellm/pull/39288",
        example="OpenAIException - Error parsing chunk: Chat provider: Invalid function argument delta",
    ),
    KnownError(
        "litellm.APIConnectionError: {provider:word} - {why}",
        Stage.COMPLETE,
        "LiteLLM uses this name for any failure while it talked to the provider: the text after the dash says which.",
        "Read the text after the dash; `litellm._turn_on_debug()` prints the request and the answer, "
        "which can be pasted here.",
        "litellm/litellm_core_utils/exception_mapping_utils.py: exception_type",
        example="litellm.APIConnectionError: OllamaException - broken",
        cause=Cause.UNCLEAR,
        is_general=True,
    ),
    KnownError(
        "OpenAIException - Connection error",
        Stage.COMPLETE,
        "LiteLLM got no answer: it could not reach the server.",
        REACH_SERVER,
        "litellm/litellm_core_utils/exception_mapping_utils.py: exception_type",
        example="litellm.InternalServerError: OpenAIException - Connection error.",
        cause=Cause.CONNECTION,
    ),
    KnownError(
        "litellm.Timeout: ",
        Stage.COMPLETE,
        "The server did not answer within the timeout.",
        "Raise `timeout` (of the proxy: `request_timeout`); the server's log shows whether it was still working.",
        "litellm/exceptions.py: Timeout",
        example="litellm.Timeout: APITimeoutError",
        cause=Cause.CONNECTION,
        is_general=True,
    ),
    KnownError(
        "APIConnectionError: Expecting value: line {line:int} column {column:int} (char {at:int})",
        Stage.COMPLETE,
        "LiteLLM tried to read the provider's answer as JSON, and it is not JSON: the body was empty, or a "
        "web page. The message says nothing about the request.",
        "Look at what the provider really sends: call its address by hand (`curl -i URL`), or let LiteLLM "
        "print it (`--detailed_debug`). A wrong region, project, path or key usually leads to a page instead "
        "of the API.",
        "https://github.com/BerriAI/litellm/issues/13756",
        example="litellm.APIConnectionError: Expecting value: line 1 column 1 (char 0). Received Model Group=m",
        cause=Cause.CONNECTION,
    ),
    KnownError(
        "{count:int} validation error for ChatCompletionDeltaToolCall",
        Stage.COMPLETE,
        "LiteLLM could not read a piece of a streamed call: a field of it has a value that OpenAI's form does not "
        "allow, such as `null` for `function.arguments`, which must be a string.",
        "Look at the piece as the provider sent it: arguments are a string in every piece, empty where there are none "
        "yet. Update LiteLLM, which reads more of these now, or ask without streaming.",
        "https://github.com/BerriAI/litellm/issues/4440",
        example="LiteLLM:ERROR: 1 validation error for ChatCompletionDeltaToolCall\nfunction.arguments",
        cause=Cause.OUTPUT,
    ),
    KnownError(
        'messages[msg_i].get("tool_calls") IndexError: list index out of range',
        Stage.REQUEST,
        "LiteLLM makes one prompt of the messages for Ollama's `/api/generate`, and its code fails where the last "
        "message is the assistant's; the model was not asked.",
        "Name the model `ollama_chat/NAME`, which sends the messages as they are, or update LiteLLM.",
        "https://github.com/crewAIInc/crewAI/issues/2744",
        cause=Cause.UNCLEAR,
    ),
    KnownError(
        "[Non-Blocking] LiteLLM.Success_Call Error: {count:int} validation error",
        Stage.COMPLETE,
        "LiteLLM could not write its own record of a request that was answered: the client got the answer.",
        "Update LiteLLM; the request and the answer need no change. Callbacks and spend logs may lack this request.",
        "https://github.com/BerriAI/litellm/pull/31654",
        example="[Non-Blocking] LiteLLM.Success_Call Error: 1 validation error for Message",
        cause=Cause.CLIENT,
    ),
)
