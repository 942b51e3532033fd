"""The first illegal token: where constrained decoding would have steered an output elsewhere, and why.

families     which structural tag goes with which format
enforcement  what vLLM would enforce for these tools and this request
tags, worker the grammar, built and run by XGrammar in its own process
first_illegal  walk, explain what stopped it, walk on
explain        by relaxing one thing at a time; schema_edits finds which demand of a schema it was
repair         by a change to the output, where no relaxation helps
marker_ids     the same, with markers read by their ids
in_force       was the grammar that a request asks for in force, and from which token on?
"""

from prompt_debugger.core.tools.grammar.enforcement import (
    LEVELS,
    Enforcement,
    enforcement_named,
    enforcement_of_request,
)
from prompt_debugger.core.tools.grammar.engine import (
    GrammarEngine,
    GrammarLimits,
    GrammarMissingError,
    GrammarTooMuchError,
)
from prompt_debugger.core.tools.grammar.families import FAMILIES, find_family
from prompt_debugger.core.tools.grammar.first_illegal import first_illegal_token
from prompt_debugger.core.tools.grammar.in_force import judge_in_force
from prompt_debugger.core.tools.grammar.output import JudgedOutput
from prompt_debugger.core.tools.grammar.verdict import (
    Cause,
    GrammarStatus,
    GrammarVerdict,
    InForce,
    InForceReason,
    Intervention,
    SchemaRule,
    SecondOpinion,
    TokenReading,
)

__all__ = [
    "FAMILIES",
    "LEVELS",
    "Cause",
    "Enforcement",
    "GrammarEngine",
    "GrammarLimits",
    "GrammarMissingError",
    "GrammarStatus",
    "GrammarTooMuchError",
    "GrammarVerdict",
    "InForce",
    "InForceReason",
    "Intervention",
    "JudgedOutput",
    "SchemaRule",
    "SecondOpinion",
    "TokenReading",
    "enforcement_named",
    "enforcement_of_request",
    "find_family",
    "first_illegal_token",
    "judge_in_force",
]
