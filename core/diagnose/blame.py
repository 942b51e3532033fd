"""Which stage is to blame, and which finding probably caused which.

The order of blame is render → complete → parse → contract, then request. A
prompt that is wrong explains whatever comes out of it; an output that was cut
explains what a parser made of it; a lost call explains a broken promise. A
fault of the request itself (a schema that no validator takes) is blamed only
where nothing later broke, or where it explains what did.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from prompt_debugger.core.base.types import Finding, Severity, Stage
from prompt_debugger.core.base.types.frozen import replace

BLAME_ORDER = (Stage.RENDER, Stage.COMPLETE, Stage.PARSE, Stage.CONTRACT, Stage.REQUEST)
_SEVERITIES = (Severity.ERROR, Severity.WARNING, Severity.NOTE)


def blame_rank(stage: Stage) -> int:
    """Return the place of a stage in the order of blame, from 0."""
    return BLAME_ORDER.index(stage)


def worst_first(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """Return findings by severity, then by order of blame, then by code; else in the order given."""
    return tuple(sorted(findings, key=lambda f: (_SEVERITIES.index(f.severity), blame_rank(f.stage), f.code)))


def mark_followers(findings: Sequence[Finding], explains: Mapping[str, Sequence[str]]) -> tuple[Finding, ...]:
    """Return findings with `follows` set where an earlier fault may explain them.

    Args:
        findings: What was found, in any order.
        explains: For a code, the codes that it explains where both are there.

    Returns:
        The same findings. A named explanation wins, and of several the one
        that explains the others; else an error of an earlier stage explains errors and warnings of later ones.
    """
    kinds: dict[tuple[str, Severity, Stage], list[Finding]] = {}
    for finding in findings:
        kinds.setdefault((finding.code, finding.severity, finding.stage), []).append(finding)
    # Two of a kind: one is left besides itself.
    samples = [finding for alike in kinds.values() for finding in alike[:2]]
    return tuple(replace(finding, follows=_cause(finding, samples, explains)) for finding in findings)


def borrow_fixes(findings: Sequence[Finding], borrowers: Collection[str]) -> tuple[Finding, ...]:
    """Give each finding of `borrowers` the fix of the finding it follows from, where there is one."""
    fixes = {finding.code: finding.fix for finding in reversed(worst_first(findings))}
    return tuple(
        replace(finding, fix=fix)
        if finding.code in borrowers and finding.follows is not None and (fix := fixes.get(finding.follows))
        else finding
        for finding in findings
    )


def excuse(findings: Sequence[Finding], excuses: Mapping[str, Sequence[str]]) -> tuple[Finding, ...]:
    """Turn findings that the request itself brings about into warnings about the request, with its fix.

    Args:
        findings: What was found, in any order.
        excuses: By the code of a fault in the request, the codes of the findings that it brings about.
    """
    by_code = {code: other for other in reversed(findings) for code in excuses.get(other.code, ())}
    return tuple(
        replace(finding, severity=_downgraded(finding.severity), stage=Stage.REQUEST, fix=by_code[finding.code].fix)
        if finding.code in by_code
        else finding
        for finding in findings
    )


def _downgraded(severity: Severity) -> Severity:
    return Severity.WARNING if severity is Severity.ERROR else severity


def _cause(finding: Finding, findings: Sequence[Finding], explains: Mapping[str, Sequence[str]]) -> str | None:
    named = [other for other in findings if finding.code in explains.get(other.code, ()) and other is not finding]
    if named:
        causes = {other.code for other in named}
        first = [one for one in named if not any(one.code in explains.get(code, ()) for code in causes)]
        return worst_first(first or named)[0].code
    if finding.severity is Severity.NOTE or finding.stage is Stage.REQUEST:
        return None
    earlier = [
        other
        for other in findings
        if other.severity is Severity.ERROR
        and other.stage is not Stage.REQUEST
        and blame_rank(other.stage) < blame_rank(finding.stage)
        and other.code not in explains.get(finding.code, ())
    ]
    if not earlier:
        return None
    return min(earlier, key=lambda other: (blame_rank(other.stage), other.code)).code
