"""The address of the pages about the rules: `/rules/` and `/rules/PD401`."""

from __future__ import annotations

from starlette.responses import HTMLResponse, Response

from prompt_debugger.ui.rule_pages import RULES_PATH, rules_html
from prompt_debugger.ui.web.admission.events import App, Message, Receive, Send


class RuleRoute:
    """Answers for the pages about the rules; everything else is passed on."""

    def __init__(self, app: App) -> None:
        self.app = app

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Pass the request on, or answer it."""
        asked = RULES_PATH.fullmatch(scope["path"]) if scope["type"] == "http" else None
        if asked is None:
            await self.app(scope, receive, send)
            return
        page = rules_html(asked[1])
        answer: Response = Response("Not found", status_code=404) if page is None else HTMLResponse(page)
        await answer(scope, receive, send)
