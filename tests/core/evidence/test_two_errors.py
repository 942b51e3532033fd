"""Two errors in one text: the second is said, too, with what helps against it."""

from __future__ import annotations

import pytest

from prompt_debugger.core.evidence import read_evidence

TOO_LONG = (
    "openai.BadRequestError: Error code: 400 - {'error': {'message': \"This model's maximum context length is 100 "
    "tokens. However, your prompt contains 120 input tokens, which exceeds this limit even without any output tokens. "
    'Please reduce the length of the input prompt."}}'
)
NO_PARSER = (
    "openai.BadRequestError: Error code: 400 - {'error': {'message': '\"auto\" tool choice requires "
    "--enable-auto-tool-choice and --tool-call-parser to be set'}}"
)
UNBALANCED = (
    "jinja2.exceptions.TemplateSyntaxError: Encountered unknown tag 'endfor'. Jinja was looking for the following tags:"
    " 'elif' or 'else' or 'endif'. The innermost block that needs to be closed is 'if'."
)


def further(text):
    return [note for note in read_evidence(text).notes if "another error" in note]


@pytest.mark.parametrize(
    "text",
    [
        f"First I got\n\n```\n{UNBALANCED}\n```\n\nOnce I fix that:\n\n```\n{NO_PARSER}\n```\n",
        f"{UNBALANCED}\n\n{NO_PARSER}",
        f"{UNBALANCED}\n{NO_PARSER}",
    ],
)
def test_a_second_error_is_said_with_what_helps(text):
    whole = read_evidence(text)

    assert len(further(text)) == 1
    said = f"{whole.error.message} {further(text)[0]}"
    assert "unknown tag" in said
    assert "--enable-auto-tool-choice" in said


@pytest.mark.parametrize(
    "text",
    [
        NO_PARSER,
        f"```\n{NO_PARSER}\n```\n\nand the same again\n\n```\n{NO_PARSER}\n```\n",
        # A chain is one error.
        f'Traceback (most recent call last):\n  File "a.py", line 1, in f\n    g()\n{TOO_LONG}\n\nDuring handling of'
        f' the above exception, another exception occurred:\n\nTraceback (most recent call last):\n  File "a.py", '
        f"line 2, in f\n    h()\n{NO_PARSER}",
        # What is mentioned, and what is of another program.
        f"```\n{NO_PARSER}\n```\n\nOthers report the context length is exceeded, which I do not see.",
        f"```\n{NO_PARSER}\n```\n\n```\nKeyError: 'colour'\n```\n",
    ],
)
def test_one_error_has_no_second(text):
    assert further(text) == []
