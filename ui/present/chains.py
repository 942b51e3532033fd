"""What led to a finding: from the root, which nothing explains, effect by effect."""

from __future__ import annotations

from prompt_debugger.core.base.types import Finding


def chain_of(finding: Finding, findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """Return what led to a finding, root first, and the finding itself last."""
    by_code = {one.code: one for one in reversed(findings)}
    chain = [finding]
    while (code := chain[0].follows) in by_code and by_code[str(code)] not in chain:
        chain.insert(0, by_code[str(code)])
    return tuple(chain)


def grouped(findings: tuple[Finding, ...]) -> list[list[int]]:
    """Return the numbers of the findings that one root explains, the root first; groups in the order of their worst."""
    groups: dict[int, list[int]] = {}
    depths = [chain_of(finding, findings) for finding in findings]
    for number, chain in enumerate(depths):
        root = number if len(chain) == 1 else next(i for i, one in enumerate(findings) if one is chain[0])
        groups.setdefault(root, []).append(number)
    return [sorted(group, key=lambda number: len(depths[number])) for group in groups.values()]
