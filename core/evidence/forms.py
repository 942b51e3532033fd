"""The forms in which something is pasted."""

from __future__ import annotations

from enum import StrEnum


class Form(StrEnum):
    """What a pasted text is."""

    REQUEST = "request"
    OUTPUT = "raw output"
    ANSWER = "chat response"
    STREAM = "streamed response"
    EXCHANGE = "request and response"
    HAR = "HAR recording"
    LINES = "JSON lines"
    RUN = "saved run"
    ERROR = "server error"
    LOG = "log"
    OBJECT = "printed object"
    COMMAND = "server command"
    FRAGMENT = "JSON fragment"
    HTTP = "HTTP transcript"
    SEVERAL = "several at once"
    REPORT = "report in words"
