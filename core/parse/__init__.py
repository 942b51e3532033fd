"""4 · Raw output → census, ledger, what other parsers made of it."""

from prompt_debugger.core.parse.ledger import TOGETHER, build_ledger

__all__ = ["TOGETHER", "build_ledger"]
