"""A model's template against an engine's parsers, without weights: which of them read what it taught the model?

answers      what a model is made to say        forms       how that is put to a template
ideal        render → the ideal raw output      round_trip  every parser on it, whole and streamed
judge        what came back, and what did not   recommend   what to start a server with
model        the files that are checked         run         all of it, in order
template     what is wrong with the template    serve       the command that starts a server
document     the JSON of it                 lock, junit what a pipeline keeps and shows
plugin_fallback      our own reader, where it reads more
changes      what changed in what is printed, for `lock`
agreement    transformers and an engine's renderer on the same conversations
own_renderer models that an engine renders without their template
engine_choice        which of several engines to take
taught       calls of a template that prints none
evidence     one cell as a run, and the failing ones as cases for `parse --cases`
served       a running server as the model      named        a parser's name in a model's
smaller      drawn answers that fail, made small
"""

from prompt_debugger.core.tools.check.changes import Change
from prompt_debugger.core.tools.check.document import check_to_json
from prompt_debugger.core.tools.check.evidence import cell_trace, failing_cases, ideal_of, pasted_text
from prompt_debugger.core.tools.check.ideal import Ideal
from prompt_debugger.core.tools.check.judge import Cell
from prompt_debugger.core.tools.check.junit import check_to_junit
from prompt_debugger.core.tools.check.lock import compare_locks, lock_of, read_lock
from prompt_debugger.core.tools.check.model import CheckedModel, load_model
from prompt_debugger.core.tools.check.run import (
    Check,
    Checker,
    Wanted,
    check_without_parsers,
    open_engines,
    refuse_choice,
)
from prompt_debugger.core.tools.check.serve import plugin_commands, serve_commands
from prompt_debugger.core.tools.check.served import NoTemplateError, Place, load_served

__all__ = [
    "Cell",
    "Change",
    "Check",
    "CheckedModel",
    "Checker",
    "Ideal",
    "NoTemplateError",
    "Place",
    "Wanted",
    "cell_trace",
    "check_to_json",
    "check_to_junit",
    "check_without_parsers",
    "compare_locks",
    "failing_cases",
    "ideal_of",
    "load_model",
    "load_served",
    "lock_of",
    "open_engines",
    "pasted_text",
    "plugin_commands",
    "read_lock",
    "refuse_choice",
    "serve_commands",
]
