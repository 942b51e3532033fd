"""Templates are strangers' programs: they are compiled and run in a process of their own.

wire      length-prefixed JSON         main      the process: limits, then one job after another
client    starts it, waits with a deadline, replaces it when a template kills it
"""

from core.render.worker.client import RenderWorker, shared_worker

__all__ = ["RenderWorker", "shared_worker"]
