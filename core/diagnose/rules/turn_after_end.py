r"""Another turn follows the end token in content.

What it finds:
    Where no vocabulary is known: content of an answer in which text is followed by a
    token that ends a turn and then by one that opens the next. Content that begins with
    such a token quotes a prompt. Of a raw output alone nothing is reported: a prompt
    that was cut at its beginning looks the same.

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

from collections.abc import Iterator

from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import Certainty, Severity, Stage, Trace
from prompt_debugger.core.diagnose.fields import body_of, content_of
from prompt_debugger.core.diagnose.leftovers import families_of, next_turn
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.trace_queries import TracePart, in_message
from prompt_debugger.core.diagnose.words import listed


def find(trace: Trace) -> Iterator[Report]:
    """Look into content."""
    if trace.chat is None or trace.vocabulary is not None or body_of(trace).get("skip_special_tokens") is False:
        return
    text = content_of(trace.chat.message) or ""
    found = next_turn(text)
    if found is None:
        return
    span, end = found.span, found.end
    of = f" of {listed(families)}" if (families := families_of(end)) else ""
    yield Report(
        title=f"Another turn (`{found.opener}`) follows the end token `{end}` in content.",
        detail=f"At character {span.start}: the server did not stop at `{end}`, the token{of} that ended the turn, and "
        "the model went on with an invented one.",
        evidence=(in_message("content", text[slice(*span)], span),),
        fix=f"Add the id of `{end}` to `eos_token_id` in the model's `generation_config.json` (of a GGUF, to its "
        "end-of-generation tokens; of Ollama, `PARAMETER stop`), or send it in `stop_token_ids` or `stop`. If the "
        "prompt is in another format than the model was trained on, use its own chat template.",
        certainty=Certainty.INFERRED,
    )


RULE: Rule = TraceRule(
    code="PD326",
    name="turn-after-end",
    severity=Severity.WARNING,
    stage=Stage.COMPLETE,
    find=find,
    needs=TracePart.ANSWER,
    threads=("vllm-project/vllm#4180", "guidance-ai/llguidance#161"),
)
