"""All values of one run."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import field
from typing import ClassVar

from prompt_debugger.core.base.types.base import LEFT_OUT_IF_NONE, Api, Basis, JSONObject
from prompt_debugger.core.base.types.completion import ChatResult, Completion, Server, ServerGrammar
from prompt_debugger.core.base.types.finding import Finding, Verdict
from prompt_debugger.core.base.types.frozen import value
from prompt_debugger.core.base.types.prompt import Prompt, PromptDifference
from prompt_debugger.core.base.types.reading import Parse
from prompt_debugger.core.base.types.request import Notice, Request


@value(frozen=True, slots=True)
class Vocabulary:
    """What rules may know of the tokenizer.

    Attributes:
        size: Number of ids.
        special: Text by id of the special tokens.
        bos_id: Id of BOS, if any.
        eos_ids: Ids that end generation.
        adds_bos: Whether the tokenizer adds BOS itself.
    """

    size: int
    special: Mapping[int, str]
    bos_id: int | None = None
    eos_ids: tuple[int, ...] = ()
    adds_bos: bool = False


@value(frozen=True, slots=True)
class Refusal:
    """A server's word that it will not, or cannot, answer a request.

    Attributes:
        status: HTTP status; `None` where the words were pasted without it.
        message: What the server said, whole.
        field: Path of the request field that the server named, if any.
        code: Its own code or type of error, such as `insufficient_quota`; an exception's name where it was pasted.
        output: What the model wrote, where the server sends it with its message, such as `failed_generation`.
        around: What surrounded the words where they were pasted, such as the frames of a traceback.
    """

    status: int | None
    message: str
    field: str | None = None
    code: str | None = dataclasses.field(default=None, metadata=LEFT_OUT_IF_NONE)
    output: str | None = dataclasses.field(default=None, metadata=LEFT_OUT_IF_NONE)
    around: str | None = dataclasses.field(default=None, metadata=LEFT_OUT_IF_NONE)

    @property
    def label(self) -> str:
        """Its status for a person: `HTTP 400`, or that it is not known."""
        return "status not known" if self.status is None else f"HTTP {self.status}"


@value(frozen=True, slots=True)
class Trace:
    """All values of one run; `None` where a stage has not run.

    Attributes:
        request: What was asked.
        sent: The body that went to the server, with what the debugger added; of another API, what it converts to.
        server: The server under test.
        evidence: What the run rests on.
        prompt: The prompt that the server used, as far as it is known.
        prompt_tail: The end of the prompt, where no more of it is known; "" if not even that is.
        local_prompt: Our render of the request as pasted.
        prompt_difference: Where the two diverge.
        generation_prompt: Text that opens the assistant turn by the template; "" if it has none.
        vocabulary: What is known of the tokenizer.
        notes: What could not be obtained or checked, and why, a sentence each.
        refusal: The server would not take the request; there is no answer, at most raw output.
        raw_again: Output of raw completion on the same prompt ids, run in addition to the chat.
        chat: The chat answer as the request asked for it, whole or streamed.
        chat_stream: The streamed chat answer; the same one where the request asks for a stream.
        chat_whole: The answer that is not streamed, where the request asks for a stream and this was requested as well.
        parse: Census, ledger, other parsers.
        findings: Worst first.
        verdict: The run in one sentence.
        title: A name that a person gave to the run; "" without one.
        started: When it began, ISO 8601 in UTC; "" if that is not known.
        api: By which API the server was asked.
        sent_native: The body that went to it, where that is not chat completions.
        lost: What has no place in that API and was left out of the body, and where it was.
        server_grammar: The grammar that the server puts on the answer, where it renders the request itself.
    """

    request: Request
    sent: JSONObject = field(default_factory=dict)
    server: Server | None = None
    evidence: Basis | None = None
    prompt: Prompt | None = None
    local_prompt: Prompt | None = None
    prompt_difference: PromptDifference | None = None
    generation_prompt: str | None = None
    vocabulary: Vocabulary | None = None
    notes: tuple[str, ...] = ()
    refusal: Refusal | None = None
    raw: Completion | None = None
    raw_again: Completion | None = None
    chat: ChatResult | None = None
    chat_stream: ChatResult | None = None
    chat_whole: ChatResult | None = None
    parse: Parse | None = None
    findings: tuple[Finding, ...] = ()
    verdict: Verdict | None = None
    title: str = ""
    started: str = ""
    prompt_tail: str = ""
    api: Api = Api.CHAT
    sent_native: JSONObject | None = None
    lost: tuple[Notice, ...] = ()
    server_grammar: ServerGrammar | None = field(default=None, metadata=LEFT_OUT_IF_NONE)
    _repr_html_: ClassVar[Callable[[Trace], str] | None] = None  # the package sets it: views are made in `ui`

    @property
    def server_kind(self) -> str:
        """The software of the server under test, such as `vllm`; "" where no server is known."""
        return "" if self.server is None else self.server.kind

    @property
    def tool_parser(self) -> str | None:
        """The tool parser that the server runs with; `None` where it has none, or nothing is known of it."""
        return None if self.server is None else self.server.tool_parser

    @property
    def reasoning_parser(self) -> str | None:
        """The reasoning parser that the server runs with; `None` where it has none, or nothing is known of it."""
        return None if self.server is None else self.server.reasoning_parser

    @property
    def max_model_len(self) -> int | None:
        """The tokens that the server's context holds; `None` where that is not known."""
        return None if self.server is None else self.server.max_model_len

    @property
    def server_warnings(self) -> tuple[str, ...]:
        """The warnings of the server's log; () where none is at hand."""
        return () if self.server is None else self.server.log_warnings
