"""A lock keeps what a model did, and a later check says what changed, and whether for the worse."""

import json
from dataclasses import replace
from functools import cache
from xml.etree import ElementTree

import pytest

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.report.wire import dump_document
from prompt_debugger.core.tools.check import (
    check_to_json,
    check_to_junit,
    compare_locks,
    lock_of,
    read_lock,
)
from tests.core.tools.check.checks import RIGHT, STREAMS_WRONG, WRONG, check_of
from tests.core.tools.check.templates import HERMES, changed


@cache
def first_lock():
    return lock_of(check_of())


def changes(now, before=None):
    return [(one.sentence, one.is_worse) for one in compare_locks(before or first_lock(), lock_of(now))]


def test_a_lock_comes_back_from_its_file_and_nothing_has_changed():
    again = read_lock(json.dumps(dump_document(first_lock())))

    assert again == first_lock()
    assert compare_locks(again, first_lock()) == ()


@pytest.mark.parametrize("text", ["", "[]", '{"model": "m"}', "null"])
def test_what_is_not_a_lock_is_refused(text):
    with pytest.raises(RequestError, match="not a lock file of a check"):
        read_lock(text)


def test_an_answer_that_no_longer_comes_back_is_worse_and_one_that_does_is_better():
    failing = check_of(cells={"two-calls": WRONG, "types": STREAMS_WRONG})

    assert changes(failing) == [
        ("The verdict was works and is works-with-limits.", True),
        ("`two-calls` through `hermes`: it comes back → does not come back.", True),
        ("`types` through `hermes`: it comes back → does not come back in every chunking.", True),
    ]
    assert {is_worse for _, is_worse in changes(check_of(), lock_of(failing))} == {False}


def test_a_parser_that_reads_nothing_any_more_is_worse():
    assert ("`hermes` no longer reads the simplest call.", True) in changes(check_of(cells={"one-call": WRONG}))


def test_a_template_that_drops_an_answer_is_worse():
    one_only = changed(HERMES, "{%- for call in m.tool_calls or [] %}", "{%- for call in (m.tool_calls or [])[:1] %}")

    found = changes(check_of(one_only))

    assert ("`two-calls` is no longer completely printed by the template.", True) in found
    assert ("The template no longer supports `parallel-calls`.", True) in found
    assert ("The template has changed.", False) in found


def test_a_prompt_that_grew_is_reported_with_its_line_and_is_not_worse():
    longer = changed(HERMES, "<|im_start|>system\n", "<|im_start|>system\nBe kind.\n")

    prompt, cases = [one for one in changes(check_of(longer)) if "prompt" in one[0]]

    assert prompt[0].startswith("The prompt differs from line 2 on, character 19:")
    assert prompt[0].endswith("(+9 characters).")
    assert prompt[1] is False
    assert cases[0].startswith("The prompt of cases `tools`, `bare-tool`, ")
    assert cases[0].endswith(" grew by 9 characters at line 2.")
    assert "`plain`" not in cases[0]
    assert cases[1] is False


def test_with_a_tokenizer_a_prompt_grows_by_tokens():
    lock = first_lock()
    longer = replace(lock, prompts={**lock.prompts, "plain": "Be kind. " + lock.prompts["plain"]})
    before = replace(first_lock(), lengths={"plain": 6})

    found = [one.sentence for one in compare_locks(before, replace(longer, lengths={"plain": 20}))]

    assert found == ["The prompt of case `plain` grew by 14 tokens at line 1."]
    assert [one.sentence for one in compare_locks(before, replace(longer, lengths={"plain": 5}))] == [
        "The prompt of case `plain` shrank by 1 token at line 1."
    ]


def of_tools(now):
    return [(sentence, is_worse) for sentence, is_worse in changes(now) if sentence.startswith("Tools with")]


@pytest.mark.parametrize(
    ("new", "said"),
    [
        (
            "{% for tool in tools if '\"inner\"' not in tool | tojson %}{{ tool | tojson }}{% endfor %}",
            [("Tools with a parameter of type object are now dropped from the prompt.", True)],
        ),
        (
            "{{ tools | selectattr('function.description') | list | tojson }}",
            [("Tools with no description are now dropped from the prompt.", True)],
        ),
        (
            "{% for tool in tools %}{{ tool.function.name }}{{ tool | tojson }}{% endfor %}",
            [],  # writes more, and drops nothing
        ),
        ("{{ tools | tojson }}", []),
    ],
)
def test_a_kind_of_tool_that_is_dropped_is_named(new, said):
    found = of_tools(check_of(changed(HERMES, "{{ tools | tojson }}", new)))

    assert found == said


def test_tools_that_are_refused_or_lose_their_parameters_are_named_and_the_way_back_is_no_harm():
    union = "{% for tool in tools %}{% for p in tool.function.parameters.properties.values() %}{{ p.type.upper() }}"
    refusing = check_of(changed(HERMES, "{{ tools | tojson }}", union + "{% endfor %}{{ tool | tojson }}{% endfor %}"))
    bare = check_of(changed(HERMES, "{{ tools | tojson }}", "{{ tools | map(attribute='function.name') | join }}"))

    assert any("two types" in one and "refused: the template fails" in one and bad for one, bad in of_tools(refusing))
    ((sentence, is_worse),) = of_tools(bare)
    assert sentence.endswith("are now printed without their parameters.")
    assert is_worse
    back = [one for one in compare_locks(lock_of(bare), first_lock()) if one.sentence.startswith("Tools with")]
    assert [one.is_worse for one in back] == [False]


def test_a_case_that_the_template_now_refuses_is_worse_and_one_that_was_not_asked_says_nothing():
    refusing = changed(
        HERMES,
        "{%- for m in messages %}",
        "{%- for m in messages %}{% if m.role == 'developer' %}{{ raise_exception('no') }}{% endif %}",
    )
    one_only = changed(HERMES, "{%- for call in m.tool_calls or [] %}", "{%- for call in [] %}")

    assert ("The template now fails for the case `developer`.", True) in changes(check_of(refusing))
    assert not any("now fails for the case" in sentence for sentence, _ in changes(check_of(one_only)))
    back = changes(check_of(), lock_of(check_of(refusing)))
    assert ("The template now renders the case `developer`, which it refused before.", False) in back


def test_a_lock_of_before_says_nothing_of_tools_and_prompts():
    old = replace(first_lock(), prompts={}, lengths={}, tools={})

    assert compare_locks(old, first_lock()) == ()


def test_junit_fails_for_what_does_not_come_back_and_for_what_got_worse():
    failing = check_of(cells={"two-calls": WRONG})
    worse = compare_locks(first_lock(), lock_of(failing))

    suite = ElementTree.fromstring(check_to_junit(failing, worse))

    failed = [case.get("name") for case in suite if case.find("failure") is not None]
    assert failed[0] == "two-calls"
    assert len(failed) == int(suite.get("failures")) == 1 + len(worse)
    assert int(suite.get("tests")) == len(suite)
    assert suite.find("testcase[@name='two-calls']/failure").text == "it loses \N{REPLACEMENT CHARACTER} it"


def test_junit_of_what_works_has_no_failure():
    suite = ElementTree.fromstring(check_to_junit(check_of(cells={"two-calls": RIGHT})))

    assert suite.get("failures") == "0"


def test_changes_are_in_the_document_only_where_something_was_compared():
    check = check_of(cells={"two-calls": WRONG})

    assert "changes" not in check_to_json(check)
    document = check_to_json(check, compare_locks(first_lock(), lock_of(check)))
    assert document["changes"][0] == {"sentence": "The verdict was works and is works-with-limits.", "is_worse": True}
