"""What was pasted that is not a request: read in the sandbox, shown as far as it goes; no server is asked."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.base.types import Request
from prompt_debugger.core.evidence import Evidence, Form, gather_evidence, read_evidence
from prompt_debugger.core.sandbox import Limits as JobLimits
from prompt_debugger.core.sandbox import job
from prompt_debugger.core.sandbox.values import admit
from prompt_debugger.ui.present import notices_payload
from prompt_debugger.ui.present.notices import Going
from prompt_debugger.ui.present.pasted import pasted_payload
from prompt_debugger.ui.web.limits import Limits, check_length, check_request_limits, mask_keys
from prompt_debugger.ui.web.targets import is_aimable, is_same_address, pasted_key

AUTO_DETECT = "auto-detect"
READINGS = (AUTO_DETECT, *(form.value for form in Form))


class Reading(NamedTuple):
    """What a pasted text is to be taken for, as the page's fields say it.

    Attributes:
        name: One of `READINGS`; any other, such as `find out` of an older page, looks.
        row: Which line or recorded exchange, from 1.
    """

    name: str = AUTO_DETECT
    row: int = 1

    @property
    def form(self) -> Form | None:
        """The form; `None` to look."""
        return next((form for form in Form if form.value == self.name), None)


class Checked(NamedTuple):
    """What is said about a pasted text.

    Attributes:
        payload: The lines under the editor; `None` for an empty text.
        server: The server that a pasted call names, up to and including `/v1`, where Run will ask it.
        key: The key that the call holds, as the field Key takes it; "" for none.
        reads_here: Whether Run reads the text without asking a server.
    """

    payload: str | None
    server: str | None = None
    key: str = ""
    reads_here: bool = False


for _traveller in (Form, Evidence, Reading, Checked):
    admit(_traveller)


@job("reading what was pasted", JobLimits(cpu_s=6.0, memory_mb=1024))
def read_anything(
    text: str, limits: Limits, reading: Reading, *, hides_keys: bool, request: str = "", prompt: str = ""
) -> Evidence:
    """Return what was read of a pasted text; where it is an answer, `request` and `prompt` are what it answers.

    Raises:
        RequestError: It cannot be read, or asks for too much.
    """
    check_length(text + request + prompt, limits)
    pasted = gather_evidence([text], reading.form, reading.row, request=request or None, prompt=prompt or None)
    if pasted.request is None or pasted.is_evidence:
        return pasted
    check_request_limits(pasted.request, limits)
    return pasted if not hides_keys else _mask_keys(pasted, pasted.request)


def _mask_keys(pasted: Evidence, request: Request) -> Evidence:
    return replace(pasted, request=mask_keys(request))


@job("reading what was pasted", JobLimits(cpu_s=3.0, memory_mb=1024))
def check_anything(text: str, reading: Reading, *, is_public: bool, aim: str = "") -> Checked:
    """Return the lines under the editor, whatever is in it, and the server that a pasted call names.

    `aim` is whom Run asks whatever is pasted; "" for the server that it names.
    """
    try:
        pasted = read_evidence(text, reading.form, reading.row)
    except RequestError as error:
        return Checked(notices_payload(error))
    if pasted.request is not None and not pasted.is_evidence and not pasted.rows:
        return check_call(pasted.request, text, aim, is_public=is_public)
    return Checked(pasted_payload(pasted), reads_here=pasted.is_evidence)


def check_call(request: Request, text: str, aim: str, *, is_public: bool) -> Checked:
    """Return what is said of a request that a text holds, and of the server that a call of it names."""
    server, key = request.base_url, pasted_key(text)
    is_chosen = bool(aim) and is_same_address(aim, server)
    if not is_chosen and not is_aimable(server):
        going = Going("Run asks it only once you choose it.", "choose")
        return Checked(notices_payload(request, is_public=is_public, going=going))
    if aim and not is_chosen:
        going = Going(f"Run asks {aim} instead.", "choose")
        return Checked(notices_payload(request, is_public=is_public, going=going))
    going = Going("Run sends the request there, with the key that it contains.", "") if key else Going()
    return Checked(notices_payload(request, is_public=is_public, going=going), server, key)
