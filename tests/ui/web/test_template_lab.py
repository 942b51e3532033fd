"""The template panel's handlers: live render, errors at their place, hostile templates, probes."""

import json

import pytest

from prompt_debugger.core.render import load_template
from prompt_debugger.core.render.probes import PROBE_NAMES
from prompt_debugger.core.tools.lab import LabPool
from prompt_debugger.ui.present import unpack_payload
from prompt_debugger.ui.web.experiments import Asked, Bench
from prompt_debugger.ui.web.labs import PageLabs
from prompt_debugger.ui.web.render_setups import keep_edges
from prompt_debugger.ui.web.settings import PageSettings
from prompt_debugger.ui.web.targets import TargetFields
from prompt_debugger.ui.web.template_lab import AS_ASKED, CLOSED, OPENED, TemplateLab

FIELDS = TargetFields("", "", "", "kimi_k2", "none")
TEXT = json.dumps({"messages": [{"role": "user", "content": "Hello there"}]})
TEMPLATE = (
    "{% for m in messages %}<|im_user|>{{ m.content }}<|im_end|>{% endfor %}\n"
    "{% if add_generation_prompt %}<|im_assistant|>{% endif %}{{ colour }}"
)
BOMBS = {
    "time": "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}",
    "memory": "{{ 'x' * 9999999999 }}",
    "length": "{{ 'x' * 99999999 }}",
    "compiling": "{{ 9 ** 9999999 ** 2 }}",
}


@pytest.fixture
def lab():
    return TemplateLab(Bench(PageSettings(lab=False), PageLabs(LabPool(), enabled=False)))


@pytest.fixture
def own(lab_model_dir):
    return load_template(lab_model_dir)


def draw(lab, template=TEMPLATE, ending=AS_ASKED, kwargs="", own="", text=TEXT):
    drawn = lab.render(Asked(text, FIELDS), template, ending, kwargs, own)
    tokens = None if not drawn.tokens else unpack_payload(drawn.tokens)[0]
    return unpack_payload(drawn.status)[0], tokens


def texts(tokens):
    return [chip["text"] for chip in tokens["table"]]


def test_the_prompt_comes_with_tokens_and_what_wrote_them(lab):
    status, tokens = draw(lab)

    assert (status["state"], status["sentence"]) == ("ok", f"{tokens['count']} tokens · 3 special")
    assert "messages[0].content" in tokens["fields"]
    assert 2 in tokens["line_runs"]


@pytest.mark.parametrize(("ending", "is_opened"), [(AS_ASKED, True), (OPENED, True), (CLOSED, False)])
def test_the_generation_prompt_is_a_switch(lab, ending, is_opened):
    assert ("<|im_assistant|>" in texts(draw(lab, ending=ending)[1])) is is_opened


def test_opened_wins_over_a_request_that_continues(lab):
    talk = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]
    text = json.dumps({"messages": talk, "continue_final_message": True})

    assert "<|im_assistant|>" not in texts(draw(lab, text=text)[1])
    assert "<|im_assistant|>" in texts(draw(lab, ending=OPENED, text=text)[1])


def test_template_kwargs_win_over_the_requests_own(lab):
    text = json.dumps({**json.loads(TEXT), "chat_template_kwargs": {"colour": "green"}})

    joined = "".join(texts(draw(lab, kwargs='{"colour": "red"}', text=text)[1]))

    assert "red" in joined
    assert "green" not in joined


@pytest.mark.parametrize("kwargs", ["{", "[1]", "null", '"x"', "[" * 100_000])
def test_kwargs_that_are_not_an_object_are_one_message(lab, kwargs):
    status, tokens = draw(lab, kwargs=kwargs)

    assert (status["state"], tokens) == ("error", None)
    assert "kwargs" in status["sentence"]


@pytest.mark.parametrize(
    ("template", "words", "place"),
    [
        ("ok\n  {% if %}", "not valid Jinja", (2, 9)),
        ("a\n{{ messages[0].content.nope.deeper }}", "not defined", (2, 1)),
        ("\n\n {{ raise_exception('my own words') }}", "my own words", (3, 5)),
        ("{% for m in messages %}{{ m.content }}", "not valid Jinja", (1, None)),
    ],
)
def test_a_fault_is_reported_in_words_at_its_line_and_column(lab, template, words, place):
    status, tokens = draw(lab, template=template)

    assert (status["state"], tokens) == ("error", None)
    assert words in status["sentence"]
    assert status["place"]["template_line"] == place[0]
    if place[1] is not None:
        assert abs(status["place"]["template_column"] - place[1]) <= 3


@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_is_one_message_and_the_next_render_works(lab, name):
    status, tokens = draw(lab, template=BOMBS[name])

    assert (status["state"], tokens) == ("error", None)
    assert draw(lab)[0]["state"] == "ok"


def test_text_too_long_for_a_tokenizer_comes_without_tokens(lab):
    status, tokens = draw(lab, template="{{ 'word ' * 2000000 }}")

    assert (status["state"], tokens) == ("ok", None)
    assert len(status["text"]) == 200_000
    assert any("too long" in note.lower() for note in status["notes"])


def test_a_request_that_cannot_be_read_is_reported(lab):
    status, _ = draw(lab, text='{"messages": }')

    assert status["place"]["line"] == 1


def test_the_editor_is_filled_once_and_keeps_what_someone_typed(lab, own):
    assert lab.open(FIELDS, None, "", "").template == own
    assert lab.open(FIELDS, None, own.strip(), own).template is None
    assert lab.open(FIELDS, None, own.strip() + "{# mine #}", own).template is None


def test_another_target_brings_its_own_template_unless_the_text_was_edited(lab, own):
    assert lab.open(FIELDS, None, "of another target", "of another target\n").template == own
    assert lab.open(FIELDS, None, "edited", "of another target\n").template is None


def test_what_the_editor_strips_is_put_back(lab, own):
    assert own.endswith("\n")
    status, _ = draw(lab, template=own.strip(), own=own)
    edited, _ = draw(lab, template=own.strip() + "{# mine #}", own=own)

    assert "This is the model's own template." in status["notes"]
    assert "Edited: 1 line differ from the model's own." in edited["notes"]


def test_edges_of_a_template():
    assert keep_edges("a", "  b\n\n") == "  a\n\n"
    assert keep_edges("a\n", "b\n\n") == "a\n", "typed line breaks count as typed"
    assert keep_edges("a", "\nb") == "a", "a line break in front would move every line"


async def test_probes_of_the_edited_template(lab, own):
    shown = [unpack_payload(one)[0] async for one in lab.probe(FIELDS, None, TEMPLATE, own) if one]

    assert [probe["name"] for probe in shown[-1]["probes"]] == list(PROBE_NAMES)
    answers = {probe["name"]: probe["support"] for probe in shown[-1]["probes"]}
    assert (answers["tools"], answers["generation-prompt"]) == ("ignored", "supported")


async def test_probes_of_a_bomb_end(lab, own):
    shown = [unpack_payload(one)[0] async for one in lab.probe(FIELDS, None, BOMBS["time"], own) if one]

    assert {probe["support"] for probe in shown[-1]["probes"]} == {"unknown"}


def test_a_public_page_reads_templates_of_some_length_only():
    public = TemplateLab(Bench(PageSettings(lab=False, public=True), PageLabs(LabPool(), enabled=False)))

    assert draw(public, template="x" * 150_000)[0]["state"] == "ok"
    assert "public page" in draw(public, template="x" * 250_000)[0]["sentence"]
