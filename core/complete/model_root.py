"""The folder or Hub id of a server's model, as far as the server can be believed."""

from __future__ import annotations

import re

from prompt_debugger.core.base.types import Server
from prompt_debugger.core.complete.backends.address import is_this_machine

_HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*")


def believable_root(server: Server) -> str | None:
    """Return where the server says its model lies, unless that is a folder and the server is elsewhere.

    A stranger's server has no say in which folders of this machine are read.
    """
    root = server.model_root
    if root is None:
        return None
    return root if is_this_machine(server.base_url) or _HUB_ID.fullmatch(root) else None
