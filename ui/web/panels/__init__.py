"""Panels of the page: each `build_…()` places components and returns them; `ui.web.layout` wires them."""
