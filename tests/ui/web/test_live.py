"""The live prompt: what is typed becomes a prompt, a newer text wins, a mistake is said at its place."""

import asyncio
import json

import pytest

from prompt_debugger.core.tools.lab import LabPool
from prompt_debugger.ui.present import unpack_payload
from prompt_debugger.ui.web import live as live_module
from prompt_debugger.ui.web.experiments import Asked, Bench
from prompt_debugger.ui.web.labs import PageLabs
from prompt_debugger.ui.web.live import LiveRender
from prompt_debugger.ui.web.render_setups import find_setup, use_own_template
from prompt_debugger.ui.web.settings import PageSettings
from prompt_debugger.ui.web.targets import TargetFields

FIELDS = TargetFields("", "", "", "kimi_k2", "none")
BODY = {"messages": [{"role": "user", "content": "Hello there"}]}


def live_of(**settings):
    made = PageSettings(lab=False, **settings)
    return LiveRender(Bench(made, PageLabs(LabPool(), enabled=False)), made)


@pytest.fixture
def live():
    return live_of()


def asked(body, fields=FIELDS):
    return Asked(body if isinstance(body, str) else json.dumps(body), fields)


async def draw(live, body, fields=FIELDS):
    drawn = await live.render(asked(body, fields), "page")
    tokens = None if not drawn.tokens else unpack_payload(drawn.tokens)[0]
    return unpack_payload(drawn.status)[0], tokens


async def test_what_is_typed_becomes_a_prompt_with_its_origins(live):
    status, tokens = await draw(live, BODY)

    assert (status["state"], status["findings"], status["text"]) == ("ok", [], None)
    assert status["sentence"].startswith(f"{tokens['count']} tokens")
    assert "messages[0].content" in tokens["fields"]


async def test_what_is_wrong_already_is_reported_before_any_run(live):
    tool = {"type": "function", "function": {"name": "f", "parameters": {"type": "dict", "properties": {}}}}

    status, tokens = await draw(live, {**BODY, "tools": [tool]})

    assert tokens is not None
    assert "PD101" in [finding["code"] for finding in status["findings"]]


async def test_a_mistake_is_reported_at_its_place_and_leaves_the_last_prompt(live):
    status, tokens = await draw(live, '{"messages": [\n  {"role": "user" "content": "x"}]}')

    assert status["state"] == "error"
    assert status["place"]["line"] == 2
    assert tokens is None


async def test_an_endpoint_of_which_no_template_is_known_gets_no_other_one(live):
    status, tokens = await draw(live, BODY, FIELDS._replace(endpoint="http://127.0.0.1:9/v1"))

    assert status["state"] == "error"
    assert "no template is known" in status["sentence"].lower()
    assert tokens is None


async def test_a_newer_text_of_the_same_page_ends_the_work_on_the_older(live, monkeypatch):
    begun, ended = asyncio.Event(), asyncio.Event()
    whole = LiveRender._draw

    async def draw_slowly(self, one):
        if "older" not in one.text:
            return await whole(self, one)
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    monkeypatch.setattr(LiveRender, "_draw", draw_slowly)
    older = asyncio.create_task(live.render(asked({"messages": [{"role": "user", "content": "older"}]}), "page"))
    await begun.wait()

    newer = await live.render(asked(BODY), "page")

    assert newer is not None
    assert await older is None
    assert ended.is_set()


async def test_another_page_ends_nothing(live):
    drawn = await asyncio.gather(*(live.render(asked(BODY), page) for page in ("one", "two")))

    assert all(one is not None for one in drawn)


async def test_a_public_page_reads_no_more_than_its_limit_and_shows_no_key():
    live = live_of(public=True)

    status, _ = await draw(live, {"messages": [{"role": "user", "content": "x" * 300_000}]})
    _, tokens = await draw(live, {"messages": [{"role": "user", "content": "key sk-abcdefghijklmnopqrstuvwxyz123456"}]})

    assert "characters" in status["sentence"]
    assert "abcdefghijklmnop" not in "".join(chip["text"] for chip in tokens["table"])


def test_the_file_of_the_event_imports_nothing_of_gradio():
    assert "gradio" not in vars(live_module)


TWO = [
    {"name": "default", "template": "{% for m in messages %}PLAIN {{ m.content }}{% endfor %}"},
    {"name": "tool_use", "template": "{% for m in messages %}TOOLS {{ m.content }}{% endfor %}"},
    {"name": "rag", "template": "{{ raise_exception('no documents') }}"},
]


@pytest.fixture
def two_templates(tmp_path, lab_model_dir):
    (tmp_path / "tokenizer.json").write_bytes((lab_model_dir / "tokenizer.json").read_bytes())
    config = json.loads((lab_model_dir / "tokenizer_config.json").read_text())
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({**config, "chat_template": TWO}))
    return str(tmp_path)


@pytest.mark.parametrize(
    ("name", "tools", "begin"),
    [
        ("", [], "PLAIN"),
        ("", [{"type": "function", "function": {"name": "f"}}], "TOOLS"),
        ("default", [{"type": "function", "function": {"name": "f"}}], "PLAIN"),
        ("tool_use", [], "TOOLS"),
        ("gone", [], "PLAIN"),
    ],
)
async def test_of_several_templates_the_chosen_one_renders_or_the_one_for_the_request(
    live, two_templates, name, tools, begin
):
    fields = FIELDS._replace(tokenizer=two_templates, template_name=name)

    body = {**BODY, "tools": tools}

    drawn = await live.render(asked(body, fields), "page")

    assert drawn.tokens is not None
    assert drawn.template_names == ("default", "tool_use", "rag")
    found = find_setup(PageSettings(lab=False), PageLabs(LabPool(), enabled=False), fields, None)
    assert begin in use_own_template(found, body).setup.template


async def test_a_template_that_refuses_leaves_the_choice_of_another(live, two_templates):
    fields = FIELDS._replace(tokenizer=two_templates, template_name="rag")

    drawn = await live.render(asked(BODY, fields), "page")

    assert drawn.tokens is None
    assert drawn.template_names == ("default", "tool_use", "rag")
    assert "no documents" in unpack_payload(drawn.status)[0]["sentence"]


async def test_a_model_with_one_template_gives_no_choice(live):
    assert len((await live.render(asked(BODY), "page")).template_names) < 2
