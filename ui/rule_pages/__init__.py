"""What each rule finds and why: Markdown for `docs/rules`, and the same as pages that the program serves itself.

Both are made from the docstrings of the rules and from the texts of `check`, so an installed program has them
without the documents next to it.
"""

from prompt_debugger.ui.rule_pages.html import RULES_PATH, rules_html
from prompt_debugger.ui.rule_pages.markdown import index_page, page_name, rule_page
from prompt_debugger.ui.rule_pages.pages import HEADINGS, page_of_rule, read_sections, rule_docstring, rule_pages

__all__ = [
    "HEADINGS",
    "RULES_PATH",
    "index_page",
    "page_name",
    "page_of_rule",
    "read_sections",
    "rule_docstring",
    "rule_page",
    "rule_pages",
    "rules_html",
]
