"""How many columns a terminal takes for a text: measured, cut, padded, wrapped. `len` is wrong for 训练 and 🚀."""

from __future__ import annotations

import functools
import textwrap
import unicodedata
from collections.abc import Iterator

ZERO_WIDTH_JOINER = "\u200d"
EMOJI_STYLE = "\ufe0f"  # after a character that may also be shown as text, such as ❤
SOFT_HYPHEN = "\u00ad"
JAMO_THAT_COMBINE = range(0x1160, 0x1200)
EMOJI_BLOCKS = range(0x1F000, 0x1FB00)


def columns(text: str) -> int:
    return len(text) if text.isascii() else sum(width for _, width in _clusters(text))


def cut(text: str, room: int, mark: str = "…") -> str:
    """At most so many columns; the mark says that there was more."""
    if columns(text) <= room:
        return text
    return _split_at(text, room - 1)[0] + mark if room > 0 else ""


def cut_start(text: str, room: int, mark: str = "…") -> str:
    """The same, but the end is kept."""
    gone = columns(text) - room + 1
    return text if gone <= 1 else mark + _split_after(text, gone)


def pad(text: str, width: int) -> str:
    return text + " " * (width - columns(text))


def wrap(text: str, width: int, first: str = "", rest: str = "") -> list[str]:
    """Lines of at most so many columns, with these indents."""
    wrapper = textwrap.TextWrapper if text.isascii() else _Wrapper
    return wrapper(width, initial_indent=first, subsequent_indent=rest, break_on_hyphens=False).wrap(text)


class _Chunk(str):
    """A word or a gap whose length is the columns that it takes."""

    def __len__(self) -> int:
        return columns(str(self))


class _Wrapper(textwrap.TextWrapper):
    """Measures in columns. Languages without spaces come as one long word, which may be broken anywhere."""

    def _split(self, text: str) -> list[str]:
        return [_Chunk(chunk) for chunk in super()._split(text)]

    def _handle_long_word(self, reversed_chunks: list[str], cur_line: list[str], cur_len: int, width: int) -> None:
        word = str(reversed_chunks.pop())
        head, tail = _split_at(word, width - cur_len)
        if not head and not cur_line:  # wider than a whole line
            head, tail = _split_at(word, next(_clusters(word))[1])
        cur_line.append(_Chunk(head))
        reversed_chunks.append(_Chunk(tail))


def _split_at(text: str, room: int) -> tuple[str, str]:
    """What fits, and the rest; a letter and its accents stay together."""
    at = 0
    for cluster, width in _clusters(text):
        room -= width
        if room < 0:
            break
        at += len(cluster)
    return text[:at], text[at:]


def _split_after(text: str, room: int) -> str:
    """What is left after at least so many columns."""
    at = 0
    for cluster, width in _clusters(text):
        if room <= 0:
            break
        room -= width
        at += len(cluster)
    return text[at:]


def _clusters(text: str) -> Iterator[tuple[str, int]]:
    """Each character with what combines with it, and its columns: never fewer than a terminal takes."""
    cluster, width = "", 0
    for char in text:
        own = _width(char)
        if cluster and own and not cluster.endswith(ZERO_WIDTH_JOINER):
            yield cluster, width
            cluster, width = "", 0
        cluster += char
        width = 2 if char == EMOJI_STYLE and width == 1 else width + own
    if cluster:
        yield cluster, width


@functools.lru_cache(4096)
def _width(char: str) -> int:
    category, code = unicodedata.category(char), ord(char)
    if (category in ("Mn", "Me", "Cf") and char != SOFT_HYPHEN) or code in JAMO_THAT_COMBINE:
        return 0
    is_new_emoji = category == "Cn" and code in EMOJI_BLOCKS  # newer than this Python
    return 2 if is_new_emoji or unicodedata.east_asian_width(char) in "WF" else 1
