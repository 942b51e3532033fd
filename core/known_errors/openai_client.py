"""What OpenAI's Python client itself says. Read in release 3.52.0."""

from __future__ import annotations

from prompt_debugger.core.base.types import Stage
from prompt_debugger.core.known_errors.base import REACH_SERVER, Cause, KnownError

MAKER = "OpenAI's Python client"

SENTENCES: tuple[KnownError, ...] = (
    KnownError(
        "Could not parse response content as the length limit was reached",
        Stage.COMPLETE,
        "The token limit cut the answer before its document was complete.",
        "Raise `max_tokens`, or ask for less.",
        "openai/_exceptions.py: LengthFinishReasonError.__init__",
        field="max_tokens",
        cause=Cause.OUTPUT,
        tried="openai 3.52.0",
    ),
    KnownError(
        "Could not parse response content as the request was rejected by the content filter",
        Stage.COMPLETE,
        "The provider's content filter withheld the answer.",
        "Change the text that triggers the filter, or the filter's setting.",
        "openai/_exceptions.py: ContentFilterFinishReasonError.__init__",
        cause=Cause.POLICY,
        tried="openai 3.52.0",
    ),
    KnownError(
        "`{name:word}` is not strict. Only `strict` function tools can be auto-parsed",
        Stage.REQUEST,
        "`parse` reads only the arguments of strict tools.",
        "Set `strict` to true in every tool, or use `create`.",
        "openai/lib/_parsing/_completions.py: validate_input_tools",
        example="`get_weather` is not strict. Only `strict` function tools can be auto-parsed",
        field="tools",
        cause=Cause.CLIENT,
        tried="openai 3.52.0",
    ),
    KnownError(
        "openai.APIConnectionError",
        Stage.COMPLETE,
        "The client got no answer: it could not reach the server, or the connection broke.",
        f"{REACH_SERVER} The exception above it, or its `__cause__`, says why.",
        "openai/_exceptions.py: APIConnectionError",
        cause=Cause.CONNECTION,
        is_distinctive=False,
        is_general=True,
    ),
    KnownError(
        "APIConnectionError: Connection error.",
        Stage.COMPLETE,
        "The client got no answer: it could not reach the server, or the connection broke.",
        f"{REACH_SERVER} The exception above it, or its `__cause__`, says why.",
        "openai/_exceptions.py: APIConnectionError",
        cause=Cause.CONNECTION,
    ),
    KnownError(
        "API error: Connection error.",
        Stage.COMPLETE,
        "The client got no answer: it could not reach the server, or the connection broke.",
        REACH_SERVER,
        "https://github.com/FoundationAgents/OpenManus/issues/770",
        cause=Cause.CONNECTION,
    ),
    KnownError(
        "openai.APITimeoutError",
        Stage.COMPLETE,
        "The server did not answer within the client's timeout.",
        "Raise the client's `timeout`, stream the answer, or lower `max_tokens`; the server's log shows "
        "whether it was still working.",
        "openai/_exceptions.py: APITimeoutError",
        cause=Cause.CONNECTION,
        is_distinctive=False,
        is_general=True,
    ),
    KnownError(
        "client option must be set either by passing",
        Stage.REQUEST,
        "The client has no key, so it sent nothing.",
        "Give a key; a server that does not check keys accepts any, such as `EMPTY`.",
        "openai/_client.py: OpenAI.__init__",
        cause=Cause.CLIENT,
    ),
    KnownError(
        "{kind:word}.create() got an unexpected keyword argument 'json_schema'",
        Stage.REQUEST,
        "`create` has no argument `json_schema`, so nothing was sent: the schema of an answer is a part of "
        "`response_format`.",
        'Send `response_format={"type": "json_schema", "json_schema": {"name": …, "schema": {…}}}`. If a plug-in or '
        "framework makes the call, update it, or switch its structured output off.",
        "openai/resources/chat/completions/completions.py: Completions.create",
        example="Completions.create() got an unexpected keyword argument 'json_schema'",
        cause=Cause.CLIENT,
    ),
    KnownError(
        "{kind:word}.create() got an unexpected keyword argument '{name:word}'",
        Stage.REQUEST,
        "`create` does not accept that argument, so nothing was sent: it is newer than this release of the client, or "
        "a field that only some servers know, such as `chat_template_kwargs`.",
        "If it is a field of OpenAI's API, update the client; a field that only your server knows goes into "
        '`extra_body`, as in `extra_body={"chat_template_kwargs": {…}}`.',
        "openai/resources/chat/completions/completions.py: Completions.create",
        example="Completions.create() got an unexpected keyword argument 'chat_template_kwargs'",
        cause=Cause.CLIENT,
    ),
    KnownError(
        "__init__() got an unexpected keyword argument 'proxies'",
        Stage.REQUEST,
        "This release of the client gives `proxies` to its HTTP library, and httpx has not taken it since 0.28: the "
        "client was not made, so nothing was sent.",
        "Update the client (openai from 1.55.3 on, and the packages that bring their own copy of the call), or install "
        "`httpx<0.28`.",
        "https://github.com/openai/openai-python/issues/1902",
        example="Client.__init__() got an unexpected keyword argument 'proxies'",
        cause=Cause.CLIENT,
    ),
    KnownError(
        'error_data = resp["error"] TypeError: string indices must be integers',
        Stage.COMPLETE,
        "The server answered with an error whose body is a text, and this old release of the client expects an object; "
        "so its words are lost.",
        "Send the same request with `curl -i` to see the status and the words, or look into the server's log. Releases "
        "of the client from 1.0 on show such a body.",
        "https://github.com/oobabooga/textgen/pull/4430",
        example="error_data = resp[\"error\"] TypeError: string indices must be integers, not 'str'",
        cause=Cause.UNCLEAR,
    ),
)
