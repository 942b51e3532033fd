"""Find a tokenizer's files: a folder as it is, or a Hub id."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from prompt_debugger.core.base.assets import LAB_MODEL_NAME, packaged_model_dir
from prompt_debugger.core.base.egress import is_locked
from prompt_debugger.core.base.errors import RenderError, shorten
from prompt_debugger.core.render.tokenizers.fast import FastTokenizer, load_fast
from prompt_debugger.core.render.tokenizers.hub import EGRESS, fetch_files
from prompt_debugger.core.render.tokenizers.settings import TokenizerSettings, read_settings, text_of_template

_HUB_FILES = (
    "tokenizer.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "generation_config.json",
    "chat_template.jinja",
    "chat_template.json",
    "additional_chat_templates/*.jinja",
    "tiktoken.model",
    "tokenization*.py",  # read as text for its split pattern, never run
)


def load_tokenizer(source: str | Path) -> FastTokenizer:
    """Load a vocabulary with its rules.

    Args:
        source: A folder, a `tokenizer.json`, or a Hub id such as `org/model` or, for one of its
            revisions, `org/model@v1.0`; local files come first.

    Raises:
        RenderError: There is none, it cannot be read, or the Hub cannot be reached.
    """
    folder = find_folder(source)
    settings = read_settings(folder)
    name = Path(source).name if Path(source).exists() else str(source)
    if (folder / "tokenizer.json").is_file():
        return load_fast(folder / "tokenizer.json", name, settings)
    if (folder / "tiktoken.model").is_file():
        from prompt_debugger.core.render.tokenizers.tiktoken import load_tiktoken  # rare, and heavy

        return load_tiktoken(folder / "tiktoken.model", name, settings)
    raise RenderError(
        f"{shorten(str(source))} has no `tokenizer.json` or `tiktoken.model`.",
        "Use a folder that has one, or the ids of the server.",
    )


def load_templates(source: str | Path) -> dict[str, str]:
    """Return the chat templates of a folder, file or Hub id by their names; the usual one is called `default`.

    Raises:
        RenderError: The place does not exist, the file is no text or endless, or the Hub cannot be reached.
    """
    path = Path(source)
    if path.is_file() and path.suffix in (".jinja", ".jinja2", ".j2"):
        return {"default": text_of_template(path)}
    return dict(read_settings(find_folder(source)).templates)


def choose_template(templates: Mapping[str, str], *, has_tools: bool, name: str | None = None) -> str | None:
    """Return the template that a request gets; `None` if there is none for it.

    Args:
        templates: By their names.
        has_tools: Whether the request has tools: the reference library takes `tool_use` for it, where there is one.
        name: Of the one that is wanted; `None` for the reference library's choice.

    Raises:
        RenderError: There is none of that name.
    """
    if name is not None:
        if name not in templates:
            known = ", ".join(f"`{one}`" for one in templates) or "none"
            raise RenderError(f"The model has no chat template named {name!r}.", f"It has {known}.")
        return templates[name]
    if has_tools and "tool_use" in templates:
        return templates["tool_use"]
    return templates.get("default")


def load_template(source: str | Path, *, has_tools: bool = False, name: str | None = None) -> str | None:
    """Return the chat template of a folder, file or Hub id; `None` if it has none.

    Args:
        source: A folder, a template file, or a Hub id, which may name a revision after `@`.
        has_tools: Whether the request has tools; models with several templates keep one for them.
        name: Of the template that is wanted, where there are several.

    Raises:
        RenderError: The place does not exist, the Hub cannot be reached, or there is no template of that name.
    """
    return choose_template(load_templates(source), has_tools=has_tools, name=name)


def template_of(settings: TokenizerSettings, *, has_tools: bool) -> str | None:
    """Return the template that the reference library would choose."""
    return choose_template(settings.templates, has_tools=has_tools)


def find_folder(source: str | Path) -> Path:
    """Return the folder that contains the files, fetching them from the Hub if need be; `lab-model` is the lab's own.

    Raises:
        RenderError: The place does not exist, or the Hub cannot be reached.
    """
    path = Path(source)
    if path.is_dir():
        return path
    if path.is_file():
        return path.parent
    text = str(source)
    if text == LAB_MODEL_NAME:
        return packaged_model_dir()
    hub_id, _, revision = text.partition("@")
    if path.is_absolute() or text.startswith((".", "~")) or hub_id.count("/") > 1 or not hub_id.strip():
        raise RenderError(f"No folder {shorten(text)} to load a tokenizer from.", "Check the path.")
    return _fetch(hub_id, revision or None)


def _fetch(hub_id: str, revision: str | None) -> Path:
    is_shut = is_locked(EGRESS)
    answer = fetch_files(hub_id, revision, _HUB_FILES, is_offline=is_shut)
    if answer.folder is not None:
        return Path(answer.folder)
    shown = shorten(_named(hub_id, revision))
    if answer.problem == "RevisionNotFoundError":
        hint = "Give a branch, a tag or a commit of it."
        raise RenderError(f"{shorten(hub_id)} has no revision {shorten(revision or 'main')}", hint)
    if answer.problem == "HFValidationError":
        raise RenderError(f"{shorten(hub_id)} is neither a folder nor a Hub id.", "Hub ids look like `org/model`.")
    if answer.problem == "LocalEntryNotFoundError" and is_shut:
        hint = "Download it on this machine before the page is started, or use a local folder."
        raise RenderError(f"A public page does not access the Hub, and {shown} is not in the cache.", hint)
    if answer.problem == "LocalEntryNotFoundError":
        hint = "Use a local folder, or go online once so that the files can be downloaded."
        raise RenderError(f"The Hub cannot be reached for {shown}, and it is not in the cache.", hint)
    raise RenderError(f"The Hub did not provide {shorten(hub_id)}: {answer.problem}", "Check the id and your access.")


def _named(hub_id: str, revision: str | None) -> str:
    return hub_id if revision is None else f"{hub_id}@{revision}"
