"""Accessibility rules, asked of a page."""

from __future__ import annotations

from typing import Any

from axe_playwright_python.sync_playwright import DEFAULT_OPTIONS, Axe


def violations(page: Any, inside: str, ignored: frozenset[str] = frozenset()) -> list[str]:
    """Return what breaks a rule inside an element, one line each.

    Args:
        page: The playwright page.
        inside: Selector of the element to look at.
        ignored: Rules that are not asked.
    """
    axe = Axe()
    if not page.evaluate("'axe' in globalThis"):  # to read its script anew costs as much as to ask a small page
        page.evaluate(axe.axe_script)
    found = page.evaluate(
        "([inside, options]) => axe.run(inside, options).then(found => found.violations)", [inside, DEFAULT_OPTIONS]
    )
    return [
        f"{rule['id']}: {node['html'][:160]} ({node['failureSummary'][:200]})"
        for rule in found
        if rule["id"] not in ignored
        for node in rule["nodes"]
    ]
