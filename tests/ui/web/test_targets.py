import pytest

from core.errors import RequestError
from core.lab import LabPool
from core.pipeline import Target
from ui.web.labs import PageLabs
from ui.web.settings import PageSettings
from ui.web.targets import choose_target

OWN = "http://own.example/v1"


@pytest.fixture
def labs():
    labs = PageLabs(LabPool(), enabled=True)
    labs.enabled = True  # whether vLLM is installed is another question
    return labs


def choose(labs, settings=None, **fields):
    blank = {"endpoint": "", "model": "", "tokenizer": "", "tool_parser": "kimi_k2", "reasoning_parser": "none"}
    return choose_target(settings or PageSettings(), labs, **{**blank, **fields})


def test_an_empty_endpoint_means_the_lab_with_the_chosen_parsers(labs):
    target = choose(labs, tool_parser="hermes", reasoning_parser="deepseek_r1")

    assert (target.base_url, target.lab.tool_parser, target.lab.reasoning_parser) == (None, "hermes", "deepseek_r1")


def test_none_means_no_parser(labs):
    assert choose(labs, tool_parser="none").lab.tool_parser is None


def test_the_key_goes_to_the_operators_endpoint_and_to_no_other(labs):
    settings = PageSettings(target=Target(base_url=OWN, api_key="secret"))

    assert choose(labs, settings, endpoint=OWN + "/").api_key == "secret"
    assert choose(labs, settings, endpoint="http://other.example/v1").api_key is None
    assert choose(labs, settings, endpoint="").api_key is None


def test_on_a_public_page_nobody_else_names_an_endpoint_or_a_tokenizer(labs):
    settings = PageSettings(target=Target(base_url=OWN), public=True)

    target = choose(labs, settings, endpoint="http://169.254.169.254/", tokenizer="/etc", model="m")

    assert (target.base_url, target.tokenizer, target.model) == (OWN, None, None)


def test_a_public_page_without_an_endpoint_runs_on_the_lab(labs):
    target = choose(labs, PageSettings(public=True), endpoint="http://169.254.169.254/")

    assert target.base_url is None


@pytest.mark.parametrize("endpoint", ["localhost:8000", "file:///etc/passwd", "javascript:alert(1)"])
def test_what_is_no_web_address_is_refused(labs, endpoint):
    with pytest.raises(RequestError):
        choose(labs, endpoint=endpoint)


def test_without_lab_and_endpoint_there_is_nothing_to_run_against():
    with pytest.raises(RequestError, match="no server"):
        choose(PageLabs(LabPool(), enabled=False))
