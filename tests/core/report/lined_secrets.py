"""Keys in sentences of several languages, in code that fills them in, and in lines of files; all made up."""

from __future__ import annotations

import json

from tests.core.report.odd_secrets import DRAWN
from tests.core.report.placed_secrets import WORDS

LINED = {
    # Sentences.
    "German": f"Mein Passwort lautet {DRAWN}",
    "German, of a server": f"Das Kennwort für den Server ist: {DRAWN}",
    "German key": f"Der API-Schlüssel ist {DRAWN}",
    "German in quotes": f'Mein Passwort ist "{WORDS}99"',
    "English in quotes": f"my password is '{WORDS}99'",
    "French": f"le mot de passe est {DRAWN}",
    "French key": f"clé d'API : {DRAWN}",
    "Spanish": f"la contraseña es {DRAWN}",
    "Spanish key": f"clave de API: {DRAWN}",
    "Italian key": f"la chiave API è {DRAWN}",
    "Portuguese": f"minha senha é {DRAWN}",
    "Dutch": f"het wachtwoord is {DRAWN}",
    "Polish": f"hasło to {DRAWN}",
    "Russian": f"пароль: {DRAWN}",
    "Chinese": f"密码是{DRAWN}",
    "Chinese key": f"密钥：{DRAWN}",
    "Japanese": f"パスワードは{DRAWN}です",
    "Korean": f"비밀번호: {DRAWN}",
    "Swedish": f"lösenordet är {DRAWN}",
    "Turkish": f"şifre: {DRAWN}",
    # Code that fills it in.
    "f-string": f"f\"Bearer {{'{DRAWN}'}}\"",
    "f-string, other quotes": f"f'Bearer {{\"{DRAWN}\"}}'",
    "f-string of both": f"f\"{{'Authorization'}}: {{'{DRAWN}'}}\"",
    "f-string in JSON": json.dumps(f"headers = {{'Authorization': f\"Bearer {{'{DRAWN}'}}\"}}"),
    "template of JavaScript": f"`Bearer ${{'{DRAWN}'}}`",
    "format": f"'Bearer {{}}'.format('{DRAWN}')",
    "percent": f"'Bearer %s' % '{DRAWN}'",
    "join": f"' '.join(['Bearer', '{DRAWN}'])",
    "Perl": f"$ENV{{API_KEY}} = '{DRAWN}';",
    # Lines of files.
    "pgpass": f"db.example.org:5432:shop:joe:{WORDS}",
    "pgpass of any": f"*:*:*:postgres:{WORDS}",
    "pgpass with a comment": f"# host\nlocalhost:6432:*:app:{DRAWN}\n",
    "pgpass in JSON": json.dumps({"a": f"x\nlocalhost:5432:app:me:{WORDS}\ny"}),
    "own header": f"curl -H 'X-Auth: {DRAWN}' u",
    "own header of a firm": f"X-Acme-Auth-Key: {DRAWN}",
    "environment in JSON": json.dumps({"Variables": {"DB_PASS": WORDS}}),
    "rclone": f"[remote]\npass = {DRAWN}",
    "wireless": f'psk="{WORDS}"',
    "cmdkey": f"cmdkey /add:h /user:me /pass:{WORDS}",
    "telephone": f"sip:me:{WORDS}@host",
}
NEAR = (
    "main.py:5432:12:error:expected a.c:80:1:warning:unused 10:5432:12:aa:bb tcp:5432:x:y",
    "img:5432:latest:a:b, host:8000:get_weather:0:call, redis:6379:0:a:b, http://localhost:5432/a:b:c",
    "Das Passwort ist erforderlich. Mein Passwort lautet anders. Passwort: erforderlich",
    "Das Passwort muss 12 Zeichen haben; der Schlüssel der Map ist city2024; Schlüssel: Stadt",
    "mot de passe oublié, contraseña incorrecta, senha inválida, hasło dnia, пароль неверный, 密码错误",
    "clave primaria: Qwen3-Coder-480B-A35B, chiave: valore, chave: valor",
    'f"Bearer {token}", f"Bearer {keys[\'openai_v1_key\']}", f"Bearer {os.environ[\'API_KEY_1\']}"',
    "Bearer {{'your-token'}} 'Bearer {}'.format(token) 'Bearer %s' % api_key_1",
    "X-Idempotency-Key: 550e8400-e29b-41d4-a716-446655440000",
    "my password is \"required\", my password field is 'user_password'",
    '{"TWO_PASS": "true", "OLD_PWD": "/home/me", "DB_PASS": "$DB_PASS"}',
    "pass = 12 of 40\npassword = required",
    "sip:me@host, psk=none, /pass:",
)
