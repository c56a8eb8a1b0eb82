"""Keras's progress bars and other counters on a console → fit, epoch and progress events."""

from __future__ import annotations

import re
from collections.abc import Iterator

from laststep.logs.line_reader import LogLine
from laststep.record.event import Event
from laststep.record.events.logs import SOURCE, Progress
from laststep.record.events.training import Epoch, FitEnd, FitStart

_EPOCH = re.compile(r"^\s*Epoch (?P<epoch>\d{1,9})/(?P<of>\d{1,9})(?:\s*$|\s+(?=\d+/(?:\d+|Unknown)\s?[\[━ ]))")
_STEP_TIME = re.compile(r"(?P<time>\d{1,9})(?P<unit>us|ms|s)/(?:step|sample|batch)")
_UNITS = {"us": 1e-6, "ms": 1e-3, "s": 1.0}
_BAR = re.compile(
    r"(?:^|(?<=\s))\s*(?P<done>\d{1,12})/(?P<of>\d{1,12}|Unknown)\s*(?:\[[=>.\s]*\]|[━─╸╺╍ ]{4,}|(?=\s- ))(?P<rest>.*)$"
)
_TQDM = re.compile(r"\|\s*(?P<done>\d{1,12})/(?P<of>\d{1,12})\s*\[(?P<rest>.*)$")
_COUNTER = re.compile(r"(?i)\b(?:global[ _]?step|step|iter(?:ation)?|epoch|batch)s?\b\D{0,3}(?P<done>\d{1,12})")
_METRIC = re.compile(
    r"(?i)([a-z_][\w/ -]*?)\s*[:=]\s*(nan|-?inf(?:inity)?|[-+]?\d{1,18}\.?\d*(?:e[-+]?\d{1,3})?)(?![\w/:]|\.\d)"
)


def metrics_in(text: str) -> dict[str, float]:
    """`loss: 0.12 - accuracy: nan` as numbers."""
    found = {}
    for name, value in _METRIC.findall(text):
        name = name.strip(" -").rsplit(" - ", 1)[-1]
        if name.lower() not in ("eta", "step", "epoch", "iteration", "iter", "batch", "global_step"):
            found[name] = float(value)
    return found


class Bars:
    """Reads line by line; knows how far training has come."""

    def __init__(self) -> None:
        self.fits = 0
        self.done: int | None = None  # of the bar that is being drawn
        self.of: int | None = None
        self._epoch: int | None = None  # counted from 0; None when no epoch is open
        self._last_epoch = -1
        self._asked = 0
        self.metrics: dict[str, float] = {}
        self._cut_at: int | None = None
        self._step_seconds: float | None = None
        self._moved_at = self._last_move = 0  # the line of the last move but one, and of the last
        self._line = 0
        self._counted: int | None = None

    def take(self, line: LogLine) -> Iterator[Event]:
        epoch = _EPOCH.match(line.text)
        if epoch:
            yield from self._header(line, int(epoch["epoch"]) - 1, int(epoch["of"]))
            line = LogLine(line.number, line.text[epoch.end() :])  # a pasted log may have lost its newlines
        bar = _BAR.match(line.text)
        while bar and (later := _BAR.search(bar["rest"])):
            bar = later  # and its carriage returns
        if bar:
            yield from self._bar(line, bar)
            return
        yield from self._counter(line)

    def ran_out(self) -> None:
        """Keras warns that the data ran out: what the bar shows from here on is not what was delivered."""
        if self._cut_at is None:
            self._cut_at = self.done

    def end(self) -> Iterator[Event]:
        """The log ends: an epoch that is still open was not cut short."""
        yield from self._close(is_open=self._cut_at is None)

    def _header(self, line: LogLine, epoch: int, asked: int) -> Iterator[Event]:
        yield from self._close()
        if not self.fits or epoch <= self._last_epoch or asked != self._asked:
            self.fits += 1
            yield FitStart(
                time=float(line.number),
                source=SOURCE,
                id=self.fits,
                function="fit",
                epochs=asked,
                initial_epoch=epoch,
                at_line=line.number,
            )
        self._epoch, self._last_epoch, self._asked = epoch, epoch, asked
        self.done = self.of = self._cut_at = None
        self._moved_at = self._last_move = line.number
        self.metrics, self._line, self._step_seconds = {}, line.number, None

    def _bar(self, line: LogLine, bar: re.Match[str]) -> Iterator[Event]:
        done, of = int(bar["done"]), int(bar["of"]) if bar["of"] != "Unknown" else None
        metrics = metrics_in(bar["rest"])
        if self._epoch is None or (self.of is not None and of is not None and of != self.of):
            if self._epoch is None:
                self.done, self.of = done, of
            yield self._progress(line, done, metrics)  # evaluate, predict, or a bar of validation
            return
        if self.done is not None and done > self.done:
            self._moved_at, self._last_move = self._last_move, line.number
        self.done, self.of, self._line = done, of or self.of, line.number
        self.metrics.update(metrics)
        clock = _STEP_TIME.search(bar["rest"])
        self._step_seconds = int(clock["time"]) * _UNITS[clock["unit"]] if clock else self._step_seconds
        if any(name.startswith("val_") for name in metrics) or (
            of is not None and done >= of and "ETA" not in bar["rest"]
        ):
            yield from self._close()

    def _close(self, is_open: bool = False) -> Iterator[Event]:
        """The epoch that was open, if its bar was shown."""
        if self._epoch is None or self.done is None:
            self._epoch = None
            return
        yield Epoch(
            time=float(self._line),
            source=SOURCE,
            fit=self.fits,
            epoch=self._epoch,
            batches=self._cut_at if self._cut_at is not None else self.done,
            of=self.of,
            cut=self._cut_at is not None,
            is_open=is_open,
            moved_at=self._moved_at,
            metrics=dict(self.metrics),
            step_seconds=self._step_seconds,
            at_line=self._line,
        )
        if self._epoch + 1 >= self._asked:
            yield FitEnd(time=float(self._line), source=SOURCE, id=self.fits)
        self._epoch = None

    def _counter(self, line: LogLine) -> Iterator[Event]:
        """A line of the program's own: `step 100: loss 0.4`, tqdm's bar, TensorFlow's global_step."""
        if not any(word in line.text for word in ("oss", "/", "step", "poch", "iter")):
            return
        counter = _TQDM.search(line.text) or _COUNTER.search(line.text)
        metrics = {name: value for name, value in metrics_in(line.text).items() if "loss" in name.lower()}
        if counter or metrics:
            yield self._progress(line, int(counter["done"]) if counter else None, metrics)

    def _progress(self, line: LogLine, done: int | None, metrics: dict[str, float]) -> Progress:
        moved = done is not None and self._counted is not None and done > self._counted
        self._counted = done if done is not None else self._counted
        return Progress(
            time=float(line.number),
            source=SOURCE,
            done=done,
            moved=moved,
            metrics=metrics,
            at_line=line.number,
        )
