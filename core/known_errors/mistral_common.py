"""What mistral-common says, which vLLM and Mistral's API check requests with. Read in release 1.13.1."""

from __future__ import annotations

from prompt_debugger.core.base.types import Stage
from prompt_debugger.core.known_errors.base import KnownError, Look

MAKER = "mistral-common"

_VALIDATOR = "mistral_common/protocol/instruct/validator.py: MistralRequestValidator"

SENTENCES: tuple[KnownError, ...] = (
    KnownError(
        "Tool call id was {id:word} but must be a-z, A-Z, 0-9, with a length of 9.",
        Stage.REQUEST,
        "The id of a call has another form than this version of the tokenizer takes.",
        "Give each call an id of nine letters or digits, the same one in its result.",
        f"{_VALIDATOR}V3._validate_tool_message_id",
        example="Tool call id was call_0f8e3a52 but must be a-z, A-Z, 0-9, with a length of 9.",
        field="messages",
        look=Look.IDS_OF_NINE,
    ),
    KnownError(
        "Tool call id must be a non-empty string other than 'null' for tokenizer version 13 or newer.",
        Stage.REQUEST,
        "The id of a call is empty, or is the word that stands for none.",
        "Give each call an id.",
        "mistral_common/protocol/instruct/validator.py: _INVALID_TOOL_CALL_ID_MESSAGE",
        field="messages",
        look=Look.ID_ABSENT,
    ),
    KnownError(
        "Not the same number of function calls and responses",
        Stage.REQUEST,
        "A message of the assistant makes more calls, or fewer, than there are results after it.",
        "Send one result for each call before the next message of the assistant.",
        f"{_VALIDATOR}._validate_tool_calls_followed_by_tool_messages",
        field="messages",
        look=Look.OPEN_CALLS,
    ),
    KnownError(
        "Unexpected role '{role:word}' after role '{before:word}'",
        Stage.REQUEST,
        "Two messages follow each other in an order that Mistral's format does not have.",
        "Join neighbours of one role, and put a message of the assistant between a result and the user.",
        f"{_VALIDATOR}._validate_message_order",
        example="Unexpected role 'user' after role 'tool'",
        field="messages",
        look=Look.ROLES_ALTERNATE,
    ),
    KnownError(
        "Expected last role User or Tool (or Assistant with prefix) for serving but got {role:word}",
        Stage.REQUEST,
        "The conversation ends with a message of the assistant that is not marked to be continued.",
        "End with a message of the user or a tool, or set `prefix` in the last one.",
        f"{_VALIDATOR}._validate_last_message",
        example="Expected last role User or Tool (or Assistant with prefix) for serving but got assistant",
        field="messages",
        look=Look.LAST_ROLE,
    ),
    KnownError(
        "Assistant message must have either content or tool_calls, but not both.",
        Stage.REQUEST,
        "This version of the format takes a message with text or with calls, and one has both or neither.",
        "Keep text or calls in each message of the assistant.",
        f"{_VALIDATOR}._validate_assistant_message",
        field="messages",
    ),
    KnownError(
        "Function name was {name} but must be a-z, A-Z, 0-9, or contain underscores and dashes,",
        Stage.REQUEST,
        "A tool's name holds a character that is not allowed, or is too long.",
        "Rename the tool to letters, digits, `_` and `-`, 64 at most.",
        f"{_VALIDATOR}._validate_function",
        example="Function name was fs.read but must be a-z, A-Z, 0-9, or contain underscores and dashes, with a "
        "maximum length of 64.",
        field="tools",
        look=Look.TOOL_NAMES,
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
    ),
    KnownError(
        "Duplicate tool call id {id:word} in tool results",
        Stage.REQUEST,
        "One call has two results.",
        "Keep one result for each call.",
        f"{_VALIDATOR}V11._validate_tool_calls_followed_by_tool_messages",
        example="Duplicate tool call id 0f8e3a52c in tool results",
        field="messages",
    ),
    KnownError(
        "reasoning_effort={value:word} is not supported for this model",
        Stage.REQUEST,
        "This model has no levels of reasoning.",
        "Leave `reasoning_effort` out.",
        f"{_VALIDATOR}._validate_model_settings",
        example="reasoning_effort=high is not supported for this model",
        field="reasoning_effort",
    ),
    KnownError(
        "`reasoning_content` and `reasoning` should be equal.",
        Stage.REQUEST,
        "A message has its reasoning under two names, and they differ.",
        "Send one of the two.",
        "mistral_common/protocol/instruct/messages.py: AssistantMessage.from_openai",
        field="messages",
    ),
    KnownError(
        "Invalid tool schema: {why}",
        Stage.REQUEST,
        "The parameters of a tool are not a valid JSON schema.",
        "Correct the schema: the end of the sentence says what is wrong with it.",
        f"{_VALIDATOR}._validate_function",
        example="Invalid tool schema: 'str' is not valid under any of the given schemas",
        field="tools",
    ),
)
