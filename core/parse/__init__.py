"""4 · Raw output → census, ledger, what other parsers made of it."""

from prompt_debugger.core.parse.ledger import TOGETHER, build_ledger
from prompt_debugger.core.parse.matching import match_calls, message_calls

__all__ = ["TOGETHER", "build_ledger", "match_calls", "message_calls"]
