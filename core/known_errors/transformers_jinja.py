"""What transformers, Jinja and the guards of chat templates say; whoever renders with them repeats it.

Read in transformers 5.19.0 and jinja2 3.1.6. A guard is a sentence that a template raises itself.
"""

from __future__ import annotations

from prompt_debugger.core.base.types import Stage
from prompt_debugger.core.known_errors.base import Cause, KnownError, Look

MAKER = "chat templates (transformers, Jinja)"

_TOKENIZER = "transformers/tokenization_utils_base.py: PreTrainedTokenizerBase"
_UTILS = "transformers/utils/chat_template_utils.py"

SENTENCES: tuple[KnownError, ...] = (
    KnownError(
        "Cannot use chat template functions because tokenizer.chat_template is not set",
        Stage.RENDER,
        "The tokenizer has no chat template; that of a base model usually has none.",
        "Give a template, or use the instruct model.",
        f"{_TOKENIZER}.get_chat_template",
        cause=Cause.SETTING,
    ),
    KnownError(
        "This model has multiple chat templates with no default specified!",
        Stage.RENDER,
        "The tokenizer has several named templates, and none of them is the default.",
        "Name one of the templates that the sentence lists.",
        f"{_TOKENIZER}.get_chat_template",
        field="chat_template",
        cause=Cause.SETTING,
    ),
    KnownError(
        "Cannot apply chat template to an empty conversation.",
        Stage.RENDER,
        "There is no message to render.",
        "Send at least one message.",
        f"{_TOKENIZER}.apply_chat_template",
        field="messages",
        cause=Cause.REQUEST,
    ),
    KnownError(
        "continue_final_message and add_generation_prompt are not compatible.",
        Stage.RENDER,
        "The last message is to be continued, and a new one to be opened.",
        "Set one of the two.",
        f"{_TOKENIZER}.apply_chat_template",
        field="continue_final_message",
        cause=Cause.REQUEST,
    ),
    KnownError(
        "continue_final_message is set but the final message does not appear in the chat after applying the chat "
        "template!",
        Stage.RENDER,
        "The template changes or drops part of the last message, so there is no place to go on from.",
        "Use a template that prints the last message as it is, or do not continue it.",
        f"{_UTILS}: render_jinja_template",
        field="continue_final_message",
    ),
    KnownError(
        'continue_final_message is set but the final message has no "{key}" to continue!',
        Stage.RENDER,
        "The last message has nothing in the field that is to be continued.",
        "Fill that field of the last message.",
        f"{_UTILS}: render_jinja_template",
        example='continue_final_message is set but the final message has no "content" to continue!',
        field="continue_final_message",
        cause=Cause.REQUEST,
    ),
    KnownError(
        "Tools should either be a JSON schema, or a callable function with type hints and a docstring",
        Stage.RENDER,
        "An entry of the tools is neither a schema nor a documented function.",
        "Pass every tool as an object, or as a function with types and a docstring.",
        f"{_UTILS}: render_jinja_template",
        field="tools",
        cause=Cause.REQUEST,
    ),
    KnownError(
        "Documents should be a list of dicts with 'title' and 'text' keys!",
        Stage.RENDER,
        "The documents have another shape than the template reads.",
        "Give each document a `title` and a `text`.",
        f"{_UTILS}: render_jinja_template",
        field="documents",
        cause=Cause.REQUEST,
    ),
    KnownError(
        "apply_chat_template requires jinja2>=3.1.0 to be installed.",
        Stage.RENDER,
        "The installed Jinja is too old.",
        "Install jinja2 3.1 or later.",
        f"{_UTILS}: _cached_compile_jinja_template",
        cause=Cause.SETTING,
    ),
    KnownError(
        "Cannot use apply_chat_template because this processor does not have a chat template.",
        Stage.RENDER,
        "The processor of the model has no chat template.",
        "Pass a template.",
        "transformers/processing_utils.py: ProcessorMixin.apply_chat_template",
        cause=Cause.SETTING,
    ),
    KnownError(
        "'{name:word}' is undefined",
        Stage.RENDER,
        "The template uses a name that nothing gives it.",
        "Pass it with `chat_template_kwargs`, or guard its use in the template with `is defined`.",
        "jinja2/runtime.py: Undefined._undefined_message",
        example="'builtin_tools' is undefined",
        is_telling=False,
    ),
    KnownError(
        "object' has no attribute '{name:word}'",
        Stage.RENDER,
        "The template reads a field of a value that does not have it: of a message that lacks the key, or of a text "
        "where the template expects an object.",
        "Look at the template's line: give the field, send the value in the type that the template expects, or guard "
        "the use in the template.",
        "jinja2/runtime.py: Undefined._undefined_message",
        example="'dict object' has no attribute 'tool_call_id'",
    ),
    KnownError(
        "No filter named '{name:word}'",
        Stage.RENDER,
        "The template uses a filter that this environment does not have.",
        "Use the engine that the template was written for, or take the filter out.",
        "jinja2/compiler.py: CodeGenerator._filter_test_common",
        example="No filter named 'fromjson'.",
    ),
    KnownError(
        "Can only get item pairs from a mapping",
        Stage.RENDER,
        "The template goes through the arguments of a call as an object, and they are a text.",
        "Send the arguments of calls in the history as objects, or use an engine that decodes them first, as vLLM "
        "does.",
        "https://github.com/QwenLM/Qwen3/issues/1894",
        field="messages",
    ),
    KnownError(
        "Conversation roles must alternate user/assistant/user/assistant/...",
        Stage.RENDER,
        "The template takes turns of user and assistant alone, one after the other; it has no place for a system "
        "message, or for two messages of one side.",
        "Join neighbours of one role, and put the system message into the first message of the user.",
        "https://github.com/suitenumerique/conversations/issues/197",
        field="messages",
        cause=Cause.REQUEST,
        look=Look.ROLES_ALTERNATE,
    ),
    KnownError(
        "After the optional system message, conversation roles must alternate user",
        Stage.RENDER,
        "Mistral's template takes turns of user and assistant alone, one after the other.",
        "Join neighbours of one role into one message.",
        "https://github.com/vllm-project/vllm/issues/6862",
        example="After the optional system message, conversation roles must alternate user/assistant/user/...",
        field="messages",
        cause=Cause.REQUEST,
        look=Look.ROLES_ALTERNATE,
    ),
    KnownError(
        "No user query found in messages.",
        Stage.RENDER,
        "The template of Qwen 3.5 finds no message that a user really wrote.",
        "Keep at least one message of the user, also where the history is shortened.",
        "https://github.com/vllm-project/vllm/issues/36432",
        field="messages",
        cause=Cause.REQUEST,
        look=Look.NO_USER,
    ),
    KnownError(
        "System message must be at the beginning.",
        Stage.RENDER,
        "The template takes a system message in the first place alone.",
        "Join all system messages into the first message.",
        "https://github.com/ahwurm/localharness/issues/107",
        field="messages",
        cause=Cause.REQUEST,
        look=Look.SYSTEM_NOT_FIRST,
    ),
    KnownError(
        "This model only supports single tool-calls at once!",
        Stage.RENDER,
        "The template of Llama 3 prints one call per message of the assistant, and a message holds several.",
        "Send each call in a message of its own, followed by its result; or use a template for several calls.",
        "Llama 3.x Instruct, chat template",
        field="messages",
        cause=Cause.REQUEST,
        look=Look.SEVERAL_CALLS,
    ),
    KnownError(
        "Cannot put tools in the first user message when there's no first user message!",
        Stage.RENDER,
        "The template of Llama 3 prints the tools in the first message of the user, and there is none.",
        "Add a message of the user.",
        "Llama 3.x Instruct, chat template",
        field="messages",
        cause=Cause.REQUEST,
        look=Look.NO_USER,
    ),
    KnownError(
        "Tool call IDs should be alphanumeric strings with length 9!",
        Stage.RENDER,
        "Mistral's template takes ids of calls that have nine letters or digits.",
        "Give each call an id of nine letters or digits, the same one in its result.",
        "https://github.com/ml-explore/mlx-lm/issues/1375",
        field="messages",
        cause=Cause.REQUEST,
        look=Look.IDS_OF_NINE,
    ),
)
