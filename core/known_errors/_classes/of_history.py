"""Classes of errors about turns that were sent back: their ids, arguments, results and signatures."""

from __future__ import annotations

from prompt_debugger.core.base.types import Stage
from prompt_debugger.core.known_errors._classes.base import ErrorClass
from prompt_debugger.core.known_errors.base import Cause, Look

CLASSES: tuple[ErrorClass, ...] = (
    ErrorClass(
        "signature-not-sent-back",
        r"\bthinking\.signature(?:\.str)?: ?(?:field required|input should be a valid string)",
        Stage.REQUEST,
        Cause.REQUEST,
        "A thinking block was sent back without its signature",
        "The API signs each thinking block and checks the signature when the block comes back; this one has none, as "
        "when another model or a client wrote it, or the stream's `signature_delta` was not kept.",
        "Send thinking blocks back exactly as they came, with `signature`; leave out those that have none. Start a new "
        "conversation if a client keeps them without.",
    ),
    ErrorClass(
        "call-id-twice",
        r"\bduplicate (?:value for \W?)?tool[_ ](?:call|use)[_ ]?ids?\b|\bduplicate item found with id\W{0,3}"
        r"(?P<name>[\w-]{1,80})|\btool_use\W{0,2} ids must be unique\b",
        Stage.REQUEST,
        Cause.REQUEST,
        "An id of the history is used twice",
        "Ids pair calls with their results, so each may occur once; {name|one} belongs to two calls, results or items.",
        "Look for that id in the messages: a turn that was kept twice, or sent again beside `previous_response_id`, or "
        "a server or gateway that numbers the calls of each answer from the start. Drop the copy, or give each "
        "call another id, and its result the same.",
    ),
    ErrorClass(
        "call-in-history-without-arguments",
        r"\b(?P<place>messages\[\d{1,6}\])(?:\.[\w.\[\]]{1,120})?: missing field `arguments`",
        Stage.REQUEST,
        Cause.REQUEST,
        "A call in the history has no `arguments`",
        "A call in {place|one message} has no `arguments`. The API requires them of every call, as text, even if the "
        "tool takes none: the client left them out when it sent the call back.",
        "Send the text of an empty object as `arguments` of each call that has none, or update the client.",
    ),
    ErrorClass(
        "arguments-in-history",
        r"\bfunction\W{0,3}arguments?\b.{0,80}?\bmust be (?:in |a )?(?:valid )?json\b"
        r"|\binvalid function arguments:? json\b|\binvalid tool calls?: arguments must be (?:valid )?json\b",
        Stage.REQUEST,
        Cause.REQUEST,
        "The arguments of a call in the history are not JSON",
        "The server decodes the `arguments` of the calls in earlier assistant messages, and those of one call are "
        "empty, cut or broken.",
        "Send `arguments` as a text with a whole JSON object, at least an empty one. A call that broke off at the "
        "token limit, or whose pieces were not joined, must not go into the history as it is: take it out with its "
        "result.",
        look=Look.BROKEN_ARGUMENTS,
    ),
    ErrorClass(
        "signature-not-accepted",
        r"\b(?:corrupted|invalid|unknown|malformed) thought[ _]?signatures?\b"
        r"|\bthought[ _]?signatures? (?:is|are|was) (?:not valid|invalid|corrupted|malformed)\b",
        Stage.REQUEST,
        Cause.REQUEST,
        "A signature that was sent back is not the one that came",
        "The API signs the model's thoughts and checks the signature when a turn comes back: it was shortened or "
        "encoded again on the way, or belongs to an answer of another model or provider.",
        "Send the part back as it came, byte for byte, in the turn and at the place where it was. When the model or "
        "the provider changes within a conversation, leave the signatures of the other one out.",
    ),
    ErrorClass(
        "calls-and-results-apart",
        r"\btool calls? and results? (?:do(?:es)? )?not match\b|\bcall result does not follow (?:the )?tool call\b"
        r"|\bdue to tool use concurrency issues\b|\btool_result ids? mismatch\b"
        r"|\bmismatch between (?:the )?(?:number of )?(?:tool|function) calls?\b.{0,20}? and (?:\w{1,20} )?"
        r"(?:responses|results|outputs)\b"
        r"|\bnumber of (?:tool|function)[ _]calls?\b.{0,20}? and (?:\w{1,20}[ _]){0,2}(?:outputs|results|responses) "
        r"(?:must|should|do(?:es)? not) (?:match|be equal)"
        r"|\btoo (?:many|few) (?:tool|function) (?:calls|responses|results) and too (?:many|few)\b",
        Stage.REQUEST,
        Cause.REQUEST,
        "Calls and results of the history do not pair up",
        "Each call of an assistant message must be followed right away by its result, and each result must follow its "
        "call; here one is missing, or another message lies in between.",
        "Look at the turns with calls: a call that was stopped, or a history that was cut or joined, leaves half of a "
        "pair. Send both or neither, results directly after the message that calls; or go back to before that turn.",
        look=Look.OPEN_CALLS,
    ),
    ErrorClass(
        "result-without-id",
        r"\b(?:tool|function)[ _]?(?:message|result|response)s?\b.{0,40}?(?:missing|without|lacks?|no|requires?"
        r"|must (?:have|include)) (?:a |an |the |its |required |valid ){0,3}[`'\"]?"
        r"(?:tool[_ -]?(?:call|use)[_ -]?id|call_id)\b"
        r"|\bmissing (?:required )?[`'\"]?tool[_ -]?call[_ -]?id\b",
        Stage.REQUEST,
        Cause.REQUEST,
        "A tool's result in the history does not say which call it answers",
        "A message with a tool's result has no `tool_call_id` (`tool_use_id`, `call_id`), the id of the call that it "
        "answers.",
        "Copy the id from the call in the assistant message before it. If that call has none, the server or the client "
        "lost it: make one up, and use it in both. `name` alone is enough only for Ollama and Gemini.",
        look=Look.ORPHAN_RESULTS,
    ),
    ErrorClass(
        "call-id-of-result-unknown",
        r"\btool_call_id\W{0,3}(?P<name>[\w-]{1,80})?\W{0,3} ?is not found\b"
        r"|\bno tool invocation found for (?:tool call|approval) id\W{1,3}(?P<id>[\w-]{1,80})"
        r"|\b(?:unable to|cannot|could not) find (?:the )?tool name for tool_use_id\W{1,3}(?P<used>[\w-]{1,80})"
        r"|\bno function call event found for function responses ids\b"
        r"|\bno tool call found to match (?:the )?tool (?:output|result)s? for id \W?(?P<matched>[\w-]{1,80})"
        r"|\bbut no corresponding (?:function_call|tool_call|tool_use)\b"
        r"|\btool_result blocks do not match any tool_use\b"
        r"|\btool_result requires a previous message containing tool_use"
        r"|\btool messages? cannot be the first message\b",
        Stage.REQUEST,
        Cause.REQUEST,
        "A result in the history has no call",
        "A tool's result names the call {name|that it answers}, and no message before it made that call.",
        "Send the message with the call right before its results; when history is cut, cut calls and results together. "
        "An empty id means that the client lost it: take it from the call.",
        look=Look.ORPHAN_RESULTS,
    ),
)
"""In this order: the first class whose words are found counts."""
