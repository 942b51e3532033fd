r"""A message's text contains a marker with which a model opens or ends turns, and the prompt is not at hand.

What it finds:
    Texts of the user, the system or a tool that contain such a marker, outside of code, of
    quotation marks and of a sentence about it. A warning where the request names a model that
    uses this marker, a note where its name says nothing. Where the prompt is known PD208
    tells from its tokens.

Why it matters:
    Most servers read the marker as the token itself: the message ends there, and what follows
    is another turn. The answer then continues what the text began, without its thoughts, or
    without its call.

Bad:
    `{"role": "user", "content": "Introduce yourself.<|assistant|>\nNow I sum up."}` to GLM-4.5

Good:
    The beginning of an answer as a message of the assistant, with `continue_final_message`

Source:
    tracker: huggingface/transformers#29279, ggml-org/llama.cpp#11270.
"""

from __future__ import annotations

from collections.abc import Iterator

from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import Certainty, Severity, Stage, Trace
from prompt_debugger.core.diagnose.advice import Step
from prompt_debugger.core.diagnose.calls.bare_lists import model_names
from prompt_debugger.core.diagnose.calls.unparsed_calls import family_of_model
from prompt_debugger.core.diagnose.fields import message_texts
from prompt_debugger.core.diagnose.leftovers import families_of
from prompt_debugger.core.diagnose.markers import find_used_markers
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.trace_queries import in_request, prompt_of
from prompt_debugger.core.diagnose.words import listed
from prompt_debugger.core.formats import FORMATS, TABLES

_MAX_CHARS = 100_000  # of all texts together
_CONTINUED = Step(
    "Send the beginning of an answer as a last message of the assistant, with `continue_final_message: true` and "
    "`add_generation_prompt: false` on vLLM and SGLang.",
    request={"continue_final_message": True, "add_generation_prompt": False},
)
_TURNS = frozenset((*TABLES.turn_openers, *TABLES.turn_ends))


def find(trace: Trace) -> Iterator[Report]:
    """Report the first such text."""
    if prompt_of(trace) is not None:
        return
    named = {family for name in model_names(trace) if (family := family_of_model(name)) is not None}
    own = frozenset(turn for family in named for turn in _turns_of(family))
    left = _MAX_CHARS
    for field in message_texts(trace.request):
        if field.role == "assistant" or left <= 0:
            continue
        text, left = field.text[:left], left - len(field.text)
        for span in find_used_markers(text):
            marker = text[slice(*span)]
            if marker in own or (not named and marker in _TURNS and marker[:2] == "<|"):
                yield _report(field.field, marker, sorted(named))
                return


def _report(path: str, marker: str, named: list[str]) -> Report:
    does = "ends" if marker in TABLES.turn_ends else "opens"
    of = f" of {listed(families)}" if (families := tuple(named) or families_of(marker)) else ""
    return Report(
        title=f"The text of {path} contains `{marker}`, which {does} a turn{of}.",
        detail="A server whose tokenizer knows this token reads it as one, unless it encodes texts separately: the "
        "message ends there, and what follows is another turn. The prompt is not known here, so whether that happened "
        "is not known either.",
        evidence=(in_request(path, marker),),
        fix=(_CONTINUED, Step("If the text only quotes the marker, break it up (a zero-width space inside it).")),
        severity=None if named else Severity.NOTE,
        certainty=Certainty.INFERRED,
    )


def _turns_of(family: str) -> tuple[str, ...]:
    conventions = FORMATS[family].conventions
    return tuple(text for text in (*conventions.turns, *conventions.ends) if text.strip())


RULE: Rule = TraceRule(
    code="PD237",
    name="turn-marker-in-text",
    severity=Severity.WARNING,
    stage=Stage.RENDER,
    find=find,
    threads=("huggingface/transformers#29279", "ggml-org/llama.cpp#11270"),
    stands_in_part=True,
)
