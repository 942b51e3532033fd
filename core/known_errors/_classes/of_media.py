"""Classes of errors about images, videos, audio and files of the request."""

from __future__ import annotations

from prompt_debugger.core.base.types import Stage
from prompt_debugger.core.known_errors._classes.base import ErrorClass
from prompt_debugger.core.known_errors.base import Cause, Look

CLASSES: tuple[ErrorClass, ...] = (
    ErrorClass(
        "media-format",
        r"\bunsupportedimageformat\b|\bunsupported (?:image|video|audio) (?:format|file type|mime ?type)"
        r"|\b(?:image|video|audio) (?:file )?(?:format|type)s? (?:\S{1,40} ){0,3}?(?:is|are) (?:not (?:supported"
        r"|allowed|accepted)|unsupported)",
        Stage.REQUEST,
        Cause.REQUEST,
        "An image or another file of the request has a format that the API does not read",
        "The API reads a few formats only, and what it was sent, or what it found at the address, is of none of them.",
        "Convert it to JPEG or PNG, and name its real type in `data:image/png;base64,…`. Of an address, check that it "
        "returns the image itself, not a page or a redirect, also to someone who is not signed in.",
    ),
    ErrorClass(
        "media-count",
        r"at most \d{1,4} (?:\w{1,20}\(?s?\)? )?(?:images?|videos?|audios?)|too many (?:images?|media|videos?)"
        r"|(?:images?|videos?|audios?)\b.{0,40}?(?:count|number).{0,30}?exceed|limit[_-]mm[_-]per[_-]prompt"
        r"|only supports one (?:image|video|audio)|multiple inputs of the same modality are not supported",
        Stage.REQUEST,
        Cause.SETTING,
        "The request contains more media than the server allows",
        "The server limits how many images, videos or audios one prompt may contain.",
        "Send fewer, counting those of earlier messages; or raise the server's limit (`--limit-mm-per-prompt` of "
        "vLLM).",
    ),
    ErrorClass(
        "media-placeholder",
        r"\bmm_items\[|prompt (?:replacements?|updates?).{0,120}?(?:image|video|audio|mm_|items?)"
        r"|(?:image|media|video|audio|multi-?modal)[ _](?:tokens?|markers?|placeholders?|features?)\b."
        r"{0,100}?(?:not match|mismatch|number of|missing|expected|differ)"
        r"|number of (?:images?|media|bitmaps|placeholders|videos?|audios?)\b.{0,80}?(?:match|tokens?|"
        r"bitmaps|placeholders)|(?:mismatch|mismatched).{0,60}?(?:image|video|audio) tokens?"
        r"|placeholders?.{0,60}?(?:images?|videos?|audios?)|tokens to \d{1,7} placeholders"
        r"|more .{1,80}? tokens found than (?:corresponding )?(?:data items|data provided|images?)"
        r"|found more .{1,60}? placeholders in (?:the )?(?:input )?prompt"
        r"|mismatch between the (?:images|videos|audios)\b.{0,60}?placeholders?",
        Stage.RENDER,
        Cause.TEMPLATE,
        "The placeholders in the prompt and its media do not match",
        "The server looks in the prompt for the tokens that stand for each image, video or audio, and their number is "
        "not that of the media.",
        "Send media as content parts to `/v1/chat/completions`, so that the template writes their placeholders, and "
        "write none into the texts; in a prompt that you write yourself, use those of exactly this model, one for "
        "each item. If they are, the template and the processor do not match: take both from the model's repository, "
        "and update the server.",
        look=Look.PLACEHOLDER_IN_TEXT,
    ),
    ErrorClass(
        "audio-wanted",
        r"\brequires that either input content or output modality contain audio\b",
        Stage.REQUEST,
        Cause.REQUEST,
        "The model answers only requests with audio",
        "This model is made for speech: the request has to contain audio, or to ask for it, and does neither.",
        'Ask for audio (`"modalities": ["text", "audio"]` with `audio`) or send a part of type `input_audio`; for text '
        "alone, name a model that is made for it.",
    ),
    ErrorClass(
        "media-not-taken",
        r"mmproj|vision (?:projector|encoder|adapter|tower).{0,60}?(?:not|missing|without|fail)"
        r"|does(?:n't| not) (?:support|take|accept|handle) (?:the |this )?(?:images?|vision|audio|video|multi-?modal"
        r"|file)\b"
        r"|(?:is )?not (?:a )?(?:multi-?modal|vision)(?: model)?\b"
        r"|(?<![a-z])(?:images?|image[_ ](?:url|input)s?|vision|audio|video|multi-?modal)\b[^.]{0,40}?(?:not "
        r"(?:supported|enabled|allowed|available)|unsupported|disabled)"
        r"|\bunsupported (?:\w+ )?modality\b"
        r"|no endpoints found that support image|missing image config|unknown variant .{0,3}image_url"
        r"|support(?:s|ed)? (?:only )?text only|only (?:supports? )?text"
        r"|does(?:n't| not) support documents\b|\bfile inputs are not (?:currently )?supported"
        r"|\bimage_url is only supported by"
        r"|requested output modalities|file part media type [\w/.+-]{1,60}' functionality not supported"
        r"|no llava model loaded"
        r"|content\.type 参数非法，取值范围 \['text'\]",
        Stage.REQUEST,
        Cause.SETTING,
        "This model or server does not accept such media",
        "The request contains an image, video, audio or file of a kind that the served model does not accept.",
        "Send text only, or serve a vision model as one: llama.cpp and its relatives need the projector of the "
        "same model (`--mmproj FILE`); elsewhere choose a multimodal model and endpoint.",
    ),
    ErrorClass(
        "media-unreadable",
        r"cannot identify image|\bunsupported mime ?type\b|\bunable to process input image"
        r"|\bprovided image is not valid"
        r"|\bmedia_type: input should be 'image/|\bimage length and width do not meet|\bmax bytes per data-uri item"
        r"|\bimage format is illegal|\bdoes not contain a valid (?:jpe?g|png)|\bmedia resource timed out"
        r"|\burls? are not (?:currently )?supported, please use base64|\bimage was specified using the image/"
        r"|\b(?:url|image)\b.{0,40}?must be (?:a )?base64[ -]encoded|\bprovide image as base64"
        r"|\binvalid url format: data:"
        r"|\binvalid url value\b|图片输入格式"
        r"|(?:failed|unable|could not|cannot) (?:to )?(?:load|decode|fetch|download|process|read|open|"
        r"parse) (?:the )?(?:image|audio|video|media|data ?ur[il])"
        r"|invalid ['\"`]?(?:image|base64|data ?ur[il]|image[_ ]?url)|only base64 data urls are supported|(?:invalid"
        r"|corrupt\w{0,3}) (?:or corrupt\w{0,3} )?(?:audio|video) data|\bno (?:audio|video) (?:stream )?found\b"
        r"|unsupported image"
        r"|image.{0,40}?(?:exceeds|too (?:large|small|big)|could not be|dimensions)|incorrect padding"
        r"|illegal base64",
        Stage.REQUEST,
        Cause.REQUEST,
        "The server could not read an image or another file of the request",
        "The media of a message could not be fetched or decoded.",
        "Send it as `data:image/png;base64,…` with its real type and without line breaks, within the "
        "size limit; a URL must be reachable from the server.",
    ),
)
"""In this order: the first class whose words are found counts."""
