"""What `run` says of the grammar that a request asks for: in force from which token on, never, or not known."""

from __future__ import annotations

from prompt_debugger.core.base.text import printable
from prompt_debugger.core.base.types import JSONObject
from prompt_debugger.core.report.wire import dump_document
from prompt_debugger.core.tools.grammar import InForce


def add_grammar(document: JSONObject, found: InForce | None) -> None:
    """Put it into a run document, where the request asks for a grammar."""
    if found is not None:
        document["grammar"] = dump_document(found)


def grammar_to_terminal(found: InForce | None) -> str:
    """Return it in words; "" where the request asks for no grammar."""
    if found is None:
        return ""
    lines = (found.sentence, *((f"Fix: {found.fix}",) if found.fix else ()))
    return "".join(f"\n{printable(line, on_one_line=True)}" for line in lines) + "\n"
