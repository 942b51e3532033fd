"""What a client can do with an answer that a server will not mend: a few lines each, shown as they are and tried so.

Each is the source of a function `mend` that takes the message of an answer and returns it changed. It stands by
itself, to be copied; what is tried is this very text.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from typing import NamedTuple, cast

from prompt_debugger.core.base.types import JSONObject


class ClientCure(NamedTuple):
    """A change on the client's side.

    Attributes:
        name: What it does, in few words.
        source: The function.
    """

    name: str
    source: str


_DECODE = '''\
import json


def mend(message):
    """Decode arguments once more that were encoded twice."""
    for call in message.get("tool_calls") or ():
        value = json.loads(call["function"]["arguments"])
        if isinstance(value, str):
            call["function"]["arguments"] = value
    return message
'''
_FILL = '''\
def mend(message):
    """Take an empty text for no arguments."""
    for call in message.get("tool_calls") or ():
        call["function"]["arguments"] = call["function"]["arguments"] or "{}"
    return message
'''
_ENCODE = '''\
import json


def mend(message):
    """Encode arguments that came as an object."""
    for call in message.get("tool_calls") or ():
        if not isinstance(call["function"]["arguments"], str):
            call["function"]["arguments"] = json.dumps(call["function"]["arguments"], ensure_ascii=False)
    return message
'''
_IDS = '''\
import uuid


def mend(message):
    """Give each call an id of its own."""
    for call in message.get("tool_calls") or ():
        call["id"] = f"call_{uuid.uuid4().hex}"
    return message
'''
_OWN_IDS = ClientCure("ids of the client's own", _IDS)
CLIENT_CURES: Mapping[str, ClientCure] = {
    "PD414": _OWN_IDS,
    "PD415": ClientCure("arguments decoded once more", _DECODE),
    "PD416": ClientCure("no arguments for an empty text", _FILL),
    "PD506": ClientCure("arguments encoded as text", _ENCODE),
    "PD507": _OWN_IDS,
}


def mended_message(source: str, message: JSONObject) -> JSONObject:
    """Return a message after a change of `CLIENT_CURES`; as it is where the change cannot be made.

    Args:
        source: The function, one of ours.
        message: An answer's message.
    """
    names: dict[str, object] = {}
    exec(source, names)
    mend = cast("Callable[[JSONObject], JSONObject]", names["mend"])
    try:
        return mend(copy.deepcopy(message))
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError):
        return message
