"""What a lab server is to be: model, parsers, limits. Values only, nothing is started."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from prompt_debugger.core.base.assets import LAB_MODEL_NAME, packaged_model_dir
from prompt_debugger.core.base.errors import LabError
from prompt_debugger.core.base.types import JSON


@dataclass(frozen=True, slots=True)
class LabSpec:
    """Everything that decides how a lab server is started; two equal specs share one server.

    Attributes:
        model_dir: Model folder, or hub id if no such folder exists; kept as text, a folder as an absolute path.
        served_model_name: Name that requests use; `None` means `lab-model` for our model, else the model's own.
        tool_parser: vLLM's name of the tool parser; `None` for no automatic tool choice.
        reasoning_parser: vLLM's name of the reasoning parser; `None` for none.
        chat_template: Template file in place of the model's own; `None` for its own.
        max_model_len: Context length in tokens.
        kv_cache_bytes: Size of the key-value cache in bytes.
        default_chat_template_kwargs: Template variables that requests need not send.
        extra_args: Further arguments for vLLM, as on its command line.
        python: Interpreter of the environment that holds vLLM; "" lets `core.base.interpreter` decide at each boot.
        kind: `engine` generates; `renderer` has no engine, and needs tokenizer files only.
        port: Port on 127.0.0.1; `None` for any free one.
        dev_mode: Whether vLLM offers `/server_info` and its other development endpoints.
    """

    model_dir: Path | str = field(default_factory=packaged_model_dir)
    served_model_name: str | None = None
    tool_parser: str | None = "kimi_k2"
    reasoning_parser: str | None = None
    chat_template: Path | None = None
    max_model_len: int = 2048
    kv_cache_bytes: int = 33_554_432
    default_chat_template_kwargs: Mapping[str, JSON] = field(default_factory=dict, hash=False)
    extra_args: tuple[str, ...] = ()
    python: str = ""
    kind: Literal["engine", "renderer"] = "engine"
    port: int | None = None
    # Off: any page in the user's browser may post to 127.0.0.1, and these endpoints pause the engine and write files.
    dev_mode: bool = False

    def __post_init__(self) -> None:
        is_folder = isinstance(self.model_dir, Path) or _looks_like_path(self.model_dir)
        model = str(Path(self.model_dir).expanduser().absolute()) if is_folder else str(self.model_dir)
        object.__setattr__(self, "model_dir", model)
        if self.chat_template is not None:
            object.__setattr__(self, "chat_template", Path(self.chat_template).expanduser().absolute())
        object.__setattr__(self, "default_chat_template_kwargs", dict(self.default_chat_template_kwargs))

    @property
    def is_hub_id(self) -> bool:
        """Whether the model comes from the Hub and not from a folder."""
        return not Path(self.model_dir).is_absolute()

    @property
    def is_lab_model(self) -> bool:
        """Whether the model is the miniature one that comes with this program."""
        return self.model_dir == str(packaged_model_dir().absolute())

    @property
    def model(self) -> str:
        """Name that requests use."""
        if self.served_model_name is not None:
            return self.served_model_name
        if self.is_lab_model:
            return LAB_MODEL_NAME
        return str(self.model_dir) if self.is_hub_id else Path(self.model_dir).name


def check_spec(spec: LabSpec) -> None:
    """Refuse a spec that cannot work, before half a minute is spent on finding out.

    Raises:
        LabError: A file is missing.
    """
    if spec.chat_template is not None and not spec.chat_template.is_file():
        raise LabError(f"There is no chat template at `{spec.chat_template}`.", "Give an existing Jinja file.")
    if spec.is_hub_id:
        return
    folder = Path(spec.model_dir)
    if not folder.is_dir():
        hint = "Give a folder that contains `config.json` and `tokenizer.json`, or a Hub id."
        if spec.is_lab_model:
            hint = "Create the lab model with `python scripts/train_lab_model.py`, or give another model."
        raise LabError(f"There is no model folder `{folder}`.", hint)
    if spec.kind == "engine" and not (folder / "config.json").is_file():
        raise LabError(
            f"`{folder}` has no `config.json`, so vLLM cannot generate with it.",
            "With only tokenizer files, only the renderer can run: prompts and parsing, no completions.",
        )


def _looks_like_path(name: str) -> bool:
    """Return whether a text names a folder: it exists, or is written as a path."""
    return Path(name).expanduser().is_dir() or name.startswith((".", "~", os.sep))
