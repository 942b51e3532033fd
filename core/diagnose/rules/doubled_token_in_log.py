"""The server's log, or printed ids, show that the prompt has a BOS or EOS token twice.

What it finds:
    llama.cpp's warning that it added a BOS token to a prompt which begins with
    one, or an EOS token to one which ends with one; those of Ollama and
    llama-cpp-python on a prompt with two; and a printed list of ids that begins
    with two of a family's BOS. Ollama's line on EOS is not read: it looks at BOS.

Why it matters:
    The template writes the token and the tokenizer adds it again. No model
    was trained on that: the output gets worse without any error, and the log is
    the only place that says so.

Bad:
    `So now the final prompt starts with 2 BOS tokens.`

Good:
    No such line; the prompt begins with one BOS.

Source:
    tracker: mdegans/drama_llama#93, abetlen/llama-cpp-python#1501, ollama/ollama#15252.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import FindingEvidence, Severity, Stage, Trace
from prompt_debugger.core.diagnose.advice import Step
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.trace_queries import TracePart

_DOUBLED = re.compile(
    r"Added a ([BE]OS) token to the prompt |Detected duplicate leading \"[^\"\n]{1,40}\" in prompt"
    r"|(?P<ollama>adding bos token to prompt which already has it)"
)

_PRINTED = re.compile(r"ids: \[(?P<id>\d{1,7}), (?P=id), … \((?P<bos>[^\n]{1,60})\)\Z")


def find(trace: Trace) -> Iterator[Report]:
    """Look for the warning in the lines of the server's log."""
    for line in trace.server_warnings:
        if (ids := _PRINTED.match(line)) is not None:
            yield Report(
                title="The prompt starts with two BOS tokens.",
                detail=f"The printed ids begin with {ids['id']} twice, which is `{ids['bos']}`: the template writes "
                "BOS, and the tokenizer adds it again. The output gets worse, without any error.",
                evidence=(FindingEvidence("server", quote=f"[{ids['id']}, {ids['id']},"),),
                fix=(
                    Step("Tokenize the rendered text with `add_special_tokens=False`."),
                    Step("Let `apply_chat_template` tokenize (`tokenize=True`), and send ids in place of text."),
                ),
            )
            continue
        found = _DOUBLED.match(line)
        if found is None:
            continue
        token, place = found[1] or "BOS", "ends" if found[1] == "EOS" else "starts"
        yield Report(
            title=f"The prompt {place} with two {token} tokens.",
            detail=(
                f"The server's log says so: the template writes {token}, and the tokenizer adds it again. The "
                "model was trained with one; with two its output gets worse, without any error."
            ),
            evidence=(FindingEvidence("server", quote=line),),
            fix=_of_ollama() if found["ollama"] else _of_others(token),
        )


def _of_others(token: str) -> tuple[Step, ...]:
    return (
        Step(f"Remove {token} from the chat template, or from the text that is sent to the server."),
        Step("Send token ids, or have the text tokenized without special tokens."),
    )


def _of_ollama() -> tuple[Step, ...]:
    """Return what helps where neither template nor tokenizer is the request's to choose."""
    return (
        Step("Update Ollama and pull the model again: templates and tokenizer settings come with both."),
        Step("Take BOS out of `TEMPLATE` in your Modelfile, or out of the prompt that you send raw."),
    )


RULE: Rule = TraceRule(
    code="PD230",
    name="doubled-token-in-log",
    severity=Severity.ERROR,
    stage=Stage.RENDER,
    find=find,
    needs=TracePart.SERVER,
    threads=("mdegans/drama_llama#93", "abetlen/llama-cpp-python#1501", "ollama/ollama#15252"),
)
