"""The command that starts a server with what passed."""

from __future__ import annotations

import shlex

from prompt_debugger.core.check.run import Check


def serve_command(check: Check) -> str | None:
    """Return the command for vLLM; `None` if no parser reads the calls."""
    model, chosen = check.model, check.recommendation
    if chosen.tool_parser is None:
        return None
    source, _, revision = _source(check).partition("@")
    words = ["vllm", "serve", source]
    if revision:
        words += ["--revision", revision]
    words += ["--enable-auto-tool-choice", "--tool-call-parser", chosen.tool_parser]
    if check.parser_file:
        words += ["--tool-parser-plugin", check.parser_file]
    if chosen.reasoning_parser is not None:
        words += ["--reasoning-parser", chosen.reasoning_parser]
    if model.template_file is not None:
        words += ["--chat-template", model.template_file]
    return shlex.join(words)


def _source(check: Check) -> str:
    """Return what a server is started with: the model's own name, or a word in its place."""
    model = check.model
    if model.server is not None:
        return model.server.model_root or model.server.model or "MODEL"
    return model.name if model.folder is not None else "MODEL"
