r"""A content that continues with the user's turn, labelled in plain text, as models do that no template holds.

    Hello! How can I help?\n### Human: What is the weather?\n### Assistant: Sunny.

Of `User:` and `Assistant:` alone, both must follow: an answer may quote one of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from prompt_debugger.core.base.types import Span

_STRONG = re.compile(r"(?m)(?:^|(?<=[.!?]))[ \t]{0,4}(?P<label>#{2,3} ?(?:Human|User|USER|HUMAN)) ?: ?")
_USER = re.compile(r"(?m)^[ \t]{0,4}(?P<label>User|Human|USER|HUMAN): ?(?=\S)")
_MODEL = re.compile(r"(?m)^[ \t]{0,4}(?:#{2,3} ?)?(?:Assistant|ASSISTANT|AI|Bot|Model): ?")
_OTHER_LABEL = re.compile(r"(?m)^[ \t>*-]{0,6}\**[A-Z][\w ]{1,20}\**:[ \t*]")  # a speaker of a scene, or a field
_OF_DIALOGUES = re.compile(
    r"(?i)\bdialog(?:ue)?s?\b|\bconversations?\b|\btranscripts?\b|\bscript\b|\bexamples?\b|\brole-?play|\bscenes?\b"
    r"|\bfew-shot\b|\bchat log\b|\bprompt"
)
_MIN_BEFORE = 8  # characters of an answer before the invented turn


class SpokenTurn(NamedTuple):
    """A turn of the user that the model plays.

    Attributes:
        label: How it begins.
        span: Where the label is.
    """

    label: str
    span: Span


def spoken_turn(content: str, asked: Iterable[str] = ()) -> SpokenTurn | None:
    r"""Return the turn of the user that an answer continues with; `None` where it may have been asked for.

    Args:
        content: The answer.
        asked: Texts of the request's messages.

    >>> spoken_turn("It is sunny.\n### Human: Thanks\n### Assistant: Bye").label
    '### Human'
    >>> spoken_turn("User: hi\nAssistant: hello") is None, spoken_turn("See:\nUser: the name of the account") is None
    (True, True)
    """
    strong = _STRONG.search(content)
    found = strong or _USER.search(content)
    if found is None:
        return None
    before = content[: found.start()]
    is_answer = len(before.strip()) >= _MIN_BEFORE and not before.rstrip().endswith((":", "`"))
    is_scene = _OTHER_LABEL.search(before) is not None or _OF_DIALOGUES.search(before) is not None
    goes_on = _MODEL.search(content, found.end()) is not None
    if not is_answer or is_scene or "```" in before or not (strong or goes_on):
        return None
    if any(found["label"] in text or _OF_DIALOGUES.search(text) is not None for text in asked):
        return None
    return SpokenTurn(found["label"], Span(*found.span()))
