"""What packages say of errors in their docstrings and source is no error; what a program reported is one."""

from __future__ import annotations

import pytest

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.evidence import Part, read_evidence, show_evidence
from prompt_debugger.core.evidence.no_errors.declared import is_declared, is_description
from tests.attacks.growth import grows_linearly

PACKED = (
    "".join(f"let a{at}=(e,t)=>{{if(e&&t)return b?.c}};" for at in range(9))
    + 'throw new Error("Could not load the model")'
)


@pytest.mark.parametrize(
    "text",
    [
        '    audio_end: int\n    """If it is greater than the length, the server will respond with an error."""\n',
        'class ConnectionFailed(BaseModel):\n    """Failed to connect to an MCP server."""\n\n    name: str\n',
        '    "invalid_image_url",\n    "image_content_policy_violation",\n    "image_file_too_large",\n',
        PACKED,
        "Raised when the server cannot be reached: connection refused.\n\n```\na.ApiError: 404 Client Error.\n```",
        "Raise HTTP 403 if the user's role may not use the model.",
        "Check the request. Raises ModelError if the response format is not supported.",
        "- raise rate limit error if the model is over its limit",
        "Outcome:\n- `done` - A token came.\n- `connect_error` - The server could not be reached.\n- `none` - None.",
        "- `examples` (list): Left out first if the input exceeds the model's context length.",
        "- tpm_limit: Optional[int] - The tokens per minute limit of the model. Rate limit exceeded above it.",
        "Shapes the ``error`` of the model's answer: ``type`` is required and ``param`` is missing.",
        "Both are the same class, so `type(error) is TimeoutError` holds for the model's client.",
        "The model sees only `Error executing tool <name>`, and the log has the rest.",
        'The error format:\n{\n    "type": "error",\n    "error": {"type": "...", "message": "..."}\n}',
        "Retries only ConnectError, the one failure after which the model was never asked.",
    ],
)
def test_a_docstring_or_source_is_no_error(text):
    with pytest.raises(RequestError):
        read_evidence(text)


@pytest.mark.parametrize(
    "text",
    [
        "openai.BadRequestError: Error code: 400 - {'error': {'message': 'This model does not support tools'}}",
        "Raised an issue with the vendor: the model answers `400 Bad Request: tools is not supported`.",
        "I get ``Error code: 429`` from ``gpt-4o`` all the time: Rate limit reached for requests",
        'Traceback (most recent call last):\n  File "a.py", line 3, in <module>\n    ask()\n'
        "openai.APIConnectionError: Connection error.",
        'mcp.ToolError: Error executing tool find: model "a" is not available',
    ],
)
def test_what_was_reported_is_an_error(text):
    assert Part.ERROR in read_evidence(text).holds


def test_what_is_declared_and_described_and_what_is_not():
    assert is_declared('def ask(model: str) -> str:\n    """Ask."""\n')
    assert not is_declared("model: qwen3\nerror: it does not support tools\n")
    assert not is_declared('Traceback (most recent call last):\nclass A:\n    """Ask."""\n')
    assert not is_description("- `max_tokens` - I set it to 9\n- `model` - qwen3\n")
    assert not is_description("My ``model`` says that ``tools`` is required.")


async def test_a_placeholder_for_a_name_is_no_call():
    text = "The model writes <tool_call>name<arg_key>k</arg_key><arg_value>v</arg_value>\nas others do, and no more."

    assert not [one for one in (await show_evidence(read_evidence(text))).findings if one.code == "PD463"]


def test_the_expression_of_a_program_is_no_name():
    code = "    function_name = name_of(match.group(1))\n    arguments = {}\n    return function_name\n"

    with pytest.raises(RequestError):
        read_evidence(code)


def test_looking_at_declarations_takes_time_in_proportion_to_the_text():
    assert grows_linearly(lambda size: is_declared("a: int\n" * size), first=1_000)
    assert grows_linearly(lambda size: is_declared("x=>{" * size), first=1_000)
    assert grows_linearly(lambda size: is_description("- `a_b` - c\n" * size + "``d`` " * size), first=1_000)
