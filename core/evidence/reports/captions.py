"""What a person writes above the pieces of a stream that stand apart, with or without the sign of a comment.

// Chunk 1: the call
{"message": {…}, "done": false}
Final chunk:
{"message": {…}, "done": true}
"""

from __future__ import annotations

import re

_PIECE = r"(?:chunk|event|delta|piece)"
_ORDER = r"(?:first|last|final|next)"
# Without a comment's sign a number is asked for: `Event loop is closed` is an error.
_CAPTION = re.compile(
    rf"(?mi)^[ \t]{{0,8}}(?:(?://|#{{1,4}})[ \t]{{0,4}}(?:{_ORDER}|{_PIECE}|part)\b|{_PIECE} #?\d{{1,5}}\b)"
    r"(?![^\n]{0,200}\berror\b)[^\n]*"
)
# Between two events that are known to be of one stream, less is enough.
_BETWEEN = re.compile(rf"(?i)[ \t]*(?:(?://|\.\.\.)[^\n]*|#{{0,4}} ?(?:{_ORDER} )?{_PIECE}\b[^\n]*)?")


def drop_captions(text: str) -> str:
    r"""Return a text without what a person wrote above the pieces of a stream.

    >>> drop_captions("// Chunk 2: empty completion\n{}"), drop_captions("// Error: empty completion")
    ('\n{}', '// Error: empty completion')
    """
    return _CAPTION.sub("", text)


def are_captions(text: str) -> bool:
    r"""Return whether each line between two events of a stream is a caption, a comment, dots, or empty.

    >>> are_captions("\n// and then\nLast chunk:"), are_captions("Then I asked again:")
    (True, False)
    """
    return all(map(_BETWEEN.fullmatch, text.split("\n")))
