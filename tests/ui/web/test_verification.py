"""What the verify panel shows of what `verify` left: rates, causes, two compared, and a row as the page's run."""

import asyncio
import json
from dataclasses import replace

import pytest

from prompt_debugger.core.base.types import Conclusion
from prompt_debugger.core.tools.verify import Progress
from prompt_debugger.ui.present import unpack_payload
from prompt_debugger.ui.present.verification import own_sentence
from prompt_debugger.ui.web.labs import LabLine
from prompt_debugger.ui.web.settings import PageSettings
from prompt_debugger.ui.web.targets import TargetFields
from prompt_debugger.ui.web.verification import Verifications
from prompt_debugger.ui.web.verify_run import Asked, running_payload
from tests.core.tools.verify.made import make_by_three_apis, make_verifications


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return make_verifications(tmp_path_factory.mktemp("made"))


OWN = Verifications(PageSettings(lab=False))


async def shown(first, second=""):
    payload, opened = await OWN.open(str(first), str(second))
    return unpack_payload(payload)[0], opened


@pytest.mark.parametrize(
    ("rate", "written", "dropped", "said"),
    [
        ((0.0, 1), 0, 0, "The answer has no fault. No call was written."),
        ((1.0, 1), 1, 1, "The answer has a fault. 1 of 1 call written was dropped."),
        ((0.0, 20), 12, 0, "None of 20 answers has a fault. 0 of 12 calls written were dropped."),
        ((0.5, 20), None, None, "50.0% of 20 answers have a fault."),
    ],
)
def test_few_answers_are_counted_in_words(rate, written, dropped, said):
    value, n = rate
    figures = {"rates": {"fault_rate": {"value": value, "n": n}}, "written": written, "dropped": dropped}

    assert own_sentence(figures) == said


def test_before_the_rows_are_counted_it_says_what_is_waited_for():
    begun = unpack_payload(running_payload(Progress(), 8.2))[0]
    asked = unpack_payload(running_payload(Progress(total=3, read=1), 16.0))[0]

    assert (begun["sentence"], begun["progress"]["text"]) == ("Identifying the server", "8 s")
    assert asked["progress"]["text"] == "1 of 3 read · 16 s"
    lab = LabLine("starting", "vLLM is loading the model", 0.4)
    loading = unpack_payload(running_payload(Progress(), 8.2, lab=lab))[0]
    assert (loading["sentence"], loading["progress"]["fraction"]) == (f"Starting the lab: {lab.sentence}", 0.4)
    ready = unpack_payload(running_payload(Progress(), 8.2, lab=LabLine("ready", "")))[0]
    assert ready["sentence"] == "Identifying the server"


async def test_one_verification_has_rates_causes_tools_and_rows_by_cause(made):
    reported, _ = await shown(made[0])

    [side] = reported["sides"]
    assert reported["sentence"] == "16.7% of 12 answers have a fault. 2 of 10 calls written were dropped."
    assert [side["rates"][0][name] for name in ("label", "value", "note")] == ["calls dropped", 0.2, "of 10"]
    assert side["rates"][0]["low"] < 0.2 < side["rates"][0]["high"]
    assert ["PD401 dropped-call", "2 of 12"] in [[bar["label"], bar["note"]] for bar in side["causes"]]
    assert [[bar["label"], bar["note"]] for bar in side["tools"]] == [["get_weather", "2 of 10"]]
    assert [bar["label"] for bar in side["stages"]] == ["parse"]
    assert sum(good + bad for good, bad in side["times"]["bins"]) == 12
    [cluster] = side["clusters"]
    assert (cluster["codes"][0][0], cluster["count"]) == ("PD401", 2)
    sizes = [row["size"] for row in cluster["rows"]]
    assert sizes == sorted(sizes)
    assert cluster["rows"][0]["question"] == "lose it in Oslo"


async def test_two_next_to_each_other_say_which_rows_changed(made):
    worse, _ = await shown(*made)
    better, _ = await shown(made[1], made[0])

    [worse], [better] = worse["pairs"], better["pairs"]
    assert [(row["index"], row["is_worse"]) for row in worse["changed"]] == [(9, True), (10, True)]
    assert [(row["index"], row["is_worse"]) for row in better["changed"]] == [(9, False), (10, False)]
    fault = next(bar for bar in worse["differences"] if bar["label"] == "answers with a fault")
    assert fault["value"] == pytest.approx(2 / 12)
    assert fault["low"] <= fault["value"] <= fault["high"]
    assert "12 rows compared" in worse["words"]


async def test_three_apis_are_three_sides_each_beside_the_first(made, tmp_path):
    journal = make_by_three_apis(*made, tmp_path / "three")
    reported, opened = await shown(journal)

    assert [side["name"].rpartition(", ")[2] for side in reported["sides"]] == [
        "chat completions",
        "Responses",
        "Messages",
    ]
    assert reported["sentence"].count("that both answered.") == 2
    assert "three/results.sqlite, Messages" in reported["sentence"]
    assert [[row["index"] for row in pair["changed"]] for pair in reported["pairs"]] == [[9, 10], [9, 10]]
    assert (await OWN.open_row(opened, 2, 9)).trace.verdict.conclusion is not Conclusion.FAULT
    assert (await OWN.open_row(opened, 0, 9)).trace.verdict.conclusion is Conclusion.FAULT


async def test_a_row_of_a_journal_is_the_pages_run_with_its_raw_output(made):
    _, opened = await shown(made[0])

    row = await OWN.open_row(opened, 0, 9)

    assert row.trace.raw is not None
    assert row.trace.verdict.conclusion is Conclusion.FAULT
    assert json.loads(row.text)["messages"][0]["content"] == "lose the weather in Paris"
    facts = unpack_payload(row.payloads["header"])[0]["facts"]
    assert facts[0][1] == "from verify"


async def test_a_row_of_results_opens_with_request_and_answer(made):
    _, opened = await shown(made[0] / "results.jsonl")

    row = await OWN.open_row(opened, 0, 1)

    assert row.trace.raw is None
    assert row.trace.chat.message["tool_calls"][0]["function"]["name"] == "get_weather"
    assert row.trace.verdict is not None


@pytest.mark.parametrize("row", [(0, 99), (1, 1), (-1, 1)])
async def test_a_row_that_is_none_opens_nothing(made, row):
    _, opened = await shown(made[0])

    assert await OWN.open_row(opened, *row) is None


@pytest.mark.parametrize("name", ["", "/no/such/folder"])
async def test_what_cannot_be_opened_is_a_message(name):
    reported, opened = await shown(name)

    assert reported["state"] == "error"
    assert opened == ()


async def test_a_public_page_opens_no_file(made):
    public = Verifications(replace(PageSettings(lab=False), public=True))
    _, opened = await shown(made[0])

    payload, none = await public.open(str(made[0]), "")

    assert unpack_payload(payload)[0]["state"] == "error"
    assert none == ()
    assert await public.open_row(opened, 0, 9) is None


def test_a_public_page_asks_no_dataset():
    public = Verifications(replace(PageSettings(lab=False), public=True))

    async def steps():
        fields = TargetFields("http://127.0.0.1:9/v1", "", "", "none", "none")
        return [step async for step in public.verify(Asked("", 5, 5), fields, "")]

    (step,) = asyncio.run(steps())

    assert unpack_payload(step.payload)[0]["state"] == "error"
    assert "public page" in unpack_payload(step.payload)[0]["sentence"]
