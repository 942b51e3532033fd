"""Two runs side by side: the browser keeps them and sends both; nothing of them stays here."""

from __future__ import annotations

import itertools
import logging

from prompt_debugger.core.base.errors import DebuggerError
from prompt_debugger.core.sandbox import sandbox_of
from prompt_debugger.ui.present import pack_payload
from prompt_debugger.ui.present.words import as_sentence
from prompt_debugger.ui.web.sharing import Sharing
from prompt_debugger.ui.web.work import compare_packed

_log = logging.getLogger(__name__)


class Comparing:
    """What the event of the compare panel does."""

    def __init__(self, sharing: Sharing) -> None:
        self._most_chars = sharing.most_chars
        self._numbers = itertools.count(1)

    def compare(self, packed: str) -> str:
        """Return the payload of two bundles that the browser packed together, or a note why they are not compared."""
        try:
            return sandbox_of().call(compare_packed, packed, self._most_chars)
        except DebuggerError as error:
            return self._note(f"{as_sentence(error.message)} {error.hint}".strip())
        except Exception as error:  # noqa: BLE001  # a bundle can be whole and still tell nonsense
            _log.info("two runs could not be compared: %r", error)
            return self._note("These two runs cannot be compared: the parts of one do not match.")

    def _note(self, sentence: str) -> str:
        number = next(self._numbers)  # a note equal to the last one would not be noticed
        return pack_payload({"kind": "note", "note": sentence, "tone": "error", "number": number})
