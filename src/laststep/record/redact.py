"""What counts as a secret, by name or by shape: one list for commands, variables, messages and the console."""

from __future__ import annotations

import functools
import re
from typing import Any

HIDDEN = "…"
ENVIRONMENT_PREFIXES = (
    *("TF_", "KERAS_", "XLA_", "CUDA_", "JAX_", "NCCL_"),
    *("OMP_", "MKL_", "KMP_", "MALLOC_", "SLURM_JOB"),
)
# Parts of a name: whole words that indicate a secret, and parts that do so even inside a word (TF_MYPASSWORD).
SECRET_WORDS = frozenset({"KEY", "TOKEN", "TOKENS", "PWD", "AUTH", "COOKIE", "JWT", "PAT"})
SECRET_PARTS = ("PASSWORD", "PASSWD", "PASSPHRASE", "PASSCODE", "SECRET", "CREDENTIAL", "AUTHORIZATION")
KEY_PREFIXES = ("API", "ACCESS", "PRIVATE", "SSH", "AUTH", "LICENSE", "SIGNING", "ENCRYPTION", "MASTER", "ACCOUNT")
TOKEN_PREFIXES = ("AUTH", "ACCESS", "API", "BEARER", "REFRESH", "HF", "WANDB", "GITHUB")
# Words that show that "token" means a token of text (--max-tokens, --pad-token), and words that mark an option
# without a value (--use-auth-token, --no-password).
TEXT_TOKEN_WORDS = frozenset(
    {
        *("MAX", "MIN", "NUM", "N", "NEW", "TOTAL", "PER", "SPECIAL"),
        *("PAD", "EOS", "BOS", "UNK", "MASK", "SEP", "CLS", "STOP"),
    }
)
SWITCH_WORDS = ("USE", "NO", "WITH", "WITHOUT", "ENABLE", "DISABLE", "SKIP", "REQUIRE", "ASK")
# Lower case. If none of these occurs in a text, no pattern is tried.
_HINTS = (
    *(b"pass", b"secret", b"credential", b"key", b"token", b"://", b"bearer", b"authoriz"),
    *(b"akia", b"ghp_", b"ghs_", b"github_pat_", b"hf_", b"sk-", b"xox", b"aiza", b"eyj", b"glpat-"),
)
_SECRET_NAME = (
    rb"(?:passw(?:or)?d|passphrase|passcode|secret|credentials?"
    rb"|(?:api|access|private|secret|auth|signing|encryption|account|master)[_-]?key"
    rb"|(?:auth|access|api|bearer|refresh|secret|hf|github)[_-]?token)"
)
# Each pattern starts with a literal and has bounded repetitions, so that none can take long.
_PATTERNS: tuple[tuple[bytes, bytes], ...] = (
    (
        rb"(?i)(authorization\\?[\"']?\s{0,4}[:=]\s{0,4}\\?[\"']?)(?:(?:bearer|basic|token)\s{1,4})?[^\s\"'\\,;]{4,4000}",
        rb"\1%s",
    ),
    (rb"(?i)\b(bearer\s{1,4})[\w.~+/=-]{8,4000}", rb"\1%s"),
    (rb"(://)[^\s/@\"'\\]{0,200}:[^\s/@\"'\\]{1,200}@", rb"\1%s@"),
    (
        rb"(?i)(" + _SECRET_NAME + rb"\\?[\"']?\s{0,4}[=:]\s{0,4}\\?[\"']?)[^\s\"'\\,;&<>(){}\[\]]{4,4000}",
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
    lowered = text.lower()
    return any(hint in lowered for hint in _HINTS)


def redact_bytes(text: bytes) -> bytes:
    """The text without anything shaped like a secret: best effort, and cheap if there is none."""
    if may_hold_secrets(text):
        for pattern, replaced in _compiled():
            text = pattern.sub(replaced, text)
    return text


def redact(text: str) -> str:
    return redact_bytes(text.encode("utf-8", "surrogatepass")).decode("utf-8", "surrogatepass")


def redact_all(value: Any) -> Any:
    """Redact every string in a JSON value."""
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, dict):
        return {name: redact_all(item) for name, item in value.items()}
    return [redact_all(item) for item in value] if isinstance(value, list) else value


def is_secret_name(name: str) -> bool:
    """True for --api-key, authToken, TF_MYPASSWORD; False for --tokenizer, --max-tokens, --keyboard, --author."""
    words = [word.upper() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[A-Z]", name)]
    whole = "".join(words)
    if any(part in whole for part in SECRET_PARTS):
        return True
    if any(word.endswith(tuple(kind + "KEY" for kind in KEY_PREFIXES)) for word in words):
        return True
    if any(word.endswith(tuple(kind + "TOKEN" for kind in TOKEN_PREFIXES)) for word in words):
        return True
    found = SECRET_WORDS.intersection(words)
    return bool(found) and not (found <= {"TOKEN", "TOKENS"} and TEXT_TOKEN_WORDS.intersection(words))


def hide_secrets(command: list[str]) -> list[str]:
    """The command line with its secrets removed: --token=abc and --token abc become --token=… ."""
    shown: list[str] = []
    hide_next = False
    for at, word in enumerate(command):
        name, equals, value = word.partition("=")
        secret = is_secret_name(name) and not _is_count(name, value)
        if hide_next and not word.startswith("--") and not _is_count(command[at - 1], word):
            shown.append(HIDDEN)
            hide_next = False
            continue
        shown.append(f"{name}={HIDDEN}" if secret and equals else _user_and_password(command, at) or redact(word))
        hide_next = secret and not equals and word.startswith("-") and not _is_switch(word)
    return shown


def _is_count(name: str, value: str) -> bool:
    """--tokens 512: a count, not a secret."""
    return bool(re.search(r"(?i)tokens$", name)) and value.replace(".", "", 1).isdigit()


def _is_switch(name: str) -> bool:
    return re.split(r"[^A-Z]+", name.lstrip("-").upper())[0] in SWITCH_WORDS


def _user_and_password(command: list[str], at: int) -> str:
    """-u name:password, and -p password if a user is given as well: alone, -p is often a port."""
    before, word = command[at - 1] if at else "", command[at]
    users = [position for position, other in enumerate(command) if other in ("-u", "--user", "--username")]
    if before in ("-u", "--user") and ":" in word and "/" not in word:
        return f"{word.partition(':')[0]}:{HIDDEN}"
    return HIDDEN if before == "-p" and users and not word.startswith("-") and not word.isdigit() else ""


def environment_worth_keeping(environ: dict[str, str]) -> dict[str, str]:
    """The variables that change how training runs, except those with the name of a secret."""
    return {
        name: redact(value[:300])
        for name, value in environ.items()
        if name.startswith(ENVIRONMENT_PREFIXES) and (not is_secret_name(name) or _is_count(name, value))
    }
