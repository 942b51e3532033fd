"""The same conversations through transformers and through vLLM's own renderer: the same prompt, and if not, why?

vLLM's side is its renderer itself, in the helper process and without a GPU. A cause is named only if rendering with it
gives vLLM's prompt to the last character.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from prompt_debugger.core.check.conversations import Conversation, conversations
from prompt_debugger.core.check.ideal import Ideal
from prompt_debugger.core.check.model import CheckedModel
from prompt_debugger.core.check.template.finding import found, shown
from prompt_debugger.core.errors import EngineError, RenderError
from prompt_debugger.core.parse.engines import VllmEngine
from prompt_debugger.core.parse.engines.rendered import RenderedByVllm
from prompt_debugger.core.render import explain_server_prompt
from prompt_debugger.core.render.local import Renderer
from prompt_debugger.core.render.server import template_facts
from prompt_debugger.core.text import excerpt, first_divergence
from prompt_debugger.core.types import Finding, JSONObject, Severity

_AROUND = 60
_WORD = re.compile(r"zq\w+")
_PARTS_PRINTED = "[{'type': 'text'"


@dataclass(frozen=True, slots=True)
class Agreement:
    """One conversation through both.

    Attributes:
        name: Of the conversation.
        about: What it tries.
        request: What both were asked to render.
        agrees: Whether both give the same prompt, ids included where they are known; `None` if neither gives one.
        causes: Why not, as far as it is proved, a sentence each.
        transformers: What transformers gives, around the first difference; `None` if the template fails.
        vllm: The same of vLLM; `None` if it refuses.
        refusals: Why there is no prompt, by `transformers` and `vllm`.
        loss: What vLLM's prompt lacks or prints as Python that transformers' does not; "" for nothing.
    """

    name: str
    about: str
    request: JSONObject
    agrees: bool | None
    causes: tuple[str, ...] = ()
    transformers: str | None = None
    vllm: str | None = None
    refusals: tuple[tuple[str, str], ...] = ()
    loss: str = ""

    @property
    def is_explained(self) -> bool:
        """Whether nothing is left to wonder at."""
        return self.agrees is not False or bool(self.causes)


@dataclass(frozen=True, slots=True)
class Engines:
    """Both engines over all conversations.

    Attributes:
        conversations: Each of them.
        skipped: Why none was compared; "" if they were.
    """

    conversations: tuple[Agreement, ...] = ()
    skipped: str = ""


async def compare_engines(
    engine: VllmEngine,
    model: CheckedModel,
    ideals: Sequence[Ideal],
    tools: Sequence[JSONObject],
    renderer: Renderer | None = None,
) -> Engines:
    """Render every conversation twice and hold the two against each other; without such a vLLM, say so."""
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
        return Engines(skipped=str(error))
    pairs = zip(asked, theirs, strict=True)
    return Engines(tuple(_compared(one, answer, model, renderer) for one, answer in pairs))


def engine_findings(engines: Engines) -> Iterator[Finding]:
    """Report conversations in which vLLM's prompt loses something, or differs for no known reason, once per kind."""
    kinds: dict[str, list[Agreement]] = {}
    for one in engines.conversations:
        if one.loss:
            kinds.setdefault(one.loss, []).append(one)
        elif not one.is_explained:
            kinds.setdefault("gives another prompt, for no reason known here", []).append(one)
    for what, alike in kinds.items():
        first = alike[0]
        yield found(
            "engines-differ",
            Severity.WARNING,
            f"Of {_named(alike)}, vLLM {what}.",
            f"vLLM: {shown(first.vllm or '')}. transformers: {shown(first.transformers or '')}."
            + (f" Cause: {'; '.join(first.causes)}." if first.causes else ""),
            quote=first.vllm or "",
            fix="What was trained or evaluated with transformers is served with another prompt: mend the template "
            "there, or send such turns otherwise.",
        )


def _named(alike: Sequence[Agreement]) -> str:
    return ", ".join(f"`{one.name}`" for one in alike)


def _compared(asked: Conversation, theirs: RenderedByVllm, model: CheckedModel, renderer: Renderer | None) -> Agreement:
    try:
        ours = model.renderer(renderer, add_generation_prompt=asked.add_generation_prompt)(asked.plain_body)
    except RenderError as error:
        return _refused(asked, theirs, error, model, renderer)
    if theirs.text is None:
        refusal = (("vllm", theirs.refusal or ""),)
        cause = _why_refused(asked)
        loss = "" if cause else f"refuses the request: {theirs.refusal}"
        return _differs(asked, cause, _start(ours), None, refusals=refusal, loss=loss)
    at = first_divergence(ours, theirs.text)
    if at is None:
        return _same_text(asked, ours, theirs, model)
    here, there = excerpt(ours, at, at + _AROUND), excerpt(theirs.text, at, at + _AROUND)
    causes = tuple(_causes(asked, theirs.text, model, renderer))
    return _differs(asked, causes, here, there, loss=_loss(ours, theirs.text))


def _differs(
    asked: Conversation,
    causes: tuple[str, ...],
    transformers: str | None,
    vllm: str | None,
    *,
    refusals: tuple[tuple[str, str], ...] = (),
    loss: str = "",
) -> Agreement:
    return Agreement(
        asked.name,
        asked.about,
        asked.body,
        agrees=False,
        causes=causes,
        transformers=transformers,
        vllm=vllm,
        refusals=refusals,
        loss=loss,
    )


def _same_text(asked: Conversation, ours: str, theirs: RenderedByVllm, model: CheckedModel) -> Agreement:
    """Compare ids, where the texts are equal."""
    at = None
    if model.tokenizer is not None and theirs.token_ids is not None:
        ids = tuple(token.id for token in model.tokenizer.tokens_of_text(ours))
        at = first_divergence(ids, theirs.token_ids)
    if at is None:
        return Agreement(asked.name, asked.about, asked.body, agrees=True)
    cause = (f"the texts are equal, and the tokenizers of the two part at token {at}",)
    return _differs(asked, cause, _start(ours), _start(ours))


def _refused(
    asked: Conversation, theirs: RenderedByVllm, error: RenderError, model: CheckedModel, renderer: Renderer | None
) -> Agreement:
    """Return what a template that fails in transformers gives in vLLM."""
    if theirs.text is None:
        both = (("transformers", error.message), ("vllm", theirs.refusal or ""))
        return Agreement(asked.name, asked.about, asked.body, agrees=None, refusals=both)
    causes = tuple(_causes(asked, theirs.text, model, renderer))
    refusals = (("transformers", error.message),)
    return _differs(asked, causes, None, _start(theirs.text), refusals=refusals)


def _causes(asked: Conversation, text: str, model: CheckedModel, renderer: Renderer | None) -> Iterator[str]:
    """Yield what vLLM does to a request, if that gives its prompt."""
    prompt = explain_server_prompt(
        asked.body,
        token_ids=None,
        text=text,
        template=model.template,
        tokenizer=None,
        special_tokens=model.special_tokens,
        renderer=renderer,
    )
    if prompt.proof is None:
        return
    if asked.habit:
        yield asked.habit
    yield from prompt.proof


def _why_refused(asked: Conversation) -> tuple[str, ...]:
    if asked.name == "arguments-as-object":
        return ("vLLM's API takes arguments of earlier calls as text alone, as OpenAI's does, and decodes them itself",)
    return ()


def _loss(ours: str, theirs: str) -> str:
    """Return what vLLM's prompt has lost, as the end of a sentence."""
    words = sorted(set(_WORD.findall(ours)) - set(_WORD.findall(theirs)))
    if words:
        return f"leaves out {', '.join(f'`{word}`' for word in words)}"
    if theirs.count(_PARTS_PRINTED) > ours.count(_PARTS_PRINTED):
        return "prints content as a Python list"
    return ""


def _start(text: str) -> str:
    return text[:_AROUND]
