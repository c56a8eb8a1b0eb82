"""Run a real training that dies, and turn the page that `laststep why` shows in a terminal into docs/answer.svg."""

from __future__ import annotations

import os
import pty
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from xml.sax.saxutils import escape

from laststep import demos

ROOT = Path(__file__).resolve().parents[1]
DEMO = Path(demos.__path__[0]) / "early_stop_swallowed.py"
TEXT = ROOT / "docs" / "answer.txt"
PICTURE = ROOT / "docs" / "answer.svg"
README = ROOT / "README.md"
ANSWER = re.compile(r"(<!-- answer: `make docs` writes this -->\n```text\n).*?(```\n<!-- end of answer -->)", re.DOTALL)
PROMPT = "$ laststep why"

COLUMNS = 80
ACROSS, DOWN, EDGE, BAR = 8.4, 19, 22, 34  # pixels: one character, one line, the margin, the window's bar
COLOURS = {"31": "#ff7b72", "32": "#7ee787", "33": "#e3b341", "36": "#79c0ff"}
PLAIN, FAINT, GROUND = "#d6dde6", "#8b949e", "#161b22"
FONT = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', 'Liberation Mono', monospace"
COLOUR = re.compile(r"\x1b\[([0-9;]*)m")
# What differs between runs and machines: the run's id, and what was measured.
VARIES = re.compile(r"\d{8}-\d{6}-[0-9a-f]{4}|\d[\d.,]*(\s+(s|ms|B|KB|MB|GB)\b)?")


def real_page() -> str:
    """The coloured page of a run that has just died."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(DEMO, Path(folder) / "train.py")
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("LASTSTEP_", "NO_COLOR"))}
        # On a busy machine the page would also say so: other processes are not looked at.
        environ = {**kept, "PATH": path, "COLUMNS": str(COLUMNS), "TERM": "xterm-256color", "LASTSTEP_OTHERS": "0"}
        run = ["laststep", "run", "--quiet", "python", "train.py"]
        subprocess.run(run, cwd=folder, env=environ, check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return in_terminal(["laststep", "why"], folder, environ)


def in_terminal(command: list[str], folder: str, environ: dict[str, str]) -> str:
    """What the command writes to a terminal."""
    ours, its = pty.openpty()
    process = subprocess.Popen(command, cwd=folder, env=environ, stdin=its, stdout=its, stderr=its)
    os.close(its)
    written = b""
    while True:
        try:
            chunk = os.read(ours, 65536)
        except OSError:  # the last writer is gone
            break
        if not chunk:
            break
        written += chunk
    os.close(ours)
    if process.wait() != 0:
        raise SystemExit(written.decode())
    return written.decode().replace("\r\n", "\n")


def plain(page: str) -> str:
    return COLOUR.sub("", page)


def same_words(one: str, other: str) -> bool:
    """Whether two pages differ only in the run's id, the numbers, and the line breaks that depend on them."""
    first, second = (" ".join(VARIES.sub("*", page).split()) for page in (one, other))
    return first == second


def draw(page: str) -> str:
    """The page as SVG: one text element per piece of one colour; its length is given, so any font keeps the columns."""
    lines = [f"\x1b[2m{PROMPT}\x1b[0m", "", *page.rstrip("\n").split("\n")]
    width = round(COLUMNS * ACROSS + 2 * EDGE)
    height = BAR + len(lines) * DOWN + EDGE
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
        f' role="img" aria-label="The answer of laststep why, as text below the picture">',
        f'<rect width="{width}" height="{height}" rx="9" fill="{GROUND}"/>',
        *(f'<circle cx="{EDGE + 18 * n}" cy="18" r="5.5" fill="#30363d"/>' for n in range(3)),
        f'<g font-family="{FONT}" font-size="14" xml:space="preserve">',
    ]
    for row, line in enumerate(lines):
        parts += draw_line(line, BAR + row * DOWN + 15)
    return "\n".join([*parts, "</g>", "</svg>"]) + "\n"


def draw_line(line: str, y: float) -> list[str]:
    drawn, column, codes = [], 0, ""
    pieces = COLOUR.split(line)
    for position, piece in enumerate(pieces):
        if position % 2:
            codes = piece
            continue
        start = column + len(piece) - len(piece.lstrip(" "))
        column += len(piece)
        shown = piece.strip(" ")
        if shown:
            length = f'x="{EDGE + start * ACROSS:.1f}" y="{y}" textLength="{len(shown) * ACROSS:.1f}"'
            drawn.append(f'<text {length} lengthAdjust="spacingAndGlyphs" {style(codes)}>{escape(shown)}</text>')
    return drawn


def style(codes: str) -> str:
    given = codes.split(";")
    colour = next((COLOURS[code] for code in given if code in COLOURS), FAINT if "2" in given else PLAIN)
    return f'fill="{colour}"' + (' font-weight="bold"' if "1" in given else "")


def main() -> int:
    page = real_page()
    if TEXT.exists() and PICTURE.exists() and same_words(TEXT.read_text(), plain(page)) and "--again" not in sys.argv:
        print("the picture of an answer is up to date")
        return 0
    TEXT.write_text(plain(page))
    PICTURE.write_text(draw(page))
    readme = README.read_text()
    README.write_text(ANSWER.sub(lambda found: f"{found[1]}{PROMPT}\n\n{plain(page)}{found[2]}", readme))
    print(f"{PICTURE.relative_to(ROOT)}, {TEXT.relative_to(ROOT)} and the README's answer were written")
    return 0


if __name__ == "__main__":
    sys.exit(main())
