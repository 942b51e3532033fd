"""What Mistral's API says around the sentences of mistral-common: its types and codes."""

from __future__ import annotations

from prompt_debugger.core.base.types import Stage
from prompt_debugger.core.known_errors.base import KnownError, Look

MAKER = "Mistral's API"

SENTENCES: tuple[KnownError, ...] = (
    KnownError(
        "invalid_request_message_order",
        Stage.REQUEST,
        (
            "Messages follow each other in an order that the API does not accept, such as a user message right "
            "after a tool result."
        ),
        (
            "Put an assistant message between a tool result and a user message, and join consecutive messages "
            "of one role."
        ),
        "https://github.com/datapizza-labs/datapizza-ai/issues/98",
        field="messages",
        look=Look.ROLES_ALTERNATE,
        is_distinctive=False,
    ),
    KnownError(
        "Tool call id has to be defined.",
        Stage.REQUEST,
        "A result in the history does not say which call it answers.",
        "Give each message of the role `tool` the id of its call, as `tool_call_id`; a client that cannot send that "
        "field needs a newer release.",
        "https://github.com/Gage-Technologies/mistral-go/issues/8",
        field="messages",
        look=Look.ORPHAN_RESULTS,
    ),
    KnownError(
        "invalid_function_call",
        Stage.REQUEST,
        "A call in the history has an id in a form that the API does not accept.",
        "Give each call an id of nine letters or digits, and its result the same id.",
        "https://github.com/nearai/ironclaw/issues/1241",
        field="messages",
        look=Look.IDS_OF_NINE,
        is_distinctive=False,
    ),
)
