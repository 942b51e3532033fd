"""A text that is nothing but the markup of a call without a name."""

from prompt_debugger.core.base.types import CallStatus, Place, Span, ToolCallAttempt
from prompt_debugger.core.diagnose.calls.nameless_calls import nameless_call
from tests.attacks.growth import grows_linearly


def attempt(start, stop):
    return ToolCallAttempt(None, "", None, None, CallStatus.MALFORMED, Place.BODY, Span(start, stop))


def test_tags_around_a_call_without_a_name_are_read_in_linear_time():
    def read(count):
        text = "<a> " * count + '{"a": 1}' + " <b>" * count + "x"
        return nameless_call(text, [attempt(4 * count, 4 * count + 8)])

    assert grows_linearly(read, first=1_000)
