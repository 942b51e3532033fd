"""Run by the tests in a process of its own: what vLLM itself makes of requests and templates.

Reads one JSON document from standard input and writes one to standard output.
"""

from __future__ import annotations

import json
import os
import sys
from types import SimpleNamespace


def main() -> None:
    os.environ.setdefault("VLLM_LOGGING_LEVEL", "ERROR")
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    from vllm.entrypoints.openai.chat_completion.protocol import ChatCompletionRequest
    from vllm.renderers import chat_utils, hf

    config = SimpleNamespace(multimodal_config=None, enable_prompt_embeds=False, hf_config=None)
    task = json.load(sys.stdin)
    made = []
    for body in task["bodies"]:
        per_format = {}
        for content_format in ("string", "openai"):
            request = ChatCompletionRequest.model_validate({"model": "m", **json.loads(json.dumps(body))})
            conversation, _, _ = chat_utils.parse_chat_messages(request.messages, config, content_format)
            merged = conversation
            if any(message["role"] == "developer" for message in conversation):
                merged = hf._consolidate_system_messages(hf._convert_developer_to_system(conversation))
            tools = None if request.tools is None else [tool.model_dump() for tool in request.tools]
            per_format[content_format] = {"messages": conversation, "merged": merged, "tools": tools}
        made.append(per_format)
    formats = [hf._detect_content_format(source, default="string") for source in task["templates"]]
    kwargs = [_kwargs(ChatCompletionRequest, body, defaults) for body, defaults in task["kwargs"]]
    json.dump({"bodies": made, "formats": formats, "kwargs": kwargs}, answers)
    answers.flush()


def _kwargs(request_class, body, defaults):
    """Return what the parser and what the template gets, before names it does not know are left out."""
    params = request_class.model_validate({"model": "m", **body}).build_chat_params(None, "auto")
    for_template = params.with_defaults({**defaults, "tools": None})
    return [params.with_defaults(defaults).chat_template_kwargs, for_template.chat_template_kwargs]


if __name__ == "__main__":
    main()
