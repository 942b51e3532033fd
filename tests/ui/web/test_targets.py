import pytest

from prompt_debugger.core.base.errors import BackendError, RequestError
from prompt_debugger.core.base.types import Request, Server
from prompt_debugger.core.pipeline import Target
from prompt_debugger.core.tools.lab import LabPool
from prompt_debugger.ui.web.asked import request_for
from prompt_debugger.ui.web.labs import PageLabs
from prompt_debugger.ui.web.settings import PageSettings
from prompt_debugger.ui.web.targets import (
    NoServerError,
    RunOn,
    TargetFields,
    add_key_field,
    choose_target,
    fields_for_run,
    is_same_address,
    pasted_key,
    run_label,
    target_label,
    target_of_server,
)

OWN = "http://own.example/v1"


@pytest.fixture
def labs():
    labs = PageLabs(LabPool(), enabled=True)
    labs.enabled = True  # whether vLLM is installed is another question
    return labs


def choose(labs, settings=None, **fields):
    blank = {"endpoint": "", "model": "", "tokenizer": "", "tool_parser": "kimi_k2", "reasoning_parser": "none"}
    key = fields.pop("key", "")
    return choose_target(settings or PageSettings(), labs, TargetFields(**{**blank, **fields}), key)


def test_an_empty_endpoint_means_the_lab_with_the_chosen_parsers(labs):
    target = choose(labs, tool_parser="hermes", reasoning_parser="deepseek_r1")

    assert (target.base_url, target.lab.tool_parser, target.lab.reasoning_parser) == (None, "hermes", "deepseek_r1")


def pasted(base_url):
    return Request({"messages": []}, "", "curl", base_url)


def test_a_pasted_call_is_answered_by_the_server_it_names_and_not_by_the_lab(labs):
    empty = TargetFields("", "m", "t", "kimi_k2", "none")
    named = fields_for_run(PageSettings(), empty, pasted("http://127.0.0.1:8123/v1"), RunOn.AUTO)

    target = choose_target(PageSettings(), labs, named)

    assert (target.base_url, target.model, target.tokenizer) == ("http://127.0.0.1:8123/v1", None, None)


@pytest.mark.parametrize(
    ("endpoint", "run_on", "public", "url", "expected"),
    [
        (OWN, RunOn.AUTO, False, "http://a.example/v1", OWN),
        (OWN, RunOn.LAB, False, "http://a.example/v1", ""),
        ("", RunOn.LAB, False, "http://a.example/v1", ""),
        ("", RunOn.AUTO, True, "http://a.example/v1", ""),
        ("", RunOn.AUTO, False, None, ""),
        ("", RunOn.AUTO, False, "http://169.254.169.254/v1", ""),
        ("", RunOn.AUTO, False, "http://metadata.google.internal/v1", ""),
    ],
)
def test_what_was_chosen_is_stronger_than_what_a_paste_names(endpoint, run_on, public, url, expected):
    fields = TargetFields(endpoint, "", "", "none", "none")

    assert fields_for_run(PageSettings(public=public), fields, pasted(url), run_on).endpoint == expected


@pytest.mark.parametrize(
    ("endpoint", "run_on", "said"),
    [
        ("", RunOn.AUTO, "Run on lab"),
        ("", RunOn.RAW, "Run raw on lab"),
        ("http://localhost:8000/v1/", RunOn.AUTO, "Run on localhost:8000"),
        ("https://api.example.com/v1", RunOn.AUTO, "Run on api.example.com"),
        ("https://api.example.com/v1", RunOn.LAB, "Run on lab"),
    ],
)
def test_run_says_where_the_request_goes(labs, endpoint, run_on, said):
    assert run_label(PageSettings(), labs, endpoint, run_on) == said


def test_raw_output_only_asks_for_no_chat(labs):
    fields = TargetFields("http://a.example/v1", "", "", "none", "none")

    raw = fields_for_run(PageSettings(), fields, pasted(None), RunOn.RAW)

    assert choose_target(PageSettings(), labs, raw).raw_only
    assert not choose_target(PageSettings(), labs, fields).raw_only


@pytest.mark.parametrize("endpoint", ["localhost:8000", "127.0.0.1:8000/v1", "[::1]:8000", "my-host.example:80/v1"])
def test_an_address_needs_no_scheme(labs, endpoint):
    assert choose(labs, endpoint=endpoint).base_url == f"http://{endpoint}"


@pytest.mark.parametrize("endpoint", ["just words", "ftp://a.example:21/v1", "file:///etc/passwd", "a.example"])
def test_what_is_not_an_address_of_a_server_is_refused(labs, endpoint):
    with pytest.raises(RequestError):
        choose(labs, endpoint=endpoint)


@pytest.mark.parametrize(
    ("typed", "other", "expected"),
    [
        ("http://127.0.0.1:8000", "http://127.0.0.1:8000/v1", True),
        ("127.0.0.1:8000/v1/", "http://127.0.0.1:8000/v1", True),
        ("http://127.0.0.1:8000/v1/chat/completions", "http://127.0.0.1:8000", True),
        ("http://127.0.0.1:8001", "http://127.0.0.1:8000/v1", False),
        ("https://127.0.0.1:8000", "http://127.0.0.1:8000/v1", False),
        ("http://127.0.0.1:8000/own", "http://127.0.0.1:8000/v1", False),
        ("", "http://127.0.0.1:8000/v1", False),
        ("http://127.0.0.1:8000/v1", None, False),
    ],
)
def test_one_server_may_be_written_in_several_ways(typed, other, expected):
    assert is_same_address(typed, other) is expected


def test_none_means_no_parser(labs):
    assert choose(labs, tool_parser="none").lab.tool_parser is None


def test_the_key_goes_to_the_operators_endpoint_and_to_no_other(labs):
    settings = PageSettings(target=Target(base_url=OWN, api_key="secret"))

    assert choose(labs, settings, endpoint=OWN + "/").api_key == "secret"
    assert choose(labs, settings, endpoint="http://other.example/v1").api_key is None
    assert choose(labs, settings, endpoint="").api_key is None


def test_a_typed_key_goes_to_the_endpoint_next_to_it(labs):
    settings = PageSettings(target=Target(base_url=OWN, api_key="secret"))

    assert choose(labs, settings, endpoint="http://other.example/v1", key=" typed ").api_key == "typed"
    assert choose(labs, settings, endpoint=OWN, key="typed").api_key == "typed"
    assert choose(labs, settings, endpoint="", key="typed").api_key is None, "the lab needs none"


def test_a_key_may_be_named_by_its_variable(labs, monkeypatch):
    monkeypatch.setenv("MY_SERVER_KEY", "from-environment")

    assert choose(labs, endpoint=OWN, key="$MY_SERVER_KEY").api_key == "from-environment"


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "my-machine.example"])
def test_who_reaches_the_page_over_the_network_names_no_variable_of_the_operator(labs, monkeypatch, host):
    monkeypatch.setenv("MY_SERVER_KEY", "from-environment")
    settings = PageSettings(host=host)

    with pytest.raises(RequestError, match="is limited to its own machine"):
        choose(labs, settings, endpoint=OWN, key="$MY_SERVER_KEY")
    assert choose(labs, settings, endpoint=OWN, key="typed").api_key == "typed"


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1"])
def test_on_a_page_of_this_machine_a_variable_may_be_named(labs, monkeypatch, host):
    monkeypatch.setenv("MY_SERVER_KEY", "from-environment")

    assert choose(labs, PageSettings(host=host), endpoint=OWN, key="$MY_SERVER_KEY").api_key == "from-environment"


def test_a_variable_that_is_not_set_is_reported_without_its_name(labs):
    with pytest.raises(RequestError) as caught:
        choose(labs, endpoint=OWN, key="$sk-perhaps-a-key")

    assert caught.value.field == "key"
    assert "perhaps" not in str(caught.value) + caught.value.hint


@pytest.mark.parametrize("key", ["typed", "$HOME"])
def test_a_public_page_takes_no_key(labs, key):
    assert choose(labs, PUBLIC, endpoint=LISTED, key=key).api_key is None
    assert choose(labs, PUBLIC, endpoint=OWN, key=key).api_key == "secret"


def test_the_labs_model_is_asked_of_no_other_server():
    request = Request(body={"model": "lab-model", "messages": []}, text="{}")
    asked = request_for(request, Target(base_url=OWN))

    assert asked.body == {"messages": []}
    assert [notice.field for notice in asked.notices] == ["model"]


@pytest.mark.parametrize(
    ("model", "target"),
    [
        ("lab-model", Target()),
        ("lab-model", Target(base_url=OWN, model="lab-model")),
        ("another", Target(base_url=OWN)),
    ],
    ids=["the lab", "a model that was typed", "a model of one's own"],
)
def test_any_other_model_is_asked_as_it_stands(model, target):
    request = Request(body={"model": model, "messages": []}, text="{}")

    assert request_for(request, target) is request


LISTED = "https://listed.example/v1"
PUBLIC = PageSettings(
    target=Target(base_url=OWN, api_key="secret", tokenizer="org/own"), public=True, endpoints=(LISTED,)
)


@pytest.mark.parametrize("endpoint", ["", OWN, OWN + "/"])
def test_on_a_public_page_the_operators_endpoint_is_the_operators_affair(labs, endpoint):
    target = choose(labs, PUBLIC, endpoint=endpoint, tokenizer="/etc", model="m")

    assert target == PUBLIC.target


@pytest.mark.parametrize("endpoint", [LISTED, "https://LISTED.example:443/v1/", "https://listed.example"])
def test_on_a_public_page_a_listed_endpoint_may_be_named_but_gets_no_key_and_no_tokenizer(labs, endpoint):
    target = choose(labs, PUBLIC, endpoint=endpoint, tokenizer="/etc", model="m")

    assert (target.base_url, target.api_key, target.tokenizer, target.model) == (LISTED, None, None, None)
    assert target.guard is not None
    assert target.guard.base_urls == (LISTED,)


@pytest.mark.parametrize(
    "endpoint",
    ["http://169.254.169.254/", "http://127.0.0.1:8000/v1", "http://listed.example/v1", "https://listed.example/x/v1",
     "https://listed.example@evil.example/v1", "file:///etc/passwd", "javascript:alert(1)", "http://2130706433/v1",
     "https://listed.example:444/v1", "\ud800", "http://[::1"],
)  # fmt: skip
def test_on_a_public_page_nothing_else_may_be_named(labs, endpoint):
    with pytest.raises(RequestError) as caught:
        choose(labs, PUBLIC, endpoint=endpoint)

    assert caught.value.field == "endpoint"


def test_a_public_page_without_an_endpoint_runs_on_the_lab_and_nowhere_else(labs):
    settings = PageSettings(public=True)

    assert choose(labs, settings, tokenizer="/etc").base_url is None
    assert choose(labs, settings, tokenizer="/etc").tokenizer is None
    with pytest.raises(RequestError, match="sends nothing to"):
        choose(labs, settings, endpoint="http://169.254.169.254/")


@pytest.mark.parametrize("name", ["no-such-parser", "/etc/passwd", "--help"])
def test_a_visitor_names_no_parser_that_is_not_on_the_list(labs, name):
    with pytest.raises(RequestError, match="no parser"):
        choose(labs, PageSettings(public=True), tool_parser=name)
    with pytest.raises(RequestError, match="no parser"):
        choose(labs, PageSettings(public=True), reasoning_parser=name)


def test_a_public_page_without_lab_and_endpoint_says_what_can_be_done():
    labs = PageLabs(LabPool(), enabled=False)

    with pytest.raises(NoServerError) as caught:
        choose(labs, PageSettings(public=True))
    with pytest.raises(NoServerError) as other:
        choose(labs, PageSettings(public=True, endpoints=(LISTED,)))

    assert "your own machine" in caught.value.hint
    assert LISTED in other.value.hint


@pytest.mark.parametrize("base_url", ["http://169.254.169.254/v1", "http://127.0.0.1:22/v1", "https://evil.example/v1"])
def test_a_reopened_run_that_calls_its_server_a_lab_leads_nowhere_on_a_public_page(labs, base_url):
    """Bundles are written by strangers; so is the `is_lab` in them."""
    with pytest.raises(RequestError, match="sends nothing to"):
        target_of_server(PUBLIC, labs, Server(base_url, is_lab=True))


def test_a_reopened_run_of_a_listed_server_leads_there_through_the_guard(labs):
    assert target_of_server(PUBLIC, labs, Server(LISTED)).guard is not None
    assert target_of_server(PUBLIC, labs, Server(OWN)) == PUBLIC.target


def test_a_lab_that_runs_here_is_known_by_its_address(labs):
    class Running:
        base_url = "http://127.0.0.1:4711/v1"

    class Pool:
        labs = (Running,)

    labs.pool = Pool()

    assert target_of_server(PUBLIC, labs, Server(Running.base_url, is_lab=True)).guard is None


@pytest.mark.parametrize("endpoint", ["file:///etc/passwd", "javascript:alert(1)"])
def test_what_is_not_a_web_address_is_refused(labs, endpoint):
    with pytest.raises(RequestError):
        choose(labs, endpoint=endpoint)


def test_without_lab_and_endpoint_there_is_nothing_to_run_against():
    with pytest.raises(NoServerError, match="no server"):
        choose(PageLabs(LabPool(), enabled=False))


@pytest.mark.parametrize(("status", "is_public", "said"), [(401, False, True), (401, True, False), (403, False, False)])
def test_a_server_that_wants_a_key_is_reported_with_the_field_for_it(status, is_public, said):
    error = BackendError("the server answered", "Set the variable.", status=status)

    shown = add_key_field(error, is_public=is_public)

    assert ("in the field Key" in shown.hint) is said
    assert (error.hint, shown.message) == ("Set the variable.", error.message)


HEADERS = {
    "one": ("x-portkey-api-key: pk-0123", (("x-portkey-api-key", "pk-0123"),)),
    "several": ('{"x-portkey-api-key": "pk-0123", "x-portkey-provider": "a"}', (
        ("x-portkey-api-key", "pk-0123"), ("x-portkey-provider", "a"),
    )),
}  # fmt: skip


@pytest.mark.parametrize("name", HEADERS)
def test_a_gateway_s_headers_go_to_the_endpoint_next_to_them(labs, name):
    typed, headers = HEADERS[name]
    target = choose(labs, endpoint="https://gateway.example/v1", key=typed)

    assert (target.api_key, target.extra_headers) == (None, headers)
    assert "pk-0123" not in repr(target)


@pytest.mark.parametrize("key", ["sk-0123456789", "id-1:secret-of-a-provider", "a:b"])
def test_a_key_with_a_colon_is_a_key(labs, key):
    target = choose(labs, endpoint="https://gateway.example/v1", key=key)

    assert (target.api_key, target.extra_headers) == (key, ())


@pytest.mark.parametrize("typed", ['{"x-key": ["pk-0123"]}', '{"x-key": pk-0123'])
def test_headers_that_cannot_be_read_are_refused_without_their_values(labs, typed):
    with pytest.raises(RequestError, match="not a JSON object of strings") as refused:
        choose(labs, endpoint="https://gateway.example/v1", key=typed)

    assert "pk-0123" not in str(refused.value) + (refused.value.hint or "")


def test_the_operator_s_headers_go_to_the_operator_s_endpoint_and_to_no_other(labs):
    settings = PageSettings(target=Target(base_url=OWN, extra_headers=(("x-team", "blue"),)))

    assert choose(labs, settings, endpoint=OWN).extra_headers == (("x-team", "blue"),)
    assert choose(labs, settings, endpoint="http://other.example/v1").extra_headers == ()


def test_a_public_page_takes_no_header(labs):
    settings = PageSettings(public=True, endpoints=("https://gateway.example/v1",))

    assert choose(labs, settings, endpoint="https://gateway.example/v1", key="x-key: pk-0123").extra_headers == ()


def test_a_run_may_ask_the_model_once(labs):
    assert [choose(labs, ask=ask).asks_once for ask in ("more", "once")] == [False, True]
    assert choose(labs, endpoint="http://localhost:8000/v1", ask="once").asks_once


def test_certificates_are_taken_as_text_for_the_endpoint_next_to_them(labs):
    pem = "-----BEGIN CERTIFICATE-----\nMII=\n-----END CERTIFICATE-----"
    settings = PageSettings(target=Target(base_url=OWN, ca_file="/own.pem"))
    own, other = (
        choose(labs, settings, endpoint=url, certificates=f"{pem}\n") for url in (OWN, "https://b.example/v1")
    )

    assert (own.ca_text, str(own.ca_file)) == (pem, "/own.pem")
    assert (other.ca_text, other.ca_file) == (pem, None)
    assert choose(labs, certificates=pem).ca_text is None
    assert pem not in repr(other)


@pytest.mark.parametrize("text", ["/etc/ssl/own.pem", "-----BEGIN CERTIFICATE-----" + "A" * 50_000])
def test_certificates_are_no_name_of_a_file_and_of_bounded_length(labs, text):
    with pytest.raises(RequestError, match="PEM form, 50,000 characters at most"):
        choose(labs, endpoint="https://b.example/v1", certificates=text)


def test_a_public_page_takes_no_certificates(labs):
    settings = PageSettings(public=True, endpoints=("https://listed.example/v1",))

    assert choose(labs, settings, endpoint="https://listed.example/v1", certificates="anything").ca_text is None


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("curl http://a.example/v1 -H 'Authorization: Bearer sk-live-123456'", "sk-live-123456"),
        ('requests.post(url, headers={"Authorization": "Bearer sk-live-123456"})', "sk-live-123456"),
        ('OpenAI(base_url="http://a.example/v1", api_key="sk-live-123456")', "sk-live-123456"),
        ("new OpenAI({ apiKey: 'sk-live-123456' })", "sk-live-123456"),
        ("curl http://a.example/v1 -H 'x-api-key: k-123456'", "x-api-key: k-123456"),
        ("curl http://a.example/v1 -H 'Authorization: Bearer $KEY'", ""),
        ("curl http://a.example/v1 -H 'Authorization: Bearer ${OPENAI_API_KEY}'", ""),
        ("curl http://a.example/v1 -H 'Authorization: Bearer <token>'", ""),
        ("curl http://a.example/v1 -H 'Authorization: Bearer sk-...'", ""),
        ("curl http://a.example/v1 -H 'Authorization: Bearer sk-\u2022\u2022\u2022\u2022'", ""),
        ('OpenAI(base_url="http://localhost:8000/v1", api_key="EMPTY")', ""),
        ('OpenAI(base_url="http://localhost:8000/v1", api_key="YOUR_API_KEY")', ""),
        ('OpenAI(base_url="http://localhost:8000/v1", api_key=os.environ["KEY"])', ""),
        ("Bearer bonds are discussed in the message.", ""),
    ],
)
def test_a_pasted_key_is_taken_where_it_is_one(text, key):
    assert pasted_key(text) == key


@pytest.mark.parametrize(
    ("endpoint", "run_on", "said"),
    [
        ("", RunOn.AUTO, "lab · a real vLLM here"),
        (OWN, RunOn.LAB, "lab · a real vLLM here"),
        ("http://localhost:8000/v1/", RunOn.AUTO, "localhost:8000"),
        ("http://localhost:8000/v1/", RunOn.BOTH, "lab and localhost:8000"),
    ],
)
def test_the_target_says_who_answers(labs, endpoint, run_on, said):
    assert target_label(PageSettings(), labs, endpoint, run_on) == said


def test_the_target_names_an_api_that_was_chosen(labs):
    assert target_label(PageSettings(), labs, OWN, RunOn.AUTO, "messages").endswith(" · by Messages")
    assert target_label(PageSettings(), labs, OWN, RunOn.AUTO, "chat").endswith(" · by chat completions")
    assert " · by " not in target_label(PageSettings(), labs, OWN, RunOn.AUTO, "")
