"""Classes of errors about programs that failed: faults of their code, what is not installed, engines that died."""

from __future__ import annotations

from prompt_debugger.core.base.types import Stage
from prompt_debugger.core.known_errors._classes.base import LOG, ErrorClass
from prompt_debugger.core.known_errors.base import Cause, Look

CLASSES: tuple[ErrorClass, ...] = (
    ErrorClass(
        "program-fault",
        r"\bname '\w{1,60}' is not defined\b|\blocal variable '\w{1,60}' (?:referenced before|where it is not)"
        r"|\bis not a constructor\b|\w\(\) (?:missing \d{1,2} required|got an unexpected keyword|takes (?:no|\d{1,2}) "
        r"(?:keyword |positional )?arguments?)"
        r"|\bunboundlocalerror\b",
        Stage.COMPLETE,
        Cause.SERVER,
        "A program or plug-in failed because of a bug in it",
        "The message shows a bug in the program or plug-in that printed it; it says nothing about the request or the "
        "model's answer.",
        "Update that program or plug-in, or go back to the release before, and report the message to its authors. The "
        "request needs no change.",
        around=r"plugininvokeerror|\[models\] error|run failed: \[|custom_components/"
        r"|\b[A-Z]\w{1,40}(?:Container|Backend|Engine|Worker|Runner)\.\w{1,60}\(\) (?:missing|got|takes) ",
    ),
    ErrorClass(
        "keyword-of-function",
        r"(?<![\w.])(?P<function>[\w.]{1,80})\(\) got an unexpected keyword argument \W?(?P<keyword>\w{1,60})?",
        Stage.COMPLETE,
        Cause.CLIENT,
        "A function was called with an argument that it does not have",
        "{function|The function} has no parameter {keyword|of that name}: caller and function belong to different "
        "releases, or one of them was written for another interface.",
        "If {function|it} belongs to a package, compare its installed release with the one that the caller was written "
        "for. If it is a tool, the schema that the model is shown must name the parameters as the function does.",
        is_distinctive=False,
        unless=r"\b(?:a?create|a?completion|chat|stream)\(\) got",
    ),
    ErrorClass(
        "missing-module",
        r"no module named|modulenotfounderror",
        Stage.COMPLETE,
        Cause.SERVER,
        "A Python module is missing",
        "A program imports a module that is not installed in its environment, or that the installed release of its "
        "package does not have.",
        "Install the package into the environment in which this program runs; if it is installed, compare its release "
        "with the one that the program asks for.",
        is_distinctive=False,
    ),
    ErrorClass(
        "missing-file",
        r"filenotfounderror|no such file or directory|\benoent\b|not a valid file path",
        Stage.COMPLETE,
        Cause.CLIENT,
        "A file was not found",
        "The program that raised this looked for a file or a folder that is not there; the request itself was not "
        "judged by anyone.",
        "Check the path, as seen from the folder in which that program runs.",
        is_distinctive=False,
    ),
    ErrorClass(
        "version",
        r"cannot import name|(?:version|release)\b.{0,40}?(?:outdated|too old)"
        r"|requires? (?:a )?(?:newer|later)\b"
        r"|requires? (?:at least )?(?:ollama|transformers|vllm|python|version v?\d)\b"
        r"|incompatible version|version\b.{0,40}?incompatible|unsupported model version v\d"
        r"|(?:update|upgrade) (?:to )?(?:the latest|a newer|version|v?\d|ollama|vllm|transformers|llama\.cpp"
        r"|your (?:client|server|version|install\w*|packages?|sdk))"
        r"|module '?[\w.]{1,80}'? has no attribute",
        Stage.COMPLETE,
        Cause.SERVER,
        "Two installed releases are not compatible",
        "A program uses something that the installed release of another one does not have, or no longer has.",
        "Install compatible releases: update the older one, or go back to the one that worked before.",
        is_distinctive=False,
    ),
    ErrorClass(
        "grammar-raised",
        r"\S",
        Stage.COMPLETE,
        Cause.SERVER,
        "The server's grammar for structured output raised an error",
        "The error was raised where the server makes a grammar from a schema or the tools, or checks a token against "
        "it.",
        "Send the request once without `response_format` and `strict`; if that helps, take unusual keywords "
        "(`pattern`, `format`, `$ref`) out of the schema, or choose another backend for structured output (vLLM "
        "`--structured-outputs-config.backend`, SGLang `--grammar-backend`), and update the server.",
        around=r"json_schema_converter|backend_xgrammar|xgrammar_backend|grammar_(?:compiler|matcher|functor)"
        r"|backend_(?:guidance|outlines|lm_format)|(?:guidance|llguidance|outlines)_backend|structured_output/",
        unless=r"out of memory|cuda|timed? ?out",
        is_distinctive=False,
    ),
    ErrorClass(
        "crashed-on-none",
        r"'nonetype'",
        Stage.COMPLETE,
        Cause.SERVER,
        "The server's own code failed on a value that was not set",
        "A process of the server ended because its code used a value that is `None`. Which one it is, and which field "
        "of the request it comes from, shows in the last frames of the traceback.",
        "Update the server, and look for these words in its bug tracker. Until then, leave out the fields of the "
        "request that change how it samples or schedules (`response_format`, tools, penalties, `logprobs`) one after "
        "the other, to see which one triggers the fault.",
        around=r"received sigquit from a child|scheduler hit an exception|enginecore\b|engine ?core (?:died|crashed)",
        is_distinctive=False,
    ),
    ErrorClass(
        "engine-died",
        r"enginedead|enginecore\b.{0,40}?(?:issue|died|dead|failed|fatal|error)"
        r"|engine (?:core )?(?:crashed|died|has died|process failed|loop)|segmentation fault|sigsegv"
        r"|received sigquit from a child"
        r"|core dumped|cuda error|illegal memory access|device-side assert|nccl|broadcast_shapes"
        r"|cannot be broadcast|shapes? (?:mismatch|cannot)|size mismatch"
        r"|worker (?:process )?(?:died|crashed|exited|failed)|ggml_assert|scheduler hit an exception"
        r"|background loop|internal (?:server )?error|\A\W{0,3}server error\W{0,3}\Z|model has crashed"
        r"|server (?:process )?(?:crashed|died)|server connection lost"
        r"|unexpected(?:ly)? (?:stopped|terminated)",
        Stage.COMPLETE,
        Cause.SERVER,
        "The server failed on the request",
        "Something failed inside the server; the message names nothing that the request could change.",
        LOG + " Then look for that line in the server's bug tracker, and try its newest release.",
        is_distinctive=False,
        unless=r"nil pointer dereference",  # of any program in Go, a client as well
        look=Look.PLACEHOLDER_BESIDE_MEDIA,
    ),
    ErrorClass(
        "crashed",
        r"\b[a-z]{1,60}(?:error|exception)\b",
        Stage.COMPLETE,
        Cause.SERVER,
        "The server's own code failed on the request",
        "A process of the server ended with this exception.",
        "Update the server, and look for the last frames of its traceback in its bug tracker. Until then, leave out "
        "the fields of the request that change how it samples, constrains or schedules (`response_format`, tools, "
        "penalties, `logprobs`) one after the other, to see which one triggers the fault.",
        around=r"received sigquit from a child|scheduler (?:process )?(?:hit an exception|crashed|died)"
        r"|engine ?core (?:process )?(?:died|crashed|encountered a fatal)|\bserver (?:process )?(?:died|crashed"
        r"|crashes)",
        unless=r"\b(?:badrequest|authentication|permission|notfound|ratelimit|valueerror|validationerror)",
        is_distinctive=False,
    ),
)
"""In this order: the first class whose words are found counts."""
