"""The worked cases in `assets/examples`: requests that the lab really runs, none of them canned."""

from __future__ import annotations

import json
from dataclasses import dataclass

from prompt_debugger.core.base.assets import assets_dir
from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.base.types import JSONObject
from prompt_debugger.core.tools.lab import LabSpec


@dataclass(frozen=True, slots=True)
class Example:
    """One worked case.

    Attributes:
        name: File name without its ending; the `id` of the case.
        title: What it shows, a few words.
        story: What happens in it and why, two sentences.
        lab: The lab it needs.
        request_text: The request as JSON text, as a person would paste it.
    """

    name: str
    title: str
    story: str
    lab: LabSpec
    request_text: str


def load_examples() -> tuple[Example, ...]:
    """Return the worked cases in the order in which they teach."""
    folder = assets_dir() / "examples"
    return tuple(_example(name, (folder / f"{name}.json").read_text(encoding="utf-8")) for name in EXAMPLE_NAMES)


def find_example(name: str) -> Example:
    """Return the worked case called `name`.

    Raises:
        RequestError: There is none; the message lists the known ones.
    """
    if name not in EXAMPLE_NAMES:
        raise RequestError(f"There is no example `{name}`.", f"Known examples: {', '.join(EXAMPLE_NAMES)}.")
    return next(example for example in load_examples() if example.name == name)


EXAMPLE_NAMES = (
    "dropped-call",
    "healthy-call",
    "parallel-calls",
    "missing-generation-prompt",
    "polluted-content",
    "truncated-call",
    "wrong-parser",
    "answer-swallowed-as-reasoning",
    "tutorial-tool-types",
)


def _example(name: str, text: str) -> Example:
    data: JSONObject = json.loads(text)
    lab = data["lab"]
    if not isinstance(lab, dict):
        raise RequestError(f"The example `{name}` names no lab.")
    tool_parser, reasoning_parser = lab.get("tool_parser"), lab.get("reasoning_parser")
    spec = LabSpec(
        tool_parser=tool_parser if isinstance(tool_parser, str) else None,
        reasoning_parser=reasoning_parser if isinstance(reasoning_parser, str) else None,
    )
    request_text = json.dumps(data["request"], ensure_ascii=False, indent=2)
    return Example(name, str(data["title"]), str(data["story"]), spec, request_text)
