"""What counts as raw output, why sampling ended, and what must be said."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import pytest

from prompt_debugger.core.base.types import (
    JSON,
    Basis,
    ChatResult,
    Completion,
    JSONObject,
    Prompt,
    PromptSpan,
    Server,
    TokenTable,
    Usage,
    Vocabulary,
)
from prompt_debugger.core.complete import Gathered, RenderAnswer, ServerClient, gather
from prompt_debugger.core.complete.ladder import (
    Sampling,
    notes_of,
    notes_of_refused,
    observed_server,
    place_on_ladder,
    sampler_finish_reason,
)
from prompt_debugger.core.complete.run_facts import read_facts
from tests.core.complete.faulty_server import answer, chunk, faulty_server, stream
from tests.core.complete.test_evidence import BEHAVIOURS, LOCAL, SERVER

CHAT = ChatResult(message={"content": "hi"}, finish_reason="tool_calls", token_ids=(1, 2))
RAW = Completion("hi", (1, 2), "length", evidence=Basis.OWN_RENDER)
SENT: JSONObject = {"temperature": 0}


@dataclass(frozen=True)
class TwoWords:
    """A tokenizer that writes ids as their digits; 2 ends a turn."""

    name: str = "two-words"
    vocabulary: Vocabulary = field(default_factory=lambda: Vocabulary(1_000, {2: "<end>"}, eos_ids=(2,)))

    def encode(self, text: str) -> tuple[int, ...]:
        return tuple(int(word) for word in text.split())

    def decode(self, token_ids: Sequence[int]) -> str:
        return " ".join(map(str, token_ids))

    def tokens_of_text(self, text: str, origins: Sequence[PromptSpan] = ()) -> TokenTable:
        return self.tokens_of_ids(self.encode(text))[1]

    def tokens_of_ids(self, token_ids: Sequence[int]) -> tuple[str, TokenTable]:
        return self.decode(token_ids), TokenTable("", (), (0,), {})


@pytest.mark.parametrize(
    ("chat", "others", "tokenizer", "max_tokens", "expected"),
    [
        (replace(CHAT, finish_reason="stop"), (RAW,), None, None, "stop"),
        (CHAT, (RAW,), None, None, "length"),
        (CHAT, (None, replace(CHAT, finish_reason="length")), None, None, "length"),
        (CHAT, (replace(RAW, token_ids=(1,)),), TwoWords(), 9, "stop"),
        (CHAT, (), TwoWords(), 2, "stop"),
        (CHAT, (), None, 2, "length"),
        (CHAT, (), None, 3, None),
        (CHAT, (), None, None, None),
    ],
)
def test_the_reason_why_sampling_ended_is_found_after_tool_calls(
    chat: ChatResult,
    others: Sequence[Completion | ChatResult | None],
    tokenizer: TwoWords | None,
    max_tokens: int | None,
    expected: str | None,
) -> None:
    found = sampler_finish_reason(chat, (1, 2), others=others, tokenizer=tokenizer, max_tokens=max_tokens)

    assert found == expected


def test_ids_that_no_one_can_decode_are_not_raw_output() -> None:
    found = place_on_ladder(Gathered(SENT, chat=CHAT), None, Sampling(RAW, (1,), "the chat's own prompt ids"))

    assert (found.evidence, found.raw) == (Basis.OWN_RENDER, RAW)
    assert found.why.startswith("The ids of the chat's run could not be decoded")


@pytest.mark.parametrize(
    ("sent", "usage", "words"),
    [
        (SENT, Usage(1, 5), "did not report 3 ids of the chat's run"),
        (SENT | {"n": 1}, Usage(1, 5), "did not report 3 ids of the chat's run"),
        (SENT | {"n": 2}, Usage(1, 5), "could not be decoded"),  # the count is of both choices together
        (SENT, Usage(1, 2), "could not be decoded"),
        (SENT, Usage(1, 1), "could not be decoded"),
        (SENT, Usage(1, None), "could not be decoded"),
        (SENT, None, "could not be decoded"),
    ],
)
def test_ids_are_missing_by_the_servers_own_count_of_one_choice(
    sent: JSONObject, usage: Usage | None, words: str
) -> None:
    chat = replace(CHAT, usage=usage)

    found = place_on_ladder(Gathered(sent, chat=chat), None, Sampling(RAW, (1,), "the chat's own prompt ids"))

    assert words in found.why


@pytest.mark.parametrize(
    ("gathered", "sampling", "rendered", "words"),
    [
        (Gathered(SENT, Basis.SAME_RUN, chat=CHAT, raw=RAW), Sampling(RAW), None, []),
        (Gathered(SENT, Basis.SAME_RUN, chat=CHAT), Sampling(problem="HTTP 5"), None, ["failed: HTTP 5"]),
        (Gathered({"n": 2, "seed": 1}, Basis.SAME_RUN, raw=RAW), Sampling(RAW), None, ["only the first"]),
        (Gathered({"temperature": 1}, Basis.SAME_RUN, chat=CHAT, raw=RAW), Sampling(RAW), None, ["sample differently"]),
        (Gathered({"temperature": 1}, Basis.SAME_RUN, raw=RAW), Sampling(RAW), None, []),  # there is no other run
        (
            Gathered(SENT, Basis.SAME_RUN, chat=replace(CHAT, prompt_token_ids=(1,)), raw=RAW),
            Sampling(RAW),
            RenderAnswer((2,), {}),
            ["other prompt ids"],
        ),
        (Gathered(SENT, None, "Why.", chat=replace(CHAT, error="Cut.")), Sampling(), None, ["Why.", "fault: Cut."]),
    ],
)  # fmt: skip
def test_what_must_be_said_is_reported_and_no_more(
    gathered: Gathered, sampling: Sampling, rendered: RenderAnswer | None, words: list[str]
) -> None:
    notes = notes_of(gathered, sampling, rendered)

    assert len(notes) == len(words)
    assert [word for word, note in zip(words, notes, strict=True) if word not in note] == []


def test_fields_that_are_refused_in_the_same_words_share_a_note() -> None:
    words = {"return_token_ids": "Unexpected.", "return_prompt_text": "Unexpected.", "logprobs": "No."}

    assert notes_of_refused(words) == (
        (
            "The server refuses `return_token_ids`, `return_prompt_text`, which were sent to learn "
            "more, so it was asked without: Unexpected."
        ),
        "The server refuses `logprobs`, which was sent to learn more, so it was asked without: No.",
    )
    assert notes_of_refused({}) == ()


VLLM = Server("http://h/v1", kind="vllm")


@pytest.mark.parametrize(
    ("server", "body", "expected"),
    [
        (VLLM, '{"usage": {"completion_tokens_details": {"reasoning_tokens": 0}}}', True),
        (VLLM, '{"usage": {"completion_tokens_details": null}}', False),
        (VLLM, '{"usage": {}}', None),
        (VLLM, "no JSON", None),
        (SERVER, '{"usage": {"completion_tokens_details": {}}}', None),
    ],
)
def test_only_vllm_shows_its_reasoning_parser_by_counting(server: Server, body: str, expected: bool | None) -> None:
    assert observed_server(server, read_facts(body)).has_reasoning_parser is expected


async def test_a_tokenizer_that_is_another_models_is_reported() -> None:
    choice: JSON = {"index": 0, "message": {"content": "hi"}, "finish_reason": "stop", "token_ids": [7]}
    behaviours = BEHAVIOURS | {
        "/v1/chat/completions": answer(200, {"choices": [choice], "prompt_token_ids": [1]}),
        "/detokenize": answer(200, {"prompt": "seven"}),
    }
    shown = replace(SERVER, features=frozenset({"detokenize"}))
    async with faulty_server(behaviours) as server, ServerClient(server.base_url) as client:
        found = await gather(client, shown, SENT, tokenizer=TwoWords(), local_prompt=LOCAL)

    assert found.raw is not None
    assert (found.evidence, found.raw.text) == (Basis.SAME_RUN, "seven")
    assert any("wrong tokenizer?" in note for note in found.notes)


async def test_a_tokenizer_that_decodes_as_the_server_does_is_not_remarked_on() -> None:
    choice: JSON = {"index": 0, "message": {"content": "hi"}, "finish_reason": "stop", "token_ids": [7]}
    behaviours = BEHAVIOURS | {
        "/v1/chat/completions": answer(200, {"choices": [choice], "prompt_token_ids": [7]}),
        "/detokenize": answer(200, {"prompt": "7"}),
    }
    shown = replace(SERVER, features=frozenset({"detokenize"}))
    async with faulty_server(behaviours) as server, ServerClient(server.base_url) as client:
        found = await gather(client, shown, SENT, tokenizer=TwoWords())
        unknown = await gather(client, shown, SENT, tokenizer=None)

    assert not [note for note in (*found.notes, *unknown.notes) if "tokenizer available" in note]


async def test_ids_are_decoded_here_where_the_server_does_not() -> None:
    choice: JSON = {"index": 0, "message": {"content": "hi"}, "finish_reason": "stop", "token_ids": [7]}
    behaviours = BEHAVIOURS | {
        "/v1/chat/completions": answer(200, {"choices": [choice]}),
        "/detokenize": answer(500),
        "/tokenize": answer(200, {"tokens": [4]}),
    }
    shown = replace(SERVER, features=frozenset({"detokenize", "tokenize"}))
    async with faulty_server(behaviours) as server, ServerClient(server.base_url) as client:
        found = await gather(client, shown, SENT, tokenizer=TwoWords())

    assert found.raw is not None
    assert (found.evidence, found.raw.text, found.prompt_token_ids) == (Basis.SAME_RUN, "7", (4,))


async def test_text_without_a_tokenizer_is_the_last_resort() -> None:
    shown = replace(SERVER, features=frozenset({"tokenize"}))
    async with (
        faulty_server(BEHAVIOURS | {"/tokenize": answer(500)}) as server,
        ServerClient(server.base_url) as client,
    ):
        found = await gather(client, shown, SENT, local_prompt=replace(LOCAL, tokens=None))

    assert found.evidence is Basis.TEXT_ONLY
    assert [b"<s>q" in request.body for request in server.received if request.path == "/v1/completions"] == [True]


async def test_reasoning_is_shown_until_there_is_content() -> None:
    events = [chunk(delta={"reasoning": "a"}), chunk(delta={"reasoning_content": "b"}), chunk(delta={"content": "c"})]
    texts: list[str] = []
    behaviours = BEHAVIOURS | {"/v1/chat/completions#stream": stream(*events, b"data: [DONE]\n\n")}
    async with faulty_server(behaviours) as server, ServerClient(server.base_url) as client:
        await gather(client, SERVER, SENT, on_chat_text=texts.append)

    assert texts == ["a", "ab", "c"]


async def test_the_end_token_of_the_tokenizer_says_that_a_call_was_not_cut() -> None:
    call: JSON = {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    choice: JSON = {
        "index": 0,
        "message": {"role": "assistant", "content": "1", "tool_calls": [call]},
        "finish_reason": "tool_calls",
        "token_ids": [1, 2],
    }
    whole = answer(200, {"choices": [choice], "prompt_token_ids": [5, 6]})
    behaviours = {**BEHAVIOURS, "/v1/chat/completions": whole}
    async with faulty_server(behaviours) as server, ServerClient(server.base_url) as client:
        body: JSONObject = {"model": "m", "messages": [], "temperature": 0}
        found = await gather(client, SERVER, body, tokenizer=TwoWords(), local_prompt=LOCAL)

    assert found.raw is not None
    assert (found.raw.token_ids, found.raw.finish_reason) == ((1, 2), "stop")


@pytest.mark.parametrize(
    ("prompt_ids", "prompt_text", "local", "is_believed"),
    [
        ([5, 6], "5 6", None, True),
        ([5, 6], "another prompt", None, False),
        ([5, 6], None, None, False),
        ([5, 6], None, LOCAL, True),
        ([5, 7], None, LOCAL, False),
        (None, "5 6", LOCAL, False),
    ],
)
async def test_a_tokenizer_is_believed_against_the_message_only_where_it_reads_the_prompt(
    prompt_ids: list[JSON] | None, prompt_text: str | None, local: Prompt | None, *, is_believed: bool
) -> None:
    message: JSON = {"content": "Paris has 21 degrees today, and the sun shines."}
    choice: JSON = {"index": 0, "message": message, "finish_reason": "stop", "token_ids": [7]}
    shown: JSONObject = {"choices": [choice], "prompt_token_ids": prompt_ids, "prompt_text": prompt_text}
    behaviours = BEHAVIOURS | {"/v1/chat/completions": answer(200, shown)}
    async with faulty_server(behaviours) as server, ServerClient(server.base_url) as client:
        found = await gather(client, SERVER, SENT, tokenizer=TwoWords(), local_prompt=local)

    own = found.raw is not None and found.evidence is Basis.SAME_RUN
    assert own is is_believed
    assert any("almost nothing in common" in note for note in found.notes) is not is_believed
