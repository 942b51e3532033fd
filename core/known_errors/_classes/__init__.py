"""Classes of errors by meaning: what a sentence that no table lists is about.

A known sentence says more than its class. The first class whose words are found counts: those of a server's command
come first, as an option is not a field of a request; those of templates and media before those of single fields; the
words of any program last.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice

from prompt_debugger.core.known_errors._classes import (
    of_answers,
    of_calls,
    of_commands,
    of_crashes,
    of_engines,
    of_fields,
    of_history,
    of_json,
    of_messages,
    of_requests,
    of_servers,
    of_templates,
    of_tools,
    of_validators,
)
from prompt_debugger.core.known_errors._classes.base import Classified, ErrorClass, words_pattern
from prompt_debugger.core.known_errors._fields import as_path
from prompt_debugger.core.known_errors._listed import drop_listed_values
from prompt_debugger.core.known_errors.base import is_cut_within

CLASSES: tuple[ErrorClass, ...] = (
    *of_commands.CLASSES,
    *of_answers.FIRST,
    *of_calls.CLASSES,
    *of_templates.CLASSES,
    *of_validators.CLASSES,
    *of_history.CLASSES,
    *of_tools.FIRST,
    *of_engines.FIRST,
    *of_requests.FIRST,
    *of_messages.CLASSES,
    *of_tools.CLASSES,
    *of_requests.CLASSES,
    *of_answers.CLASSES[:6],
    *of_json.CLASSES,
    *of_servers.CLASSES,
    *of_crashes.CLASSES,
    *of_fields.CLASSES,
    *of_answers.CLASSES[6:-1],
    *of_fields.LOOSE,
    *of_answers.CLASSES[-1:],
    *of_engines.LAST,
)
"""All classes, in the order in which they are tried."""
LOOSE = frozenset(error.name for error in of_fields.LOOSE)
"""Names of the classes whose words mean other things where no API said them."""

_MAX_WORDS = 2_000  # characters in which the words of a class are looked for
_MAX_AROUND = 6_000
_MAX_FIELDS = 12
# Words at the place of a name that are none.
_NO_NAME = re.compile(
    r"(?:the|an?|this|that|these|those|its?|which|what|your|our|any|all|some|one|such|is|are|was|be|been|not?|for|with"
    r"|and|or|of|to|in|on|by|as|at|if|when|there|here)",
    re.IGNORECASE,
)


def classes_of(words: str, around: str = "", *, is_of_api: bool = True) -> Iterator[Classified]:
    """Yield the classes whose words a sentence has, the surest first.

    Args:
        words: The sentence, in one line.
        around: The text around it, such as a traceback or the name of its exception.
        is_of_api: Whether an API may have said it of a request; within a server, loose words mean other things.
    """
    words, around = drop_listed_values(words[:_MAX_WORDS]), around[-_MAX_AROUND:]
    for error in CLASSES:
        found = words_pattern(error.says).search(words)
        if (
            found is None
            or is_cut_within(found)
            or (not is_of_api and error.name in LOOSE)
            or (error.unless and words_pattern(error.unless).search(words))
        ):
            continue
        if error.around and not _stands_around(error.around, words, around):
            continue
        if error.never_around and _stands_around(error.never_around, words, around):
            continue
        parts = {
            name: text for name, text in found.groupdict().items() if text and not _NO_NAME.fullmatch(text.strip("."))
        }
        if "name" not in parts and parts:
            parts["name"] = next(iter(parts.values()))
        yield Classified(error, parts, _fields_in(error, words))


def _fields_in(error: ErrorClass, words: str) -> tuple[str, ...]:
    """Return the fields that a sentence names, if it names several in the words of its class."""
    found = words_pattern(error.each).finditer(words) if error.each else ()
    fields = tuple(islice(dict.fromkeys(one[1] or as_path(one[2]) for one in found), _MAX_FIELDS))
    return fields if len(fields) > 1 else ()


def _stands_around(pattern: str, words: str, around: str) -> bool:
    return words_pattern(pattern).search(words) is not None or _stands_in(pattern, around)


@lru_cache(maxsize=256)  # the many sentences of one text share their surroundings
def _stands_in(pattern: str, around: str) -> bool:
    return words_pattern(pattern).search(around) is not None
