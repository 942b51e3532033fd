"""The command that starts a server with what passed."""

from __future__ import annotations

import shlex

from prompt_debugger.core.check.model import CheckedModel
from prompt_debugger.core.check.recommend import Recommendation


def serve_command(model: CheckedModel, chosen: Recommendation) -> str | None:
    """Return the command for vLLM; `None` if no parser reads the calls."""
    if chosen.tool_parser is None:
        return None
    source, _, revision = model.name.partition("@") if model.folder is not None else ("MODEL", "", "")
    words = ["vllm", "serve", source]
    if revision:
        words += ["--revision", revision]
    words += ["--enable-auto-tool-choice", "--tool-call-parser", chosen.tool_parser]
    if chosen.reasoning_parser is not None:
        words += ["--reasoning-parser", chosen.reasoning_parser]
    if model.template_file is not None:
        words += ["--chat-template", model.template_file]
    return shlex.join(words)
