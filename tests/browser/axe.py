"""Accessibility rules, asked of a page."""

from __future__ import annotations

from typing import Any

from axe_playwright_python.sync_playwright import Axe


def violations(page: Any, inside: str, ignored: frozenset[str] = frozenset()) -> list[str]:
    """Return what breaks a rule inside an element, one line each.

    Args:
        page: The playwright page.
        inside: Selector of the element to look at.
        ignored: Rules that are not asked.
    """
    results = Axe().run(page, context=inside)
    return [
        f"{rule['id']}: {node['html'][:160]} ({node['failureSummary'][:200]})"
        for rule in results.response["violations"]
        if rule["id"] not in ignored
        for node in rule["nodes"]
    ]
