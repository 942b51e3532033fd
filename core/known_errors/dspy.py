"""What DSPy itself says."""

from __future__ import annotations

from prompt_debugger.core.base.types import Stage
from prompt_debugger.core.known_errors.base import Cause, KnownError

MAKER = "DSPy"

SENTENCES: tuple[KnownError, ...] = (
    KnownError(
        "Adapter {adapter:word} failed to parse the LM response.",
        Stage.PARSE,
        "The program reads named fields from the model's text, and did not find them in the form that it expects; the "
        "error quotes the text, the fields that it expected and those that it found.",
        "Compare the quoted text with the expected fields: if the text is empty, the words are in the reasoning, or it "
        "was cut; an object around the fields was added by the model; a header `[[ ## name ## ]]` of `ChatAdapter` "
        "counts only at the beginning of a line. Use an adapter with a schema that the server enforces, or ask again.",
        "https://github.com/stanfordnlp/dspy/issues/8539",
        example="Adapter JSONAdapter failed to parse the LM response. LM Response: {}",
    ),
    KnownError(
        "LM response was truncated due to exceeding max_tokens={limit:int}",
        Stage.COMPLETE,
        "The token limit cut the answer, so fields that the program reads may be missing from it.",
        "Make the `dspy.LM` with a larger `max_tokens`; thinking counts as output, too. If the text repeats itself, "
        "raise the temperature.",
        "dspy/clients/lm.py",
        example="LM response was truncated due to exceeding max_tokens=1000.",
        cause=Cause.OUTPUT,
    ),
)
