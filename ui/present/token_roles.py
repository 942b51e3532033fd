"""What a control token is for, in plain words: by its spelling, which families share more than they share ids."""

from __future__ import annotations

import re

# First match wins. A role is a guess from the spelling; the view says so.
_ROLES = (
    ("pads to length", re.compile(r"\bpad|\[pad\]|padding", re.IGNORECASE)),
    ("image, audio or video", re.compile(r"image|vision|audio|video|media|\bimg\b", re.IGNORECASE)),
    ("tool call or result", re.compile(r"tool|function|python_tag|ipython|call\|>|observation", re.IGNORECASE)),
    ("reasoning", re.compile(r"think|reason|thought", re.IGNORECASE)),
    ("channel of the turn", re.compile(r"channel|constrain|recipient", re.IGNORECASE)),
    ("fill-in-the-middle", re.compile(r"fim|<\|?(prefix|suffix|middle)\|?>", re.IGNORECASE)),
    ("ends the text", re.compile(r"^</s>$|end.?of.?(text|sentence)|<\|?eos|\[eos\]|<\|return\|>", re.IGNORECASE)),
    ("begins the text", re.compile(r"^<s>$|begin.?of.?(text|sentence)|<\|?bos|\[bos\]|startoftext", re.IGNORECASE)),
    ("ends a turn", re.compile(r"im_end|eot|eom|end_of_turn|end_header|<\|?end\|?>|\[/inst\]|/s>", re.IGNORECASE)),
    ("opens the text of a turn", re.compile(r"im_middle|im_sep|<\|message\|>|header_id", re.IGNORECASE)),
    (
        "opens a turn",
        re.compile(
            r"im_start|start_of_turn|<\|start\|>|\[inst\]|system|user|assistant|human|start_of_role|turn", re.IGNORECASE
        ),
    ),
    ("reserved by the vocabulary", re.compile(r"reserved|unused|extra_id|placeholder", re.IGNORECASE)),
)


def role_of(spelling: str) -> str:
    """Return what a control token of that spelling is for; "" if the spelling does not tell."""
    plain = spelling.replace("\uff5c", "|").replace("\u2581", "_")  # as DeepSeek draws bars and blanks
    return next((role for role, pattern in _ROLES if pattern.search(plain)), "")
