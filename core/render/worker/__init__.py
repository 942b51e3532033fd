"""Templates are programs of unknown origin: they are compiled and run in a sandbox of their own.

jobs      what its processes do          client    asks them, in the words of templates
"""

from prompt_debugger.core.render.worker.client import RenderWorker, shared_worker

__all__ = ["RenderWorker", "shared_worker"]
