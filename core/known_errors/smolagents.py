"""What Hugging Face's smolagents says."""

from __future__ import annotations

from prompt_debugger.core.base.types import Stage
from prompt_debugger.core.known_errors.base import KnownError

MAKER = "smolagents"

SENTENCES: tuple[KnownError, ...] = (
    KnownError(
        "Your code snippet is invalid, because the regex pattern {pattern} was not found in it",
        Stage.PARSE,
        "The agent looks for code between its own markers and found none: the model answered in prose, used other "
        "markers, or was cut before them.",
        "Give the model room first: a larger context (`num_ctx` of Ollama; a small one cuts off the instructions) "
        "and a higher `max_tokens`; then try a model that follows the format.",
        "https://github.com/huggingface/smolagents/issues/201",
        example="Your code snippet is invalid, because the regex pattern <code>(.*?)</code> was not found in it.",
    ),
    KnownError(
        "is invalid, because the regex pattern {pattern} was not found in code_blob",
        Stage.PARSE,
        "The agent looks for code between its own markers and found none: the model answered in prose, used other "
        "markers, or was cut before them.",
        "Give the model room first: a larger context (`num_ctx` of Ollama; a small one cuts off the instructions) "
        "and a higher `max_tokens`; then try a model that follows the format.",
        "https://github.com/huggingface/smolagents/pull/1790",
        example="The code blob is invalid, because the regex pattern <code>(.*?)</code> was not found in code_blob",
    ),
    KnownError(
        "Model did not call any tools. Call `final_answer` tool to return a final answer.",
        Stage.PARSE,
        "The agent expects a call in every answer, also for the last one (`final_answer`), and `tool_calls` was empty: "
        "the model answered in words, or wrote the call as text, which a server did not parse.",
        "Look at the content of that answer. If it has the call, have the server parse this model's notation; where it "
        "begins with `Calling tools:`, the model repeats how the agent writes its history. If it has words, use a "
        "model that is trained for tools.",
        "https://github.com/huggingface/smolagents/issues/938",
    ),
    KnownError(
        "The model output does not contain any JSON blob.",
        Stage.PARSE,
        "The agent reads a call as JSON from the text of the answer, and there is none: the model answered in "
        "prose, or was cut before it.",
        "Check the answer itself: raise `max_tokens` and the context if it is cut; use a model and a server with "
        "tool calls of the API if it is prose.",
        "https://github.com/huggingface/smolagents/issues/1732",
    ),
    KnownError(
        "The JSON blob you used is invalid due to the following error: {why} JSON blob was: {blob}",
        Stage.PARSE,
        "The agent reads a call as JSON from the text of the answer; the blob, which the error quotes, is not JSON. "
        "With keys in single quotes it is a dict that Python printed: the agent's history shows its calls this way, "
        "and the model repeats what it reads.",
        "Use a server that returns this model's calls in `tool_calls`, and a current release of smolagents, which "
        "writes the history as JSON. Otherwise ask again.",
        "https://github.com/huggingface/smolagents/issues/122",
        example="The JSON blob you used is invalid due to the following error: Expecting property name enclosed in "
        "double quotes: line 1 column 2 (char 1). JSON blob was: {'name': 'read'}",
    ),
)
