"""Whatever somebody pasted → what it is, and the evidence it holds.

A request is one of the forms. The others are what a model or a server said: a raw output, an answer, a transcript of
a stream, a recorded exchange, a browser's HAR, a line of a log, a saved run. Each is read for what it holds, and
`show_evidence` runs the stages that this allows; no server is asked.
"""

from prompt_debugger.core.evidence.forms import Form, Intake
from prompt_debugger.core.evidence.read import read_intake
from prompt_debugger.core.evidence.show import read_trace, show_evidence

__all__ = ["Form", "Intake", "read_intake", "read_trace", "show_evidence"]
