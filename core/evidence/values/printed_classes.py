"""The classes whose objects people print: of an answer, a part of one, or an event, by what becomes of them."""

from __future__ import annotations

from collections.abc import Mapping

# Names that fill a line of their own in a printed stream, and what such a line lacks to be an event.
STREAMED: Mapping[str, str] = {
    "ChatCompletionChunk": "chunk",
    "ModelResponseStream": "chunk",
    "ChoiceDelta": "delta",
    "DeltaMessage": "delta",
    "Delta": "delta",
    "StreamingChoices": "choice",
    "ChoiceDeltaToolCall": "call",
    "DeltaToolCall": "call",
    "ChatCompletionDeltaToolCall": "call",
}
ANTHROPIC_EVENTS: Mapping[str, str] = {
    "RawMessageStartEvent": "message_start",
    "RawContentBlockStartEvent": "content_block_start",
    "RawContentBlockDeltaEvent": "content_block_delta",
    "RawContentBlockStopEvent": "content_block_stop",
    "RawMessageDeltaEvent": "message_delta",
    "RawMessageStopEvent": "message_stop",
    "MessageStartEvent": "message_start",
    "ContentBlockStartEvent": "content_block_start",
    "ContentBlockDeltaEvent": "content_block_delta",
    "MessageDeltaEvent": "message_delta",
}
RESPONSES_EVENTS = tuple(
    f"Response{name}Event"
    for name in (
        *("Created", "InProgress", "Completed", "Failed", "Incomplete", "OutputItemAdded", "OutputItemDone"),
        *("ContentPartAdded", "ContentPartDone", "TextDelta", "TextDone", "ReasoningTextDelta"),
        *("FunctionCallArgumentsDelta", "FunctionCallArgumentsDone"),
    )
)
# Classes of an answer, or of a part of one, that someone prints; by what becomes of them.
COMPLETIONS = (
    "ChatCompletion",
    "ParsedChatCompletion",
    "ModelResponse",
    "ChatCompletionResponse",
    "Completion",
    "ChatCompletionOutput",
)
CHOICES = ("Choice", "Choices", "ParsedChoice", "ChatCompletionChoice", "ChatCompletionOutputComplete")
MESSAGES = (
    "ChatCompletionMessage",
    "ParsedChatCompletionMessage",
    "ChatMessage",
    "ChatCompletionOutputMessage",
    "ChoiceMessage",  # of the first packages of Groq and others that Stainless generates
    "ExtractedToolCallInformation",
)
CALLS = (
    "ChatCompletionMessageToolCall",
    "ChatCompletionMessageFunctionToolCall",
    "ParsedFunctionToolCall",
    "ChatCompletionOutputToolCall",
    "ChoiceMessageToolCall",
    "ToolCall",
)
RESPONSES = ("Response", "ParsedResponse", "ResponsesAPIResponse")
ITEMS = ("ResponseFunctionToolCall", "ResponseOutputMessage", "ResponseReasoningItem")
BLOCK_TYPES = {
    **{f"{beta}TextBlock": "text" for beta in ("", "Beta")},
    **{f"{beta}ToolUseBlock": "tool_use" for beta in ("", "Beta")},
    **{f"{beta}ThinkingBlock": "thinking" for beta in ("", "Beta")},
}
BLOCKS = tuple(BLOCK_TYPES)
LANGCHAIN = ("AIMessage", "AIMessageChunk")
OFFLINE = ("RequestOutput", "CompletionOutput")
GEMINI = ("GenerateContentResponse",)
COHERE = ("V2ChatResponse",)
NAMES = (
    *COMPLETIONS, *CHOICES, *MESSAGES, *CALLS, *RESPONSES, *ITEMS, *BLOCKS, *LANGCHAIN, *OFFLINE, *GEMINI,
    *COHERE, *STREAMED, *ANTHROPIC_EVENTS, *RESPONSES_EVENTS, "Message", "BetaMessage", "ToolsBetaMessage",
)  # fmt: skip
