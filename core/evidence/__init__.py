"""Whatever someone pasted → which parts of a run it holds, and what can be said of them.

A request is one of the forms. The others show what a model or a server said: a raw output, an answer, a stream, a
recorded exchange, an error, a log, a printed object, a server's command line, a saved run. Each form has a reader
(`readers`, one file each), which returns an `Evidence`: the parts of a run that are available. `show_evidence` runs the
stages that these allow, by the same rules as a live run; no server is asked.
"""

from prompt_debugger.core.evidence.evidence import Evidence, Part, parts_of, trace_of
from prompt_debugger.core.evidence.forms import Form
from prompt_debugger.core.evidence.gather import gather_evidence
from prompt_debugger.core.evidence.read import read_evidence
from prompt_debugger.core.evidence.show import show_evidence

__all__ = [
    "Evidence",
    "Form",
    "Part",
    "gather_evidence",
    "parts_of",
    "read_evidence",
    "show_evidence",
    "trace_of",
]
