"""The values that travel through the pipeline, and nothing else; one file per stage.

Everything here is frozen: a stage receives values and returns new ones. The
whole run is one value, the `Trace`; a stage that has not run is `None` in it.

Offsets: every span is half-open and its field name carries the unit.
`char_span` counts Unicode code points, `token_span` counts tokens, both from 0.
"""

from __future__ import annotations

from prompt_debugger.core.base.types.base import JSON, SCHEMA_VERSION, Api, Basis, JSONObject, Span, Stage
from prompt_debugger.core.base.types.completion import (
    ChatResult,
    Completeness,
    Completion,
    Server,
    ServerGrammar,
    StreamDelta,
    TokenLogprob,
    Unread,
    Usage,
)
from prompt_debugger.core.base.types.finding import Certainty, Conclusion, Finding, FindingEvidence, Severity, Verdict
from prompt_debugger.core.base.types.outcomes import Divergence, ServerOutcome, SplitTrial, VllmOutcome
from prompt_debugger.core.base.types.prompt import (
    Branch,
    KwargSource,
    Prompt,
    PromptDifference,
    PromptSpan,
    SpanKind,
    TemplateKwarg,
    WeakerValue,
)
from prompt_debugger.core.base.types.reading import (
    CallMatch,
    CallOutcome,
    CallStatus,
    Comparability,
    Fate,
    FormatScore,
    Ledger,
    LedgerEntry,
    Parse,
    ParsedMessage,
    ParserAccount,
    ParserOutcome,
    Place,
    Segment,
    SegmentKind,
    ToolCallAttempt,
)
from prompt_debugger.core.base.types.request import Notice, Request
from prompt_debugger.core.base.types.tokens import (
    NOWHERE,
    Entry,
    Origin,
    Token,
    TokenColumns,
    TokenKind,
    Tokens,
    TokenTable,
    columns_of,
    count_special,
    forged_in,
)
from prompt_debugger.core.base.types.trace import Refusal, Trace, Vocabulary

__all__ = [
    "JSON",
    "NOWHERE",
    "SCHEMA_VERSION",
    "Api",
    "Basis",
    "Branch",
    "CallMatch",
    "CallOutcome",
    "CallStatus",
    "Certainty",
    "ChatResult",
    "Comparability",
    "Completeness",
    "Completion",
    "Conclusion",
    "Divergence",
    "Entry",
    "Fate",
    "Finding",
    "FindingEvidence",
    "FormatScore",
    "JSONObject",
    "KwargSource",
    "Ledger",
    "LedgerEntry",
    "Notice",
    "Origin",
    "Parse",
    "ParsedMessage",
    "ParserAccount",
    "ParserOutcome",
    "Place",
    "Prompt",
    "PromptDifference",
    "PromptSpan",
    "Refusal",
    "Request",
    "Segment",
    "SegmentKind",
    "Server",
    "ServerGrammar",
    "ServerOutcome",
    "Severity",
    "Span",
    "SpanKind",
    "SplitTrial",
    "Stage",
    "StreamDelta",
    "TemplateKwarg",
    "Token",
    "TokenColumns",
    "TokenKind",
    "TokenLogprob",
    "TokenTable",
    "Tokens",
    "ToolCallAttempt",
    "Trace",
    "Unread",
    "Usage",
    "Verdict",
    "VllmOutcome",
    "Vocabulary",
    "WeakerValue",
    "columns_of",
    "count_special",
    "forged_in",
]
