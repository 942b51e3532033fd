"""What LlamaIndex says."""

from __future__ import annotations

from prompt_debugger.core.base.types import Stage
from prompt_debugger.core.known_errors.base import Cause, KnownError

MAKER = "LlamaIndex"

SENTENCES: tuple[KnownError, ...] = (
    KnownError(
        "Unknown model '{model}'. Please provide a valid OpenAI model name in:",
        Stage.REQUEST,
        "The class `OpenAI` of LlamaIndex looks up the context size by the model's name and does not know this "
        "one, so nothing was sent.",
        "Use `OpenAILike` with `is_chat_model=True`, `is_function_calling_model=True` and `context_window`.",
        "llama_index/llms/openai/utils.py: openai_modelname_to_contextsize",
        example="Unknown model 'Qwen/Qwen2.5-7B-Instruct'. Please provide a valid OpenAI model name in: o1",
        field="model",
        cause=Cause.CLIENT,
    ),
    KnownError(
        "LLM must be a FunctionCallingLLM",
        Stage.REQUEST,
        "The agent uses the API's tool calls, but this class reports that its model does not support them.",
        "Set `is_function_calling_model=True` if the server reads calls, or use `ReActAgent`.",
        "llama_index/core/agent/workflow/function_agent.py",
        cause=Cause.CLIENT,
    ),
    KnownError(
        "Could not parse output. Please follow the thought-action-input format. Try again.",
        Stage.PARSE,
        "The ReAct agent could not read the model's last step, and asked for it again in the form `Thought:`, "
        "`Action:`, `Action Input:`.",
        "If the steps below it work, nothing else is needed. Otherwise print the step that was not read: some models "
        "leave a label out, or go on with an `Observation:` that they made up. Where the server returns tool calls, "
        "use `FunctionAgent`.",
        "https://github.com/run-llama/llama_index/issues/12699",
    ),
    KnownError(
        "Could not parse output: Thought: {step} Action: {call}",
        Stage.PARSE,
        "The ReAct agent could not read the step that follows these words: it wants the tool's name alone after "
        "`Action:`, and JSON after `Action Input:` on the next line. What deviates shows in the step, such as an "
        "input in the line of `Action`, a missing label, or JSON that is not closed.",
        "Ask again with a model that keeps to the form, or name the form with an example in the agent's prompt "
        "(`ReActChatFormatter`). Where the server returns tool calls, use `FunctionAgent`, which needs no such text.",
        "llama_index/core/agent/react/output_parser.py",
        example='Could not parse output: Thought: I look.\nAction: look ({"place": "hall"})',
        cause=Cause.OUTPUT,
    ),
)
