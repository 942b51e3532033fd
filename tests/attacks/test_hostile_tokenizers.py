"""Folders of tokenizers that are made to stop the program: patterns, growth, panics, a million tokens, endless files.

Someone names such a folder on their own machine; a public page takes none. Each becomes one error, and work that may
never finish is done where it can be ended.
"""

from __future__ import annotations

import base64
import json

import pytest

from prompt_debugger.core.base.errors import BackendError, RenderError
from prompt_debugger.core.complete.backends.certificates import Authorities, certificates_of
from prompt_debugger.core.render import load_template, load_tokenizer
from prompt_debugger.core.render.tokenizers.untrusted import is_costly, repeats_repetitions
from prompt_debugger.core.sandbox import close_sandboxes, sandbox_of
from prompt_debugger.core.tools.lab import packaged_model_dir
from tests.attacks.growth import grows_linearly

BYTE_LEVEL = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
VOCABULARY: dict[str, object] = {chr(code): code - 0x21 for code in range(0x21, 0x7F)}
MODEL: dict[str, object] = {
    "type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None, "end_of_word_suffix": None,
    "fuse_unk": False, "byte_fallback": False, "vocab": VOCABULARY, "merges": [],
}  # fmt: skip
DOCUMENT: dict[str, object] = {
    "version": "1.0", "truncation": None, "padding": None, "added_tokens": [], "normalizer": None,
    "pre_tokenizer": BYTE_LEVEL, "post_processor": None, "decoder": BYTE_LEVEL, "model": MODEL,
}  # fmt: skip


def split(regex):
    return {"type": "Split", "pattern": {"Regex": regex}, "behavior": "Isolated", "invert": False}


def replace_text(text, content):
    return {"type": "Replace", "pattern": {"String": text}, "content": content}


def folder_of(path, *, config=None, **parts):
    (path / "tokenizer.json").write_text(json.dumps({**DOCUMENT, **parts}))
    (path / "tokenizer_config.json").write_text(json.dumps(config or {}))
    return path


def tiktoken_folder(path, *, tokens=(), config=None, code='pat_str = "a+"\n'):
    every = [*(bytes([byte]) for byte in range(256)), *tokens]
    lines = (f"{base64.b64encode(token).decode()} {rank}\n" for rank, token in enumerate(every))
    (path / "tiktoken.model").write_text("".join(lines))
    (path / "tokenizer_config.json").write_text(json.dumps(config or {}))
    (path / "tokenization_own.py").write_text(code)
    return path


# --- work that never finishes --------------------------------------------------------


def test_a_pattern_that_never_finishes_is_tried_in_the_sandbox(tmp_path):
    tokenizer = load_tokenizer(folder_of(tmp_path, pre_tokenizer=split("^(a+)+$")))
    close_sandboxes()

    with pytest.raises(RenderError, match="fails at this text"):
        tokenizer.tokens_of_text("a" * 40 + "!")

    assert sandbox_of("tokens").pids != ()


def test_a_text_that_is_multiplied_is_made_in_the_sandbox(tmp_path):
    growing = {"type": "Sequence", "normalizers": [replace_text("a", "a" * 10)] * 3}
    tokenizer = load_tokenizer(folder_of(tmp_path, normalizer=growing))
    close_sandboxes()

    assert len(tokenizer.tokens_of_text("aa")) == 2_000
    assert sandbox_of("tokens").pids != ()


@pytest.mark.parametrize(
    "decoder",
    [
        {"type": "Replace", "pattern": {"Regex": "(x+)+y"}, "content": ""},
        {"type": "Sequence", "decoders": [replace_text("a", "a" * 10)] * 3},
    ],
)
def test_a_decoder_that_never_finishes_is_refused(tmp_path, decoder):
    with pytest.raises(RenderError, match=r"decoder of `tokenizer\.json` is not used"):
        load_tokenizer(folder_of(tmp_path, decoder=decoder))


@pytest.mark.parametrize(
    "pattern",
    [
        "(a+)+", "(?:a?){20}b", "(a|aa)*$", r"(a)\1", r"(?<x>a\g<x>*)", "((a)*b)+", r"(?:\(+)*", "(?i:(?:b*c){2,})",
    ],
)  # fmt: skip
def test_what_repeats_repetitions_is_known_by_its_form(pattern):
    assert repeats_repetitions(pattern)


@pytest.mark.parametrize(
    "pattern",
    [
        r"(?i:'s|'t)?[^\r\n\p{L}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
        r"[!-/:-~][A-Za-z]+|[^\p{L}()*+]?[\p{L}\p{M}]+",
        r"[\p{Lu}\p{M}&&[^\p{Han}]]*[\p{Ll}&&[^\p{Han}]]+(?i:'re|'ve)?",
        r"(?:ab){3}\(\)+[)*]+", "", "(", ")", "[", "\\", "a)*b",
    ],
)  # fmt: skip
def test_what_models_have_is_not_taken_for_it(pattern):
    assert not repeats_repetitions(pattern)


@pytest.mark.parametrize("flood", ["(", "(a+", "[", "[[", "\\", "(a)*", "(?:", ")", "a|"])
def test_looking_at_a_pattern_takes_time_in_proportion(flood):
    assert grows_linearly(lambda size: repeats_repetitions(flood * size), first=20_000)


def test_the_usual_tokenizer_is_used_in_place():
    document = json.loads((packaged_model_dir() / "tokenizer.json").read_text())

    assert not is_costly(document, "normalizer", "pre_tokenizer", "decoder")
    assert not is_costly({"normalizer": replace_text(" ", "\u2581")}, "normalizer")


# --- failures of the library ---------------------------------------------------------


@pytest.mark.parametrize(
    "parts",
    [
        {"normalizer": {"type": "Precompiled", "precompiled_charsmap": "BAAAAAAAAAA="}},
        {"pre_tokenizer": {"type": "FixedLength", "length": 0}},
        {"model": {**MODEL, "unk_token": "absent"}},
    ],
)
def test_what_the_library_panics_at_is_one_error(tmp_path, parts):
    tokenizer = load_tokenizer(folder_of(tmp_path, **parts))

    with pytest.raises(RenderError, match="The tokenizer fails at this text"):
        tokenizer.tokens_of_text("ab \u00e4")


def test_a_file_at_which_the_library_panics_is_one_error(tmp_path):
    broken = {"type": "Precompiled", "precompiled_charsmap": "AAAAAAAA/////w=="}

    with pytest.raises(RenderError, match=r"`tokenizer\.json` cannot be read"):
        load_tokenizer(folder_of(tmp_path, normalizer=broken))


# --- more than any model has ---------------------------------------------------------


def added(count):
    return {str(200 + number): {"content": f"<x{number}>"} for number in range(count)}


def test_more_added_tokens_than_any_model_has_are_refused(tmp_path):
    entry = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    many = [{"id": 200 + number, "content": f"<x{number}>", **entry} for number in range(100_001)]

    with pytest.raises(RenderError, match=r"`tokenizer_config\.json` adds 100,001 tokens"):
        load_tokenizer(folder_of(tmp_path, config={"added_tokens_decoder": added(100_001)}))
    with pytest.raises(RenderError, match=r"`tokenizer\.json` adds 100,001 tokens"):
        load_tokenizer(folder_of(tmp_path, added_tokens=many))


def test_declared_tokens_are_added_at_once_in_the_order_of_their_ids(tmp_path):
    tokenizer = load_tokenizer(folder_of(tmp_path, config={"added_tokens_decoder": added(3)}))

    assert tokenizer.encode("<x2><x0><x1>") == (96, 94, 95)


def test_a_longer_tokenizer_than_any_model_has_is_not_read(tmp_path):
    with folder_of(tmp_path).joinpath("tokenizer.json").open("wb") as file:
        file.truncate((256 << 20) + 1)

    with pytest.raises(RenderError, match="longer than 256 MB"):
        load_tokenizer(tmp_path)


@pytest.mark.parametrize(
    ("made", "words"),
    [
        ({"tokens": [b"a" * 5_000]}, "a token of more than 4,096 bytes"),
        ({"config": {"added_tokens_decoder": {"9999999": {"content": "<x>"}}}}, "names the id 9,999,999, far beyond"),
        ({"code": "x = " + "1+" * 100_000 + "1\n"}, "pattern of `tiktoken.model` is unknown"),
        ({"code": "x = " + "-" * 300_000 + "1\n"}, "pattern of `tiktoken.model` is unknown"),
    ],
)
def test_a_tiktoken_folder_made_to_fill_the_memory_is_refused(tmp_path, made, words):
    with pytest.raises(RenderError, match=words):
        load_tokenizer(tiktoken_folder(tmp_path, **made))


@pytest.mark.parametrize(("size", "words"), [(0, "is not UTF-8"), (3 << 30, "longer than 64 MB")])
def test_a_template_file_that_is_no_text_or_never_ends_is_refused(tmp_path, size, words):
    with (tmp_path / "own.jinja").open("wb") as file:
        file.write(b"\xff\xfe")
        if size:
            file.truncate(size)

    with pytest.raises(RenderError, match=words):
        load_template(tmp_path / "own.jinja")


def test_code_that_comes_with_a_tokenizer_is_not_run(tmp_path):
    trap = tmp_path / "ran"
    code = f"open({str(trap)!r}, 'w')\npat_str = 'a+'\n"
    folder = tiktoken_folder(
        tmp_path, code=code, config={"auto_map": {"AutoTokenizer": ["tokenization_own.Own", None]}}
    )
    (folder / "added_tokens.pkl").write_bytes(b"cos\nsystem\n(S'false'\ntR.")

    assert load_tokenizer(folder).encode("aa") == (97, 97)
    assert not trap.exists()


# --- certificates --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("", "it is a folder"),
        ("huge.pem", "longer than 16 MB"),
        ("key.pem", "contains no certificate that can be read"),
        ("-", "No such file"),
        ("/dev/zero", "it is a device, not a file"),
    ],
)
def test_a_file_of_certificates_is_read_to_its_limit_and_no_device(tmp_path, monkeypatch, name, words):
    monkeypatch.chdir(tmp_path)
    with (tmp_path / "huge.pem").open("wb") as file:
        file.truncate(1 << 30)
    (tmp_path / "key.pem").write_text("-----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY-----\n")

    with pytest.raises(BackendError, match=words):
        certificates_of(Authorities(name if name in ("-", "/dev/zero") else tmp_path / name))
