"""Arbitrary traces: any JSON where JSON may be, any text, any subset of stages."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import strategies as st

from prompt_debugger.core.base.types import (
    JSON,
    Basis,
    CallMatch,
    CallOutcome,
    CallStatus,
    Certainty,
    ChatResult,
    Comparability,
    Completion,
    Fate,
    FormatScore,
    Ledger,
    LedgerEntry,
    Notice,
    Parse,
    ParsedMessage,
    ParserOutcome,
    Place,
    Prompt,
    PromptDifference,
    Refusal,
    Request,
    Segment,
    SegmentKind,
    Server,
    Span,
    StreamDelta,
    Token,
    TokenKind,
    ToolCallAttempt,
    Trace,
    Usage,
    Vocabulary,
)

FRAGMENTS = (
    "<think>", "</think>", "<tool_call>", "</tool_call>", "<|im_end|>", "<|im_user|>", "<|tool_call_begin|>", "`", '"',
    "[{'type': 'text'", "functions.get_weather:0", "{", "}", "\n", " ", "\ud800", "\ufffd", "e\u0301", "get_weather",
    '{"city": "Paris"}', "\x00", "```",
)  # fmt: skip
texts = st.lists(st.one_of(st.sampled_from(FRAGMENTS), st.text(max_size=5)), max_size=8).map("".join)
scalars = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), texts)
containers = st.recursive(
    scalars,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(texts, inner, max_size=3)),
    max_leaves=6,
)
jsons = st.one_of(scalars, containers)


def loose_object(**fields: st.SearchStrategy[object]) -> st.SearchStrategy[object]:
    """An object of which any field may be missing or of another type."""
    return st.fixed_dictionaries({}, optional={key: st.one_of(strategy, jsons) for key, strategy in fields.items()})


def maybe_object(**fields: st.SearchStrategy[object]) -> st.SearchStrategy[object]:
    """The same, or no object at all."""
    return st.one_of(loose_object(**fields), jsons)


schemas = st.recursive(
    maybe_object(type=st.sampled_from(["string", "int", "object"]), required=st.lists(texts, max_size=2)),
    lambda inner: maybe_object(
        properties=st.dictionaries(texts, inner, max_size=2),
        items=inner,
        anyOf=st.lists(inner, max_size=2),
    ),
    max_leaves=4,
)
functions = maybe_object(name=texts, arguments=st.one_of(texts, jsons))
calls = st.lists(maybe_object(id=texts, index=st.integers(0, 2), function=functions), max_size=3)
specs = st.lists(maybe_object(function=maybe_object(name=texts, parameters=schemas)), max_size=2)
choices = st.one_of(st.sampled_from(["none", "auto", "required"]), maybe_object(function=maybe_object(name=texts)))
promises = maybe_object(type=st.sampled_from(["json_object", "json_schema"]), json_schema=maybe_object(schema=schemas))
parts = st.lists(maybe_object(type=st.just("text"), text=texts), max_size=2)
answers = loose_object(
    role=st.sampled_from(["system", "user", "assistant", "tool"]), content=st.one_of(texts, parts), reasoning=texts,
    reasoning_content=texts, tool_calls=calls, tool_call_id=texts,
)  # fmt: skip
messages = st.one_of(answers, jsons)
bodies = st.fixed_dictionaries(
    {},
    optional={
        "messages": st.one_of(st.lists(messages, max_size=3), jsons),
        "tools": st.one_of(specs, jsons),
        "tool_choice": choices,
        "stop": st.one_of(texts, st.lists(texts, max_size=3), jsons),
        "stop_token_ids": st.one_of(st.lists(st.integers(-3, 700), max_size=3), jsons),
        "max_tokens": st.one_of(st.integers(-1, 9), jsons),
        "temperature": st.one_of(st.sampled_from([0, 0.0, 1]), jsons),
        "parallel_tool_calls": jsons,
        "continue_final_message": jsons,
        "add_generation_prompt": jsons,
        "response_format": promises,
    },
)
finish_reasons = st.one_of(st.none(), st.sampled_from(["stop", "length", "tool_calls"]), texts)
stop_reasons = st.one_of(st.none(), st.integers(0, 600), texts)
ids = st.one_of(st.none(), st.lists(st.integers(0, 599), max_size=4).map(tuple))


@st.composite
def spans(draw: st.DrawFn, length: int) -> Span:
    start = draw(st.integers(0, length))
    return Span(start, draw(st.integers(start, length)))


@st.composite
def token_tables(draw: st.DrawFn, text: str) -> tuple[Token, ...] | None:
    if draw(st.booleans()):
        return None
    cuts = sorted({0, len(text), *draw(st.lists(st.integers(0, len(text)), max_size=4))})
    return tuple(
        Token(
            draw(st.integers(0, 599)),
            text[a:b],
            Span(a, b),
            draw(st.sampled_from(TokenKind)),
            b"",
            draw(st.one_of(st.none(), texts)),
            None,
            draw(st.booleans()),
        )
        for a, b in pairwise(cuts)
    )


@st.composite
def prompts(draw: st.DrawFn) -> Prompt:
    text = draw(texts)
    unread = tuple(draw(st.lists(st.one_of(texts, st.just("chat_template_kwargs.thinking")), max_size=2)))
    template = draw(st.one_of(st.none(), texts))
    return Prompt(
        draw(st.sampled_from(["server", "local"])), text, (), draw(token_tables(text)), unread=unread, template=template
    )


@st.composite
def completions(draw: st.DrawFn) -> Completion:
    text = draw(texts)
    return Completion(
        text,
        draw(ids),
        draw(finish_reasons),
        draw(stop_reasons),
        usage=draw(st.one_of(st.none(), st.builds(Usage, completion_tokens=st.one_of(st.none(), st.integers(0, 9))))),
        tokens=draw(token_tables(text)),
    )


@st.composite
def attempts(draw: st.DrawFn, raw: str) -> ToolCallAttempt:
    span = draw(spans(len(raw)))
    arguments = draw(texts)
    return ToolCallAttempt(
        draw(st.one_of(st.none(), texts)),
        arguments,
        draw(st.one_of(st.none(), st.just({}), st.builds(dict[str, JSON], city=st.just("Paris")))),
        draw(st.one_of(st.none(), texts)),
        draw(st.sampled_from(CallStatus)),
        draw(st.sampled_from(Place)),
        span,
        arguments_span=draw(st.one_of(st.none(), st.just(span))),
    )


@st.composite
def parses(draw: st.DrawFn, raw: str) -> Parse:
    found = tuple(draw(st.lists(attempts(raw), max_size=3)))
    segments = tuple(
        Segment(span, draw(st.sampled_from(SegmentKind))) for span in draw(st.lists(spans(len(raw)), max_size=4))
    )
    entries = tuple(
        LedgerEntry(span, draw(st.sampled_from(Fate))) for span in draw(st.lists(spans(len(raw)), max_size=4))
    )
    raw_indexes = st.one_of(st.none(), st.sampled_from(range(len(found)))) if found else st.none()
    match = st.builds(
        CallMatch,
        raw_indexes,
        st.one_of(st.none(), st.integers(0, 3)),
        st.sampled_from([(), ("name",), ("arguments",), ("name", "arguments", "id")]),
        st.sampled_from(CallOutcome),
    )
    comparability = st.builds(Comparability, st.sampled_from([None, *Certainty]), texts)
    name = draw(st.sampled_from(["kimi_k2", "hermes", "generic"]))
    parsed = ParsedMessage(name, draw(st.one_of(st.none(), texts)), draw(st.one_of(st.none(), texts)), found, segments)
    outcome = st.builds(
        ParserOutcome, st.none(), st.none(), calls.map(lambda c: tuple(x for x in c if isinstance(x, dict)))
    )
    return Parse(
        raw,
        {name: FormatScore(draw(st.floats(0, 1)), "")},
        parsed,
        Ledger(
            entries,
            tuple(draw(st.lists(match, max_size=3))),
            comparability=draw(st.one_of(st.none(), comparability, comparability)),
        ),
        parsers=draw(st.dictionaries(st.sampled_from(["vllm:hermes", "vllm:kimi_k2"]), outcome, max_size=2)),
    )


counts = st.one_of(st.none(), st.integers(0, 9))
deltas = st.builds(
    StreamDelta,
    loose_object(tool_calls=calls),
    ids,
    finish_reasons,
    st.just(0.0),
)
results = st.builds(
    ChatResult,
    answers,
    finish_reasons,
    stop_reasons,
    ids,
    usage=st.one_of(st.none(), st.builds(Usage, counts, counts)),
    deltas=st.lists(deltas, max_size=2).map(tuple),
    body=texts,
    error=st.one_of(st.none(), texts),
)
servers = st.builds(
    Server,
    st.just("http://127.0.0.1:1/v1"),
    max_model_len=st.one_of(st.none(), st.integers(0, 20)),
    tool_parser=st.one_of(st.none(), st.sampled_from(["kimi_k2", "hermes", "x"])),
    reasoning_parser=st.one_of(st.none(), st.sampled_from(["kimi_k2", "qwen3"])),
    has_reasoning_parser=st.one_of(st.none(), st.booleans()),
)
vocabularies = st.builds(
    Vocabulary,
    size=st.integers(1, 600),
    special=st.dictionaries(st.integers(0, 599), st.one_of(st.sampled_from(FRAGMENTS), texts), max_size=4),
    bos_id=st.one_of(st.none(), st.integers(0, 599)),
    eos_ids=st.lists(st.integers(0, 599), max_size=2).map(tuple),
    adds_bos=st.booleans(),
)


@st.composite
def traces(draw: st.DrawFn) -> Trace:
    """Any trace: stages may be missing, and need not fit each other."""

    def maybe(strategy: st.SearchStrategy[object]) -> object:
        return draw(st.one_of(st.none(), strategy))

    raw = draw(st.one_of(st.none(), completions()))
    notices = tuple(
        draw(st.lists(st.builds(Notice, texts, st.one_of(texts, st.just("vLLM ignores the field."))), max_size=2))
    )
    return Trace(
        request=Request(draw(bodies), "", notices=notices),
        sent=draw(st.one_of(st.just({}), bodies)),
        server=maybe(servers),  # type: ignore[arg-type]
        evidence=maybe(st.sampled_from(Basis)),  # type: ignore[arg-type]
        prompt=maybe(prompts()),  # type: ignore[arg-type]
        local_prompt=maybe(prompts()),  # type: ignore[arg-type]
        prompt_difference=maybe(st.builds(PromptDifference, st.integers(0, 9), st.integers(0, 9), texts, texts)),  # type: ignore[arg-type]
        generation_prompt=maybe(texts),  # type: ignore[arg-type]
        vocabulary=maybe(vocabularies),  # type: ignore[arg-type]
        refusal=maybe(st.builds(Refusal, st.just(400), texts, st.one_of(st.none(), texts))),  # type: ignore[arg-type]
        raw=raw,
        raw_again=maybe(completions()),  # type: ignore[arg-type]
        chat=maybe(results),  # type: ignore[arg-type]
        chat_stream=maybe(results),  # type: ignore[arg-type]
        parse=None if raw is None or draw(st.booleans()) else draw(parses(raw.text)),
    )
