"""What a run of the page says of its exchanges: all of them at its end, on a public page nothing."""

import json

import pytest

from prompt_debugger.core.base.types import JSONObject
from prompt_debugger.core.pipeline import Target
from prompt_debugger.core.tools.lab import LabPool
from prompt_debugger.ui.present import unpack_payload
from prompt_debugger.ui.web.handlers import Handlers
from prompt_debugger.ui.web.labs import PageLabs
from prompt_debugger.ui.web.settings import PageSettings
from prompt_debugger.ui.web.targets import TargetFields
from tests.core.complete.faulty_server import answer, faulty_server

KEY = "sk-of-the-visitor-123"
MESSAGE: JSONObject = {"role": "assistant", "content": "Hello"}
CHAT = answer(200, {"choices": [{"index": 0, "message": MESSAGE, "finish_reason": "stop"}]})
REQUEST = json.dumps({"model": "m", "messages": [{"role": "user", "content": "hi"}]})


@pytest.mark.parametrize("is_public", [False, True])
async def test_the_exchanges_of_a_run_are_shown_to_whose_server_it_is(is_public):
    async with faulty_server({"/v1/chat/completions": CHAT}) as server:
        settings = PageSettings(target=Target(base_url=server.base_url), lab=False, public=is_public)
        handlers = Handlers(settings, PageLabs(LabPool(), enabled=False))
        fields = TargetFields(server.base_url, "", "", "none", "none")
        updates = [one async for one in handlers.run(REQUEST, fields, key="" if is_public else KEY)]

    shown = [one.payloads["network"] for one in updates if one.payloads.get("network")]
    if is_public:
        assert shown == []
        return
    [payload] = shown
    header = unpack_payload(payload)[0]
    assert (
        header["run"]
        == unpack_payload([one.payloads["verdict"] for one in updates if "verdict" in one.payloads][-1])[0]["run"]
    )
    assert "/v1/chat/completions" in [one["path"] for one in header["exchanges"]]
    assert KEY not in str(header)
