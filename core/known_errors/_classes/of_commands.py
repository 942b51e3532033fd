"""Classes of errors about the command that starts a server: options it does not have, values they do not take."""

from __future__ import annotations

from prompt_debugger.core.base.types import Stage
from prompt_debugger.core.known_errors._classes.base import ErrorClass
from prompt_debugger.core.known_errors.base import Cause

# What only a server's command has; options of anyone's own program say nothing of a request.
_SERVES = (
    r"vllm|sglang|llama|ollama|mlx[_-]lm|lmdeploy|api_server|launch_server|\bserve\b|(?:call|tool|reasoning) parser"
    r"|--(?:tool-|reasoning|chat-template|enable-|jinja|served-|max-model|max-num-|gpu-mem|tensor-|guided|structured"
    r"|trust-re|data-parallel|pipeline-parallel|speculative|kv-|mm-|limit-mm|language-model|max-lora|lora-|grammar-"
    r"|attention-backend|chunked-prefill|disable-radix|context-length|quantization|api-server|skip-tokenizer"
    r"|load-format"
    r"|mem-fraction|allowed-local|headless|runner|all2all|moe-)"
)
_OPTION = (
    r"(?P<{}>--[a-z][\w.-]{{1,60}})[`'\"]?"
    r"(?:[ =](?!(?:is|are|must|may|can|cannot|requires?|needs?|should)\b)[^\s`]{{1,40}})?"
)

CLASSES: tuple[ErrorClass, ...] = (
    ErrorClass(
        "option-value",
        r"argument (?:-\w{1,3}(?:/|, ))?(?P<name>--[\w.-]{2,60})(?:/[\w./-]{1,60})?: (?:invalid|expected|not allowed)"
        r"|invalid parameter for argument: (?P<bare>--?[a-z][\w.-]{1,60})"
        r"|invalid argument:? (?P<listed>--?[a-z][\w.-]{1,60})\W{1,4}(?:use|choose|expected|must be)\b"
        r"|invalid value .{1,60}? for .{0,3}(?P<option>--[\w.-]{2,60})"
        r"|invalid (?:tool call|tool|reasoning) parser\b"
        rf"|{_OPTION.format('checked')} (?:must (?!be (?:set|given|used|provided|passed) (?:when|if|with|together"
        rf"|to)\b)"
        r"|cannot exceed|should be (?:at|between|in|one|a|>|<)|has to be|expects)",
        Stage.COMPLETE,
        Cause.SETTING,
        "An option of the command that starts the server has a value that it does not accept",
        "The command was refused before any request; this release does not take the value of {name|that option}.",
        "Choose one of the values listed in the message or in `--help` of the installed release; names of parsers come "
        "with releases, so a new one may need an update. Requests need no change.",
        around=_SERVES,
    ),
    ErrorClass(
        "parser-unknown",
        r"(?:tool|reasoning|tool[ _-]call) parser (?:['\"`]?(?P<parser>[\w.-]{1,60})['\"`]? )?(?:is )?not (?:found"
        r"|supported"
        r"|registered)(?: for name: (?P<named>[\w.-]{1,60}))?"
        r"|requires tool_parser:['\"`](?P<required>[\w.-]{1,60})['\"`] which has not been registered"
        r"|(?:tool|reasoning) helper: '(?P<helper>[\w.-]{1,60})' not found in"
        r"|\b(?:tool|reasoning) parser (?P<listed>[\w.-]{1,60}) is not in the parser list\b"
        r"|\binvalid (?:tool|reasoning)[_ ](?:call_)?parser: (?P<invalid>[\w.-]{1,60})",
        Stage.COMPLETE,
        Cause.SETTING,
        "The server does not have the parser that its options name",
        "This release does not have the tool or reasoning parser {name|that was given}.",
        "Choose one that `--help` of the installed release lists; names of parsers come with releases and differ "
        "between engines, so a new one may need an update. Requests need no change.",
    ),
    ErrorClass(
        "template-name-unknown",
        r"\bchat[ _]template (?:named? )?[`'\"](?P<name>[\w.-]{1,60})[`'\"] is not (?:registered|built ?in|known)\b",
        Stage.COMPLETE,
        Cause.SETTING,
        "The server does not have the chat template that its options name",
        "This release has no built-in template {name|of that name}; the server did not start.",
        "Leave the option out, so that the template of the model is used; or give one of the names that the message "
        "lists, or the path of a file. A model that is newer than the server needs an update. Requests need no change.",
    ),
    ErrorClass(
        "options-exclude",
        rf"{_OPTION.format('name')}.{{0,80}}? (?:are mutually exclusive|(?:is|are) (?:not compatible|incompatible) with"
        r"|(?:cannot|can't|must not|may not) be (?:combined|used|set|enabled|specified|given)(?: together)?(?: with)?\b"
        r"|conflicts? with\b|does not (?:work|support .{0,20}?--))"
        rf"|(?:incompatible|not compatible|mutually exclusive|conflicts?) with [`'\"]?{_OPTION.format('other')}",
        Stage.COMPLETE,
        Cause.SETTING,
        "Two options of the command that starts the server exclude each other",
        "The command was refused before any request: {name|one option} does not go together with another one that is "
        "set.",
        "Take one of the two out of the command; the message names them, and sometimes one is set by a configuration "
        "file or by the model. Requests need no change.",
        around=_SERVES,
    ),
    ErrorClass(
        "option-needs-option",
        rf"{_OPTION.format('name')} (?:currently )?(?:requires?\b|needs\b|depends on\b"
        r"|must be (?:set|given|used|provided|passed) (?:when|if|with|together|to)\b"
        r"|(?:only works|is only (?:valid|allowed|used|supported|meaningful)) (?:with|when|if|together))"
        r"|(?:must|have to|need to|please) (?:also )?(?:set|specify|provide|pass|add) "
        rf"[`'\"]?{_OPTION.format('lacking')}[`'\"]? (?:when|if|to) (?:you )?(?:using |use |enabl\w{{1,5}} |set "
        rf")[`'\"]?--",
        Stage.COMPLETE,
        Cause.SETTING,
        "An option of the command that starts the server needs another one",
        "The command was refused before any request: {name|an option} means something only together with another "
        "option, package or mode that the message names.",
        "Add what the message names, or leave {name|the option} out. Requests need no change.",
        around=_SERVES,
    ),
    ErrorClass(
        "option-not-for-model",
        rf"\bmodels?\b.{{0,60}}? (?:does(?:n't| not)|do not) support [`'\"]?{_OPTION.format('name')}"
        rf"|{_OPTION.format('unsupported')} (?:is |are )?(?:not supported|unsupported|not available) (?:for|by|with|on"
        rf"|in)"
        rf"|{_OPTION.format('only')} is only (?:available|supported) (?:for|on|by|in)",
        Stage.COMPLETE,
        Cause.SETTING,
        "An option of the command does not fit this model or hardware",
        "The server did not start: {name|the option} is not available for the model, hardware or mode that the "
        "message names.",
        "Take {name|the option} out of the command, or serve a model that supports it: a model for embeddings or "
        "scoring does not generate, and some modes exist on some hardware only. Requests need no change.",
        around=_SERVES,
    ),
    ErrorClass(
        "context-setting",
        r"\bmax_model_len\b.{0,80}?(?:(?:greater|larger) than the (?:derived|maximum|model)|must be a positive)"
        r"|vllm_allow_long_max_model_len|sglang_allow_overwrite_longer_context_len"
        r"|\bmax_num_batched_tokens\b.{0,40}?\b(?:smaller than|must be (?:greater|larger|at least|>=))"
        r"|user-specified (?:context_length|max_model_len)\b",
        Stage.COMPLETE,
        Cause.SETTING,
        "The server was started with a context length that does not fit",
        "The command asks for a longer context than the model's configuration has, or for less work at once than one "
        "prompt of that length needs.",
        "Lower `--max-model-len` (SGLang: `--context-length`) to what the message names as the model's own, or leave "
        "it out; raise `--max-num-batched-tokens` where that is too small. A longer context than the model was trained "
        "for needs RoPE scaling in its configuration. Requests need no change.",
    ),
    ErrorClass(
        "option-unknown",
        r"(?:unrecognized|unknown|invalid|unexpected|unsupported) (?:arguments?|options?|flags?)\b[^-\n]{0,12}"
        r"(?P<name>--?[a-z][\w.-]{1,60})"
        r"|no such option:? {0,2}.?(?P<option>--?[\w.-]{2,60})"
        r"|flag provided but not defined:? {0,2}(?P<flag>--?[\w.-]{2,60})"
        r"|\b(?:async)?engineargs\.__init__\(\) got an unexpected keyword argument \W?(?P<argument>[\w-]{2,60})",
        Stage.COMPLETE,
        Cause.SETTING,
        "The command that starts the server has an option that it does not know",
        "The command was refused before any request; this release has no {name|such option}.",
        "Take {name|the option} out of the command, or write it as `--help` of the installed release does: options "
        "are renamed and removed between releases, and newer ones need an update. Requests need no change.",
        around=rf"{_SERVES}|engineargs\.__init__",
    ),
    ErrorClass(
        "settings-unfit",
        r"validation errors? for (?P<name>(?!\w{0,60}(?:Generat|Thinking|Speech|Tool|Function|Content|Request|Sampling"
        r"|Safety|Response|Connect|Chat|Message))(?-i:[A-Z])\w{0,60}(?-i:Config|Settings|EngineArgs)\w{0,40}) "
        r".{0,600}?\[type=(?!value_error|assertion_error)\w{1,40}, input_value=",
        Stage.COMPLETE,
        Cause.SETTING,
        "A setting of a program has a value that it does not accept",
        "pydantic checked the program's own configuration, {name|its class of settings}, before anything was served or "
        "sent; the message names each setting, what is wrong with it, and the value that it has.",
        "Correct the setting in the configuration file or the command: what it may be is in the message, or in the "
        "documentation of the installed release. Requests need no change.",
        is_distinctive=False,
    ),
)
