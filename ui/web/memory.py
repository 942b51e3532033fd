"""What gradio must not keep.

It stores the last value of every component of every session, as it came in, to be able to write a link to them; our
link route is closed, and a pasted curl command may hold a key. The trace of the last run stays in its session's
`gr.State`, where keys are masked.
"""

from __future__ import annotations

from gradio.state_holder import SessionState


def keep_no_values() -> None:
    """Make sessions forget the values of components as soon as an event has had them."""
    SessionState._update_value_in_config = _forget  # type: ignore[assignment, method-assign]  # there is no setting for it


def _forget(_session: SessionState, _component_id: int, _value: object) -> None:
    return None
