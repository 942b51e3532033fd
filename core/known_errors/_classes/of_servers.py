"""Classes of errors about what serves: access, quota, loading, the model's name, the address, connections."""

from __future__ import annotations

from prompt_debugger.core.base.types import Stage
from prompt_debugger.core.known_errors._account import ACCESS, QUOTA, RATE, STATUS
from prompt_debugger.core.known_errors._classes.base import LOG, ErrorClass
from prompt_debugger.core.known_errors.base import Cause

_REACH = (
    "Check that the server runs and that address and port are right, from the machine or container that sends; in a "
    "container `localhost` is the container itself."
)

CLASSES: tuple[ErrorClass, ...] = (
    ErrorClass(
        "grammar-failed",
        r"grammar\b.{0,30}?(?:rejected|stack|failed|error|could not|invalid|compil\w{0,6} (?:failed|error"
        r"|timed))"
        r"|failed to (?:advance|initialize|compile|parse|accept|create|build)\b.{0,40}?(?:fsm|grammar|"
        r"samplers?|matcher|regex|guide)"
        r"|(?:xgrammar|outlines|llguidance|lm-format-enforcer"
        r"|(?<!with_)(?<!build_)structured[_ ]output)\b.{0,120}?(?:error"
        r"|failed|unsupported|not support|requires|but got|cannot|rejected)",
        Stage.COMPLETE,
        Cause.SERVER,
        "The server's grammar for structured output failed",
        "The server builds a grammar from the schema or the tools and checks every token against it; here it could "
        "not be built, or the output did not match. Usual causes are a schema that the grammar library does not "
        "support, a thinking block that the prompt opens, and speculative decoding.",
        "Send the request once without `response_format` and `strict` to be sure, then with thinking off; update the "
        "server, simplify the schema, or choose another backend for structured output (vLLM "
        "`--structured-outputs-config.backend`, SGLang `--grammar-backend`).",
    ),
    ErrorClass(
        "content-policy",
        r"content[ _](?:policy|filter|management)|safety (?:filter|system|setting|reason|policy)"
        r"|flagged (?:as (?!having)|by|for)|data_inspection_failed|inappropriate content|prohibited[_ ]content"
        r"|blocked by .{0,40}?(?:policy|safety|moderation|filter|guardrail)|responsible ai"
        r"|usage polic|violat\w{0,3} (?:the |our )?usage guidelines"
        r"|violated guardrail|\bguardrail (?:checks?|rules?|polic\w{1,3})\b.{0,60}?(?:failed|violated|blocked)"
        r"|moderation (?:blocked|failed|flag)|sensitive (?:content|words)|risk control",
        Stage.COMPLETE,
        Cause.POLICY,
        "The provider's content filter stopped it",
        "A filter of the provider, not the model, refused the prompt or held the answer back.",
        "Change the text that triggers it, or the filter's setting; the body of the answer often names the category. "
        "Retrieved documents and tool results count as prompt, too.",
    ),
    ErrorClass(
        "context-length",
        r"(?:context|sequence)[ _](?:length|window|size|limit)|`inputs` (?:tokens|must have less)"
        r"|maximum (?:context|model|sequence|input|prompt) (?:length|tokens?)"
        r"|(?:input|prompt|request|messages?|conversation|history)\b.{0,60}?(?:too (?:long|large|big|many"
        r" tokens)|exceeds? .{0,40}?(?:tokens?|length|limit|maximum|max))"
        r"|too many (?:input |total |prompt )?tokens"
        r"|exceed\w{0,3} .{0,40}?(?:token limit|max(?:imum)? (?:number of )?tokens|context|max_model_len"
        r"|n_ctx)|max_model_len|reduce the length of|token limit exceeded"
        r"|longer than the (?:model|maximum|context)|range of input length|n_ctx|prompt is too long"
        r"|tokens? in request .{0,20}?exceed"
        r"|(?:length|number) of (?:the )?(?:prompt|input|messages?)\w{0,12}\b.{0,60}?"
        r"(?:must be|exceed|less|larger|greater)"
        r"|(?:prompt|input|context|tokens?)\b[^.]{0,60}?\d{3,}[^.]{0,60}?(?:exceed|larger than|greater than|more than"
        r"|less than|longer than|max(?:imum)?\b)[^.]{0,80}?\d{3,}|max_(?:seq|sequence|context)_?len",
        Stage.REQUEST,
        Cause.CONTEXT,
        "The request does not fit the server's context",
        "The prompt, or the prompt plus the space requested for the answer, has more tokens than the model or "
        "server allows.",
        "Shorten the messages or the tools, or lower `max_tokens` if prompt and answer together are too long; or start "
        "the server with a longer context (`--max-model-len` of vLLM, `-c` of llama.cpp, `num_ctx` of Ollama).",
        unless=r"\binput truncated\b"
        r"|allowed number of output tokens|nesting depth|cannot be broadcast|rate.?limit|per (?:minute|hour|day"
        r"|min)\b|kv cache|(?:string|array) too long"
        r"|got an? (?:string|array) with length|\bmax output: |\breserved output\b|\bset this value to\b",
    ),
    ErrorClass(
        "rate-limit",
        RATE.pattern,
        Stage.COMPLETE,
        Cause.RATE,
        "The request exceeds the rate limit of the account",
        "The provider limits requests and tokens per period of time; a long prompt counts with all its tokens.",
        "Wait as long as the answer says (`retry-after`), send fewer at a time, or raise the limit of the account; "
        "free models share one limit among all users.",
        unless=r"\b(?:consider|test|implement|add|use|configure|enable|support|like|include) rate[- ]limit(?:s|ing)\b"
        r"|\brate[- ]limiting (?:and|or|rules?|plugins?|config\w{0,9}|polic\w{1,3})\b|\brate limits or\b"
        r"|\brate_limit\w{0,20}[`'\"]?, .{1,80}\betc\b",
    ),
    ErrorClass(
        "quota",
        QUOTA.pattern,
        Stage.COMPLETE,
        Cause.QUOTA,
        "The plan or billing of the account does not allow the request",
        "The account's quota with the provider, paid or free, is used up.",
        "Check plan, credit and spending limits of the account and project that the key belongs to; a rate limit "
        "resets by itself, credit does not.",
    ),
    ErrorClass(
        "overloaded",
        r"overloaded|at capacity|(?:over|lack of|insufficient) capacity"
        r"|server (?:is )?(?:busy|too busy)|high demand|temporarily (?:unavailable|rate-limited|out)"
        r"|no (?:available|healthy) (?:workers?|upstream|instances?|endpoints?|providers?|channels?|deployments"
        r"?|servers?|slots?)|no slots? (?:is |are )?available|\bbackpressure\b"
        r"|queue (?:is )?full|service ?unavailable|degraded function cannot be invoked|请求过多，请稍后重试"
        r"|engine is currently overloaded"
        r"|try again later",
        Stage.COMPLETE,
        Cause.BUSY,
        "The server has no capacity for the request at the moment",
        "No server at that address could take the request, or none had capacity; the request itself may be right.",
        "Try again later, or with another provider or model; with a gateway, check which of its servers it considers "
        "healthy.",
        unless=r"mimetype",
    ),
    ErrorClass(
        "key",
        ACCESS.pattern,
        Stage.COMPLETE,
        Cause.ACCESS,
        "The server did not accept the API key",
        "The server requires a key and got none, a wrong one, or one of another service or region.",
        "Check which key the program actually sends, and to which address: an environment variable of another "
        "account, a trailing space, a key of another region or plan. A local server accepts any key, but many "
        "clients require one.",
    ),
    ErrorClass(
        "model-of-account",
        r"model\b.{0,60}?not (?:supported|available|allowed|permitted|enabled) (?:when|for|with|in|to|"
        r"on)\b.{0,60}?(?:account|plan|subscription|region|key|project|organization|user|tier)"
        r"|(?:(?:does not|do not|don't|doesn't) have|has no|have no|no) access to (?:the |this )?(?:model|it)"
        r"|access to .{1,200}? is restricted|not in the authorized list|gated (?:model|repo)"
        r"|not allowed for (?:the |your |this )?(?:organi[sz]ation|account|user|key|team|project|plan)"
        r"|access (?:to (?:the |this )?model )?(?:is )?denied"
        r"|not (?:authorized|entitled|allowed) to (?:access|use|perform|invoke)|permission(?:s)? (?:denied|error)"
        r"|permission_?denied|(?:insufficient|missing|lacks?) permissions?|lacks? the required (?:data )?actions?"
        r"|\bforbidden\b"
        r"|(?:country|region|territory|location)\b.{0,40}?not (?:supported|available|allowed)"
        rf"|{STATUS}403\b|requires? (?:a )?(?:paid|pro|plus|premium|subscription|verified)\b"
        r"|(?:unsupported|not supported in your|not available in your) (?:country|region|location)",
        Stage.COMPLETE,
        Cause.ACCESS,
        "The account may not use this",
        "The key is known, but this model, feature or region is not open to it.",
        "Choose a model that this account lists (`/v1/models`), or have the access granted: plan, organization, "
        "region, or the model's terms.",
        # of the system's files
        unless=r"not found the model|subscription key|failed to download|\b13: permission|errno 13|\beacces\b"
        r"|\block file\b|\b(?:keys?|fields?|extra|inputs?|values?)\W{0,3}(?:are |is )?forbidden\b"
        r"|(?:\A|[\s'\"(])\.{0,2}/(?!v\d|api/)[\w./-]{1,200}['\")]?: permission denied",
    ),
    ErrorClass(
        "memory",
        r"out of memory|outofmemory|\boom\b|not enough memory|insufficient memory"
        r"|requires more (?:system |gpu )?memory|failed to allocate|unable to allocate"
        r"|no available memory for the cache"
        r"|kv cache\b.{0,60}?(?:full|insufficient|larger|not enough|needed)"
        r"|larger than the available kv cache|cuda error: out"
        r"|memory (?:allocation|limit) (?:failed|exceeded)|\binsufficient system resources\b"
        r"|\bexceeds (?:the )?available memory\b",
        Stage.COMPLETE,
        Cause.SERVER,
        "The server has too little memory",
        "Weights, the cache for the context and the batch did not fit into the available memory.",
        "Serve with a shorter context (`--max-model-len`, `-c`, `num_ctx`), fewer requests at once, a smaller "
        "quantization or fewer layers on the GPU; see what else uses memory there.",
    ),
    ErrorClass(
        "none-loaded",
        r"\A\W{0,3}no (?:chat )?model (?:is )?(?:currently )?loaded\b",
        Stage.COMPLETE,
        Cause.SETTING,
        "No model is loaded in the server",
        "The server runs, and has no model in memory.",
        "Load a model in the server, or let it load models when they are asked for; then send the request again.",
    ),
    ErrorClass(
        "not-loaded",
        r"(?:failed|unable|error|cannot|can't|could not) (?:to )?(?:load|loading|open|initialize)(?:ing)? "
        r"(?:the )?(?:model|gguf|weights|tokenizer|checkpoint|processor for|vocabulary|configuration of)"
        r"|\bno safetensors found\b|found \d{1,4} files matching the pattern\b.{0,200}? tokenizer is present|unknown "
        r"model architecture"
        r"|(?:does not|doesn't) recognize this architecture|unsupported (?:model )?architecture"
        r"|architectures? .{0,80}?not supported"
        r"|model type\b.{0,80}?(?:not (?:supported|recogni[sz]ed)|but transformers)"
        r"|invalid (?:gguf|magic)|missing tensor|wrong number of tensors|llama runner process.{0,60}?(?:load|tensor)"
        r"|model loader\b.{0,40}?(?:stopped|terminated|failed|crashed)|repo(?:sitory)? id"
        r"|is not a valid model identifier|\ball backends returned error\b|with internal loader: backend not found",
        Stage.COMPLETE,
        Cause.SERVER,
        "The server could not load the model",
        "The model's files are missing, damaged, or of a kind that this release of the server does not know.",
        "Update the server (a model is often newer than it), and check path and files: complete, of the format and "
        "quantization that this server reads. Its log names the file or tensor.",
    ),
    ErrorClass(
        "runner-died",
        r"(?:model|llama|mlx) ?runner\b.{0,40}?(?:stopped|terminated|crashed|exited|died)"
        r"|model has crashed|model process (?:crashed|exited|died)"
        r"|llama[-_ ]?server\b.{0,30}?(?:crashed|exited|died|terminated)"
        r"|\bbackend process exited\b|rpc error: code = unavailable desc = error reading from server",
        Stage.COMPLETE,
        Cause.SERVER,
        "The process that runs the model ended",
        "The server started another process for this model, and that process crashed, was ended by the system, or gave "
        "up: while it loaded the model, or in the middle of an answer.",
        "Look at the server's log above that line: it names a signal, a lack of memory or an assertion. Then try a "
        "shorter context (`num_ctx`, `-c`), fewer layers on the GPU or a smaller model, and the newest release, or the "
        "one that worked before.",
    ),
    ErrorClass(
        "loading",
        r"model is (?:still |currently )?(?:loading|starting|being loaded|warming)|loading model\b"
        r"|still (?:loading|starting)|not ready|server is starting|warming up",
        Stage.COMPLETE,
        Cause.LOADING,
        "The server is still loading the model",
        "The server runs, but the model is not ready.",
        "Wait until its health endpoint or its log says that it is ready, then send again.",
    ),
    ErrorClass(
        "model-unfit",
        r"(?:operation|endpoint|task|request)\b.{0,40}?(?:does not work|not (?:supported|compatible|available"
        r")) (?:with|by|for) (?:the |this )?(?:specified |selected )?model"
        r"|is not (?:a )?(?:chat|text[ -]generation|generative|completion)s? model"
        r"|does(?:n't| not) support (?:the )?(?:chat completions?|chat|completions?|embeddings?|generat"
        r"\w{1,4}|responses)\b(?: api)?|only supported in v1/|choose (?:a )?different model"
        r"|(?:please )?use (?:the )?(?:/?v1/)[\w/]{3,30} (?:endpoint|instead)|not supported in the v1/",
        Stage.REQUEST,
        Cause.REQUEST,
        "The model is not made for this endpoint",
        "The name is known, but that model does something else: embeddings, plain completions, or only the newer API.",
        "Name a chat model, or call the endpoint that this model is made for (`/v1/embeddings`, `/v1/completions`, "
        "`/v1/responses`).",
        unless=r"`[a-z]\w{1,40}(?:\.\w{1,40}){1,6}` is not supported for this model\b"
        r"|\b[a-z]{2,30}(?:_[a-z]{1,30}){1,4} is not supported (?:by|for|with) (?:this|the) model\b",
    ),
    ErrorClass(
        "model-name",
        r"(?:no such|unknown|invalid|unsupported|not a valid|nonexistent|non-existent) model\b"
        r"|model_not_found|not found the model|\bsupported (?:API )?model names? (?:are|is)\b"
        r"|model\b(?! (?:returned|responded|replied|answered))"
        r"(?:[^.\]\n]|\.(?!\s)){0,120}?(?:does not exist|doesn't exist|not (?:be )?(?:found|exist|deployed"
        r"|served|registered|recogni[sz]ed|installed|loaded|available)|is not (?:supported|available|valid)"
        r"|\bunknown\b(?! (?:error|reason|exception|failure|issue|field|param|argument|key|option|propert|variant|type"
        r"|tool|function|role|finish)))|allowed now, your model"
        r"|with requested name is not found"
        r"|deployment\b.{0,60}?(?:not exist|not found|does not)"
        r"|(?:try pulling|pull) (?:it|the model)|pinned to .{1,200}requested"
        r"|no (?:allowed providers|provider|channel|endpoints?)\b.{0,60}?(?:for|found for) (?:the )?"
        r"(?:selected )?model|模型.{0,20}不存在",
        Stage.REQUEST,
        Cause.MODEL_NAME,
        "The server does not serve the model that the request names",
        "Names are compared letter for letter, often with the publisher before a `/` or a tag after a `:`.",
        "Set `model` to one that the server serves (`/v1/models` lists them).",
        unless=r"does not support|support tools|could not load model|with internal loader|model version v\d"
        r"|for function calling",
    ),
    ErrorClass(
        "other-path-wanted",
        r"(?<![\w/])(?P<path>/(?:v\d{1,2}/)?(?:chat/completions|completions|responses|messages)) is (?:not|no longer) "
        r"(?:supported|available|served|enabled)\b.{0,40}?\buse (?:the )?[`'\"]?(?P<name>/(?:v\d{1,2}/)?[a-z]\w{1,30}"
        r"(?:/\w{1,30})?)",
        Stage.COMPLETE,
        Cause.ADDRESS,
        "The server does not serve the API that the request was sent to",
        "It accepts requests of another API, which its message names: {name|another path}.",
        "Set the client to the API of {name|that path}; the bodies of the two differ, so the path alone does not "
        "help. If the client has no such setting, put a gateway in between that converts.",
    ),
    ErrorClass(
        "nothing-at-path-of-api",
        r"\b404\b.{0,80}?\burl\W{1,3}https?://[^\s/]{1,200}/(?:(?!v\d)[\w.-]{1,40}/){0,4}"
        r"(?:v1/(?:chat/completions|completions|responses|messages|embeddings)|api/(?:chat|generate|show|embed))"
        r"(?![\w/])",
        Stage.COMPLETE,
        Cause.UNCLEAR,
        "The server answered that it has no such thing (404)",
        "The path is one that servers of this kind have. They answer 404 there, too, for a model that they do not "
        "have, and the body of the answer, which would name it, is not shown.",
        "Send the request by hand (`curl -i`) and read the body. If it names the model, set `model` to one that the "
        "server lists (`/v1/models`, `ollama list`) or pull it; otherwise check host, port and what precedes the path, "
        "or update the server, as an older one may lack the path.",
        has_reason=False,
    ),
    ErrorClass(
        "address",
        r"404 page not found|\A\W{0,3}(?:404\W{1,3})?(?:resource )?not found\W{0,3}\Z|\b(?:404"
        r"|405)\b.{0,80}?\burl\W{1,3}https?://"
        r"|\bnot found: ?/|no (?:route|static resource|handler)"
        r"|cannot (?:post|get|put) /|method not allowed|invalid (?:url(?! (?:value|format: data"
        r"|provided\. it must be a base64))|endpoint)"
        r"|unknown (?:url|endpoint|path|request url)|unexpected endpoint|unexpected token '?<'?"
        r"|<!doctype|<html|not found.{0,20}?/(?:v1|api|chat)|unsupported protocol|url is missing",
        Stage.COMPLETE,
        Cause.ADDRESS,
        "The request was sent to a wrong address",
        "Something answered there that is not the API: another path, another program, or a proxy's page.",
        "Check the address up to and including `/v1` (or `/api` of Ollama, without `/v1` twice; at Azure, the "
        "deployment's name in it and `api-version`); call `ADDRESS/models` by hand to see what answers.",
        # the value of a field, as a validator names it; the text of a model's answer, as a decoder quotes it
        unless=r"`[\w.\[\]-]{1,120}\w`: invalid url"
        r"|unexpected token '<', \W{1,8}(?:tool|think|function|invoke|minimax|dsml)",
    ),
    ErrorClass(
        "tls",
        r"certificate|wrong version number|wrong_version_number|self[- ]signed"
        r"|ssl:? (?:error|handshake|certificate)|sslerror|tls (?:handshake|alert|error)"
        r"|unable to (?:get|verify) .{0,20}?(?:issuer|leaf)",
        Stage.COMPLETE,
        Cause.CONNECTION,
        "The encrypted connection could not be established",
        "Client and server did not agree on TLS: a certificate that the client does not trust, or `https` to a "
        "port that speaks `http`.",
        "Use `http://` for a local server without TLS; otherwise install the authority's certificate where the client "
        "looks for it (`SSL_CERT_FILE`, `REQUESTS_CA_BUNDLE`, `NODE_EXTRA_CA_CERTS`).",
        is_distinctive=False,
    ),
    ErrorClass(
        "not-json",
        r"\bmimetype\b|attempt to decode json"
        r"|content[- ]type\b.{0,60}?(?:text/html|text/plain|text/event-stream|unexpected|expected)",
        Stage.COMPLETE,
        Cause.OUTPUT,
        "The answer is not JSON",
        "The body is empty or of another kind: the page of a proxy in between or of another program on that port, or a "
        "stream where one answer was expected.",
        "Call the address by hand (`curl -i URL`) from where the client runs, and look at status and body. Proxies are "
        "taken from `HTTP_PROXY` also for `localhost`: set `NO_PROXY=localhost,127.0.0.1`.",
    ),
    ErrorClass(
        "reply-not-json",
        r"expecting value: line \d|extra data: line \d|expecting property name|unterminated string starting"
        r"|invalid control character at: line \d",
        Stage.COMPLETE,
        Cause.OUTPUT,
        "The body of the answer is not one JSON value",
        "The client decoded the body that came over HTTP, not what the model wrote: it is empty, or the plain words of "
        "a server that failed, a page of another program, or a stream where one answer was expected.",
        "Print status and body before they are decoded (`response.status_code`, `response.text`), or call the address "
        "with `curl -i`. A status of 500 or more means that the server failed: its log says why. For a stream, read it "
        "line by line, or send `stream: false` (Ollama's own API streams by default).",
        around=r"(?:\brequests[/\\]models|\bhttpx[/\\]_models|\baiohttp[/\\]client_reqrep)\.py\", "
        r"line \d{1,6}, in json\b"
        r"|\brequests\.exceptions\.jsondecodeerror",
    ),
    ErrorClass(
        "broken-off",
        r"payload is not completed|transferencodingerror|not enough data to satisfy"
        r"|incomplete(?: chunked)? ?read|incompleteread|peer closed|premature(?:ly)? (?:close|end)"
        r"|connection (?:was )?(?:reset|closed|aborted|lost|dropped|broken|terminated|interrupted)"
        r"|econnreset|epipe|broken pipe|socket hang up"
        r"|stream (?:was |is )?(?:ended|closed|disconnected|terminated|interrupted)"
        r"|disconnected before completion|unexpected eof|server disconnected|remote end closed"
        r"|remoteprotocolerror|(?:\A\W{0,3}|: )terminated$",
        Stage.COMPLETE,
        Cause.CONNECTION,
        "The answer broke off",
        "The connection was closed in the middle of the answer: usually the server failed or ended at that moment, "
        "otherwise a timeout of a proxy or client.",
        LOG + " If it shows none, look for timeouts in between.",
        is_distinctive=False,
    ),
    ErrorClass(
        "unreachable",
        r"connection (?:attempts? )?(?:refused|failed|error)|econnrefused|cannot connect"
        r"|could(?: not|n't) (?:connect|reach|be reached)|failed to (?:connect|fetch|establish)"
        r"|unable to (?:connect|reach)|no route to host|network is unreachable|connect call failed"
        r"|connecterror|connectionerror|apiconnectionerror|fetch failed|\benotfound\b|getaddrinfo"
        r"|name resolution|name or service|host (?:not found|unreachable)"
        r"|is (?:it|ollama|the server) running|err_connection|\berror sending request for url\b",
        Stage.COMPLETE,
        Cause.CONNECTION,
        "The server was not reached",
        "No connection was made: nothing listens there, the name is unknown, or something in between blocks it.",
        _REACH,
        is_distinctive=False,
    ),
    ErrorClass(
        "behind-proxy",
        rf"\bbad gateway\b|{STATUS}502\b",
        Stage.COMPLETE,
        Cause.SERVER,
        "A proxy got no valid answer from the server that it forwards to",
        "A proxy or gateway passed the request on, and that server was down, still loading, ended in the middle, "
        "or is not at that address.",
        "Check that the server runs and has loaded its model, and that the proxy forwards to its address and port; "
        "its log shows whether the request arrived.",
        is_distinctive=False,
    ),
    ErrorClass(
        "database-timeout",
        r"queuepool limit of size \d|timed out.{0,60}?\bport (?:5432|3306|6379|27017)\b",
        Stage.COMPLETE,
        Cause.SERVER,
        "A program between client and model got no connection to its database in time",
        "The message comes from the database of a gateway or proxy, not from a model: its connection pool is used up, "
        "or the database does not answer.",
        "Look at the gateway: its database must be reachable, and its pool large enough for parallel requests. "
        "The request itself needs no change.",
        is_distinctive=False,
    ),
    ErrorClass(
        "timeout",
        rf"timed[ -]?out|\btime[ -]out\b|(?<![{{\[(,]['\"`])(?<!, ['\"`])\btimeout\b(?! ?=)"
        rf"|etimedout|deadline exceeded|{STATUS}(?:504|408|524)\b"
        r"|timeouterror|readtimeout|took too long",
        Stage.COMPLETE,
        Cause.CONNECTION,
        "No answer came within the time limit",
        "Client, gateway or server stopped waiting; the model may still have been working, or loading, or "
        "waiting for its turn.",
        "Raise that limit (each program in between has its own), stream the answer, or ask for less; the server's log "
        "shows what it did meanwhile.",
        is_distinctive=False,
    ),
)
"""In this order: the first class whose words are found counts."""
