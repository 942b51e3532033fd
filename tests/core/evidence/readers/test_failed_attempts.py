"""Instructor's error: the last attempt's answer, and why it was not taken."""

from __future__ import annotations

import asyncio

import pytest

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.evidence import Form, read_evidence, show_evidence
from tests.attacks.growth import grows_linearly

FAULT = (
    "1 validation error for Person\nage\n  Input should be a valid integer, unable to parse string as an integer "
    "[type=int_parsing, input_value='nine', input_type=str]"
)


def attempt(number: int, age: str) -> str:
    call = f"Function(arguments='{{\"age\": \"{age}\"}}', name='Person')"
    message = "ChatCompletionMessage(content=None, role='assistant', tool_calls=[ChatCompletionMessageFunctionToolCall("
    message += f"id='c{number}', function={call}, type='function')])"
    choice = f"Choice(finish_reason='tool_calls', index=0, message={message})"
    completion = f"ChatCompletion(id='x', choices=[{choice}], created=1, model='m', object='chat.completion')"
    return (
        f'<generation number="{number}">\n<exception>\n    {FAULT}\n</exception>\n'
        f"<completion>\n    {completion}\n</completion>\n</generation>\n"
    )


def error(*attempts: str) -> str:
    inner = "".join(attempts)
    return (
        f"instructor.core.exceptions.InstructorRetryException: <failed_attempts>\n\n{inner}\n</failed_attempts>\n\n"
        f"<last_exception>\n    {FAULT}\n</last_exception>\n"
    )


def test_the_last_answer_and_its_fault_are_read():
    evidence = read_evidence(error(attempt(1, "ten"), attempt(2, "nine")))

    assert evidence.form is Form.EXCHANGE
    assert "'c2'" in repr(evidence.chat.message)
    assert evidence.error.message.startswith("1 validation error for Person")
    assert "asked 2 times; the last answer was read" in " ".join(evidence.notes)


def test_no_tag_of_the_list_is_in_the_first_sentence():
    trace = asyncio.run(show_evidence(read_evidence(error(attempt(1, "nine")))))

    assert "<" not in trace.verdict.sentence
    assert "PD445" in {finding.code for finding in trace.findings}


def test_an_attempt_without_a_completion_is_an_error_alone():
    alone = f'<failed_attempts>\n<generation number="1">\n<exception>\n{FAULT}\n</exception>\n</generation>\n'

    assert read_evidence(alone).chat is None


def test_the_tag_alone_in_words_is_no_error():
    with pytest.raises(RequestError):
        read_evidence("Its message begins with <failed_attempts> in newer releases.")


def test_attempts_are_read_in_linear_time():
    for piece in ("<exception>", "<exception></exceptio", attempt(1, "nine")):
        assert grows_linearly(lambda n, piece=piece: read("<failed_attempts>" + piece * n), first=100)


def read(text: str) -> None:
    try:
        read_evidence(text)
    except RequestError:
        return
