"""What each rule finds and why: Markdown for `docs/rules`, and the same as pages that the program serves itself.

Both are made from the docstrings of the rules, so an installed program has them without the documents beside it.
"""

from prompt_debugger.ui.rule_pages.html import RULES_PATH, rules_html
from prompt_debugger.ui.rule_pages.markdown import (
    HEADINGS,
    index_page,
    page_name,
    read_sections,
    rule_docstring,
    rule_page,
)

__all__ = [
    "HEADINGS",
    "RULES_PATH",
    "index_page",
    "page_name",
    "read_sections",
    "rule_docstring",
    "rule_page",
    "rules_html",
]
