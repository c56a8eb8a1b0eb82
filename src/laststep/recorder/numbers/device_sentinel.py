"""The sentinel of a step on an accelerator: the host never waits for what the device computes."""

from __future__ import annotations

import math
from typing import Any

from laststep.recorder.numbers.graph_variable import HOST_DEVICE, GraphVariable
from laststep.recorder.numbers.sentinel import (
    BAD,
    COUNT,
    FIRST_NORM,
    NO_ANSWER,
    Answer,
    Sentinel,
    TracedStep,
    device_of,
    is_on_host,
    prevent_inlining,
    sample,
)

MAX_LATCHED_BYTES = 4 << 20  # of a batch, copied in each step under XLA


def insert_sentinel(step: TracedStep) -> Sentinel | DeviceSentinel:
    return Sentinel(step) if is_on_host(device_of(step)) else DeviceSentinel(step)


class DeviceSentinel(Sentinel):
    """Keeps a sum on the device that stays NaN or Inf once a step was bad, and the number of steps before that one.

    Control flow on a value of the device would make the host wait for it in each step. So only a flag on the host
    decides whether a step measures itself. XLA has no such flag: there each step measures a sample of its gradients,
    and the measurement of the first bad step stays. A function that XLA may or may not compile has only the sum.
    """

    counts_itself = True
    _last_count = NO_ANSWER  # count of the last answer
    _has_requested_again = False

    def collect(self) -> list[Answer]:
        is_bad = not math.isfinite(float(self.total.host_read()))
        out = self.out.host_read()
        if is_bad:
            return self._answer_first_bad(out)
        if out[COUNT] in (NO_ANSWER, self._last_count):
            return []
        self._last_count = out[COUNT]
        return [self._read(out, self._kept_batch())]

    def request(self) -> None:
        """Request the numbers of the next step. A bad sum that was read and did no harm is reset."""
        if self._has_read_bad_step:
            self.total.host_write(0.0)
            self._has_requested_again = self._has_read_bad_step = False
        if self.measure_flag is not None:
            self.measure_flag.host_write(True)

    def _answer_first_bad(self, out: Any) -> list[Answer]:
        """The number of the first bad step. Only XLA keeps its measurement; otherwise a later one shows what is bad.

        Not at the first read: a step writes one variable after the other.
        """
        if not self._has_requested_again:
            self._has_requested_again = True
            if self.measure_flag is not None:
                self.measure_flag.host_write(True)
            return []
        answer = self._read(out, self._kept_batch() if self.in_xla else {})
        norms = answer.norms if out[BAD] else {}
        self._has_read_bad_step = True
        return [Answer(True, math.nan, int(self.finite_steps.host_read()), norms, {}, answer.batch)]

    def _read(self, out: Any, batch: dict[str, Any] | None = None, weights: list[Any] | None = None) -> Answer:
        """The count in the vector only distinguishes one answer from the next."""
        answer = super()._read(out, batch, weights)
        return Answer(answer.is_bad, answer.loss, -1, answer.norms, answer.max_by_unit, answer.batch)

    def _can_keep(self, tensor: Any) -> bool:
        if not super()._can_keep(tensor):
            return False
        return not self.in_xla or bool(tensor.shape.num_elements() * tensor.dtype.size <= MAX_LATCHED_BYTES)

    def _count_units(self, grads: list[Any]) -> dict[int, int]:
        """Only if the whole gradient is measured: a sample must not declare a unit dead."""
        units = super()._count_units(grads)
        return {i: count for i, count in units.items() if not self.in_xla or sample(grads[i]) is grads[i]}

    def _make_variables(self, tf: Any) -> None:
        self.total = self._variable(tf.constant(0.0), ())
        self.finite_steps = self._variable(tf.constant(0, "int64"), ())
        first = tf.concat([tf.zeros(COUNT), [NO_ANSWER], tf.zeros(self.size - FIRST_NORM)], 0)
        self.out = self._variable(first, (self.size,))
        self.kept = {name: self._variable_like(tf, tensor) for name, tensor in self._batch.items()}
        self.weights: list[GraphVariable] = []
        self.measure_flag = self._variable(tf.constant(True), (), HOST_DEVICE) if self.is_outside_xla else None

    def _watched_sum(self, tf: Any, total: Any) -> Any:
        return total if self._step.scales_loss else super()._watched_sum(tf, total)

    def _insert(self, tf: Any, total: Any) -> None:
        is_first = tf.math.is_finite(self.total.read()) if self.in_xla else None
        self.total.add(self._watched_sum(tf, total))
        self.finite_steps.add(tf.cast(tf.math.is_finite(self.total.read()), "int64"))
        if self.in_xla:
            self._latch(tf, is_first, total)
        elif self.measure_flag is not None:
            with tf.device(HOST_DEVICE):
                is_requested = self.measure_flag.read()
                self.measure_flag.write(tf.constant(False))
            prevent_inlining(tf.cond(is_requested, lambda: self._measure(tf, total, self._read_count(tf)), lambda: 0))

    def _read_count(self, tf: Any) -> Any:
        return tf.cast(self.finite_steps.read(), "float32")

    def _measure(self, tf: Any, total: Any, count: Any) -> int:
        self.out.write(self._numbers(tf, total, count))
        self._keep_batch(tf)
        return 0

    def _latch(self, tf: Any, is_first: Any, total: Any) -> None:
        """Without a branch: as long as all steps were finite, each one replaces the one before."""
        numbers = self._numbers(tf, total, self._read_count(tf))
        self.out.write(tf.where(is_first, numbers, self.out.read()))
        for name, variable in self.kept.items():
            variable.write(tf.where(is_first, self._batch[name], variable.read()))

    def _half_square(self, tf: Any, grad: Any) -> Any:
        """Under XLA, which measures in each step: for a large gradient, an estimate from a sample."""
        part = sample(grad) if self.in_xla else grad
        whole = super()._half_square(tf, part)
        return whole if part is grad else whole * (grad.shape.num_elements() / part.shape.num_elements())
