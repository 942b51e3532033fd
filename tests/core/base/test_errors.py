import pickle

import pytest

from prompt_debugger.core.base.errors import BackendError, LabError, RenderError, RequestError, shorten


@pytest.mark.parametrize(
    "error",
    [
        RequestError("bad", "mend it", line=3, column=4, field="messages[0]"),
        RenderError("bad", template_line=7),
        BackendError("bad", kind="timeout", status=504, body="x"),
        LabError("bad", log_tail="last words"),
    ],
)
def test_errors_survive_pickling_with_their_facts(error):
    again = pickle.loads(pickle.dumps(error))

    assert type(again) is type(error)
    assert again.to_json() == error.to_json()


def test_json_leaves_out_what_is_unknown():
    assert RequestError("bad", line=3).to_json() == {"type": "RequestError", "message": "bad", "line": 3}


def test_shorten_cuts_at_the_limit():
    assert len(shorten("x" * 1000)) == 80
    assert shorten("x") == "'x'"
