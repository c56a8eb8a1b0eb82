"""Safe output: no control characters from a record reach the terminal, and no character fails to encode."""

from __future__ import annotations

import codecs
import re
import sys
from typing import Any, TextIO

# Whole escape sequences, then control characters (C0 except the newline, DEL, C1), bidirectional marks and overrides,
# line and paragraph separators, lone surrogates.
UNSAFE = (
    r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07\x1b\n]{0,200}(?:\x07|\x1b\\)?|"
    r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
_UNSAFE = re.compile(UNSAFE)
# What our pages contain: colours, and \r\n for a terminal in raw mode.
_OWN = re.compile(rf"(\x1b\[(?:0|[12]|3[1236]|1;3[1236])m|\r(?=\n))|{UNSAFE}")
PLAIN = str.maketrans("·–−…█░“”’→µ", '|--~#.""\'>u', "°")


def clean(text: str) -> str:
    """Text from a record, a log, a path or a process, without anything that a terminal would act on."""
    return text if text.isprintable() else _UNSAFE.sub("", text.replace("\t", " "))


def printable(text: str) -> str:
    """The same for a whole page, which keeps its own colours."""
    return _OWN.sub(lambda found: found[1] or "", text)


class SafeStream:
    """A text stream that writes printable text only, and replaces what it can't encode."""

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
    """For everything that this process prints from now on."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is not None and not isinstance(stream, SafeStream):
            setattr(sys, name, SafeStream(stream))
