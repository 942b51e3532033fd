"""Pages, programs and templates of other projects are no output, answer or error; what only looks like them is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.evidence import read_evidence
from prompt_debugger.core.evidence.no_errors.advice import shows_possible_error
from prompt_debugger.core.evidence.no_errors.catalogues import is_catalogue
from prompt_debugger.core.evidence.no_errors.programs import writes_markers
from prompt_debugger.core.evidence.readers import Paste, find_reader
from prompt_debugger.core.evidence.recognise import MARKER
from tests.attacks.growth import grows_linearly
from tests.core.evidence.pasted import findings_or_refusal
from tests.yaml_files import read_yaml

BODY = '{\n  "error": "the model gave up"\n}'
REFUSED = "Error code: 401 - {'statusCode': 401, 'message': 'Access token is missing, or has expired.'}"

UNREAD = read_yaml(Path(__file__).with_name("pages_of_projects.yml"))


@pytest.mark.parametrize("text", UNREAD.values(), ids=UNREAD)
def test_what_is_of_a_page_is_not_read(text: str) -> None:
    with pytest.raises(RequestError):
        read_evidence(text)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Content:\n\n```\nHi there.\n```\n", "the content of a message"),
        (
            "The content of the answer that came back from this server:\n\n```\nHi there.\n```\n",
            "the content of a message",
        ),
        ('The raw output of this model is:\n\n```\n[TOOL_CALLS]find[ARGS]{"word": "rain"}\n```\n', "a raw output"),
        ("content: 'Hi'\nreasoning_content: 'They greet.'\n", "fields of a chat response"),
    ],
)
def test_what_a_server_gave_is_read(text: str, words: str) -> None:
    assert read_evidence(text).words.startswith(words)


@pytest.mark.parametrize(
    "text",
    [
        f"I see this:\n\n```\nlib.RetryException: {REFUSED}\n```\n\nIf you see an error like the one above, help.\n",
        f"Since Monday my calls fail. Errors are returned as JSON:\n\n```json\n{BODY}\n```\n",
        BODY,
    ],
)
async def test_an_error_that_came_is_reported(text: str) -> None:
    assert [one[:5] for one in await findings_or_refusal(text)] == ["PD100"]


async def test_instructions_of_pydantic_ai_are_one_message() -> None:
    asked = [
        {"parts": [{"part_kind": "user-prompt", "content": "Roll"}], "instructions": "Roll dice.", "kind": "request"},
        {
            "parts": [{"part_kind": "tool-call", "tool_name": "roll", "args": {}, "tool_call_id": "c"}],
            "kind": "response",
        },
        {
            "parts": [{"part_kind": "tool-return", "tool_name": "roll", "content": "4", "tool_call_id": "c"}],
            "instructions": "Roll dice again.",
            "kind": "request",
        },
        {"parts": [{"part_kind": "text", "content": "4"}], "kind": "response"},
    ]
    evidence = read_evidence(json.dumps(asked))

    assert evidence.request is not None
    assert [(one["role"], one["content"]) for one in evidence.request.messages][:2] == [
        ("system", "Roll dice again."),
        ("user", "Roll"),
    ]
    assert not any(one.startswith("PD121") for one in await findings_or_refusal(json.dumps(asked)))


async def test_a_declaration_of_tools_in_a_prompt_is_no_call() -> None:
    declared = (
        "You have these functions:\n\n<tools>\n<function>\n<name>get_weather</name>\n"
        "<description>The weather</description>\n</function>\n</tools>\n"
    )

    assert not any(one.startswith(("PD426", "PD463")) for one in await findings_or_refusal(declared))
    call = "I look.\n<function>\n<name>get_weather</name>\n<arguments>{}</arguments>\n</function>\n"
    assert any(
        "get_weather" in one for one in await findings_or_refusal(json.dumps({"role": "assistant", "content": call}))
    )


async def test_code_that_a_model_writes_below_its_thoughts_is_an_output() -> None:
    text = "I write it.\n</think>\nimport re\nfrom a import b\ndef f():\n    return 1\nassert f()\n"

    assert "</think>" in (read_evidence(text).raw or "")


@pytest.mark.parametrize("text", ["`\n", "a := 1\n", 'name: "</think>",\n', '"""</think>\n', "// </think>\n"])
def test_markers_in_programs_are_looked_for_in_linear_time(text: str) -> None:
    def run(size: int) -> None:
        writes_markers("a := 1\nb := 2\nc := 3\nd := 4\n" + text * min(size // len(text), 900), MARKER)

    assert grows_linearly(run, first=2_000, doublings=4)


@pytest.mark.parametrize("text", ["If you see an error ", "you may see an error ", "Errors are returned ", "error a "])
def test_pages_are_looked_at_in_linear_time(text: str) -> None:
    def run(size: int) -> None:
        long = "{" + text * (size // len(text))
        shows_possible_error(long)
        is_catalogue(long)

    assert grows_linearly(run, first=4_000)


@pytest.mark.parametrize("text", ["content: str\n", "class a\n", "content of the ", '"""\n', "if message.content:\n"])
def test_labels_and_leads_are_looked_for_in_linear_time(text: str) -> None:
    assert grows_linearly(lambda size: find_reader(Paste(text * (size // len(text)))), first=4_000, doublings=5)
