"""Errors that no one wrote down: each gives a finding with its own words, and other programs' errors give none."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
import yaml

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.base.types import Certainty, Refusal
from prompt_debugger.core.diagnose.refusals.understand import understand
from prompt_debugger.core.diagnose.refusals.words import is_raised_inside
from prompt_debugger.core.evidence import Form, Part, parts_of, read_evidence, show_evidence
from prompt_debugger.core.evidence.errors.unknown import error_by_meaning
from tests.attacks.growth import grows_linearly

ERRORS = yaml.safe_load(Path(__file__).with_name("unknown_errors.yml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("error", ERRORS, ids=[error["title"] for error in ERRORS])
def test_an_error_in_words_of_its_own_gets_a_finding_of_its_class(error):
    trace = asyncio.run(show_evidence(read_evidence(error["text"])))

    found = trace.findings[0]
    assert (found.code, found.stage.value, found.certainty) == (error["code"], error["stage"], Certainty.INFERRED)
    assert error["title"] in found.title
    assert error["advice"] in found.fix
    assert Part.ERROR in parts_of(trace)


def test_a_finding_by_class_says_that_it_is_inferred_and_who_reported_it():
    unknown = next(error for error in ERRORS if "moon" in error["title"])
    trace = asyncio.run(show_evidence(read_evidence(unknown["text"])))

    assert "was reported by vLLM (`vllm/multimodal/moonlight.py`)" in trace.findings[0].detail
    known = asyncio.run(show_evidence(read_evidence(ERRORS[0]["text"]))).findings[0]
    assert "inferred from its words" in known.detail


def test_a_class_alone_is_no_file_that_raised_an_error():
    text = "litellm.BadRequestError: OpenAIException - temperature must be in [0, 2], got 7.5."
    detail = asyncio.run(show_evidence(read_evidence(text))).findings[0].detail

    assert "It was reported by LiteLLM." in detail


def test_the_field_that_the_words_name_is_pointed_at_in_the_request():
    body = {"model": "m", "messages": [{"role": "user", "content": "a", "foo": 1}]}
    said = {"error": {"message": "messages.0.foo: Extra inputs are not permitted"}}
    text = json.dumps({"request": body, "response": said})

    found = asyncio.run(show_evidence(read_evidence(text))).findings[0]

    assert [one.field for one in found.evidence if one.where == "request"] == ["messages[0].foo"]


@pytest.mark.parametrize("text", ["ERROR the flux is out of phase", "2026-01-01 10:00:00 error: [flux] Phase odd lost"])
def test_an_error_that_shows_nothing_else_is_shown_whole(text):
    found = asyncio.run(show_evidence(read_evidence(text))).findings[0]

    assert found.title.startswith("An error was reported: ")
    assert text.rpartition("] ")[2].removeprefix("ERROR ") in found.title
    assert "To learn more" in found.fix


def test_the_words_of_an_error_may_stand_on_the_line_below():
    words = "Cannot call something that is not a function: got ObjectValue"
    text = f'The page stays empty.\nError rendering prompt with jinja template:\n"{words}"'

    found = asyncio.run(show_evidence(read_evidence(text))).findings[0]

    assert "got ObjectValue" in found.title
    assert "Rename that property" in found.fix


def test_the_fence_of_an_error_and_the_prose_below_it_are_no_words_of_it():
    said = "WARN a::b: parse error: Unexpected token 7 while expecting start token 200006"
    text = f"It dies.\n\n```\n{said}\n```\n\nand no answer comes."

    found = asyncio.run(show_evidence(read_evidence(text))).findings[0]

    assert found.title.endswith("start token 200006.")
    assert "no answer comes" not in found.detail


def test_a_traceback_without_its_last_line_gets_a_sentence_of_its_own():
    frame = '  File "/x/site-packages/sglang/srt/a.py", line 7, in f\n    g()'
    text = f"[2026-01-01 10:00:00] Traceback (most recent call last):\n{frame}"

    with pytest.raises(
        RequestError, match=r"a traceback of SGLang without its end: it breaks off in a\.py line 7"
    ) as error:
        read_evidence(text)

    assert "to its end" in error.value.hint


def test_values_that_go_printed_in_a_log_are_read_as_they_were():
    said = r"error parsing tool call: raw=\'{\"a\":\"say \\\"x\\\"\"}]\', err=invalid".replace("\\'", "'")
    text = f'time=2026-01-01T10:00:00.000Z level=ERROR source=routes.go:1 msg="failed" error="{said}"'

    assert read_evidence(text).raw == '{"a":"say \\"x\\""}]'


def test_bytes_that_python_printed_are_read_as_the_text_that_they_are():
    said = "".join(f"\\x{byte:02x}" for byte in "não há modelo".encode())
    text = (
        f'litellm.BadRequestError: XException - b\'{{"error":{{"message":"{said}","type":"invalid_request_error"}}}}\''
    )

    assert read_evidence(text).error.message == "não há modelo"


def test_a_body_of_a_request_that_is_not_json_is_no_output():
    text = "API Error: 400 The request body is not valid JSON: no low surrogate in string: line 1 column 9 (char 8)"

    found = asyncio.run(show_evidence(read_evidence(text))).findings[0]

    assert (found.code, found.stage.value) == ("PD100", "request")


def test_the_level_of_a_logs_line_is_no_word_of_the_error():
    found = read_evidence("[Serve][ERROR] Encountered an error: prompt length (9) exceeds maximum input length (8)")

    assert found.error.message.startswith("Encountered")


def test_a_label_before_a_logs_message_is_no_word_of_it():
    call = 'Received request: POST to /v1/chat/completions with body {"messages": [{"role": "user", "content": null}]}'
    found = read_evidence(
        f"2024-12-18 21:49:18 [DEBUG] \n{call}\n2024-12-18 21:49:18 [ERROR] \n"
        "[Server Error] Invalid 'content': 'content' field must be a string or an array of objects."
    )

    assert found.error.message.startswith("Invalid 'content'")


UNRELATED = [
    'Traceback (most recent call last):\n  File "/home/me/shop/cart.py", line 3, in total\n    price["net"]\n'
    "KeyError: 'net'\n",
    "java.lang.IllegalStateException: cart is empty\n    at shop.Cart.total(Cart.java:7)\n",
    "ValueError: date must be a string",
    'psycopg2.OperationalError: connection to server at "db" failed: Connection timed out',
    "TypeError: Cannot read properties of undefined (reading 'price')\n    at total (/shop/cart.js:3:9)\n",
]


@pytest.mark.parametrize("text", UNRELATED)
def test_an_error_of_another_program_gets_one_sentence_and_no_finding(text):
    with pytest.raises(RequestError, match="nothing in it speaks of a chat request"):
        read_evidence(text)


PROSE = [
    "I think that tool_choice must be auto here. Why does the server not take another value?",
    "We found that the context length is too small for our documents, and our prompts are too long.",
    "The report says that the image tokens do not match. It was raining. People were sad. Nobody knew. It went on.",
    "How do I fix the chat template? My model has none.",
    "2026-01-01 10:00:00 [INFO] started\n2026-01-01 10:00:01 [INFO] loaded 3 tools\n2026-01-01 10:00:02 [INFO] done\n",
    "A message of role `tool` whose id is the id of no call, also if the history contains no call at all.",
    "Reasoning used the whole token budget; no answer was written.",
    "Templates of some families raise *roles must alternate* on such a request; others print it as it is.",
    "Most servers take unknown fields and do nothing: a setting that was meant to change the run changes nothing.",
    'def ask(url):\n    """Ask.\n\n    Raises:\n        LLMError: The model is not loaded.\n    """\n    import json\n'
    "    if url:\n        raise LLMError('no such model')\n    return json.loads(url)\n",
    "The weather in Oslo is fine today.",
    "",
]


@pytest.mark.parametrize("text", PROSE)
def test_prose_and_logs_without_errors_are_not_errors(text):
    assert error_by_meaning(text) is None


@pytest.mark.parametrize("part", ["Error: a\n", "a.b.c.D", "ERROR ", 'File "', "tool_choice must be ", "\n| =x"])
def test_time_grows_linearly_with_hostile_texts(part):
    assert grows_linearly(lambda size: error_by_meaning(part * size), first=200, tries=2, doublings=6)


@pytest.mark.parametrize(
    "raised", ["ModuleNotFoundError: No module named 'pdf2image'", "FileNotFoundError: [Errno 2] No such file: 'a.png'"]
)
def test_folders_above_a_package_say_nothing_of_a_chat_request(raised: str) -> None:
    frames = 'Traceback (most recent call last):\n  File "/home/a/.gemini/llm-agents/run.py", line 3, in <module>\n'

    with pytest.raises(RequestError, match="error of a program"):
        read_evidence(f"{frames}{raised}\n")


def test_what_a_client_lacks_is_no_server_out_of_reach() -> None:
    frame = 'Traceback (most recent call last):\n  File "/x/site-packages/google/genai/files.py", line 3, in upload\n'
    lacking = read_evidence(f"{frame}FileNotFoundError: a.png is not a valid file path.\n").error
    missing = read_evidence(f"{frame}ModuleNotFoundError: No module named 'grpc'\n").error

    assert lacking is not None
    assert missing is not None
    classes = [understand(one).classified for one in (lacking, missing)]
    assert [None if one is None else one.error.name for one in classes] == ["missing-file", "missing-module"]


@pytest.mark.parametrize(("status", "cause"), [(401, "access"), (402, "quota"), (429, "rate"), (400, "request")])
def test_a_status_tells_the_cause_where_no_words_do(status: int, cause: str) -> None:
    assert understand(Refusal(status, "Not now, and not here.")).cause == cause


def test_an_answer_with_a_status_was_not_raised_by_the_client_that_passed_it_on() -> None:
    frame = (
        'Traceback (most recent call last):\n  File "/x/site-packages/google/genai/_client.py", line 3, in request\n'
    )
    said = "google.genai.errors.ClientError: Error code: 429 - {'error': {'message': 'Not now.', 'code': 'busy_x'}}"
    error = read_evidence(f"{frame}{said}\n").error

    assert error is not None
    assert not is_raised_inside(understand(error))


@pytest.mark.parametrize(
    "text",
    [
        '<explanation>The answer names the event "overloaded_error" and the code 529, as the page does.</explanation>',
        "<content>\n<explanation>It covers error handling:\n1. Retry after a rate limit error: 429.</explanation>\n"
        "</content>",
    ],
)
def test_what_a_model_wrote_in_elements_about_errors_reports_none(text: str) -> None:
    with pytest.raises(RequestError):
        read_evidence(text)


@pytest.mark.parametrize(
    "text",
    [
        "About this issue:\n    Examples whose label may be wrong\n    (e.g. due to an error) are flagged as such.",
        "  index  is_issue  score\n429  True  0.009544  [459]  0.000566",
    ],
)
def test_rows_and_words_about_data_report_no_error(text: str) -> None:
    with pytest.raises(RequestError):
        read_evidence(text)


@pytest.mark.parametrize(
    "text",
    [
        "When you add a provider\n\n- Keep its names\n- Add appropriate error handling and logging",
        "The list shows its models. Some of them do not take `json_schema` and may return a 400 error code.",
        "The helpers raise `UnsupportedPartError` if a part has an unsupported content type such as audio.",
        '{"shop": "Corner", "street": "401 Bay Road", "name": "A", "items": [{"name": "TEA"}], "tax": 0.2}',
    ],
)
def test_what_a_guide_says_of_errors_and_a_document_that_has_none_are_no_error(text):
    with pytest.raises(RequestError):
        read_evidence(text)


def test_words_of_a_guide_beside_an_error_do_not_hide_it():
    error = "openai.BadRequestError: Error code: 400 - {'error': {'message': 'tools[0].name is missing'}}"

    assert read_evidence(f"The docs say it may return a 400 error, and so it does:\n\n{error}").form is Form.ERROR
    assert read_evidence("ValueError: When using `tool_choice`, `tools` must be set.").form is Form.ERROR


def test_a_broken_request_reports_no_error_though_its_schema_requires_something():
    body = (
        '{"messages": [{"role": "user", "content": "hi"}], "tools": [{"type": "function", /* left out */ '
        '"required": ["city"]}}]}\n\nand then <tool_call> {"name": "f"'
    )

    assert error_by_meaning(body) is None
    assert error_by_meaning(body.replace("{", '{"error": "tools are required where the history has tool_calls", ', 1))


ALONE = [
    "AcmeError: Cannot turn this content block into a part of mine",
    "ValueError: Tool choice and reasoning cannot both be odd",
    'Traceback (most recent call last):\n  File "/x/own.py", line 7, in f\n    g()\nAcmeError: An odd tool_call_id',
]


@pytest.mark.parametrize("text", ALONE)
def test_an_exception_about_a_chat_that_is_all_of_a_text_is_shown_whole(text):
    found = asyncio.run(show_evidence(read_evidence(text))).findings[0]

    assert (found.code, found.certainty) == ("PD100", Certainty.INFERRED)
    assert text.rpartition("Error: ")[2] in found.title


@pytest.mark.parametrize(
    "text",
    [
        "KeyError: The box of tools was empty",
        "ValueError: The roles of the play must be given",
        'Traceback (most recent call last):\n  File "/x/own.py", line 7, in f\n    g()\nAcmeError: An odd shape came',
    ],
)
def test_an_exception_about_something_else_is_named_as_a_programs_own(text):
    with pytest.raises(RequestError, match=r"nothing in it speaks of a chat"):
        read_evidence(text)


def test_an_exception_in_a_page_that_explains_it_is_not_reported():
    page = "# Errors\n\nThe client raises these:\n\n- AcmeError: An odd tool_call_id came\n- OddError: A call was odd"

    with pytest.raises(RequestError):
        read_evidence(page)


@pytest.mark.parametrize(
    ("text", "code", "stage", "title"),
    [
        (
            "Trainer stopped.\nUnsloth: train_on_responses_only masked every label to -100 in eval_dataset, so there "
            "is nothing to train on. The response marker '<|im_start|>assistant' was not found in any sample.",
            "PD221",
            "render",
            "No token of the training text is learnt",
        ),
        (
            "ERROR tools: apply_patch verification failed: invalid patch: The first line of the patch must be "
            "'*** Begin Patch'",
            "PD445",
            "contract",
            "the first line of what it passed is not exactly `*** Begin Patch`",
        ),
    ],
)
def test_an_error_of_a_trainer_or_a_tool_is_not_laid_to_a_server(text, code, stage, title):
    found = asyncio.run(show_evidence(read_evidence(text))).findings[0]

    assert (found.code, found.stage.value) == (code, stage)
    assert title in found.title
    assert "server" not in found.title


def test_an_error_about_a_call_that_is_to_be_run_is_no_other_programs():
    text = (
        "2026-01-02 10:00:00,001 [t7] DEBUG a.b.Runner - About to run ToolExecutionRequest\n\n"
        "2026-01-02 10:00:00,002 [t7] ERROR a.b.Runner - Failed to run\n"
        "java.lang.RuntimeException: com.acme.JsonParseException: Unexpected character ('x' (code 120)): "
        "was expecting comma to separate Array entries"
    )

    assert "was expecting comma" in asyncio.run(show_evidence(read_evidence(text))).findings[0].title
