r"""A grammar for llama.cpp has no rule named `root`.

What it finds:
    A request whose `grammar` is written in GBNF (`name ::= …`) and defines no rule `root`, or
    is a word or JSON and no grammar.

Why it matters:
    llama.cpp begins with the rule `root`. Without it some builds refuse the request and older
    ones only log an error and continue, so that the answer looks as if the grammar were ignored.

Bad:
    `"grammar": "answer ::= \"yes\""`

Good:
    `"grammar": "root ::= \"yes\""`

Source:
    tracker: ggml-org/llama.cpp#11544, ggml-org/llama.cpp#3156, ggml-org/llama.cpp#3081.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from prompt_debugger.core.base.json_values import decode_json
from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import Severity, Stage, Trace
from prompt_debugger.core.diagnose.fields import body_of
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.trace_queries import in_request

_WORD = re.compile(r"[A-Za-z_][\w.-]{0,60}")
_RULE = re.compile(r"(?m)^[ \t]{0,40}([A-Za-z_][\w-]{0,100})[ \t]{0,40}::=")


def find(trace: Trace) -> Iterator[Report]:
    """Look at the names of the rules."""
    grammar = body_of(trace).get("grammar")
    if not isinstance(grammar, str) or not grammar.strip():
        return
    names = _RULE.findall(grammar)
    if not names and (_WORD.fullmatch(grammar.strip()) or isinstance(decode_json(grammar), dict)):
        is_word = _WORD.fullmatch(grammar.strip()) is not None
        yield Report(
            title="The grammar is not one: it has no rule (`root ::= …`).",
            detail=f"`grammar` is {'a single word' if is_word else 'JSON'}. llama.cpp reads GBNF there. Some builds "
            "refuse anything else; others log an error and answer without it.",
            evidence=(in_request("grammar", grammar.strip()[:40]),),
            fix="Send a JSON schema as `json_schema`, or in `response_format` on `/v1/chat/completions`; or write the "
            "rules in GBNF, beginning with `root ::= …`.",
        )
    if not names or "root" in names:
        return
    yield Report(
        title="The grammar has no rule `root`, with which llama.cpp begins.",
        detail=f"It defines {', '.join(f'`{name}`' for name in dict.fromkeys(names[:4]))}. Some builds refuse such a "
        "grammar; others log an error and answer without it.",
        evidence=(in_request("grammar", names[0]),),
        fix="Name the first rule `root`.",
    )


RULE: Rule = TraceRule(
    code="PD140",
    name="grammar-without-root",
    severity=Severity.ERROR,
    stage=Stage.REQUEST,
    find=find,
    asks_request_alone=True,
    threads=("ggml-org/llama.cpp#11544", "ggml-org/llama.cpp#3156", "ggml-org/llama.cpp#3081"),
)
