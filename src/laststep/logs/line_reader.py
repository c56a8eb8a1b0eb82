"""Bytes → numbered lines as they looked on a terminal: bars resolved, colours removed, repetitions left out."""

from __future__ import annotations

import codecs
import gzip
import itertools
import math
import re
import time
import zlib
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import BinaryIO, cast

CHUNK_BYTES = 1 << 20
MAX_LINE_CHARS = 1 << 13  # the rest of a line is cut
MAX_ALIKE_LINES = 40  # that are read of one shape; then only the last of each streak
MANY_SHAPES = 2_000  # from here on only the first line of a shape is read
MAX_SHAPES = 8_000
MAX_TIMESTAMPS = 400  # that are compared to see which end of a log is the newest
MIN_TIMESTAMPS = 5  # two threads alone may write two lines in the wrong order
MAX_REVERSED_CHUNKS = 15  # of a log with the newest line first; what is older is not needed
MAX_CPU_SECONDS = 3.0  # of a file that takes longer, the middle is skipped
END_BYTES = 8 << 20  # of such a file, which are still read
LAST_LINES = 400  # at the end, kept whatever their shape

# What differs between lines of the same shape: numbers, and the drawing of a progress bar.
_VARYING = b"0123456789.=>+-eE#%:\xe2\x94\x81\x96\x88\x80\x95\xb8\xb6\x8f\x8e\x8d\x8c\x8b\x8a\x89| "
_CONTROL = bytes(set(range(32)) - set(b"\t\n\r\x08\x1b\x07\x0c"))
_KEYWORD = re.compile(
    rb"rror|xception|illed|ailed|: nan|Epoch|bort|exit code|memory|Traceback|File \"|/step|ETA|arning|fault|"
    rb"erminat|LIMIT|signal|WARN"
)
_INVISIBLE = {code: None for code in range(32) if code != 9}
_ESCAPE = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[()][A-Z0-9]|\x1b[=>78MDEHc]")
_BARE_COLOUR = re.compile(r"\[(?:\d{1,3}(?:;\d{1,3})*)m")  # colours whose escape character was lost on the way
# Where one line was appended to another without a newline: log lines of TensorFlow, absl or Python, a traceback.
_JOINED = re.compile(
    r"(?<=\S)(?=\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+: [IWEF] [\w/])|(?<=\S)(?=[IWEF]\d{4} \d\d:\d\d:\d+\.\d+ "
    r"+\d+ \S+\])|(?<=[\d.])(?=[IWEF] (?:tensorflow|external|xla)/)"
    r"|(?<=\d )(?=Epoch \d+/\d+\s+\d+/\d+)|(?<=[^\s'\"`])(?=WARNING:tensorflow:)|(?<=\d )(?=WARNING:tensorflow:)|"
    r"(?<=[\w.)])(?<!OOM)(?=(?:Killed|Segmentation fault|Aborted|Terminated)(?: \(core dumped\))?$)|"
    r"(?<=[^\s'\"`])(?=Traceback \(most recent call last\))"
)
# What mpirun, Ray, docker compose and Kubernetes put before every line.
_PREFIX = re.compile(
    r"\[\d+,\d+\]<std(?:err|out)>:|\(\w+ pid=\d+[^)]*\) ?|[\w.-]+ +\| (?=\S|\s)|E {3,}(?=\S)"
    r"|\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d) (?:std(?:err|out) [FP] )?"
    r"|[A-Z][a-z]{2} \d{1,2}, \d{4}, \d{1,2}:\d\d:\d\d\s[AP]M\s+(?:DEBUG|INFO|WARNING|ERROR)\s+"  # Colab's own log
)
# A line that begins with the time, as Colab (`Mar 3, 2021, 10:44:43 AM`) and others write it.
_TIMED = re.compile(
    rb"^(?:(?P<month>[A-Z][a-z]{2}) (?P<day>\d{1,2}), (?P<year>\d{4}), (?P<hour>\d{1,2}):(?P<clock>\d\d:\d\d)"
    rb"(?: |\xe2\x80\xaf)(?P<half>[AP])M|(?P<iso>\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d))",
    re.MULTILINE,
)
_MONTHS = b"Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()


class NotALog(Exception):
    """Its message is printed as one line."""


@dataclass(frozen=True, slots=True)
class LogLine:
    number: int
    text: str


@dataclass
class Reading:
    """What has been read of the file so far."""

    lines: int = 0
    bytes: int = 0
    binary_lines: int = 0  # left out
    is_reversed: bool = False  # the newest line came first; lines are counted from the oldest
    skipped: int = 0  # bytes that were not read, to save time
    cut: bool = False  # the end is among them


class Gap(int):
    """The number of lines that were not read."""


class Repeats:
    """Separates repetitions from lines to read: the first lines of each shape, and the last before another shape.

    A shape is a line without its numbers, so `loss: nan` among a million lines of `loss: 0.123` is a new one.
    """

    def __init__(self) -> None:
        self._seen: dict[int, int] = {}

    def is_repeated(self, line: bytes) -> bool:
        if line.startswith(b"Epoch "):
            return False  # so that the lines before and after it are read
        shape = hash(line.translate(None, _VARYING))
        seen = self._seen
        count = seen.get(shape, 0)
        if count >= MAX_ALIKE_LINES or (count and len(seen) >= MANY_SHAPES):
            return True
        if not count and len(seen) >= MAX_SHAPES and (len(seen) >= 2 * MAX_SHAPES or not _KEYWORD.search(line)):
            return True
        seen[shape] = count + 1
        return False

    @property
    def are_full(self) -> bool:
        return len(self._seen) >= MAX_SHAPES

    def forget(self) -> None:
        self._seen.clear()


def read_lines(
    stream: BinaryIO, reading: Reading, repeats: Repeats, name: str = "the log", is_console: bool = False
) -> Iterator[LogLine]:
    """The lines of a stream in order and cleaned, without repetitions."""
    skipped: tuple[int, bytes] | None = None
    last: deque[tuple[int, bytes]] = deque(maxlen=LAST_LINES)
    is_repeated = repeats.is_repeated
    gaps = 0
    for number, raw in _numbered(_in_order(_chunks(stream, reading, name, is_console), reading), repeats):
        if skipped is not None and repeats.are_full and gaps < MAX_SHAPES and _KEYWORD.search(skipped[1]):
            if number > skipped[0] + 1 or not _KEYWORD.search(
                raw
            ):  # the last of its kind: the lines after it are not read
                gaps += 1
                yield from _clean(*skipped, reading)
                skipped = None
        if is_repeated(raw):
            skipped = (number, raw)
            last.append(skipped)
            continue
        if skipped is not None:
            yield from _clean(*skipped, reading)
            skipped = None
        last.clear()
        yield from _clean(number, raw, reading)
        reading.lines = number
    for number, raw in last:
        yield from _clean(number, raw, reading)
        reading.lines = number


def _numbered(chunks: Iterable[bytes | Gap], repeats: Repeats) -> Iterator[tuple[int, bytes]]:
    """Each line, and each drawing of a progress bar in it, with the line's number in the file."""
    rest = end = b""
    number = shown = 0
    for chunk in chunks:
        if isinstance(chunk, Gap):
            number += chunk
            rest = end = b""
            continue
        block = (rest + chunk).replace(b"\r\n", b"\n").replace(b"\x08", b"\r")
        if repeats.are_full:  # nearly every line is different: from here on only lines with a keyword are read
            whole = block.rfind(b"\n") + 1
            block, rest = block[:whole], block[whole:]
            for shown, line in _with_keyword(block, number):
                yield shown, line
            number += block.count(b"\n")
            end = (end + block)[-LAST_LINES * 80 :]
        else:
            lines = block.split(b"\n")
            rest = lines.pop()
            for at, line in enumerate(lines, number + 1):
                if not line:
                    continue
                if b"\r" in line:
                    for drawing in filter(None, line.split(b"\r")):
                        yield at, drawing
                else:
                    yield at, line
            number += len(lines)
        if len(rest) > MAX_LINE_CHARS:  # a line without an end: its complete drawings are handed on
            *drawings, rest = rest.split(b"\r")
            yield from ((number + 1, drawing) for drawing in drawings if drawing)
            rest = rest[-MAX_LINE_CHARS:]
    last = end.split(b"\n")[1:-1]
    first = number - len(last) + 1
    yield from ((first + place, line) for place, line in enumerate(last) if line and first + place > shown)
    yield from ((number + 1, drawing) for drawing in rest.split(b"\r") if drawing)


def _with_keyword(block: bytes, number: int) -> Iterator[tuple[int, bytes]]:
    """The lines of a block that contain a keyword of errors."""
    done = 0
    for found in _KEYWORD.finditer(block):
        if found.start() < done:
            continue
        begin, end = block.rfind(b"\n", done, found.start()) + 1 or done, block.find(b"\n", found.end())
        number += block.count(b"\n", done, begin) + 1
        yield from ((number, drawing) for drawing in block[begin:end].split(b"\r") if drawing)
        done = end + 1


def _chunks(stream: BinaryIO, reading: Reading, name: str, is_console: bool = False) -> Iterator[bytes | Gap]:
    """The bytes of the file as UTF-8, whatever they were; refuses what is no text."""
    until = time.process_time() + MAX_CPU_SECONDS
    first = stream.read(CHUNK_BYTES)
    packed = first[:2] == b"\x1f\x8b" and not is_console
    if packed:
        stream = cast(BinaryIO, _Decompressed(gzip.GzipFile(fileobj=cast(BinaryIO, _Rejoined(first, stream)))))
        first = stream.read(CHUNK_BYTES)
        if not first:
            raise NotALog(f"{name} cannot be decompressed: it is no valid gzip file, or is truncated")
    first = first.removeprefix(codecs.BOM_UTF8)
    encoding = _encoding(first)
    if encoding is None and not is_console and _is_binary(first):
        raise NotALog(f"{name} is not a text file: it looks like a binary file, not like a console log")
    decoder = codecs.getincrementaldecoder(encoding)("replace") if encoding else None
    chunk = first
    while chunk:
        reading.bytes += len(chunk)
        yield decoder.decode(chunk).encode() if decoder else chunk
        if time.process_time() > until:
            if packed or decoder or not stream.seekable():
                reading.cut = bool(stream.read(1))
                return
            yield _skip(stream, reading)
            until = math.inf
        chunk = stream.read(CHUNK_BYTES)


def _in_order(chunks: Iterator[bytes | Gap], reading: Reading) -> Iterator[bytes | Gap]:
    """The oldest line first: what a web page exports often begins with the newest."""
    first = next(chunks, b"")
    if isinstance(first, Gap):
        yield first
        yield from chunks
        return
    stamps = list(itertools.islice(_TIMED.finditer(first), MAX_TIMESTAMPS))
    times = [_time(found) for found in stamps]
    enough = 2 if any(found["month"] for found in stamps) else MIN_TIMESTAMPS
    reading.is_reversed = len(set(times)) >= enough and times == sorted(times, reverse=True)
    if not reading.is_reversed:
        yield first
        yield from chunks
        return
    more = [chunk for chunk in itertools.islice(chunks, MAX_REVERSED_CHUNKS) if isinstance(chunk, bytes)]
    text = b"".join([first, *more]).replace(b"\r\n", b"\n")
    begins = [0, *(found.start() for found in _TIMED.finditer(text) if found.start()), len(text)]
    yield b"".join(text[a:b].rstrip(b"\n") + b"\n" for a, b in reversed(list(itertools.pairwise(begins))))


def _time(found: re.Match[bytes]) -> bytes:
    """As text that sorts by time."""
    if found["iso"]:
        return found["iso"].replace(b"T", b" ")
    month = _MONTHS.index(found["month"]) + 1 if found["month"] in _MONTHS else 0
    hour = int(found["hour"]) % 12 + (12 if found["half"] == b"P" else 0)
    return b"%s-%02d-%02d %02d:%s" % (found["year"], month, int(found["day"]), hour, found["clock"])


def _skip(stream: BinaryIO, reading: Reading) -> Gap:
    """Skip to the last part of the file, counting the lines on the way."""
    here = stream.tell()
    left = stream.seek(0, 2) - here - END_BYTES
    stream.seek(here)
    lines = 0
    while reading.skipped < left and (chunk := stream.read(min(CHUNK_BYTES, left - reading.skipped))):
        lines += chunk.count(b"\n")
        reading.skipped += len(chunk)
    if reading.skipped:
        partial = stream.readline(CHUNK_BYTES)
        lines += partial.count(b"\n")
        reading.skipped += len(partial)
    reading.bytes += reading.skipped
    return Gap(lines)


class _Decompressed:
    """A gzip file up to the place where it is truncated."""

    def __init__(self, packed: gzip.GzipFile) -> None:
        self._packed = packed

    def read(self, size: int = -1) -> bytes:
        read = b""
        try:
            while len(read) < size and (piece := self._packed.read1(size - len(read))):
                read += piece
        except (EOFError, OSError, zlib.error):
            pass
        return read


class _Rejoined:
    """A stream, with the beginning that was read already put back."""

    def __init__(self, first: bytes, stream: BinaryIO) -> None:
        self._first, self._stream = first, stream

    def read(self, size: int = -1) -> bytes:
        if self._first:
            first, self._first = self._first[:size], self._first[size:]
            return first
        return self._stream.read(size)


def _encoding(first: bytes) -> str | None:
    """UTF-16, which PowerShell's `>` writes; None for all that is, or nearly is, UTF-8."""
    if first[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        return "utf-16"
    head = first[:4000]
    if len(head) >= 8 and head[1::2].count(0) > 0.8 * (len(head) // 2) and head[::2].count(0) == 0:
        return "utf-16-le"
    return None


def _is_binary(first: bytes) -> bool:
    head = first.replace(b"\0", b"")  # a log that was truncated while it was written begins with zeros
    return bool(first) and len(head) - len(head.translate(None, _CONTROL)) >= 0.05 * len(head)


def _clean(number: int, raw: bytes, reading: Reading) -> Iterator[LogLine]:
    """As it looked on a terminal: without escapes and the prefix of a launcher, joined lines split."""
    text = raw[:MAX_LINE_CHARS].decode("utf-8", "replace")
    if "\x1b" in text:
        text = _ESCAPE.sub("", text)
    if "m" in text and "[" in text:
        text = _BARE_COLOUR.sub("", text)
    prefix = _PREFIX.match(text)
    if prefix:
        text = text[prefix.end() :]
    head = text[:200]
    if len(head) - len(head.translate(_INVISIBLE)) > len(head) // 10:
        reading.binary_lines += 1
        return
    joined = "] " in text or "tensorflow" in text or "Traceback (" in text or "Epoch " in text or "ed" in text[-24:]
    for part in _JOINED.split(text) if joined else [text]:
        part = part.rstrip()
        if part:
            yield LogLine(number, part)
