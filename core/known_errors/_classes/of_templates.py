"""Classes of errors that arise where the prompt is made: templates that are missing, not parsed, or fail on a value."""

from __future__ import annotations

from prompt_debugger.core.base.types import Stage
from prompt_debugger.core.known_errors._classes.base import IN_PARSER, ErrorClass
from prompt_debugger.core.known_errors.base import Cause, Look

_TEMPLATE = (
    r"jinja|chat[_ ]?templat|prompt[_ ]templat|template ?syntax|templat\w*[_ ]?(?:error|failed|exception)|<template>"
    r"|apply_template|minja"
    r"|(?:arrayvalue|stringvalue|objectvalue|undefinedvalue|closestatement|filterexpression|callexpression"
    r")|at row \d|tool_calls?\b.{0,20}template|while executing \w{1,40} at line|template: ?:\d"
    r"|\{%-?|error rendering prompt"
)
_JOINS = (
    r"[\"']object[\"']: ?[\"']error[\"']|/(?:vllm|sglang|jinja2|transformers)/|<template>|badrequest"
    r"|nontransientai|apistatuserror|[\"']internal_server_error[\"']"
    r"|\b(?:vllm|sglang)\b|apply_(?:hf_)?chat_template"
)
_OTHER_TEMPLATE = (
    "update the server first; otherwise use a template that was written for it, such as the one that another "
    "publisher ships with the same model, or rewrite that place in a copy (`--chat-template-file` of llama.cpp, "
    "`--chat-template` of vLLM and SGLang, the model's settings of LM Studio)."
)

CLASSES: tuple[ErrorClass, ...] = (
    ErrorClass(
        "template-without-words",
        r"\b(?P<name>Undefined|TemplateSyntax|TemplateRuntime|Template)Error \(its words were not copied\)",
        Stage.RENDER,
        Cause.TEMPLATE,
        "The chat template failed",
        "Its error has its words in the last line of the traceback, which was not copied.",
        "Copy the traceback to its last line. `apply_chat_template` takes one list of messages, or a list of such "
        "lists: a column of a data set is neither (`datasets` 4 returns its own object), so wrap it in "
        "`list(…)`.",
    ),
    ErrorClass(
        "rendering-without-words",
        r"\b(?:Type|Key|Attribute)Error \(its words were not copied\) at `[^`\n]{0,200}?\bapply_chat_template\(",
        Stage.RENDER,
        Cause.TEMPLATE,
        "The call that renders the chat template failed",
        "Its error has its words in the last line of the traceback, which was not copied. An error of this type comes "
        "from the template, where a message or a call lacks what it reads, or from the arguments of the call.",
        "Copy the traceback to its last line. Compare the messages with what the template reads: a call without "
        "`arguments`, `content` that is absent or a list, and messages that are objects of a class are the usual "
        "reasons.",
    ),
    ErrorClass(
        "template-unbalanced",
        r"encountered unknown tag \W?(?P<name>end\w{1,20}|el(?:se|if))\b.{0,160}?(?:innermost block that needs to be"
        r" closed is \W?(?P<open>\w{1,20}))?"
        r"|unexpected end of template\b.{0,160}?innermost block that needs to be closed is \W?(?P<unclosed>\w{1,20})",
        Stage.RENDER,
        Cause.TEMPLATE,
        "A block of the chat template is not closed",
        "The opening and closing tags of the template do not match: {name|its end} comes while another block is still "
        "open. It was edited or cut, or a program that put its own text into it broke it.",
        "The request needs no change: close that block in the template (each `if` with `endif`, each `for` with "
        "`endfor`), or serve the template that its publisher ships. Where a library changes templates itself, such as "
        "to add `add_generation_prompt`, update it.",
        around=_TEMPLATE,
    ),
    ErrorClass(
        "template-replaced",
        r"(?:falling|fall|fell) back to (?:the )?(?:chatml|default|built-?in)"
        r"|chat template.{0,60}?(?:not (?:yet )?supported|not found).{0,60}?(?:default|fallback|chatml)"
        r"|no chat template found, (?:defaulting|using|falling)"
        r"|using (?:the |a )?(?:default|built-?in|fallback|chatml) chat[_ ]template",
        Stage.RENDER,
        Cause.SETTING,
        "The server does not use the model's own chat template",
        "It found none that it can read, and writes the prompt with a built-in one, which the model may not have "
        "learned: turns that do not end and calls that stay in the text are the usual result.",
        "Give the model's template at the start (`--chat-template-file FILE` and `--jinja` of llama.cpp, "
        "`--chat-template FILE` of vLLM and SGLang), or copy `chat_template.jinja` next to the tokenizer; update the "
        "server if it cannot read that template.",
        around=r"templat",
        unless=r"unknown (?:filter|test|function|method)|unexpected|syntax",
    ),
    ErrorClass(
        "template-file",
        r"chat template\W{0,4}(?P<name>[^\s./]{0,100}[./]\S{1,200})? ?.{0,60}?(?:is not a built-in|not found"
        r"|does not exist"
        r"|no such file|not a valid|could not be (?:found|read|opened))"
        r"|(?:failed|unable) to (?:open|read|find|load) (?:the )?(?:chat )?template(?: file)?\b"
        r"|the supplied chat template (?:string|path\b|\()",
        Stage.RENDER,
        Cause.SETTING,
        "The server did not find the chat template that it was started with",
        "The name is neither that of a template in the server nor a file that it can read.",
        "Give {name|it} as a path that exists where the server runs: absolute, and inside its container if it has one.",
        unless=r"\b(?:un)?expected|syntax|pars(?:e|ing)|\bdoes not exist for (?:this|the|your) (?:model|tokenizer)\b",
    ),
    ErrorClass(
        "template-absent",
        r"no chat[_ ]template|chat[_ ]template does not exist for (?:this|the|your) (?:model|tokenizer)"
        r"|chat[_ ]template (?:has )?not (?:been )?loaded\b|template error: template not found"
        r"|chat_template (?:is )?(?:not set|none|missing)"
        r"|(?:does not|doesn't) (?:have|define|provide|include) a chat[_ ]?template"
        r"|default chat template is no longer|without a chat template"
        r"|cannot use (?:chat template functions|apply_chat_template)",
        Stage.RENDER,
        Cause.SETTING,
        "The model has no chat template",
        "The server found none, neither with the tokenizer nor in the options of its start, so messages cannot become "
        "a prompt: base models have none, newer repositories keep it in `chat_template.jinja`, which may not have been "
        "copied along, and a tokenizer's configuration that cannot be read counts as none.",
        "Give one at the server's start (`--chat-template FILE`), copy `chat_template.jinja` next to the tokenizer, or "
        "use the chat model of the family.",
    ),
    ErrorClass(
        "template-engine-lacks",
        r"unknown (?!\(built-in\) filter \W?\w+\W? for type)(?:\(built-in\) )?(?:\w+value )?(?:filter|"
        r"test|method|function|statement|operator|tag|global)\b\W{0,8}(?P<name>[\w.]{1,60})?"
        r"|no (?:filter|test) named \W?(?P<filter>\w{1,60})"
        r"|(?:encountered )?unknown tag \W?(?P<tag>\w{1,40})"
        r"|(?:filter|test|method|function) \W?(?P<missing>\w{1,60})\W{0,3}(?:is |does )?(?:not "
        r"(?:defined|found|supported|implemented|known|exist|registered)|undefined|unknown)"
        r"|(?:object|value) is not callable: ?(?:null|undefined)"
        r"|cannot call something that is not a function: got (?:undefined|null)"
        r"|has no method named (?P<method>\w{1,60})|no method named (?P<called>\w{1,60})"
        r"|\W?strftime_now\W? is undefined",
        Stage.RENDER,
        Cause.SETTING,
        "The server's template engine lacks something that the template uses",
        "The template is written for another Jinja engine, or for a newer release of this one: {name|a filter, test, "
        "function or method of it} does not exist here. Some servers then go on with a built-in template.",
        f"The request needs no change: {_OTHER_TEMPLATE}",
        around=_TEMPLATE,
    ),
    ErrorClass(
        "null-in-messages",
        r"'NoneType' object (?:is not (?:subscriptable|iterable)|has no)|argument of type ['\"`]NoneType"
        r"|expected (?:a )?(?:string|str)\b.{0,40}?(?:got|found|not|received) ['\"`]?(?:NoneType|null|undefined)\b"
        r"|can only concatenate str \(not ['\"`]NoneType|must be str, not NoneType",
        Stage.RENDER,
        Cause.TEMPLATE,
        "The server failed on a null in the messages",
        "The server or the template expected the content of a message and found null: usually the `content` of an "
        "assistant message that only makes calls, which clients send as null.",
        'Send `"content": ""` in place of null for those messages, or update the server; newer releases and templates '
        "accept null there.",
        look=Look.CONTENT_NULL,
        around=r"(?:site-packages|dist-packages)/(?:vllm|sglang|mlx_lm|mlx_vlm|lmdeploy|transformers|jinja2)/\S{0,80}"
        r"(?:server|chat|template|tokeniz|prompt|content|process|message|render|runtime|sandbox|environment)",
        never_around=IN_PARSER,
    ),
    ErrorClass(
        "list-joined-as-text",
        r"can only concatenate str \(not \W{0,3}list\W{0,3}\) to str\b",
        Stage.RENDER,
        Cause.TEMPLATE,
        "The chat template joined a text with a list",
        "While the prompt was made, the template added a list to a text: `content` as a list of parts, for which this "
        "template was not written, or `type` in a tool's schema with several types.",
        "Send `content` as one text, or start vLLM with `--chat-template-content-format string`. Parts with images "
        "need the template of the model's processor (`chat_template.json` or `processor_config.json`) in place of the "
        "tokenizer's. In a schema, write one type.",
        around=_JOINS,
    ),
    ErrorClass(
        "object-joined-as-text",
        r"can only concatenate (?:str|list) \(not \W{0,3}(?P<type>dict|list|str|int)\W{0,3}\) to (?:str|list)\b",
        Stage.RENDER,
        Cause.TEMPLATE,
        "The chat template joined a text with a value that is not one",
        "While the server made the prompt, the template added a value of another type to a text: `arguments` of a call "
        "in the history, which vLLM hands over as an object, or `content` as a list of parts.",
        "Serve a template that writes the arguments with `tojson` (newer ones of the same model do, and vLLM has some "
        "in its `examples` folder), or update the server. If `content` is a list of parts, send it as one text, or "
        "start vLLM with `--chat-template-content-format string`.",
        around=_JOINS,
    ),
    ErrorClass(
        "template-of-ollama",
        r"(?:pars|syntax|expected|unknown|fail)\w{0,4}\b.{0,400}?\{\{-? ?"
        r"(?:(?:if|range|with|else if|template)\b[^}]{0,40})?[ (]?[.$][A-Z_i]",
        Stage.RENDER,
        Cause.TEMPLATE,
        "The chat template is in Ollama's notation, but Jinja is expected",
        "Templates of Ollama's Modelfiles are written in Go's notation (`.System`, `range .Messages`), "
        "which no Jinja engine reads. llama.cpp then uses a built-in template (chatml).",
        "The request needs no change: serve the model's own `chat_template` (in its repository, or the GGUF's "
        "`tokenizer.chat_template`), with `--jinja --chat-template-file FILE` of llama.cpp.",
        around=r"jinja|chat[_ ]?templat|at row \d",
    ),
    ErrorClass(
        "template-not-parsed",
        r"(?:template ?syntax|parser) ?error|failed to parse (?:the )?(?:chat |jinja )?template"
        r"|unexpected (?:char|character|token|end of (?:template|input)|'[%}]\}?')"
        r"|expected (?:closing|opening|token|statement|identifier|name|end of|block keyword|expression|comma)"
        r"|failed to parse number.{0,300}\{\{|unclosed"
        r"|unable to (?:parse|compile) (?:the )?(?:chat |jinja )?template",
        Stage.RENDER,
        Cause.TEMPLATE,
        "The server cannot parse the chat template",
        "The template is not in the notation that this server's engine reads: written for a more complete Jinja "
        "engine, with a slip or Python that no Jinja has, cut or escaped when it was copied, or Ollama's notation "
        "(`.System`, `.Messages`) where Jinja is expected.",
        f"The request needs no change: {_OTHER_TEMPLATE}",
        around=_TEMPLATE,
        unless=r"is not (?:a )?valid json|in json at position|\w\.html?\b",  # a page's template
    ),
    ErrorClass(
        "template-syntax",
        r"\bexpected token '[^']{1,40}', got '[^']{1,40}'",  # Jinja's words
        Stage.RENDER,
        Cause.TEMPLATE,
        "The chat template has a mistake in its notation",
        "Jinja stops at that token, before any message is written: the template was cut, or its quotation marks and "
        "escapes were changed when it was copied, for instance into `tokenizer_config.json` or a command.",
        "Take the template of the model's repository as a file (`chat_template.jinja`) and give its path to the "
        "server; compare it with the one in use. The request needs no change.",
    ),
    ErrorClass(
        "template-value",
        r"\W?(?P<name>[\w.]{1,60})\W? is undefined|has no (?:attribute|element|item)\b"
        r"|expected iterable|(?:operation|operator) .{0,40}?\bon (?:undefined|null) values"
        r"|not iterable|unsupported (?:operand|types?)|can only concatenate"
        r"|undefined is not json|of type undefined"
        r"|cannot (?:subscript|index|access|call|iterate|read propert|concatenate|convert)"
        r"|not subscriptable|undefined (?:variable|value|and)|invalid operation"
        r"|filter \W?\w{1,40}\W? (?:for type|to type:) \w"
        r"|is not a (?:string|list|mapping|function)|must be (?:a )?str",
        Stage.RENDER,
        Cause.TEMPLATE,
        "The chat template failed on a value that is missing or of another type",
        "The template reads {name|a value} where the request, or the server, contains nothing or something of "
        "another type.",
        "Compare that line of the template with the request: `content` must be a string where the template cuts or "
        'joins texts (not `null` beside calls, not a list of parts), tools are written as `{"type": "function", '
        '"function": {…}}` with one `type` for each parameter, and the template\'s own names come in '
        "`chat_template_kwargs` or from the tokenizer (`bos_token`). `render REQUEST --chat-template FILE` shows the "
        "line and the value.",
        around=rf"{_TEMPLATE}|of type undefined is not json|undefined is not json",
        unless=r"cannot be broadcast|roles? must|function: got (?:undefined|null)value",
    ),
    ErrorClass(
        "template-not-one",
        r"expected string or bytes-like object, got 'dict'|'dict' object has no attribute '(?:replace|strip|find)'",
        Stage.RENDER,
        Cause.TEMPLATE,
        "The tokenizer has several chat templates, and the server expects one",
        "`chat_template` of this tokenizer is a table of named templates (`default`, `tool_use`, `rag`), and the "
        "program takes it for the text of one.",
        "Write the template that you need into a file and start the server with `--chat-template FILE`, or leave only "
        "that one in `chat_template` of `tokenizer_config.json`; a newer release may choose one by itself. The request "
        "needs no change.",
        around=r"template_manager|_detect_reasoning_pattern|chat_template",
        is_distinctive=False,
    ),
    ErrorClass(
        "content-not-parts",
        r"string indices must be integers",
        Stage.RENDER,
        Cause.REQUEST,
        "The processor expects the content of every message as a list of parts",
        "`apply_chat_template` of a processor reads the parts of each message, and the content of one is a text, often "
        "that of the system message.",
        'Write the content of all messages as parts (`[{"type": "text", "text": "…"}]`), or update transformers: newer '
        "releases take a text as well.",
        around=r"processing_utils",
        is_distinctive=False,
    ),
    ErrorClass(
        "roles-of-template",
        r"\bonly (?:the )?(?P<name>(?:(?:system|systemm|user|assistant|tool|developer|model|and|,|/|or"
        r"|'\w+')\W{1,3}){2,9})"
        r"roles are (?:supported|allowed)\b",
        Stage.RENDER,
        Cause.TEMPLATE,
        "The chat template does not know the role of a message",
        "The template of this model accepts only the roles that the message lists; a message of the request has "
        "another role.",
        "Send instructions as `system` in place of `developer`, and other roles under the one that comes nearest. A "
        "template without `tool` was not made for tools: write the results as user messages, or serve the template of "
        "a model that calls tools.",
    ),
    ErrorClass(
        "message-off-template",
        r"\A(?:(?:[\w.]{1,60}\.)?TemplateError: )?invalid (?P<name>system|user|assistant|tool)(?:-| )"
        r"(?:message|block type|call type|content|part)\b",
        Stage.RENDER,
        Cause.TEMPLATE,
        "The chat template does not accept the form of a message",
        "The template checks what the content of a message is made of, and stopped at one with the role {name|that it "
        "names}.",
        "Send `content` as a text, or as parts of the types that this template knows; a message with nothing but calls "
        "needs `tool_calls` as a list. `render REQUEST --chat-template FILE` shows the line and the value.",
        unless=r"\btool_calls\b|must be",
    ),
    ErrorClass(
        "template-failed-unsaid",
        r"(?:\b(?:fail(?:s|ed|ing|ure)?|errors?|unable)\b.{0,60}?\btemplates?(?: (?:errors?|failed|rendering))?"
        r"|\btemplate (?:rendering )?(?:errors?|failed|failure))\W{0,4}\Z",
        Stage.RENDER,
        Cause.TEMPLATE,
        "The chat template failed",
        "These words do not say on what.",
        "Paste the whole error, or the traceback to its last line: templates raise their own errors, which say what "
        "they require of the messages. `render REQUEST --chat-template FILE` shows the line and the value there.",
        around=r"jinja|chat[_ ]?templat|apply_template",
        has_reason=False,
    ),
    ErrorClass(
        "template-refused",
        r"jinja exception|raise_exception|templateerror|error rendering prompt with jinja"
        r"|while executing \w{1,40} at line"
        r"|(?:failed|error|unable) .{0,30}?(?:appl|render|execut)\w{0,6} .{0,30}?templat"
        r"|(?:chat )?template (?:rendering |application )?(?:failed|error)",
        Stage.RENDER,
        Cause.TEMPLATE,
        "The chat template failed",
        "Templates raise their own errors if the messages are not in the order or form that the model was "
        "trained on; the message says what it requires.",
        "Change the messages as the template requires, or serve another template. `render REQUEST --chat-template "
        "FILE` shows its line and the value there.",
    ),
)
"""In this order: the first class whose words are found counts."""
