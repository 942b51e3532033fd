"""What the tools below the ledger do, step by step, without a page: with a real vLLM's parsers and XGrammar."""

from contextlib import aclosing
from dataclasses import replace

import pytest

from prompt_debugger.core.base.errors import EngineError
from prompt_debugger.core.base.types import Server
from prompt_debugger.core.parse.engines import VllmEngine, fetch
from prompt_debugger.core.pipeline import Target
from prompt_debugger.core.tools.lab import LabPool
from prompt_debugger.ui.present import unpack_payload
from prompt_debugger.ui.web.labs import PageLabs
from prompt_debugger.ui.web.parse_tools import ParseTools
from prompt_debugger.ui.web.settings import PageSettings
from prompt_debugger.ui.web.targets import add_server
from tests.core.complete.faulty_server import answer, faulty_server
from tests.ui.present.traces import dropped_call_trace


@pytest.fixture(scope="module")
def engine():
    with_parsers = VllmEngine()
    yield with_parsers
    with_parsers.close()


@pytest.fixture
def tools(engine):
    return ParseTools(PageSettings(lab=False), PageLabs(LabPool(), enabled=False), engine)


@pytest.fixture
def trace():
    return replace(dropped_call_trace(), server=Server("http://127.0.0.1:9/v1", kind="vllm", tool_parser="kimi_k2"))


async def headers_of(payloads):
    async with aclosing(payloads) as items:
        return [unpack_payload(item)[0] async for item in items if item is not None]


async def test_every_tool_says_that_it_needs_an_output(tools):
    matrix = [change.matrix async for change in tools.matrix(None, "")]
    shown = [
        unpack_payload(matrix[-1])[0],
        (await headers_of(tools.splits(None, "", "", 0)))[-1],
        (await headers_of(tools.releases(None, "", "", "0.11.0")))[-1],
        (await headers_of(tools.constrained(None, "", "request")))[-1],
    ]

    assert [one["state"] for one in shown] == ["error"] * 4
    assert {one["sentence"] for one in shown} == {"There is no raw output yet."}


async def test_only_servers_that_the_page_ran_against_are_asked(tools, trace):
    """A bundle names the server that its author likes."""
    async with faulty_server(answer(500)) as server:
        shared = replace(trace, server=replace(trace.server, base_url=server.base_url, features=("derender",)))
        own = add_server((), shared)

        assert await tools._ask_server(shared, ("http://127.0.0.1:9/v1",)) == {}
        assert server.received == []
        await tools._ask_server(shared, own)
        assert server.received != []


def test_a_page_remembers_the_last_servers_that_it_ran_against(trace):
    servers = ()
    for number in [*range(20), 15]:
        servers = add_server(servers, replace(trace, server=Server(f"http://127.0.0.1:{number}/v1")))

    assert len(servers) == 8
    assert servers[-1] == "http://127.0.0.1:15/v1"
    assert add_server(servers, replace(trace, server=None)) == servers


@pytest.mark.vllm
async def test_the_matrix_grows_and_ends_with_findings_and_a_judged_trace(tools, trace):
    changes = [change async for change in tools.matrix(trace, "lab-model")]

    drawn = [unpack_payload(change.matrix)[0] for change in changes if change.matrix is not None]
    assert drawn[0]["state"] == "running"
    assert [len(one["rows"]) for one in drawn] == sorted(len(one["rows"]) for one in drawn)
    assert (drawn[-1]["state"], len(drawn[-1]["rows"])) == ("done", 54)
    assert changes[-1].findings is not None
    assert len(changes[-1].trace.parse.parsers) == 54
    streamed = [outcome for outcome in changes[-1].trace.parse.parsers.values() if outcome.error is None]
    assert len(streamed) > 45
    assert all(outcome.stream_equal is not None for outcome in streamed)


@pytest.mark.vllm
async def test_split_fuzz_takes_the_servers_own_parser_unless_another_is_named(tools, trace):
    own = (await headers_of(tools.splits(trace, "lab-model", "", 3)))[-1]
    named = (await headers_of(tools.splits(trace, "lab-model", "hermes", 3)))[-1]

    assert own["sentence"].startswith("`vllm:kimi_k2` streams")
    assert named["sentence"].startswith("`vllm:hermes` streams")
    assert any(name.endswith("seed 3") for name, *_ in own["trials"])


@pytest.mark.vllm
async def test_without_a_known_parser_the_format_decides(tools, trace):
    unknown = replace(trace, server=Server("http://127.0.0.1:9/v1"))

    assert "`vllm:kimi_k2`" in (await headers_of(tools.splits(unknown, "lab-model", "", 0)))[-1]["sentence"]


@pytest.mark.vllm
async def test_the_first_illegal_token_at_the_level_that_is_chosen(tools, trace):
    body = {
        **trace.request.body,
        "tools": [{"type": "function", "function": {"name": "get_weather", "parameters": {}}}],
    }
    asked = replace(trace, request=replace(trace.request, body=body))

    free = (await headers_of(tools.constrained(asked, "", "request")))[-1]
    held = (await headers_of(tools.constrained(asked, "", "request+strict")))[-1]
    unknown = (await headers_of(tools.constrained(asked, "", "as strict as can be")))[-1]

    assert free["status"] == "off"
    assert (held["status"], held["word"]) == ("steered", "would have been changed")
    assert held["interventions"][0]["allowed"][0].startswith("functions.get_weather")
    assert unknown["state"] == "error"
    assert "no enforcement level" in unknown["sentence"]


async def test_a_public_page_fetches_no_release(engine, trace):
    public = ParseTools(PageSettings(lab=False, public=True), PageLabs(LabPool(), enabled=False), engine)

    shown = (await headers_of(public.releases(trace, "", "kimi_k2", "0.11.0")))[-1]

    assert shown["state"] == "error"
    assert "public page" in shown["sentence"]


@pytest.mark.parametrize("versions", ["", " , ", ", ".join(f"0.{minor}.0" for minor in range(17))])
async def test_too_few_or_too_many_releases_are_refused(tools, trace, versions):
    shown = (await headers_of(tools.releases(trace, "", "kimi_k2", versions)))[-1]

    assert shown["sentence"].startswith(f"{len(versions.replace(',', ' ').split())} releases are given")


@pytest.mark.vllm
async def test_a_release_that_is_installed_needs_no_fetching(tools, trace):
    steps = await headers_of(tools.releases(trace, "lab-model", "kimi_k2", "0.32.0"))

    (table,) = steps[-1]["tables"]
    assert [row["version"] for row in table["rows"]] == ["0.32.0"]
    assert steps[-1]["state"] == "done"


@pytest.mark.vllm
async def test_releases_of_several_engines_are_asked_with_the_family_s_parsers(tools, trace):
    try:
        fetch("mlx-lm==0.32.2")
    except EngineError as error:
        pytest.skip(error.message)
    steps = await headers_of(tools.releases(trace, "lab-model", "", "0.32.0, mlx-lm==0.32.2"))

    assert [one["title"] for one in steps[-1]["tables"]] == [
        "vLLM, parser vllm:kimi_k2",
        "mlx-lm, parser mlx-lm:kimi_k2",
    ]
    assert "vLLM" in steps[-1]["sentence"]
    assert "mlx-lm" in steps[-1]["sentence"]


async def test_what_releases_cannot_be_asked_is_said(tools, trace):
    unknown = (await headers_of(tools.releases(trace, "", "", "sgalng==0.5.23")))[-1]
    unreleased = (await headers_of(tools.releases(trace, "", "sglang:kimi_k2, hermes", "sglang==0.5.23")))[-1]

    assert "`sgalng` is not an engine whose releases can be tested" in unknown["sentence"]
    assert "No release of vLLM is given" in unreleased["sentence"]


@pytest.mark.parametrize("seed", [-1, 2.0**40])
async def test_a_seed_out_of_range_is_refused(tools, trace, seed):
    assert "the seed is" in (await headers_of(tools.splits(trace, "", "kimi_k2", seed)))[-1]["sentence"].lower()


async def test_a_visitor_names_no_tokenizer(engine, trace):
    public = ParseTools(
        PageSettings(target=Target(tokenizer="own"), lab=False, public=True),
        PageLabs(LabPool(), enabled=False),
        engine,
    )

    assert public._tokenizer(trace, "/etc") == "own"
    assert ParseTools(PageSettings(lab=False), public._labs, engine)._tokenizer(trace, "mine") == "mine"
