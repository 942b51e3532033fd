"""JSON that someone wrote in lines keeps them: what is said of it names the line that they see."""

import pytest

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.evidence import read_evidence
from prompt_debugger.core.evidence.copying.clean import clean

LAID_OUT = '{"messages": [{"role": "user", "content": "Hi"}],\n "tools": [,]}'


def test_the_place_of_a_fault_is_in_the_line_that_one_sees():
    with pytest.raises(RequestError) as refused:
        read_evidence(LAID_OUT)

    assert (refused.value.line, refused.value.column) == (2, 12)


@pytest.mark.parametrize(
    "wrapped",
    [
        '{"messages": [{"role": "user", "content": "A ,\nword"}], "tools": []}',
        '{"messages": [{"role": "user", "content": "Hi"}], "te\nmperature": 0}',
        '{"messages": [{"role": "user", "content": "Hi"}], "a": fal\nse}',
    ],
)
def test_a_break_of_a_terminal_is_taken_out(wrapped):
    assert "\n" not in clean(wrapped).text
