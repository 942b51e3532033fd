"""Classes of errors of engines about a request's settings: sampling, constraints, adapters, vocabulary, media."""

from __future__ import annotations

from prompt_debugger.core.base.types import Stage
from prompt_debugger.core.known_errors._classes.base import ErrorClass
from prompt_debugger.core.known_errors.base import Cause

_SAMPLING = (
    r"temperature|top_[pkna]|min_p|typical_p|epsilon_cutoff|repetition_penalty|frequency_penalty|presence_penalty"
    r"|(?:no_)?repeat_\w{4,20}|min_(?:new_)?tokens|n_predict|best_of|best_of_sequences|beam_width|seed"
    r"|(?:top_|prompt_)?logprobs|top_n_tokens|stop_token_ids|thinking_token_budget|length_penalty|xtc_\w{5,15}|n"
    r"|bad_words|allowed_token_ids|logit_bias|truncate"
)
_CONSTRAINT = (
    r"(?:json[_ ]?schemas?|schemas?|regex(?:es)?|regular expressions?|choices?|(?:\w{2,8} )?grammars?|ebnf|lark"
    r"|structural[_ ]tags?)"
)

FIRST: tuple[ErrorClass, ...] = (
    ErrorClass(
        "vocabulary-lacks-markers",
        r"could not (?:locate|find) (?:the )?.{0,80}?\btokens?\b.{0,40}? in (?:the )?(?:tokenizer|vocab)"
        r"|tokenizer (?:is missing|lacks|does(?:n't| not) have) (?:the )?(?:special|required|reserved) tokens?\b"
        r"|\bparser: tokenizer did not include\b|could not get (?:\w+ )?tokens from the tokenizer"
        r"|\btokens? '[^']{1,60}' could not be encoded by the tokenizer"
        r"|\b(?:parser|detector)\b.{0,60}?\btokens? (?:are |is )?(?:not (?:found )?in|missing from) (?:the )?"
        r"(?:tokenizer|vocab)",
        Stage.COMPLETE,
        Cause.SETTING,
        "The server's parser needs tokens that this model's vocabulary does not have",
        "The parser that the server was started with looks for the markers of another model family, or the tokenizer "
        "that was loaded lacks the markers that this model was trained with.",
        "Start the server with the parser of this model, or without one if it has none; for a converted or "
        "fine-tuned copy, use the tokenizer of the original model (`--tokenizer`). Requests need no change.",
    ),
    ErrorClass(
        "adapter-off",
        r"\blora(?:_request)?\b.{0,60}?\b(?:is not enabled|not enabled\b|is disabled|has no lora support)"
        r"|\bhas no lora support|\blora (?:support |functionality )?(?:is |has )?(?:not been |not |un)"
        r"(?:enabled|supported|configured)",
        Stage.COMPLETE,
        Cause.SETTING,
        "The request asks for a LoRA adapter, and the server was started without support for them",
        "Adapters have to be switched on when the server is started; a request alone cannot load one.",
        "Start the server with adapters (vLLM: `--enable-lora --lora-modules NAME=PATH`, SGLang: `--enable-lora "
        "--lora-paths NAME=PATH`), or name the base model in the request.",
    ),
    ErrorClass(
        "adapter-name-taken",
        r"\b(?:lora|adapter)\b.{0,80}?(?:already (?:been )?(?:loaded|exists)|conflicts with a served)",
        Stage.REQUEST,
        Cause.REQUEST,
        "An adapter was to be loaded under a name that is in use",
        "The server already serves a model or adapter of that name, and keeps it.",
        "Unload the old one first, load the new one under another name, or ask for it to be replaced (vLLM: "
        "`load_inplace`).",
    ),
    ErrorClass(
        "adapter-unfit",
        r"\blora rank \S{1,20} is greater than|\bmax_lora_rank\b|\blora_extra_vocab_size\b|number of (?:requested "
        r")?loras? "
        r".{0,20}is greater than|unique loras requested but max|\bloading lora\b.{1,120}? failed\b|while loading "
        r"\S{1,200}, "
        r"expected target modules|(?:lora|adapter)\b.{0,120}?target[ _]modules?\b.{0,80}?not (?:included|supported"
        r"|recogni)"
        r"|does(?:n't| not) (?:currently )?support (?:\w+ )?(?:adapters|loras?)\b|\bno free (?:lora|adapter) slots\b",
        Stage.COMPLETE,
        Cause.SETTING,
        "The LoRA adapter does not fit what the server was started for",
        "Rank, number, vocabulary and modules of adapters are limited when the server starts, and this one is beyond "
        "that, or its files are incomplete.",
        "Start the server with limits that suit the adapter (vLLM: `--max-lora-rank`, `--max-loras`; SGLang: "
        "`--max-lora-rank`, `--max-loras-per-batch`, `--lora-target-modules`), or merge it into the model.",
    ),
    ErrorClass(
        "adapter-unknown",
        r"\b(?:lora|adapters?)\b(?:(?!already)[^.\n]){0,80}?(?:cannot be found|can not be found|(?:was |were |is |are "
        r")?"
        r"not (?:found|loaded|registered|available)\b|does not exist|never been loaded|could not be loaded)"
        r"|failed to (?:implicitly )?load lora adapter|invalid (?:lora )?adapter(?:_id| name)?\b",
        Stage.REQUEST,
        Cause.SETTING,
        "The server does not have the LoRA adapter that is asked for",
        "Adapters are addressed by the name under which they were loaded, in `model` or in a separate field; this "
        "name is not loaded, or its files could not be read.",
        "Compare the name with those of `/v1/models` (or those that the message lists), letter for letter. Load "
        "the adapter when the server starts, or through its endpoint for loading; its log says why loading "
        "failed, such as a rank above the limit or a module that the server does not adapt.",
        unless=r"network adapter|already (?:been )?(?:loaded|exists)",
    ),
    ErrorClass(
        "tokenizer-off",
        r"\bskip[_-]tokenizer[_-]init\b",
        Stage.COMPLETE,
        Cause.SETTING,
        "The server was started without a tokenizer",
        "With `--skip-tokenizer-init`, the server takes and returns token ids only: it can neither render messages nor "
        "look for stop strings, call parsers or make grammars.",
        "Start the server without `--skip-tokenizer-init`, or send token ids to the endpoint that takes them.",
    ),
    ErrorClass(
        "token-ids-unknown",
        r"out[- ]of[- ]vocab(?:ulary)?\b|token[_ ]?ids?\b.{0,60}?(?:outside|out of|greater than|larger than|exceeds?) "
        r"(?:the )?(?:valid |model'?s? )?vocab|(?:contains?|has|have|specified)\b.{0,60}?(?:greater than|larger than|"
        r"outside|beyond) (?:the )?vocab(?:ulary)?[_ ]?(?:size)?"
        r"|logit_bias\b.{0,40}?\bkeys? in \[|the model vocabulary size is \d",
        Stage.REQUEST,
        Cause.REQUEST,
        "The request contains token ids that the model's vocabulary does not have",
        "An id belongs to one tokenizer only, and {name|one of those sent} is beyond the vocabulary of the model that "
        "is served.",
        "Take the ids from the tokenizer of exactly this model (`stop_token_ids`, `logit_bias`, `allowed_token_ids`, a "
        "prompt of ids), or use the fields that take text: `stop` in place of `stop_token_ids`.",
    ),
    ErrorClass(
        "sampling-value",
        rf"(?<![\w.-])[`'\"]?(?P<name>{_SAMPLING})[`'\"]?(?: \([^)]{{1,40}}\)|=\S{{1,20}}| entries)? ?"
        r"(?:must|should|cannot|can not|has to|needs to|may not) (?:be|only|not be|contain|lie|have|tokenize)\b"
        r"(?! (?:a |an )?(?:valid )?(?:number|string|integer|int|float|array|list|object|bool\w*|null)\b(?! (?:in"
        r"|between|of at|from)\b))"
        r"(?! (?:set |specified |provided |present )?(?:when|if|together|to true|true)\b)(?! equal len)(?! (?:used|"
        r"combined|set|specified|enabled|provided) (?:with|together|and|along))"
        r"|\b(?P<keys>logit_bias) (?:contains )?(?:key|value)",
        Stage.REQUEST,
        Cause.REQUEST,
        "A sampling parameter has a value that the server does not accept",
        "{name|The parameter} is checked against limits, which differ between servers: 0 for greedy decoding, and -1 "
        "for *off*, are accepted by some only.",
        "Send {name|it} within the limits that the message names, or leave it out for the server's default. Agents "
        "and gateways send their own values: look at the body that really goes out.",
        unless=r"context length|max_model_len|--\w",
    ),
    ErrorClass(
        "not-with-feature",
        r"(?<![\w-])[`'\"]?(?P<name>[a-z][a-z0-9]*(?:_[a-z0-9]+)+|logprobs|echo|suffix|seed|streaming|beam search|"
        r"structured outputs?)[`'\"]?(?: (?:==|!=|>) ?\w{1,6})?(?:(?: and [`'\"]?\w{1,30}[`'\"]?)|[^.\n]{0,160}? "
        r"sampling parameters)? "
        r"(?:is|are) (?:currently )?(?:not|un)(?: yet| currently)? ?supported (?:with|for|under|when(?: using)?|in|in "
        r"combination with|together with|by) [`'\"]?"
        r"(?P<other>beam search|speculative decoding|streaming|pipeline parallelism|prompt[_ ]embeds|diffusion "
        r"(?:language )?models|multi-step|chunked prefill|data parallel|n > 1|disaggregat\w{1,6}|overlap|mtp|"
        r"stream(?:ing)? requests?|gpt-oss models|prompt_logprobs|structured outputs?|mixed \w{4,12})\b",
        Stage.REQUEST,
        Cause.REQUEST,
        "Two features that this server does not combine were asked for",
        "{name|One feature} does not work together with {other|the other one} on this server; each works alone.",
        "Leave {name|the one that the message names first} out. Where the other is a mode of the server (speculative "
        "decoding, parallelism, a diffusion model), only a server without it accepts the request.",
    ),
    ErrorClass(
        "constraint-empty",
        r"\b(?:structured_outputs?|guided)[._]?\w{0,20}\b.{0,30}?(?:cannot be an empty|must not be empty|is empty)"
        r"|choice .{1,60}? cannot be an empty list"
        r"|(?:must|need to) (?:use|specify|provide|set) (?:one|exactly one|at least one) (?:kind )?(?:of )?"
        r"(?:structured outputs?|guided decoding|constraint|grammar)\b.{0,40}?(?:but none|none (?:are|is|was))"
        r"|no valid (?:structured output|guided decoding) param\w{0,8}",
        Stage.REQUEST,
        Cause.REQUEST,
        "The request asks for structured output without saying of which form",
        "The constraint on the output is there, and empty: no schema, pattern, choice or grammar is in it.",
        "Send exactly one of schema, regex, choices or grammar with its content, or leave the constraint out. Older "
        "fields (`guided_json` and its relatives) are ignored by newer releases, which leaves nothing.",
    ),
    ErrorClass(
        "grammar-not-made",
        rf"(?:failed|unable|could not|cannot|error) (?:to |in )?(?:transform|convert|compil|translat|build|serializ|"
        rf"pars|creat)\w* (?:the |a |an )?(?:\w+ ){{0,2}}?{_CONSTRAINT} (?:in)?to (?:a |an )?(?:\w+ )?"
        r"(?:grammar|regex|fsm|dfa|ebnf|gbnf|tree|index)"
        r"|\binvalid (?:json |lark |ebnf |gbnf )?(?:grammar|structural[_ ]tag|regex) specification"
        r"|\binvalid \w{1,40} structural_tag specification"
        r"|(?:back-?references?|look-?arounds?(?: assertions?)?|look-?(?:ahead|b[e]hind)s?|unicode (?:word )?boundar\w+"
        r"|(?:word )?boundar(?:y|ies) assertions?)\b.{0,30}?(?:unsupported|not (?:currently |yet )?supported)"
        r"|(?:contains|uses|has|with) (?:\w+ ){0,3}?(?:features?|keywords?|constructs?) (?:that (?:is|are) )?"
        r"(?:not supported|unsupported) (?:by|for|in) (?:\w+ ){0,2}?(?:xgrammar|outlines|guidance|llguidance|lm-format"
        r"|structured|grammar|guided)"
        r"|\bregex (?:uses|contains|has) (?:an )?unsupported|\bdoes not have a anchored universal start state"
        r"|\b(?:regex|grammar|schema) (?:compilation|conversion) (?:timed out|took too long)"
        r"|\bstring schema contains both a pattern and|\berror serializing structured outputs? jsonschema"
        r"|\berror parsing regex\b|\bcannot compile regex from schema\b|\bunsupported (?:json ?schema )?(?:feature"
        r"|keyword)s?\b.{0,20}?(?:grammar|regex)",
        Stage.REQUEST,
        Cause.REQUEST,
        "The server cannot make a grammar from the constraint in the request",
        "Structured output is enforced by a grammar that is made from the schema, regex, choices or tool parameters; "
        "the library that makes it does not know something in this one, or cannot read it.",
        "Take out what the message names: in a regex, anchors, look-around, back references and `\\b`; in a schema, "
        "`pattern`, `format` and rare keywords, one after the other. Or choose another backend when the server starts "
        "(vLLM: `--structured-outputs-config.backend`, SGLang: `--grammar-backend`), and check the answer in the "
        "client.",
        unless=r"tokenizer|\bgrammar_?stack",
    ),
    ErrorClass(
        "grammar-text",
        r"(?:invalid rule format|mismatched quotes in .{1,60}?|alternative '\|') on line \d|referenced rules are not "
        r"defined"
        r"|\bregex parsing error at position \d|\bno '?root'? rule found|no valid rules found in (?:the )?grammar"
        r"|\bebnf (?:lexer|parser) error|\bthe root rule with name .{1,40} is not "
        r"found|\bgrammar\b.{0,30}? (?:parse|syntax) error at line|\bunknown (?:rule|terminal|nonterminal|name):? "
        r".{0,40}?"
        r"\bin (?:the )?(?:lark )?grammar",
        Stage.REQUEST,
        Cause.REQUEST,
        "The grammar in the request is not written as the server's library reads it",
        "A grammar was sent, and the library that compiles it stopped at the line or rule that the message names.",
        "Correct the grammar there: every rule must be defined, the first one called `root` (`start` in Lark), quotes "
        "closed, and the notation the one that the server's backend reads (GBNF for xgrammar, Lark for llguidance).",
    ),
    ErrorClass(
        "grammar-tokenizer",
        r"\btokenizers?\b.{0,60}?(?:is |are )?not supported (?:for|by) (?:the )?['\"`]?(?:xgrammar|guidance|llguidance"
        r"|outlines|lm-format-enforcer)|\bstructured output backend only supports .{0,60}?\btokenizers?\b"
        r"|\bno compatible structured[ _]outputs? backend\b",
        Stage.COMPLETE,
        Cause.SETTING,
        "The server's library for structured output does not work with this model's tokenizer",
        "Each library supports certain kinds of tokenizers; with this one it can make no grammar, whatever the schema "
        "is.",
        "Start the server with another backend (vLLM: `--structured-outputs-config.backend`, SGLang: "
        "`--grammar-backend`) or with the tokenizer in its Hugging Face form (`--tokenizer-mode hf`); or ask without "
        "`response_format` and check the answer in the client.",
    ),
    ErrorClass(
        "effort-value",
        r"\b(?:unexpected|unsupported|invalid|unknown) [`'\"]?(?:reasoning|thinking)[_ ]effort\b"
        r"|(?:does not|doesn't) support (?:setting )?[`'\"]?reasoning[_ ]effort(?:=| ['\"`]?\w)"
        r"|\b(?:reasoning|thinking)[_ ]effort\b(?: (?:error|of|level|values?)\b)?[^.\n]{0,40}?(?:\bmust be\b|\bshould "
        r"be\b"
        r"|is not supported by|supported (?:values|types|levels)|expected one of|is outside the)"
        r"|\bsupports (?:only )?(?:reasoning|thinking)[_ ]effort (?:values|levels)",
        Stage.REQUEST,
        Cause.REQUEST,
        "The request asks for a level of reasoning that this model does not have",
        "Each family has its own words for how much to think; the level was checked by the server, or by the model's "
        "template.",
        "Send one of the levels that the message names in `reasoning_effort` (or in `chat_template_kwargs`, where the "
        "template reads it there), or leave it out; clients that offer `minimal` or `none` need a map for such models.",
        unless=r"unsupported parameter|(?:this|the) model|unrecognized|extra inputs|unknown (?:parameter|field"
        r"|argument)"
        r"|must be (?:a |an )?(?:string|null)",
    ),
    ErrorClass(
        "stops-too-many",
        r"\bat most \d{1,4} stop (?:strings?|sequences?|words)\b|\bstop\W{0,2} (?:sequences? )?supports up to \d{1,4}"
        r"|(?:too many|maximum (?:number )?of|up to|more than \d{1,4}) stop (?:sequences?|strings?|words)\b",
        Stage.REQUEST,
        Cause.REQUEST,
        "The request has more stop strings than the server accepts",
        "The server limits how many entries `stop` may have.",
        "Send fewer in `stop`: the model's own end of turn needs none; cut the text in the client for the others.",
    ),
    ErrorClass(
        "part-type",
        r"(?:unsupported|unknown|unrecognized|unexpected|invalid) (?:chat )?(?:message )?(?:content |media "
        r"|multimodal )"
        r"?(?:part|block|chunk)s? ?type\b\W{0,4}(?P<name>\w{1,40})?"
        r"|(?:missing|invalid) ['\"`]?type['\"`]? field in (?:the )?(?:multi-?modal|content|message) part"
        r"|(?:unsupported|unknown) (?:content|message content) (?:type|part)\b\W{0,4}(?P<kind>\w{1,40})?"
        r"|\bcontent (?:blocks?|parts?) (?:are|is|were) expected to be (?:either )?(?:text|an?|of|one)\b",
        Stage.REQUEST,
        Cause.REQUEST,
        "A part of a message's content has a type that the server does not know",
        "`content` is a list of parts, each with a `type`; {name|one of them} is not among those that this server "
        "reads, or a part has none.",
        "Send parts of `type` `text` or `image_url` (or another one that the message lists), each with the field of "
        "the same name. Forms of other APIs (`input_text` of Responses, `image` with `source` of Anthropic) have to be "
        "converted; a text alone can be sent as a string.",
    ),
    ErrorClass(
        "media-address",
        r"cannot load local (?:files|media|images)\b|must be a subpath of .{0,3}--allowed-local|"
        r"\b(?:url|domain)s? must be from one of the allowed domains|(?:url|domain|host)\b.{0,80}?is not in (?:the )?"
        r"allowed (?:media )?domains?|allowed[_-](?:local[_-]media[_-]path|media[_-]domains)\b(?!.{0,20}?(?:path \S+ "
        r"does|: the path))",
        Stage.REQUEST,
        Cause.SETTING,
        "The server does not load media from that address",
        "For safety, the server reads files and addresses only where it was allowed to when it was started; files on "
        "its disk are off by default.",
        "Send the media as `data:` URL, or allow the folder or domain when the server starts (vLLM: "
        "`--allowed-local-media-path`, `--allowed-media-domains`).",
    ),
    ErrorClass(
        "media-too-large",
        r"\b(?:image|video|audio|file) exceeds (?:the (?:maximum|limit) of )?\d{1,5} ?[kmg]i?b\b"
        r"|\b(?:image|video|audio)\b.{0,60}?(?:dimensions|duration|pixels|frames|decode|bytes|size|allocate)\b.{0,80}?"
        r"exceed\w{0,3}\b.{0,60}?(?:max|limit|\d)|\b(?:image|video|audio|file) (?:is )?too (?:large|long|big)\b"
        r"|\b(?:image|video|audio) exceeds (?:the )?max|exceeds the (?:pre-allocated )?encoder cache size",
        Stage.REQUEST,
        Cause.REQUEST,
        "An image, video or audio of the request is larger than the server accepts",
        "The server limits pixels, duration, frames or bytes of what it decodes.",
        "Scale or cut it before sending; on your own server, raise the limit or the environment variable that the "
        "message names.",
        unless=r"\btokens?\b(?!.{0,80}?encoder cache)",
    ),
    ErrorClass(
        "response-not-kept",
        r"\bresponse (?:with )?id\b.{0,120}?not (?:be )?found|\bprevious[_ ]response(?:_id)?\b.{0,140}?not (?:be )?"
        r"found|\bunknown response_id\b",
        Stage.REQUEST,
        Cause.REQUEST,
        "The request continues an earlier response that the server does not have",
        "`previous_response_id` refers to what the server stored: storing is off there or was off for that response, "
        "the server was started again, another replica answers, or the id has expired.",
        "Send the whole conversation in `input` in place of `previous_response_id`; or switch storing on (`store: "
        "true`; vLLM: `VLLM_ENABLE_RESPONSES_API_STORE=1`) and let one server answer the whole conversation.",
    ),
    ErrorClass(
        "draft-model-unfit",
        r"\bdraft(?: model)?(?:'s)? (?:tokenizer|vocab\w*)\b.{0,60}?(?:does(?:n't| not) match|differs?|mismatch|not "
        r"equal)"
        r"|\b(?:main|target) and (?:assistant|draft) models? have different|\btarget and draft (?:models?|vocab)"
        r".{0,60}?(?:same|different|must|should)",
        Stage.COMPLETE,
        Cause.SETTING,
        "The draft model for speculative decoding does not belong to the model",
        "A draft model proposes token ids, so it must have the vocabulary of the model that checks them.",
        "Choose a draft model of the same family, with the same tokenizer, or start the server without speculative "
        "decoding. Requests need no change.",
    ),
    ErrorClass(
        "remote-code",
        r"\btrust_remote_code ?= ?true\b|--trust-remote-code\b.{0,60}?(?:to|if|when|required)|(?:set|pass|use) "
        r"[`'\"]?--trust-remote-code",
        Stage.COMPLETE,
        Cause.SETTING,
        "The model comes with code, which is not run unless it is allowed",
        "Its repository contains Python files that the model or its tokenizer needs, and loading stopped before them.",
        "Read that code, then allow it (`--trust-remote-code`, `trust_remote_code=True`); or update the server, since "
        "a newer release often has the model built in. Requests need no change.",
    ),
    ErrorClass(
        "client-left",
        r"\A\W{0,3}client (?:has )?disconnected\W{0,3}\Z|disconnected from the client side|request (?:was )?"
        r"(?:aborted|cancelled) by (?:the )?client",
        Stage.COMPLETE,
        Cause.CLIENT,
        "The client closed the connection before the answer was complete",
        "The server stopped because no one was listening any more: a time limit of the client or of a proxy in "
        "between, or someone pressed stop.",
        "Raise the time limit of the client (and of each proxy in between), or stream the answer so that it does not "
        "wait in silence; the request itself needs no change.",
    ),
)
"""In this order: the first class whose words are found counts."""

LAST: tuple[ErrorClass, ...] = (
    ErrorClass(
        "start-reported",
        r"\bengine core initialization failed\b|\binitialization failed\W{1,3}please see the error messages above",
        Stage.COMPLETE,
        Cause.UNCLEAR,
        "The server did not start, and this line does not say why",
        "One of the server's processes ended while it loaded; its last line only reports that.",
        "Look for the first traceback above, in lines of the process that ended (`EngineCore`, `Scheduler`): its last "
        "line has the reason. Paste it, too.",
        has_reason=False,
    ),
)
"""What only reports that something failed: tried last."""
