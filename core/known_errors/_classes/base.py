"""What every table of error classes is made of: words that tell a class, and what is true for all of it.

A class stands for sentences that are not listed one by one. Its means and remedy must hold for each of them; a part
that the words name is put in where they name it:

    Leave {field|the field that the words name} out.       `messages[8].reasoning`, or the words after the bar
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from prompt_debugger.core.base.text import capitalized
from prompt_debugger.core.base.types import Stage
from prompt_debugger.core.known_errors._fields import as_path
from prompt_debugger.core.known_errors.base import Cause, Look

LOG = "Check the server's log for that moment: the reason is there, usually in a traceback above that line."
IN_PARSER = r"/(?:tool_parsers?|function_call|reasoning(?:_parsers?)?|parser)/\w{1,60}\.py"
"""The file of a server's parser of outputs, in a traceback."""
_PART = re.compile(r"\{([a-z_]+)\|([^}]*)\}")
_MAX_PART = 120  # characters of a part that is put into a sentence


@dataclass(frozen=True, slots=True)
class ErrorClass:
    """A kind of error that many programs report, each in its own words.

    Attributes:
        name: What it is called, for tests and docs.
        says: Pattern of words that tell it, in a text of one line, whatever their case.
        stage: Where in a run it arises.
        cause: What has to change.
        subject: What happened, as the beginning of a title.
        means: What happened, in a sentence.
        remedy: What to change, in sentences.
        around: Pattern that must be found, too, in the words or around them; "" for none.
        unless: Pattern that must not be found in the words; "" for none.
        never_around: Pattern that must not be found in the words or around them; "" for none.
        is_distinctive: Whether only programs that handle chat requests say such words.
        look: What to look up in the request.
        each: Pattern of all fields that the words name, where they may name several; "" if they name one at most.
        has_reason: Whether it says why something failed; what only reports that it did is believed last.
    """

    name: str
    says: str
    stage: Stage
    cause: Cause
    subject: str
    means: str
    remedy: str
    around: str = ""
    unless: str = ""
    never_around: str = ""
    is_distinctive: bool = True
    look: Look | None = None
    each: str = ""
    has_reason: bool = True


@dataclass(frozen=True, slots=True)
class Classified:
    """The class of an error, and what its words name.

    Attributes:
        error: The class.
        parts: What the words name, by the names of the parts.
        fields: The fields that they name, where these are several.
    """

    error: ErrorClass
    parts: Mapping[str, str]
    fields: tuple[str, ...] = ()

    @property
    def field(self) -> str | None:
        """Path of the request field that the words name; `None` if they name none."""
        path = self.parts.get("path") or self.parts.get("field")
        return None if path is None else as_path(path)

    @property
    def means(self) -> str:
        """What happened, in a sentence."""
        return _filled(self.error.means, self.parts, self.fields)

    @property
    def remedy(self) -> str:
        """What to change, in sentences."""
        return _filled(self.error.remedy, self.parts, self.fields)


@lru_cache(maxsize=1024)
def words_pattern(says: str) -> re.Pattern[str]:
    """Return the compiled pattern of a class."""
    return re.compile(says, re.IGNORECASE)


def _filled(text: str, parts: Mapping[str, str], fields: tuple[str, ...] = ()) -> str:
    def value(found: re.Match[str]) -> str:
        if fields and found[1] == "field":
            return f"`{'`, `'.join(fields[:-1])}` and `{fields[-1]}`"
        part = parts.get(found[1]) or (parts.get("name", "") if found[1] == "field" else "")
        part = part.strip("`\"' :,;").rstrip(".")
        return f"`{part[:_MAX_PART]}`" if part else found[2]

    filled = _PART.sub(value, text)
    return capitalized(filled)
