"""Errors of templates and schemas in the forms in which trackers have them, and near misses of other programs."""

from __future__ import annotations

import pytest

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.evidence import read_evidence, show_evidence

FRAMES = (
    'Traceback (most recent call last):\n  File "/usr/local/bin/pages", line 8, in <module>\n    sys.exit(main())\n'
    '  File "/usr/lib/python3/site-packages/pages/build.py", line 31, in main\n    html = page.render(values)\n'
    '  File "/usr/lib/python3/site-packages/jinja2/environment.py", line 1301, in render\n'
    "    self.environment.handle_exception()\n"
)
OF_OTHERS = (
    f"{FRAMES}jinja2.exceptions.TemplateRuntimeError: No filter named 'items' found.\n",
    f"{FRAMES}jinja2.exceptions.UndefinedError: 'title' is undefined\n",
)
PROXIED = (
    "2024/11/03 06:09:29 [error] 184#184: *94 upstream prematurely closed connection while reading response header "
    "from "
    'upstream, client: 10.0.0.1, server: pages, request: "{} HTTP/1.1", upstream: "http://10.0.0.2:5601/"\n'
)
OF_CHATS = (
    (PROXIED.format("POST /v1/chat/completions"), "PD100", "server's log"),
    (
        'ERROR: status: 400: {"error":{"message":"Unrecognized key(s) in object: \'Require_Parameters\'","code":400}}',
        "PD100",
        "Leave `Require_Parameters` out",
    ),
    (
        "warn [sse] Stream ended before producing useful content (glm-5.1)\nwarn [sse] glm-5.1 error 502\n",
        "PD100",
        "log",
    ),
    (
        FRAMES.replace("page.render(values)", "tokenizer.apply_chat_template(conversation)")
        + "jinja2.exceptions.UndefinedError: dict object has no element 0\n",
        "PD221",
        "list of messages",
    ),
    ("jinja2.exceptions.TemplateRuntimeError: No filter named 'items' found.", "PD221", "filter"),
    (
        'ERROR stream error modelID=m\nerror: "Failed to compile structural_tag grammar: [02:59:08] '
        '/project/cpp/json_schema_converter.cc:2999: items must be a boolean or an object"\n',
        "PD100",
        "`prefixItems`",
    ),
    (
        "/project/cpp/json_schema_converter.cc:3006: Cannot find field make in #/properties/make/properties/item\n",
        "PD100",
        "`$ref`",
    ),
    (
        "The specified schema produces a constraint that has too many states for serving.  Typical causes are long "
        "names.",
        "PD100",
        "smaller",
    ),
    ('runner  | parse: error parsing grammar: unknown escape at \\d"{4} "-"\n', "PD100", "`[0-9]`"),
    (
        '400 {"type":"error","error":{"type":"ValidationException","message":"messages.9.content.0.thinking.signature: '
        'Field required"}}',
        "PD100",
        "exactly as they came",
    ),
    (
        "openai.lib: TypeError: Completions.create() got an unexpected keyword argument 'json_schema'",
        "PD100",
        "`response_format=",
    ),
    (
        "2 validation errors for ChatCompletion\nchoices.0.message.tool_calls.0.MessageToolCall.function.arguments\n"
        "  Input should be a valid string [type=string_type, input_value=None, input_type=NoneType]\n",
        "PD445",
        '`"{}"`',
    ),
    (
        "api  | ERROR:    Exception in ASGI application\napi  | Traceback (most recent call last):\n"
        'api  |   File "/usr/lib/site-packages/uvicorn/protocols/http/h11_impl.py", line 408, in run_asgi\n'
        "api  |     result = await app(\napi  | pydantic.error_wrappers.ValidationError: 1 validation error for "
        "ChatCompletionResponse\napi  | usage -> prompt_tokens\napi  |   field required (type=value_error.missing)\n",
        "PD100",
        "update the server",
    ),
    ('2024-06-02 17:56:39 - Invalid json output: Here is the JSON:\n\n```\n{\n  "data": [\n', "PD445", "enforces"),
)


@pytest.mark.parametrize("text", OF_OTHERS)
def test_the_template_of_another_program_is_no_chat_template(text: str) -> None:
    with pytest.raises(RequestError, match="error of a program"):
        read_evidence(text)


def test_what_a_proxy_says_of_another_page_is_no_error_of_a_chat_request() -> None:
    with pytest.raises(RequestError, match="not recognized"):
        read_evidence(PROXIED.format("GET /favicon.ico"))


async def test_a_field_that_is_named_none_is_none() -> None:
    found = (
        await show_evidence(read_evidence('{"error":{"message":"model m is unknown","param":"None","code":"400"}}'))
    ).findings[0]

    assert "`None`" not in f"{found.title} {found.detail} {found.fix}"


@pytest.mark.parametrize(("text", "code", "advice"), OF_CHATS)
async def test_an_error_says_what_to_change(text: str, code: str, advice: str) -> None:
    found = (await show_evidence(read_evidence(text))).findings[0]

    assert found.code == code
    assert advice in f"{found.detail} {found.fix}"


async def test_an_old_pydantic_names_the_place() -> None:
    of_request = "1 validation error for Request\nbody -> messages\n  field required (type=value_error.missing)\n"
    of_value = (
        "pydantic.error_wrappers.ValidationError: 1 validation error for Person\nage\n  value is not a valid integer"
    )
    (found,) = (await show_evidence(read_evidence(of_request))).findings
    (value,) = (await show_evidence(read_evidence(f"{of_value} (type=type_error.integer)\n"))).findings

    assert "`messages`" in found.title
    assert (value.code, "`Person`" in str(value.detail)) == ("PD445", True)


def test_a_cut_answer_below_its_caption_is_read() -> None:
    cut = (
        '{\n"object": "chat.completion",\n"choices": [\n{\n"message": {\n"role": "assistant",\n"content": "Hi"\n}\n}\n'
    )

    assert read_evidence(f"Result:\n{cut}").words == read_evidence(cut).words
