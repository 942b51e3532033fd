"""What the view of three APIs draws: a column each, from where it parts from the first, and every cause."""

from prompt_debugger.core.base.errors import BackendError
from prompt_debugger.core.base.types import Api
from prompt_debugger.core.tools.apis import ApiRuns
from prompt_debugger.core.tools.experiments.api_difference import ApiDifference
from prompt_debugger.ui.present import unpack_payload
from prompt_debugger.ui.present.apis import apis_payload, asking_payload
from tests.core.tools.experiments.test_runs import changed
from tests.ui.present.traces import dropped_call_trace

PAIR = (Api.CHAT, Api.RESPONSES)


def drawn(runs, differences=(), problems=None):
    return unpack_payload(apis_payload(ApiRuns(runs, differences, problems or {})))[0]


def test_a_part_that_differs_begins_to_be_marked_where_it_does():
    first = dropped_call_trace()
    header = drawn({Api.CHAT: first, Api.RESPONSES: changed(), Api.MESSAGES: first})

    prompts = {column["api"]: column["parts"][0] for column in header["columns"]}
    assert prompts["chat completions"]["other"] == prompts["Messages"]["other"] == ""
    parted = prompts["Responses"]
    whole = parted["same"].removeprefix("…") + parted["other"]
    assert parted["other"]
    assert whole in changed().prompt.text
    assert parted["same"].removeprefix("…") in first.prompt.text
    assert "different from character" in parted["note"]


def test_an_api_without_a_run_says_why():
    runs = {Api.CHAT: dropped_call_trace(), Api.RESPONSES: None, Api.MESSAGES: None}
    header = drawn(runs, problems={Api.RESPONSES: BackendError("It has no such endpoint.")})

    assert [column["sentence"] for column in header["columns"]][1:] == ["It has no such endpoint.", ""]
    assert {part["note"] for part in header["columns"][1]["parts"]} == {"not known"}


def test_differences_are_counted_with_what_is_not_explained():
    runs = dict.fromkeys(Api, dropped_call_trace())
    known = ApiDifference(PAIR, "prompt", "request conversion: lost", "The prompts differ.")
    unknown = ApiDifference(PAIR, "message", None, "They differ.")

    assert drawn(runs)["sentence"] == "Prompts, outputs, answers and streams agree as far as they are known."
    assert drawn(runs, (known,))["sentence"] == "1 difference, each with its cause."
    header = drawn(runs, (known, unknown))
    assert header["sentence"] == "2 differences, 1 of them not explained."
    assert [one["cause"] for one in header["differences"]] == ["request conversion: lost", "not explained"]
    assert header["differences"][0]["between"] == "chat completions / Responses"


def test_while_they_are_asked_it_says_what_goes_on():
    assert unpack_payload(asking_payload("Rendering"))[0]["sentence"] == "Rendering"
