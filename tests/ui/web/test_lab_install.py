"""Installing the lab from the page: for its owner, never for strangers; progress, failure, and what follows."""

from __future__ import annotations

import threading

import pytest

from prompt_debugger.core.base.errors import LabError
from prompt_debugger.core.pipeline import Target
from prompt_debugger.core.tools.lab import LabPool
from prompt_debugger.core.tools.lab.environment import Installation, InstallProgress, plan_install
from prompt_debugger.ui.cli.main import build_parser
from prompt_debugger.ui.present import unpack_payload
from prompt_debugger.ui.web.handlers import Handlers
from prompt_debugger.ui.web.lab_install import LabInstall, progress_words
from prompt_debugger.ui.web.labs import PageLabs
from prompt_debugger.ui.web.launch import build_app, labs_of
from prompt_debugger.ui.web.settings import PageSettings
from prompt_debugger.ui.web.targets import NoServerError, TargetFields, choose_target
from tests.core.tools.lab.environment.conftest import PACKAGES, home, wheels  # noqa: F401  # fixtures
from tests.patience import PATIENCE_S

ELSEWHERE = Target(base_url="http://127.0.0.1:9/v1")  # nothing is booted for it
EVENTS = {"install_lab", "cancel_install"}


def labs_without_vllm(installs: LabInstall) -> PageLabs:
    return PageLabs(LabPool(), enabled=False, installs=installs)


def events_of(settings: PageSettings) -> set[str]:
    app = build_app(settings, labs_without_vllm(labs_of(settings).installs))
    return {str(event["api_name"]) for event in app.config["dependencies"]}


def test_the_page_offers_it_to_its_owner_and_to_no_visitor():
    assert events_of(PageSettings()) >= EVENTS
    assert not events_of(PageSettings(public=True, installs_lab=True)) & EVENTS
    assert not events_of(PageSettings(lab=False)) & EVENTS


def test_a_page_with_a_lab_has_nothing_to_offer():
    settings = PageSettings()
    labs = labs_without_vllm(labs_of(settings).installs)
    labs.enabled = True
    events = {str(event["api_name"]) for event in build_app(settings, labs).config["dependencies"]}

    assert not events & EVENTS


def test_an_installation_is_followed_and_then_the_lab_is_there(home, wheels):  # noqa: F811
    installs = LabInstall(
        is_offered=True, plan=lambda: plan_install(packages=PACKAGES), check=("import tiny_a, tiny_b, tiny_c",)
    )
    labs = labs_without_vllm(installs)
    spec = Target().lab
    assert labs.describe(spec).state == "absent"
    assert str(home) in installs.describe()
    done = threading.Event()
    installs.start(done.set)
    running = labs.describe(spec)
    assert (running.state, running.sentence.startswith("The lab is being installed")) == ("installing", True)
    assert done.wait(PATIENCE_S), installs.failure

    labs.install(ELSEWHERE)  # all there: nothing is left to do but to take it into use
    for thread in threading.enumerate():
        if thread.name == "lab-install":
            thread.join(PATIENCE_S)
    assert labs.enabled
    assert not labs.offers_install


def test_a_failure_is_reported_and_visitors_are_not_told_more_than_they_need():
    def refuse():
        raise LabError("the disk of /secret/place has 3 MB free")

    installs = LabInstall(is_offered=False, plan=refuse)
    labs = labs_without_vllm(installs)
    labs.install(ELSEWHERE)

    assert "3 MB free" in labs.describe(Target().lab).sentence
    for public, is_reported in ((False, True), (True, False)):
        payload, goes_on = Handlers(PageSettings(public=public), labs).describe_lab()
        assert ("/secret/place" in str(unpack_payload(payload)[0])) == is_reported
        assert not goes_on


@pytest.mark.parametrize(
    ("fraction", "elapsed_s", "said"),
    [(0.01, 30.0, "1%"), (0.5, 120.0, "50%, about 2 min left"), (0.99, 200.0, "99%, about 1 min left")],
)
def test_the_page_says_when_the_lab_will_be_there(fraction, elapsed_s, said):
    assert progress_words(InstallProgress("", fraction, elapsed_s)) == f"The lab is being installed: {said}"


@pytest.mark.parametrize(
    ("environment", "options", "expected"),
    [
        ({}, [], False),
        ({}, ["--install-lab"], True),
        ({"PROMPT_DEBUGGER_INSTALL_LAB": "1"}, [], True),
        ({"SPACE_ID": "me/debugger"}, [], True),
        ({"SPACE_ID": "me/debugger"}, ["--no-install-lab"], False),
        ({"SPACE_ID": "me/debugger", "PROMPT_DEBUGGER_INSTALL_LAB": "0"}, [], False),
        ({"SPACE_ID": "me/debugger"}, ["--no-lab"], False),
        ({"SPACE_ID": "me/debugger"}, ["--endpoint", "http://127.0.0.1:9/v1"], False),
    ],
)
def test_the_operator_decides_and_a_space_installs_by_itself(monkeypatch, environment, options, expected):
    for name in ("SPACE_ID", "PROMPT_DEBUGGER_INSTALL_LAB"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    seen: list[PageSettings] = []
    monkeypatch.setattr("prompt_debugger.ui.web.launch.launch_app", seen.append)

    parsed = build_parser().parse_args(["ui", *options])

    assert parsed.run(parsed) == 0
    assert seen[0].installs_lab is expected


@pytest.mark.parametrize("public", [False, True])
def test_a_run_before_the_lab_is_there_says_that_it_is_coming(public):
    installs = LabInstall(is_offered=not public)
    labs = labs_without_vllm(installs)
    fields = TargetFields("", "", "", "kimi_k2", "none")

    with pytest.raises(NoServerError) as before:
        choose_target(PageSettings(public=public), labs, fields)
    installs._running = Installation(plan_install(packages=PACKAGES))
    with pytest.raises(NoServerError) as during:
        choose_target(PageSettings(public=public), labs, fields)

    assert ("install the lab" in before.value.hint) != public
    assert "install" in during.value.hint
    assert "again" in during.value.hint
