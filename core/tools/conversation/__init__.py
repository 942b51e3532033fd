"""The tool loop: answer a tool call, continue, and account for every token between one turn and the next.

    trace ──▶ begin ──▶ Conversation ──▶ request_after(trace, answers) ──▶ run ──▶ add_turn ──▶ Conversation …

Each new prompt should begin with the last prompt and what the model wrote after it. Where it does not, a round
trip changed tokens, and the server's prefix cache is lost from there on.
"""

from prompt_debugger.core.tools.conversation.answers import (
    answers_from_stub,
    answers_to_calls,
    read_stub,
    request_after,
    returned_calls,
)
from prompt_debugger.core.tools.conversation.documents import conversation_to_json
from prompt_debugger.core.tools.conversation.seam import Seam, seam_between
from prompt_debugger.core.tools.conversation.turns import Conversation, ConversationTurn, add_turn, begin, converse

__all__ = [
    "Conversation",
    "ConversationTurn",
    "Seam",
    "add_turn",
    "answers_from_stub",
    "answers_to_calls",
    "begin",
    "conversation_to_json",
    "converse",
    "read_stub",
    "request_after",
    "returned_calls",
    "seam_between",
]
