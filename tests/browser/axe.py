"""Accessibility rules, asked of a page."""

from __future__ import annotations

from typing import Any

from axe_playwright_python.sync_playwright import DEFAULT_OPTIONS, Axe

# A colour on its way to another one breaks rules that neither breaks.
_ASK = """async ([inside, options]) => {
    await new Promise(requestAnimationFrame);
    const changes = document.getAnimations().filter(one => one instanceof CSSTransition);
    await Promise.allSettled(changes.map(one => one.finished));
    return (await axe.run(inside, options)).violations;
}"""
_ON_COLOURS = ("color-contrast", "link-in-text-block")


def violations(
    page: Any, inside: str, ignored: frozenset[str] = frozenset(), only: tuple[str, ...] | None = None
) -> list[str]:
    """Return what breaks a rule inside an element, one line each.

    Args:
        page: The playwright page.
        inside: Selector of the element to look at.
        ignored: Rules that are not asked.
        only: The rules that are asked, unless all.
    """
    axe = Axe()
    if not page.evaluate("'axe' in globalThis"):  # to read its script anew costs as much as to ask a small page
        page.evaluate(axe.axe_script)
    found = page.evaluate(_ASK, [inside, DEFAULT_OPTIONS | ({"runOnly": list(only)} if only else {})])
    return [
        f"{rule['id']}: {node['html'][:160]} ({node['failureSummary'][:200]})"
        for rule in found
        if rule["id"] not in ignored
        for node in rule["nodes"]
    ]


def violations_in_both_themes(page: Any, inside: str, ignored: frozenset[str] = frozenset()) -> list[str]:
    """Return what breaks a rule in the dark or the light theme, between which the page changes as at a click.

    The change is one of colours: rules that ask for something else have the same answer in both, and are asked once.
    """
    found = []
    for is_dark, only in ((True, _ON_COLOURS), (False, None)):
        page.evaluate("isDark => document.body.classList.toggle('dark', isDark)", is_dark)
        found += violations(page, inside, ignored, only)
    return found
