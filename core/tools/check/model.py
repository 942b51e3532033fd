"""What is checked: a folder, a hub id or a template alone, with all that its files say."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from prompt_debugger.core.base.errors import RenderError, RequestError
from prompt_debugger.core.base.files import read_named
from prompt_debugger.core.base.json_values import objects_in
from prompt_debugger.core.base.types import JSON, JSONObject, Server
from prompt_debugger.core.render import load_tokenizer
from prompt_debugger.core.render.job import RenderJob
from prompt_debugger.core.render.local import Renderer, run
from prompt_debugger.core.render.request_variables import read_variables
from prompt_debugger.core.render.server import template_facts
from prompt_debugger.core.render.tokenizers.fast import FastTokenizer
from prompt_debugger.core.render.tokenizers.folder import find_folder, template_of
from prompt_debugger.core.render.tokenizers.settings import TokenizerSettings, read_settings
from prompt_debugger.core.tools.check.ideal import Render

# Templates join these to text; without a tokenizer any text will do.
_PLACEHOLDERS: Mapping[str, str] = {"bos_token": "<s>", "eos_token": "</s>"}


@dataclass(frozen=True, slots=True)
class CheckedModel:
    """A template with what lies around it.

    Attributes:
        name: What it was called.
        template: Jinja source that a request with tools is rendered with.
        folder: Where its tokenizer lies; `None` for a template alone.
        tokenizer: Its vocabulary; `None` if there is none.
        settings: What the files next to it say.
        template_file: File that won over the model's own template; `None` if none did.
        server: The running server that was named; `None` if it was not a server.
        evidence: On what it rests which template and tokenizer that server has, a sentence each.
        takes_parts: Whether it renders contents as lists of parts only, as vLLM sends them to it.
    """

    name: str
    template: str
    folder: Path | None = None
    tokenizer: FastTokenizer | None = None
    settings: TokenizerSettings = field(default_factory=TokenizerSettings)
    template_file: str | None = None
    server: Server | None = None
    evidence: tuple[str, ...] = ()
    takes_parts: bool = False

    @property
    def special_tokens(self) -> Mapping[str, str]:
        """Named special tokens as the template sees them."""
        return {**_PLACEHOLDERS, **self.settings.special_tokens}

    @property
    def end_texts(self) -> frozenset[str]:
        """Texts at which generation ends by the files; none where they do not say."""
        ends = {self.settings.special_tokens.get("eos_token", "")}
        if self.tokenizer is not None:
            ends |= {self.tokenizer.decode([one]) for one in self.tokenizer.vocabulary.eos_ids}
        return frozenset(ends - {""})

    def renderer(
        self,
        renderer: Renderer | None = None,
        template: str | None = None,
        *,
        add_generation_prompt: bool | None = None,
    ) -> Render:
        """Return what renders a request with this template, or another, plainly."""

        def render(body: JSONObject) -> str:
            variables = read_variables(
                _in_parts(body) if self.takes_parts else body,
                special_tokens=self.special_tokens,
                template_kwargs={},
                add_generation_prompt=add_generation_prompt,
            )
            job = RenderJob(
                template or self.template, variables.variables, variables.continue_final_message, is_traced=False
            )
            return run(job, renderer).text

        return render


def as_served(model: CheckedModel) -> CheckedModel:
    """Return a model whose template fails for texts and goes through parts as one that gets parts, as vLLM does it."""
    asked: JSONObject = {"messages": [{"role": "user", "content": "Hello"}], "add_generation_prompt": True}
    if model.takes_parts or _renders(model, asked):
        return model
    in_parts = replace(model, takes_parts=True)
    is_detected = _renders(in_parts, asked) and template_facts(model.template).content_format == "openai"
    return in_parts if is_detected else model


def _renders(model: CheckedModel, body: JSONObject) -> bool:
    try:
        model.renderer()(body)
    except RenderError:
        return False
    return True


def _in_parts(body: JSONObject) -> JSONObject:
    """Return a request whose texts are lists of one part each, but for tool results, which vLLM sends as texts."""
    turns: list[JSON] = []
    for turn in objects_in(body.get("messages")):
        content = turn.get("content")
        if turn.get("role") == "tool":
            texts = [part.get("text") for part in objects_in(content)]
            turns.append({**turn, "content": "\n".join(map(str, texts))} if isinstance(content, list) else turn)
            continue
        parts: list[JSON] = [{"type": "text", "text": content}] if isinstance(content, str) else []
        turns.append(turn if isinstance(content, list) else {**turn, "content": parts})
    return {**body, "messages": turns}


def load_model(source: str | None, *, template_file: str | None = None) -> CheckedModel:
    """Load what is checked.

    Args:
        source: A folder, a hub id that may name a revision after `@`, a template file; `None` with `template_file`.
        template_file: Jinja file that wins over the model's own template.

    Raises:
        RenderError: There is no template, or the place cannot be read.
    """
    if source is not None and Path(source).suffix in (".jinja", ".jinja2", ".j2") and not Path(source).is_dir():
        source, template_file = None, template_file or source
    template = None if template_file is None else _read(template_file)
    if source is None:
        if template is None or template_file is None:
            raise RenderError("There is nothing to check.", "Give a model, or --chat-template.")
        return CheckedModel(Path(template_file).stem, template, template_file=template_file)
    folder = find_folder(source)
    settings = read_settings(folder)
    template = template or template_of(settings, has_tools=True)
    if template is None:
        raise RenderError(f"{source!r} has no chat template.", "Give one with --chat-template.")
    has_vocabulary = any((folder / name).is_file() for name in ("tokenizer.json", "tiktoken.model"))
    tokenizer = load_tokenizer(folder) if has_vocabulary else None
    return CheckedModel(source, template, folder, tokenizer, settings, template_file)


def _read(file: str) -> str:
    try:
        return read_named(file).decode("utf-8")
    except (RequestError, UnicodeDecodeError) as error:
        raise RenderError(f"The template {file!r} cannot be read: {error}", "Check the path.") from None
