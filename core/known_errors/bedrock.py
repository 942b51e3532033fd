"""What Amazon Bedrock says of a request to Converse or InvokeModel."""

from __future__ import annotations

from prompt_debugger.core.base.types import Stage
from prompt_debugger.core.known_errors.base import Cause, KnownError, Look

MAKER = "Amazon Bedrock"

_HUB = "https://github.com/"
_MIXED = (
    "Send the text in a message apart from that block, or leave it out: results alone in the turn after the calls, "
    "and no text beside a call for this model. Agents that add a sentence to each result need that switched off."
)
_PROFILE = (
    "Put the region's prefix before the name (`us.`, `eu.`, `apac.` or `global.`), or send the ARN of an inference "
    "profile; the profile must exist in the region that is asked."
)

SENTENCES: tuple[KnownError, ...] = (
    KnownError(
        "The model returned the following errors: Invalid parameter combination.",
        Stage.REQUEST,
        "Each field may be right, but this model does not accept some of them together; Bedrock does not say which.",
        "Take tools, system prompt and sampling fields out, one after the other, until it is answered; not every model "
        "of Bedrock takes tools together with the rest through Converse, so try one that is listed for tool use.",
        f"{_HUB}langchain-ai/langchain-aws/issues/566",
        example="The model returned the following errors: Invalid parameter combination. Please check and try again.",
    ),
    KnownError(
        "messages.{index:int}.content: Conversation blocks and tool use blocks cannot be provided in the same turn.",
        Stage.REQUEST,
        "This model takes no text beside a call: an assistant turn of the history has both.",
        _MIXED,
        f"{_HUB}quarkiverse/quarkus-langchain4j/issues/1983",
        example="messages.3.content: Conversation blocks and tool use blocks cannot be provided in the same turn.",
        field="messages[{index}].content",
    ),
    KnownError(
        "messages.{index:int}.content: Conversation blocks and tool result blocks cannot be provided in the same turn.",
        Stage.REQUEST,
        "This model takes no text beside a tool's result: a user turn has both, also where a client joined a result "
        "and the user message after it.",
        _MIXED,
        f"{_HUB}langchain-ai/langchain-aws/issues/141",
        example="messages.3.content: Conversation blocks and tool result blocks cannot be provided in the same turn.",
        field="messages[{index}].content",
    ),
    KnownError(
        "The content field at messages.{message:int}.content.{part:int}.toolResult cannot be empty when status value "
        "is error",
        Stage.REQUEST,
        "A result that says that its tool failed has no content.",
        "Send the tool's error message as the content, or the word *failed*; the message stays in the history, so each "
        "later request fails the same way until it is corrected.",
        f"{_HUB}aws-samples/sample-multi-agent-orchestration-chat-on-agentcore/issues/15",
        example="The content field at messages.4.content.0.toolResult cannot be empty when status value is error.",
        field="messages[{message}].content[{part}].toolResult",
    ),
    KnownError(
        "This model doesn't support tool use in streaming mode",
        Stage.REQUEST,
        "With tools, this model answers only at once, not as a stream.",
        "Send requests with tools without streaming (`Converse` in place of `ConverseStream`); clients have a switch "
        "for it, such as `disable_streaming`.",
        "https://docs.aws.amazon.com/bedrock/latest/userguide/conversation-inference-supported-models-features.html",
        field="stream",
    ),
    KnownError(
        "The text field in the ContentBlock object at messages.{message:int}.content.{part:int} is blank",
        Stage.REQUEST,
        "A part of a message has a text that is empty or only whitespace.",
        "Leave that part out; where a turn would then have none, leave the turn out, or write a word into it. Beside a "
        "call no text is needed.",
        f"{_HUB}earendil-works/pi/issues/4975",
        example="The text field in the ContentBlock object at messages.1.content.0 is blank. Add text to the text "
        "field, and try again.",
        field="messages[{message}].content[{part}].text",
        look=Look.EMPTY_TEXT,
    ),
    KnownError(
        "The content field in the Message object at messages.{message:int} is empty",
        Stage.REQUEST,
        "A message has no content at all.",
        "Leave that message out, or write a word into it; an answer that broke off must not go into the history empty.",
        f"{_HUB}earendil-works/pi/pull/3443",
        example="The content field in the Message object at messages.1 is empty. Add a ContentBlock object to the "
        "content field and try again.",
        field="messages[{message}].content",
    ),
    KnownError(
        "The format of the value at messages.{message:int}.content.{part:int}.toolUse.input in",
        Stage.REQUEST,
        "The arguments of a call in the history are a string, not an object: the model wrote broken JSON.",
        "Send `input` as an object; where the arguments of the model could not be read, send an empty one and say in "
        "the result what was wrong.",
        f"{_HUB}vercel/ai/pull/19023",
        example="The format of the value at messages.1.content.0.toolUse.input in the Json content is invalid.",
        field="messages[{message}].content[{part}].toolUse.input",
        look=Look.BROKEN_ARGUMENTS,
    ),
    KnownError(
        "The format of the value at messages.{message:int}.content.{part:int}.toolUse.input is invalid",
        Stage.REQUEST,
        "The arguments of a call in the history are a string, not an object: the model wrote broken JSON.",
        "Send `input` as an object; where the arguments of the model could not be read, send an empty one and say in "
        "the result what was wrong.",
        f"{_HUB}vercel/ai/pull/19023",
        example="The format of the value at messages.1.content.0.toolUse.input is invalid. Provide a json object for "
        "the field and try again.",
        field="messages[{message}].content[{part}].toolUse.input",
        look=Look.BROKEN_ARGUMENTS,
    ),
    KnownError(
        "The format of the value at messages.{message:int}.content.{part:int}.toolResult.content.{one:int}.json is "
        "invalid",
        Stage.REQUEST,
        "A result was sent as JSON, but as a list, a number, a text or null in place of an object.",
        "Send such a result as `text`, or put it into an object.",
        f"{_HUB}aws/aws-sdk-js-v3/issues/7330",
        example="The format of the value at messages.3.content.0.toolResult.content.0.json is invalid. Provide a json "
        "object for the field and try again.",
        field="messages[{message}].content[{part}].toolResult.content[{one}].json",
    ),
    KnownError(
        "Malformed input request: {path:word}: extraneous key [{key:word}] is not permitted",
        Stage.REQUEST,
        "The body has a key that this model's form does not have at the place that is named; `#` is the body itself.",
        "Leave the key out. In a tool's schema (`toolSpec/inputSchema`), put definitions where they are used; at the "
        "root it is often a field of another API that a gateway passes on.",
        f"{_HUB}zed-industries/zed/issues/31815",
        example="Malformed input request: #/toolConfig/tools/1/toolSpec/inputSchema/json: extraneous key [definitions] "
        "is not permitted, please reformat your input and try again.",
        field="{key}",
    ),
    KnownError(
        "Malformed input request: {path:word}: required key [{key:word}] not found",
        Stage.REQUEST,
        "The body lacks a key that this model's form has: it is written for another model or another API of Bedrock.",
        "Send the key, or ask through Converse, whose form is the same for all models.",
        f"{_HUB}sourcegraph/jetbrains/issues/1825",
        example="Malformed input request: #: required key [max_tokens] not found, please reformat your input and try "
        "again.",
        field="{key}",
    ),
    KnownError(
        "Invocation of model ID {model:word} with on-demand throughput isn't supported",
        Stage.REQUEST,
        "This model is served only through inference profiles, and the request names the model itself.",
        _PROFILE,
        f"{_HUB}cline/cline/issues/2482",
        example="Invocation of model ID anthropic.m-v1:0 with on-demand throughput isn't supported. Retry your request "
        "with the ID or ARN of an inference profile that contains this model.",
        field="model",
        cause=Cause.MODEL_NAME,
    ),
    KnownError(
        "The provided model doesn't support on-demand throughput",
        Stage.REQUEST,
        "This model is served only through inference profiles, and the request names the model itself.",
        _PROFILE,
        f"{_HUB}konveyor/kai/issues/411",
        field="model",
        cause=Cause.MODEL_NAME,
    ),
    KnownError(
        "The provided model identifier is invalid",
        Stage.REQUEST,
        "Bedrock has no model of that name in the region that is asked, or only an inference profile of it.",
        f"Look the name up in the list of that region. {_PROFILE}",
        f"{_HUB}GoogleCloudPlatform/kubectl-ai/issues/515",
        field="model",
        cause=Cause.MODEL_NAME,
    ),
    KnownError(
        "Model produced invalid sequence as part of ToolUse",
        Stage.PARSE,
        "The model began a call that Bedrock cannot read; what it wrote is not shown.",
        "Ask again with `temperature` 0 (for Nova also `topK` 1), simplify the schemas of the tools, or use a stronger "
        "model: for the same turn a small one often fails each time.",
        f"{_HUB}langchain-ai/langchain-aws/issues/567",
        example="Model produced invalid sequence as part of ToolUse. Please refer to the model tool use "
        "troubleshooting guide.",
    ),
    KnownError(
        "This model doesn't support the s3Uri field.",
        Stage.REQUEST,
        "The model takes images, documents and videos only as bytes, not by their address in S3 (`s3Location`).",
        "Send the file's content as `bytes`, or choose a model that reads from S3.",
        "https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_S3Location.html",
    ),
    KnownError(
        "Malformed input request: #/messages/{index:int}/content/{part:int}: extraneous key [{key:word}] is not "
        "permitted",
        Stage.REQUEST,
        "Bedrock converts the message to the model's own format, which has no such key, or does not accept its value.",
        "Look at that part of the request: this model does not accept it, or not with this content (such as a "
        "document within a tool result). Send it as a part of the user's message, or as text.",
        "https://docs.aws.amazon.com/bedrock/latest/userguide/conversation-inference-supported-models-features.html",
        example="The model returned the following errors: Malformed input request: #/messages/3/content/1: extraneous "
        "key [toolResult] is not permitted, please reformat your input and try again.",
        field="messages[{index}].content[{part}]",
    ),
    KnownError(
        "Model use case details have not been submitted for this account",
        Stage.COMPLETE,
        "Amazon asks each account once what it uses Anthropic's models for, and this one has not answered.",
        "Fill in the form in the console of Bedrock (model catalog), wait some minutes, and send again; the request "
        "needs no change.",
        "https://docs.aws.amazon.com/bedrock/latest/userguide/model-access.html",
        cause=Cause.SETTING,
    ),
)
