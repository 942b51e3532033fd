"""The second answer of an event reaches the page before the first one."""

from __future__ import annotations

from typing import Any

import pytest

from tests.browser.page import DebuggerPage
from tests.browser.servers import serving
from tests.core.complete.faulty_server import answer

pytestmark = pytest.mark.browser

REQUEST = '{"messages": [{"role": "user", "content": "TYPED BY ME"}]}'
# Each event's first answer comes after its second one, or before its last word where there is no second one.
SWAPPING = """
globalThis.swapped = 0;
const ask = globalThis.fetch;
globalThis.fetch = async (input, init) => {
  const answer = await ask(input, init);
  if (!String(input.url || input).includes("/queue/data")) return answer;
  const held = new Map();
  let text = "";
  const swap = new TransformStream({
    transform(chunk, controller) {
      const messages = (text + chunk).split("\\n\\n");
      text = messages.pop();
      for (const message of messages) {
        const { msg, event_id: event } = JSON.parse(message.slice("data: ".length));
        const first = held.get(event);
        if (msg === "process_generating" && first === undefined) {
          held.set(event, message);
          continue;
        }
        const isSecond = msg === "process_generating" && first;
        if (isSecond) globalThis.swapped += 1;
        const inTurn = isSecond ? [message, first] : [first, message];
        if (first) held.set(event, "");
        inTurn.filter(Boolean).forEach((one) => controller.enqueue(one + "\\n\\n"));
      }
    },
  });
  const body = answer.body.pipeThrough(new TextDecoderStream()).pipeThrough(swap).pipeThrough(new TextEncoderStream());
  return new Response(body, { status: answer.status, headers: answer.headers });
};
"""


def test_a_run_is_seen_to_its_end(watched: Any, bare_url: str) -> None:
    watched.add_init_script(SWAPPING)
    page = DebuggerPage(watched, bare_url)
    page.load()
    page.paste(REQUEST)
    with serving({"*": answer(500, {"error": "TOLD BY A SERVER"})}) as url:
        page.aim_at(url)
        for _ in range(2):
            page.run()

            assert "TOLD BY A SERVER" in page.page.inner_text("#pd-verdict")
    assert watched.evaluate("globalThis.swapped") >= 2
