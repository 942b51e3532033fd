"""What `--fail-if` takes, what it refuses, and that what cannot be said fails nothing."""

import pytest

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.tools.verify import read_gate

SUMMARY = {
    "failure_count": 3,
    "model": "m",
    "debugger": {
        "rates": {
            "dropped_rate": {"value": 0.01, "low": 0.002, "high": 0.05, "n": 100},
            "cut_rate": {"value": None, "low": None, "high": None, "n": 0},
        },
        "by_code": {"PD403": 2},
        "baseline": None,
    },
}


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("dropped_rate>0.5%", True),
        ("dropped_rate > 0.01", False),
        ("dropped_rate >= 1%", True),
        ("dropped_rate.high < 0.05", False),
        ("failure_count != 0", True),
        ("failure_count == 3 and dropped_rate > 5%", False),
        ("failure_count > 5 or dropped_rate > 0 and failure_count > 2", True),
        ("by_code.PD403 >= 2", True),
        ("by_code.PD999 > 0", False),
        ("rates.dropped_rate.n >= 100", True),
        ("cut_rate > 0", False),
        ("cut_rate <= 1", False),
        ("baseline.tool_call_f1 < 80%", False),
    ],
)
def test_a_gate_holds_or_not(text, holds):
    assert read_gate(text).holds(SUMMARY) is holds


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "expected a metric, an operator and a number"),
        ("dropped_rate", "expected a metric, an operator and a number"),
        ("dropped_rate = 1", "is not a metric, operator or number"),
        ("dropped_rate > high", "expected a number"),
        ("1 > dropped_rate", "expected a metric"),
        ("failure_count > 1 failure_count > 1", "expected `and`, `or` or the end"),
        ("__import__('os') > 1", "is not a metric, operator or number"),
    ],
)
def test_anything_else_is_refused_with_the_place(text, says):
    with pytest.raises(RequestError, match="Cannot read the gate") as refused:
        read_gate(text)

    assert says in str(refused.value)


@pytest.mark.parametrize(
    ("text", "says"),
    [("droped_rate > 1", "dropped_rate"), ("dropped_rate.hi > 1", "hi"), ("model > 1", "not a number")],
)
def test_a_figure_that_is_not_there_is_refused(text, says):
    with pytest.raises(RequestError) as refused:
        read_gate(text).holds(SUMMARY)

    assert says in f"{refused.value} {refused.value.hint}"
