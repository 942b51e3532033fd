"""Flags of vLLM are named as vLLM's to a server that does not say what it is."""

import pytest

from prompt_debugger.core.base.types import Request, Server, Trace
from prompt_debugger.core.diagnose.calls.unparsed_calls import bare_list_steps
from prompt_debugger.core.diagnose.parser_setup import start_with

FLAGS = "`--tool-call-parser hermes`"


def advised(server: Server | None) -> str:
    return start_with(Trace(request=Request(body={}, text=""), server=server), FLAGS)


def test_a_server_of_unknown_make_is_told_whose_flags_they_are() -> None:
    assert advised(Server("http://127.0.0.1:8080/v1")) == f"If the server is vLLM, start it with {FLAGS}"


@pytest.mark.parametrize(
    "server",
    [
        None,
        Server("http://127.0.0.1:8000/v1", "vllm"),
        Server("http://127.0.0.1:8000/v1", tool_parser="kimi_k2"),
    ],
)
def test_where_nothing_says_that_it_is_another_the_flags_are_given_as_they_are(server: Server | None) -> None:
    assert advised(server) == f"Start the server with {FLAGS}"


def test_a_list_that_lost_its_marker_is_advised_with_flags_that_are_named_as_vllms_where_the_server_is_unknown() -> (
    None
):
    def advice(server: Server) -> str:
        trace = Trace(request=Request(body={}, text=""), server=server)
        return str(bare_list_steps(trace, "mistral")[0].text)

    assert (
        "servers remove: if the server is vLLM, start it with `--tool-call-parser mistral`, and with the model's"
        in (advice(Server("http://127.0.0.1:8080/v1")))
    )
    assert "servers remove: start the server with `--tool-call-parser mistral`, and" in (
        advice(Server("http://127.0.0.1:8000/v1", "vllm"))
    )
