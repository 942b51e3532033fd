"""The page's styles, in cascade order."""

from __future__ import annotations

from prompt_debugger.core.base.assets import assets_dir
from prompt_debugger.ui.report import document

STYLES = document.STYLES
PAGE_STYLES = (
    "page.css",
    "bench.css",
    "thumbnails.css",
    "parser_views.css",
    "check.css",
    "fixes.css",
    "verification.css",
    "apis.css",
    "share.css",
    "live.css",
    "help.css",
    "network.css",
    "room.css",
    document.CONTROLS,
    "request.css",
)


def read_assets(names: tuple[str, ...]) -> str:
    """Return the named files, one after the other."""
    return "\n".join((assets_dir() / "css" / name).read_text(encoding="utf-8") for name in names)


def page_head() -> str:
    """Return what gradio puts into the head of the page; it follows gradio's own styles, so that ours win."""
    return f"<style>\n{read_assets(STYLES + PAGE_STYLES)}</style>\n"
