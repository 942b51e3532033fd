"""What the files next to a vocabulary say: special tokens, chat templates, end tokens."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from prompt_debugger.core.base.errors import RenderError
from prompt_debugger.core.base.types import JSON, JSONObject
from prompt_debugger.core.render.tokenizers.untrusted import refuse_many

_NAMED = ("bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token")


_MAX_IDS = 10_000_000  # the largest vocabularies have a quarter of a million
_MAX_TEMPLATES = 100
_MAX_BYTES = 64 << 20  # the longest configuration that is known has 10 MB


@dataclass(frozen=True, slots=True)
class AddedEntry:
    """A vocabulary entry that the configuration adds or re-declares."""

    content: str
    is_special: bool
    lstrip: bool = False
    rstrip: bool = False
    single_word: bool = False
    normalized: bool = False


@dataclass(frozen=True, slots=True)
class TokenizerSettings:
    """What the configuration files say.

    Attributes:
        special_tokens: Text of the named special tokens, such as `bos_token`, as templates see them.
        more_special: Texts of further special tokens.
        added: Declared entries by id.
        templates: Chat templates by name; `default` is the usual one.
        eos_ids: Ids that end generation by `generation_config.json`.
        add_bos: Whether the configuration asks for BOS; `None` if it does not say.
        config: `tokenizer_config.json` as it is.
    """

    special_tokens: Mapping[str, str] = field(default_factory=dict)
    more_special: tuple[str, ...] = ()
    added: Mapping[int, AddedEntry] = field(default_factory=dict)
    templates: Mapping[str, str] = field(default_factory=dict)
    eos_ids: tuple[int, ...] = ()
    add_bos: bool | None = None
    config: JSONObject = field(default_factory=dict)


def read_settings(folder: Path) -> TokenizerSettings:
    """Read the files that are next to a vocabulary; absent ones are ignored.

    Raises:
        RenderError: A file is there and is not JSON, or declares more tokens than any model has.
    """
    config = _read_object(folder / "tokenizer_config.json")
    legacy = _read_object(folder / "special_tokens_map.json")
    named = {name: text for name in _NAMED if (text := _token_text(config.get(name, legacy.get(name)))) is not None}
    extra = config.get("extra_special_tokens", config.get("model_specific_special_tokens"))
    if isinstance(extra, dict):
        named |= {name: text for name, value in extra.items() if (text := _token_text(value)) is not None}
    add_bos = config.get("add_bos_token")
    return TokenizerSettings(
        special_tokens=named,
        more_special=_more_special(config, legacy),
        added=_added(config.get("added_tokens_decoder"), folder / "tokenizer_config.json"),
        templates=_templates(folder, config),
        eos_ids=_eos_ids(folder),
        add_bos=add_bos if isinstance(add_bos, bool) else None,
        config=config,
    )


def _read_object(path: Path) -> JSONObject:
    if not path.is_file():
        return {}
    try:
        data = json.loads(_text_of(path))
    except ValueError as error:
        raise RenderError(f"`{path.name}` is not JSON: {error}", "Download the file again.") from error
    except RecursionError:
        raise RenderError(f"`{path.name}` is nested too deeply to be read.", "Download the file again.") from None
    return data if isinstance(data, dict) else {}


def _token_text(value: JSON) -> str | None:
    if isinstance(value, dict):
        value = value.get("content")
    return value if isinstance(value, str) else None


def _more_special(config: JSONObject, legacy: JSONObject) -> tuple[str, ...]:
    found: list[str] = []
    for value in (
        config.get("extra_special_tokens"),
        config.get("additional_special_tokens"),
        legacy.get("additional_special_tokens"),
    ):
        if isinstance(value, list):
            found.extend(text for item in value if (text := _token_text(item)) is not None)
    return tuple(dict.fromkeys(found))


def _added(value: JSON, path: Path) -> dict[int, AddedEntry]:
    if not isinstance(value, dict):
        return {}
    refuse_many(value, path)
    return {
        token_id: AddedEntry(
            content=str(item["content"]),
            is_special=bool(item.get("special")),
            lstrip=bool(item.get("lstrip")),
            rstrip=bool(item.get("rstrip")),
            single_word=bool(item.get("single_word")),
            normalized=bool(item.get("normalized")),
        )
        for key, item in value.items()
        if (token_id := _token_id(key)) is not None and isinstance(item, dict) and isinstance(item.get("content"), str)
    }


def _token_id(key: str) -> int | None:
    """Return the id that a key names; `None` for one that no vocabulary has: counting up to it would take as long."""
    if not (key.isascii() and key.isdigit() and len(key) <= len(str(_MAX_IDS))):
        return None
    return int(key) if int(key) < _MAX_IDS else None


def _templates(folder: Path, config: JSONObject) -> dict[str, str]:
    """Return the templates; files next to the configuration win over what is in it, as in the reference library."""
    found: dict[str, str] = {}
    if (folder / "chat_template.jinja").is_file():
        found["default"] = _own_text(folder, folder / "chat_template.jinja")
    for path in sorted((folder / "additional_chat_templates").glob("*.jinja"))[:_MAX_TEMPLATES]:
        if path.is_file():  # a pipe of that name would be waited for
            found[path.stem] = _own_text(folder, path)
    if found:
        return found
    found = _named_templates(config.get("chat_template"))
    return found or _named_templates(_read_object(folder / "chat_template.json").get("chat_template"))


def _own_text(folder: Path, path: Path) -> str:
    """Return the text of a template, which ends up in prompts and reports, unless it is a link to elsewhere.

    Raises:
        RenderError: It leads out of the folder, other than to where the Hub's cache keeps the files of a model.
    """
    home = folder.resolve()
    if home.parent.name == "snapshots":
        home = home.parents[1]
    if not path.resolve().is_relative_to(home):
        raise RenderError(
            f"`{path.name}` is a symlink outside the model folder.",
            "Put the template itself there, or give the file with --chat-template.",
        )
    return text_of_template(path)


def text_of_template(path: Path) -> str:
    """Return the text of a template that someone named.

    Raises:
        RenderError: It is longer than a template is, or no text.
    """
    try:
        return _text_of(path)
    except UnicodeDecodeError:
        raise RenderError(f"`{path.name}` is not UTF-8.", "Download the file again.") from None


def _text_of(path: Path) -> str:
    """Return the text of a file that is as long as such files are.

    Raises:
        RenderError: It is longer than that.
        UnicodeDecodeError: It is not text.
    """
    if path.stat().st_size > _MAX_BYTES:
        raise RenderError(
            f"`{path.name}` is longer than {_MAX_BYTES >> 20} MB.", "Check that it is a file of the model."
        )
    return path.read_text(encoding="utf-8")


def _named_templates(value: JSON) -> dict[str, str]:
    if isinstance(value, str):
        return {"default": value}
    if isinstance(value, dict):
        return {name: text for name, text in value.items() if isinstance(text, str)}
    if isinstance(value, list):
        entries = [item for item in value if isinstance(item, dict)]
        return {str(item.get("name")): text for item in entries if isinstance(text := item.get("template"), str)}
    return {}


def _eos_ids(folder: Path) -> tuple[int, ...]:
    value = _read_object(folder / "generation_config.json").get("eos_token_id")
    values = value if isinstance(value, list) else [value]
    return tuple(item for item in values if isinstance(item, int))
