import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prompt_debugger.core.base.errors import BackendError, LabError, RequestError
from prompt_debugger.core.base.types import (
    JSON,
    Branch,
    CallMatch,
    CallOutcome,
    Conclusion,
    Fate,
    KwargSource,
    Ledger,
    LedgerEntry,
    Request,
    Severity,
    Span,
    Stage,
    TemplateKwarg,
    TokenLogprob,
    Trace,
    Verdict,
)
from prompt_debugger.core.pipeline.recordings import load_recording
from prompt_debugger.core.report import add_error
from prompt_debugger.core.request import read_request
from prompt_debugger.ui.present import (
    VIEWS,
    RunView,
    completion_payload,
    difference_payload,
    error_payload,
    findings_payload,
    ledger_payload,
    notices_payload,
    running_payload,
    stages_payload,
    template_payload,
    unpack_payload,
    verdict_payload,
)
from prompt_debugger.ui.present.completion import mark_special
from prompt_debugger.ui.present.json_text import json_segments
from tests.ui.present.strategies import hostile_texts
from tests.ui.present.traces import RAW_TEXT, dropped_call_trace

NOTHING = Trace(request=Request(body={}, text=""))

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | hostile_texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(hostile_texts, inner, max_size=3),
    max_leaves=12,
)


def header(payload):
    return unpack_payload(payload)[0]


def card(trace, opens, **options):
    return next(card for card in header(stages_payload(trace, **options))["cards"] if card["opens"] == opens)


# --- verdict and stages ------------------------------------------------------


def test_a_dropped_call_is_reported_first_and_opens_its_stage():
    strip = header(verdict_payload(dropped_call_trace()))

    assert strip["badge"] == "DROPPED"
    assert strip["sentence"] == "The model wrote 1 tool call, the server returned none. Guilty stage: parse."
    assert strip["open"] == "parse"
    assert strip["evidence"]["char_span"] == [RAW_TEXT.index("get_weather"), RAW_TEXT.index("get_weather") + 11]


def test_a_healthy_run_claims_nothing_but_what_was_counted():
    sentence = "Nothing lost: 156 of 156 characters accounted for."
    verdict = Verdict(0, 0, 0, None, sentence, Conclusion.NOTHING_LOST)
    strip = header(verdict_payload(replace(dropped_call_trace(), findings=(), verdict=verdict)))

    assert (strip["badge"], strip["tone"]) == ("NOTHING LOST", "success")


@pytest.mark.parametrize("conclusion", [one for one in Conclusion if one is not Conclusion.NOTHING_LOST])
def test_the_badge_never_says_more_than_the_sentence(conclusion):
    verdict = Verdict(0, 0, 0, None, "Whatever.", conclusion)
    trace = replace(dropped_call_trace(), findings=(), verdict=verdict)

    assert "LOST" not in header(verdict_payload(trace))["badge"]
    if conclusion in (Conclusion.UNKNOWN, Conclusion.UNCHECKED):
        assert header(verdict_payload(trace))["badge"].startswith("?")
        assert card(trace, "parse")["state"] == "unknown"
    if conclusion is Conclusion.UNKNOWN:
        assert card(trace, "findings")["state"] == "unknown"


def test_cards_before_between_and_after_the_guilty_stage():
    guilty_render = replace(dropped_call_trace(), verdict=Verdict(0, 0, 0, Stage.RENDER, "…"), findings=())

    states = [card(guilty_render, name)["state"] for name in ("render", "complete", "parse")]

    assert states == ["guilty", "follows", "follows"]


def test_a_stage_that_was_not_checked_is_not_ticked_off():
    trace = replace(dropped_call_trace(), prompt=None, local_prompt=None, prompt_difference=None)

    assert card(trace, "render")["state"] == "unknown"


def test_a_local_render_alone_is_not_a_check_of_the_server():
    trace = replace(dropped_call_trace(), prompt=None, prompt_difference=None)

    assert card(trace, "render")["state"] == "unknown"
    assert "local render" in card(trace, "render")["figures"]


def test_cards_of_an_empty_trace_teach():
    assert [one["state"] for one in header(stages_payload(NOTHING))["cards"]] == ["idle"] * 4
    assert card(NOTHING, "render", running=True)["state"] == "running"
    assert card(NOTHING, "render")["hint"]


def test_figures_carry_their_units():
    trace = dropped_call_trace()

    assert card(trace, "render")["figures"] == ["30 tokens · 8 special", "differs from local at token 9"]
    assert card(trace, "complete")["figures"] == ["19 tokens · stop", "412 ms"]
    assert card(trace, "parse")["figures"] == [
        "1 call written · 1 dropped",
        "128 of 156 characters accounted for",
    ]
    assert card(trace, "findings")["figures"] == ["1 cause · 1 effect"]


# --- ledger ------------------------------------------------------------------


def test_fields_that_a_server_fills_in_with_null_are_named_in_one_line():
    trace = dropped_call_trace()
    filled = {"role": "assistant", "content": None, "refusal": None, "audio": None, "tool_calls": None}
    account = header(ledger_payload(replace(trace, chat=replace(trace.chat, message=filled))))["accounts"][0]

    keys = [text for text, role, _ in account["message"] if role == "key"]
    assert keys == ['"role"', '"content"', '"tool_calls"']
    assert account["nulls"] == ["refusal", "audio"]


def test_the_ledger_shows_every_character_once():
    account = header(ledger_payload(dropped_call_trace()))["accounts"][0]

    assert "".join(segment["text"] for segment in account["segments"]) == RAW_TEXT
    assert account["legend"] == [["markup", "markup", 118], ["end", "end token", 10], ["lost", "lost", 28]]


def test_a_dropped_call_is_a_row_of_the_call_table():
    calls = header(ledger_payload(dropped_call_trace()))["calls"]

    assert calls["caption"] == "Tool calls: 1 call written · 1 dropped"
    assert calls["rows"][0]["written"] == 'get_weather({"city": "Paris"}) · id get_weather'
    assert calls["rows"][0]["returned"] == "—"
    assert calls["rows"][0]["state"] == "dropped"


def test_an_invented_call_is_a_row_too():
    trace = dropped_call_trace()
    message: dict[str, JSON] = {"tool_calls": [{"id": "c1", "function": {"name": "f", "arguments": "{}"}}]}
    ledger = Ledger(
        (LedgerEntry(Span(0, len(RAW_TEXT)), Fate.CONTENT),),
        (CallMatch(None, 0, (), CallOutcome.INVENTED),),
        ("tool_calls[0]",),
    )
    trace = replace(trace, chat=replace(trace.chat, message=message), parse=replace(trace.parse, ledger=ledger))

    shown = header(ledger_payload(trace))

    assert [row["state"] for row in shown["calls"]["rows"]] == ["invented"]
    assert "tool_calls[0]" in shown["accounts"][0]["missing"]


def test_a_message_that_is_not_a_message_is_shown_anyway():
    trace = dropped_call_trace()
    for calls in ("text", [1, None, {"function": 3}], {"a": 1}):
        odd = replace(trace, chat=replace(trace.chat, message={"tool_calls": calls}))

        assert header(ledger_payload(odd))["accounts"][0]["message"]


# --- the rest ----------------------------------------------------------------


@given(json_values)
def test_pretty_json_joins_to_json(value):
    text = "".join(segment.text for segment in json_segments(value))

    again = json.dumps(json.loads(text))  # joins surrogate pairs, as JavaScript does
    assert json.loads(again) == json.loads(json.dumps(value))


def test_pretty_json_knows_its_paths():
    segments = json_segments({"tool_calls": [{"function": {"name": "f"}}]})

    assert [(s.text, s.path) for s in segments if s.role == "string"] == [('"f"', "tool_calls[0].function.name")]


@given(hostile_texts, st.lists(hostile_texts, max_size=4))
def test_marking_control_tokens_alters_nothing(text, special):
    assert "".join(part for part, _ in mark_special(text, special)) == text


def test_the_longest_control_token_wins():
    assert mark_special("<a><a>b", ["<a>", "<a><a>"]) == [["<a><a>", "special"], ["b", ""]]


def test_a_run_that_is_not_over_says_nothing_of_what_the_server_reports() -> None:
    trace = replace(dropped_call_trace(), prompt=None, local_prompt=dropped_call_trace().prompt, prompt_difference=None)

    begun = replace(trace, chat=None, verdict=None)
    assert "no server has reported its prompt" in header(difference_payload(begun))["sentence"]
    assert "the server does not report the prompt it used" in header(difference_payload(trace))["sentence"]


def test_the_difference_is_cut_to_what_differs():
    shown = header(difference_payload(dropped_call_trace()))

    assert shown["texts"][0][1] == ["a helpful assistant", "", "<|im_end|>"]
    assert shown["texts"][1][1] == ["a helpful assistant", ".", "<|im_end|>"]
    assert shown["first_token"] == 9


def test_equal_prompts_are_reported_to_be_equal():
    trace = replace(dropped_call_trace(), prompt_difference=None)

    assert header(difference_payload(trace))["sentence"] == "Server and local render are the same 30 tokens."


def test_the_template_knows_the_lines_that_ran():
    shown = header(template_payload(dropped_call_trace().prompt))

    assert shown["ran"] == [2, 3]
    assert shown["lines"][0].startswith("{%- for message")


def test_the_template_knows_where_it_went_and_which_kwargs_it_read():
    branches = (Branch("if", "tools", 3, 1, 5, 0, 1), Branch("inline-if", "x", 4, 9, 4, 1, 0))
    kwargs = (
        TemplateKwarg("thinking", True, KwargSource.REQUEST, "chat_template_kwargs.thinking", read=False),
        TemplateKwarg(
            "continue_final_message", False, KwargSource.DEFAULT, reaches_template=False, reaches_parser=True
        ),
    )
    prompt = replace(dropped_call_trace().prompt, branches=branches, kwargs=kwargs)

    shown = header(template_payload(prompt))

    assert shown["branches"] == [
        {"line": 3, "column": 1, "end_line": 5, "kind": "if", "expression": "tools", "runs": 0, "skips": 1}
    ]
    assert shown["kwargs"] == [
        {"name": "thinking", "value": True, "source": "request, chat_template_kwargs.thinking", "read": False},
        {"name": "continue_final_message", "value": False, "source": "default; only for the parser", "read": None},
    ]


def test_streaming_text_is_replaced_by_what_was_finished():
    live = header(completion_payload(NOTHING, raw_text="abc", chat_text="d", streaming=True))
    done = header(completion_payload(dropped_call_trace(), raw_text="abc"))

    assert (live["raw"]["marked"], live["raw"]["streaming"]) == ([["abc", ""]], True)
    assert "".join(part for part, _ in done["raw"]["marked"]) == RAW_TEXT


def test_what_was_not_checked_is_listed():
    trace = replace(dropped_call_trace(), chat_stream=None, prompt=None)

    unchecked = header(findings_payload(trace))["unchecked"]

    assert any("prompt" in line for line in unchecked)
    assert any("Streaming" in line for line in unchecked)


@pytest.mark.parametrize(
    ("error", "sentence", "place"),
    [
        (
            RequestError("the JSON ends early", line=3, column=7),
            "Line 3, column 7: The JSON ends early.",
            {"line": 3, "column": 7},
        ),
        (RequestError("`messages` is missing", field="messages"), "`messages`: `messages` is missing.", None),
        (BackendError("nothing answers at http://x", "Start it."), "Nothing answers at http://x.", None),
    ],
)
def test_an_error_is_one_sentence_with_its_place(error, sentence, place):
    strip = header(error_payload(error))

    assert (strip["state"], strip["sentence"], strip["place"]) == ("error", sentence, place)


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (BackendError("no connection", kind="unreachable"), "target"),
        (BackendError("no answer in time", kind="timeout"), "target"),
        (BackendError("not allowed", status=401), "key"),
        (BackendError("it fails", status=500), None),
        (RequestError("no"), None),
    ],
)
def test_an_error_that_the_page_can_help_with_has_a_button_for_it(error, kind):
    step = header(error_payload(error))["step"]

    assert (step and step["kind"]) == kind


def test_a_lab_that_died_shows_its_last_words():
    assert header(error_payload(LabError("it died", log_tail="Traceback")))["log"] == "Traceback"


def test_notices_name_places_and_the_server_of_a_command():
    request = read_request(
        'curl http://localhost:9/v1/chat/completions -d \'{"messages": [{"role": "user", "content": "x"}]}\''
    )

    shown = header(notices_payload(request))

    assert shown["summary"] == "1 message, read from a curl command"
    assert "http://localhost:9/v1" in shown["items"][-1]["message"]


# --- a run -------------------------------------------------------------------


def test_a_tick_without_news_sends_the_clock_alone():
    view, trace = RunView(run=1), dropped_call_trace()
    view.update(trace, "Asking the model")

    assert view.update(trace, "Asking the model", elapsed_s=0.4) == {}
    assert set(view.update(trace, "Asking the model", elapsed_s=1.2)) == {"verdict"}


def test_a_stage_that_comes_in_sends_its_views_and_no_others():
    view, trace = RunView(run=1), dropped_call_trace()
    before = replace(trace, parse=None, findings=(), verdict=None)
    view.update(before, "Asking the model")

    changed = view.update(replace(before, parse=trace.parse), "Reading the output")

    assert set(changed) == {"verdict", "stages", "ledger"}


def test_the_end_of_a_run_opens_the_verdict():
    view, trace = RunView(run=1), dropped_call_trace()
    view.update(trace, "Done")

    assert header(view.finish(trace)["verdict"])["state"] == "done"


def test_an_error_keeps_what_was_found_before_it():
    view, trace = RunView(run=1), dropped_call_trace()
    view.update(replace(trace, parse=None, findings=(), verdict=None), "Asking the model")

    changed = view.fail(BackendError("the stream broke off", kind="broken-stream"))

    assert header(changed["verdict"])["badge"] == "SERVER"
    assert header(changed["verdict"])["bare"] == ["parse", "findings"]
    assert "prompt_tokens" not in changed


def test_an_error_before_anything_was_found_clears_the_results_of_the_last_run():
    changed = RunView(run=2).fail(RequestError("the JSON ends early", line=1, column=2))

    assert changed["prompt_tokens"] is None
    assert header(changed["ledger"])["empty"] == "There is no raw output to account for."
    assert header(changed["findings"])["empty"] == "No diagnosis: there was no answer to diagnose."
    assert header(changed["verdict"])["bare"] == ["complete", "parse", "findings"]
    assert header(changed["stages"])["cards"][2]["state"] == "idle"
    assert header(changed["verdict"])["state"] == "error"


def test_a_card_without_figures_says_what_will_come_before_the_end_and_why_nothing_came_after_it():
    trace = dropped_call_trace()
    before = header(stages_payload(Trace(request=trace.request)))["cards"]
    after = header(stages_payload(replace(trace, prompt=None, local_prompt=None, raw=None, parse=None)))["cards"]

    assert [card["hint"] for card in before[:2]] == ["the prompt, token by token", "what the model wrote"]
    absent = ["the prompt is unknown", "no raw output", "no raw output to read"]
    assert [card["hint"] for card in after[:3]] == absent


@given(hostile_texts, hostile_texts)
def test_no_text_breaks_a_payload(text, other):
    trace = dropped_call_trace()
    finding = replace(trace.findings[0], title=text, detail=other, fix=text, name=other, links=(text,))
    hostile = replace(
        trace,
        findings=(finding,),
        verdict=replace(trace.verdict, sentence=text),
        chat=replace(trace.chat, message={"role": text, other: [text, {other: text}]}, error=other),
        server=replace(trace.server, model=text, version=other),
        prompt=replace(trace.prompt, template=text, note=other),
    )

    payloads = RunView().finish(hostile)

    assert set(payloads) == set(VIEWS)
    assert all(payload is None or payload.isascii() for payload in payloads.values())
    assert header(payloads["verdict"])["sentence"] == json.loads(json.dumps(text))  # joins surrogate pairs
    assert header(payloads["findings"])["findings"][0]["severity"] == Severity.ERROR


def test_running_says_how_long():
    assert header(running_payload("x", run=1, elapsed_s=2.6))["detail"] == "3 s"
    assert header(running_payload("x", run=1, elapsed_s=9, waiting_s=8))["detail"] == "9 s"
    long = header(running_payload("x", run=1, elapsed_s=63, waiting_s=41))["detail"]
    assert long == "63 s, 41 s of them in this request"


def test_next_to_prose_stands_how_close_a_call_was_or_the_way_to_ask():
    recording = load_recording("polluted-content")
    assert recording is not None
    prose = recording.trace
    assert prose.raw is not None
    assert prose.raw.tokens is not None
    tops = (("<|tool_calls_section_begin|>", -1.0), ("I", -0.5))
    logprobs = tuple(TokenLogprob(token.text, token.id, -0.5, tops) for token in prose.raw.tokens)

    asked = header(verdict_payload(prose))
    reported = header(verdict_payload(replace(prose, raw=replace(prose.raw, logprobs=logprobs))))

    assert (asked["asks_margin"], asked["detail"]) == (True, "")
    assert reported["detail"].startswith("No call was written. Where a call could have begun (token 0)")
    assert "36.8%" in reported["detail"]


def test_an_output_without_a_message_shows_none():
    trace = replace(dropped_call_trace(), chat=None)

    account = unpack_payload(ledger_payload(trace))[0]["accounts"][0]

    assert account["message"] == []
    assert "no message" in account["figures"]


def test_what_was_rendered_and_not_run_says_so_wherever_it_is_kept():
    trace = dropped_call_trace()
    rendered = Trace(trace.request, local_prompt=trace.prompt)

    kept = unpack_payload(verdict_payload(rendered))[0]
    cut_short = unpack_payload(verdict_payload(replace(rendered, server=trace.server)))[0]

    assert (kept["badge"], kept["state"]) == ("NO SERVER", "done")
    assert cut_short["badge"] == "NO VERDICT"


def test_a_run_that_an_error_ended_has_the_badge_of_that_error_wherever_it_is_opened_again():
    dead = BackendError("GET http://127.0.0.1:9/v1/models: no connection", "Is the server running?")
    begun = replace(dropped_call_trace(), verdict=None, server=None)

    at_once = unpack_payload(error_payload(dead))[0]
    opened = unpack_payload(verdict_payload(add_error(begun, dead)))[0]

    assert (at_once["badge"], at_once["tone"]) == (opened["badge"], opened["tone"]) == ("SERVER", "error")
    assert opened["sentence"] == f"{at_once['sentence']} {at_once['detail']}"
