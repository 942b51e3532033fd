"""One request by chat completions, Responses and Messages, and what differs between the runs."""

from prompt_debugger.core.tools.apis.side_by_side import COMPARED, ApiRuns, compare_apis, run_by_all

__all__ = ["COMPARED", "ApiRuns", "compare_apis", "run_by_all"]
