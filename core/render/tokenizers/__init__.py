"""Vocabularies from files: ids, texts, bytes, and which characters each token covers.

    folder     finds the files, in a folder or on the Hub     settings   what tokenizer_config.json says
    fast       `tokenizer.json`                               pieces     vocabulary entry -> bytes
    tiles      bytes of tokens -> characters of the text      tiktoken   `tiktoken.model` without its code

No code that ships with a tokenizer is ever run.
"""

from prompt_debugger.core.render.tokenizers.folder import choose_template, load_template, load_templates, load_tokenizer

__all__ = ["choose_template", "load_template", "load_templates", "load_tokenizer"]
