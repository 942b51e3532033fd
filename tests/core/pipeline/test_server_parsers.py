"""Parsers that a server runs: vLLM's derenderer on the lab, and SGLang's endpoints by a server of their wire format.

SGLang does not run on this kind of machine. The server here answers byte for byte as its handlers do, with the
parsing of its `qwen25` and `deepseek-r1` parsers cut down to what the tests send.
"""

import json
import re
from http.server import BaseHTTPRequestHandler

import httpx
import pytest

from prompt_debugger.core.base.errors import EngineError
from prompt_debugger.core.base.types import Server
from prompt_debugger.core.complete import ServerClient
from prompt_debugger.core.parse.engines import RawOutput
from prompt_debugger.core.pipeline import CaseParser, Target, ask_server_parsers, server_parsers_of
from prompt_debugger.core.pipeline.opening import look_at
from tests.patience import PATIENCE_S
from tests.threads import handling

ARGUMENTS = '{"city": "Paris"}'
TOOL = {"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object"}}}
HERMES = f'<tool_call>\n{{"name": "get_weather", "arguments": {ARGUMENTS}}}\n</tool_call>'


class Sglang(BaseHTTPRequestHandler):
    """SGLang's wire format: models, server info, the two parser endpoints; all else is not found."""

    seen: list[tuple[str, object]] = []  # noqa: RUF012 - of the class, as the server makes one object per request
    openapi = True

    def do_GET(self):
        answers = {
            "/v1/models": {"object": "list", "data": [{"id": "m", "object": "model", "owned_by": "sglang"}]},
            "/get_server_info": {"tool_call_parser": "qwen25", "reasoning_parser": "deepseek-r1", "version": "0.5.4"},
        }
        if self.openapi:
            answers["/openapi.json"] = {"paths": {"/parse_function_call": {}, "/separate_reasoning": {}}}
        self.answer(200 if self.path in answers else 404, answers.get(self.path, {"detail": "Not Found"}))

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])) or b"null")
        self.seen.append((self.path, body))
        if self.path == "/parse_function_call":
            if "text" not in body:
                return self.answer(422, {"detail": [{"type": "missing", "loc": ["body", "text"]}]})
            if body["tool_call_parser"] != "qwen25":
                return self.answer(500, "Internal Server Error")
            found = re.findall(r"<tool_call>\n(.*?)\n</tool_call>", body["text"], re.DOTALL)
            calls = [json.loads(one) for one in found]
            items = [
                {"tool_index": -1, "name": call["name"], "parameters": json.dumps(call["arguments"])} for call in calls
            ]
            return self.answer(200, {"normal_text": body["text"].partition("<tool_call>")[0], "calls": items})
        if self.path == "/separate_reasoning":
            if "text" not in body:
                return self.answer(422, {"detail": [{"type": "missing", "loc": ["body", "text"]}]})
            reasoning, _, text = body["text"].removeprefix("<think>").partition("</think>")
            return self.answer(200, {"reasoning_text": reasoning.rstrip(), "text": text.strip()})
        return self.answer(404, {"detail": "Not Found"})

    def answer(self, status, body):
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


class OlderSglang(Sglang):
    """One that hides its description and has no reasoning endpoint."""

    openapi = False

    def do_POST(self):
        if self.path == "/separate_reasoning":
            self.rfile.read(int(self.headers["content-length"]))
            return self.answer(404, {"detail": "Not Found"})
        return super().do_POST()


@pytest.fixture
def sglang_url():
    Sglang.seen.clear()
    with handling(Sglang) as address:
        yield f"{address}/v1"


@pytest.fixture
def older_sglang_url():
    with handling(OlderSglang) as address:
        yield f"{address}/v1"


async def ask(url, names, output, text=None):
    async with ServerClient(url) as client:
        await client.probe()
        return await ask_server_parsers(client, names, output, text=text)


def calls_of(outcome):
    return [(call["function"]["name"], json.loads(call["function"]["arguments"])) for call in outcome.tool_calls]


async def test_a_probe_finds_sglangs_parsers_and_their_names(sglang_url, older_sglang_url):
    async with ServerClient(sglang_url) as client, ServerClient(older_sglang_url) as older:
        found = server_parsers_of(await client.probe())
        found_without_description = server_parsers_of(await older.probe())

    assert found == ("sglang:qwen25+deepseek-r1",)
    assert found_without_description == ("sglang:qwen25",)


@pytest.mark.parametrize(("named", "families"), [(None, ("hermes",)), ("kimi_k2", ("kimi_k2",)), ("newest", ())])
async def test_a_run_knows_what_sglangs_parser_is_made_for_by_its_own_name(sglang_url, named, families):
    async with ServerClient(sglang_url) as client:
        server = await look_at(client, Target(base_url=sglang_url, tool_parser=named), None, is_lab=False)

    assert (server.tool_parser, server.parser_families) == (named or "qwen25", families)


async def test_sglang_separates_reasoning_first_and_parses_calls_in_the_rest(sglang_url):
    raw = f"<think>Look it up.</think>\n\nI will.\n{HERMES}<|im_end|>"
    output = RawOutput(raw, tools=(TOOL,))

    outcomes = await ask(sglang_url, ["sglang:qwen25+deepseek-r1"], output, text=raw.removesuffix("<|im_end|>"))

    outcome = outcomes["sglang:qwen25+deepseek-r1"]
    assert (outcome.reasoning, outcome.content, outcome.error) == ("Look it up.", "I will.\n", None)
    assert calls_of(outcome) == [("get_weather", {"city": "Paris"})]
    assert Sglang.seen == [
        ("/separate_reasoning", {"text": raw.removesuffix("<|im_end|>"), "reasoning_parser": "deepseek-r1"}),
        ("/parse_function_call", {"text": f"I will.\n{HERMES}", "tool_call_parser": "qwen25", "tools": [TOOL]}),
    ]


async def test_without_tools_sglang_is_not_asked_for_calls(sglang_url):
    outcomes = await ask(sglang_url, ["sglang:qwen25"], RawOutput(HERMES, tools=()))

    assert outcomes["sglang:qwen25"].tool_calls == ()
    assert outcomes["sglang:qwen25"].content == HERMES
    assert Sglang.seen == []


async def test_what_the_server_refuses_is_an_outcome(sglang_url, older_sglang_url):
    output = RawOutput(HERMES, tools=(TOOL,))

    unknown = (await ask(sglang_url, ["sglang:qwen_99"], output))["sglang:qwen_99"]
    absent = (await ask(older_sglang_url, ["sglang:-+deepseek-r1"], output))["sglang:-+deepseek-r1"]
    no_vllm = (await ask(sglang_url, ["derender"], RawOutput(HERMES, token_ids=(1,))))["derender"]
    no_ids = (await ask(sglang_url, ["derender"], output))["derender"]

    assert "500" in unknown.error
    assert "does not offer this (HTTP 404)" in absent.error
    assert "does not offer this (HTTP 404)" in no_vllm.error
    assert "ids of this output are not known" in no_ids.error


@pytest.mark.parametrize("name", ["sglang:", "sglang:x+", "sglang:-", "qwen25"])
async def test_what_is_not_a_name_is_refused(sglang_url, name):
    async with ServerClient(sglang_url) as client:
        with pytest.raises(EngineError, match="is not the name of a server's parser"):
            await ask_server_parsers(client, [name], RawOutput("x"))


def test_a_case_asks_the_server_and_its_ledger_is_against_that_answer(sglang_url):
    case = {"raw": f"Hm. {HERMES}<|im_end|>", "tools": [TOOL], "parsers": ["sglang:qwen25"]}
    with CaseParser(Target(base_url=sglang_url)) as parser:
        parse, findings, _ = parser.parse(case)

    assert calls_of(parse.parsers["sglang:qwen25"]) == [("get_weather", {"city": "Paris"})]
    assert [match.message_index for match in parse.ledger.matches] == [0]
    assert [finding.code for finding in findings if finding.severity == "error"] == []
    assert Sglang.seen[-1][1]["text"] == f"Hm. {HERMES}"


def test_a_parser_of_a_server_needs_a_server():
    with CaseParser() as parser, pytest.raises(EngineError, match="no endpoint was given"):
        parser.parse({"raw": "x", "parsers": ["derender"]})


def test_other_servers_offer_none():
    features = frozenset({"derender", "parse_function_call"})

    assert server_parsers_of(Server("http://x/v1", kind="llama.cpp", features=features)) == ()
    assert server_parsers_of(Server("http://x/v1", kind="vllm")) == ()
    assert server_parsers_of(Server("http://x/v1", kind="sglang", tool_parser="x")) == ()


@pytest.mark.lab
async def test_the_labs_own_parsers_run_on_given_ids(lab_url):
    body = {
        "model": "lab-model",
        "messages": [{"role": "user", "content": "What's the weather in Paris?"}],
        "tools": [TOOL],
        "temperature": 0,
        "return_token_ids": True,
    }
    answer = httpx.post(f"{lab_url}/chat/completions", json=body, timeout=PATIENCE_S).json()
    choice = answer["choices"][0]
    output = RawOutput(
        "", request=body, token_ids=tuple(choice["token_ids"]), prompt_token_ids=tuple(answer["prompt_token_ids"])
    )

    outcome = (await ask(lab_url, ["derender"], output))["derender"]

    message = choice["message"]
    assert outcome.error is None
    assert outcome.content == message["content"]
    assert [call["function"] for call in outcome.tool_calls] == [call["function"] for call in message["tool_calls"]]
    assert len(outcome.tool_calls) == 1
