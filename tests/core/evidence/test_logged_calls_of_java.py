"""A call that LangChain4j logs before it runs it, and the error of the decoder below it."""

import asyncio

import pytest

from prompt_debugger.core.diagnose.calls.unescaped_arguments import unescaped_call
from prompt_debugger.core.diagnose.fields import CallField
from prompt_debugger.core.evidence import read_evidence, show_evidence
from tests.attacks.growth import grows_linearly

ARGUMENTS = r'{"filter":"port = \"north\""}'
LOG = (
    '2026-01-02 10:00:00,001 [t7] DEBUG a.b.Runner - Now comes ToolExecutionRequest { id = "c7", name = "look_up", '
    'arguments = "@@" } of a user\n\n2026-01-02 10:00:00,002 [t7] ERROR a.b.Runner - It failed\n'
    "java.lang.RuntimeException: com.fasterxml.jackson.core.JsonParseException: Unexpected character ('##' (code 110))"
    ": was expecting comma to separate Object entries\n"
)


def findings(arguments, character="n"):
    text = LOG.replace("@@", arguments).replace("##", character)
    return asyncio.run(show_evidence(read_evidence(text))).findings


def test_a_call_that_a_program_unescaped_before_it_read_it_is_not_laid_to_the_model():
    found = findings(ARGUMENTS)[0]

    assert found.code == "PD445"
    assert found.title == (
        "The arguments of the call to `look_up` are valid JSON, and were read without their backslashes."
    )
    assert "decoded as they come" in found.fix


@pytest.mark.parametrize(
    ("arguments", "character"), [(ARGUMENTS, "k"), ('{"filter":"port = north"}', "n"), ('{"filter":"a" "north"}', "n")]
)
def test_a_decoder_that_stumbles_over_something_else_is_not_said_to_unescape(arguments, character):
    assert not any("without their backslashes" in one.title for one in findings(arguments, character))


def test_a_logged_call_is_read_with_its_name_and_arguments():
    call = read_evidence(LOG.replace("@@", ARGUMENTS)).chat.message["tool_calls"][0]

    assert (call["id"], call["function"]["name"], call["function"]["arguments"]) == ("c7", "look_up", ARGUMENTS)


def test_unescaped_arguments_are_found_in_linear_time():
    def read(count):
        call = CallField("tool_calls[0]", "c", "f", '{"a": "' + r"\"" * count + '"}')
        return unescaped_call((call,), "Unexpected character ('" * count)

    assert grows_linearly(read, first=2_000)


def test_logged_calls_are_found_in_linear_time():
    thrown = LOG.rpartition("failed\n")[2]
    piece = 'ToolExecutionRequest { id = "a", name = "f", arguments = "'

    assert grows_linearly(lambda count: read_evidence("DEBUG a\n" + piece * count + '{}" }\n' + thrown), first=50)
