"""Keys written oddly, and texts that only look like them; all made up."""

from __future__ import annotations

from base64 import b64encode

DRAWN = "q7Zt9Kx2Wm4Vb8Nc3Rj6Yh5Ls1Df0G"  # the part of a key that no one may see
HEX = "3f9a1c7e5b2d8046" * 2 + "9e1d4c7a"
KEY = f"sk-proj-{DRAWN}"
TOKEN = f"ghp_{DRAWN}7a2B9c"
JWT = (
    "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9."
    + b64encode(f'{{"sub":"{DRAWN}"}}'.encode()).decode().rstrip("=")
    + f".{DRAWN}{DRAWN[:13]}"
)
_LINES = [f"MII{DRAWN}{DRAWN}", f"{DRAWN}ab+/{DRAWN}", f"{DRAWN[:20]}=="]
_BEGIN, _END = "-----BEGIN RSA PRIVATE KEY-----", "-----END RSA PRIVATE KEY-----"


def _full_width(text: str) -> str:
    return "".join(chr(ord(character) + 0xFEE0) for character in text)


def _percent(text: str) -> str:
    return "".join(f"%{ord(character):02X}" for character in text)


def _in_pieces(text: str, size: int) -> list[str]:
    return [text[start : start + size] for start in range(0, len(text), size)]


def _pem(before: str = "", after: str = "") -> str:
    return "\n".join(f"{before}{line}{after}" for line in (_BEGIN, *_LINES, _END))


_A, _B = KEY[:16], KEY[16:]

ODD = {
    # Characters.
    "zero-width space": "\u200b".join(KEY),
    "zero-width joiners": "\u200d".join(_in_pieces(KEY, 3)),
    "word joiner in the prefix": f"s\u2060k-{KEY[3:]}",
    "soft hyphens": "\u00ad".join(_in_pieces(KEY, 7)),
    "byte order marks": "\ufeff".join(_in_pieces(TOKEN, 9)),
    "marks of direction": f"\u202a{KEY[:12]}\u202c{KEY[12:]}",
    "full width": _full_width(KEY),
    "full width prefix": _full_width("sk-proj-") + DRAWN,
    "full width token": _full_width(TOKEN),
    "percent": _percent(KEY),
    "percent hyphens": KEY.replace("-", "%2D"),
    "percent underscore": TOKEN.replace("_", "%5F"),
    "percent header": f"authorization%3A%20Bearer%20{DRAWN}",
    "percent setting": f"?x=1%26api_key%3D{DRAWN}",
    "percent and zero-width": KEY.replace("-", "%2d").replace("Z", "Z\u200b"),
    # Lines.
    "line break": f"{_A}\n{_B}",
    "Windows line break": f"{_A}\r\n{_B}",
    "escaped line break": f"{_A}\\n{_B}",
    "backslash": f"{_A}\\\n{_B}",
    "indented": f"key:\n    {_A}\n    {_B}",
    "three lines": "\n".join(_in_pieces(KEY, 13)),
    "quoted mail": f"> use {_A}\n> {_B}",
    "twice quoted": f"> > {_A}\n> > {_B}",
    "numbered": f"  12  {_A}\n  13  {_B}",
    "numbered with colons": f"12: {_A}\n13: {_B}",
    "numbered with bars": f"12| {_A}\n13| {_B}",
    "comment": f"# {_A}\n# {_B}",
    "comment of a C": f"// {_A}\n// {_B}",
    "diff": f"+ {_A}\n+ {_B}",
    "token over lines": f"{TOKEN[:20]}\n{TOKEN[20:]}",
    "JWT over lines": "\n".join(_in_pieces(JWT, 40)),
    "JWT quoted": "\n".join(f"> {part}" for part in _in_pieces(JWT, 48)),
    "JWT by its parts": JWT.replace(".", ".\n"),
    "JWT numbered": "\n".join(f"{number}  {part}" for number, part in enumerate(_in_pieces(JWT, 50), 7)),
    # Strings put together.
    "plus": f'key = "{_A}" + "{_B}"',
    "plus after the prefix": f'key = "sk-proj-" + "{DRAWN}"',
    "plus over lines": f'key = "{_A}" +\n      "{_B}"',
    "side by side": f"key = ('{_A}'\n       '{_B}')",
    "dot": f"$key = '{_A}' . '{_B}';",
    "ampersand": f'key = "{_A}" & "{_B}"',
    "backslash between": f"key = '{_A}' \\\n  '{_B}'",
    "quoted in JSON": f'"key = \\"{_A}\\" + \\"{_B}\\""',
    # Bearer.
    "bearer and a line break": f"Authorization: Bearer\n {DRAWN}",
    "bearer and a quoted line break": f"> Authorization: Bearer\n> {DRAWN}",
    "bearer and an escaped line break": f'"Authorization: Bearer\\n{DRAWN}"',
    "bearer with percent": f"Bearer%20{DRAWN}",
    "bearer and strings": f'"Bearer " + "{DRAWN}"',
    "bearer and two spaces": f"bearer  {DRAWN}",
    "bearer in full width": _full_width("Bearer") + f" {DRAWN}",
    # Blocks.
    "PEM": _pem(),
    "PEM quoted": _pem("> "),
    "PEM numbered": "\n".join(f"{n}  {line}" for n, line in enumerate(_pem().splitlines(), 1)),
    "PEM indented": _pem("    "),
    "PEM as strings": _pem('"', '\\n" +'),
    "PEM as a list": _pem('  "', '",'),
    "PEM in a diff": _pem("+"),
    "PEM escaped": _pem().replace("\n", "\\n"),
    "PEM escaped twice": _pem().replace("\n", "\\\\n"),
    "PEM with words between": _pem().replace("\n", "\n\n  (cut)\n\n"),
    "PEM on one line": _pem().replace("\n", " "),
    "PEM with percent": _pem().replace("\n", "%0A").replace("+", "%2B"),
    "PEM of OpenSSH": _pem("> ").replace("RSA", "OPENSSH"),
    "PGP": _pem("| ").replace("RSA PRIVATE KEY", "PGP PRIVATE KEY BLOCK"),
    # Addresses.
    "password with an at": f"postgres://me:p@{DRAWN}@db.example/x",
    "password with two": f"redis://me:a@b@{DRAWN}@10.0.0.1:6379",
    "key in a path": f"https://gate.example/v1/{DRAWN}/chat/completions",
    "key that a path names": f"https://gate.example/key/{HEX}/chat/completions",
    "token that a path names": f"https://gate.example/v1/token/{DRAWN.lower()}/models",
    # Commands.
    "wandb login": f"wandb login {HEX}",
    "wandb login with an option": f"wandb login --relogin {HEX}",
    "wandb login in Python": f'wandb.login(key="{HEX}")',
    "ngrok": f"ngrok config add-authtoken {DRAWN}",
    "vast": f"vastai set api-key {HEX}",
    # Prefixes.
    "GitLab runner": f"glrt-{DRAWN}",
    "GitLab deployment": f"gldt-{DRAWN}",
    "GitLab trigger": f"glptt-{HEX}",
    "RunPod": f"rpa_{DRAWN}{DRAWN}",
    "Supabase": f"sb_secret_{DRAWN}_a1",
    "Anyscale": f"esecret_{DRAWN}",
    "Pinecone": f"pcsk_4gX9a_{DRAWN}{DRAWN}",
    "Jina": f"jina_{HEX}{DRAWN}",
    "Tavily": f"tvly-dev-{DRAWN}",
    "Voyage": f"pa-{DRAWN}{DRAWN}",
    "Firecrawl": f"fc-{HEX[:32]}",
    "Resend": f"re_8Kd3a9Xz_{DRAWN[:24]}",
    "ElevenLabs": f"sk_{HEX}{HEX[:8]}",
    "E2B": f"e2b_{HEX}",
    "Vercel": f"vck_{DRAWN}",
    "Meta": f"LLM|123456789012345|{DRAWN}",
    "Weights & Biases": f"wandb_v1_{DRAWN}_{DRAWN}",
}

LIKE = (
    "The disk-\nintensive task-\nforce of the 21st century",
    "a list:\n- task one\n- risk-\n  adjusted figures 2024",
    "commit 3f9a1c7e5b2d80469e1d4c7a3f9a1c7e5b2d8046 and sha256:" + HEX + HEX[:24],
    "https://github.com/owner/name/blob/" + HEX + "/core/a.py",
    "request req_011CSHoEeqs5C35K2UUqR7Fy, call_a1B2c3D4, chatcmpl-9c1f",
    "550e8400-e29b-41d4-a716-446655440000",
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ\nAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
    "-----BEGIN CERTIFICATE-----\nMIIB0zCCAX2gAwIBAgIJAI/M7BYjwB+u\n-----END CERTIFICATE-----",
    "The bearer of\nthis letter, and a bearer\n> certificate",
    "50%25 off, a%20b, caf%C3%A9",
    "你好，世界！这是一个测试。ＡＢＣ１２３",
    "http://localhost:8000/v1, mail me@example.com",
    "https://docs.example/tokens/how-to-make-a-token",
    '"Hello, " + "world" + "!"',
    "jina_embeddings_v3_base_model_name and re_pattern_for_names",
    "wandb login --relogin",
    "AKID, AQ.About, LLM|and more",
    "family \U0001f468\u200d\U0001f469\u200d\U0001f467 sits",
    "It begins with -----BEGIN PRIVATE KEY----- and I lost the rest.",
)


def shows(text: str) -> bool:
    """Say whether a text shows a part of a key that no one may see, however it is written."""
    shown = text.translate({**{0xFF01 + index: 0x21 + index for index in range(94)}, 0x200B: None, 0x200D: None})
    return any(
        part[start : start + 8].lower() in shown.lower() for part in (DRAWN, HEX) for start in range(len(part) - 7)
    )
