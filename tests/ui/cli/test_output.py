"""What a command prints of an error, beyond its sentence."""

from prompt_debugger.core.base.errors import RenderError
from prompt_debugger.ui.cli.output import report_error, template_place


def test_a_failed_template_is_shown_at_its_line_with_a_caret(capsys):
    error = RenderError("It failed.", template_line=3, template_column=4, source_line="{{ broken() }}")

    assert report_error(error, as_json=False) == 2
    assert capsys.readouterr().err.splitlines()[1:] == ["  3 | {{ broken() }}", "    |    ^"]


def test_of_a_long_line_the_part_around_the_column_is_shown():
    number, caret = template_place(7, 5_001, "x" * 5_000 + "Y" + "z" * 5_000).split("\n")

    assert len(number) < 120
    assert number[caret.index("^")] == "Y"
