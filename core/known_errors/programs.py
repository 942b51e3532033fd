"""What programs of Python say where they take an answer apart that is not the one they expect."""

from __future__ import annotations

from prompt_debugger.core.base.types import Stage
from prompt_debugger.core.known_errors.base import Cause, KnownError

MAKER = "programs that read an answer"

_PRINT_ANSWER = (
    "Print the status and body of the answer where the program reads it; paste that body here, or record it "
    "with `capture`."
)

_NO_CHOICES = (
    "The answer has no `choices`, so it is not a chat completion: usually it is the body of an error, or a "
    "different kind of answer."
)

SENTENCES: tuple[KnownError, ...] = (
    KnownError(
        "'str' object has no attribute 'choices'",
        Stage.COMPLETE,
        "The answer is a text, not a chat completion: often a web page, because the address ends before "
        "`/v1`, or the text of an error.",
        "Check the address: it must go up to and including `/v1`. Print the status and body of the answer where "
        "the program reads it; paste that body here, or record it with `capture`.",
        "https://github.com/neavo/LinguaGacha/issues/137",
        cause=Cause.OUTPUT,
    ),
    KnownError(
        "object has no attribute 'choices'",
        Stage.COMPLETE,
        _NO_CHOICES,
        _PRINT_ANSWER,
        "https://github.com/FoundationAgents/OpenManus/issues/29",
        cause=Cause.OUTPUT,
        is_general=True,
    ),
    KnownError(
        "KeyError: 'choices'",
        Stage.COMPLETE,
        _NO_CHOICES,
        _PRINT_ANSWER,
        "https://github.com/mishl-dev/Discord-AI-Chatbot/issues/153",
        cause=Cause.OUTPUT,
    ),
    KnownError(
        "choices[0]{rest}TypeError: 'NoneType' object is not subscriptable",
        Stage.COMPLETE,
        "The answer came without choices (`choices` is null or absent): some servers and gateways send an "
        "error that way, with status 200.",
        _PRINT_ANSWER,
        "https://github.com/harry0703/MoneyPrinterTurbo/issues/333",
        example="content = response.choices[0].message.content TypeError: 'NoneType' object is not subscriptable",
        cause=Cause.OUTPUT,
    ),
    KnownError(
        "in {name:word}.choices{rest}TypeError: 'NoneType' object is not iterable",
        Stage.COMPLETE,
        "The answer came without choices (`choices` is null or absent): some servers and gateways send an "
        "error that way, with status 200.",
        _PRINT_ANSWER,
        "https://github.com/microsoft/autogen/issues/5318",
        example="for choice in response.choices: TypeError: 'NoneType' object is not iterable",
        cause=Cause.OUTPUT,
    ),
    KnownError(
        "choices[0]{rest}IndexError: list index out of range",
        Stage.COMPLETE,
        "The list of choices is empty: in a stream that is the event with the usage; in a whole answer the server "
        "gave none.",
        "Skip events without choices, in the program; for an answer that was not streamed, check its body.",
        "https://platform.openai.com/docs/api-reference/chat/streaming",
        example="chunk.choices[0].delta.content IndexError: list index out of range",
        cause=Cause.OUTPUT,
    ),
    KnownError(
        " Error: 'choices'",
        Stage.COMPLETE,
        _NO_CHOICES,
        _PRINT_ANSWER,
        "https://github.com/langgenius/dify/issues/9197",
        example="Run failed: [openrouter] Error: 'choices'",
        cause=Cause.OUTPUT,
    ),
)
