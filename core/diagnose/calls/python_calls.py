"""A content that is nothing but a call as a line of Python, without the list around it that parsers read.

    get_weather(location="San Francisco")

The families that call in Python write a list, `[get_weather(…)]`, or tags around the lines. vLLM 0.32 was asked:
`olmo3` reads such a line, `pythonic`, `llama4_pythonic` and `granite` do not.
"""

from __future__ import annotations

import ast
import builtins
import re
from typing import NamedTuple

from prompt_debugger.core.base.types import Certainty, Severity, Span, Trace
from prompt_debugger.core.diagnose.advice import Step
from prompt_debugger.core.diagnose.calls.bare_lists import model_names
from prompt_debugger.core.diagnose.calls.unparsed_calls import family_of_model, parser_steps
from prompt_debugger.core.diagnose.calls.written_calls import CALL_EXPECTED, is_request_known
from prompt_debugger.core.diagnose.fields import request_tools, returned_calls
from prompt_debugger.core.diagnose.rules.base import Report
from prompt_debugger.core.diagnose.trace_queries import in_message
from prompt_debugger.core.diagnose.words import listed

_MAX_CHARS = 8_000
_BEGINS = re.compile(
    r"\s*+(?:```\w{0,12}[ \t]*\n\s*+)?+(?P<code>[A-Za-z_][\w.]{0,100}\(.*\))\s*+(?:```\s*+)?\Z", re.DOTALL
)
_PYTHONIC = ("pythonic", "llama4_pythonic", "olmo3", "lfm2")
_SAY = (
    "The models that call in Python write a list, `[f(a=1)]`, or tags around the lines, and parsers read that (vLLM: "
    "`pythonic` the list; only `olmo3` reads bare lines, too). Either the server removed what was around them, or this "
    "model did not keep to its notation: check that its own template is used, and that the prompt contains the tools "
    "(`render`)."
)


class PythonCall(NamedTuple):
    """Calls that a content is made of.

    Attributes:
        names: Of the tools, in order.
        span: Where they are.
    """

    names: tuple[str, ...]
    span: Span


def python_calls(content: str) -> PythonCall | None:
    """Return the calls in Python that a content is, line by line; `None` where it is anything else.

    >>> python_calls('get_weather(location="Oslo")').names
    ('get_weather',)
    >>> python_calls("print(1)") is None, python_calls("f(x)") is None, python_calls("See f(a=1).") is None
    (True, True, True)
    """
    found = _BEGINS.match(content) if len(content) <= _MAX_CHARS else None
    if found is None:
        return None
    try:
        body = ast.parse(found["code"]).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    names = tuple(_name_of(statement) for statement in body)
    return PythonCall(tuple(map(str, names)), Span(*found.span("code"))) if names and None not in names else None


def _name_of(statement: ast.stmt) -> str | None:
    """Return the tool that a statement calls, with named arguments that are plain values."""
    call = statement.value if isinstance(statement, ast.Expr) else None
    if not isinstance(call, ast.Call) or call.args or not call.keywords:
        return None
    name = ast.unparse(call.func)
    if not re.fullmatch(r"[\w.]+", name) or hasattr(builtins, name):
        return None
    return name if all(one.arg and _is_plain(one.value) for one in call.keywords) else None


def _is_plain(value: ast.expr) -> bool:
    try:
        ast.literal_eval(value)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return False
    return True


def report_python(trace: Trace, content: str) -> Report | None:
    """Return what to say of a content that is a call in Python; `None` where it is none, or an answer in code."""
    found = python_calls(content)
    if found is None or returned_calls(trace):
        return None
    offered = {tool.name for tool in request_tools(trace.request)}
    if is_request_known(trace) and not {*found.names} <= offered:
        return None
    names = listed(list(dict.fromkeys(found.names)), 6)
    is_sure = bool(offered) or CALL_EXPECTED in trace.notes
    guess = "" if is_sure else " The request is unknown, so it may be code that was asked for."
    one = len(found.names) == 1
    return Report(
        title=f"Content is nothing but {'a call' if one else 'calls'} to {names} in Python, without a list around "
        f"{'it' if one else 'them'}.",
        detail=f"The answer has no call: the model wrote code, and the server took it for text.{guess}",
        evidence=(in_message("content", content[slice(*found.span)], found.span),),
        fix=_fix(trace),
        certainty=Certainty.INFERRED,
        severity=Severity.WARNING if is_sure else Severity.NOTE,
    )


def _fix(trace: Trace) -> tuple[Step, ...]:
    families = [named for model in model_names(trace) if (named := family_of_model(model)) is not None]
    if families and families[0] not in _PYTHONIC:
        return (Step(_SAY), *parser_steps(trace, families[0]))
    return (Step(_SAY),)
