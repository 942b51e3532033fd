"""The page: the only place that imports gradio.

`build_app(settings)` makes it, `launch_app(...)` serves it. Handlers take plain
values, ask the core, and give the payloads of `ui.present` to views that are
drawn by the scripts in `assets/`.
"""

from ui.web.launch import build_app, launch_app
from ui.web.settings import PageSettings

__all__ = ["PageSettings", "build_app", "launch_app"]
