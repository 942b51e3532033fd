"""YAML files of cases, read by libyaml: four hundred kilobytes, which every process of a
test run reads before its first test."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

# A PyYAML that was built without libyaml reads the same, ten times slower.
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def read_yaml(path: Path) -> Any:
    """Return what a file holds."""
    return yaml.load(path.read_text(encoding="utf-8"), Loader=_LOADER)
