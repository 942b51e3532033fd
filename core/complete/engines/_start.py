"""The command that starts a server for a model that was checked: what a record is given, and what it makes of it."""

from __future__ import annotations

import shlex
from dataclasses import dataclass

NOT_TRIED = "not tested here: check it with one request"


@dataclass(frozen=True, slots=True)
class Flag:
    """One flag of a command.

    Attributes:
        words: The flag and its value.
        reason: Why it is there, a sentence.
        passed: Answers that prove it; none for a flag that is not proved.
        failed: Answers that do not come back all the same.
    """

    words: tuple[str, ...]
    reason: str
    passed: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class StartCommand:
    """What starts one server software.

    Attributes:
        flags: What follows.
        is_tried: Whether this software's own parsers were asked.
        note: What is to be known of it; "" for nothing.
    """

    program: tuple[str, ...]
    flags: tuple[Flag, ...] = ()
    is_tried: bool = False
    note: str = ""

    @property
    def command(self) -> str:
        """The command to copy."""
        return shlex.join([*self.program, *(word for flag in self.flags for word in flag.words)])


@dataclass(frozen=True, slots=True)
class Proof:
    """Answers that speak for a parser, and against it.

    Attributes:
        passed: Names of those that come back in every chunking.
        failed: Names of the others.
        usable: How many come back streamed token by token.
    """

    passed: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()
    usable: int = 0

    def flag(self, words: tuple[str, ...], what: str) -> Flag:
        """Return the flag that is proved so; `what` are the answers, a plural."""
        more = "" if not self.failed else f", {self.usable} streamed token by token"
        asked = len(self.passed) + len(self.failed)
        reason = f"{what} that come back in every chunking: {len(self.passed)} of {asked}{more}."
        return Flag(words, reason, self.passed, self.failed)


@dataclass(frozen=True, slots=True)
class StartWith:
    """What a check found of a model, some parser giving back its calls.

    Attributes:
        source: Folder or hub id of the model, or a word in its place.
        tool_parser: The tool parser that gives back its calls: this software's if its parsers were asked, else vLLM's.
        reasoning_parser: The reasoning parser for it, likewise; `None` if none is needed or none works.
        tool_name: What this server software calls its own tool parser for such calls; `None` if that is not known.
        reasoning_name: Likewise of its reasoning parser; `None` also where the model writes no reasoning.
        family: Format that the model writes in, where it is known.
        revision: The revision that was checked; "" for none.
        template_file: Jinja file that was checked in place of the model's own template.
        parser_file: Plugin file that the tool parser of vLLM comes from; "" for none.
        tool_proof: What the tool parser gives back.
        reasoning_proof: What the reasoning parser does.
        is_tried: Whether this software's own parsers were asked: then names and proof are of those.
        release: Their version then.
    """

    source: str
    tool_parser: str
    reasoning_parser: str | None = None
    tool_name: str | None = None
    reasoning_name: str | None = None
    family: str | None = None
    revision: str = ""
    template_file: str | None = None
    parser_file: str = ""
    tool_proof: Proof = Proof()
    reasoning_proof: Proof = Proof()
    is_tried: bool = False
    release: str = ""

    def revision_flags(self, name: str) -> tuple[Flag, ...]:
        """Return the flag of that name with the revision; none where there is no revision."""
        return (Flag((name, self.revision), "It is the revision that was checked."),) if self.revision else ()

    def template_flags(self, name: str) -> tuple[Flag, ...]:
        """Return the flag of that name with the template; none where the model's own was checked."""
        if self.template_file is None:
            return ()
        return (Flag((name, self.template_file), "This file was checked, not the model's own template."),)
