"""What a look at a server gives, of a real vLLM and of servers that answer little."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from prompt_debugger.core.base.errors import BackendError
from prompt_debugger.core.base.types import JSON, JSONObject
from prompt_debugger.core.complete import ServerClient, Timeouts
from prompt_debugger.core.complete.answers import chat_logprobs_of
from prompt_debugger.core.complete.backends.limits import MAX_LOGPROBS
from prompt_debugger.core.complete.shapes import MAX_LOOK_PARTS, MAX_PARTS
from tests.core.complete.faulty_server import Behaviour, answer, faulty_server, hang, raw

SHORT = Timeouts(probe_s=1, wake_s=1)  # long enough for what does answer


def models(**fields: JSON) -> JSON:
    return {"data": [{"id": "m", **fields}]}


@pytest.mark.lab
async def test_a_real_vllm_shows_itself(lab_url: str, lab_model_dir: Path) -> None:
    async with ServerClient(lab_url) as client:
        server = await client.probe()

    assert (server.kind, server.version, server.model) == ("vllm", "0.32.0", "lab-model")
    assert (server.max_model_len, server.model_root) == (2048, str(lab_model_dir))
    assert server.features >= {"render", "derender", "tokenize", "detokenize", "tokenizer_info", "completions"}
    assert "tool_parser" in server.features
    assert client.notes == ()


async def test_a_server_without_a_model_list_is_no_failure_but_is_reported() -> None:
    async with faulty_server(answer(404, {"detail": "Not Found"})) as server, ServerClient(server.base_url) as client:
        found = await client.probe()

    assert (found.kind, found.model, found.features) == ("openai-compatible", None, frozenset())
    assert len(client.notes) == 1
    assert "answered 404" in client.notes[0]
    assert "name the model" in client.notes[0]


async def test_an_empty_model_list_is_reported() -> None:
    async with faulty_server(answer(200, {"data": []})) as server, ServerClient(server.base_url) as client:
        await client.probe()

    assert client.notes == ("The server lists no model: name the model in the request.",)


async def test_a_server_that_only_lists_models_is_known_by_them() -> None:
    listing = answer(200, models(owned_by="vllm", max_model_len=7, root="org/m"))
    behaviours = {"/v1/models": listing, "/version": hang(), "/metrics": raw(b""), "*": answer(405)}
    async with faulty_server(behaviours) as server, ServerClient(server.base_url, timeouts=SHORT) as client:
        found = await client.probe()

    assert (found.kind, found.model, found.max_model_len, found.model_root) == ("vllm", "m", 7, "org/m")
    assert (found.version, found.features, client.notes) == (None, frozenset(), ())


async def test_a_look_that_hangs_holds_up_nothing_once_the_models_are_listed() -> None:
    """Without the bound beside the list this would end by its own timeout, minutes later."""
    behaviours = {"/v1/models": answer(200, models(owned_by="vllm")), "/version": hang(), "*": answer(404)}
    patient = Timeouts(probe_s=600, beside_s=0.05)
    async with faulty_server(behaviours) as server, ServerClient(server.base_url, timeouts=patient) as client:
        found = await asyncio.wait_for(client.probe(), 60)

    assert (found.kind, found.model, found.version) == ("vllm", "m", None)


async def test_a_list_of_models_that_is_slow_itself_is_waited_for() -> None:
    behaviours = {"/v1/models": hang(), "/version": answer(200, {"version": "0.32.0"}), "*": answer(404)}
    impatient = Timeouts(probe_s=0.3, wake_s=0.3, beside_s=0)
    async with faulty_server(behaviours) as server, ServerClient(server.base_url, timeouts=impatient) as client:
        found = await client.probe("m")

    assert found.version == "0.32.0"


async def test_paths_that_only_one_software_has_are_asked_together() -> None:
    """Each answers once all have been asked: one after the other they would wait for each other."""
    asked, own = asyncio.Event(), {"/props", "/api/version", "/api/tags"}
    waiting: set[str] = set()

    def once_all_are_asked(path: str, body: JSON) -> Behaviour:
        async def behave(writer: asyncio.StreamWriter) -> None:
            waiting.add(path)
            if waiting == own:
                asked.set()
            await asked.wait()
            await answer(200, body)(writer)

        return behave

    answers: dict[str, JSON] = {"/props": {}, "/api/version": {"version": "0.13"}, "/api/tags": {"models": []}}
    behaviours = {path: once_all_are_asked(path, body) for path, body in answers.items()}
    behaviours |= {"/v1/models": answer(200, models()), "*": answer(404)}
    patient = Timeouts(probe_s=600)
    async with faulty_server(behaviours) as server, ServerClient(server.base_url, timeouts=patient) as client:
        found = await asyncio.wait_for(client.probe(), 60)

    assert found.kind == "ollama"


async def test_none_is_waited_for_once_one_of_them_has_settled_it() -> None:
    behaviours = {
        "/v1/models": answer(200, models()),
        "/props": answer(200, {"build_info": "b1", "total_slots": 1, "default_generation_settings": {"n_ctx": 9}}),
        "/api/version": hang(),
        "/api/tags": hang(),
        "*": answer(404),
    }
    patient = Timeouts(probe_s=600)
    async with faulty_server(behaviours) as server, ServerClient(server.base_url, timeouts=patient) as client:
        found = await asyncio.wait_for(client.probe(), 60)

    assert (found.kind, found.max_model_len) == ("llama.cpp", 9)


async def test_a_server_that_was_asleep_is_waited_for_at_the_first_look() -> None:
    """As one that a host stops for want of requests: the first answer takes as long as its start."""
    listing = answer(200, models(owned_by="vllm"))

    async def wake(writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(0.5)
        await listing(writer)

    asleep = Timeouts(probe_s=0.1, wake_s=60)
    behaviours = {"/v1/models": wake, "*": answer(404)}
    async with faulty_server(behaviours) as server, ServerClient(server.base_url, timeouts=asleep) as client:
        found = await client.probe()

    assert (found.kind, found.model) == ("vllm", "m")


async def test_endpoints_are_tried_where_the_server_hides_its_description() -> None:
    """vLLM with `--disable-fastapi-docs`; an empty body makes an endpoint complain, not work."""
    behaviours = {
        "/v1/models": answer(200, models(owned_by="vllm")),
        "/tokenize": answer(400, {"error": "messages or prompt"}),
        "/detokenize": answer(422),
        "/tokenizer_info": answer(200, {}),
        "/v1/chat/completions/render": answer(403, {"error": "Scale-out endpoints are disabled"}),
        "*": answer(404),
    }
    async with faulty_server(behaviours) as server, ServerClient(server.base_url) as client:
        found = await client.probe()

    assert found.features == {"tokenize", "detokenize", "tokenizer_info"}


@pytest.mark.parametrize(
    ("paths", "kind", "details"),
    [
        ({"/metrics": answer(200, b"# HELP vllm:x\nvllm:x 1", "text/plain")}, "vllm", {}),
        (
            {
                "/v1/models": answer(200, models(owned_by="sglang")),
                "/get_server_info": answer(
                    200, {"version": "0.5", "tool_call_parser": "qwen25", "reasoning_parser": "qwen3"}
                ),
            },
            "sglang",
            {"version": "0.5", "tool_parser": "qwen25", "reasoning_parser": "qwen3", "has_reasoning_parser": True},
        ),
        (
            {
                "/v1/models": answer(200, models(owned_by="llamacpp")),
                "/props": answer(200, {"build_info": "b1-x", "default_generation_settings": {"n_ctx": 9}}),
            },
            "llama.cpp",
            {"version": "b1-x", "max_model_len": 9},
        ),
        ({"/v1/models": answer(200, models(), server="llama.cpp")}, "llama.cpp", {}),
        (
            {
                "/v1/models": answer(200, models(owned_by="vllm")),
                "/openapi.json": answer(200, {"paths": {"/server_info": {}}}),
                "/server_info": answer(
                    200, {"vllm_config": {"structured_outputs_config": {"reasoning_parser": "qwen3"}}}
                ),
            },
            "vllm",
            {"reasoning_parser": "qwen3", "has_reasoning_parser": True},
        ),
        (
            {
                "/v1/models": answer(200, models(owned_by="vllm")),
                "/openapi.json": answer(200, {"paths": {"/server_info": {}}}),
            },
            "vllm",
            {"reasoning_parser": None, "has_reasoning_parser": None},
        ),
        ({"/v1/models": answer(200, [1, {"data": "x"}])}, "openai-compatible", {"model": None}),
    ],
)
async def test_servers_are_distinguished(paths: dict[str, Behaviour], kind: str, details: dict[str, object]) -> None:
    behaviours = {"*": answer(404), **paths}
    async with faulty_server(behaviours) as server, ServerClient(server.base_url) as client:
        found = await client.probe()

    assert found.kind == kind
    assert {name: getattr(found, name) for name in details} == details


async def test_a_server_that_answers_nothing_is_a_failure() -> None:
    async with faulty_server(hang()) as server, ServerClient(server.base_url, timeouts=SHORT) as client:
        with pytest.raises(BackendError) as caught:
            await client.probe()

    assert caught.value.kind == "timeout"
    assert "/v1/models" in caught.value.message


async def test_ollama_is_known_by_its_own_endpoints_or_by_its_models_owner() -> None:
    own = {"/api/version": answer(200, {"version": "0.12.0"}), "/api/tags": answer(200, {"models": []})}
    renamed = {"/v1/models": answer(200, models(owned_by="somebody")), "*": answer(404)}
    for behaviours in (renamed | own, {"/v1/models": answer(200, models(owned_by="library")), "*": answer(404)}):
        async with faulty_server(behaviours) as server, ServerClient(server.base_url) as client:
            assert (await client.probe()).kind == "ollama"


async def test_a_version_at_the_same_path_alone_is_not_ollama() -> None:
    behaviours = {"/v1/models": answer(200, models()), "/api/version": answer(200, {"version": "3"}), "*": answer(404)}
    async with faulty_server(behaviours) as server, ServerClient(server.base_url) as client:
        assert (await client.probe()).kind == "openai-compatible"


TWO: JSON = {
    "data": [
        {"id": "small", "owned_by": "vllm", "root": "org/small", "max_model_len": 100},
        {"id": "large", "owned_by": "vllm", "root": "org/large", "max_model_len": 2048},
    ]
}


@pytest.mark.parametrize(
    ("model", "name", "root", "length"),
    [
        ("large", "large", "org/large", 2048),
        ("small", "small", "org/small", 100),
        (None, "small", "org/small", 100),
        ("other", "other", None, None),
    ],
)
async def test_what_is_reported_of_a_model_is_reported_of_the_requested_one(
    model: str | None, name: str, root: str | None, length: int | None
) -> None:
    behaviours = {"*": answer(404), "/v1/models": answer(200, TWO)}
    async with faulty_server(behaviours) as server, ServerClient(server.base_url) as client:
        found = await client.probe(model)

    assert (found.model, found.model_root, found.max_model_len) == (name, root, length)
    assert (found.kind, found.served_models) == ("vllm", ("small", "large"))
    if model in ("large", "small"):
        assert client.notes == ()
    elif model is None:
        assert client.notes == ("The request names no model: `small` was asked, the first of `small`, `large`.",)
    else:
        assert client.notes[0].startswith("The server lists no model named `other`, only `small`, `large`:")


async def test_an_alias_is_a_name_and_llama_cpp_serves_its_model_under_any() -> None:
    listed: JSON = {"id": "/m.gguf", "aliases": ["lab"], "owned_by": "llamacpp", "max_model_len": 5}
    behaviours = {"*": answer(404), "/v1/models": answer(200, {"data": [listed]})}
    async with faulty_server(behaviours) as server, ServerClient(server.base_url) as client:
        by_alias = await client.probe("lab")
        notes_by_alias = client.notes
        by_other = await client.probe("other")

    assert (by_alias.max_model_len, notes_by_alias) == (5, ())
    assert (by_other.model, by_other.max_model_len) == ("other", 5)
    assert "lists no model named `other`" in client.notes[0]


async def test_a_model_list_that_hangs_is_not_blamed_on_the_request() -> None:
    behaviours = {"*": answer(404), "/v1/models": hang()}
    async with faulty_server(behaviours) as server, ServerClient(server.base_url, timeouts=SHORT) as client:
        await client.probe("m")

    assert "/v1/models" in client.notes[0]
    assert "max_tokens" not in client.notes[0]
    assert "name the model" not in client.notes[0]


async def test_a_server_that_hangs_at_every_look_is_reported_without_max_tokens() -> None:
    slow = Timeouts(probe_s=0.2, wake_s=0.2)
    async with faulty_server(hang()) as server, ServerClient(server.base_url, timeouts=slow) as client:
        with pytest.raises(BackendError) as caught:
            await client.probe("m")

    assert "/v1/models: no complete answer within 0.2 s." in caught.value.message
    assert "max_tokens" not in caught.value.hint


async def test_llama_cpp_is_known_after_a_list_of_models_that_says_vllm() -> None:
    props: JSON = {"default_generation_settings": {"n_ctx": 9}, "total_slots": 1}
    behaviours = {"*": answer(404), "/v1/models": answer(200, TWO), "/props": answer(200, props)}
    async with faulty_server(behaviours) as server, ServerClient(server.base_url) as client:
        assert (await client.probe("large")).kind == "llama.cpp"


async def test_of_endless_models_the_first_are_read() -> None:
    listed: JSON = [{"id": f"m{number}"} for number in range(6_000)]
    behaviours = {"*": answer(404), "/v1/models": answer(200, {"data": listed})}
    async with faulty_server(behaviours) as server, ServerClient(server.base_url) as client:
        found = await client.probe()

    assert (found.model, len(found.served_models)) == ("m0", 5_000)


async def test_an_answer_of_more_parts_than_any_has_is_refused_unread(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten million empty objects fit into 32 MB; looking at each held a page up for half a minute."""
    many = b'{"data": [' + b"{}," * MAX_PARTS + b"{}]}"
    monkeypatch.setattr("prompt_debugger.core.complete.shapes.json.loads", lambda *_: pytest.fail("read"))
    async with faulty_server(answer(200, many)) as server, ServerClient(server.base_url) as client:
        found = await client.probe()
        with pytest.raises(BackendError, match="more than 1,000,000 objects and lists"):
            await client.chat({"messages": []})

    assert found.model is None


async def test_a_server_that_says_endless_things_of_itself_says_nothing() -> None:
    many = b'{"data": [' + b'{"id": "m"},' * MAX_LOOK_PARTS + b'{"id": "m"}]}'
    behaviours = {"*": answer(404), "/v1/models": answer(200, many)}
    async with faulty_server(behaviours) as server, ServerClient(server.base_url) as client:
        found = await client.probe()

    assert (found.model, found.served_models) == (None, ())


def test_endless_log_probabilities_are_not_read() -> None:
    one: JSON = {"token": "a", "logprob": -1.0}

    assert chat_logprobs_of({"content": [one] * (MAX_LOGPROBS + 1)}) is None
    assert len(chat_logprobs_of({"content": [one]}) or ()) == 1


@pytest.mark.parametrize(("status", "wants_key"), [(401, True), (404, False), (500, False)])
async def test_a_server_that_lists_nothing_without_a_key_is_known_as_such(status, wants_key):
    paths = {"/version": answer(200, {"version": "0.32.0"}), "*": answer(status)}
    async with faulty_server(paths) as server, ServerClient(server.base_url) as client:
        await client.probe()

    assert client.wants_key is wants_key


@pytest.mark.parametrize(
    ("owner", "kind"),
    [
        ("vllm-mlx", "vllm-mlx"),
        ("rapid-mlx", "rapid-mlx"),
        ("omlx", "omlx"),
        ("tensorrt_llm", "tensorrt-llm"),
        ("OVMS", "ovms"),
        ("organization_owner", "lm-studio"),
        ("vllm-mlx-embedding", "openai-compatible"),
        ("organization", "openai-compatible"),
    ],
)
async def test_a_server_is_known_by_the_owner_of_its_models(owner: str, kind: str) -> None:
    behaviours = {"/v1/models": answer(200, models(owned_by=owner)), "*": answer(404)}
    async with faulty_server(behaviours) as server, ServerClient(server.base_url) as client:
        found = await client.probe()

    assert found.kind == kind


@pytest.mark.parametrize(
    ("stats", "kind"), [({"queue_stats": {}, "batch_stats": {}}, "mlx-openai-server"), ({}, "openai-compatible")]
)
async def test_a_server_without_a_name_is_known_by_its_queues(stats: JSONObject, kind: str) -> None:
    behaviours = {
        "/v1/models": answer(200, models(owned_by="local")),
        "/v1/queue/stats": answer(200, {"status": "ok", "queue_stats": stats}),
        "*": answer(404),
    }
    async with faulty_server(behaviours) as server, ServerClient(server.base_url) as client:
        assert (await client.probe()).kind == kind


@pytest.mark.parametrize(("listed", "is_noted"), [("*", False), ("lab-*", False), ("gpt-*", True), ("other", True)])
async def test_a_pattern_in_the_list_names_every_model_that_fits(listed: str, *, is_noted: bool) -> None:
    listing: JSON = {"object": "list", "data": [{"id": listed, "object": "model", "owned_by": "gateway"}]}
    behaviours = {"/v1/models": answer(200, listing), "*": answer(404)}
    async with faulty_server(behaviours) as server, ServerClient(server.base_url) as client:
        await client.probe("lab-model")

    assert any("lists no model named" in note for note in client.notes) is is_noted


@pytest.mark.parametrize(
    "listing",
    [
        [{"id": "lab-model"}],
        {"models": [{"name": "models/lab-model"}]},
        {"models": [{"name": "lab-model", "endpoints": ["chat"]}]},
        {"result": [{"name": "lab-model"}], "success": True},
        {"data": ["lab-model"]},
        {"data": [{"id": "lab-model", "name": "Lab"}], "models": [{"slug": "other"}]},
    ],
)
async def test_a_list_of_models_is_read_in_the_form_of_any_vendor(listing: JSON) -> None:
    behaviours = {"/v1/models": answer(200, listing), "*": answer(404)}
    async with faulty_server(behaviours) as server, ServerClient(server.base_url) as client:
        found = await client.probe("lab-model")

    assert found.served_models == ("lab-model",)
    assert client.notes == ()


@pytest.mark.parametrize(
    ("sent", "says"),
    [
        (answer(200, b"<html><title>A gateway</title></html>", "text/html"), "answers with a web page at `/v1/models`"),
        (answer(200, {"error": {"message": "Not for you."}}), "answers with an error (Not for you) at `/v1/models`"),
        (answer(200, {"status": "ok"}), "answers with something else at `/v1/models`"),
        (answer(200, {"data": []}), "lists no model:"),
        (answer(200, {"data": None}), "lists no model:"),
        (answer(200, []), "lists no model:"),
        (answer(200, b"[" * 1_000), "lists no model:"),
    ],
)
async def test_what_is_no_list_of_models_is_not_called_an_empty_one(sent: Behaviour, says: str) -> None:
    behaviours = {"/v1/models": sent, "*": answer(404)}
    async with faulty_server(behaviours) as server, ServerClient(server.base_url) as client:
        await client.probe("lab-model")

    (note,) = client.notes
    assert says in note
