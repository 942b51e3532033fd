"""What Open WebUI says in place of the words of the server."""

from __future__ import annotations

from prompt_debugger.core.base.types import Stage
from prompt_debugger.core.known_errors.base import Cause, KnownError

MAKER = "Open WebUI"

SENTENCES: tuple[KnownError, ...] = (
    KnownError(
        "Ollama: {status:int}, message='{phrase}', url='{url}'",
        Stage.COMPLETE,
        "Ollama refused the request, and Open WebUI passes on the status without Ollama's reason.",
        "Send the same request to Ollama itself (port 11434), or check its log: the reason is there. A 400 for a "
        "request with tools usually means that the model's template does not support tools.",
        "https://github.com/open-webui/open-webui/issues/14955",
        example="Ollama: 400, message='Bad Request', url='http://host:11434/api/chat'",
        cause=Cause.UNCLEAR,
    ),
)
