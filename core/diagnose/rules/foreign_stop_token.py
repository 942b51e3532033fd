"""`stop_token_ids` contains ids that end nothing in this vocabulary.

What it finds:
    Ids in the request's `stop_token_ids` outside the vocabulary, or that are neither
    special tokens nor end tokens of it. They are usually copied from another model's
    instructions: 151645 and 151643 end turns in Qwen's vocabulary and are other entries, or
    nothing, elsewhere. An error if such an id did end this output.

Why it matters:
    An id outside the vocabulary never fires. An id of an ordinary piece of
    text ends the answer in the middle of a word whenever that piece is due.

Bad:
    `"stop_token_ids": [151645, 151643]` for a model that is not Qwen's.

Good:
    No `stop_token_ids`: the server takes the end tokens from the model's own
    generation config.

Source:
    derived: the ids are looked up in the vocabulary that the model is served with.
    tracker: vllm-project/vllm#4180 (end tokens that were not the model's).
"""

from __future__ import annotations

from collections.abc import Iterator

from prompt_debugger.core.base.json_values import as_count, as_list
from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import Severity, Stage, Trace, Vocabulary
from prompt_debugger.core.diagnose.fields import body_of
from prompt_debugger.core.diagnose.fixes import drop_named_fields
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.trace_queries import TracePart, in_request

_QWEN = {151643: "<|endoftext|>", 151645: "<|im_end|>"}


def find(trace: Trace) -> Iterator[Report]:
    """Report the foreign ids in one report, and the one that ended the output."""
    vocabulary = trace.vocabulary
    listed = as_list(body_of(trace).get("stop_token_ids"))
    if vocabulary is None or not listed:
        return
    ids = [token_id for token_id in (as_count(value) for value in listed) if token_id is not None]
    foreign = {token_id: why for token_id in ids if (why := _why_foreign(token_id, vocabulary))}
    if not foreign:
        return
    refused = trace.refusal is not None and "stop_token_ids" in f"{trace.refusal.field} {trace.refusal.message}"
    fired = [token_id for token_id in foreign if _ended_output(trace, token_id)]
    names = ", ".join(str(token_id) for token_id in foreign)
    several = len(foreign) > 1
    qwen = [f"{token_id} is Qwen's {_QWEN[token_id]}" for token_id in foreign if token_id in _QWEN]
    yield Report(
        title=f"The answer was ended by {fired[0]}, an id that is not an end token in this vocabulary."
        if fired
        else f"`stop_token_ids` {names} {'end' if several else 'ends'} nothing in this vocabulary.",
        detail="; ".join(f"{token_id} {why}" for token_id, why in foreign.items())
        + (f". {'; '.join(qwen)}" if qwen else "")
        + ".",
        evidence=(in_request("stop_token_ids", str(listed)),),
        fix=f"Leave `stop_token_ids` out: this model ends its turns with {_own_ends(vocabulary)}.",
        severity=Severity.ERROR if fired or refused else None,
    )


def _why_foreign(token_id: int, vocabulary: Vocabulary) -> str | None:
    if token_id in vocabulary.eos_ids or token_id in vocabulary.special:
        return None
    if not 0 <= token_id < vocabulary.size:
        return f"is not in this vocabulary, which has {vocabulary.size}"
    return "is an ordinary piece of text in this vocabulary, not an end token"


def _ended_output(trace: Trace, token_id: int) -> bool:
    results = (trace.chat, trace.raw)
    return any(result is not None and result.stop_reason == token_id for result in results)


def _own_ends(vocabulary: Vocabulary) -> str:
    names = [f"{token_id} {vocabulary.special.get(token_id, '')}".rstrip() for token_id in vocabulary.eos_ids]
    return ", ".join(names) or "its own end token"


RULE: Rule = TraceRule(
    code="PD103",
    name="foreign-stop-token",
    severity=Severity.WARNING,
    stage=Stage.REQUEST,
    find=find,
    needs=TracePart.VOCABULARY,
    threads=("vllm-project/vllm#4180",),
    explains=("PD301", "PD304"),
    fixes=(drop_named_fields(),),
)
