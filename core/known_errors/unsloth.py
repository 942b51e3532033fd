"""What Unsloth says of chat templates when it loads a tokenizer or masks training texts, as users report it."""

from __future__ import annotations

from prompt_debugger.core.base.types import Stage
from prompt_debugger.core.known_errors.base import Cause, KnownError

MAKER = "Unsloth"

_MARKERS = (
    "Print one training text, and compare `instruction_part` and `response_part` with it character by character, line "
    "ends and blanks included: they must be what the chat template writes before a user's turn and before an answer. "
    "If they are in it, compare their token ids with those of the text (a marker may become other tokens within it), "
    "and raise `max_seq_length` where the text is cut before its answer."
)

SENTENCES: tuple[KnownError, ...] = (
    KnownError(
        "does not have a {% if add_generation_prompt %} for generation purposes",
        Stage.RENDER,
        "The chat template never opens the assistant's turn: Unsloth looks for a block for `add_generation_prompt` in "
        "it, and there is none.",
        "Give the tokenizer a template that has one (`get_chat_template` of Unsloth, or the template of the family's "
        "chat model); if its own template has one, update Unsloth, some releases of which broke it.",
        "https://github.com/unslothai/unsloth/issues/1284",
        example="RuntimeError: Unsloth: The tokenizer `a/b` does not have a {% if add_generation_prompt %} for "
        "generation purposes.",
        cause=Cause.TEMPLATE,
    ),
    KnownError(
        "Unsloth: Your prompt template must have 2 examples",
        Stage.RENDER,
        "`construct_chat_template` of Unsloth did not find two turns in the template text that it was given: it looks "
        "for `{INPUT}` and `{OUTPUT}` twice, with the same text around each.",
        "Write the turns twice in the text, each the same character by character, and end it with the text that "
        "closes the second answer: a blank line or line end too many is enough to hide a turn. If they are the same, "
        "update Unsloth.",
        "https://github.com/unslothai/unsloth/issues/992",
        example="RuntimeError: Unsloth: Your prompt template must have 2 examples showing the user input {INPUT} and "
        "the assistant output {OUTPUT}",
        cause=Cause.CLIENT,
    ),
    KnownError(
        "Unsloth: {how:word} labels in your dataset are -100. Training losses will be all 0.",
        Stage.RENDER,
        "No token of the training text is learnt: `train_on_responses_only` did not find the markers of the turns in "
        "it, or the text was cut before its answer.",
        _MARKERS,
        "https://github.com/unslothai/unsloth/issues/2095",
        example="Unsloth: All labels in your dataset are -100. Training losses will be all 0.",
        cause=Cause.CLIENT,
    ),
    KnownError(
        "Unsloth: train_on_responses_only masked every label to -100 in {split:word}, so there is nothing to train on.",
        Stage.RENDER,
        "No token of the training text is learnt: `train_on_responses_only` did not find the marker of the answer in "
        "it.",
        _MARKERS,
        "https://github.com/unslothai/unsloth/issues/11321",
        example="Unsloth: train_on_responses_only masked every label to -100 in train_dataset, so there is nothing to "
        "train on. The response marker 'A' was not found in any sample",
        cause=Cause.CLIENT,
    ),
)
