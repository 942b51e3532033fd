r"""Another turn follows the end of the answer in content.

What it finds:
    Where no vocabulary is known: content of an answer in which text is followed by a
    token that ends a turn and then by one that opens the next. Content that begins with
    such a token quotes a prompt. Of a raw output alone nothing is reported: a prompt
    that was cut at its beginning looks the same. Likewise, as an inference, an answer
    that continues with the user's turn in plain text: a line that begins with `### Human:`,
    or one with `User:` and then one with `Assistant:`, unless the request has such
    labels, or speaks of a dialogue.

Why it matters:
    The server does not stop at the token that ends this model's turns: the model
    plays both sides of the conversation up to the limit.

Bad:
    `Four.<|im_end|>\n<|im_start|>user\nAnd five?`

Good:
    `Four.<|im_end|>`

Source:
    tracker: vllm-project/vllm#4180, guidance-ai/llguidance#161.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import Certainty, Severity, Span, Stage, Trace
from prompt_debugger.core.diagnose.fields import body_of, content_of, message_texts
from prompt_debugger.core.diagnose.leftovers import families_of, next_turn
from prompt_debugger.core.diagnose.own_settings import stop_at
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.trace_queries import TracePart, in_message
from prompt_debugger.core.diagnose.words import listed

_STRONG = re.compile(r"(?m)(?:^|(?<=[.!?]))[ \t]{0,4}(?P<label>#{2,3} ?(?:Human|User|USER|HUMAN)) ?: ?")
_USER = re.compile(r"(?m)^[ \t]{0,4}(?P<label>User|Human|USER|HUMAN): ?(?=\S)")
_MODEL = re.compile(r"(?m)^[ \t]{0,4}(?:#{2,3} ?)?(?:Assistant|ASSISTANT|AI|Bot|Model): ?")
_OTHER_LABEL = re.compile(r"(?m)^[ \t>*-]{0,6}\**[A-Z][\w ]{1,20}\**:[ \t*]")  # a speaker of a scene, or a field
_OF_DIALOGUES = re.compile(
    r"(?i)\bdialog(?:ue)?s?\b|\bconversations?\b|\btranscripts?\b|\bscript\b|\bexamples?\b|\brole-?play|\bscenes?\b"
    r"|\bfew-shot\b|\bchat log\b|\bprompt"
)
_MIN_BEFORE = 8  # characters of an answer before the invented turn


def find(trace: Trace) -> Iterator[Report]:
    """Look into content."""
    if trace.chat is None or trace.vocabulary is not None or body_of(trace).get("skip_special_tokens") is False:
        return
    text = content_of(trace.chat.message) or ""
    found = next_turn(text)
    if found is None:
        yield from _find_spoken(trace, text)
        return
    span, end = found.span, found.end
    of = f" of {listed(families)}" if (families := families_of(end)) else ""
    yield Report(
        title=f"Another turn (`{found.opener}`) follows the end token `{end}` in content.",
        detail=f"At character {span.start}: the server did not stop at `{end}`, the token{of} that ended the turn, and "
        "the model went on with an invented one.",
        evidence=(in_message("content", text[slice(*span)], span),),
        fix=f"Add the id of `{end}` to `eos_token_id` in the model's `generation_config.json` (of a GGUF, to its "
        f"end-of-generation tokens; of Ollama, `PARAMETER stop`), or {stop_at(trace, end)}. If the "
        "prompt is in another format than the model was trained on, use its own chat template.",
        certainty=Certainty.INFERRED,
    )


def _find_spoken(trace: Trace, text: str) -> Iterator[Report]:
    """Report a turn of the user that the model plays, with a label in plain text."""
    turn = _spoken_turn(text, (one.text for one in message_texts(trace.request)))
    if turn is None:
        return
    label = f"{turn.label}:"
    yield Report(
        title=f"After its answer the model continues with a turn of the user (`{label}`).",
        detail=f"At character {turn.span.start} of content: nothing stopped the model at the end of its turn, and it "
        "wrote the user's next question itself. Such labels are of a prompt in plain text, not of a chat template with "
        "tokens that end a turn. If a dialogue was asked for, nothing is wrong.",
        evidence=(in_message("content", text[slice(*turn.span)], turn.span),),
        fix="Use a model that is trained for chat (not a base model) with its own chat template, and look at the "
        "prompt (`render`): without one, some clients and servers write plain labels. Until then send `stop`: "
        f'["\\n{label}"].',
        certainty=Certainty.INFERRED,
    )


class _SpokenTurn(NamedTuple):
    """A turn of the user that the model plays.

    Attributes:
        label: How it begins.
        span: Where the label is.
    """

    label: str
    span: Span


def _spoken_turn(content: str, asked: Iterable[str] = ()) -> _SpokenTurn | None:
    r"""Return the turn of the user that an answer continues with; `None` where it may have been asked for.

    Args:
        content: The answer.
        asked: Texts of the request's messages.

    >>> _spoken_turn("It is sunny.\n### Human: Thanks\n### Assistant: Bye").label
    '### Human'
    >>> _spoken_turn("User: hi\nAssistant: hello") is None, _spoken_turn("See:\nUser: the name of the account") is None
    (True, True)
    """
    strong = _STRONG.search(content)
    found = strong or _USER.search(content)
    if found is None:
        return None
    before = content[: found.start()]
    is_answer = len(before.strip()) >= _MIN_BEFORE and not before.rstrip().endswith((":", "`"))
    is_scene = _OTHER_LABEL.search(before) is not None or _OF_DIALOGUES.search(before) is not None
    goes_on = _MODEL.search(content, found.end()) is not None
    if not is_answer or is_scene or "```" in before or not (strong or goes_on):
        return None
    if any(found["label"] in text or _OF_DIALOGUES.search(text) is not None for text in asked):
        return None
    return _SpokenTurn(found["label"], Span(*found.span()))


RULE: Rule = TraceRule(
    code="PD326",
    name="turn-after-end",
    severity=Severity.WARNING,
    stage=Stage.COMPLETE,
    find=find,
    needs=TracePart.ANSWER,
    explains=("PD322",),
    threads=("vllm-project/vllm#4180", "guidance-ai/llguidance#161"),
)
