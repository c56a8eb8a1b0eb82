"""The sentinel of a step that runs on an accelerator: the host never waits for what the device computes."""

from __future__ import annotations

import math
from typing import Any

from laststep.recorder.numbers.graph_variable import HOST, GraphVariable
from laststep.recorder.numbers.sentinel import (
    BAD,
    COUNT,
    FIRST_NORM,
    NONE,
    Answer,
    Sentinel,
    TracedStep,
    device_of,
    is_on_host,
    keep_closed,
    sample,
)

MOST_LATCHED = 4 << 20  # bytes of a batch that are copied in each step, under XLA


def lay_sentinel(step: TracedStep) -> Sentinel | DeviceSentinel:
    return Sentinel(step) if is_on_host(device_of(step)) else DeviceSentinel(step)


class DeviceSentinel(Sentinel):
    """A sum on the device, which stays NaN or Inf once a step was, and the count of the steps before that one.

    Control flow on a value of the device would make the host wait for it in each step. So whether a step measures
    itself is decided by a flag on the host alone. XLA has no such flag, so there is no decision: each step measures a
    sample of its gradients, and what the first bad one measured stays. A function that XLA may or may not compile
    has neither: only the sum.
    """

    counts_itself = True
    _last_seen = NONE  # the count of the last answer
    _asked_again = False

    def collect(self) -> list[Answer]:
        is_bad = not math.isfinite(float(self.total.look()))
        out = self.out.look()
        if is_bad:
            return self._first_bad(out)
        if out[COUNT] in (NONE, self._last_seen):
            return []
        self._last_seen = out[COUNT]
        return [self._read(out, self._kept_batch())]

    def ask(self) -> None:
        """For the numbers of one step, the next. A sum that was read and did no harm begins again."""
        if self._read_a_bad_one:
            self.total.put(0.0)
            self._asked_again = self._read_a_bad_one = False
        if self.flag is not None:
            self.flag.put(True)

    def _first_bad(self, out: Any) -> list[Answer]:
        """Which step it was. Its own numbers only XLA keeps; otherwise those of a later one say whose are bad.

        Not at the first sight of it: a step writes one variable after the other.
        """
        if not self._asked_again:
            self._asked_again = True
            if self.flag is not None:
                self.flag.put(True)
            return []
        found = self._read(out, self._kept_batch() if self.in_xla else {})
        norms = found.norms if out[BAD] else {}
        self._read_a_bad_one = True
        return [Answer(True, math.nan, int(self.good.look()), norms, {}, found.batch)]

    def _read(self, out: Any, batch: dict[str, Any] | None = None, weights: list[Any] | None = None) -> Answer:
        """The count in there only tells one answer from the next."""
        found = super()._read(out, batch, weights)
        return Answer(found.is_bad, found.loss, -1, found.norms, found.lively, found.batch)

    def _can_keep(self, tensor: Any) -> bool:
        if not super()._can_keep(tensor):
            return False
        return not self.in_xla or bool(tensor.shape.num_elements() * tensor.dtype.size <= MOST_LATCHED)

    def _count_units(self, grads: list[Any]) -> dict[int, int]:
        """Only where the whole gradient is measured: a sample must not call a unit dead."""
        found = super()._count_units(grads)
        return {i: count for i, count in found.items() if not self.in_xla or sample(grads[i]) is grads[i]}

    def _make_variables(self, tf: Any) -> None:
        self.total, self.good = self._variable(tf.constant(0.0), ()), self._variable(tf.constant(0, "int64"), ())
        first = tf.concat([tf.zeros(COUNT), [NONE], tf.zeros(self.size - FIRST_NORM)], 0)
        self.out = self._variable(first, (self.size,))
        self.kept = {name: self._variable_like(tf, tensor) for name, tensor in self._batch.items()}
        self.weights: list[GraphVariable] = []
        self.flag = self._variable(tf.constant(True), (), HOST) if self.is_beyond_xla else None

    def _watched(self, tf: Any, total: Any) -> Any:
        return total if self._step.scales_loss else super()._watched(tf, total)

    def _lay(self, tf: Any, total: Any) -> None:
        is_first = tf.math.is_finite(self.total.read()) if self.in_xla else None
        self.total.add(self._watched(tf, total))
        self.good.add(tf.cast(tf.math.is_finite(self.total.read()), "int64"))
        if self.in_xla:
            self._latch(tf, is_first, total)
        elif self.flag is not None:
            with tf.device(HOST):
                asked = self.flag.read()
                self.flag.write(tf.constant(False))
            keep_closed(tf.cond(asked, lambda: self._measure(tf, total), lambda: 0))

    def _measure(self, tf: Any, total: Any) -> int:
        self.out.write(self._numbers(tf, total, tf.cast(self.good.read(), "float32")))
        self._keep_batch(tf)
        return 0

    def _latch(self, tf: Any, is_first: Any, total: Any) -> None:
        """Without a branch: as long as all steps were finite, each one replaces the one before."""
        numbers = self._numbers(tf, total, tf.cast(self.good.read(), "float32"))
        self.out.write(tf.where(is_first, numbers, self.out.read()))
        for name, held in self.kept.items():
            held.write(tf.where(is_first, self._batch[name], held.read()))

    def _half_square(self, tf: Any, grad: Any) -> Any:
        """Under XLA, which measures in each step, of a large gradient an estimate from a sample."""
        part = sample(grad) if self.in_xla else grad
        whole = super()._half_square(tf, part)
        return whole if part is grad else whole * (grad.shape.num_elements() / part.shape.num_elements())
