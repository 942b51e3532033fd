"""Classes of errors about the command that starts a server: options it does not have, values they do not take."""

from __future__ import annotations

from prompt_debugger.core.base.types import Stage
from prompt_debugger.core.known_errors._classes.base import ErrorClass
from prompt_debugger.core.known_errors.base import Cause

# What only a server's command has; options of anyone's own program say nothing of a request.
_SERVES = (
    r"vllm|sglang|llama|ollama|mlx[_-]lm|lmdeploy|api_server|launch_server|\bserve\b|(?:call|tool|reasoning) parser"
    r"|--(?:tool-|reasoning|chat-template|enable-|jinja|served-|max-model|gpu-mem|tensor-|guided|structured"
    r"|trust-remote)"
)

CLASSES: tuple[ErrorClass, ...] = (
    ErrorClass(
        "option-value",
        r"argument (?:-\w{1,3}(?:/|, ))?(?P<name>--[\w.-]{2,60})(?:/[\w./-]{1,60})?: (?:invalid|expected|not allowed)"
        r"|invalid parameter for argument: (?P<bare>--?[a-z][\w.-]{1,60})"
        r"|invalid value .{1,60}? for .{0,3}(?P<option>--[\w.-]{2,60})"
        r"|invalid (?:tool call|tool|reasoning) parser\b",
        Stage.COMPLETE,
        Cause.SETTING,
        "An option of the command that starts the server has a value that it does not accept",
        "The command was refused before any request; this release does not know the value of {name|that option}.",
        "Choose one of the values listed in the message or in `--help` of the installed release; names of parsers come "
        "with releases, so a new one may need an update. Requests need no change.",
        around=_SERVES,
    ),
    ErrorClass(
        "parser-unknown",
        r"(?:tool|reasoning|tool[ _-]call) parser (?:['\"`]?(?P<parser>[\w.-]{1,60})['\"`]? )?(?:is )?not (?:found"
        r"|supported"
        r"|registered)(?: for name: (?P<named>[\w.-]{1,60}))?",
        Stage.COMPLETE,
        Cause.SETTING,
        "The server does not have the parser that its options name",
        "This release does not have the tool or reasoning parser {name|that was given}.",
        "Choose one that `--help` of the installed release lists; names of parsers come with releases and differ "
        "between engines, so a new one may need an update. Requests need no change.",
    ),
    ErrorClass(
        "option-unknown",
        r"(?:unrecognized|unknown|invalid|unexpected|unsupported) (?:arguments?|options?|flags?)\b[^-\n]{0,12}"
        r"(?P<name>--?[a-z][\w.-]{1,60})"
        r"|no such option:? {0,2}.?(?P<option>--?[\w.-]{2,60})"
        r"|flag provided but not defined:? {0,2}(?P<flag>--?[\w.-]{2,60})",
        Stage.COMPLETE,
        Cause.SETTING,
        "The command that starts the server has an option that it does not know",
        "The command was refused before any request; this release has no {name|such option}.",
        "Take {name|the option} out of the command, or write it as `--help` of the installed release does: options "
        "are renamed and removed between releases, and newer ones need an update. Requests need no change.",
        around=_SERVES,
    ),
)
