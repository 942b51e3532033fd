"""What the libraries of Hugging Face say where a model or a text is not what they expect."""

from __future__ import annotations

from prompt_debugger.core.base.types import Stage
from prompt_debugger.core.known_errors.base import Cause, KnownError

MAKER = "Hugging Face's libraries"

SENTENCES: tuple[KnownError, ...] = (
    KnownError(
        "Repo id must use alphanumeric chars or '-', '_', '.'",
        Stage.COMPLETE,
        "The model's name is neither a folder that exists nor the name of a repository: it is empty, or a path that "
        "this machine or container does not have.",
        "Check the path or name of the model in the command, and whether the folder is there where the server runs; "
        "where a program passes the name on, whether it is set. Requests need no change.",
        "https://github.com/Yuliang-Liu/MonkeyOCR/pull/327",
        cause=Cause.SETTING,
    ),
    KnownError(
        "TextEncodeInput must be Union[TextInputSequence, Tuple[InputSequence, InputSequence]]",
        Stage.RENDER,
        "The tokenizer was given something other than a text: often `None`, where no chat template rendered a prompt; "
        "else a list of messages or of parts that was not rendered.",
        "Look at what is passed to the tokenizer. A base model, or one that the server does not know, has no chat "
        "template: name one where the server starts, or serve the instruct model. In a program that calls it, render "
        "the messages first (`apply_chat_template`), and pass on the text.",
        "https://github.com/InternLM/lmdeploy/issues/2462",
        cause=Cause.SETTING,
        is_distinctive=False,
    ),
)
