"""What the tests of the plugin share with those of the engines: older releases of vLLM."""

from __future__ import annotations

from tests.core.parse.engines.conftest import need_release

__all__ = ["need_release"]
