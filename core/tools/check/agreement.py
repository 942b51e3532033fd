"""The same conversations through transformers and through an engine's own renderer: the same prompt, and if not, why?

The engine is vLLM's renderer itself, in the helper process and without a GPU, or a running server that renders without
its model. A cause is named only if rendering with it gives the engine's prompt to the last character.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

from prompt_debugger.core.base.errors import EngineError, RenderError
from prompt_debugger.core.base.text import excerpt, first_divergence
from prompt_debugger.core.base.types import Finding, JSONObject, Severity
from prompt_debugger.core.base.types.base import LEFT_OUT_IF_EMPTY, LEFT_OUT_IF_NONE
from prompt_debugger.core.complete import engine_of
from prompt_debugger.core.parse.engines.rendered import EnginePrompt
from prompt_debugger.core.render import ReportedPrompt, explain_server_prompt
from prompt_debugger.core.render.local import Renderer
from prompt_debugger.core.render.server import template_facts
from prompt_debugger.core.tools.check.conversations import Conversation, conversations
from prompt_debugger.core.tools.check.ideal import Ideal
from prompt_debugger.core.tools.check.model import CheckedModel
from prompt_debugger.core.tools.check.template.finding import found, shown
from prompt_debugger.core.tools.check.template.places import line_in_render, line_mark

_AROUND = 60
_WORD = re.compile(r"zq\w+")
_PARTS_PRINTED = "[{'type': 'text'"


@dataclass(frozen=True, slots=True)
class Agreement:
    """One conversation, rendered by transformers and by an engine's own renderer.

    Attributes:
        name: Stable name.
        about: What it tries.
        request: What both were asked to render.
        agrees: Whether both give the same prompt, ids included where they are known; `None` if neither gives one.
        causes: Why not, as far as it is proved by rendering with it, a sentence each.
        transformers: What transformers gives, around the first difference; `None` if the template fails.
        engine: The same of the engine; `None` if it refuses.
        refusals: Why there is no prompt, by `transformers` and `engine`.
        loss: What the engine's prompt lacks, or prints as Python, that transformers' does not.
        template_line: Line that writes where they first differ, or fails, in transformers; `None` if it is not known.
    """

    name: str
    about: str
    request: JSONObject
    agrees: bool | None
    causes: tuple[str, ...] = field(default=(), metadata=LEFT_OUT_IF_EMPTY)
    transformers: str | None = field(default=None, metadata=LEFT_OUT_IF_NONE)
    engine: str | None = field(default=None, metadata=LEFT_OUT_IF_NONE)
    refusals: Mapping[str, str] = field(default_factory=dict)
    loss: str = field(default="", metadata=LEFT_OUT_IF_EMPTY)
    template_line: int | None = field(default=None, metadata=LEFT_OUT_IF_NONE)

    @property
    def is_explained(self) -> bool:
        """Whether nothing is left to wonder at."""
        return self.agrees is not False or bool(self.causes)


@dataclass(frozen=True, slots=True)
class Engines:
    """Whether transformers and an engine render alike.

    Attributes:
        engine: The one that was compared with transformers, such as `vLLM 0.32.0`.
        conversations: Each of them.
        skipped: Why none was compared; `None` if they were.
        note: Under which condition the comparison holds; `None` if it holds without one.
    """

    engine: str = ""
    conversations: tuple[Agreement, ...] = ()
    skipped: str | None = None
    note: str | None = None


class Renders(Protocol):
    """What renders requests as an engine does: `VllmEngine`, `ServerRenderer`."""

    async def render(
        self,
        bodies: Sequence[JSONObject],
        *,
        template: str,
        special_tokens: Mapping[str, str],
        tokenizer: str | Path | None = None,
    ) -> list[EnginePrompt]:
        """Return what the engine makes of each request."""


async def compare_engines(
    engine: Renders,
    model: CheckedModel,
    ideals: Sequence[Ideal],
    tools: Sequence[JSONObject],
    *,
    name: str = "vLLM",
    kind: str = "vllm",
    renderer: Renderer | None = None,
) -> Engines:
    """Render every conversation twice and compare the two; where that cannot be, say so."""
    asked = list(conversations(ideals, tools, template_facts(model.template, renderer).variables))
    has_vocabulary = model.folder is not None and (model.folder / "tokenizer.json").is_file()
    try:
        theirs = await engine.render(
            [one.body for one in asked],
            template=model.template,
            special_tokens=model.special_tokens,
            tokenizer=model.folder if has_vocabulary else None,
        )
    except EngineError as error:
        return Engines(name, skipped=str(error))
    comparison = _Comparison(model, kind, renderer)
    pairs = zip(asked, theirs, strict=True)
    return Engines(name, tuple(comparison.of(one, answer) for one, answer in pairs))


def engine_findings(engines: Engines) -> Iterator[Finding]:
    """Report conversations in which the engine's prompt loses something, or differs for no known reason."""
    kinds: dict[str, list[Agreement]] = {}
    for one in engines.conversations:
        if one.loss:
            kinds.setdefault(one.loss, []).append(one)
        elif not one.is_explained:
            kinds.setdefault("gives a different prompt, for an unknown reason", []).append(one)
    for what, alike in kinds.items():
        first = alike[0]
        there = first.engine if first.engine is not None else first.refusals.get("engine", "")
        here = first.transformers if first.transformers is not None else first.refusals.get("transformers", "")
        yield found(
            "engines-differ",
            Severity.WARNING,
            f"Of {', '.join(f'`{one.name}`' for one in alike)}, {engines.engine} {what}.",
            f"{engines.engine}: {shown(there)}. transformers: {shown(here)}{line_mark(first.template_line)}."
            + (f" Cause: {'; '.join(first.causes)}." if first.causes else ""),
            quote=first.engine or "",
            fix=(
                "A model trained or evaluated with transformers is served with a different prompt: correct the "
                "template there, or send these turns in another form."
            ),
        )


@dataclass(frozen=True, slots=True)
class _Comparison:
    """Holds the prompts of one model against each other."""

    model: CheckedModel
    kind: str
    renderer: Renderer | None

    def of(self, asked: Conversation, theirs: EnginePrompt) -> Agreement:
        render = self.model.renderer(self.renderer, add_generation_prompt=asked.add_generation_prompt)
        try:
            ours = render(asked.plain_body)
        except RenderError as error:
            return self._refused(asked, theirs, error)
        made = Agreement(asked.name, asked.about, asked.body, agrees=False, transformers=_start(ours))
        if theirs.text is None:
            cause = self._why_refused(asked)
            return replace(
                made,
                causes=cause,
                refusals={"engine": theirs.refusal or ""},
                loss="" if cause else f"refuses the request: {(theirs.refusal or '').rstrip('.')}",
            )
        at = first_divergence(ours, theirs.text)
        if at is None:
            return self._same_text(made, ours, theirs)
        return replace(
            made,
            causes=tuple(self._causes(asked, theirs.text)),
            transformers=excerpt(ours, at, at + _AROUND),
            engine=excerpt(theirs.text, at, at + _AROUND),
            loss=_loss(ours, theirs.text),
            template_line=self._line(asked, at),
        )

    def _line(self, asked: Conversation, at: int) -> int | None:
        return line_in_render(
            self.model, asked.plain_body, at, self.renderer, add_generation_prompt=asked.add_generation_prompt
        )

    def _same_text(self, made: Agreement, ours: str, theirs: EnginePrompt) -> Agreement:
        """Compare ids, where the texts are equal."""
        at = None
        if self.model.tokenizer is not None and theirs.token_ids is not None:
            ids = tuple(token.id for token in self.model.tokenizer.tokens_of_text(ours))
            at = first_divergence(ids, theirs.token_ids)
        if at is None:
            return replace(made, agrees=True, transformers=None)
        cause = f"the texts are equal, but the tokenizers diverge at token {at}"
        return replace(made, causes=(cause,), engine=_start(ours))

    def _refused(self, asked: Conversation, theirs: EnginePrompt, error: RenderError) -> Agreement:
        """Return what becomes of a request for which the template fails in transformers."""
        refusals = {"transformers": error.message}
        if theirs.text is None:
            refusals["engine"] = theirs.refusal or ""
            return Agreement(asked.name, asked.about, asked.body, agrees=None, refusals=refusals)
        causes = tuple(self._causes(asked, theirs.text))
        start = _start(theirs.text)
        made = Agreement(asked.name, asked.about, asked.body, agrees=False, causes=causes, engine=start)
        return replace(made, refusals=refusals, template_line=error.template_line)

    def _causes(self, asked: Conversation, text: str) -> Iterator[str]:
        """Yield what the engine does to a request, if that gives its prompt."""
        engine = engine_of(self.kind)
        prompt = explain_server_prompt(
            asked.body,
            ReportedPrompt(text=text, kind=engine.renders_like, changes=engine.request_changes),
            template=self.model.template,
            tokenizer=None,
            special_tokens=self.model.special_tokens,
            renderer=self.renderer,
        )
        if prompt.proof is None:
            return
        if asked.habit:
            yield asked.habit
        yield from prompt.proof

    def _why_refused(self, asked: Conversation) -> tuple[str, ...]:
        reason = engine_of(self.kind).refused_conversations.get(asked.name)
        return () if reason is None else (reason,)


def _loss(ours: str, theirs: str) -> str:
    """Return what an engine's prompt has lost, as the end of a sentence."""
    words = sorted(set(_WORD.findall(ours)) - set(_WORD.findall(theirs)))
    if words:
        return f"leaves out {', '.join(f'`{word}`' for word in words)}"
    if theirs.count(_PARTS_PRINTED) > ours.count(_PARTS_PRINTED):
        return "prints content as a Python list"
    return ""


def _start(text: str) -> str:
    return text[:_AROUND]
