"""OpenVINO Model Server, by what its list of models says.

Source: its documentation of `/v3/models`, read 2026-12.
"""

from __future__ import annotations

from prompt_debugger.core.complete.engines._record import Engine, Marks

ENGINE = Engine(kind="ovms", title="OpenVINO Model Server", marks=Marks(owners=("OVMS",), believed_with=""))
