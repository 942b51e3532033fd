"""What every rule is made of: its identity, and what it reports."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import chain

from prompt_debugger.core.base.types import Certainty, Finding, FindingEvidence, Severity, Stage, Trace
from prompt_debugger.core.diagnose.advice import Advice, advise
from prompt_debugger.core.diagnose.calls.broken_arguments import NAME_NOT_COPIED
from prompt_debugger.core.diagnose.fixes import Fix
from prompt_debugger.core.diagnose.trace_queries import TracePart

_BLANK_NAMES = {"": "without a name", "None": "without a name", NAME_NOT_COPIED: "whose name was not copied"}


@dataclass(frozen=True, slots=True)
class Report:
    """What a rule saw, before its code and name are put on it.

    Attributes:
        title: One sentence with a full stop that can be quoted alone.
        detail: What was seen, with the values.
        evidence: Where to look, most telling first.
        fix: What to change: steps, best first, or a text that holds whatever the request sets.
        certainty: Seen or concluded.
        severity: Wins over the rule's own, where one defect has milder forms.
        stage: Wins over the rule's own, where one defect has several causes.
        links: Reports of just this, besides those of the rule.
    """

    title: str
    detail: str
    evidence: tuple[FindingEvidence, ...] = ()
    fix: Advice = ""
    certainty: Certainty = Certainty.OBSERVED
    severity: Severity | None = None
    stage: Stage | None = None
    links: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TraceRule:
    """A rule that looks at a trace; implements `core.base.protocols.Rule`.

    Attributes:
        code: Stable code such as `PD201`.
        name: The defect in kebab case.
        severity: How bad it is as a rule.
        stage: The stage at fault.
        find: Reports what is wrong; pure, tolerates absent stages, never raises.
        needs: What must be there for it to say anything; without it the rule is not asked.
        threads: Known reports of the same fault, as `owner/repo#number`.
        explains: Codes of findings that this one explains where both are there.
        excuses: Codes of findings that are what the request asks for where this one is there: they become warnings
            about the request, with the fix of this one.
        borrows_fix: Whether the fix of the finding that it follows from is the better one.
        asks_request_alone: Whether it looks at the request as pasted and at nothing else, so that its
            findings hold for every output of that request.
        reads_stripped: Whether it also looks at a raw text that may lack control tokens, which is kept from the others.
        stands_in_part: Whether what it reports in a shortened text is true of the whole: a fault
            that is there to be seen, and not one that follows from what is absent.
        fixes: Changes that can be applied and tried, best first (`core/diagnose/fixes.py`).
    """

    code: str
    name: str
    severity: Severity
    stage: Stage
    find: Callable[[Trace], Iterator[Report]]
    needs: TracePart | None = None
    threads: tuple[str, ...] = ()
    explains: tuple[str, ...] = ()
    excuses: tuple[str, ...] = ()
    borrows_fix: bool = False
    asks_request_alone: bool = False
    reads_stripped: bool = False
    stands_in_part: bool = False
    fixes: tuple[Fix, ...] = ()

    def check(self, trace: Trace) -> Iterator[Finding]:
        """Report what is wrong, in the order in which it was found."""
        reports = self.find(trace)
        first = next(reports, None)
        if first is None:  # as nearly all say nothing
            return iter(())
        return map(partial(self._finding, trace), chain((first,), reports))

    def _finding(self, trace: Trace, report: Report) -> Finding:
        return Finding(
            code=self.code,
            name=self.name,
            severity=report.severity or self.severity,
            stage=report.stage or self.stage,
            title=_drop_blank_names(report.title),
            detail=_drop_blank_names(report.detail),
            evidence=report.evidence,
            fix=advise(trace, report.fix),
            links=(*report.links, *(link for link in self.links if link not in report.links)),
            certainty=report.certainty,
        )

    @property
    def links(self) -> tuple[str, ...]:
        """Addresses of the known reports."""
        return tuple(thread_url(thread) for thread in self.threads)


def _drop_blank_names(text: str) -> str:
    """Return a sentence in which a call that has no name is not given one.

    >>> _drop_blank_names("The call to `None` came back without arguments.")
    'The call without a name came back without arguments.'
    """
    for name, words in _BLANK_NAMES.items():
        text = text.replace(f"call to `{name}`", f"call {words}").replace(f"Call to `{name}`", f"Call {words}")
    return text


def thread_url(thread: str) -> str:
    """Return the address of a GitHub thread.

    >>> thread_url("vllm-project/vllm#16976")
    'https://github.com/vllm-project/vllm/issues/16976'
    """
    repository, _, number = thread.partition("#")
    return f"https://github.com/{repository}/issues/{number}"
