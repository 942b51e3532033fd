"""Which template and tokenizer the request in the editor is rendered with, apart from any run.

The lab's files are available whether or not a lab may be booted. Of an endpoint it is
what the person named under Target, else what its last run showed. On a public page
nothing that a visitor types reaches the disk or the network.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.base.types import JSONObject, Prompt, Server, Trace
from prompt_debugger.core.pipeline.cases import cached_tokenizer
from prompt_debugger.core.pipeline.rendering import Renderer, load_renderer
from prompt_debugger.core.pipeline.target import Target
from prompt_debugger.core.render import choose_template, load_templates
from prompt_debugger.core.tools.experiments import RenderSetup
from prompt_debugger.ui.web.labs import PageLabs
from prompt_debugger.ui.web.settings import PageSettings
from prompt_debugger.ui.web.targets import TargetFields, choose_target

NO_TEMPLATES: Mapping[str, str] = MappingProxyType({})


class FoundSetup(NamedTuple):
    """A template and a tokenizer, where they come from in words, and all templates of the model by their names."""

    setup: RenderSetup
    source: str
    templates: Mapping[str, str] = NO_TEMPLATES
    template_name: str = ""


def find_setup(settings: PageSettings, labs: PageLabs, fields: TargetFields, trace: Trace | None) -> FoundSetup:
    """Return what the target of the page renders with.

    Raises:
        RequestError: No template is known for the endpoint.
        RenderError: The named tokenizer cannot be loaded.
    """
    endpoint = fields.endpoint.strip() or ((settings.target.base_url or "") if settings.public else "")
    if not endpoint:
        named = "" if settings.public else fields.tokenizer.strip()
        return _local_setup(settings.target, named, fields.template_name)
    target = choose_target(settings, labs, fields)
    last = trace if trace is not None and _is_of(trace, target.base_url) else None
    server = last.server if last is not None and last.server is not None else Server(endpoint)
    prompt = None if last is None else last.local_prompt or last.prompt
    # What a server says of its files is not believed where untrusted users choose the server.
    root = None if settings.public else server.model_root
    renderer = _load(target.tokenizer, target.chat_template, endpoint, root)
    templates = renderer.templates if len(renderer.templates) > 1 else NO_TEMPLATES
    name = fields.template_name if fields.template_name in templates else ""
    template = templates.get(name) or _template_of(prompt) or renderer.template
    if template is None:
        raise RequestError(
            f"No template is known for {endpoint}.", "Give its tokenizer under Target, or run once.", field="tokenizer"
        )
    tokenizer = renderer.tokenizer
    named = "no tokenizer available, so words are compared" if tokenizer is None else f"tokenizer `{tokenizer.name}`"
    setup = RenderSetup(template, tokenizer, template_kwargs=server.default_template_kwargs)
    return FoundSetup(setup, f"Rendered here with the template of {endpoint}; {named}.", templates, name)


def second_setup(settings: PageSettings, first: RenderSetup, *, template: str, tokenizer: str) -> FoundSetup:
    """Return the other setup of a comparison; what is left empty is the first one's.

    Raises:
        RequestError: Nothing was given, or a tokenizer on a public page.
        RenderError: The tokenizer cannot be loaded.
    """
    source = tokenizer.strip()
    if source and settings.public:
        raise RequestError("A public page does not load additional tokenizers.", "Paste a second template instead.")
    if not source and not template.strip():
        raise RequestError("There is no second setup.", "Paste a second template, or give a second tokenizer.")
    made, words = first, []
    if source:
        own = None if template.strip() else _template_at(source)
        made = replace(first, tokenizer=cached_tokenizer(source), template=own or first.template)
        words.append(f"tokenizer `{Path(source).name}`" + (" with its own template" if own else ""))
    if template.strip():
        made = replace(made, template=template)
        words.insert(0, "the second template")
    return FoundSetup(made, " and ".join(words))


def use_own_template(found: FoundSetup, body: JSONObject) -> FoundSetup:
    """Return what a request is rendered with: a template that it brings along, or of several the one for it."""
    own = body.get("chat_template")
    if not isinstance(own, str) or not own.strip():
        if len(found.templates) < 2 or found.template_name:
            return found
        chosen = choose_template(found.templates, has_tools=bool(body.get("tools")))
        return found if chosen is None else found._replace(setup=replace(found.setup, template=chosen))
    return FoundSetup(replace(found.setup, template=own), f"{found.source} The template is the request's own.")


def keep_edges(template: str, own: str) -> str:
    """Return the editor's text with the whitespace of the model's own template at its ends.

    Gradio's editor is filled with a text stripped of it, and a template may print its last line breaks.
    What someone types there counts as typed; line breaks in front would move every line, and stay away.
    """
    front = own[: len(own) - len(own.lstrip())]
    back = own[len(own.rstrip()) :]
    if "\n" not in front and template[:1].strip():
        template = front + template
    return template + back if template[-1:].strip() else template


def _local_setup(target: Target, named: str, template_name: str) -> FoundSetup:
    """Return the setup of a page that aims at no endpoint: the lab's, unless a tokenizer is named."""
    spec = target.lab
    own = str(target.tokenizer or "")
    source = named or own or str(spec.model_dir)
    template = target.chat_template if source == own or not named else None
    if template is None and spec.chat_template is not None and source == str(spec.model_dir):
        template = spec.chat_template.read_text(encoding="utf-8")
    templates = _templates_at(source) if template is None else NO_TEMPLATES
    name = template_name if template_name in templates else ""
    template = template or choose_template(templates, has_tools=False, name=name or None)
    if template is None:
        raise RequestError(f"{Path(source).name!r} has no chat template.", "Give another tokenizer.", field="tokenizer")
    setup = RenderSetup(template, cached_tokenizer(source), template_kwargs=spec.default_chat_template_kwargs)
    words = f"Rendered here with template and tokenizer of `{Path(source).name}`."
    return FoundSetup(setup, words, templates, name)


def _template_at(source: str) -> str | None:
    return choose_template(_templates_at(source), has_tools=False)


def _templates_at(source: str) -> Mapping[str, str]:
    # A file may change while the page is open; the Hub is asked once.
    return load_templates(source) if Path(source).exists() else _templates_of_hub(source)


@lru_cache(maxsize=8)
def _templates_of_hub(source: str) -> Mapping[str, str]:
    return load_templates(source)


def _is_of(trace: Trace, endpoint: str | None) -> bool:
    """Return whether a run was made on an endpoint: never one of a lab, at whose port another server may be by now."""
    own = None if trace.server is None or trace.server.is_lab else trace.server.base_url
    return own is not None and endpoint is not None and own.rstrip("/") == endpoint.rstrip("/")


def _template_of(prompt: Prompt | None) -> str | None:
    return None if prompt is None else prompt.template


@lru_cache(maxsize=4)
def _load(tokenizer: str | Path | None, template: str | None, base_url: str, model_root: str | None) -> Renderer:
    """Load what a run would load; kept, because a vocabulary takes a second."""
    return load_renderer(
        Target(base_url=base_url, tokenizer=tokenizer, chat_template=template), Server(base_url, model_root=model_root)
    )
