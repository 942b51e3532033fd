"""What every table of known error sentences is made of: the sentence as a pattern, and what is known of it.

A sentence is written as its maker writes it, with a name in braces where it varies:

    Tool '{name}' not found in tools list.      {name}          any text, as little as fits
    messages.{index:int}.content                {index:int}     a whole number
    {model:word} does not support tools         {model:word}    a text without spaces and quotation marks

Patterns made this way never go back over what they have read, so they are linear in hostile text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, lru_cache

from prompt_debugger.core.base.types import Stage

_VARIABLE = re.compile(r"\{([a-z_]+)(?::(int|word))?\}")
_KINDS = {"int": r"\d{1,9}", "word": r"[^\s'\"`]{1,200}"}
_LIGHTER = 1_000  # so much lighter is a sentence that others quote
_GAP_IN_WORD = re.compile(r"(?<=\w)(?:(?:\.{3,}|…)(?=\w| [a-z])|<snip>|\[\.{3,}\]|\(truncated\))")
_MAX_PART = 400  # characters that stand for a variable part
_CLAUSE_END = re.compile(r"[.;:](?= |$)")

# What to check where a client got no answer at all, whatever client it was.
REACH_SERVER = (
    "Check that the server is running and that the address is right, from the machine or container that sends; in a "
    "container `localhost` is the container itself. The server's log shows whether the request arrived."
)


class Cause(StrEnum):
    """What has to change for the request to be answered."""

    REQUEST = "request"
    MODEL_NAME = "model-name"
    CONTEXT = "context"
    SETTING = "setting"
    SERVER = "server"
    TEMPLATE = "template"
    OUTPUT = "output"
    CLIENT = "client"
    POLICY = "policy"
    QUOTA = "quota"
    RATE = "rate"
    BUSY = "busy"
    ACCESS = "access"
    LOADING = "loading"
    ADDRESS = "address"
    CONNECTION = "connection"
    UNCLEAR = "unclear"


class Look(StrEnum):
    """What is looked up in the request, where it is available, to show what a sentence is about."""

    ROLES_ALTERNATE = "roles-alternate"
    OPEN_CALLS = "open-calls"
    ORPHAN_RESULTS = "orphan-results"
    IDS_OF_NINE = "ids-of-nine"
    ID_ABSENT = "id-absent"
    REASONING_ABSENT = "reasoning-absent"
    EMPTY_TEXT = "empty-text"
    TOOL_NAMES = "tool-names"
    LAST_ROLE = "last-role"
    SYSTEM_NOT_FIRST = "system-not-first"
    NO_USER = "no-user"
    SEVERAL_CALLS = "several-calls"
    BROKEN_ARGUMENTS = "broken-arguments"
    SIGNATURE_ABSENT = "signature-absent"
    UNDECLARED_TOOL = "undeclared-tool"
    NO_MENTION_OF_JSON = "no-mention-of-json"
    CONTENT_ABSENT = "content-absent"
    CONTENT_KEY_ABSENT = "content-key-absent"
    CONTENT_NULL = "content-null"
    SMALL_LIMIT = "small-limit"
    NO_FORM = "no-form"
    PLACEHOLDER_IN_TEXT = "placeholder-in-text"
    PLACEHOLDER_BESIDE_MEDIA = "placeholder-beside-media"
    REGEX_ESCAPES = "regex-escapes"
    IMAGE_OF_OTHERS = "image-of-others"


_CAUSE_BY_STAGE = {
    Stage.REQUEST: Cause.REQUEST,
    Stage.RENDER: Cause.TEMPLATE,
    Stage.COMPLETE: Cause.SERVER,
    Stage.PARSE: Cause.OUTPUT,
    Stage.CONTRACT: Cause.OUTPUT,
}


@cache
def _fixed_parts(says: str) -> tuple[str, ...]:
    return tuple(part for part in _VARIABLE.sub("\0", says).split("\0") if part.strip())


@cache
def _first_clause(means: str) -> str:
    """Return what a meaning says before its first stop, colon or semicolon that is not within code marks.

    >>> _first_clause("Some tools have `strict: true`: the API takes one value. Others do not.")
    'Some tools have `strict: true`'
    """
    end = next((found for found in _CLAUSE_END.finditer(means) if means.count("`", 0, found.start()) % 2 == 0), None)
    return means if end is None else means[: end.start()]


@dataclass(frozen=True, slots=True)
class KnownError:
    """A sentence that a program is known to say when a chat request fails.

    Attributes:
        says: The sentence as its maker writes it, whole or its telling part, with its variable parts in braces.
        stage: Where in a run it arises.
        means: What happened, in a sentence.
        remedy: What to change, in a sentence; "" where nothing is known to help.
        source: Where the sentence was found: a file of the program, or a public thread.
        example: The sentence with values in its variable parts; "" where it has none, then it is its own example.
        field: Path of the request field that it is about, with variable parts in braces; "" if it names none.
        cause: What has to change; `None` for what the stage suggests.
        look: What to look up in the request.
        tried: The release on which it was raised for this table; "" where it was only read.
        is_general: Whether others quote it as their reason: then what they say of it counts.
        is_distinctive: Whether a text that says it is an error for that alone; not so for words of any prose.
    """

    says: str
    stage: Stage
    means: str
    remedy: str
    source: str
    example: str = ""
    field: str = ""
    cause: Cause | None = None
    look: Look | None = None
    tried: str = ""
    is_distinctive: bool = True
    is_general: bool = False

    @property
    def is_about(self) -> Cause:
        """What has to change."""
        return self.cause if self.cause is not None else _CAUSE_BY_STAGE[self.stage]

    @property
    def is_of_one_program(self) -> bool:
        """Whether the sentence is one program's alone, and no reason that others quote."""
        return self.is_distinctive and not self.is_general

    @property
    def link(self) -> str | None:
        """Address of its source, where that is a page."""
        return self.source if self.source.startswith("https://") else None

    @property
    def sample(self) -> str:
        """The sentence with values in its variable parts."""
        return self.example or self.says

    @property
    def subject(self) -> str:
        """What happened, as the beginning of a title: the first clause of its meaning."""
        return _first_clause(self.means)

    @property
    def literals(self) -> tuple[str, ...]:
        """The parts that do not vary, in order."""
        return _fixed_parts(self.says)

    @property
    def bare_literals(self) -> tuple[str, ...]:
        """The parts that do not vary, without code marks."""
        return tuple(bare for part in self.literals if (bare := part.replace("`", "")).strip())

    @property
    def weight(self) -> int:
        """How many characters of it do not vary: of two sentences that fit, the heavier one is meant."""
        lighter = int(self.is_general) * (2 if self.cause is Cause.UNCLEAR else 1)
        return sum(map(len, self.literals)) - _LIGHTER * lighter


@lru_cache(maxsize=1024)
def pattern_of(says: str) -> re.Pattern[str]:
    """Return the pattern of a sentence; each variable part ends where what follows it is found first."""
    parts: list[str] = []
    position = 0
    found = list(_VARIABLE.finditer(says))
    for index, variable in enumerate(found):
        parts.append(re.escape(says[position : variable.start()]))
        position = variable.end()
        stop = found[index + 1].start() if index + 1 < len(found) else len(says)
        following = says[position:stop]
        name, kind = variable[1], variable[2]
        if kind is not None:
            parts.append(f"(?P<{name}>{_KINDS[kind]})")
        elif following:
            parts.append(f"(?>(?P<{name}>.{{0,{_MAX_PART}}}?){re.escape(following)})")
            position = stop
        else:
            parts.append(f"(?P<{name}>.{{0,{_MAX_PART}}})")
    parts.append(re.escape(says[position:]))
    return re.compile("".join(parts), re.IGNORECASE)


def is_cut_within(found: re.Match[str]) -> bool:
    """Return whether a varying part breaks off inside a word, where someone shortened it: `Cha…content`."""
    return any(_GAP_IN_WORD.match(found.string, found.end(name)) for name, part in found.groupdict().items() if part)
