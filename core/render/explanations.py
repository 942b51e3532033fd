"""What a server may have done to come to its prompt: assumptions, tried one by one and in pairs.

An assumption is believed only if rendering with it gives the server's text to the last character.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from typing import TypeAlias

from prompt_debugger.core.base.types import JSON, JSONObject
from prompt_debugger.core.formats import TABLES
from prompt_debugger.core.render.inspect import TemplateFacts
from prompt_debugger.core.render.job import RenderJob, Variable
from prompt_debugger.core.render.vllm_view import LLAMA_CPP_CAUSES, usual_causes


@dataclass(frozen=True, slots=True)
class Attempt:
    """One way in which the server may have come to its text.

    Attributes:
        job: What to render.
        sentences: What has to be assumed for it, besides the job's causes.
        prefix: Text that the server puts in front.
        dropped: Text at the front that the server takes away.
        suffix: Text of the request that the server puts after the prompt.
        suffix_field: Where the request has that text.
    """

    job: RenderJob
    sentences: tuple[str, ...] = ()
    prefix: str = ""
    dropped: str = ""
    suffix: str = ""
    suffix_field: str | None = None

    def text_of(self, rendered: str) -> str | None:
        """Return the prompt that the server makes of a rendered text; `None` if it cannot."""
        if not rendered.startswith(self.dropped):
            return None
        return self.prefix + rendered[len(self.dropped) :] + self.suffix


Switch: TypeAlias = Callable[[Attempt], Attempt]


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """What is known of the server and the request before anything is tried.

    Attributes:
        kind: Which server software it is.
        body: The request as pasted.
        facts: What the template's source says.
        special_tokens: Named special tokens of the tokenizer.
    """

    kind: str
    body: JSONObject
    facts: TemplateFacts
    special_tokens: Mapping[str, str]

    def attempts(self, as_pasted: RenderJob) -> Iterator[Attempt]:
        """Yield the ways to try, the likeliest first."""
        usual = self.usual(as_pasted)
        yield Attempt(as_pasted)
        yield usual
        yield from self._variations(usual)
        yield from self._variations(Attempt(as_pasted))

    def usual(self, as_pasted: RenderJob) -> Attempt:
        """Return everything that this kind of server does by default."""
        if self.kind == "llama.cpp":
            return Attempt(replace(as_pasted, causes=LLAMA_CPP_CAUSES))
        causes = usual_causes(self.facts.content_format, knows_developer=self.facts.knows_developer)
        return Attempt(replace(as_pasted, causes=causes))

    def likely(self, as_pasted: RenderJob) -> Iterator[Attempt]:
        """Yield what an unexplained prompt may resemble."""
        usual = self.usual(as_pasted)
        yield usual
        yield from (other for other in (_prefilled(usual), _continuing(usual)) if other is not usual)
        yield Attempt(as_pasted)

    def _variations(self, base: Attempt) -> Iterator[Attempt]:
        """Yield the base with one or two settings of the server that the request does not show."""
        switches = list(self._switches())
        for count in (1, 2):
            for chosen in combinations(switches, count):
                attempt = base
                for switch in chosen:
                    attempt = switch(attempt)
                if attempt != base:
                    yield attempt

    def _switches(self) -> Iterator[Switch]:
        yield _forced_content_format
        yield _continuing
        yield _prefilled
        for generates in (True, False):
            yield partial(_set_variable, name="add_generation_prompt", value=generates)
        yield partial(_drop_tools, choice=self.body.get("tool_choice"))
        for field in ("chat_template_kwargs", "reasoning_effort", "documents"):
            if field in self.body:
                yield partial(_drop_field, field=field)
        for switch in TABLES.switches:
            if switch.name in self.facts.variables:
                for value in (switch.on, switch.off):
                    yield partial(_set_variable, name=switch.name, value=value)
        bos = self.special_tokens.get("bos_token")
        if bos:
            yield partial(_add_prefix, prefix=bos)
            yield partial(_drop_prefix, prefix=bos)


def _forced_content_format(attempt: Attempt) -> Attempt:
    swap = {"content-openai": "content-string", "content-string": "content-openai"}
    causes = tuple(swap.get(name, name) for name in attempt.job.causes)
    return replace(attempt, job=replace(attempt.job, causes=causes))


def _continuing(attempt: Attempt) -> Attempt:
    """Return the attempt with the last message left open, if the model wrote it."""
    job = attempt.job
    if _last_answer(job) is None:
        return attempt
    others = tuple(one for one in job.variables if one.name != "add_generation_prompt")
    made = replace(
        job, variables=(*others, Variable("add_generation_prompt", value=False)), continue_final_message=True
    )
    sentence = "the server continues the last assistant message instead of opening a new turn"
    return replace(attempt, job=made, sentences=(*attempt.sentences, sentence))


def _prefilled(attempt: Attempt) -> Attempt:
    """Return the attempt with the last message, if the model wrote it, put unchanged after the generation prompt."""
    job = attempt.job
    messages = next((one for one in job.variables if one.name == "messages"), None)
    answer = _last_answer(job)
    if messages is None or not isinstance(messages.value, list) or answer is None:
        return attempt
    others = tuple(one for one in job.variables if one.name not in ("messages", "add_generation_prompt"))
    made = (*others, replace(messages, value=messages.value[:-1]), Variable("add_generation_prompt", value=True))
    sentence = "the server writes the last assistant message after the generation prompt, for the model to continue"
    return replace(
        attempt,
        job=replace(job, variables=made),
        sentences=(*attempt.sentences, sentence),
        suffix=answer,
        suffix_field=f"messages[{len(messages.value) - 1}].content",
    )


def _last_answer(job: RenderJob) -> str | None:
    """Return the text of the last message if the model wrote it and it is not yet to be continued."""
    messages = next((one.value for one in job.variables if one.name == "messages"), None)
    last = messages[-1] if isinstance(messages, list) and messages else None
    if job.continue_final_message or not isinstance(last, dict) or last.get("role") != "assistant":
        return None
    content = last.get("content")
    return content if isinstance(content, str) and content else None


def _add_prefix(attempt: Attempt, prefix: str) -> Attempt:
    if attempt.prefix or attempt.dropped:
        return attempt
    sentence = f"the server puts {prefix!r} in front of the prompt"
    return replace(attempt, prefix=prefix, sentences=(*attempt.sentences, sentence))


def _drop_prefix(attempt: Attempt, prefix: str) -> Attempt:
    if attempt.prefix or attempt.dropped:
        return attempt
    sentence = f"the server removes the {prefix!r} that the template writes in front"
    return replace(attempt, dropped=prefix, sentences=(*attempt.sentences, sentence))


def _drop_tools(attempt: Attempt, choice: JSON) -> Attempt:
    why = " because `tool_choice` is none" if choice == "none" else ""
    return _set_variable(attempt, "tools", None, f"the server leaves the tools out{why}")


def _drop_field(attempt: Attempt, field: str) -> Attempt:
    kept = tuple(one for one in attempt.job.variables if not one.root or one.root[0] != field)
    if len(kept) == len(attempt.job.variables):
        return attempt
    names = {one.name for one in attempt.job.variables} - {one.name for one in kept}
    if "documents" in names:
        kept = (*kept, Variable("documents", None))
    job = replace(attempt.job, variables=kept)
    return replace(attempt, job=job, sentences=(*attempt.sentences, f"the server ignores `{field}`"))


def _set_variable(attempt: Attempt, name: str, value: JSON, sentence: str = "") -> Attempt:  # any JSON
    """Return the attempt with one variable set differently, and the sentence that says so."""
    before = next((one for one in attempt.job.variables if one.name == name), None)
    if before is not None and before.value == value:
        return attempt
    others = [one for one in attempt.job.variables if one.name != name]
    explanation = sentence or f"the server renders with `{name}` {str(value).lower()}"
    job = replace(attempt.job, variables=(*others, Variable(name, value, before.root if before is not None else ())))
    return replace(attempt, job=job, sentences=(*attempt.sentences, explanation))
