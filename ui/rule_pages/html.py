"""The pages about the rules as HTML: no script, nothing from elsewhere, no markup but what Markdown makes."""

from __future__ import annotations

import re
from functools import lru_cache

from markdown_it import MarkdownIt

from prompt_debugger.ui.rule_pages.markdown import index_page, rule_page
from prompt_debugger.ui.rule_pages.pages import rule_pages

RULES_PATH = re.compile(r"/rules/(PD\d{3})?")

_FILE_LINK = re.compile(r"\((PD\d{3})-[\w-]+\.md\)")
_STYLE = """
:root { color-scheme: light dark; }
body { font: 15px/1.6 "IBM Plex Sans", ui-sans-serif, system-ui, sans-serif; margin: 0 auto; padding: 24px 20px 60px;
  max-width: 76ch; color: light-dark(#191d26, #e7ebf2); background: light-dark(#f4f5f8, #0d1015); }
a { color: light-dark(#1d4fc4, #8fb0ff); }
code { font: 13px/1.5 "IBM Plex Mono", ui-monospace, Menlo, Consolas, monospace; overflow-wrap: anywhere;
  background: light-dark(#e6e9f0, #1a2029); padding: 1px 4px; border-radius: 3px; }
h1 { font-size: 24px; margin: 12px 0; } h2 { font-size: 17px; margin: 24px 0 6px; }
table { border-collapse: collapse; display: block; overflow-x: auto; font-size: 14px; }
th, td { border-bottom: 1px solid light-dark(#d3d8e2, #2b3340); padding: 4px 10px 4px 0; }
th, td { text-align: left; vertical-align: top; }
"""


@lru_cache(maxsize=256)
def rules_html(code: str | None) -> str | None:
    """Return the page about a rule, `None` if there is no such rule; without a code the list of all rules."""
    page = None if code is None else rule_pages().get(code)
    if code is not None and page is None:
        return None
    text = index_page() if page is None else rule_page(page)
    body = _markdown().render(_FILE_LINK.sub(r"(\1)", text))
    title = "Rules" if page is None else f"{page.code} {page.name}"
    up = "" if page is None else '<p><a href="./">All rules</a></p>'
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{title} · Prompt Debugger</title><style>{_STYLE}</style></head>"
        f"<body><main>{up}{body}</main></body></html>\n"
    )


def _markdown() -> MarkdownIt:
    """Return a renderer that shows markup in a text as text, and links only to addresses that are safe to follow."""
    return MarkdownIt("commonmark", {"html": False}).enable("table")
