"""The outside contract: the document of `check`, field by field.

As in `documents`: add fields freely, rename and remove none.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from prompt_debugger.core.base.types import JSON, SCHEMA_VERSION, Finding, JSONObject
from prompt_debugger.core.base.types.base import LEFT_OUT_IF_EMPTY, LEFT_OUT_IF_NONE
from prompt_debugger.core.report.wire.documents import WIRE, ErrorDocument


@dataclass(frozen=True, slots=True, kw_only=True)
class FlagRecord:
    """One flag of a command.

    Attributes:
        words: The flag and its value.
        reason: Why it is there.
        passed: Answers that prove it, by name; empty for a flag that nothing here proves.
        failed: Answers that do not come back all the same.
    """

    words: tuple[str, ...]
    reason: str
    passed: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandRecord:
    """What starts one engine.

    Attributes:
        engine: Which.
        command: To copy.
        tried: Whether this engine's own parsers were asked.
        flags: Its flags, each with its reason.
        note: What is to be known of it.
    """

    engine: str
    command: str
    tried: bool
    flags: tuple[FlagRecord, ...]
    note: str | None = dataclasses.field(default=None, metadata=LEFT_OUT_IF_NONE)


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginRecord:
    """The way out where parsers fall short: this program's own reader as a parser plugin for vLLM.

    Attributes:
        family: Format that it reads.
        read: Answers that it reads as they went in, whole; the plugin itself was not run.
        asked: Answers with calls.
        write: The command that writes the plugin.
        check: The command that checks it as any parser, whole and streamed.
        serve: The command that starts vLLM with it.
    """

    family: str
    read: int
    asked: int
    write: str
    check: str
    serve: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RecommendedRecord:
    """What to start a server with.

    Attributes:
        tool_parser: Name for `--tool-call-parser`; `null` if none reads the calls.
        reasoning_parser: Name for `--reasoning-parser`; `null` if none is needed or none works.
        command: The command that starts the server; `null` if nothing works.
        reasons: Why, a sentence each.
        verdict: How well it works; `unknown` if no parser reads the calls, but the parsers had an approximate
            vocabulary, which some cannot read their markers with.
        commands: One per engine that may serve the model and whose command is known; that of `engine` is `command`.
        plugin: This program's own reader, where it reads more of the answers than vLLM's parsers; else `null`.
        engine: Whose parsers they are.
    """

    tool_parser: str | None
    reasoning_parser: str | None
    command: str | None
    reasons: tuple[str, ...]
    verdict: Literal["works", "works-with-limits", "unknown", "nothing-works"]
    commands: tuple[CommandRecord, ...] = ()
    plugin: PluginRecord | None = None
    engine: str = "vllm"


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerCallRecord:
    """A tool call of an answer.

    Attributes:
        name: Its name.
        arguments: Its arguments.
    """

    name: str
    arguments: JSONObject


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerRecord:
    """An answer, and what the model would have written to give it.

    Attributes:
        name: Stable name.
        about: What it tries.
        raw: The ideal raw output; "" where the template refuses.
        prompt_tail: End of the prompt in front of it.
        calls: The calls that must come back.
        content: The text that must come back; `null` for none.
        reasoning: The reasoning that must come back; `null` for none.
        lost: What the template does not print of it: `calls`, `content`, `reasoning`.
        refusal: Why the template gives no output.
        template_kwargs: Template kwargs of the request.
        has_own_closer: True if the end of reasoning in `raw` is ours, because the template leaves it out.
    """

    name: str
    about: str
    raw: str
    prompt_tail: str
    calls: tuple[AnswerCallRecord, ...]
    content: str | None
    reasoning: str | None
    lost: tuple[str, ...] = dataclasses.field(default=(), metadata=LEFT_OUT_IF_EMPTY)
    refusal: str | None = dataclasses.field(default=None, metadata=LEFT_OUT_IF_NONE)
    template_kwargs: Mapping[str, JSON] = dataclasses.field(default_factory=dict)
    has_own_closer: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SmallestRecord:
    """The smallest answer found with which the same parser has the same problem.

    Attributes:
        raw: Its ideal output.
        prompt_tail: End of the prompt in front of it.
        calls: The call in it.
        problem: What comes back otherwise.
        split: Deltas of the smallest chunking that streams otherwise.
    """

    raw: str
    prompt_tail: str
    calls: tuple[AnswerCallRecord, ...]
    problem: str
    split: tuple[str, ...] = dataclasses.field(default=(), metadata=LEFT_OUT_IF_EMPTY)


@dataclass(frozen=True, slots=True, kw_only=True)
class CellRecord:
    """One parser on one answer.

    Attributes:
        whole: Whether the whole output comes back as the answer that went in.
        streamed: Whether every chunking streams to the same; `null` if that was not tried.
        problem: What comes back otherwise; `null` if nothing does.
        streamed_usual: Whether it streams right token by token, as servers mostly do; `null` if that was not tried.
        remark: What is different and no fault.
        split: Deltas of the smallest chunking that streams otherwise.
        got: The message that came back, where there is a problem.
        smallest: Of a drawn answer, the smallest that fails alike.
    """

    whole: bool
    streamed: bool | None
    problem: str | None
    streamed_usual: bool | None
    remark: str | None = dataclasses.field(default=None, metadata=LEFT_OUT_IF_NONE)
    split: tuple[str, ...] = dataclasses.field(default=(), metadata=LEFT_OUT_IF_EMPTY)
    got: JSONObject | None = dataclasses.field(default=None, metadata=LEFT_OUT_IF_NONE)
    smallest: SmallestRecord | None = dataclasses.field(default=None, metadata=LEFT_OUT_IF_NONE)


@dataclass(frozen=True, slots=True, kw_only=True)
class ParserRecord:
    """One parser, or a pair of a tool parser and a reasoning parser.

    Attributes:
        passed: Answers that come back as they went in, whole and streamed.
        failed: Answers that do not.
        cells: Each answer, by name.
    """

    passed: int
    failed: int
    cells: Mapping[str, CellRecord]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeRecord:
    """One probe of the template.

    Attributes:
        support: What the template does with it; `changed`: it prints it, otherwise than it was given.
        detail: What was seen.
        quote: The prompt around it.
        template_line: Line of the template that wrote it or failed.
    """

    support: Literal["supported", "changed", "ignored", "refused", "unknown"]
    detail: str
    quote: str = ""
    template_line: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateRecord:
    """What the template supports.

    Attributes:
        supports: By name of the probe; a name that is not there could not be found out.
        probes: The same at length, by name.
        findings: What is wrong with it, worst first.
    """

    supports: Mapping[str, bool]
    probes: Mapping[str, ProbeRecord] = dataclasses.field(default_factory=dict)
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationRecord:
    """One conversation, rendered by transformers and by an engine's own renderer.

    Attributes:
        name: Stable name.
        about: What it tries.
        request: What both were asked to render.
        agrees: Whether both give the same prompt; `null` if neither gives one.
        causes: Why not, as far as it is proved by rendering with it.
        transformers: What transformers gives, around the first difference; `null` if the template fails.
        engine: The same of the engine; `null` if it refuses.
        refusals: Why there is no prompt, by `transformers` and `engine`.
        loss: What the engine's prompt lacks, or prints as Python; `null` for nothing.
    """

    name: str
    about: str
    request: JSONObject
    agrees: bool | None
    causes: tuple[str, ...] = dataclasses.field(default=(), metadata=LEFT_OUT_IF_EMPTY)
    transformers: str | None = dataclasses.field(default=None, metadata=LEFT_OUT_IF_NONE)
    engine: str | None = dataclasses.field(default=None, metadata=LEFT_OUT_IF_NONE)
    refusals: Mapping[str, str] = dataclasses.field(default_factory=dict)
    loss: str | None = dataclasses.field(default=None, metadata=LEFT_OUT_IF_NONE)


@dataclass(frozen=True, slots=True, kw_only=True)
class EnginesRecord:
    """Whether transformers and an engine render alike.

    Attributes:
        engine: The one that was compared with transformers.
        skipped: Why none was compared; `null` if they were.
        note: Under which condition the comparison holds; `null` if it does without.
        conversations: Each conversation.
    """

    engine: str = ""
    skipped: str | None = None
    note: str | None = None
    conversations: tuple[ConversationRecord, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedServerRecord:
    """The running server that was checked.

    Attributes:
        base_url: Its address.
        kind: Which server software.
        version: Its version, where it says.
        model: Model name that requests use.
        tool_parser: Name of its tool parser, where it says.
        reasoning_parser: Name of its reasoning parser, likewise.
        evidence: On what it rests which template and tokenizer it has, a sentence each.
    """

    base_url: str
    kind: str
    version: str | None
    model: str | None
    tool_parser: str | None
    reasoning_parser: str | None
    evidence: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeRecord:
    """One change since the lock, or the model, that `--against` named.

    Attributes:
        sentence: What changed.
        is_worse: Whether something that worked no longer does.
    """

    sentence: str
    is_worse: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckDocument:
    """What `check` prints: which parsers and flags a model's template works with.

    Attributes:
        schema_version: Raised if a meaning changes.
        model: What was checked.
        release: Version of the vLLM whose parsers were asked.
        family: Format that the model writes in; `null` if none is known.
        tokenizer: Whether the model's own vocabulary was used; without one, a stand-in.
        recommended: What to start a server with.
        tools: Tools that every request offered.
        answers: What was asked of the template.
        parsers: What parsers made of it, by name such as `vllm:hermes+qwen3`.
        template: What the template supports.
        engines: Whether transformers and an engine's own renderer give the same prompts.
        server: The running server, if MODEL is one.
        findings: What is wrong with template, engines and parsers, worst first.
        changes: What changed since the lock, or from the other model, what got worse first; with `--against`.
        error: Why there is no check.
    """

    __pydantic_config__ = WIRE

    schema_version: int = SCHEMA_VERSION
    model: str
    release: str
    family: str | None = None
    tokenizer: bool = False
    recommended: RecommendedRecord
    tools: tuple[JSONObject, ...] = ()
    answers: tuple[AnswerRecord, ...]
    parsers: Mapping[str, ParserRecord]
    template: TemplateRecord
    engines: EnginesRecord = dataclasses.field(default_factory=EnginesRecord)
    server: CheckedServerRecord | None = dataclasses.field(default=None, metadata=LEFT_OUT_IF_NONE)
    findings: tuple[Finding, ...] = ()
    changes: tuple[ChangeRecord, ...] | None = dataclasses.field(default=None, metadata=LEFT_OUT_IF_NONE)
    error: ErrorDocument | None = None
