"""oMLX: a server over MLX for Apple's processors, by what its list of models says.

Source: answers of it in jundot/omlx and its clients, read 2026-12.
"""

from __future__ import annotations

from prompt_debugger.core.complete.engines._record import Engine, Marks

ENGINE = Engine(kind="omlx", title="oMLX", marks=Marks(owners=("omlx",), believed_with=""))
