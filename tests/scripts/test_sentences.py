"""Every sentence that a person may read keeps to the style guide; what may not is listed here, each with its reason."""

import pytest

from scripts.sentences import Sentence, faults, of_page, of_python, of_script, sentences

# Places whose words are not ours to change, or are no prose: code in a text, and `behind` a proxy.
ALLOWED = frozenset(
    {
        "core/render/trace/codegen.py",  # Python that is generated
        "core/tools/fixes/trial.py",  # a program that is run
        "core/tools/lab/installation.py",  # likewise
        "core/tools/plugin/write.py",  # likewise
        "core/complete/backends/failures.py",  # a server behind a proxy
        "core/render/explanations.py",  # the value `none` of `tool_choice`
        "core/tools/check/template/catalogue.py",  # rule pages: read as pages
    }
)
MAX_LEFT = 18


def test_no_message_breaks_the_style():
    found = {
        f"{one.path}:{one.line}: {fault}: {one.text}"
        for one in sentences()
        for fault in faults(one)
        if one.path not in ALLOWED
    }

    assert not [one for one in found if "a message" in one]
    assert len(found) <= MAX_LEFT, "\n".join(sorted(found))


@pytest.mark.parametrize(
    ("kind", "text", "fault"),
    [
        ("error", "the file is empty.", "capital"),
        ("error", "The file is empty", "full stop"),
        ("hint", "The text is no JSON.", "is no"),
        ("title", "The marker stands in content.", "stands"),
        ("text", "the text behind the marker", "behind"),
        ("text", "what a person is told", "told"),
    ],
)
def test_what_makes_a_reader_stop_is_found(kind, text, fault):
    assert any(fault in one for one in faults(Sentence("a.py", 1, kind, text)))


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("error", "The file is empty."),
        ("error", "vLLM is not installed."),
        ("error", "messages[0] has no role."),
        ("error", "There is no server."),
        ("error", "The server failed: {…}"),
        ("hint", "pip install 'prompt-debugger[ray]'"),
        ("text", "the server is no longer there"),
        ("text", "`*` stands for any other tool"),
        ("text", "a value such as `is no JSON`"),
    ],
)
def test_plain_words_pass(kind, text):
    assert not list(faults(Sentence("a.py", 1, kind, text)))


def test_messages_hints_titles_and_help_are_recognized_by_the_call_they_are_in():
    source = '''
"""Not for users."""
raise RequestError(f"The file {name} is " "empty.", "Choose another file.")
Report(title="The answer is empty." if one else "The answers are empty.", fix="Run it again.")
parser.add_argument("--x", help="how many")
said = "three plain words"
'''

    found = [(one.kind, one.text) for one in of_python(source, "a.py")]

    assert sorted(found) == [
        ("error", "The file {…} is empty."),
        ("fix", "Run it again."),
        ("help", "how many"),
        ("hint", "Choose another file."),
        ("text", "three plain words"),
        ("title", "The answer is empty."),
        ("title", "The answers are empty."),
    ]


def test_scripts_and_pages_are_read_without_their_code():
    script = 'import { a } from "a long name";\nconst words = `Tokens of ${name} are here.`; // "not this one"\n'
    page = "A line.\n```sh\nnot this one\n```\nAnother.\n"

    assert [one.text for one in of_script(script, "a.js")] == ["Tokens of {…} are here."]
    assert [one.text for one in of_page(page, "a.md")] == ["A line.", "Another."]
