"""What AutoGen says."""

from __future__ import annotations

from prompt_debugger.core.base.types import Stage
from prompt_debugger.core.known_errors.base import Cause, KnownError

MAKER = "AutoGen"

SENTENCES: tuple[KnownError, ...] = (
    KnownError(
        "model_info is required when model name is not a valid OpenAI model",
        Stage.REQUEST,
        "The client does not know what this model is able to do, so nothing was sent.",
        "Give `model_info` with `function_calling`, `json_output`, `vision`, `structured_output` and `family`.",
        "https://github.com/microsoft/autogen/issues/6189",
        cause=Cause.CLIENT,
    ),
    KnownError(
        "Reflect on tool use produced no valid text response.",
        Stage.COMPLETE,
        "After the tool ran, the agent asked the model for a closing text, and the answer was empty or another call.",
        "Look at that last answer (paste it): all of it may be reasoning. Set `reflect_on_tool_use=False` to take "
        "the tool's result as the answer, or let the model make several rounds of calls.",
        "autogen_agentchat/agents/_assistant_agent.py",
        cause=Cause.OUTPUT,
    ),
)
