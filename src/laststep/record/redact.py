"""What is a secret, by its name or its shape: one list for commands, variables, messages and the kept console."""

from __future__ import annotations

import functools
import re
from typing import Any

HIDDEN = "…"
ENVIRONMENT_PREFIXES = (
    *("TF_", "KERAS_", "XLA_", "CUDA_", "JAX_", "NCCL_"),
    *("OMP_", "MKL_", "KMP_", "MALLOC_", "SLURM_JOB"),
)
# Of a name: words that stand for a secret; parts that do so inside a word, too (TF_MYPASSWORD, -Dpassword).
WORDS = frozenset({"KEY", "TOKEN", "TOKENS", "PWD", "AUTH", "COOKIE", "JWT", "PAT"})
PARTS = ("PASSWORD", "PASSWD", "PASSPHRASE", "PASSCODE", "SECRET", "CREDENTIAL", "AUTHORIZATION")
KINDS_OF_KEY = ("API", "ACCESS", "PRIVATE", "SSH", "AUTH", "LICENSE", "SIGNING", "ENCRYPTION", "MASTER", "ACCOUNT")
KINDS_OF_TOKEN = ("AUTH", "ACCESS", "API", "BEARER", "REFRESH", "HF", "WANDB", "GITHUB")
# Tokens of a text: --max-tokens, --pad-token. And what takes no value: --use-auth-token, --no-password.
COUNTED = frozenset(
    {
        *("MAX", "MIN", "NUM", "N", "NEW", "TOTAL", "PER", "SPECIAL"),
        *("PAD", "EOS", "BOS", "UNK", "MASK", "SEP", "CLS", "STOP"),
    }
)
SWITCHES = ("USE", "NO", "WITH", "WITHOUT", "ENABLE", "DISABLE", "SKIP", "REQUIRE", "ASK")
# In lower case; none of these in a text, and no pattern below is tried.
_HINTS = (
    *(b"pass", b"secret", b"credential", b"key", b"token", b"://", b"bearer", b"authoriz"),
    *(b"akia", b"ghp_", b"ghs_", b"github_pat_", b"hf_", b"sk-", b"xox", b"aiza", b"eyj", b"glpat-"),
)
_NAMED = (
    rb"(?:passw(?:or)?d|passphrase|passcode|secret|credentials?"
    rb"|(?:api|access|private|secret|auth|signing|encryption|account|master)[_-]?key"
    rb"|(?:auth|access|api|bearer|refresh|secret|hf|github)[_-]?token)"
)
# Each begins with what it is looked for by, and repeats no more than so often: none can take long.
_PATTERNS: tuple[tuple[bytes, bytes], ...] = (
    (
        rb"(?i)(authorization\\?[\"']?\s{0,4}[:=]\s{0,4}\\?[\"']?)(?:(?:bearer|basic|token)\s{1,4})?[^\s\"'\\,;]{4,4000}",
        rb"\1%s",
    ),
    (rb"(?i)\b(bearer\s{1,4})[\w.~+/=-]{8,4000}", rb"\1%s"),
    (rb"(://)[^\s/@\"'\\]{0,200}:[^\s/@\"'\\]{1,200}@", rb"\1%s@"),
    (
        rb"(?i)(" + _NAMED + rb"\\?[\"']?\s{0,4}[=:]\s{0,4}\\?[\"']?)[^\s\"'\\,;&<>(){}\[\]]{4,4000}",
        rb"\1%s",
    ),
    (rb"\bAKIA[0-9A-Z]{16}\b|\bgh[pousr]_[A-Za-z0-9]{20,255}|\bgithub_pat_\w{20,255}|\bhf_[A-Za-z0-9]{20,255}", rb"%s"),
    (rb"\bsk-[\w-]{20,255}|\bxox[abprs]-[\w-]{10,255}|\bAIza[\w-]{35}|\bglpat-[\w-]{20,255}", rb"%s"),
    (rb"\beyJ[\w-]{10,2000}\.[\w-]{10,4000}\.[\w-]{10,2000}", rb"%s"),
)


@functools.cache
def _compiled() -> tuple[tuple[re.Pattern[bytes], bytes], ...]:
    return tuple((re.compile(pattern), replaced.replace(b"%s", HIDDEN.encode())) for pattern, replaced in _PATTERNS)


def may_hold_secrets(text: bytes) -> bool:
    small = text.lower()
    return any(hint in small for hint in _HINTS)


def redact_bytes(text: bytes) -> bytes:
    """A text without what has the shape of a secret: best effort, and cheap where there is none."""
    if may_hold_secrets(text):
        for pattern, replaced in _compiled():
            text = pattern.sub(replaced, text)
    return text


def redact(text: str) -> str:
    return redact_bytes(text.encode("utf-8", "surrogatepass")).decode("utf-8", "surrogatepass")


def redact_all(value: Any) -> Any:
    """Each text in what JSON holds."""
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, dict):
        return {name: redact_all(item) for name, item in value.items()}
    return [redact_all(item) for item in value] if isinstance(value, list) else value


def speaks_of_a_secret(name: str) -> bool:
    """--api-key, authToken and TF_MYPASSWORD do; --tokenizer, --max-tokens, --keyboard and --author do not."""
    words = [word.upper() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[A-Z]", name)]
    whole = "".join(words)
    if any(part in whole for part in PARTS):
        return True
    if any(word.endswith(tuple(kind + "KEY" for kind in KINDS_OF_KEY)) for word in words):
        return True
    if any(word.endswith(tuple(kind + "TOKEN" for kind in KINDS_OF_TOKEN)) for word in words):
        return True
    found = WORDS.intersection(words)
    return bool(found) and not (found <= {"TOKEN", "TOKENS"} and COUNTED.intersection(words))


def hide_secrets(command: list[str]) -> list[str]:
    """--token=abc and --token abc become --token=… : a command line is stored, its secrets are not."""
    shown: list[str] = []
    hide_next = False
    for at, word in enumerate(command):
        name, equals, value = word.partition("=")
        secret = speaks_of_a_secret(name) and not _is_count(name, value)
        if hide_next and not word.startswith("--") and not _is_count(command[at - 1], word):
            shown.append(HIDDEN)
            hide_next = False
            continue
        shown.append(f"{name}={HIDDEN}" if secret and equals else _user_and_password(command, at) or redact(word))
        hide_next = secret and not equals and word.startswith("-") and not _is_switch(word)
    return shown


def _is_count(name: str, value: str) -> bool:
    """--tokens 512: a number, and no secret."""
    return bool(re.search(r"(?i)tokens$", name)) and value.replace(".", "", 1).isdigit()


def _is_switch(name: str) -> bool:
    return re.split(r"[^A-Z]+", name.lstrip("-").upper())[0] in SWITCHES


def _user_and_password(command: list[str], at: int) -> str:
    """-u name:password, and -p password where a user is named too: alone, -p is a port as often as not."""
    before, word = command[at - 1] if at else "", command[at]
    users = [place for place, other in enumerate(command) if other in ("-u", "--user", "--username")]
    if before in ("-u", "--user") and ":" in word and "/" not in word:
        return f"{word.partition(':')[0]}:{HIDDEN}"
    return HIDDEN if before == "-p" and users and not word.startswith("-") and not word.isdigit() else ""


def environment_worth_keeping(environ: dict[str, str]) -> dict[str, str]:
    """The few variables that change how training runs; never one whose name speaks of a secret."""
    return {
        name: redact(value[:300])
        for name, value in environ.items()
        if name.startswith(ENVIRONMENT_PREFIXES) and (not speaks_of_a_secret(name) or _is_count(name, value))
    }
