"""What lies on the tokens: heat, alternatives, ids, bytes, roles, the rail; and the template beside them."""

from __future__ import annotations

from dataclasses import replace

import pytest
from playwright.sync_api import expect

from prompt_debugger.core.base.types import (
    Branch,
    JSONObject,
    KwargSource,
    Prompt,
    PromptSpan,
    Request,
    Span,
    SpanKind,
    TemplateKwarg,
    TokenLogprob,
    Trace,
)
from prompt_debugger.core.parse.ledger import build_ledger
from prompt_debugger.ui.report.document import trace_to_html
from tests.browser.static_page import build_static_page
from tests.ui.present.traces import RAW_TEXT, dropped_call_trace, prompt_of, tokens_of

pytestmark = pytest.mark.browser

RAW = "#pd-raw-tokens"
NATS = (-0.01, -0.4, -1.0, -3.0, -7.0)  # one of every level, in turn


@pytest.fixture
def warm(show):
    """A run whose raw tokens have log probabilities and alternatives."""
    page = show(warm_trace())
    page.open_stage("complete")
    return page


def warm_trace() -> Trace:
    trace = dropped_call_trace()
    assert trace.raw is not None
    logprobs = tuple(
        TokenLogprob(
            token.text, None, NATS[i % 5], ((token.text, NATS[i % 5]), ("<b>London</b>", -2.0), ("\u202e", -9.0))
        )
        for i, token in enumerate(tokens_of(RAW_TEXT))
    )
    return replace(trace, raw=replace(trace.raw, logprobs=logprobs))


def chip(at: int, view: str = RAW) -> str:
    return f"{view} [data-at='{at}']"


# --- heat ----------------------------------------------------------------------


def test_heat_marks_tokens_by_more_than_colour(warm):
    warm.page.click(f"{RAW} [data-option=heat]")
    style = """at => { const s = getComputedStyle(document.querySelector(`#pd-raw-tokens [data-at='${at}']`));
      return [s.textDecorationStyle, s.textDecorationLine, s.boxShadow, Number(s.fontWeight)]; }"""
    # Tokens 8 and 9 are words of levels 3 and 4, 5 is one of level 0.
    sure, unlikely, hardly = (warm.page.evaluate(style, at) for at in (5, 8, 9))

    assert sure[1] == "none"
    assert unlikely[:2] == ["wavy", "underline"]
    assert hardly[:2] == ["wavy", "underline"]
    assert hardly[3] >= 600
    assert warm.page.locator(f"{RAW} .pd-heat-legend").inner_text().count("%") == 5


def test_the_inspector_says_nats_probability_and_rank(warm):
    warm.page.click(f"{RAW} [data-option=heat]")
    warm.page.hover(chip(3))
    said = " ".join(warm.inspector().split())

    assert "logprob −3.000 nats" in said
    assert "probability 5.0 %" in said
    assert "rank 1 of 3 given" not in said
    assert "rank 2 of 3 given" in said
    assert 'instead "<b>London</b>" 13.5 %' in said


def test_alternatives_are_listed_by_keyboard_too(warm):
    warm.page.click(f"{RAW} [data-option=heat]")
    warm.page.focus(f"{RAW} [role=listbox]")
    for _ in range(3):
        warm.page.keyboard.press("ArrowRight")
    listed = [" ".join(text.split()) for text in warm.page.locator(f"{RAW} .pd-alternative").all_inner_texts()]

    assert listed[0] == "<b>London</b> 13.5 %"
    assert listed[1].startswith("get_weather" if "get_weather" in listed[1] else "_")
    assert listed[1].endswith("written")
    assert "⟨RLO⟩" in listed[2]
    assert warm.page.locator(f"{RAW} b").count() == 0


def test_unlikely_tokens_can_be_searched_for(warm):
    count = sum(nats == -7.0 for i in range(len(tokens_of(RAW_TEXT))) for nats in [NATS[i % 5]])
    warm.page.fill(f"{RAW} input", "p<1%")
    expect(warm.page.locator(f"{RAW} .pd-found")).to_have_text(f"{count} hits")


def test_heat_keeps_its_place_while_one_points_around(warm):
    warm.page.click(f"{RAW} [data-option=heat]")
    heights = []
    for at in (0, 4, 9):
        warm.page.hover(chip(at))
        heights.append(warm.page.evaluate("document.querySelector('#pd-raw-tokens .pd-grid').offsetHeight"))

    assert len(set(heights)) == 1


def test_without_log_probabilities_heat_says_how_to_get_them(show):
    page = show(dropped_call_trace())
    page.open_stage("complete")
    page.page.click(f"{RAW} summary")
    page.page.focus(f"{RAW} [data-option=heat]")
    page.page.keyboard.press("Enter")

    assert '"logprobs": true' in page.inspector()
    assert page.page.get_attribute(f"{RAW} [data-option=heat]", "aria-pressed") == "false"
    assert page.page.locator(f"{RAW} .pd-heat-strip").is_hidden()


# --- text, ids, bytes, roles ----------------------------------------------------


def test_bytes_take_the_place_of_text_and_copy_says_what_it_copies(show):
    page = show(dropped_call_trace())
    page.open_stage("render")
    page.page.click("#pd-prompt-tokens [data-option=bytes]")
    shown = page.tokens()[1].strip()
    page.page.get_by_role("button", name="Copy all bytes").first.click()
    copied = page.page.evaluate("navigator.clipboard.readText()")
    page.page.click("#pd-prompt-tokens [data-option=ids]")
    page.page.locator("#pd-prompt-tokens").get_by_role("button", name="Copy all ids").click()

    tokens = dropped_call_trace().prompt.tokens
    assert shown == "73 79 73 74 65 6d"
    assert copied.startswith(b"<|im_system|>system".hex(" "))
    assert page.page.evaluate("navigator.clipboard.readText()") == str([token.id for token in tokens])


def test_a_control_token_is_reported_in_plain_words(show):
    page = show(dropped_call_trace())
    page.open_stage("render")
    page.page.hover(chip(0, "#pd-prompt-tokens"))

    assert "special: opens a turn" in page.inspector()
    assert page.page.get_attribute(chip(0, "#pd-prompt-tokens"), "aria-label") == "<|im_system|>, opens a turn"


def test_neighbours_never_look_the_same(show):
    page = show(dropped_call_trace())
    page.open_stage("render")
    same = page.page.evaluate(
        """() => { const chips = [...document.querySelectorAll("#pd-prompt-tokens .pd-chip-text")];
          const ground = chip => getComputedStyle(chip).backgroundColor;
          const isNext = (chip, i) => i && chip.previousSibling === chips[i - 1];
          return chips.filter((chip, i) => isNext(chip, i) && ground(chip) === ground(chips[i - 1])).length; }"""
    )

    assert same == 0


def test_the_rail_shows_hits_far_away(show):
    trace = dropped_call_trace()
    page = show(replace(trace, prompt=prompt_of("filler text\n" * 3_000 + "NEEDLE\n" + "filler text\n" * 1_000)))
    page.open_stage("render")
    page.page.fill("#pd-prompt-tokens input", "NEEDLE")
    expect(page.page.locator("#pd-prompt-tokens .pd-found")).to_have_text("1 hit")
    painted = page.page.wait_for_function(
        """() => { const canvas = document.querySelector("#pd-prompt-tokens canvas");
          const data = canvas.getContext("2d").getImageData(4, 0, 1, canvas.height).data;
          const rows = []; for (let y = 0; y < canvas.height; y++) if (data[y * 4 + 3]) rows.push(y / canvas.height);
          return rows.length ? rows : null; }"""
    ).json_value()

    assert painted
    assert all(0.7 < place < 0.8 for place in painted)


# --- template --------------------------------------------------------------------


def branched(lines: int = 600) -> Prompt:
    text = "x " * 40
    source = ["{%- if thinking -%}", "  think", "{%- else -%}", "  {{- messages[0].content -}}", "{%- endif -%}"]
    source += [f"{{#- line {i} -#}}" for i in range(6, lines + 1)]
    return replace(
        prompt_of(text, template="\n".join(source)),
        spans=(PromptSpan(Span(0, len(text)), SpanKind.REQUEST, "messages[0].content", template_line=4),),
        tokens=tokens_of(text, field="messages[0].content", line=4),
        branches=(Branch("if", "thinking", 1, 1, 2, 0, 1), Branch("else", "", 3, 1, 4, 1, 0)),
        kwargs=(
            TemplateKwarg("thinking", False, KwargSource.DEFAULT, read=True),
            TemplateKwarg("<b>odd</b>", 1, KwargSource.REQUEST, "chat_template_kwargs.odd", read=False),
        ),
    )


@pytest.fixture
def template(show):
    page = show(replace(dropped_call_trace(), prompt=branched(), local_prompt=None, prompt_difference=None))
    page.open_stage("render")
    return page


def test_a_branch_that_was_not_taken_is_marked_and_said(template):
    template.page.hover("#pd-template [data-line='2']")
    skipped = template.inspector()
    template.page.hover("#pd-template [data-line='1']")
    tag = template.inspector()
    template.page.hover("#pd-template [data-line='4']")

    assert "pd-skipped" in template.page.get_attribute("#pd-template [data-line='2']", "class")
    assert "skipped, inside if thinking not taken, evaluated once" in skipped.replace("\n", " ")
    assert "if thinking not taken, evaluated once" in tag.replace("\n", " ")
    assert "skipped" not in template.inspector()
    mark = "getComputedStyle(document.querySelector('#pd-template [data-line=\"%d\"] .pd-code'), '::before').content"
    assert [template.page.evaluate(mark % line) for line in (1, 2, 3)] == ['"∅"', '"┆"', '"×1"']


def test_template_variables_name_their_source_and_whether_they_were_read(template):
    template.page.click("#pd-template summary")
    rows = [row.split("\t") for row in template.page.locator("#pd-template tbody tr").all_inner_texts()]

    assert template.page.inner_text("#pd-template summary") == "2 template variables, 1 never read"
    assert [cell.strip() for cell in rows[0]] == ["thinking", "false", "default", "read"]
    assert rows[1][0].strip() == "<b>odd</b>"
    assert rows[1][3].strip() == "∅ never read"


def test_the_template_is_walked_by_keyboard(template):
    template.page.focus("#pd-template .pd-source")
    for key in ("ArrowDown", "ArrowDown", "End", "ArrowUp"):
        template.page.keyboard.press(key)

    assert "template line 599" in template.inspector().replace("\n", " ")
    assert template.page.locator("#pd-template [data-line='599']").is_visible()


def test_a_template_of_any_length_is_a_few_rows(template):
    assert template.page.locator("#pd-template .pd-line").count() < 60


def test_a_report_of_a_huge_run_stays_small(watched):
    text = "def f(x): return x + 1\n" * 19_000
    tools: list = [
        {"type": "function", "function": {"name": f"f{i}", "parameters": {"type": "object"}}} for i in range(80)
    ]
    body: JSONObject = {"messages": [{"role": "user", "content": text}], "tools": tools}
    prompt = replace(branched(), text=text, tokens=tokens_of(text, field="messages[0].content", line=4), spans=())
    trace = replace(dropped_call_trace(), request=Request(body, ""), prompt=prompt, local_prompt=None)
    body_text = trace_to_html(replace(trace, prompt_difference=None))
    watched.route("http://localhost/report", lambda route: route.fulfill(body=body_text, content_type="text/html"))
    watched.goto("http://localhost/report")
    watched.wait_for_selector("html[data-ready=true]", state="attached")

    assert len(prompt.tokens) > 200_000
    assert watched.evaluate("document.querySelectorAll('*').length") < 1_200
    assert Span(0, len(text)) == Span(0, prompt.tokens[-1].char_span.stop)


def test_paper_has_every_line_of_the_template(watched):
    trace = replace(dropped_call_trace(), prompt=branched(), local_prompt=None, prompt_difference=None)
    body = trace_to_html(trace)
    watched.route("http://localhost/paper", lambda route: route.fulfill(body=body, content_type="text/html"))
    watched.goto("http://localhost/paper")
    watched.wait_for_selector("html[data-ready=true]", state="attached")
    lines = watched.locator("#pd-template .pd-line")
    on_screen = lines.count()

    watched.emulate_media(media="print")
    expect(lines).to_have_count(600)

    watched.emulate_media(media="screen")
    expect(lines).to_have_count(on_screen)
    assert on_screen < 60


def test_what_the_model_wrote_stands_above_what_was_returned(show):
    """An altered call: hard differences underlined in red, whitespace alone apart."""
    trace = dropped_call_trace()
    call: JSONObject = {"function": {"name": "get_weather", "arguments": '{"city":"Rome"}'}}
    message: JSONObject = {"role": "assistant", "content": " ", "tool_calls": [call]}
    ledger = build_ledger(RAW_TEXT, trace.parse.parsed, message)
    page = show(replace(trace, chat=replace(trace.chat, message=message), parse=replace(trace.parse, ledger=ledger)))
    page.open_stage("parse")

    hard = page.page.locator(".pd-differs-hard", has_text="arguments")
    assert hard.locator("mark.pd-hard").all_inner_texts()[0].startswith(("Paris", "·"))
    assert page.page.locator(".pd-differs-soft").inner_text().split("\n")[0].startswith("content")
    assert "only whitespace differs" in page.page.locator(".pd-differs-soft").inner_text()

    hard.hover()
    assert page.page.locator(".pd-message .pd-lit").count() > 0


def test_the_static_page_and_the_report_draw_with_the_same_scripts():
    assert "class TokenMarks" in build_static_page(dropped_call_trace())
    assert "class TokenMarks" in trace_to_html(dropped_call_trace())
