"""Write a bill of materials of everything in requirements.lock: CycloneDX 1.6, JSON.

    python scripts/sbom.py [FILE.json]     # default: sbom.json

Names and versions are those of the lock, hashes those of requirements.hashes (one for each file that the index has of
a version), licences those of the packages installed here. The same lock gives the same file, so that two releases can
be compared line by line.
"""

from __future__ import annotations

import argparse
import json
import re
import tomllib
import uuid
from collections.abc import Sequence
from hashlib import sha256
from importlib import metadata
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[1]
_PINNED = re.compile(r"([\w.\-]+)==([^\s;\\]+)")
_HASHED = re.compile(r"\s+--hash=sha256:([0-9a-f]{64})")
_TORCH_INDEX = "https://download.pytorch.org/whl/cpu"


def bill_of(lock: str, name: str, version: str, hashes: str = "") -> dict[str, Any]:
    """Return the bill of materials of a lock.

    Args:
        lock: Its text: a requirement with one exact version in each line.
        name: Of the program.
        version: Likewise.
        hashes: The text of the lock with the hashes of all files.
    """
    files = _files_of(hashes)
    lines = [Requirement(line) for line in lock.splitlines() if line.strip() and not line.startswith("#")]
    parts = [_component(line, files) for line in sorted(lines, key=lambda line: canonicalize_name(line.name))]
    serial = uuid.UUID(bytes=sha256(f"{name} {version}\n{lock}".encode()).digest()[:16], version=4)
    reference = f"{name}@{version}"
    return {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{serial}",
        "version": 1,
        "metadata": {
            "component": {"type": "application", "bom-ref": reference, "name": name, "version": version},
        },
        "components": parts,
        "dependencies": [{"ref": reference, "dependsOn": [part["bom-ref"] for part in parts]}],
    }


def _files_of(hashes: str) -> dict[str, list[str]]:
    """Return the SHA-256 hashes of each pin's files, by name and version."""
    files: dict[str, list[str]] = {}
    current: list[str] = []
    for line in hashes.splitlines():
        if pinned := _PINNED.match(line):
            current = files.setdefault(f"{canonicalize_name(pinned.group(1))}=={pinned.group(2)}", [])
        elif hashed := _HASHED.match(line):
            current.append(hashed.group(1))
    return files


def _component(line: Requirement, files: dict[str, list[str]]) -> dict[str, Any]:
    (pin,) = line.specifier
    assert pin.operator == "==", f"{line} names no exact version"
    name = canonicalize_name(line.name)
    url = f"pkg:pypi/{name}@{pin.version.replace('+', '%2B')}"
    if "+" in pin.version:  # a build that is on no general index
        url += f"?repository_url={_TORCH_INDEX}"
    part: dict[str, Any] = {"type": "library", "bom-ref": url, "name": name, "version": pin.version, "purl": url}
    licence = _licence_of(line.name)
    if licence:
        part["licenses"] = [{"expression": licence}]
    if hashed := files.get(f"{name}=={pin.version}"):
        listed = [{"alg": "SHA-256", "content": digest} for digest in sorted(hashed)]
        part["externalReferences"] = [{"type": "distribution", "url": url, "hashes": listed}]
    if line.marker is not None:
        part["properties"] = [{"name": "python:marker", "value": str(line.marker)}]
    return part


def _licence_of(name: str) -> str:
    """Return the licence expression that a package declares; "" where it is not installed or declares none."""
    try:
        reported = metadata.metadata(name)
    except metadata.PackageNotFoundError:
        return ""
    return str(reported.json.get("license_expression") or "")


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the file that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("target", metavar="FILE.json", nargs="?", default=Path("sbom.json"), type=Path)
    target: Path = parser.parse_args(arguments).target
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lock = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    hashes = (ROOT / "requirements.hashes").read_text(encoding="utf-8")
    bill = bill_of(lock, project["name"], project.get("version") or _own_version(), hashes)
    target.write_text(json.dumps(bill, indent=2) + "\n", encoding="utf-8")
    hashed = sum("externalReferences" in part for part in bill["components"])
    print(f"{target}: {len(bill['components'])} components, {hashed} with the hashes of their files")


def _own_version() -> str:
    try:
        return metadata.version("prompt-debugger")
    except metadata.PackageNotFoundError:
        return "0"


if __name__ == "__main__":
    main()
