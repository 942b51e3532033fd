"""A request in the forms in which people pass it on: JSON, a shell command, a program."""

from __future__ import annotations

import pprint
from dataclasses import replace
from typing import Literal

from prompt_debugger.core.base.types import JSONObject, Trace
from prompt_debugger.core.report.redact import redact_body
from prompt_debugger.core.report.repeat import curl_of
from prompt_debugger.core.request import body_text

Form = Literal["json", "curl", "python"]
FORMS: tuple[Form, ...] = ("json", "curl", "python")
NAMES = {"json": "JSON", "curl": "curl", "python": "Python"}
_WIDTH = 110


def request_as(form: Form, body: JSONObject, trace: Trace) -> str:
    """Return a request for the server of a run in one form; a key in it is taken out, as from all that is passed on."""
    body = redact_body(body)
    if form == "json":
        return body_text(body) + "\n"
    if form == "curl":
        return curl_of(replace(trace, sent=body)) + "\n"
    return _python(body, trace)


def _python(body: JSONObject, trace: Trace) -> str:
    """Return a program with the `openai` library; whatever that does not know is sent as it is, too."""
    server = trace.server
    base_url = server.base_url if server is not None else "http://localhost:8000/v1"
    named = {name: body.get(name) for name in ("model", "messages")}
    rest = {name: value for name, value in body.items() if name not in (*named, "stream")}
    key = ', api_key="none"' if server is None or server.is_lab else ""  # else taken from OPENAI_API_KEY
    return "\n".join(
        (
            "from openai import OpenAI",
            "",
            f"client = OpenAI(base_url={base_url!r}{key})",
            f"messages = {_literal(named['messages'])}",
            f"more = {_literal(rest)}",
            f"response = client.chat.completions.create(model={named['model']!r}, messages=messages, extra_body=more)",
            "print(response.choices[0].message)",
            "",
        )
    )


def _literal(value: object) -> str:
    return pprint.pformat(value, width=_WIDTH, sort_dicts=False)
