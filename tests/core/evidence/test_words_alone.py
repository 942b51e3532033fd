"""The words of an error without what was copied with them, and near misses whose words are left as they are."""

import asyncio
import json

import pytest

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.evidence import read_evidence, show_evidence
from prompt_debugger.core.evidence.errors.cleaned import words_alone
from prompt_debugger.core.evidence.errors.copied import error_of_text
from prompt_debugger.core.evidence.errors.rich_log import plain_of_rich
from prompt_debugger.core.evidence.errors.values import error_of_value
from tests.attacks.growth import grows_linearly

FENCE = "```"
SAID = "messages.3: roles must alternate between user and assistant"
FRAME = '  File "/x/site-packages/openai/_base_client.py", line 10, in request\n    raise error\n'
CUT = 'Traceback (most recent call last):\n  File "shop.py", line 3, in ask\n  File "server.py", line 41, in handle'


def shown(text):
    return asyncio.run(show_evidence(read_evidence(text)))


@pytest.mark.parametrize(
    "message",
    [
        f"{SAID}\n\n## Steps to take",
        f"**{SAID}",
        f"{SAID}**",
        f"{FENCE}\n{SAID}\n{FENCE}",
        f"`{SAID}",
        f"## [Bug]: {SAID}",
        f"{SAID}\n    at ask (/opt/gate/dist/cli.js:79:11)\n    at async run (/opt/gate/dist/cli.js:7:9)",
    ],
    ids=["heading", "bold", "bold-end", "fence", "code", "title", "stack"],
)
def test_words_are_left_alone(message):
    assert words_alone(message, f"It says\n{message}").strip() == SAID


@pytest.mark.parametrize(
    "message",
    [f"**Note** {SAID}", f"{SAID}\n# a comment", "Failed to parse input at pos 12: {text\n\n## Steps\n{", "## Steps"],
    ids=["both-marks", "comment", "of-an-output", "nothing-left"],
)
def test_words_that_are_whole_stay(message):
    assert words_alone(message, message) == message


def test_words_that_a_body_contains_keep_their_headings():
    assert words_alone(f"{SAID}\n## Rules", "another text") == f"{SAID}\n## Rules"


def test_a_grammar_is_not_among_the_words_of_its_error():
    text = '|common_sampler_init: error initializing grammar sampler for grammar:\nroot ::= "{" ws "}"\nws ::= " "\n'

    assert error_of_text(text).refusal.message == "common_sampler_init: error initializing grammar sampler for grammar:"


def test_a_traceback_in_one_line_is_the_exception_that_ends_it():
    text = (
        'ERROR: Traceback (most recent call last): File "/x/site-packages/vllm/a.py", line 1, in ask prompt = f( File '
        "\"<template>\", line 12, in top-level template code jinja2.exceptions.UndefinedError: 'dict object' has no "
        "attribute 'parts'"
    )

    message = error_of_text(text).refusal.message

    assert message == "jinja2.exceptions.UndefinedError: 'dict object' has no attribute 'parts'"


@pytest.mark.parametrize("key", ["error", "message"])
@pytest.mark.parametrize("is_first", [True, False])
def test_a_record_that_was_cut_says_its_words_alone(key, is_first):
    fields = ['"level":"error"', '"time":"2026-02-01T10:00:00Z"']
    head = ",".join(fields if is_first else reversed(fields))
    text = f'{{{head},"{key}":"acme 400: {SAID}","logger":"proxy","stack":"Trac'

    assert error_of_text(text).refusal.message == f"acme 400: {SAID}"


def test_a_record_of_a_lower_level_that_was_cut_is_no_error():
    assert error_of_text('{"level":"info","msg":"roles and users were read for the day","logger":"proxy","st') is None


def test_the_exception_in_a_record_with_a_traceback_is_what_it_says():
    body = {"error": {"message": SAID, "type": "invalid_request_error"}}
    told = f"Traceback (most recent call last):\n{FRAME}openai.BadRequestError: Error code: 400 - {body}\n"

    assert error_of_value({"level": "error", "msg": told}).message == SAID
    assert error_of_value({"level": "info", "msg": told}) is None
    assert error_of_value({"level": "error", "msg": told.replace("openai", "shop")}) is None


@pytest.mark.parametrize(
    "text",
    [
        "error: failed to parse manifest at `/u/shop/Cargo.toml`\n\nCaused by:\n  feature `edition2031` is required\n",
        "error: could not compile `acme` (lib) due to 2 previous errors",
        "Error: the order was not sent\n\nCaused by:\n    0: the shop is closed\n    1: it is night\n",
    ],
)
def test_a_chain_of_another_program_is_no_error_of_a_request(text):
    with pytest.raises(RequestError):
        read_evidence(text)


def test_a_chain_about_a_chat_is_still_one():
    text = "Error: chat completion failed\n\nCaused by:\n    0: the request was refused\n    1: " + SAID + "\n"

    assert SAID in shown(text).findings[0].title


def test_a_traceback_without_its_end_beside_a_request_is_named():
    request = json.dumps({"model": "m", "messages": [{"role": "user", "content": "sup"}]})

    headline = str(shown(f"Input: {request}\n----------\nException happened during processing\n{CUT}\n"))

    assert "without its end" in headline
    assert "without its end" not in str(shown(f"Input: {request}\n----------\nThe request was answered.\n"))


def test_a_traceback_with_numbered_lines_is_the_exception_that_ends_it():
    text = (
        '  55     parser_cls = manager.get(\n  57   File "/x/vllm/reasoning/a.py", line 5, in get_reasoning_parser\n'
        "  58     raise KeyError(\n  59 KeyError: \"Reasoning parser 'acme' not found. Available parsers: a, b\""
    )

    assert error_of_text(text).refusal.message.startswith("KeyError: \"Reasoning parser 'acme'")


RICH = (
    "                    INFO     Step 1:                          service.py:2039\n"
    "[05/04/26 15:21:22] WARNING  Result failed 1/3 times: Error   service.py:1286\n"
    "                             code: 400 - {'error': {'message':\n"
    '                             "The roles of messages must\n'
    "                             alternate\", 'type': None,\n"
)


def test_an_entry_that_rich_lays_out_is_read_as_one_line():
    assert "roles of messages must alternate" in shown(RICH).findings[0].title
    assert plain_of_rich("INFO a\nERROR b") == "INFO a\nERROR b"
    assert plain_of_rich(RICH.split("\n")[0]) == RICH.split("\n")[0]


def test_times_before_the_lines_of_a_stack_of_dotnet_are_left_out():
    head = "2026-01-02 03:04:05 "
    lines = ["Acme.Kernel.HttpOperationException: Service request failed.", "Status: 422 (Unprocessable Entity)", ""]
    lines += ["---> System.ClientModel.ClientResultException: Service request failed.", *lines[1:]]
    lines += ["at OpenAI.Chat.ChatClient.CompleteChatAsync(BinaryContent content)"]

    refusal = error_of_text("\n".join(head + line for line in lines)).refusal

    assert refusal.status == 422
    assert "2026" not in refusal.message


def test_a_server_that_ended_is_read_in_its_log():
    text = (
        "slot update_slots: id  0 | task 2 | prompt done, n_past = 9\nterminate called after throwing an instance of "
        "'nlohmann::type_error'\n  what():  [json.exception.type_error.316] invalid UTF-8 byte at index 7: 0xE2"
    )

    assert "not UTF-8" in shown(text).findings[0].title


def test_a_cut_traceback_in_a_quotation_is_named():
    quoted = "\n".join(f"> {line}" for line in CUT.split("\n"))

    with pytest.raises(RequestError, match="without its end"):
        read_evidence(f"### Describe the bug\n\nWhen the shop opens, the server ends.\n\n{quoted}\n")


@pytest.mark.parametrize(
    "flood",
    [
        'Traceback (most recent call last): File "',
        "for grammar: a ",
        "\n## x",
        " " * 20 + "INFO  a  a.py:1\n",
        '{"a',
        '"error":"aaaaaaaaa',
        "**",
    ],
)
def test_floods_are_read_in_linear_time(flood):
    assert grows_linearly(lambda count: words_alone(flood * count, flood * count), first=400)
    assert grows_linearly(lambda count: error_of_text('{"level":"error",' + flood * count), first=400)
