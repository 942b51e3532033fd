"""The page: the only place that imports gradio.

`launch.build_app(settings)` makes it, `launch.launch_app(...)` serves it. Handlers
take plain values, ask the core, and give the payloads of `ui.present` to views that
are drawn by the scripts in `assets/`. What visitors sent is worked on in the sandbox
(`work`), whose processes import from here what does without gradio.
"""
