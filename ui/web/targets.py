"""The fields under Target → `Target`: whom a request is sent to, and who may see the key."""

from __future__ import annotations

from dataclasses import replace

from core.errors import RequestError
from core.pipeline import Target
from ui.web.labs import PageLabs
from ui.web.settings import PageSettings

TOOL_PARSERS = ("kimi_k2", "hermes", "qwen3_coder", "llama3_json", "mistral", "deepseek_v3", "none")
REASONING_PARSERS = ("none", "deepseek_r1", "qwen3", "kimi_k2")


def choose_target(
    settings: PageSettings,
    labs: PageLabs,
    *,
    endpoint: str,
    model: str,
    tokenizer: str,
    tool_parser: str,
    reasoning_parser: str,
) -> Target:
    """Return what the page's fields aim at.

    The key of the operator goes to the operator's endpoint and to no other.
    On a public page nobody but the operator names an endpoint or a tokenizer.

    Raises:
        RequestError: There is nothing to run against, or the address is not one.
    """
    base = settings.target
    tools, reasoning = _named(tool_parser), _named(reasoning_parser)
    endpoint = (base.base_url or "") if settings.public else endpoint.strip()
    if not endpoint:
        if not labs.enabled:
            raise RequestError("there is no server to run against", "Name an endpoint under Target.", field="endpoint")
        spec = replace(base.lab, tool_parser=tools, reasoning_parser=reasoning)
        return replace(base, base_url=None, api_key=None, lab=spec)
    if not endpoint.startswith(("http://", "https://")):
        raise RequestError(
            f"the endpoint is {endpoint!r}, expected an address such as `http://localhost:8000/v1`", field="endpoint"
        )
    is_own = endpoint.rstrip("/") == (base.base_url or "").rstrip("/")
    target = replace(base, base_url=endpoint, api_key=base.api_key if is_own else None)
    if settings.public:
        return target
    return replace(target, model=model.strip() or None, tokenizer=tokenizer.strip() or None)


def _named(name: str) -> str | None:
    return None if name in ("", "none") else name
