"""What can go wrong at our own boundaries, and whose fault it is.

    DebuggerError
    ├── RequestError    the pasted request cannot be read        (caller)
    ├── RenderError     the template or tokenizer failed         (template)
    ├── BackendError    the server failed or cannot be reached   (server)
    ├── LabError        the lab server did not start or died     (lab)
    ├── EngineError     a parser helper process failed           (helper)
    ├── SandboxError    work on someone's text hit a limit      (text)
    ├── MachineError    disk, memory, descriptors, port          (machine)
    └── PluginError     one of our formats or rules is bad       (us)

Model output and pasted data are data: they become attempts and findings, and
never raise past the stage that reads them. A message says what happened, with
the value and what was expected; `hint` says the next step.
"""

from __future__ import annotations

from prompt_debugger.core.base.types import JSON, JSONObject, Unread


class DebuggerError(Exception):
    """Anything this program raises on purpose.

    Attributes:
        message: What happened, one sentence.
        hint: The next step; "" if there is none.
    """

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __reduce__(self) -> tuple[object, ...]:
        return (_rebuild, (type(self), dict(self.__dict__)))

    def facts(self) -> JSONObject:
        """Return the machine-readable facts besides type and message."""
        return {}

    def to_json(self) -> JSONObject:
        """Return the `error` object of the outside contract."""
        error: JSONObject = {"type": type(self).__name__, "message": self.message}
        if self.hint:
            error["hint"] = self.hint
        error.update({key: value for key, value in self.facts().items() if value is not None})
        return error


class RequestError(DebuggerError):
    """The pasted request cannot be read.

    Attributes:
        line: Line of the pasted text, from 1.
        column: Column, from 1.
        field: Path of the field at fault.
    """

    def __init__(
        self,
        message: str,
        hint: str = "",
        *,
        line: int | None = None,
        column: int | None = None,
        field: str | None = None,
    ) -> None:
        super().__init__(message, hint)
        self.line = line
        self.column = column
        self.field = field

    def facts(self) -> JSONObject:
        """Return line, column and field."""
        return {"line": self.line, "column": self.column, "field": self.field}


class RenderError(DebuggerError):
    """The template or the tokenizer failed.

    Attributes:
        template_line: Line of the template, from 1, where known.
        template_column: Column of the template, from 1, where known.
        source_line: That line of the template, where it is available.
    """

    def __init__(
        self,
        message: str,
        hint: str = "",
        *,
        template_line: int | None = None,
        template_column: int | None = None,
        source_line: str | None = None,
    ) -> None:
        super().__init__(message, hint)
        self.template_line = template_line
        self.template_column = template_column
        self.source_line = source_line

    def facts(self) -> JSONObject:
        """Return template line and column."""
        return {"template_line": self.template_line, "template_column": self.template_column}


class BackendError(DebuggerError):
    """The server failed, or cannot be reached.

    Attributes:
        status: HTTP status, if there was an answer.
        body: The answer as received, shortened.
        kind: Which way it failed: `unreachable`, `timeout`, `status`, `broken-stream`, `not-json`, `refused`, ….
        server_message: The server's own words with a bad status, whole; "" if it said none.
        field: Path of the request field that it named, if any.
        code: Its own code or type of error, if it gave one.
        output: What the model wrote, where the server sends it along with its error message.
        retry_after_s: Seconds that it asks to wait before the next try, if it does.
        unread: Why the answer was not read to its end, where it is we who stopped: `cut` or `too-much`.
    """

    def __init__(
        self,
        message: str,
        hint: str = "",
        *,
        kind: str = "status",
        status: int | None = None,
        body: str = "",
        server_message: str = "",
        field: str | None = None,
        code: str | None = None,
        output: str | None = None,
        retry_after_s: float | None = None,
        unread: Unread | None = None,
    ) -> None:
        super().__init__(message, hint)
        self.kind = kind
        self.status = status
        self.body = body
        self.server_message = server_message
        self.field = field
        self.code = code
        self.output = output
        self.retry_after_s = retry_after_s
        self.unread = unread

    def facts(self) -> JSONObject:
        """Return kind, status and body."""
        return {"kind": self.kind, "status": self.status, "body": self.body or None}


class LabError(DebuggerError):
    """The lab server did not start, or died.

    Attributes:
        log_tail: The last lines it wrote.
    """

    def __init__(self, message: str, hint: str = "", *, log_tail: str = "") -> None:
        super().__init__(message, hint)
        self.log_tail = log_tail

    def facts(self) -> JSONObject:
        """Return the log's tail."""
        return {"log_tail": self.log_tail or None}


class EngineError(DebuggerError):
    """A parser helper process failed."""


class SandboxError(DebuggerError):
    """Work on someone's text hit a limit, or the process that did it failed; it was ended.

    Attributes:
        limit: Which one: `cpu`, `wall`, `memory`, `answer`, `crash`, `stopped`, `busy`, `start`, `value`,
            `fault`.
    """

    def __init__(self, message: str, hint: str = "", *, limit: str = "crash") -> None:
        super().__init__(message, hint)
        self.limit = limit

    def facts(self) -> JSONObject:
        """Return the limit."""
        return {"limit": self.limit}


class MachineError(DebuggerError):
    """The machine lacks what the program needs; `core.base.machine` has the words for it.

    Attributes:
        kind: Which fault: `disk-full`, `disk`, `read-only`, `descriptors`, `memory`, `processes`, `port`.
        field: The option that may be chosen differently, if there is one.
    """

    def __init__(self, message: str, hint: str = "", *, kind: str = "disk", field: str | None = None) -> None:
        super().__init__(message, hint)
        self.kind = kind
        self.field = field

    def facts(self) -> JSONObject:
        """Return kind and field."""
        return {"kind": self.kind, "field": self.field}


class PluginError(DebuggerError):
    """One of our formats, rules or writers breaks its contract."""


def shorten(value: object, limit: int = 80) -> str:
    """Return `repr(value)`, cut to at most `limit` characters."""
    text = repr(value[: limit + 1] if isinstance(value, str) else value)
    return text if len(text) <= limit else text[: limit - 1] + "…"


def _rebuild(cls: type[DebuggerError], state: dict[str, JSON]) -> DebuggerError:
    error = cls.__new__(cls)
    Exception.__init__(error, state["message"])
    error.__dict__.update(state)
    return error
