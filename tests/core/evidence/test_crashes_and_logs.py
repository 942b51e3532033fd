"""Programs that fail on an answer, and lines of logs that say what a request does not show."""

from __future__ import annotations

import asyncio
import json

import pytest

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.evidence import gather_evidence, show_evidence
from prompt_debugger.core.evidence.errors.tracebacks import cut_traceback, drop_levels, stack_alone
from prompt_debugger.core.evidence.logs.server import shown_in_log
from tests.attacks.growth import grows_linearly


def findings_of(text):
    return {one.code: one for one in asyncio.run(show_evidence(gather_evidence([text]))).findings}


GO = "goroutine 9 [running]:\nshop.example/bot/openai.(*Client).Ask(0xc000064)\n\t/src/bot/openai/client.go:65 +0x93\n"
CRASHES = [
    f"panic: runtime error: index out of range [0] with length 0\n\n{GO}",
    f"panic: runtime error: slice bounds out of range [6:1]\n\n{GO}",
    f"panic: runtime error: invalid memory address or nil pointer dereference\n\n{GO}",
    'Traceback (most recent call last):\n  File "ask.py", line 3, in ask\n    text = completion.parts[0]\n'
    "IndexError: list index out of range",
    "System.NullReferenceException: Object reference not set to an instance of an object.\n"
    "   at Microsoft.SemanticKernel.Connectors.Tern.Read(ChatCompletion body)",
]


@pytest.mark.parametrize("text", CRASHES)
def test_a_crash_of_a_program_is_no_value_of_the_request(text):
    found = findings_of(text)

    assert found["PD445"].title.startswith("A program failed in its own code: ")
    assert "PD100" not in found


def test_a_value_that_is_out_of_range_is_one_still():
    assert "PD100" in findings_of("Error code: 400 - {'error': {'message': 'temperature is out of range [0, 2]'}}")


@pytest.mark.parametrize(
    "body",
    [
        "io.ktor.serialization.JsonConvertException: Illegal input: Fields [id, choices] are required for type with "
        "serial name 'shop.llm.ChatResponse', but they were missing at path: $",
        "kotlinx.serialization.MissingFieldException: Field 'role' is required for type with serial name "
        "'shop.llm.ChatMessage', but it was missing at path: $.choices[0].message",
    ],
)
def test_what_kotlin_misses_in_an_answer_is_not_asked_of_the_request(body):
    stack = "\tat shop.llm.OpenAiClient.ask(OpenAiClient.kt:40)"
    found = findings_of(f'Exception in thread "main" {body}\n{stack}\n')

    assert "The answer lacks what the client requires" in found["PD445"].title
    assert "PD100" not in found


def test_an_answer_that_go_cannot_decode_is_neither_ollamas_nor_the_requests():
    words = "json: cannot unmarshal object into Go struct field ReplyResponse.output.arguments of type string"
    found = findings_of(json.dumps({"error": {"message": words, "type": "gateway_error"}}))

    assert "`output.arguments`" in found["PD445"].detail
    assert "known from Ollama" not in found["PD445"].detail


def test_a_request_that_ollama_cannot_decode_still_is():
    words = "json: cannot unmarshal string into Go struct field ChatRequest.tools of type api.Tools"

    assert "known from Ollama" in findings_of(json.dumps({"error": words}))["PD100"].detail


def test_a_grammar_that_the_prompt_does_not_fit_is_no_output():
    log = (
        'common_sampler_init: error initializing grammar sampler for grammar:\nroot ::= "{" space "}"\n'
        "space ::= | \" \"\n\nGeneration prompt:\n'<|im_start|>assistant\n<think>\n\n</think>\n\n'\n"
        "srv  process_sing: failed to launch slot with task, id_task = 3\n"
    )
    trace = asyncio.run(show_evidence(gather_evidence([log])))

    assert trace.raw is None
    assert "over the end of the prompt" in trace.findings[0].title


def test_ollama_says_that_the_prompt_has_two_bos():
    head = "time=2026-02-03T02:30:26.020Z level=WARN source=vocabulary.go:49 msg="

    assert "PD230" in findings_of(f'{head}"adding bos token to prompt which already has it" id=[2]\n')
    assert "PD230" not in findings_of(f'{head}"adding eos token to prompt which already has it" id=[2]\n')


@pytest.mark.parametrize(("logged", "is_reported"), [("GuidedDecodingParams(json={'type': 'ob", False), ("None", True)])
def test_a_constraint_that_the_log_shows_was_not_removed(logged, is_reported):
    request = json.dumps(
        {"model": "m", "messages": [{"role": "user", "content": "Hi"}], "guided_json": {"type": "object"}}
    )
    log = (
        "INFO 02-03 05:59:31 logger.py:37] Received request chatcmpl-1: prompt: 'Hi', params: "
        f"SamplingParams(n=1, max_tokens=32, guided_decoding={logged}"
    )

    assert ("PD127" in findings_of(f"```\n{request}\n```\n\nThe log:\n\n```\n{log}\n```\n")) is is_reported


PRINTED = (
    "ChatCompletion(id='chatcmpl-1', choices=[Choice(finish_reason='stop', index=0, message=ChatCompletionMessage("
    "content={content}, refusal=None, role='assistant', {calls}reasoning_content='Nine is more than"
)


def test_a_print_that_ends_within_its_thoughts_shows_that_there_is_no_answer_before_them():
    trace = asyncio.run(show_evidence(gather_evidence([PRINTED.format(content="None", calls="tool_calls=[], ")])))

    assert "PD459" in {one.code for one in trace.findings}
    assert trace.chat.finish_reason == "stop"


def test_one_that_has_an_answer_or_may_have_calls_is_not_judged():
    assert "PD459" not in findings_of(PRINTED.format(content="'Nine.'", calls="tool_calls=[], "))
    with pytest.raises(RequestError, match="ends inside `reasoning_content`"):
        findings_of(PRINTED.format(content="None", calls=""))


FRAMES = (
    '  File "/opt/lib/python3.12/site-packages/vllm/v1/engine/core.py", line 70, in run\n    self.step()\n'
    '  File "/opt/lib/python3.12/site-packages/vllm/v1/structured_output/__init__.py", line 128, in compile\n'
    "    return self.backend.compile("
)


@pytest.mark.parametrize("level", ["", "ERROR: ", "(EngineCore_DP0 pid=415) ERROR 12-18 02:52:01 [core.py:710] "])
@pytest.mark.parametrize("first", ["", "Traceback (most recent call last):\n"])
def test_a_traceback_without_its_end_is_no_error_in_words(level, first):
    text = "\n".join(f"{level}{line}" for line in f"{first}{FRAMES}".split("\n"))
    try:
        evidence = gather_evidence([text])
    except RequestError as error:
        said = str(error)
    else:
        said = str(evidence.notes)
        assert evidence.error is None

    assert "it breaks off in structured_output/__init__.py line 128" in said


def test_a_traceback_with_a_level_before_each_line_is_read_to_its_end():
    text = "\n".join(f"ERROR: {line}" for line in (FRAMES + "\nValueError: The schema is too deep").split("\n"))

    assert "breaks off" not in str(gather_evidence([text]).notes)


def test_a_title_that_guesses_gives_way_to_the_error_that_is_shown():
    report = (
        '# Every message fails: "failed to parse grammar", also without the option\n\nIt says:\n\n```\n'
        'HTTP 400: {"code":400,"message":"Failed to initialize samplers: failed to parse grammar"}\n```\n'
    )

    assert "that it cannot use itself" in findings_of(report)["PD100"].title


@pytest.mark.parametrize(
    ("begun", "means"),
    [
        ('```json\\n{\\n  "c...', "inside a Markdown code fence"),
        ("<think>\\nThe us...", "begins with the model's thoughts"),
    ],
)
def test_json_that_pydantic_quotes_in_part_is_explained_by_its_beginning(begun, means):
    head = (
        "pydantic_core._pydantic_core.ValidationError: 1 validation error for Car\n  Invalid JSON: expected value at "
    )
    text = f"{head}line 1 column 1 [type=json_invalid, input_value='{begun}red\"', input_type=str]"

    assert means in findings_of(text)["PD445"].detail


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ('INFO:     127.0.0.1:38668 - "POST /v1/v1/chat/completions HTTP/1.1" 404 Not Found', "`/v1` is in it twice"),
        ('INFO:     127.0.0.1:38668 - "POST /chat/completions HTTP/1.1" 404 Not Found', "lacks `/v1`"),
        ('[GIN] 2026/02/03 - 02:30:27 | 404 |  1.2ms |  127.0.0.1 | POST     "/v1/messages2"', "nothing there"),
    ],
)
def test_a_path_that_a_server_does_not_have_is_named(line, why):
    assert why in str(gather_evidence([line]).notes)


@pytest.mark.parametrize("path", ["/metrics", "/v1/chat/completions"])
def test_a_path_that_it_has_or_that_is_none_of_the_api_is_not(path):
    notes = str(gather_evidence([f'INFO:     127.0.0.1:38668 - "POST {path} HTTP/1.1" 404 Not Found']).notes)

    assert f"`{path}` answered with 404:" not in notes


STACK = "   at Tern.Pipeline.<SendAsync>d__0.MoveNext()\n   at Shop.Bot.AskAsync(String text) in C:\\Bot.cs:line 40\n"


def test_a_stack_without_the_line_of_its_error_is_called_that():
    with pytest.raises(RequestError, match=r"raised in `Tern.Pipeline.<SendAsync>d__0.MoveNext`"):
        gather_evidence([STACK])


def test_an_exception_of_dotnet_that_shows_only_a_status_has_it():
    error = "System.ClientModel.ClientResultException: Service request failed.\nStatus: 404 (Not Found)\n"

    assert findings_of(f"Unhandled exception. {error}{STACK}")["PD100"].detail.startswith("HTTP 404: ")


def test_an_exception_whose_words_are_null_has_none():
    name = "dev.langchain4j.exception.InvalidRequestException: null\n\tat dev.langchain4j.Mapper.map(Mapper.java:71)"

    assert findings_of(name)["PD100"].title.startswith("An error was reported without words")


def test_a_tokenizer_that_tgi_cannot_read_explains_that_it_finds_no_template():
    log = (
        "2026-02-09T09:28:45.021349Z  WARN text_generation_router: router/src/main.rs:467: Unable to parse tokenizer "
        "config: invalid type: map, expected a string at line 7 column 16\n"
        "2026-02-09T09:30:53.021349Z ERROR chat: text_generation_router: Template error: template not found\n"
    )

    assert "`tokenizer_config.json`" in findings_of(log)["PD221"].detail


@pytest.mark.parametrize(
    "piece",
    [
        '"POST /v1/v1/chat/completions HTTP/1.1" 404 x\n',
        "/chat",
        "  at a.b(c)\n",
        'ERROR:   File "a.py", line 1, in b\n',
        '  File "a.py", line 1, in b\n',
    ],
)
def test_logs_and_stacks_are_read_in_linear_time(piece):
    def run(count):
        text = piece * count
        shown_in_log(text, "")
        stack_alone(text)
        cut_traceback(drop_levels(text))

    assert grows_linearly(run, first=200)


def test_a_body_in_a_log_ends_with_its_line_though_brackets_follow_below():
    text = (
        "openai.BadRequestError: Error code: 400 - {'error': {'message': 'Upstream request failed', 'code': None}}\n"
        "2026-07-02 14:30:01.121 ERROR (MainThread) [components.chat] Error talking to API\n"
    )
    found = findings_of(text)["PD100"]

    assert found.title.startswith("An error was reported without its reason: ")
    assert "MainThread" not in found.detail


def test_a_type_error_where_a_template_is_rendered_is_the_templates_also_below_a_title():
    trace = (
        "---------------------------------------------------------------------------\n"
        "TypeError                                 Traceback (most recent call last)\n"
        "Cell In[2], line 14\n---> 14 tokenizer.apply_chat_template(\n     15     [parsed],\n     16 )\n"
    )

    found = findings_of(f"# TypeError when a model writes calls with missing arguments\n\n```\n{trace}")

    assert "PD100" not in found
    assert "its words were not copied" in found["PD221"].title


def test_a_command_with_a_traceback_that_breaks_off_says_so():
    text = f"vllm serve m --chat-template own.jinja\n\nIt fails:\n\nTraceback (most recent call last):\n{FRAMES}"

    assert "breaks off in structured_output/__init__.py line 128" in str(gather_evidence([text]).notes)


def test_a_log_of_one_api_shows_how_requests_were_answered():
    line = (
        '2025-10-11T15:31:41Z  DEBUG  one-api.gin v6@v6.1.1/log.go:217  400 POST {"host": "a", "url": '
        '"/v1/responses", "remote": "b"}\n'
    )

    assert "`POST /v1/responses` answered with 400" in str(gather_evidence([line]).notes)


def test_an_error_whose_words_are_empty_has_none():
    error = json.dumps({"error": {"type": "", "message": ""}, "type": "error"})

    assert findings_of(error)["PD100"].title.startswith("An error was reported without words")


ANSWER = "{\n  id: 'chatcmpl-1',\n  choices: [\n    {\n      finish_reason: 'stop',\n      index: 0,\n" + (
    "      message: { content: 'Nine.', role: 'assistant' }\n    }\n  ],\n  object: 'chat.completion'\n}\n"
)
FAILED = (
    "ask.js:2 failed: TypeError: Cannot read properties of undefined (reading 'content')\n    at ask (ask.js:2:8)\n"
)


def test_a_program_that_fails_below_an_answer_reads_another_form():
    evidence = gather_evidence([f"got: {ANSWER}\n{FAILED}"])

    assert "The answer above the error has `content`" in str(evidence.notes)
    assert "PD445" in {one.code for one in asyncio.run(show_evidence(evidence)).findings}


@pytest.mark.parametrize("below", ["", "RangeError: Maximum call stack size exceeded\n", "Done without a TypeError.\n"])
def test_what_else_is_below_an_answer_is_no_failure_to_read_it(below):
    assert gather_evidence([f"got: {ANSWER}\n{below}"]).error is None


CUT = '{{\n  "finish_reason": "stop",\n  "message": {{\n    "content": "{}",\n    "role": "assistant",\n    "tool_cal'


def test_channels_that_content_begins_with_are_left_in_it_though_the_copy_ends():
    assert "PD406" in findings_of(CUT.format("<|channel|>analysis<|message|>They ask for nine.<|end|>"))
    assert "PD406" not in findings_of(CUT.format("Nine <|end|> ten"))


def test_a_sketch_of_an_errors_form_is_no_error():
    text = 'What cannot be read is an answer, too: `[{"error": {"type", "message", "hint"}}]`. A status comes with it.'

    with pytest.raises(RequestError):
        gather_evidence([f"{text}\n\nIt lists `names`.\n"])


STAMPED = [
    "Traceback (most recent call last):",
    '  File "/srv/ask.py", line 9, in ask',
    "    async for one in stream:",
    '  File "/srv/.venv/lib/python3.11/site-packages/llama_index/llms/ollama/base.py", line 40, in gen',
    "    chunk = json.loads(line)",
    "            ^^^^^^^^^^^^^^^^",
    "json.decoder.JSONDecodeError: Expecting ',' delimiter: line 1 column 31 (char 30)",
]


@pytest.mark.parametrize("stamp", ["2024-01-02 03:04:05 ", "2024-01-02T03:04:05.123 ", ""])
def test_a_line_of_a_stream_that_is_no_json_is_read_below_times(stamp):
    found = findings_of("\n".join(f"{stamp}{line}" for line in STAMPED))

    assert found["PD445"].title.startswith("A line of the stream is not JSON: Expecting ',' delimiter")


def test_times_of_other_lines_stay():
    text = '2024-01-02 03:04:05 POST /v1/chat/completions 500\n2024-01-02 03:04:06 File "a" was read'

    assert drop_levels(text) == text


def test_the_next_entry_of_a_log_is_no_part_of_an_exception():
    head = "(APIServer pid=7) ERROR 01-02 03:04:05 [serving_chat.py:10] "
    raised = "openai_harmony.HarmonyError: unexpected tokens remaining in message header: ['so be it']"
    below = '(APIServer pid=7) INFO:     127.0.0.1:4 - "POST /v1/chat/completions HTTP/1.1" 200 OK'
    found = findings_of(f"{head}Traceback (most recent call last):\n{head}{raised}\n{below}\n")

    assert "127.0.0.1" not in found["PD445"].detail


def test_what_a_client_could_not_read_was_not_reported_by_the_server_at_its_address():
    address = "http://localhost:11434/api/chat"
    words = f"200, message='Attempt to decode JSON with unexpected mimetype: text/plain', url='{address}'"
    found = findings_of(f"aiohttp.client_exceptions.ContentTypeError: {words}")

    assert found["PD445"].detail.endswith("The request was meant for Ollama.")


def test_a_stream_below_words_that_was_cut_is_said_to_be_cut():
    head = '{"object":"chat.completion.chunk","choices":[{"index":0,"delta":'
    pieces = ['{"role":"assistant","content":""}}]}', '{"content":" ."}}]}', '{"content":"so"}}]}', '{"cont']
    stream = "\n\n".join(f"data: {head}{piece}" for piece in pieces)

    assert "PD310" in findings_of(f"the server said:\n{stream}\n")


def test_the_numbers_of_a_place_that_bedrock_names_count_from_one():
    place = "toolConfig.tools.1.member.toolSpec.name"
    body = json.dumps(
        {"message": f"1 validation error detected: Value '' at '{place}' failed to satisfy constraint: x"}
    )
    found = findings_of(f"litellm.BadRequestError: BedrockException - {body}")["PD100"]

    assert found.title.startswith("A value of the request is empty")
    assert f"`{place}`" in found.fix
    assert "count from 1" in found.fix
