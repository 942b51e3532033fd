"""JUnit as every CI reads it: what cases say is text, counts stand where they are known, nothing is collected."""

from xml.etree import ElementTree

from prompt_debugger.core.base.junit import JUNIT_HEAD, JUnitCase, suite_lines
from prompt_debugger.core.tools.verify import Suite, write_junit

NASTY = 'it\'s <b>"bold"</b> & \x00 ]]> \r\n\tdone'


def test_what_cases_say_is_text_and_no_mark():
    cases = [JUnitCase(NASTY, NASTY, NASTY, NASTY), JUnitCase("g", "n", NASTY, "m", "error"), JUnitCase("g", "fine")]

    suite = ElementTree.fromstring(JUNIT_HEAD + "".join(suite_lines(NASTY, cases)))

    said = NASTY.replace("\x00", "\N{REPLACEMENT CHARACTER}")
    assert [child.tag for case in suite for child in case] == ["failure", "error"]
    assert [suite.get("name"), suite[0].get("classname"), suite[0].get("name"), suite[0][0].get("message")] == [
        said
    ] * 4
    assert suite[0][0].text == suite[1][0].text == said.replace("\r\n", "\n")  # as XML reads the ends of lines
    assert list(suite[2]) == []


def test_counts_stand_where_they_are_known():
    assert next(suite_lines("s", [], counts=(3, 1))) == '<testsuite name="s" tests="3" failures="1">\n'
    assert next(suite_lines("s", [])) == '<testsuite name="s">\n'


def test_a_case_is_written_before_the_next_is_asked_for():
    def cases():
        yield JUnitCase("g", "first")
        raise AssertionError("too early")

    lines = suite_lines("s", cases())

    assert [next(lines), next(lines)] == ['<testsuite name="s">\n', '<testcase classname="g" name="first"/>\n']


def test_rows_and_gates_are_written_as_before(tmp_path):
    rows = [
        {"data_index": 1, "status": "success", "debugger": {"errors": []}},
        {"data_index": 2, "status": "failed", "response": {"error": "no <b>\x0b &\ntwo"}},
        {"data_index": 3, "status": "success", "debugger": {"errors": ["PD401", "PD404"], "verdict": 'lost "one"'}},
        {"data_index": 4, "status": "failed", "response": {"error": ""}},
    ]

    write_junit(tmp_path / "junit.xml", [Suite("a & b", rows, {"dropped_rate > 0": True, "failure_count > 9": False})])

    assert (tmp_path / "junit.xml").read_text(encoding="utf-8") == (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<testsuites><testsuite name="a &amp; b">\n'
        '<testcase classname="rows" name="row 1"/>\n'
        '<testcase classname="rows" name="row 2"><error message="no &lt;b&gt;\N{REPLACEMENT CHARACTER} &amp;">'
        "no &lt;b&gt;\N{REPLACEMENT CHARACTER} &amp;\ntwo</error></testcase>\n"
        '<testcase classname="rows" name="row 3"><failure message=\'PD401, PD404: lost "one"\'>'
        'PD401, PD404: lost "one"</failure></testcase>\n'
        '<testcase classname="rows" name="row 4"><error message=""></error></testcase>\n'
        '<testcase classname="gates" name="dropped_rate &gt; 0"><failure message="the gate triggers">the gate triggers'
        "</failure></testcase>\n"
        '<testcase classname="gates" name="failure_count &gt; 9"/>\n'
        "</testsuite></testsuites>\n"
    )
