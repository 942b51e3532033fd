"""Experiments on rendering: the request again, with one thing set otherwise.

what_if    every switch that applies, and what it does to the tokens
compare    two templates or two tokenizers on one request
oracle     which render explains the number of prompt tokens that a server counted
runs       two recorded runs side by side
turns      where a prompt stops beginning with the one before it, and why

All of them render a `Variant` (`variant`), change it by named switches (`switches`)
and tell two renders apart (`difference`). Nothing is asked of a server.
"""

from prompt_debugger.core.experiments.compare import Comparison, compare_setups
from prompt_debugger.core.experiments.difference import Hunk, Place, TokenDifference
from prompt_debugger.core.experiments.json import answer_to_json, comparison_to_json, turns_to_json, what_if_to_json
from prompt_debugger.core.experiments.json_changes import JsonChange, json_changes
from prompt_debugger.core.experiments.oracle import CountAnswer, Explanation, agree, explain_count, step_count
from prompt_debugger.core.experiments.runs import (
    Fact,
    RunComparison,
    TextComparison,
    compare_runs,
    comparison_of_runs_to_json,
    sentence_of,
)
from prompt_debugger.core.experiments.switches import AbsentSwitch, Switch, Topic
from prompt_debugger.core.experiments.turn_causes import BreakCause, FoundCause
from prompt_debugger.core.experiments.turns import Turn, TurnBreak, TurnReport, follow_turns, step_turns
from prompt_debugger.core.experiments.variant import RenderFailure, RenderSetup, Variant
from prompt_debugger.core.experiments.what_if import Effect, EffectKind, WhatIf, step_switches, try_switches

__all__ = [
    "AbsentSwitch",
    "BreakCause",
    "Comparison",
    "CountAnswer",
    "Effect",
    "EffectKind",
    "Explanation",
    "Fact",
    "FoundCause",
    "Hunk",
    "JsonChange",
    "Place",
    "RenderFailure",
    "RenderSetup",
    "RunComparison",
    "Switch",
    "TextComparison",
    "TokenDifference",
    "Topic",
    "Turn",
    "TurnBreak",
    "TurnReport",
    "Variant",
    "WhatIf",
    "agree",
    "answer_to_json",
    "compare_runs",
    "compare_setups",
    "comparison_of_runs_to_json",
    "comparison_to_json",
    "explain_count",
    "follow_turns",
    "json_changes",
    "sentence_of",
    "step_count",
    "step_switches",
    "step_turns",
    "try_switches",
    "turns_to_json",
    "what_if_to_json",
]
