"""The lab's own environment: planned, made, removed. See docs/lab.md.

    plan_install ──▶ InstallPlan ──▶ Installation.run ──▶ LabEnvironment
    where, how big    said first      venv, pip, a try     found by core.base.interpreter

Where it lies and which Python runs vLLM is said by `core.base.interpreter`. What goes into it is `assets/lab.lock`.
A folder that is ours holds `OWNER_NAME` from the first moment on: nothing else is ever removed.
"""

from prompt_debugger.core.tools.lab.environment.install import Installation, InstallProgress
from prompt_debugger.core.tools.lab.environment.packages import is_supported
from prompt_debugger.core.tools.lab.environment.plan import InstallPlan, plan_install
from prompt_debugger.core.tools.lab.environment.removal import folder_bytes, link_home, remove_environment

__all__ = [
    "InstallPlan",
    "InstallProgress",
    "Installation",
    "folder_bytes",
    "is_supported",
    "link_home",
    "plan_install",
    "remove_environment",
]
