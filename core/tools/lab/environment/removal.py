"""Where the lab's environment lies, made known; and the environment removed: only what this program made."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from prompt_debugger.core.base.errors import LabError
from prompt_debugger.core.base.interpreter import MARKER_NAME, lab_home
from prompt_debugger.core.tools.lab.environment.plan import OWNER_NAME


def link_home(home: Path) -> bool:
    """Make an environment in a folder of the person's choice be found at the usual place; return whether it is.

    Something else that is at the usual place stays there.
    """
    usual = lab_home()
    if usual.exists() or usual == home:
        return usual.resolve() == home.resolve()
    usual.unlink(missing_ok=True)  # a link that leads nowhere
    usual.parent.mkdir(parents=True, exist_ok=True)
    usual.symlink_to(home, target_is_directory=True)
    return True


def remove_environment(home: Path) -> int:
    """Remove an environment, whole or half made; return how many bytes came free.

    Raises:
        LabError: The folder is none of ours, or cannot be removed.
    """
    folder = home.resolve()
    if not folder.exists():
        return 0
    owner = folder / OWNER_NAME
    if not owner.is_file():
        raise LabError(
            f"{home} was not created by Prompt Debugger, so it is left alone.", f"A lab folder has a file {OWNER_NAME}."
        )
    freed = folder_bytes(folder)
    try:
        # The marker first: what is half removed must not be taken for whole. The owner's file last: else it stays.
        (folder / MARKER_NAME).unlink(missing_ok=True)
        for entry in folder.iterdir():
            if entry.is_dir() and not entry.is_symlink():
                shutil.rmtree(entry)
            elif entry != owner:
                entry.unlink()
        owner.unlink()
        folder.rmdir()
        for link in (home, lab_home()):
            if link.is_symlink() and not link.exists():
                link.unlink()
    except OSError as error:
        raise LabError(f"{home} cannot be removed: {error.strerror or error}", "Remove the rest manually.") from None
    return freed


def folder_bytes(folder: Path) -> int:
    """Return what the files of a folder take, links not followed."""
    total = 0
    for path, _, names in os.walk(folder):
        for name in names:
            total += os.lstat(os.path.join(path, name)).st_size  # noqa: PTH118  # tens of thousands of them
    return total
