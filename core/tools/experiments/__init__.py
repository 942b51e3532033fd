"""Further questions: the request again with one thing changed, one output through many releases.

what_if    every switch that applies, and what it does to the tokens
compare    two templates or two tokenizers on one request
oracle     which render explains the number of prompt tokens that a server counted
runs       two recorded runs side by side
turns      where a prompt stops beginning with the one before it, and why
releases   which release of an engine takes which calls of an output

Those on rendering render a `Variant` (`variant`), change it by named switches (`switches`)
and tell two renders apart (`difference`). Nothing is asked of a
server. `documents` says what their answers look like as JSON.
"""

from prompt_debugger.core.tools.experiments.compare import Comparison, compare_setups
from prompt_debugger.core.tools.experiments.difference import Hunk, Place, TokenDifference
from prompt_debugger.core.tools.experiments.documents import (
    probes_to_json,
    releases_to_json,
    runs_to_json,
    splits_to_json,
)
from prompt_debugger.core.tools.experiments.json_changes import JsonChange, json_changes
from prompt_debugger.core.tools.experiments.oracle import CountAnswer, agree, explain_count, step_count
from prompt_debugger.core.tools.experiments.releases import (
    CallHistory,
    ReleaseRow,
    ReleaseTable,
    bisect_releases,
    sort_versions,
    step_releases,
    versions_by_engine,
)
from prompt_debugger.core.tools.experiments.runs import (
    RunComparison,
    TextComparison,
    compare_runs,
    explanation_of,
    sentence_of,
)
from prompt_debugger.core.tools.experiments.switches import AbsentSwitch, Switch, Topic
from prompt_debugger.core.tools.experiments.turn_causes import BreakCause
from prompt_debugger.core.tools.experiments.turns import Turn, TurnBreak, TurnReport, follow_turns, step_turns
from prompt_debugger.core.tools.experiments.variant import RenderFailure, RenderSetup, Variant
from prompt_debugger.core.tools.experiments.what_if import Effect, EffectKind, WhatIf, step_switches, try_switches

__all__ = [
    "AbsentSwitch",
    "BreakCause",
    "CallHistory",
    "Comparison",
    "CountAnswer",
    "Effect",
    "EffectKind",
    "Hunk",
    "JsonChange",
    "Place",
    "ReleaseRow",
    "ReleaseTable",
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
    "bisect_releases",
    "compare_runs",
    "compare_setups",
    "explain_count",
    "explanation_of",
    "follow_turns",
    "json_changes",
    "probes_to_json",
    "releases_to_json",
    "runs_to_json",
    "sentence_of",
    "sort_versions",
    "splits_to_json",
    "step_count",
    "step_releases",
    "step_switches",
    "step_turns",
    "try_switches",
    "versions_by_engine",
]
