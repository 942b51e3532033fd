"""Errors as HTTP shows them: an answer with its status line, a proxy's page, a bare status → `Refusal`."""

from __future__ import annotations

import re

from prompt_debugger.core.base.http_status import STATUS_NAMES, status_name
from prompt_debugger.core.base.types import Refusal
from prompt_debugger.core.complete.backends.error_words import title_of_page
from prompt_debugger.core.evidence.errors.values import error_of_value
from prompt_debugger.core.evidence.values.json_of import json_of

_HEAD = re.compile(r"\A\s{0,9}(?:< )?HTTP/[\d.]{1,3} (\d{3})\b[^\n]*\n")
_HEAD_LINE = re.compile(r"(?m)^[ \t]{0,9}(?:< )?HTTP/[\d.]{1,3} (\d{3})\b[^\n]{0,200}$")
_MAX_OF_HEAD = 6_000
_BODY = re.compile(r"\n(?:\n|(?=[ \t]{0,9}[{\[<]))")  # an empty line, or a line that is no header
_MAX_OF_STATUS = 120
_STATUS_LINE = re.compile(
    r"(?P<label>(?:(?:HTTP(?:/[\d.]{1,3})?|status(?: code)?|error(?: code)?)\s{0,3}[:=]?\s{0,3}){0,3})"
    r"(?P<status>[45]\d\d)(?P<phrase>[:\s]{0,3}[A-Za-z][A-Za-z' -]{2,60}|)\.?",
    re.IGNORECASE,
)
_ERROR_PAGE = re.compile(
    r"\s{0,99}(?:<!doctype html[^>]{0,200}>\s{0,99})?<html\b.{0,2000}?<title>\s{0,99}"
    r"(?P<said>(?P<status>[45]\d\d)\b[^<]{0,200})",
    re.IGNORECASE | re.DOTALL,
)


def error_of_head(text: str) -> Refusal | None:
    """Read an answer with its status line: `HTTP/1.1 400 Bad Request`, headers, body."""
    head = _HEAD.match(text)
    if head is None or int(head[1]) < 400:
        return None
    status = int(head[1])
    body = next(iter(_BODY.split(text.replace("\r\n", "\n"), maxsplit=1)[1:]), "")
    found = error_of_value(json_of(body), status)
    if found is None:
        phrase = title_of_page("", body) or " ".join(body.split())
        found = Refusal(status, phrase) if phrase else None
    return found


def head_at_end(text: str) -> tuple[int, str] | None:
    """Return the status of a refusal whose head a text ends with, and that line."""
    found = list(_HEAD_LINE.finditer(text[-_MAX_OF_HEAD:]))
    return (int(found[-1][1]), found[-1][0].strip()) if found and int(found[-1][1]) >= 400 else None


def error_of_status_line(text: str) -> Refusal | None:
    """Read a bare status: `502 Bad Gateway`, `HTTP 404`; a number among other words does not count."""
    stripped = text.strip()
    line = _STATUS_LINE.fullmatch(stripped) if len(stripped) <= _MAX_OF_STATUS else None
    if line is None:
        return None
    status, phrase = int(line["status"]), line["phrase"].strip(": \t\n")
    names = [name.lower() for name in STATUS_NAMES.get(status, ())]
    is_status = phrase.lower() in names if phrase else bool(line["label"] and names)
    return Refusal(status, phrase or status_name(status)) if is_status else None


def error_of_page(text: str) -> Refusal | None:
    """Read the source of a page that a proxy shows in place of an answer; its title begins with the status."""
    page = _ERROR_PAGE.match(text)
    if page is None:
        return None
    return Refusal(int(page["status"]), page["said"].strip())
