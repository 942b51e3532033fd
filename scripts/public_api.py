"""Write docs/api.txt: every public name of the library with its signature, fields and their types.

python scripts/public_api.py            write
python scripts/public_api.py --check    say what of it has changed, exit 1 if anything has
"""

from __future__ import annotations

import dataclasses
import inspect
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import prompt_debugger  # noqa: E402  # the checkout comes first

FILE = ROOT / "docs" / "api.txt"


class _Bare(str):
    """An annotation that is printed without quotes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def listing() -> tuple[str, ...]:
    """Return the lines of the file; each says all of one name, so that none depends on another."""
    return tuple(line for name in prompt_debugger.__all__ for line in _lines(name))


def _lines(name: str) -> Iterator[str]:
    value = getattr(prompt_debugger, name)
    if not inspect.isclass(value):
        yield f"{name}{_signature(value)}"
        return
    yield f"{name}({', '.join(base.__name__ for base in value.__bases__)})"
    if dataclasses.is_dataclass(value):
        for field in dataclasses.fields(value):
            has_default = field.default is not dataclasses.MISSING or field.default_factory is not dataclasses.MISSING
            yield f"{name}.{field.name}: {field.type}{' = …' if has_default else ''}"
    for key, member in sorted(vars(value).items()):
        if isinstance(member, property) and member.fget is not None:
            yield f"{name}.{key}: {inspect.signature(member.fget).return_annotation}"
        elif inspect.isfunction(member) and not key.startswith("_"):
            yield f"{name}.{key}{_signature(member)}"


def _signature(function: Callable[..., object]) -> inspect.Signature:
    signature = inspect.signature(function)
    parameters = [one.replace(annotation=_Bare(one.annotation)) for one in signature.parameters.values()]
    return signature.replace(parameters=parameters, return_annotation=_Bare(signature.return_annotation))


def broken() -> tuple[str, ...]:
    """Return what the file promises and the program has no more, or has differently; additions break no one."""
    promised = FILE.read_text(encoding="utf-8").splitlines()
    return tuple(line for line in promised if line not in listing())


def main() -> int:
    """Write the file, or say what differs."""
    if "--check" in sys.argv:
        changed = broken()
        print("\n".join(changed) or "nothing that was promised has changed")
        return 1 if changed else 0
    FILE.write_text("".join(f"{line}\n" for line in listing()), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
