"""2 · `Request` → `Prompt`: text, tokens, and where every character came from.

body ──► request_variables ──► worker process ──────────────► local ──► Prompt
         (vLLM's precedence)   engine: plain render (the       tokens with
                               reference library), traced       their fields
                               render (`trace/`), compared

server      the ids the server used, explained by the causes of `vllm_view` and by `own_changes`
compare     first difference, and the causes that were proved
tokenizers  vocabularies from files, without anyone's code
"""

from prompt_debugger.core.render.compare import compare_prompts
from prompt_debugger.core.render.local import generation_prompt, render_local
from prompt_debugger.core.render.server import (
    Remembered,
    ReportedPrompt,
    explain_server_prompt,
    reported_special_tokens,
)
from prompt_debugger.core.render.tokenizers import choose_template, load_template, load_templates, load_tokenizer
from prompt_debugger.core.render.tokenizers.fast import FastTokenizer, PackedTokenizer
from prompt_debugger.core.render.tokenizers.reported import pieces_of_reported, tokens_of_pieces
from prompt_debugger.core.render.worker.jobs import warm_up_templates

__all__ = [
    "FastTokenizer",
    "PackedTokenizer",
    "Remembered",
    "ReportedPrompt",
    "choose_template",
    "compare_prompts",
    "explain_server_prompt",
    "generation_prompt",
    "load_template",
    "load_templates",
    "load_tokenizer",
    "pieces_of_reported",
    "render_local",
    "reported_special_tokens",
    "tokens_of_pieces",
    "warm_up_templates",
]
