"""What pydantic-ai says."""

from __future__ import annotations

from prompt_debugger.core.base.types import Stage
from prompt_debugger.core.known_errors.base import Cause, KnownError, Look

MAKER = "pydantic-ai"

SENTENCES: tuple[KnownError, ...] = (
    KnownError(
        "Exceeded maximum retries ({count:int}) for {what:word} validation",
        Stage.CONTRACT,
        "The model's answers did not pass the program's validation before the retries ran out; what was "
        "wrong with them is not part of the error.",
        "Print the messages of the run (`capture_run_messages`) and paste them: they show each answer and "
        "why it was sent back.",
        "https://github.com/pydantic/pydantic-ai/issues/200",
        example="Exceeded maximum retries (1) for result validation",
    ),
    KnownError(
        "All models from FallbackModel failed",
        Stage.CONTRACT,
        "Each of the models that the program may fall back on failed; the reasons are errors within this one, and were "
        "not copied.",
        "Print the errors within it (`error.exceptions`, or the whole traceback, which lists them as numbered parts), "
        "and paste them.",
        "https://github.com/pydantic/logfire/issues/1535",
        cause=Cause.UNCLEAR,
        is_general=True,
    ),
    KnownError(
        "Received empty model response",
        Stage.COMPLETE,
        "The answer has neither text nor a call.",
        "Check the answer itself: its `finish_reason`, and whether it has reasoning instead of text.",
        "https://github.com/pydantic/pydantic-ai/issues/437",
        cause=Cause.OUTPUT,
    ),
    KnownError(
        "Plain text responses are not permitted",
        Stage.PARSE,
        "The program expects a call, and the model answered with text, or no call was read from it.",
        "Check that text: markup of a call in it means that the server's tool parser does not fit the "
        "model; prose means that the model did not call.",
        "https://github.com/pydantic/pydantic-ai/issues/822",
    ),
    KnownError(
        "Please return text or call a tool",
        Stage.COMPLETE,
        "The answer has neither text nor a call, or only reasoning; the program sends this message back to the model.",
        "Look at the answer before it: its `finish_reason`, its reasoning, and the number of output tokens. Gemini "
        "models return such answers after a tool's result now and then: ask again, within the allowed retries.",
        "https://github.com/pydantic/pydantic-ai/pull/3360",
        cause=Cause.OUTPUT,
    ),
    KnownError(
        "Streamed response ended without content or tool calls",
        Stage.COMPLETE,
        "The stream ended before its first text or call: it was empty, or its events were not ones that the library "
        "reads.",
        "Record the stream with `capture` and paste it: it shows an error in place of events, only reasoning, or a "
        "`[DONE]` alone. Ask once without streaming to compare.",
        "pydantic_ai_slim/pydantic_ai/models/openai.py",
        cause=Cause.OUTPUT,
    ),
    KnownError(
        "Invalid response from {system:word} chat completions endpoint, expected JSON data",
        Stage.COMPLETE,
        "What answered is not the chat completions API: the body is a text, such as a page of HTML, and not JSON.",
        "Check `base_url`: it ends with `/v1` for most servers, without `/chat/completions`; call it with `curl -i` "
        "to see what answers.",
        "pydantic_ai_slim/pydantic_ai/models/openai.py",
        example="Invalid response from openai chat completions endpoint, expected JSON data",
        cause=Cause.ADDRESS,
    ),
    KnownError(
        "Model token limit ({limit}) exceeded while generating a tool call",
        Stage.COMPLETE,
        "The token limit cut the answer inside a call, so its arguments are incomplete.",
        "Raise `max_tokens` in the model's settings, or have the model write less into one call; thinking counts as "
        "output, too.",
        "https://ai.pydantic.dev/api/exceptions/",
        example="Model token limit (512) exceeded while generating a tool call, resulting in incomplete arguments.",
        cause=Cause.OUTPUT,
        look=Look.SMALL_LIMIT,
    ),
    KnownError(
        "The next request would exceed the request_limit of {limit:int}",
        Stage.CONTRACT,
        "The run stopped at its own limit of requests: the model kept calling tools and gave no final answer.",
        "Look at the messages of the run (`capture_run_messages`): the same call again and again points to a tool "
        "result that the model cannot use, or to an output tool that it does not find. If the task needs the steps, "
        "raise `UsageLimits(request_limit=…)`.",
        "https://ai.pydantic.dev/agents/#usage-limits",
        example="The next request would exceed the request_limit of 50",
    ),
    KnownError(
        "Set the `{name:word}` environment variable or pass it via `{provider:word}` to use the",
        Stage.REQUEST,
        "The client has no key for the provider, so it sent nothing.",
        "Set that environment variable in the process that runs the program, or give the key to the provider; for a "
        "local server, choose the provider for servers like OpenAI's with its `base_url` and any key.",
        "pydantic_ai_slim/pydantic_ai/providers/openai.py",
        example="Set the `OPENAI_API_KEY` environment variable or pass it via `OpenAIProvider(api_key=...)` to use "
        "the OpenAI provider.",
        cause=Cause.CLIENT,
    ),
)
