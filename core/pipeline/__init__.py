"""The stages in order: request → render → complete → parse → diagnose.

`follow` runs a request against a server and yields the trace as it
fills; `run` waits for the end. `render_case` and `CaseParser` run
one stage alone, from a line of a case file. No logic of a stage lives here.
"""

from prompt_debugger.core.pipeline.accounts import account_of, add_accounts, message_from_outcome
from prompt_debugger.core.pipeline.api_choice import asked_by
from prompt_debugger.core.pipeline.case_parser import CaseParser
from prompt_debugger.core.pipeline.cases import case_setup, check_case, render_case
from prompt_debugger.core.pipeline.constrained import judge_constrained, judge_trace
from prompt_debugger.core.pipeline.examples import EXAMPLE_NAMES, Example, find_example, load_examples
from prompt_debugger.core.pipeline.parsers import (
    MatrixStep,
    add_outcomes,
    ask_parsers,
    output_of_trace,
    parser_of_server,
    step_parsers,
    try_splits,
)
from prompt_debugger.core.pipeline.progress import Progress
from prompt_debugger.core.pipeline.recordings import load_recording
from prompt_debugger.core.pipeline.release_questions import parsers_to_ask
from prompt_debugger.core.pipeline.render_only import check_rendered, model_of_others, render_request
from prompt_debugger.core.pipeline.server_parsers import (
    ask_server_parsers,
    is_server_parser,
    server_parsers_of,
    text_without_end,
)
from prompt_debugger.core.pipeline.server_render import render_on_server
from prompt_debugger.core.pipeline.stages import follow, run
from prompt_debugger.core.pipeline.target import RUN_S, Target, client_of

__all__ = [
    "EXAMPLE_NAMES",
    "RUN_S",
    "CaseParser",
    "Example",
    "MatrixStep",
    "Progress",
    "Target",
    "account_of",
    "add_accounts",
    "add_outcomes",
    "ask_parsers",
    "ask_server_parsers",
    "asked_by",
    "case_setup",
    "check_case",
    "check_rendered",
    "client_of",
    "find_example",
    "follow",
    "is_server_parser",
    "judge_constrained",
    "judge_trace",
    "load_examples",
    "load_recording",
    "message_from_outcome",
    "model_of_others",
    "output_of_trace",
    "parser_of_server",
    "parsers_to_ask",
    "render_case",
    "render_on_server",
    "render_request",
    "run",
    "server_parsers_of",
    "step_parsers",
    "text_without_end",
    "try_splits",
]
