"""The page's head: our style and scripts, in the order in which they build on each other."""

from __future__ import annotations

from prompt_debugger.core.assets import assets_dir
from prompt_debugger.ui.report import document

# The views, which the exported report draws with, too: one list, kept there.
SCRIPTS = document.SCRIPTS
STYLES = document.STYLES
PAGE_SCRIPTS = (
    "bench.js",
    "experiments_view.js",
    "parser_views.js",
    "template_editor.js",
    "share.js",
    "comparison_view.js",
    "check_picture.js",
    "check_view.js",
    "verification_view.js",
    "editor_link.js",
    "outdated.js",
    "live.js",
    "orders.js",
    "mend_view.js",
    "loop_view.js",
    "draft.js",
    "history.js",
    "network.js",
    "servers.js",
    "help.js",
    "page.js",
)
PAGE_STYLES = (
    "page.css",
    "bench.css",
    "parser_views.css",
    "check.css",
    "mend.css",
    "verification.css",
    "share.css",
    "live.css",
    "help.css",
    "network.css",
)


def read_assets(names: tuple[str, ...]) -> str:
    """Return the named files, one after the other."""
    return "\n".join((assets_dir() / name).read_text(encoding="utf-8") for name in names)


def page_head() -> str:
    """Return what goes into the head of the page."""
    style = read_assets(STYLES + PAGE_STYLES)
    script = read_assets(SCRIPTS + PAGE_SCRIPTS)
    return f"<style>\n{style}</style>\n<script>\n{script}</script>\n"
