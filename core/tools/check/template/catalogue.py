"""Every finding about a template that only `check` can make: its code, its name, what it means and why.

A run has none of these codes. What the rules of a run can find from a prompt alone is under their own codes
(`core.diagnose.rules`). The pages of docs/rules are made from these texts as from the docstrings of the rules.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from prompt_debugger.core.base.types import Severity, Stage

_E, _W, _N = Severity.ERROR, Severity.WARNING, Severity.NOTE


@dataclass(frozen=True, slots=True)
class TemplateRule:
    """One finding that `check` can make; its text is a sentence, then the headings of a rule's docstring."""

    code: str
    name: str
    severities: tuple[Severity, ...]
    text: str

    @property
    def stage(self) -> Stage:
        """Where the fault lies: always in rendering."""
        return Stage.RENDER


_ALL = (
    TemplateRule(
        "PD801",
        "answer-not-printed",
        (_E, _W, _N),
        """Part of an answer in the history is not printed in the next prompt.

What it finds:
    An answer of the model that the template puts into the history without printing its tool
    calls (error), its text (warning) or its reasoning (note, and only for templates that print
    reasoning somewhere).

Why it matters:
    The model never sees that it said this. It calls the same tool again, or
    reads a tool's result for which there was no call.

Bad:
    `{%- for call in m.tool_calls[:1] %}`: of two parallel calls one is printed.

Good:
    `{%- for call in m.tool_calls %}`

Source:
    derived: each answer of the matrix contains unique words, which are searched for in the prompt.
""",
    ),
    TemplateRule(
        "PD802",
        "answer-refused",
        (_E,),
        """The template fails for an answer in the history.

What it finds:
    An answer that the template cannot print: an exception raised by the template or by the
    engine, with its reason and line.

Why it matters:
    The request after such an answer is refused, so a conversation ends at
    its first tool call.

Bad:
    `{{ raise_exception("Only one tool call is supported") }}` for parallel calls.

Good:
    `{%- for call in m.tool_calls %}`

Source:
    derived: the answer is rendered; the template's own words are quoted.
""",
    ),
    TemplateRule(
        "PD803",
        "history-leaves-prompt",
        (_W, _N),
        """The next prompt does not continue where the model ended.

What it finds:
    Prompt and output of one turn that are not the beginning of the next turn's prompt, after a
    tool result or the user's next message. Reasoning that is dropped at the user's next message
    is a note: most templates do this on purpose.

Why it matters:
    The prefix cache misses from the first different character on, and the model reads its own
    words differently from how it wrote them.

Bad:
    Written `{"a":1}`, printed in the next prompt `{"a": 1}`.

Good:
    Arguments printed as text where they came as text.

Source:
    derived: two renders of the same conversation, compared with each other.
""",
    ),
    TemplateRule(
        "PD804",
        "reasoning-not-closed",
        (_N,),
        """The generation prompt opens reasoning, but the history leaves it out.

What it finds:
    A generation prompt that ends with an opening tag such as `<think>`, and
    a history in which the model's turn has no closing tag.

Why it matters:
    The ideal output cannot be derived from the history alone; the check adds the closing tag
    and says so. A parser is tested on what the model really writes.

Bad:
    Not a fault by itself.

Good:
    `<think>` opened by the generation prompt, `</think>` printed in the history.

Source:
    derived: the generation prompt compared with the history of the same answer.
""",
    ),
    TemplateRule(
        "PD805",
        "volatile-prompt",
        (_N,),
        """The prompt contains text that comes from the clock.

What it finds:
    Text that comes from `strftime_now` and from no field of the request.

Why it matters:
    The same request gives a different prompt on another day: the prefix cache restarts, and a
    result may change.

Bad:
    `Today is {{ strftime_now("%d %B %Y") }}.`

Good:
    `{%- if date is defined %}Today is {{ date }}.{%- endif %}`

Source:
    derived: every character of the prompt is traced to where it came from.
""",
    ),
    TemplateRule(
        "PD806",
        "end-token-unknown",
        (_E,),
        """The template ends the model's turn with a token at which servers do not stop.

What it finds:
    The end of the model's turn is not one of the end tokens that
    `tokenizer_config.json` and `generation_config.json` name.

Why it matters:
    The model keeps generating into the user's next turn, until the token limit.

Bad:
    Turns end with `<|im_end|>`, `eos_token_id` is that of `<|endoftext|>`.

Good:
    `"eos_token_id": [151645, 151643]` with both of them.

Source:
    derived: the template's turn end compared with the files next to it.
""",
    ),
    TemplateRule(
        "PD807",
        "variants-differ",
        (_N,),
        """Named templates of one model give different prompts for one request.

What it finds:
    Two of several named templates, such as `default` and `tool_use`, that print a request with
    tools differently.

Why it matters:
    Servers use `tool_use` for requests with tools if it exists, and `default` if not; a script
    may use another.

Bad:
    `default` drops the tools, `tool_use` prints them, and a script names neither.

Good:
    `--chat-template` names the one that is meant.

Source:
    derived: the same request, rendered with each.
""",
    ),
    TemplateRule(
        "PD808",
        "union-types-refused",
        (_W,),
        """The template fails for a tool with a parameter of two types.

What it finds:
    No prompt for tools with `"type": ["string", "null"]`, and one for tools
    without.

Why it matters:
    Many clients declare optional values this way; every request with a tool like this is refused.

Bad:
    `{{ parameter.type | upper }}`

Good:
    `{{ parameter.type if parameter.type is string else parameter.type | join(" or ") }}`

Source:
    derived: the matrix is rendered with tools of both kinds.
""",
    ),
    TemplateRule(
        "PD809",
        "engines-differ",
        (_W,),
        """The server's own renderer loses what transformers prints, or differs for an unknown reason.

What it finds:
    A conversation whose prompt from the server's renderer lacks a text, contains content as a
    Python list, is refused, or diverges from that of transformers without a cause that was
    proved by rendering with it.

Why it matters:
    The model was trained and evaluated with one prompt and is served with
    another.

Bad:
    `[{'type': 'text', 'text': ''}]` for a turn with `content: ""` next to a call.

Good:
    A template that tests `content is string` wherever it prints content.

Source:
    derived: the same conversations rendered by both.
""",
    ),
    TemplateRule(
        "PD810",
        "input-not-printed",
        (_E, _W, _N),
        """Part of what a client sends is silently dropped.

What it finds:
    A tool's result (error), a system message (warning), or texts of a list
    of content parts (warning, or note where vLLM joins them before) that
    leave no trace in the prompt.

Why it matters:
    The request is answered as if this had not been sent.

Bad:
    `{%- for part in m.content[:1] %}`

Good:
    `{%- for part in m.content %}`, or `raise_exception` with a reason.

Source:
    derived: the probes send unique words and search for them in the prompt.
""",
    ),
    TemplateRule(
        "PD811",
        "arguments-refused",
        (_E, _N),
        """The template fails for one form of the arguments of an earlier call.

What it finds:
    No prompt for arguments as an object (error: vLLM always passes them this way) or as text
    (note: transformers does).

Why it matters:
    The request after the first tool call fails on one engine but not on the other.

Bad:
    `{{ call.function.arguments + "" }}`

Good:
    `{{ call.function.arguments if call.function.arguments is string else call.function.arguments | tojson }}`

Source:
    derived: both forms are rendered.
""",
    ),
    TemplateRule(
        "PD812",
        "bos-added-to-text",
        (_N,),
        """The template writes BOS, and the tokenizer adds another to the text.

What it finds:
    A rendered prompt that begins with BOS, and a tokenizer that puts BOS
    before every text.

Why it matters:
    vLLM's chat endpoint adds no second BOS. Its `/v1/completions` adds one to the rendered text
    unless `add_special_tokens` is false, and so do scripts that render to text and tokenize
    it: the prompt then starts with two BOS tokens.

Bad:
    `tokenizer(tokenizer.apply_chat_template(messages, tokenize=False))`

Good:
    `tokenizer.apply_chat_template(messages)`, or token ids in `prompt`.

Source:
    derived: the template's first token and the tokenizer's rules.
""",
    ),
    TemplateRule(
        "PD813",
        "arguments-as-python",
        (_E,),
        """The template prints the arguments of earlier calls as Python writes an object.

What it finds:
    Single quotes, `True`, `False` or `None` where the history prints the
    arguments of a call.

Why it matters:
    The model copies what it reads and writes calls that no JSON parser can read.

Bad:
    `{{ call.function.arguments }}` prints `{'city': 'Oslo', 'now': True}`.

Good:
    `{{ call.function.arguments | tojson }}` prints `{"city": "Oslo", "now": true}`.

Source:
    derived: the object form is rendered and checked.
""",
    ),
)

TEMPLATE_RULES: Mapping[str, TemplateRule] = {one.code: one for one in _ALL}
"""Every finding of `check` by its code."""

CODES: Mapping[str, str] = {one.name: one.code for one in _ALL}
"""The code of each by its name."""
