"""What programs may call by name: `POST /gradio_api/call/diagnose`, then `GET /gradio_api/call/diagnose/EVENT_ID`.

Four names, each with texts as values and one document of the contract as its answer; no server is asked. A call is an
event of the page like any other: it passes the same admission, and has the same limits and sandboxes. Gradio's own list
of events (`/config`, `/gradio_api/info`) stays closed; `GET /gradio_api/call` lists these.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Any

from gradio.events import api

from prompt_debugger.core.base.errors import DebuggerError, RequestError
from prompt_debugger.core.base.types import JSON, JSONObject
from prompt_debugger.core.evidence import parts_of, show_evidence
from prompt_debugger.core.pipeline import check_case
from prompt_debugger.core.report import prompt_to_json, trace_to_json
from prompt_debugger.core.sandbox import in_thread, sandbox_of
from prompt_debugger.ui.rule_pages import rule_page, rule_pages
from prompt_debugger.ui.web.failures import as_visitors_see, shown_as
from prompt_debugger.ui.web.limits import check_length
from prompt_debugger.ui.web.pasted import Reading, read_anything
from prompt_debugger.ui.web.settings import PageSettings
from prompt_debugger.ui.web.work import parse_in_sandbox

_AT_ONCE = 4  # of each name; who calls more waits in line


class Calls:
    """What the names do."""

    def __init__(self, settings: PageSettings) -> None:
        self._settings = settings

    def place(self) -> None:
        """Put the names into the open page, out of everyone's sight."""
        for name, work in self._works().items():
            api(work, api_name=name, api_visibility="private", concurrency_limit=_AT_ONCE)

    def _works(self) -> dict[str, Callable[..., Awaitable[dict[str, Any]]]]:
        refused = shown_as(self._refusal)
        return {one.__name__: refused(one) for one in (self.diagnose, self.render, self.parse, self.explain)}

    async def diagnose(self, text: str, request: str = "", prompt: str = "") -> dict[str, Any]:
        """Say what an answer, a stream, a raw output, a log or an error shows: the document of `inspect`.

        Give `request`, what was asked, and `prompt`, what the model read, where the text does not hold them.
        """
        settings = self._settings
        evidence = await sandbox_of().run(
            read_anything, text, settings.limits, Reading(), hides_keys=settings.public, request=request, prompt=prompt
        )
        trace = await show_evidence(evidence)
        holds: list[JSON] = [part.value for part in parts_of(trace)]
        document = await in_thread(trace_to_json, trace)  # a long one takes a second, which no one else shall wait
        return {"taken_for": evidence.form.value, "holds": holds, **document}

    async def render(self, request: str, chat_template: str = "") -> dict[str, Any]:
        """Return the prompt that a request becomes, by its template or the page's own: the document of `render`."""
        settings = self._settings
        check_length(request + chat_template, settings.limits)
        evidence = await sandbox_of().run(
            read_anything, request, settings.limits, Reading(), hides_keys=settings.public
        )
        if evidence.request is None:
            raise RequestError(f"This is {evidence.words}, not a request.", "Call `diagnose` with it.")
        own = str(settings.target.tokenizer or "")
        case: JSONObject = {
            "request": evidence.request.body,
            "chat_template": chat_template or None,
            "tokenizer": own or (None if chat_template else "lab-model"),
        }
        prompt, findings = await check_case(case)
        return await in_thread(lambda: prompt_to_json(prompt, findings=findings))

    async def parse(
        self, raw: str, message: str = "", tools: str = "", prompt_tail: str = "", finish_reason: str = ""
    ) -> dict[str, Any]:
        """Return the calls of a raw output and what became of them in `message`: the document of `parse`.

        `message` (the assistant message that a server returned) and `tools` (those of the request) are JSON.
        """
        check_length(raw + message + tools + prompt_tail, self._settings.limits)
        case: JSONObject = {"raw": raw, "message": _json("message", message), "tools": _json("tools", tools) or []}
        case.update(prompt_tail=prompt_tail, finish_reason=finish_reason or None)
        document, _ = await parse_in_sandbox(case)
        return document

    async def explain(self, code: str) -> dict[str, Any]:
        """Explain a finding by its code, such as PD401: what it finds, why it matters, examples, sources."""
        page = rule_pages().get(code.strip().upper())
        if page is None:
            raise RequestError(f"There is no rule {code[:40]!r}.", "Codes look like PD401.", field="code")
        return {"code": page.code, "name": page.name, "text": rule_page(page)}

    def _refusal(self, error: DebuggerError) -> dict[str, Any]:
        shown = as_visitors_see(error, self._settings) if self._settings.public else error
        return {"error": shown.to_json()}


def _json(name: str, text: str) -> JSON:
    try:
        value: JSON = json.loads(text) if text.strip() else None
    except (ValueError, RecursionError):
        raise RequestError(f"`{name}` is not JSON.", "Give it as the text of a JSON value.", field=name) from None
    return value
