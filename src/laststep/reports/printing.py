"""What is printed passes here: nothing in it moves a cursor or hides text, or fails because of the encoding."""

from __future__ import annotations

import codecs
import re
import sys
from typing import Any, TextIO

# Escape sequences as a whole, then control characters (C0 but the newline, DEL, C1), marks and overrides of the
# writing direction, line and paragraph separators, halves of a surrogate pair.
UNSAFE = (
    r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07\x1b\n]{0,200}(?:\x07|\x1b\\)?|"
    r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
_UNSAFE = re.compile(UNSAFE)
# What pages use themselves: colours, and the line endings of a terminal that makes none by itself.
_OWN = re.compile(rf"(\x1b\[(?:0|[12]|3[1236]|1;3[1236])m|\r(?=\n))|{UNSAFE}")
PLAIN = str.maketrans("·–−…█░“”’→µ", '|--~#.""\'>u', "°")


def clean(text: str) -> str:
    """For text from a record, a log, a path or a process: nothing of it is an instruction to the terminal."""
    return text if text.isprintable() else _UNSAFE.sub("", text.replace("\t", " "))


def printable(text: str) -> str:
    """For a whole page: the same, but for what the pages use themselves."""
    return _OWN.sub(lambda found: found[1] or "", text)


class SafeStream:
    """A stream of text whose writes are printable, and that never fails on a character that it can't encode."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="laststep-plain")

    def write(self, text: str) -> int:
        self._stream.write(printable(text))
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def _plain(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    text = error.object[error.start : error.end].translate(PLAIN)
    return text.encode("ascii", "replace").decode(), error.end


codecs.register_error("laststep-plain", _plain)


def make_output_safe() -> None:
    """From here on all that this process prints is."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is not None and not isinstance(stream, SafeStream):
            setattr(sys, name, SafeStream(stream))
