"""What is known of one server software: how it is recognised, what it offers, what its word is worth.

Everything has a default, which is right for a server that speaks the OpenAI endpoints and shows nothing more.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from prompt_debugger.core.base.protocols import RequestChange
from prompt_debugger.core.base.types import Api, JSONObject, Server, ServerOutcome
from prompt_debugger.core.complete.backends.http import HttpConnection
from prompt_debugger.core.complete.backends.llama_cpp import TemplateAnswer, request_template
from prompt_debugger.core.complete.backends.vllm import (
    RenderAnswer,
    request_chat_token_ids,
    request_render,
    request_text,
    request_tokenizer_info,
)
from prompt_debugger.core.complete.engines._looks import Looks
from prompt_debugger.core.complete.engines._parser_test import ParserTest
from prompt_debugger.core.complete.engines._start import StartCommand, StartWith
from prompt_debugger.core.formats import ParserNames

VLLM_FIELDS: JSONObject = {"return_token_ids": True, "return_prompt_text": True}


class ControlTokens(StrEnum):
    """What becomes of control tokens in the text that a server returns."""

    KEPT = "kept"
    LEFT_OUT = "left-out"
    NOT_KNOWN = "not-known"


@dataclass(frozen=True, slots=True)
class Marks:
    """How a server is recognised; what its list of models says comes first, then its metrics, then its own paths.

    Attributes:
        owners: Words for `owned_by` in `/v1/models`.
        server_header: How the header `server` of that answer begins; "" for nothing of its own.
        metrics: What only its `/metrics` contains; "" for nothing.
        believed_with: Path that must answer for the above to be believed: a list of models may be anyone's. "" if it
            is believed at once, `None` if never, so that paths which overrule are asked.
        paths: Paths of its own, asked with GET where nothing else is known.
        is_it: Returns from their answers, `{}` for no answer, whether it is this software.
        overrules: Whether this counts also where the list of models names other software.
        order: Where several fit, the lowest is taken.
    """

    owners: tuple[str, ...] = ()
    server_header: str = ""
    metrics: str = ""
    believed_with: str | None = None
    paths: tuple[str, ...] = ()
    is_it: Callable[[Sequence[JSONObject]], bool] = all
    overrules: bool = False
    order: int = 50


@dataclass(frozen=True, slots=True)
class OwnFields:
    """What is added to a request so that the server reports more of the run.

    Attributes:
        chat: To a chat request that is not streamed; `logprobs` only where the request says nothing of it.
        stream: To a streamed one, besides asking for `usage`.
        completion: To a raw completion, besides vLLM's fields.
        by_api: To a request of another API than chat completions, whole or streamed.
        are_known: Whether the server is known to take them: a refusal is then about the request, unless it names them.
        taken_by_api: Its own fields of chat completions that another API of it takes by the same name, and since which
            version.
    """

    chat: JSONObject = field(default_factory=lambda: {**VLLM_FIELDS, "logprobs": True})
    stream: JSONObject = field(default_factory=lambda: dict(VLLM_FIELDS))
    completion: JSONObject = field(default_factory=dict)
    by_api: Mapping[Api, JSONObject] = field(default_factory=dict)
    are_known: bool = False
    taken_by_api: Mapping[Api, Mapping[str, tuple[int, ...]]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class AnswerPlaces:
    """Where a server's answers report on the run: the keys that lead there; empty if they do not.

    vLLM's places are looked at in every answer. An event of a stream has what came since the one before it.

    Attributes:
        output_ids: The ids of the output, from the answer on.
        choice_output_ids: Likewise, from the choice on.
        prompt_ids: The ids of the prompt, from the answer on.
        prompt_text: Its text, from the answer on.
    """

    output_ids: tuple[str, ...] = ()
    choice_output_ids: tuple[str, ...] = ()
    prompt_ids: tuple[str, ...] = ()
    prompt_text: tuple[str, ...] = ()


async def no_pieces(_: HttpConnection, __: str | None, ___: str) -> Mapping[int, bytes | str]:
    """Return no piece."""
    return {}


@dataclass(frozen=True, slots=True)
class Endpoints:
    """How a server is asked for what it offers beyond the OpenAI endpoints, if it has the feature.

    Each function takes the connection first, and raises `BackendError` where the server refuses.

    Attributes:
        render: What would run for a chat request, ids and sampling (feature `render`).
        template: The prompt of a chat request (feature `apply_template`).
        token_ids: The prompt ids of a chat request (feature `tokenize`).
        text: The text of ids, given the model's name and them (feature `detokenize`).
        tokenizer_info: Settings of the tokenizer, `chat_template` among them (feature `tokenizer_info`).
        pieces: By id, the bytes or vocabulary entries of what a text is made of, given the model's name and it.
    """

    render: Callable[[HttpConnection, JSONObject], Awaitable[RenderAnswer]] = request_render
    template: Callable[[HttpConnection, JSONObject], Awaitable[TemplateAnswer]] = request_template
    token_ids: Callable[[HttpConnection, JSONObject], Awaitable[tuple[int, ...]]] = request_chat_token_ids
    text: Callable[[HttpConnection, str | None, Sequence[int]], Awaitable[str]] = request_text
    tokenizer_info: Callable[[HttpConnection], Awaitable[JSONObject]] = request_tokenizer_info
    pieces: Callable[[HttpConnection, str | None, str], Awaitable[Mapping[int, bytes | str]]] = no_pieces


@dataclass(frozen=True, slots=True)
class OutputToParse:
    """An output that the server's own parser is to read.

    Attributes:
        text: Without the end token.
        tools: Tool specs of the request.
        request: The chat request; `None` if there is none.
        token_ids: Ids of the output, the end token among them; `None` if they are not known.
        prompt_token_ids: Those of the prompt.
        finish_reason: The sampler's word; `None` if it is not known.
        model: Name of the model that the server serves; `None` if it is not known.
    """

    text: str
    tools: tuple[JSONObject, ...] = ()
    request: JSONObject | None = None
    token_ids: tuple[int, ...] | None = None
    prompt_token_ids: tuple[int, ...] | None = None
    finish_reason: str | None = None
    model: str | None = None


@dataclass(frozen=True, slots=True)
class OwnParsers:
    """Parsers that a running server offers to run on a given output.

    Attributes:
        prefix: What their names begin with, up to the colon, as `--parser` takes them.
        spellings: How their names are written, shown where a name is wrong.
        is_name: Says of a name with that prefix whether it is one.
        offered: Names that a server offers, as far as it says.
        run: Runs one on an output; what the server refuses is a `BackendError`, what it cannot read an `error` in the
            outcome.
        needs: What a server needs for it, said where it does not offer it.
    """

    prefix: str
    spellings: tuple[str, ...]
    is_name: Callable[[str], bool]
    offered: Callable[[Server], tuple[str, ...]]
    run: Callable[[HttpConnection, str, OutputToParse], Awaitable[ServerOutcome]]
    needs: str


async def no_details(_: Looks, server: Server) -> Server:
    """Add nothing."""
    return server


@dataclass(frozen=True, slots=True)
class Engine:
    """One server software.

    Attributes:
        kind: What it is called in documents: small letters, digits, dots and hyphens. Once used, it stays.
        title: What it is called where people read.
        marks: How it is recognised.
        distributions: Under which it is installed as a Python package; `--version` names those that are.
        feature_by_path: Optional endpoints and what each is called in `Server.features`. Evidence asks for `render`,
            `apply_template`, `tokenize`, `detokenize`, `tokenizer_info`; other names are for this file alone.
        get_paths: Those of them that are asked with GET.
        serves_any_name: Whether it answers with its one model, whatever name a request has.
        add_details: Adds to what is known of a server what only this software shows.
        endpoints: How it is asked for its features.
        own_fields: What is added to requests.
        answer_places: Where its answers then report it.
        own_parsers: Parsers that it runs on a given output; `None` if it offers none.
        reports_ids: Whether such servers can give the ids of a run.
        control_tokens: What becomes of them in its text.
        takes_several: Whether it answers several requests at once; one that is not known to is asked one at a time, as
            some end an answer when the next request comes.
        no_raw_run: Why its raw completion is not a run of the given prompt, a clause; "" if it is one.
        when_it_renders: When such a server reports the prompt of a request, a clause after "has one"; "" if never.
        renders_other_apis: Whether it then reports the prompt of a Responses or Messages body, too.
        takes_template: Whether a request may bring its own `chat_template`.
        template_flag: Flag of its command line that names a file with a chat template.
        counts_reasoning_by_parser: Whether it counts reasoning tokens if and only if a reasoning parser is set.
        needs_tool_parser: Whether it reads calls only by a tool parser that it is started with.
        renders_like: The kind of server whose habits explain its prompts best: `vllm` or `llama.cpp`.
        request_changes: What else it does to a chat request before the template sees it, one by one.
        refused_conversations: Conversations of `check` (`core/tools/check/conversations.py`) that its API refuses
            whatever it serves, by name, and why, a clause; they are never reported as a loss.
        start: The command that starts it for a model that was checked, `None` from it if there is none for this model;
            `None` if `check` is to give no command.
        parser_names: What it calls its parsers, by family; what a family's record already says is in it.
        parser_test: How its maintainers write a test of a parser; `None` if none can be written.
    """

    kind: str
    title: str
    marks: Marks = Marks()
    distributions: tuple[str, ...] = ()
    feature_by_path: Mapping[str, str] = field(default_factory=dict)
    get_paths: frozenset[str] = frozenset()
    serves_any_name: bool = False
    add_details: Callable[[Looks, Server], Awaitable[Server]] = no_details
    endpoints: Endpoints = Endpoints()
    own_fields: OwnFields = field(default_factory=OwnFields)
    answer_places: AnswerPlaces = AnswerPlaces()
    own_parsers: OwnParsers | None = None
    reports_ids: bool = False
    control_tokens: ControlTokens = ControlTokens.NOT_KNOWN
    takes_several: bool = False
    no_raw_run: str = ""
    when_it_renders: str = ""
    renders_other_apis: bool = False
    takes_template: bool = False
    template_flag: str = "--chat-template"
    counts_reasoning_by_parser: bool = False
    needs_tool_parser: bool = False
    renders_like: str = "vllm"
    request_changes: tuple[RequestChange, ...] = ()
    refused_conversations: Mapping[str, str] = field(default_factory=dict)
    start: Callable[[StartWith], StartCommand | None] | None = None
    parser_names: Mapping[str, ParserNames] = field(default_factory=dict)
    parser_test: ParserTest | None = None
