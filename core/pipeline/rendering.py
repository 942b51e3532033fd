"""What a run renders with: which template and tokenizer it uses, and what they give.

A run against an endpoint without template and tokenizer still continues: without a
template there is no local prompt, without a tokenizer there are no tokens, and
`Renderer.note` says why.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from prompt_debugger.core.base.errors import RenderError
from prompt_debugger.core.base.protocols import Tokenizer
from prompt_debugger.core.base.types import Completion, JSONObject, Prompt, PromptDifference, Server, Vocabulary
from prompt_debugger.core.base.types.frozen import replace
from prompt_debugger.core.complete import ENGINES, Gathered, engine_of
from prompt_debugger.core.complete.model_root import believable_root
from prompt_debugger.core.pipeline.explained import explained_for
from prompt_debugger.core.pipeline.target import Target
from prompt_debugger.core.render import (
    Remembered,
    ReportedPrompt,
    choose_template,
    compare_prompts,
    explain_server_prompt,
    generation_prompt,
    load_templates,
    load_tokenizer,
    pieces_of_reported,
    render_local,
    reported_special_tokens,
    tokens_of_pieces,
)


@dataclass(frozen=True, slots=True)
class Renderer:
    """A template and a tokenizer, either of which may be missing.

    Attributes:
        template: Jinja source.
        note: Where they come from, or why one is missing.
        server_template: The template that the server says it uses, if it does.
        special_tokens: Named special tokens that the server showed, where there is no tokenizer.
        remembered: What the run under way has rendered; `None` outside a run.
        templates: The templates of the model by their names, where it has several and `template` is one of them.
        template_name: Of the template that the person chose.
    """

    template: str | None
    tokenizer: Tokenizer | None
    note: str = ""
    server_template: str | None = None
    special_tokens: Mapping[str, str] = field(default_factory=dict)
    remembered: Remembered | None = None
    templates: Mapping[str, str] = field(default_factory=dict)
    template_name: str | None = None

    @property
    def vocabulary(self) -> Vocabulary | None:
        """What rules may know of the tokenizer."""
        return None if self.tokenizer is None else self.tokenizer.vocabulary

    @property
    def special_texts(self) -> frozenset[str]:
        """Texts of the special tokens."""
        return frozenset() if self.tokenizer is None else frozenset(self.tokenizer.vocabulary.special.values())

    def for_one_run(self) -> Renderer:
        """Return a renderer that renders the request of one run once, however many steps ask for it."""
        return replace(self, remembered=Remembered())

    def use_template_of(self, body: JSONObject, server_kind: str) -> Renderer:
        """Return the renderer with the template that a request gets.

        That is its own `chat_template`, where such a server takes one, as vLLM may; else, of several templates of the
        model, the one that the reference library takes for it, or that the person chose.
        """
        own = body.get("chat_template")
        if isinstance(own, str) and engine_of(server_kind).takes_template:
            return replace(self, template=own, server_template=None)
        if len(self.templates) < 2:
            return self
        chosen = choose_template(self.templates, has_tools=bool(body.get("tools")), name=self.template_name)
        return replace(self, template=chosen or self.template)

    def render_local(self, body: JSONObject) -> Prompt | None:
        """Render the request as pasted; `None` without a template or if the template refuses it."""
        try:
            return self.try_local(body)
        except RenderError:
            return None

    def try_local(self, body: JSONObject) -> Prompt | None:
        """Render the request as pasted; `None` without a template.

        Raises:
            RenderError: The template failed.
        """
        if self.template is None:
            return None
        with explained_for(body):
            return render_local(
                body,
                template=self.template,
                tokenizer=self.tokenizer,
                special_tokens=self.special_tokens,
                renderer=self.remembered,
            )

    def generation_prompt(self, body: JSONObject) -> str | None:
        """Return the text that opens the assistant turn; `None` without a template."""
        if self.template is None:
            return None
        try:
            return generation_prompt(
                self.template,
                body,
                tokenizer=self.tokenizer,
                special_tokens=self.special_tokens,
                renderer=self.remembered,
            )
        except RenderError:
            return None

    def explain_server(self, body: JSONObject, gathered: Gathered, local: Prompt | None = None) -> Prompt | None:
        """Return the prompt that the server used, attributed as far as it can be proved; `local` is our own render.

        `None` where the server reports none, or ids alone, and nothing here can decode them.
        """
        pieces = _pieces(gathered.prompt_pieces, gathered.prompt_text)
        can_decode = gathered.prompt_token_ids is not None and (self.tokenizer is not None or pieces is not None)
        if gathered.prompt_text is None and not can_decode:
            return None
        engine = ENGINES["vllm"] if gathered.server is None else engine_of(gathered.server.kind)
        return explain_server_prompt(
            body,
            ReportedPrompt(
                gathered.prompt_token_ids,
                gathered.prompt_text,
                pieces,
                self.server_template,
                engine.renders_like,
                engine.request_changes,
            ),
            template=self.template,
            tokenizer=self.tokenizer,
            remembered=self.remembered,
            local=local,
        )

    def use_reported_tokens(self, gathered: Gathered) -> Renderer:
        """Return the renderer with the BOS token that a server showed, if there is no tokenizer to name it."""
        if self.tokenizer is not None:
            return self
        pieces = _pieces(gathered.prompt_pieces, gathered.prompt_text)
        return replace(self, special_tokens=reported_special_tokens(pieces))

    def compare(self, server: Prompt | None, local: Prompt | None) -> PromptDifference | None:
        """Return where the two prompts part, if both are known."""
        return None if server is None or local is None else compare_prompts(server, local)

    def add_tokens(self, gathered: Gathered) -> Completion | None:
        """Return the raw output with its token table, where ids are known, and a tokenizer or the server's word."""
        raw = gathered.raw
        if raw is None or raw.token_ids is None:
            return raw
        if self.tokenizer is not None:
            text, tokens = self.tokenizer.tokens_of_ids(raw.token_ids)
            return replace(raw, text=text, tokens=tokens)
        pieces = _pieces(gathered.raw_pieces, raw.text)
        if pieces is None:
            return raw
        text, tokens = tokens_of_pieces(raw.token_ids, pieces)
        return replace(raw, text=text, tokens=tokens)


def _pieces(reported: Sequence[bytes | str] | None, text: str | None) -> tuple[bytes, ...] | None:
    return None if reported is None or text is None else pieces_of_reported(reported, text)


def load_renderer(target: Target, server: Server, tokenizer_info: JSONObject | None = None) -> Renderer:
    """Find template and tokenizer: what the person named first, then what the server says.

    Returns:
        The renderer; a missing part is `None` and said in `note`.

    Raises:
        RenderError: The person named a tokenizer that cannot be loaded.
    """
    found = None if tokenizer_info is None else tokenizer_info.get("chat_template")
    theirs = found if isinstance(found, str) else None
    template = target.chat_template or (theirs if target.tokenizer is None else None)
    source = target.tokenizer or (believable_root(server) if target.guard is None else None)
    if source is None:
        return Renderer(template, None, "The server does not report where its tokenizer is: give one.", theirs)
    try:
        tokenizer = load_tokenizer(source)
        note = f"Tokenizer {Path(str(source)).name}."
        if template is not None:
            return Renderer(template, tokenizer, note, theirs)
        templates = load_templates(source)
        chosen = choose_template(templates, has_tools=False, name=target.template_name) or theirs
        return Renderer(chosen, tokenizer, note, theirs, templates=templates, template_name=target.template_name)
    except RenderError as error:
        if target.tokenizer is not None:
            raise
        note = f"The server's tokenizer {str(source)!r} is not available: {error.message}"
        return Renderer(template, None, note, theirs)
