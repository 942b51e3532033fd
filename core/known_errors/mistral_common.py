"""What mistral-common says, which vLLM and Mistral's API check requests with. Read in release 1.13.1."""

from __future__ import annotations

from prompt_debugger.core.base.types import Stage
from prompt_debugger.core.known_errors.base import Cause, KnownError, Look

MAKER = "mistral-common"

_VALIDATOR = "mistral_common/protocol/instruct/validator.py: MistralRequestValidator"

SENTENCES: tuple[KnownError, ...] = (
    KnownError(
        "Assistant message with prefix True must be last message",
        Stage.RENDER,
        "An assistant message that is marked to be continued has messages after it.",
        "Set `prefix` in the last message only.",
        _VALIDATOR,
        field="messages",
        cause=Cause.REQUEST,
    ),
    KnownError(
        "More tool responses than tool calls",
        Stage.RENDER,
        "There are more tool results than calls before them.",
        "Send one result for each call, right after the message with the calls.",
        _VALIDATOR,
        field="messages",
        cause=Cause.REQUEST,
        look=Look.ORPHAN_RESULTS,
    ),
    KnownError(
        "Unexpected content chunk types in {role:word} message",
        Stage.RENDER,
        "The content of a message has parts that Mistral's format does not have for that role.",
        "Send text in system, assistant and tool messages; images and audio belong in user messages.",
        _VALIDATOR,
        example="Unexpected content chunk types in system message: ['image_url']",
        field="messages",
        cause=Cause.REQUEST,
    ),
    KnownError(
        "Tools not implemented for tokenizer V1",
        Stage.RENDER,
        "The model's tokenizer is of Mistral's first version, which has no notation for tools.",
        "Serve a newer model, or send the request without tools.",
        "mistral_common/tokens/tokenizers/instruct.py",
        field="tools",
        cause=Cause.SETTING,
    ),
    KnownError(
        "Tool call id was {id:word} but must be a-z, A-Z, 0-9, with a length of 9.",
        Stage.REQUEST,
        "The id of a call has a form that this version of the tokenizer does not accept.",
        "Give each call an id of nine letters or digits, and its result the same id.",
        f"{_VALIDATOR}V3._validate_tool_message_id",
        example="Tool call id was call_0f8e3a52 but must be a-z, A-Z, 0-9, with a length of 9.",
        field="messages",
        look=Look.IDS_OF_NINE,
        tried="mistral-common 1.13.1",
    ),
    KnownError(
        "Tool call id must be a non-empty string other than 'null' for tokenizer version 13 or newer.",
        Stage.REQUEST,
        "The id of a call is empty, or is the word for a missing id.",
        "Give each call an id.",
        "mistral_common/protocol/instruct/validator.py: _INVALID_TOOL_CALL_ID_MESSAGE",
        field="messages",
        look=Look.ID_ABSENT,
        tried="mistral-common 1.13.1",
    ),
    KnownError(
        "Not the same number of function calls and responses",
        Stage.REQUEST,
        "An assistant message has more calls, or fewer, than there are results after it.",
        "Send one result for each call before the next assistant message.",
        f"{_VALIDATOR}._validate_tool_calls_followed_by_tool_messages",
        field="messages",
        look=Look.OPEN_CALLS,
        tried="mistral-common 1.13.1",
    ),
    KnownError(
        "Unexpected role '{role:word}' after role '{before:word}'",
        Stage.REQUEST,
        "Two messages follow each other in an order that Mistral's format does not have.",
        (
            "Join consecutive messages of one role, and put an assistant message between a tool result and a "
            "user message."
        ),
        f"{_VALIDATOR}._validate_message_order",
        example="Unexpected role 'user' after role 'tool'",
        field="messages",
        look=Look.ROLES_ALTERNATE,
    ),
    KnownError(
        "Expected last role User or Tool (or Assistant with prefix) for serving but got {role:word}",
        Stage.REQUEST,
        "The conversation ends with an assistant message that is not marked to be continued.",
        "End with a user or tool message, or set `prefix` in the last one.",
        f"{_VALIDATOR}._validate_last_message",
        example="Expected last role User or Tool (or Assistant with prefix) for serving but got assistant",
        field="messages",
        look=Look.LAST_ROLE,
        tried="mistral-common 1.13.1",
    ),
    KnownError(
        "Expected last role User or Tool (or Assistant with prefix True) for serving but got {role:word}",
        Stage.REQUEST,
        "The conversation ends with an assistant message that is not marked to be continued.",
        "End with a user or tool message, or set `prefix` in the last one.",
        f"{_VALIDATOR}._validate_last_message",
        example="Expected last role User or Tool (or Assistant with prefix True) for serving but got assistant",
        field="messages",
        look=Look.LAST_ROLE,
    ),
    KnownError(
        "Assistant message must have either content or tool_calls, but not both.",
        Stage.REQUEST,
        "This version of the format accepts a message with either text or calls, but one has both or neither.",
        "Keep either text or calls in each assistant message.",
        f"{_VALIDATOR}._validate_assistant_message",
        field="messages",
        tried="mistral-common 1.13.1",
    ),
    KnownError(
        "Function name was {name} but must be a-z, A-Z, 0-9, or contain underscores and dashes,",
        Stage.REQUEST,
        "A tool's name contains a character that is not allowed, or is too long.",
        "Rename the tool to letters, digits, `_` and `-`, 64 at most.",
        f"{_VALIDATOR}._validate_function",
        example="Function name was fs.read but must be a-z, A-Z, 0-9, or contain underscores and dashes, with a "
        "maximum length of 64.",
        field="tools",
        look=Look.TOOL_NAMES,
        tried="mistral-common 1.13.1",
    ),
    KnownError(
        "Unexpected tool call id {id:word} in tool results",
        Stage.REQUEST,
        "A result answers a call that was not made in the message before.",
        "Give the result the id of its call.",
        f"{_VALIDATOR}V11._validate_tool_calls_followed_by_tool_messages",
        example="Unexpected tool call id 0f8e3a52c in tool results",
        field="messages",
        look=Look.ORPHAN_RESULTS,
        tried="mistral-common 1.13.1",
    ),
    KnownError(
        "Duplicate tool call id {id:word} in tool results",
        Stage.REQUEST,
        "One call has two results.",
        "Keep one result for each call.",
        f"{_VALIDATOR}V11._validate_tool_calls_followed_by_tool_messages",
        example="Duplicate tool call id 0f8e3a52c in tool results",
        field="messages",
        tried="mistral-common 1.13.1",
    ),
    KnownError(
        "reasoning_effort={value} is not supported for this model",
        Stage.REQUEST,
        "This model does not support levels of reasoning.",
        "Leave `reasoning_effort` out.",
        f"{_VALIDATOR}._validate_model_settings",
        example="reasoning_effort=high is not supported for this model",
        field="reasoning_effort",
        tried="mistral-common 1.13.1",
    ),
    KnownError(
        "`reasoning_content` and `reasoning` should be equal.",
        Stage.REQUEST,
        "A message has its reasoning under two names with different values.",
        "Send one of the two.",
        "mistral_common/protocol/instruct/messages.py: AssistantMessage.from_openai",
        field="messages",
        tried="mistral-common 1.13.1",
    ),
    KnownError(
        "Invalid tool schema: {why}",
        Stage.REQUEST,
        "The parameters of a tool are not a valid JSON schema.",
        "Correct the schema: the end of the message says what is wrong with it.",
        f"{_VALIDATOR}._validate_function",
        example="Invalid tool schema: 'str' is not valid under any of the given schemas",
        field="tools",
        tried="mistral-common 1.13.1",
    ),
    KnownError(
        "Kwargs ['{name:word}'] are not supported by `MistralCommonTokenizer.apply_chat_template`",
        Stage.RENDER,
        "The server passes a field of the request, or of `chat_template_kwargs`, on to the tokenizer of transformers "
        "for Mistral's models, and that does not take it: the releases of the server, transformers and mistral-common "
        "do not belong together, or this tokenizer has no such option.",
        "Leave the field out of the request and of `--default-chat-template-kwargs`; if the model is meant to take it, "
        "update the server, transformers and mistral-common together. The messages need no change.",
        "https://github.com/vllm-project/vllm/issues/38560",
        example="Kwargs ['reasoning_effort'] are not supported by `MistralCommonTokenizer.apply_chat_template`.",
        cause=Cause.UNCLEAR,
    ),
    *(
        KnownError(
            f"for {role}Message {{name}} Extra inputs are not permitted",
            Stage.REQUEST,
            f"The server reads messages with mistral-common (`--tokenizer-mode mistral` of vLLM), whose {role.lower()} "
            "message has no field of that name and allows no other.",
            "Take that field out of every message before the request is sent: programs add "
            "some (`metadata`, `id`). If the model has a chat template, vLLM's `--tokenizer-mode hf` helps, too.",
            f"mistral_common/protocol/instruct/messages.py: {role}Message",
            example=f"1 validation error for {role}Message metadata Extra inputs are not permitted",
            field="messages",
            cause=Cause.REQUEST,
            tried="mistral-common 1.13.1",
        )
        for role in ("User", "Assistant", "System", "Tool")
    ),
)
