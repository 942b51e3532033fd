"""Secrets are covered in every text of a run, and nothing moves."""

import json
from dataclasses import fields, is_dataclass, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prompt_debugger.core.base.types import (
    Completion,
    Entry,
    Span,
    SplitTrial,
    StreamDelta,
    Token,
    TokenKind,
    TokenLogprob,
    TokenTable,
    VllmOutcome,
)
from prompt_debugger.core.report import redact_text
from prompt_debugger.ui.report.cover import COVER
from prompt_debugger.ui.report.mask import REMOVED_ID, mask_text, mask_trace
from tests.ui.present.traces import RAW_TEXT, dropped_call_trace, prompt_of, tokens_of

KEYS = (
    "sk-abcdefghijklmnop12345678",
    "hf_abcdefghijklmnopqrstuvwx",
    "ghp_abcdefghijklmnopqrstuv",
    "AKIAABCDEFGHIJKLMNOP",
    "xoxb-1234567890-abcdef",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abcdefghijkl",
)


@pytest.mark.parametrize("key", KEYS)
def test_a_key_is_covered_and_its_neighbours_stay(key):
    text = f'say "{key}" and https://bob:hunter2secret@example.org/, then go on'

    masked = mask_text(text)

    assert masked == f'say "{COVER * len(key)}" and https://{COVER * 17}@example.org/, then go on'


SETTINGS = ("Bearer ", "API_KEY=", "HF_TOKEN='", "api-key: ", "Authorization: Basic ", "hunter2hunter2")


@given(st.lists(st.sampled_from((*KEYS, *SETTINGS)) | st.text(max_size=8), max_size=6).map("".join))
def test_masking_keeps_the_length_and_leaves_no_secret(text):
    masked = mask_text(text)

    assert len(masked) == len(text)
    assert redact_text(masked) == masked


def strings(value):
    if isinstance(value, str):
        yield str(value)
    elif isinstance(value, bytes):
        yield value.decode("utf-8", "replace")
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from strings(key)
            yield from strings(item)
    elif isinstance(value, tuple | list):
        for item in value:
            yield from strings(item)
    elif is_dataclass(value):
        for field in fields(value):
            yield from strings(getattr(value, field.name))


def planted(key):
    """Return a run that holds `key` wherever a text of a run can stand."""
    trace = dropped_call_trace()
    raw_text = RAW_TEXT.replace("Paris", key)
    shift = len(key) - len("Paris")
    middle = trace.parse.ledger.entries[3].char_span.start
    entries = tuple(
        replace(
            entry,
            char_span=Span(
                entry.char_span.start + (shift if entry.char_span.start > middle else 0),
                entry.char_span.stop + (shift if entry.char_span.stop > middle else 0),
            ),
        )
        for entry in trace.parse.ledger.entries
    )
    body = {**trace.request.body, "user": key, "messages": [{"role": "user", "content": f"my key is {key}."}]}
    message = {"role": "assistant", "content": f"{key}", key: [key]}
    finding = trace.findings[0]
    evidence = replace(finding.evidence[0], quote=f"x{key[: len(key) - 3]}")
    return replace(
        trace,
        request=replace(trace.request, body=body, text=json.dumps(body)),
        sent=body,
        server=replace(trace.server, base_url=f"https://user:{key}@127.0.0.1/v1", model_root=key),
        prompt=prompt_of(f"<|im_user|>user<|im_middle|>my key is {key}.<|im_end|>"),
        local_prompt=replace(prompt_of(key, template=key), unread=(key,), note=key),
        prompt_difference=replace(trace.prompt_difference, server=key[4:], local=key[:-4], cause=key),
        notes=(key,),
        raw=Completion(raw_text, None, "stop", tokens=tokens_of(raw_text), body=key, constraint=key),
        chat=replace(
            trace.chat,
            message=message,
            body=key,
            prompt_text=key,
            deltas=(
                StreamDelta({"content": key[:6]}, (1,), None, 0.1),
                StreamDelta({"content": key[6:]}, (2,), None, 0.1),
            ),
        ),
        parse=replace(trace.parse, raw=raw_text, ledger=replace(trace.parse.ledger, entries=entries)),
        findings=(replace(finding, title=key, detail=f"{key!r:.40}…", fix=key, links=(key,), evidence=(evidence,)),),
        verdict=replace(trace.verdict, sentence=f"It said {key}."),
    )


@pytest.mark.parametrize("key", KEYS)
def test_no_twelve_characters_of_a_planted_key_survive(key):
    kept = list(strings(mask_trace(planted(key))))

    parts = {key[i : i + 12] for i in range(len(key) - 11)}
    assert [text for text in kept if any(part in text for part in parts)] == []


def test_covered_tokens_lose_their_ids_and_still_tile_the_text():
    trace = planted(KEYS[0])
    masked = mask_trace(trace)

    assert len(masked.prompt.text) == len(trace.prompt.text)
    assert "".join(token.text for token in masked.prompt.tokens) == masked.prompt.text
    assert {token.id for token in masked.prompt.tokens if COVER in token.text} == {REMOVED_ID}
    assert [t for t in masked.prompt.tokens if COVER not in t.text] == [
        t for t in trace.prompt.tokens if t in masked.prompt.tokens
    ]


def test_a_byte_inside_a_covered_character_goes_with_it():
    key = KEYS[0]
    byte = Token(7, "", Span(3, 3), TokenKind.BYTE, b"k")
    tokens = (Token(6, key[:3], Span(0, 3), TokenKind.TEXT, b"sk-"), byte, *tokens_of(key)[2:])
    trace = dropped_call_trace()

    masked = mask_trace(replace(trace, prompt=replace(prompt_of(key), tokens=tokens)))

    assert masked.prompt.tokens[1] == replace(byte, id=REMOVED_ID, piece=b"")


def test_a_table_of_tokens_is_masked_as_its_tokens_are():
    key = KEYS[0]
    ids = tuple(range(len(key)))
    entries = {number: Entry(letter.encode(), TokenKind.TEXT) for number, letter in enumerate(key)}
    table = TokenTable(key, ids, (*ids, len(key)), entries)
    trace = dropped_call_trace()

    masked = mask_trace(replace(trace, prompt=replace(prompt_of(key), tokens=table)))

    assert masked == mask_trace(replace(trace, prompt=replace(prompt_of(key), tokens=tuple(table))))
    assert {token.id for token in masked.prompt.tokens[8:]} == {REMOVED_ID}


@pytest.mark.parametrize("name", ["password", "api_key", "Authorization"])
def test_the_value_of_a_secret_field_is_covered_wherever_it_is_reported_again(name):
    trace = dropped_call_trace()
    arguments = json.dumps({"login": {name: 'tr"0ub4'}})
    chat = replace(trace.chat, message={"tool_calls": [{"function": {"name": "f", "arguments": arguments}}]})
    trace = replace(trace, chat=chat, prompt=prompt_of(f'log in with tr"0ub4: {arguments}'))

    masked = mask_trace(trace)

    assert "0ub4" not in json.dumps([masked.chat.message, masked.prompt.text])
    assert masked.prompt.text.startswith("log in with •••••••: ")


def test_a_run_without_secrets_is_shown_as_it_is():
    trace = dropped_call_trace()
    deltas = (StreamDelta({"content": "a"}, (1,), None, 0.1), StreamDelta({"content": "b"}, (2,), None, 0.2))
    trace = replace(trace, chat_stream=replace(trace.chat_stream, deltas=deltas, body='data: {"content": "a"}'))

    assert mask_trace(trace) == trace


def stream_of(*bodies):
    return "".join(f"data: {json.dumps(body)}\n\n" for body in bodies) + "data: [DONE]\n\n"


@pytest.mark.parametrize(
    "pieces",
    [
        {"deltas": tuple(StreamDelta({"note": t}, None, None, 0.0) for t in ("sk-abcdefgh", "ijklmnop1234"))},
        {"body": stream_of(*({"choices": [{"index": 1, "text": t}]} for t in ("sk-abcdefgh", "ijklmnop1234")))},
        {"logprobs": tuple(TokenLogprob(text, None, -1.0) for text in ("sk-", "abcdefgh", "ijklmnop1234"))},
        {"body": stream_of({"choices": [{"api_key": "unlike-any"}]})},
    ],
    ids=["events", "lines", "logprobs", "field"],
)  # fmt: skip
def test_a_secret_that_is_there_in_pieces_only_is_gone(pieces):
    trace = dropped_call_trace()

    masked = mask_trace(replace(trace, chat_stream=replace(trace.chat_stream, **pieces)))

    kept = "".join(strings(masked.chat_stream))
    assert [part for part in ("sk-abc", "ijklmnop", "unlike-any") if part in kept] == []


@pytest.mark.parametrize("root", ["/home/bob/models/tiny", "~/models/tiny/", r"C:\Users\bob\tiny"])
def test_of_a_folder_only_the_name_is_left(root):
    trace = dropped_call_trace()
    finding = replace(trace.findings[0], detail=f"The template of {root} has none.")
    trace = replace(
        trace,
        server=replace(trace.server, model_root=root),
        findings=(finding,),
        notes=(f"Rendered with {root}.",),
        local_prompt=replace(trace.local_prompt, note=f"Rendered with {root}."),
    )

    masked = mask_trace(trace)

    assert masked.server.model_root == "tiny"
    assert [text for text in strings(masked) if "bob" in text or "models" in text] == []


def test_a_named_tuple_is_covered_field_by_field():
    trace = dropped_call_trace()
    outcome = VllmOutcome(None, None, (), trials=(SplitTrial("whole", 1, f"it has {KEYS[0]}"),))

    masked = mask_trace(replace(trace, parse=replace(trace.parse, parsers={"vllm:x": outcome})))

    assert masked.parse.parsers["vllm:x"].trials == (SplitTrial("whole", 1, f"it has {COVER * len(KEYS[0])}"),)


def test_a_hub_id_is_not_a_folder():
    trace = dropped_call_trace()
    trace = replace(trace, server=replace(trace.server, model_root="moonshotai/Kimi-K2-Instruct"))

    assert mask_trace(trace) == trace
