"""The what-if panel's handlers: payloads step by step, errors as payloads, nothing of a stranger's on disk."""

import asyncio
import json

import pytest

from prompt_debugger.core.base.types import Prompt, Request, Server, Span, SpanKind, Trace
from prompt_debugger.core.base.types import PromptSpan as Stretch
from prompt_debugger.core.pipeline import Target
from prompt_debugger.core.tools.experiments import Variant
from prompt_debugger.core.tools.experiments.variant import render_variant
from prompt_debugger.core.tools.lab import LabPool
from prompt_debugger.ui.present import unpack_payload
from prompt_debugger.ui.web.experiments import Asked, Bench
from prompt_debugger.ui.web.labs import PageLabs
from prompt_debugger.ui.web.settings import PageSettings
from prompt_debugger.ui.web.targets import TargetFields

TALK = [
    {"role": "user", "content": "Hello"},
    {"role": "assistant", "content": "Hi", "reasoning_content": "A greeting."},
    {"role": "user", "content": "And now?"},
]
TOOLS = [{"type": "function", "function": {"name": "search", "parameters": {"type": "object", "properties": {}}}}]


def bench(**settings):
    return Bench(PageSettings(lab=False, **settings), PageLabs(LabPool(), enabled=False))


def asked(messages=TALK, *, endpoint="", tokenizer="", trace=None, **more):
    text = json.dumps({"messages": messages, **more})
    return Asked(text, TargetFields(endpoint, "", tokenizer, "kimi_k2", "none"), trace)


async def collect(payloads):
    return [unpack_payload(one)[0] async for one in payloads if one is not None]


async def last(payloads):
    return (await collect(payloads))[-1]


async def count(tool, number, request=None, earlier=()):
    steps = [step async for step in tool.explain_count(request or asked(), number, earlier)]
    return unpack_payload([one.payload for one in steps if one.payload][-1])[0], steps[-1].answers


async def test_every_switch_is_shown_with_its_tokens():
    shown = await last(bench().try_switches(asked(), ""))

    assert shown["state"] == "done"
    change = next(one for one in shown["changes"] if one["name"] == "no-generation-prompt")
    [hunk] = change["difference"]["hunks"]
    assert [chip[:2] for chip in hunk["removed"]] == [
        ["<|im_assistant|>", "special"],
        ["assistant", "text"],
        ["<|im_middle|>", "special"],
    ]
    assert hunk["added"] == []
    assert "as-vllm" in [name for name, _ in shown["nothing"]]
    assert [
        "the request has no tools",
        ["without-tools", "tools-as-vllm", "tools-sorted-keys", "tools-sorted", "tools-unwrapped", "tools-wrapped"],
    ] in shown["absent"]


async def test_the_edited_template_is_one_more_switch_and_only_if_it_differs():
    tool = bench()
    own = tool.find_setup(asked().fields, None).setup.template

    same = await last(tool.try_switches(asked(), own))
    other = await last(tool.try_switches(asked(), own.replace("You are a helpful assistant.", "Be brief.")))

    assert "other-template" not in [one["name"] for one in same["changes"]]
    assert "other-template" in [one["name"] for one in other["changes"]]


async def test_the_editors_text_without_the_edges_of_the_template_is_not_another_one():
    tool = bench()
    own = tool.find_setup(asked().fields, None).setup.template
    assert own != own.strip()

    shown = await last(tool.try_switches(asked(), own.strip()))

    names = [name for name, _ in shown["nothing"]] + [one["name"] for one in shown["changes"]]
    assert "other-template" not in names


async def test_progress_grows_and_ends():
    steps = await collect(bench().try_switches(asked(), ""))

    assert {step["state"] for step in steps[:-1]} <= {"running"}
    assert steps[-1]["progress"]["fraction"] == 1


async def test_turns_name_the_cause_and_its_tokens():
    talk = [*TALK[:2], {"role": "tool", "tool_call_id": "x", "content": "1"}, *TALK[1:], TALK[0]]

    shown = await last(bench().follow_turns(asked(talk)))

    broken = next(turn for turn in shown["turns"] if turn["state"] == "broken")
    assert broken["certainty"] == "proved by rendering"
    assert "reasoning" in broken["cause"]
    assert broken["removed"][0][0] == "<think>"


async def test_a_talk_whose_prefix_holds_says_so():
    shown = await last(bench().follow_turns(asked([TALK[0], {"role": "assistant", "content": "Hi"}, TALK[2]])))

    assert [turn["state"] for turn in shown["turns"]] == ["kept"]
    assert "nothing is lost" in shown["sentence"]


def size(tool, request):
    """How many tokens the request has as pasted."""
    found = tool.find_setup(request.fields, None)
    rendered = render_variant(Variant(json.loads(request.text), found.setup))
    return len(rendered.keys)


async def test_a_count_is_explained_by_the_simplest_render():
    tool = bench()

    exact, answers = await count(tool, str(size(tool, asked())))

    assert (exact["tone"], exact["explanations"][0]["names"]) == ("exact", [])
    assert [answer.counted for _, answer in answers] == [size(tool, asked())]


async def test_a_tie_is_reported():
    tool = bench()
    request = asked([TALK[0]])

    tied, _ = await count(tool, f"{size(tool, request) + 1:,}", request)

    assert tied["tone"] == "tie"
    assert "cannot distinguish them" in tied["sentence"]
    assert sum(one["off_by"] == 0 for one in tied["explanations"]) > 1


async def test_two_requests_narrow_the_explanations_down():
    tool = bench()
    first, second = asked([TALK[0]]), asked([{"role": "system", "content": "Be kind."}, TALK[0]])

    _, one = await count(tool, str(size(tool, first) + 1), first)
    shown, two = await count(tool, str(size(tool, second) + 1), second, one)
    _, again = await count(tool, str(size(tool, second)), second, two)

    assert "bos-in-front" in shown["agreement"]["names"]
    assert len(shown["agreement"]["names"]) < sum(answer.exact_count for _, answer in two)
    assert [answer.counted for _, answer in again] == [size(tool, first) + 1, size(tool, second)]


@pytest.mark.parametrize("number", ["", "none", "-4", "0", "1.5", "9" * 40, "١٢"])
async def test_what_is_not_a_count_is_an_error_and_not_a_crash(number):
    shown, answers = await count(bench(), number)

    assert (shown["state"], answers) == ("error", None)
    assert "usage.prompt_tokens" in shown["hint"]


async def test_two_templates_on_one_request():
    other = "{% for m in messages %}<|im_user|>{{ m.content }}<|im_end|>{% endfor %}"

    shown = await last(bench().compare(asked(), other, ""))

    assert shown["sentence"].startswith("The prompts differ")
    assert shown["difference"]["hunks"]
    assert shown["other"] == "the second template"


async def test_a_second_template_that_fails_is_an_answer():
    shown = await last(bench().compare(asked(), "{{ messages[9].content.x }}", ""))

    assert shown["sides"][1]["failure"]["template_line"] == 1
    assert shown["difference"] is None


async def test_nothing_to_compare_with_is_reported():
    shown = await last(bench().compare(asked(), " ", ""))

    assert (shown["state"], shown["sentence"]) == ("error", "There is no second setup.")


async def test_a_public_page_loads_no_second_tokenizer(tmp_path):
    shown = await last(bench(public=True).compare(asked(), "", str(tmp_path)))

    assert shown["state"] == "error"
    assert "public page" in shown["sentence"]


async def test_a_public_page_ignores_the_tokenizer_field(tmp_path):
    shown = await last(bench(public=True).follow_turns(asked(tokenizer=str(tmp_path))))

    assert shown["state"] == "done"
    assert "lab-model" in shown["source"]


async def test_a_tokenizer_that_is_none_is_the_fields_fault_elsewhere(tmp_path):
    shown = await last(bench().follow_turns(asked(tokenizer=str(tmp_path))))

    assert shown["state"] == "error"


async def test_a_request_that_cannot_be_read_names_its_place():
    fields = asked().fields

    shown = await last(bench().try_switches(Asked('{"messages": [,]}', fields), ""))

    assert (shown["state"], shown["place"]) == ("error", {"line": 1, "column": 15})


async def test_an_endpoint_of_which_nothing_is_known_is_reported():
    shown = await last(bench().try_switches(asked(endpoint="http://localhost:9/v1"), ""))

    assert "o template is known" in shown["sentence"]


async def test_the_template_of_the_last_run_of_an_endpoint_is_used():
    template = "{% for m in messages %}[{{ m.role }}]{{ m.content }}{% endfor %}"
    prompt = Prompt("local", "x", (Stretch(Span(0, 1), SpanKind.UNKNOWN),), None, template=template)
    trace = Trace(Request({}, ""), server=Server("http://localhost:9/v1/"), local_prompt=prompt)
    tool = bench()

    found = tool.find_setup(asked(endpoint="http://localhost:9/v1").fields, trace)

    assert (found.setup.template, found.setup.unit) == (template, "word")
    shown = await last(tool.try_switches(asked(endpoint="http://localhost:9/v1", trace=trace, tools=TOOLS), ""))
    assert "without-tools" in [name for name, _ in shown["nothing"]]


async def test_a_lab_that_once_ran_at_an_address_says_nothing_of_the_server_that_is_there_now():
    prompt = Prompt("local", "x", (Stretch(Span(0, 1), SpanKind.UNKNOWN),), None, template="x")
    lab = Server("http://127.0.0.1:8000/v1", model_root="lab-model", is_lab=True)
    trace = Trace(Request({}, ""), server=lab, local_prompt=prompt)

    shown = await last(bench().try_switches(asked(endpoint="http://127.0.0.1:8000/v1", trace=trace), ""))

    assert "o template is known" in shown["sentence"]


async def test_the_last_run_of_another_endpoint_says_nothing_of_this_one():
    prompt = Prompt("local", "x", (Stretch(Span(0, 1), SpanKind.UNKNOWN),), None, template="x")
    trace = Trace(Request({}, ""), server=Server("http://localhost:8/v1"), local_prompt=prompt)

    shown = await last(bench().try_switches(asked(endpoint="http://localhost:9/v1", trace=trace), ""))

    assert shown["state"] == "error"


async def test_a_hostile_template_ends_and_the_next_experiment_works():
    tool = bench(
        target=Target(chat_template="{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}")
    )

    shown = await last(tool.try_switches(asked(), ""))

    assert "more than" in shown["failure"]["sentence"]
    assert (await last(bench().follow_turns(asked())))["state"] == "done"


async def test_an_experiment_can_be_left_at_any_step():
    payloads = bench().try_switches(asked(tools=TOOLS), "")
    await anext(payloads)

    await payloads.aclose()

    assert (await last(bench().follow_turns(asked())))["state"] == "done"


async def test_a_slow_step_ticks():
    """Gradio notices a closed tab only when the handler yields."""
    from prompt_debugger.ui.web.experiments import follow_steps
    from prompt_debugger.ui.web.redraw_rate import RedrawRate

    gate = asyncio.Event()
    loop = asyncio.get_running_loop()

    def slow():
        asyncio.run_coroutine_threadsafe(gate.wait(), loop).result()
        yield "done"

    ticks = follow_steps(slow(), None, RedrawRate())
    assert [await anext(ticks), await anext(ticks)] == [(None, True), (None, True)]
    gate.set()
    assert [step async for step in ticks if step[0] is not None][-1] == ("done", False)
