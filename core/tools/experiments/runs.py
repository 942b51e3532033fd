"""Two whole runs side by side: what was sent, what each server is, what it read, wrote and returned, what was found.

Runs are compared as they were recorded; nothing is rendered or asked again.
Tokens are compared by id where both runs have one vocabulary, by their bytes
where they do not, and texts by words where a run has no tokens.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from prompt_debugger.core.base.types import Completion, Finding, Prompt, PromptSpan, Request, Server, Tokens, Trace
from prompt_debugger.core.complete import title_of
from prompt_debugger.core.report import template_sha256
from prompt_debugger.core.tools.experiments.difference import TokenDifference, diff_renders
from prompt_debugger.core.tools.experiments.json_changes import JsonChange, json_changes
from prompt_debugger.core.tools.experiments.variant import Rendered, units_of


@dataclass(frozen=True, slots=True)
class Fact:
    """One thing that is known of the runs or of their servers, where they say it.

    Attributes:
        label: What it is.
        left: In the first run.
        right: In the second.
    """

    label: str
    left: str | None
    right: str | None

    @property
    def differs(self) -> bool:
        """Whether the two runs say two things; what only one of them says is not known to differ."""
        return self.left is not None and self.right is not None and self.left != self.right


@dataclass(frozen=True, slots=True)
class TextComparison:
    """Two prompts, or two outputs.

    Attributes:
        left_count: Tokens or words of the first; `None` if the run has no such text.
        right_count: Likewise of the second.
        difference: Where they differ; `None` if they do not, or if one is missing.
    """

    left_count: int | None
    right_count: int | None
    difference: TokenDifference | None

    @property
    def is_same(self) -> bool | None:
        """Whether both are the same; `None` if one is missing."""
        return None if self.left_count is None or self.right_count is None else self.difference is None


@dataclass(frozen=True, slots=True)
class RunComparison:
    """Two runs side by side.

    Attributes:
        request: Fields of the requests that differ, as pasted.
        facts: Server, parsers, evidence, counts: all that both or one of them says.
        message: Fields of the returned messages that differ; `None` if a run has no message.
        only_left: Findings of the first run that the second has not.
        only_right: Likewise of the second.
        in_both: Findings of both, as the second tells them.
    """

    request: tuple[JsonChange, ...]
    facts: tuple[Fact, ...]
    prompt: TextComparison
    raw: TextComparison
    message: tuple[JsonChange, ...] | None
    only_left: tuple[Finding, ...]
    only_right: tuple[Finding, ...]
    in_both: tuple[Finding, ...]


def compare_runs(left: Trace, right: Trace) -> RunComparison:
    """Compare two runs; a stage that one of them lacks is said to be missing, never equal."""
    has_one_vocabulary = left.vocabulary is not None and left.vocabulary == right.vocabulary
    message = None
    if left.chat is not None and right.chat is not None:
        message = tuple(
            one for one in json_changes(left.chat.message, right.chat.message) if not _is_null_left_out(one)
        )
    return RunComparison(
        request=_request_changes(left.request, right.request),
        facts=tuple(_facts(left, right)),
        prompt=_compare(_prompt(left), _prompt(right), has_one_vocabulary=has_one_vocabulary),
        raw=_compare(_output(left.raw), _output(right.raw), has_one_vocabulary=has_one_vocabulary),
        message=message,
        only_left=_subtract(left.findings, right.findings),
        only_right=_subtract(right.findings, left.findings),
        in_both=_shared(right.findings, left.findings),
    )


def _is_null_left_out(change: JsonChange) -> bool:
    """Return whether one server writes a field as `null` that the other leaves out: clients read both the same."""
    is_one_sided = change.kind in ("removed", "added") and not change.path.endswith("]")
    return is_one_sided and change.left is None and change.right is None


def sentence_of(comparison: RunComparison, left: str = "A", right: str = "B") -> str:
    """Return the comparison in one sentence that can be quoted."""
    parts = [*_sentence_parts(comparison, left, right)]
    if not parts:
        return f"{left} and {right} are identical in everything that both runs contain."
    text = "; ".join(parts)
    return f"{text[0].upper()}{text[1:]}."


def explanation_of(comparison: RunComparison, left: str = "A", right: str = "B") -> str:
    """Return which stage explains the others, an inference from what differs first; "" where nothing differs."""
    prompt, raw = comparison.prompt, comparison.raw
    differing = [
        one for one in comparison.message or () if not one.path.endswith(".id")
    ]  # a server draws ids at random
    parts = [stage for stage, differs in (("raw outputs", raw.difference), ("messages", differing)) if differs]
    if prompt.difference is not None:
        where = f"from {prompt.difference.unit} {prompt.difference.first} on"
        follows = f", and the different {' and '.join(parts)} may follow from that" if parts else ""
        return f"The prompts differ first, {where}: {_cause_of_prompts(comparison)}{follows}."
    if not parts:
        return ""
    known = "read the same prompt" if prompt.is_same else "may have read different prompts (one is not known)"
    if raw.difference is not None:
        reason = "the models, their weights or the sampling differ" if prompt.is_same else "the cause is not known"
        follows = "; the different messages may follow from that" if differing else ""
        return f"{left} and {right} {known} and wrote different text: {reason}{follows}."
    if raw.is_same:
        reason = "the servers read it differently, which points to their parsers"
        return f"{left} and {right} wrote the same text: {reason}."
    return f"{left} and {right} {known}; a raw output is not known, so model and parser cannot be distinguished."


def _cause_of_prompts(comparison: RunComparison) -> str:
    labels = {fact.label for fact in comparison.facts if fact.differs}
    if comparison.request:
        return "the requests differ"
    if "template sha256" in labels:
        return "the chat templates differ"
    return "template, tokenizer or defaults of the servers differ"


def _request_changes(left: Request, right: Request) -> tuple[JsonChange, ...]:
    """Return the fields that someone changed: not a `model` that was filled in or left out for a server."""
    is_own = left.text != right.text and not any(
        notice.field == "model" for request in (left, right) for notice in request.notices
    )
    changes = json_changes(left.body, right.body)
    return changes if is_own else tuple(one for one in changes if one.path != "model" or one.kind == "changed")


# --- texts -------------------------------------------------------------------------


def _prompt(trace: Trace) -> Rendered | None:
    prompt: Prompt | None = trace.prompt or trace.local_prompt
    return None if prompt is None else _rendered(prompt.text, prompt.tokens, prompt.spans)


def _output(raw: Completion | None) -> Rendered | None:
    return None if raw is None else _rendered(raw.text, raw.tokens)


def _rendered(text: str, tokens: Tokens | None, origins: tuple[PromptSpan, ...] = ()) -> Rendered:
    if tokens is None:
        return units_of(text, None, origins)
    ids, spans = tuple(token.id for token in tokens), tuple(token.char_span for token in tokens)
    return Rendered(text, "token", ids, spans, origins, tokens)


def _compare(left: Rendered | None, right: Rendered | None, *, has_one_vocabulary: bool) -> TextComparison:
    counts = (None if left is None else len(left.keys), None if right is None else len(right.keys))
    if left is None or right is None:
        return TextComparison(*counts, None)
    if left.unit != right.unit:  # one has no tokens
        left, right = (units_of(one.text, None, one.origins) for one in (left, right))
        return TextComparison(len(left.keys), len(right.keys), diff_renders(left, right))
    if left.unit == "word" or has_one_vocabulary:
        return TextComparison(*counts, diff_renders(left, right))
    return TextComparison(*counts, diff_renders(left, right, (left.pieces, right.pieces)))


# --- facts and findings ---------------------------------------------------------------


def _facts(left: Trace, right: Trace) -> Iterator[Fact]:
    rows = (dict(_facts_of(left)), dict(_facts_of(right)))
    for row, trace in zip(rows, (left, right), strict=True):
        if trace.chat is not None and any("refused" in one for one in rows):
            row.setdefault("refused", "no")  # it was answered: that much is known
    for label in [*rows[0], *(label for label in rows[1] if label not in rows[0])]:
        yield Fact(label, rows[0].get(label), rows[1].get(label))


def _facts_of(trace: Trace) -> Iterator[tuple[str, str]]:
    if trace.server is not None:
        yield from _server_facts(trace.server)
    if trace.evidence is not None:
        yield "evidence", trace.evidence.value
    template = template_sha256(trace.prompt) or template_sha256(trace.local_prompt)
    if template is not None:
        yield "template sha256", template
    if trace.parse is not None:
        yield "output read as", trace.parse.parsed.format
    if trace.chat is not None:
        yield "finish_reason", str(trace.chat.finish_reason)
    if trace.refusal is not None:
        yield "refused", f"{trace.refusal.label}: {trace.refusal.message}"


def _server_facts(server: Server) -> Iterator[tuple[str, str]]:
    yield "server", f"{title_of(server.kind)} {server.version or ''}".rstrip()
    yield "address", "the lab" if server.is_lab else server.base_url  # a lab gets another port at every start
    if server.model is not None:
        yield "model", server.model
    if server.max_model_len is not None:
        yield "context length", str(server.max_model_len)
    for label, parser in (("tool parser", server.tool_parser), ("reasoning parser", server.reasoning_parser)):
        if parser is not None or server.is_lab:
            yield label, parser or "none"
    if server.default_template_kwargs:
        yield "template defaults", ", ".join(f"{k}={v!r}" for k, v in server.default_template_kwargs.items())


def _identity(finding: Finding) -> tuple[str, str | None]:
    """Return what makes two findings the same one: the rule, and the first field it points at."""
    return finding.code, next((item.field for item in finding.evidence if item.field), None)


def _subtract(findings: tuple[Finding, ...], others: tuple[Finding, ...]) -> tuple[Finding, ...]:
    left_over = Counter(map(_identity, others))
    kept = []
    for finding in findings:
        if left_over[_identity(finding)]:
            left_over[_identity(finding)] -= 1
        else:
            kept.append(finding)
    return tuple(kept)


def _shared(findings: tuple[Finding, ...], others: tuple[Finding, ...]) -> tuple[Finding, ...]:
    alone = [id(finding) for finding in _subtract(findings, others)]
    return tuple(finding for finding in findings if id(finding) not in alone)


# --- words and JSON --------------------------------------------------------------------


def _sentence_parts(comparison: RunComparison, left: str, right: str) -> Iterator[str]:
    if comparison.request:
        count = len(comparison.request)
        yield f"the requests differ in {count} field{'' if count == 1 else 's'}"
    for name, text in (("prompts", comparison.prompt), ("raw outputs", comparison.raw)):
        if text.difference is not None:
            yield f"the {name} diverge at {text.difference.unit} {text.difference.first}"
    if comparison.message:
        count = len(comparison.message)
        yield f"the messages differ in {count} field{'' if count == 1 else 's'}"
    for name, findings in ((left, comparison.only_left), (right, comparison.only_right)):
        if findings:
            yield f"only {name} has {', '.join(dict.fromkeys(finding.code for finding in findings))}"
    different = [fact.label for fact in comparison.facts if fact.differs]
    if different:
        yield f"{', '.join(different)} differ{'s' if len(different) == 1 else ''}"
