"""`--fail-if EXPR`: a comparison of a figure of the summary with a number, or several joined by `and`, `or`.

    expression   comparison (("and" | "or") comparison)*      "and" binds closer
    comparison   figure ("<" | "<=" | ">" | ">=" | "==" | "!=") number["%"]
    figure       dropped_rate, dropped_rate.high, failure_count, by_code.PD403, baseline.tool_call_f1.low, …

Nothing is evaluated that the grammar does not name. A figure that is `null`, because its denominator is 0, makes
no comparison hold: a gate fails on what was seen, not on what was not.
"""

from __future__ import annotations

import difflib
import operator
import re
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.base.types import JSON, JSONObject

_TOKEN = re.compile(
    r"\s*(?:(?P<number>\d+(?:\.\d*)?|\.\d+)(?P<percent>%?)|(?P<name>[A-Za-z_][\w.]*)|(?P<sign>[<>=!]=|[<>]))"
)
_SIGNS: Mapping[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}
_COUNTED = ("by_code", "by_stage", "evidence", "finish_others_detail")  # a name that never came up counts 0


class Comparison(NamedTuple):
    """One comparison of a gate."""

    figure: str
    sign: str
    number: float


class Gate(NamedTuple):
    """A gate holds if all comparisons of one of its alternatives do."""

    text: str
    alternatives: tuple[tuple[Comparison, ...], ...]

    def holds(self, summary: JSONObject) -> bool:
        """Return whether it holds of a summary.

        Raises:
            RequestError: The summary has no such figure; names those that are close.
        """
        values = [[_compare(one, summary) for one in comparisons] for comparisons in self.alternatives]
        return any(all(one) for one in values)


def read_gate(text: str) -> Gate:
    """Read a gate.

    >>> read_gate("dropped_rate > 0.5%").alternatives
    ((Comparison(figure='dropped_rate', sign='>', number=0.005),),)

    Raises:
        RequestError: The text is not a gate; says what was expected where.
    """
    tokens = list(_tokens(text))
    alternatives: list[list[Comparison]] = [[]]
    while True:
        alternatives[-1].append(_read_comparison(tokens, text))
        if not tokens:
            return Gate(text, tuple(tuple(one) for one in alternatives))
        joined = tokens.pop(0)
        if joined == "or":
            alternatives.append([])
        elif joined != "and":
            raise _refusal(text, f"expected `and`, `or` or the end, not {joined!r}")


def check_figures(gate: Gate, summary: JSONObject) -> None:
    """Refuse a gate whose figure a summary lacks; an empty summary shows that before anything is asked."""
    for comparison in (one for alternative in gate.alternatives for one in alternative):
        _figure(comparison.figure, summary)


def _tokens(text: str) -> Iterator[str]:
    at = 0
    while text[at:].strip():
        found = _TOKEN.match(text, at)
        if found is None:
            raise _refusal(text, f"{text[at:].strip()[:20]!r} is not a metric, operator or number")
        at = found.end()
        if found["number"] is not None:
            yield str(float(found["number"]) / (100 if found["percent"] else 1))
        else:
            yield found["name"] or found["sign"]


def _read_comparison(tokens: list[str], text: str) -> Comparison:
    if len(tokens) < 3:
        raise _refusal(text, "expected a metric, an operator and a number")
    figure, sign, number = tokens[:3]
    del tokens[:3]
    if not re.match(r"[A-Za-z_]", figure) or figure in ("and", "or"):
        raise _refusal(text, f"expected a metric, not {figure!r}")
    if sign not in _SIGNS:
        raise _refusal(text, f"expected one of {' '.join(_SIGNS)}, not {sign!r}")
    try:
        return Comparison(figure, sign, float(number))
    except ValueError:
        raise _refusal(text, f"expected a number, not {number!r}") from None


def _compare(comparison: Comparison, summary: JSONObject) -> bool:
    value = _figure(comparison.figure, summary)
    return value is not None and _SIGNS[comparison.sign](value, comparison.number)


def _figure(path: str, summary: JSONObject) -> float | None:
    """Return a figure by its path, which may leave out `debugger` and `rates`."""
    own = summary.get("debugger")
    places = [summary, own, own.get("rates") if isinstance(own, dict) else None]
    first, *rest = path.split(".")
    for place in places:
        if isinstance(place, dict) and first in place:
            return _follow(path, place[first], first, rest)
    names = sorted({name for place in places if isinstance(place, dict) for name in place})
    close = difflib.get_close_matches(first, names, 3)
    hint = f"Similar names: {', '.join(close)}." if close else f"There are: {', '.join(names)}."
    raise RequestError(f"There is no metric {path!r}.", hint, field="--fail-if")


def _follow(path: str, value: JSON, at: str, rest: list[str]) -> float | None:
    for name in rest:
        if value is None:
            return None
        if isinstance(value, dict) and name not in value and at in _COUNTED:
            return 0.0
        if not isinstance(value, dict) or name not in value:
            raise RequestError(f"There is no metric {path!r}: `{at}` has no `{name}`.", field="--fail-if")
        value, at = value[name], name
    if isinstance(value, dict) and "value" in value and "n" in value:
        value = value["value"]
    if isinstance(value, bool) or not isinstance(value, int | float | None):
        raise RequestError(f"{path!r} is not a number.", field="--fail-if")
    return None if value is None else float(value)


def _refusal(text: str, why: str) -> RequestError:
    return RequestError(
        f"Cannot read the gate {text!r}: {why}", "Write it like `dropped_rate > 0.5%`.", field="--fail-if"
    )
