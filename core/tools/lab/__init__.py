"""Start, watch and stop a real vLLM on this machine.

    LabSpec ──▶ LabPool.get ──▶ Lab.boot ──▶ SupervisedProcess ══ supervisor.py ══ vLLM
    what        one per spec     one server    one command           a leash           API server, engine

A boot, step by step, with the miniature model on 2 cores (about 14 s; 20 s the very first time, when vLLM
looks at the model's class in one more process and remembers what it saw under `~/.cache/vllm`):

1. `check_spec`, `require_vllm`: is the model there, is vLLM? Nothing is imported for it.
2. A port is bound and kept, so that no one else gets it while vLLM loads.
3. The supervisor starts in its own session, and vLLM under it, in a scratch folder that holds its sockets.
4. Python loads vLLM (6 s); vLLM reads the configuration; its engine process loads vLLM again (6 s), then the
   weights, and reserves its cache; the HTTP server starts. `BootMeter` follows this by the log.
5. `/health` answers: the lab is ready. Two processes, 1.05 GB in all; the renderer 6 s, one process, 0.5 GB.

The end: cutting the pipe to the supervisor, which the kernel does for us when we are killed, ends everything.

Public: `LabSpec`, `LabPool`, `Lab`, `LabProgress`, `LabState`, `run_lab`, `require_vllm`,
`vllm_version`, `packaged_model_dir`, `start_words`.
"""

from prompt_debugger.core.base.assets import LAB_MODEL_NAME, packaged_model_dir
from prompt_debugger.core.tools.lab.front import run_lab
from prompt_debugger.core.tools.lab.installation import require_vllm, vllm_version
from prompt_debugger.core.tools.lab.launch import start_words
from prompt_debugger.core.tools.lab.pool import LabPool
from prompt_debugger.core.tools.lab.progress import LabProgress, LabState
from prompt_debugger.core.tools.lab.server import Lab
from prompt_debugger.core.tools.lab.spec import LabSpec

__all__ = [
    "LAB_MODEL_NAME",
    "Lab",
    "LabPool",
    "LabProgress",
    "LabSpec",
    "LabState",
    "packaged_model_dir",
    "require_vllm",
    "run_lab",
    "start_words",
    "vllm_version",
]
