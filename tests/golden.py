"""Whole pages, as a user reads them: tests/pages/<name>.<columns>.txt. To write them again: make golden."""

from __future__ import annotations

import io
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from laststep.analysis.finding import Diagnosis
from laststep.logs.read import parse_log, run_from_log
from laststep.reports import terminal
from laststep.rules.diagnose import diagnose, read_diagnosis
from tests.recordings import Recordings

PAGES = Path(__file__).parent / "pages"
WIDTHS = (80, 120)
OF_A_LOG = "log_of_"  # the same program, of which only the console is there
# One for each kind of page: every symptom, certain and only possible causes, several findings, none.
NAMES = (
    "callback_blocked",
    "data_exhausted",
    "early_stopping",
    "exploding_gradients",
    "healthy__fit",
    "host_out_of_memory",
    "input_starved",
    "log_of_shape_mismatch",
    "no_signal",
    "output_loss_mismatch",
    "segmentation_fault",
    "shape_mismatch",
    "stopped_on_nan",
    "tensors_accumulating",
    "terminated",
    "unhandled_exception__thread",
    "waiting_for_rank",
)


def path_of(name: str, width: int) -> Path:
    return PAGES / f"{name}.{width}.txt"


def page_of(name: str, width: int, recordings: Recordings) -> str:
    return terminal.page(_diagnosis(name, recordings), width)


def _diagnosis(name: str, recordings: Recordings) -> Diagnosis:
    if not name.startswith(OF_A_LOG):
        return read_diagnosis(recordings.folder(name))
    console = recordings.runs[name.removeprefix(OF_A_LOG)]["console"]
    return diagnose(run_from_log(parse_log(io.BytesIO(console)), "train.log"))


def main() -> None:
    PAGES.mkdir(exist_ok=True)
    for path in PAGES.iterdir():
        path.unlink()
    with tempfile.TemporaryDirectory() as base:
        recordings = Recordings(Path(base))
        for name in NAMES:
            for width in WIDTHS:
                path_of(name, width).write_text(page_of(name, width, recordings))
    print(f"{len(NAMES) * len(WIDTHS)} pages in {PAGES}; read what changed: git diff tests/pages")


if __name__ == "__main__":
    main()
