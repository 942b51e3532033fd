"""Trying, copying and applying a fix, on a real server; what is refused, and said."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from prompt_debugger.core import pipeline
from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.base.types import FixChange
from prompt_debugger.core.evidence import gather_evidence, show_evidence
from prompt_debugger.core.pipeline import Target
from prompt_debugger.core.pipeline.recordings import load_recording
from prompt_debugger.core.report import read_bundle, trace_to_json
from prompt_debugger.core.report.writers.terminal import finding_lines
from prompt_debugger.core.request import read_request
from prompt_debugger.core.tools.fixes.offered import fixes_of
from prompt_debugger.core.tools.fixes.trial import Runner, Trial
from prompt_debugger.core.tools.fixes.try_fixes import Experiment, tried_fixes
from prompt_debugger.core.tools.lab import LabPool
from prompt_debugger.core.tools.plugin.write import write_plugin
from prompt_debugger.ui.present import unpack_payload
from prompt_debugger.ui.present.verdict import verdict_payload
from prompt_debugger.ui.report import share_trace
from prompt_debugger.ui.web.asked import trusting_template
from prompt_debugger.ui.web.experiments import Asked, Bench
from prompt_debugger.ui.web.fixes import bug_report
from prompt_debugger.ui.web.fixes.bug_report import BugReports
from prompt_debugger.ui.web.fixes.offered import OfferedFixes, plan_to_try
from prompt_debugger.ui.web.fixes.runs import PageRuns, Ran
from prompt_debugger.ui.web.fixes.try_fixes import Edited, Experiments
from prompt_debugger.ui.web.gate import RunGate
from prompt_debugger.ui.web.handlers import Handlers
from prompt_debugger.ui.web.labs import PageLabs
from prompt_debugger.ui.web.settings import PageSettings
from prompt_debugger.ui.web.targets import TargetFields
from tests.servers.running_servers import llama_cpp

NOWHERE = TargetFields("", "", "", "kimi_k2", "none")
FAULTY = {
    "messages": [{"role": "user", "content": "Weather in Paris?"}],
    "tools": [
        {
            "type": "function",
            "function": {"name": "f", "parameters": {"type": "object", "properties": {"a": {"type": "str"}}}},
        }
    ],
    "max_tokens": 8,
    "temperature": 0,
}


def page(runs_per_minute=None, **settings):
    made, labs = PageSettings(lab=False, **settings), PageLabs(LabPool(), enabled=False)
    handlers = Handlers(made, labs)
    if runs_per_minute is not None:
        handlers.gate = RunGate(replace(handlers.limits, runs_per_minute=runs_per_minute), clock=lambda: 0.0)
    return OfferedFixes(PageRuns(handlers), Bench(made, labs))


async def test_a_paste_is_not_called_a_page_on_which_nothing_has_run():
    """Not even one whose ids show the server's software: there is a server then, without an address."""
    message = {"role": "assistant", "tool_calls": [{"id": "chatcmpl-tool-" + "4a" * 16, "function": {"name": "f"}}]}
    trace = await show_evidence(gather_evidence([json.dumps({"choices": [{"message": message}]})]))
    runs = PageRuns(Handlers(PageSettings(lab=False), PageLabs(LabPool(), enabled=False)))

    with pytest.raises(RequestError, match="was pasted"):
        runs.target(Ran(trace, NOWHERE, "s"))
    with pytest.raises(RequestError, match="Nothing has been run"):
        runs.target(Ran(None, NOWHERE, "s"))


def recorded(name):
    recording = load_recording(name)
    assert recording is not None
    return recording.trace


def read(payload):
    header, text = unpack_payload(payload)
    return header, text.decode()


async def collect(payloads):
    return [unpack_payload(one)[0] async for one in payloads]


@pytest.fixture(scope="module")
def server_url(tmp_path_factory):
    with llama_cpp(tmp_path_factory.mktemp("llama-cpp")) as base_url:
        yield base_url


@pytest.mark.servers
async def test_a_fix_is_tried_on_the_server_of_the_run_and_on_no_other(server_url, lab_model_dir):
    request, fixes = read_request(json.dumps(FAULTY)), page()
    trace = await pipeline.run(request, Target(base_url=server_url, tokenizer=lab_model_dir))
    fields = NOWHERE._replace(endpoint=server_url, tokenizer=str(lab_model_dir))

    told = await collect(fixes.try_fix(Ran(trace, fields, "a"), "PD101"))
    elsewhere = await collect(
        fixes.try_fix(Ran(trace, fields._replace(endpoint="http://127.0.0.1:9/v1"), "a"), "PD101")
    )

    assert [one["state"] for one in told][-1] == "worked"
    assert "running" in [one["state"] for one in told]
    assert "PD101 is gone" in told[-1]["sentence"]
    assert [one["state"] for one in elsewhere] == ["error"]
    assert "a different server" in elsewhere[0]["sentence"]


@pytest.mark.servers
async def test_a_trial_counts_among_a_visitors_runs(server_url, lab_model_dir):
    target = Target(base_url=server_url, tokenizer=lab_model_dir)
    trace = await pipeline.run(read_request(json.dumps(FAULTY)), target)
    fixes = page(2, public=True, target=target)

    told = [await collect(fixes.try_fix(Ran(trace, NOWHERE, "a"), "PD101")) for _ in range(3)]

    assert [one[-1]["state"] for one in told] == ["worked", "worked", "error"]
    assert "within a minute" in told[-1][-1]["sentence"]


def test_a_fix_next_to_which_there_are_others_is_known_to_have_worked():
    """It was told as one that did not help: the others were taken for a part of it."""
    trace = recorded("polluted-content")
    assert fixes_of(trace)["PD205"].alternatives
    plan = plan_to_try(trace, "PD205", Target())
    made = Experiment(plan, traces=[recorded("healthy-call")], numbers=[0])

    assert tried_fixes(trace, [made])["PD205"].worked is True
    assert tried_fixes(trace, [Experiment(plan, traces=[trace], numbers=[0])])["PD205"].worked is False


async def test_before_a_run_there_is_nothing_to_try_or_to_copy():
    fixes = page()

    [tried] = await collect(fixes.try_fix(Ran(None, NOWHERE, "a"), "PD104"))
    assert "Nothing has been run" in tried["sentence"]
    assert "Nothing has been run" in read(fixes.copy(None, "curl PD104"))[0]["sentence"]
    assert "does not have this fix" in read(fixes.apply(recorded("healthy-call"), "PD104"))[0]["sentence"]


def test_the_changed_request_is_applied_and_copied():
    fixes, trace = page(), recorded("dropped-call")

    header, text = read(fixes.apply(trace, "PD401"))
    assert header["kind"] == "apply"
    assert json.loads(text)["messages"][2]["tool_calls"][0]["id"] == "functions.search:0"
    header, copied = read(fixes.copy(trace, "curl PD401"))
    assert header["kind"] == "copy"
    assert read_request(copied).body == json.loads(text)


async def test_a_switch_goes_into_the_request_and_one_that_a_request_cannot_say_does_not():
    fixes, asked = page(), Asked(recorded("dropped-call").request.text, NOWHERE)

    header, text = read(await fixes.apply_switch(asked, "", "without-tools"))
    assert header["kind"] == "apply"
    assert "tools" not in json.loads(text)
    header, _ = read(await fixes.apply_switch(asked, "", "no-such-switch"))
    assert "does not apply" in header["sentence"]


async def test_an_edited_template_goes_into_the_request_but_not_on_a_public_page():
    text = json.dumps({"messages": FAULTY["messages"], "chat_template": "older"})
    asked = Asked(text, NOWHERE)

    changed = json.loads(read(await page().apply_template(asked, "new", "own"))[1])
    back = json.loads(read(await page().apply_template(asked, "own", "own"))[1])
    refused = read(await page(public=True).apply_template(asked, "new", "own"))[0]

    assert changed["chat_template"] == "new"
    assert "chat_template" not in back
    assert "public page" in refused["sentence"]


def test_a_request_with_a_template_runs_on_a_lab_that_takes_it():
    target, request = Target(), read_request(json.dumps({**FAULTY, "chat_template": "x"}))

    assert trusting_template(target, request, is_public=False).lab.extra_args == ("--trust-request-chat-template",)
    assert trusting_template(target, read_request(json.dumps(FAULTY)), is_public=True) == target
    elsewhere = replace(target, base_url="http://127.0.0.1:9/v1")
    assert trusting_template(elsewhere, request, is_public=True) == elsewhere
    with pytest.raises(Exception, match="public page"):
        trusting_template(target, request, is_public=True)


def trials_page(**settings):
    made, labs = PageSettings(lab=False, **settings), PageLabs(LabPool(), enabled=False)
    runs = PageRuns(Handlers(made, labs))
    return Experiments(runs, Bench(made, labs)), BugReports(runs)


@pytest.mark.servers
async def test_experiments_run_what_was_chosen_next_to_the_unchanged_request(server_url, lab_model_dir):
    trace = await pipeline.run(read_request(json.dumps(FAULTY)), Target(base_url=server_url, tokenizer=lab_model_dir))
    ran = Ran(trace, NOWHERE._replace(endpoint=server_url, tokenizer=str(lab_model_dir)), "a")
    trials, _ = trials_page()

    listed = unpack_payload(await trials.plan(ran))[0]
    steps = [one async for one in trials.run(ran, '{"chosen": ["fix 0"], "samples": 2, "budget": 3}')]

    assert next((one["key"], one["ticked"]) for one in listed["variants"]) == ("fix 0", True)
    assert {"switch without-tools", "switch tools-sorted"} & {one["key"] for one in listed["variants"]}
    assert listed["max_tokens"] == 8
    last = unpack_payload(steps[-1].payload)[0]
    assert (last["state"], [row["n"] for row in last["rows"]]) == ("done", [2, 1])
    assert [len(made) for _, made in steps[-1].runs] == [2, 1]
    assert last["rows"][1]["change"] == "+0 calls"
    assert steps[1].runs is not None


@pytest.mark.servers
async def test_other_stops_are_variants_and_log_probabilities_give_the_margin(server_url, lab_model_dir):
    body = {**FAULTY, "stop": ["END"]}
    trace = await pipeline.run(
        read_request(json.dumps(body)), Target(base_url=server_url, tokenizer=lab_model_dir, tool_parser="kimi_k2")
    )
    ran = Ran(trace, NOWHERE._replace(endpoint=server_url, tokenizer=str(lab_model_dir)), "a")
    trials, _ = trials_page()
    chosen = {"chosen": ["no-stop"], "stop": "a\\nb", "stop_token_ids": "1, 2", "logprobs": True}

    listed = unpack_payload(await trials.plan(ran))[0]
    steps = [one async for one in trials.run(ran, json.dumps({**chosen, "samples": 1, "budget": 4}))]

    assert "no-stop" in {one["key"] for one in listed["variants"]}
    rows = unpack_payload(steps[-1].payload)[0]["rows"]
    names = ["unchanged request", "no stop strings, no stop tokens", "stop at 'a\\nb'", "stop at token 1, 2"]
    assert [row["name"] for row in rows] == names
    sent = [made[0].request.body for _, made in steps[-1].runs]
    assert [(one.get("stop"), one.get("stop_token_ids")) for one in sent] == [
        (["END"], None),
        (None, None),
        (["a\nb"], None),
        (["END"], [1, 2]),
    ]
    assert {one["logprobs"] for one in sent} == {True}


@pytest.mark.servers
async def test_an_edited_template_is_a_variant_but_not_on_a_public_page(server_url, lab_model_dir):
    target = Target(base_url=server_url, tokenizer=lab_model_dir)
    trace = await pipeline.run(read_request(json.dumps(FAULTY)), target)
    trace = replace(trace, server=replace(trace.server, kind="vllm"))
    ran = Ran(trace, NOWHERE._replace(endpoint=server_url, tokenizer=str(lab_model_dir)), "a")

    async def keys(trials, ran, edited):
        return {one["key"]: one for one in unpack_payload(await trials.plan(ran, edited))[0]["variants"]}

    offered = await keys(trials_page()[0], ran, Edited("Only {{ messages[0].content }}", "own"))
    assert offered["template"]["can_run"] is False  # someone's server: its flags are given
    assert offered["reasoning-parser=qwen3"]["can_run"] is False
    assert "template" not in await keys(trials_page()[0], ran, Edited("own", "own"))
    public, _ = trials_page(public=True, target=target)
    assert "template" not in await keys(public, Ran(trace, NOWHERE, "a"), Edited("Only", "own"))


def test_a_request_is_asked_again_with_log_probabilities():
    header, text = read(page().ask_margin(recorded("polluted-content")))

    assert (header["kind"], header["compares"]) == ("apply", False)
    assert json.loads(text)["top_logprobs"] == 5
    assert read(page().ask_margin(None))[0]["kind"] == "failure"


@pytest.mark.servers
@pytest.mark.parametrize(
    ("order", "words"),
    [
        ("not json", "no change was chosen"),
        ('{"chosen": ["fix 0"], "samples": 0, "budget": 3}', "samples must be from 1 to 20"),
        ('{"chosen": ["fix 0"], "samples": 1, "budget": 9}', "runs must be from 1 to 8"),
        ('{"stop_token_ids": "x", "samples": 1, "budget": 3}', "'x' is not a list of token ids."),
        ('{"chosen": [["fix 0"]], "samples": true, "budget": 1}', "no change was chosen"),
    ],
)
async def test_an_order_that_asks_for_nothing_or_too_much_is_refused(server_url, lab_model_dir, order, words):
    target = Target(base_url=server_url, tokenizer=lab_model_dir)
    trace = await pipeline.run(read_request(json.dumps(FAULTY)), target)
    trials, _ = trials_page(public=True, target=target)

    [step] = [one async for one in trials.run(Ran(trace, NOWHERE, "a"), order)]

    assert words in unpack_payload(step.payload)[0]["sentence"].lower()


@pytest.mark.servers
async def test_a_request_shrinks_within_what_a_visitor_may_run(server_url, lab_model_dir):
    target = Target(base_url=server_url, tokenizer=lab_model_dir)
    trace = await pipeline.run(read_request(json.dumps(FAULTY)), target)
    _, over = trials_page(public=True, target=target)

    told = [unpack_payload(one) async for one in over.shrink(Ran(trace, NOWHERE, "a"))]

    header, text = told[-1]
    assert header["state"] == "done"
    assert "in 3 of 3 confirming runs" in header["sentence"]
    assert read_request(header["curl"]).body == json.loads(text)


async def test_the_plugin_is_for_the_family_of_the_run():
    _, over = trials_page()

    header, source = read(over.plugin(recorded("dropped-call")))

    assert (header["kind"], header["name"]) == ("file", "prompt_debugger_kimi_k2.py")
    assert source == write_plugin("kimi_k2")
    assert read(over.plugin(None))[0]["kind"] == "failure"


async def test_a_test_that_was_not_run_says_so():
    _, over = trials_page(public=True)
    trace = recorded("dropped-call")

    for engine in ("vllm", "sglang", "llama.cpp"):
        [told] = [read(one) async for one in over.upstream_test(trace, engine)]
        assert told[0]["sentence"].startswith("Not run: ")
        assert "get_weather" in told[1]


@pytest.mark.parametrize(
    ("engine", "said"),
    [
        ("vllm", "vLLM is not installed here"),
        ("sglang", "SGLang is not installed here; `prompt-debugger parse --fetch sglang==0.5.23` brings its parsers"),
        ("llama.cpp", "a test for this project is only written here"),
    ],
)
async def test_a_test_is_run_where_its_project_is_installed(engine, said, monkeypatch):
    _, over = trials_page()
    monkeypatch.setattr(bug_report, "runner_of", lambda kind, package: None)

    [told] = [read(one)[0] async for one in over.upstream_test(recorded("dropped-call"), engine)]

    assert told["sentence"] == f"Not run: {said}."


async def test_a_test_runs_in_the_interpreter_that_has_its_project(monkeypatch):
    _, over = trials_page()
    monkeypatch.setattr(bug_report, "runner_of", lambda kind, package: Runner(f"/python/with/{kind}", package))
    monkeypatch.setattr(
        bug_report, "try_source", lambda source, runner: Trial("1", fails=True, explanation=f"in {runner.python}")
    )

    waiting, told = [read(one)[0] async for one in over.upstream_test(recorded("dropped-call"), "sglang")]

    assert waiting["sentence"].endswith("it runs in SGLang")
    assert told["sentence"].startswith("Run in SGLang 1: it fails")
    assert "in /python/with/sglang" in told["sentence"]


async def test_a_diff_of_the_template_is_offered_to_save():
    _, over = trials_page(public=True)

    _, (told, diff) = [read(one) async for one in over.upstream_test(recorded("polluted-content"), "diff of template")]

    assert (told["state"], told["name"]) == ("done", "chat_template.diff")
    assert diff.startswith("--- a/chat_template.jinja")


async def test_a_public_page_tries_no_change_of_a_parser():
    _, over = trials_page(public=True)

    _, (told, diff) = [read(one) async for one in over.upstream_test(recorded("dropped-call"), "diff of sglang")]

    assert "public page" in told["sentence"]
    assert diff == ""


async def test_without_the_parsers_name_no_test_is_written():
    _, over = trials_page()
    trace = recorded("dropped-call")
    unnamed = replace(trace, server=replace(trace.server, tool_parser=None))

    [told] = [read(one)[0] async for one in over.upstream_test(unnamed, "vllm")]

    assert (told["state"], told["place"]) == ("error", None)
    assert "does not report which tool parser" in told["sentence"]


def test_a_proof_is_at_the_root_and_in_everything_that_is_shared():
    sentence = "Tested on the same server, one run: PD401 is gone and there is no new error; 1 of 1 call returned."
    order = json.dumps({"code": "PD401", "sentence": sentence, "calls": [1, 1]})
    proved, findings, answer = page().add_proof(recorded("dropped-call"), order)
    again, _, _ = page().add_proof(proved, order)
    shared = share_trace(proved)
    opened = read_bundle(shared.bundle).trace
    document = json.loads(shared.bundle)

    assert unpack_payload(answer)[0]["kind"] == "proved"
    root = next(finding for finding in proved.findings if finding.code == "PD104")
    assert (root.proof.worked, root.proof.written, root.proof.returned) == (True, 1, 1)
    assert root.proof.changes[0] == FixChange(
        "messages[2].tool_calls[0].id", json.dumps("search"), json.dumps("functions.search:0")
    )
    assert [one.proof for one in proved.findings if one is not root] == [None] * (len(proved.findings) - 1)
    assert again == proved
    assert any(card["proof"] and "PD401 is gone" in card["proof"]["text"] for card in _cards(findings))
    assert opened.findings == proved.findings == read_bundle(shared.short_bundle).trace.findings
    assert [one["proof"]["patch"][0]["op"] for one in document["findings"] if "proof" in one] == ["replace"]
    assert f"**Tried:** {sentence} Changed: " in shared.markdown
    assert "Fixed: 1 of 1 call returned." in json.dumps(unpack_payload(verdict_payload(opened))[0]["proof"])
    assert "tried: Tested on the same server" in "\n".join(finding_lines(root))


def test_a_run_without_a_proof_says_nothing_of_one():
    trace = recorded("dropped-call")

    assert '"proof"' not in json.dumps(trace_to_json(trace)["findings"])
    assert "Tried:" not in share_trace(trace).markdown
    assert unpack_payload(verdict_payload(trace))[0]["proof"] is None


def test_a_secret_in_a_proof_is_covered():
    order = json.dumps({"code": "PD401", "sentence": "Tested: the key sk-abcdefghijklmnop1234567890 was taken."})
    proved, _, _ = page().add_proof(recorded("dropped-call"), order)
    shared = share_trace(proved)

    assert "sk-abcdefghijklmnop" not in shared.bundle + shared.markdown + shared.html


def _cards(findings):
    return unpack_payload(findings)[0]["findings"]


def test_a_proof_of_nothing_is_refused():
    for trace, order in ((None, '{"code": "PD401"}'), (recorded("healthy-call"), '{"code": "PD401"}'), (None, "{")):
        proved, findings, answer = page().add_proof(trace, order)

        assert (proved, findings) == (None, None)
        assert unpack_payload(answer)[0]["kind"] == "failure"


def test_the_request_of_a_paste_is_asked_again():
    header, data = unpack_payload(page().ask_again(recorded("dropped-call")))

    assert (header["kind"], header["compares"]) == ("apply", False)
    assert json.loads(data)["messages"]
    assert unpack_payload(page().ask_again(None))[0]["kind"] == "failure"
