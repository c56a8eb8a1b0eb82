"""What is laid into a traced step to see its numbers: measured when asked, and at once when one is not finite."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass, field
from typing import Any

from laststep.recorder.numbers.exports import may_be_in_xla
from laststep.recorder.numbers.graph_variable import HOST, VARIABLES, GraphVariable

IDLE, ASKED = 0.0, math.inf  # the gate: the host sets ASKED, the step answers with IDLE
ABSENT = -1.0  # in place of a count of steps
NONE = -2.0  # in the same place: there was no answer before
BAD, LOSS, COUNT, FIRST_NORM = range(4)  # in what the host reads; norms and units follow
MOST_UNITS = 65536
MOST_LOOKED_AT = 24
MOST_WATCHED = 65536  # elements of a gradient that are summed up in each step
MOST_BATCH = 16 << 20  # bytes
MOST_WEIGHTS = 64 << 20
LARGEST = 3.4e38  # of float32, or nearly
RECORD = "tensorflow.python.eager.record"
ATTRIBUTES = "tensorflow.core.framework.attr_value_pb2"


@dataclass(frozen=True)
class Answer:
    """What one step measured of itself."""

    is_bad: bool
    loss: float
    count: int  # of the steps before it, by the optimizer's count or the sentinel's own; below 0 where unknown
    norms: dict[int, float] = field(default_factory=dict)  # half the sum of squares, by the number of the variable
    lively: dict[int, Any] = field(default_factory=dict)  # the largest gradient of each unit of a kernel
    batch: dict[str, Any] = field(default_factory=dict)
    weights: list[Any] = field(default_factory=list)  # that a bad step started from


@dataclass(frozen=True)
class TracedStep:
    """What a sentinel is laid into: the place where gradients are taken, as it is being traced."""

    variables: list[Any]
    grads: list[Any]
    loss: Any
    batch: dict[str, Any]
    clock: Any  # the optimizer's count of its steps, or None
    scales_loss: bool  # its gradients may overflow now and then: the optimizer leaves such a step out
    is_keras: bool  # a function of the program's own may later be called by one that XLA compiles; Keras's can't


class Sentinel:
    """One place where gradients are taken, in one traced function that runs on the host's own processor.

    In each step it costs a few scalar operations: is the loss finite, are the gradients of the first kernel, has
    somebody asked? Only then the norms of all gradients, the largest gradient of each unit, and the batch are
    copied, into variables of ours that the host reads when it likes. Nothing of the host's is written.
    """

    counts_itself = False  # its answers say the optimizer's count
    _read_a_bad_one = False

    def __init__(self, step: TracedStep) -> None:
        tf = sys.modules["tensorflow"]
        self._step = step
        self.device = device_of(step)
        self.in_xla = _in_xla(tf)
        grads = step.grads
        kernels = [i for i, g in enumerate(grads) if _is_kernel(tf, g) and self._is_here(i)]
        # Whose gradients are looked at: each one costs a little in every step, so of many not those of biases.
        given = [i for i, g in enumerate(grads) if g is not None and self._is_here(i)]
        self.looked_at = given if len(given) <= MOST_LOOKED_AT or not kernels else sorted({*kernels, given[-1]})
        self.kernels = [i for i in kernels if not hasattr(grads[i], "indices")]
        self.units = self._count_units(grads)
        # A name is looked for on the device where the step runs, and never by XLA.
        self.is_beyond_xla = not self.in_xla and (step.is_keras or not may_be_in_xla())
        self.by_name = self.is_beyond_xla and len(tf.config.list_logical_devices()) == 1
        self._batch = {name: tensor for name, tensor in step.batch.items() if self._can_keep(tensor)}
        self.size = FIRST_NORM + len(self.looked_at) + sum(self.units.values())
        with tf.init_scope():
            self._make_variables(tf)
        with sys.modules[RECORD].stop_recording(), tf.name_scope("laststep"):
            self._lay(tf, _scalar(tf, step.loss))
        del self._step, self._batch  # no tensor is kept

    def collect(self) -> list[Answer]:
        """What steps have answered since the last time; none while one that was asked has not come by."""
        is_asked = float(self.gate.look()) == ASKED
        held = self.out.look()
        if is_asked and not held[BAD]:
            return []
        out, unread = held[: self.size], held[self.size :]
        before = [self._read(unread)] if unread[COUNT] != NONE and not unread[BAD] else []
        last = self._read(out, self._kept_batch(), self._weights_then() if out[BAD] else [])
        self._read_a_bad_one = last.is_bad
        if last.is_bad:
            self._let_go()
        return [*before, last]

    def ask(self) -> None:
        """For the numbers of one step, the next. A bad one that was read and did no harm is forgotten."""
        if self._read_a_bad_one:
            self.out.put(sys.modules["numpy"].zeros(2 * self.size, "float32"))
        self.gate.put(ASKED)

    def leave(self) -> None:
        """The host looks no more: a step that still runs finds the flag of a bad one, and leaves its numbers alone."""
        if self.by_name:
            self.out.put([1.0])
            self._let_go()

    def _let_go(self) -> None:
        """Of what was kept of a bad step; as long as its flag stands, nothing more is kept."""
        if self.by_name:
            for held in [*self.kept.values(), *self.weights]:
                held.put(sys.modules["tensorflow"].zeros((0,), held.dtype))

    def _weights_then(self) -> list[Any]:
        """The weights that the first bad step started from; none where they were not kept."""
        values = [held.look() for held in self.weights]
        return values if all(value.size for value in values) else []

    def _kept_batch(self) -> dict[str, Any]:
        batch = {name: held.look() for name, held in self.kept.items()}
        return {name: values for name, values in batch.items() if values.size}

    def _read(self, out: Any, batch: dict[str, Any] | None = None, weights: list[Any] | None = None) -> Answer:
        lively, at = {}, FIRST_NORM + len(self.looked_at)
        for number, units in self.units.items():
            lively[number] = out[at : at + units]
            at += units
        norms = dict(zip(self.looked_at, (float(value) for value in out[FIRST_NORM:]), strict=False))
        return Answer(bool(out[BAD]), float(out[LOSS]), int(out[COUNT]), norms, lively, batch or {}, weights or [])

    def _is_here(self, number: int) -> bool:
        """Whether a variable lies where the step runs: a gradient from elsewhere would be copied in each step."""
        return self.device in ("", _place(self._step.variables[number]))

    def _count_units(self, grads: list[Any]) -> dict[int, int]:
        found: dict[int, int] = {}
        for i in self.kernels:
            count = int(grads[i].shape[-1])
            if sum(found.values()) + count <= MOST_UNITS:
                found[i] = count
        return found

    def _can_keep(self, tensor: Any) -> bool:
        """XLA cannot write what has no fixed shape into a variable."""
        return bool(tensor.shape.is_fully_defined() if self.in_xla else tensor.shape.rank is not None)

    def _make_variables(self, tf: Any) -> None:
        self.gate = self._variable(tf.constant(ASKED), ())
        # The answer, and behind it one that was not read when it came: a variable more would cost in each step.
        both = (2 * self.size,)
        self.out = self._variable(tf.zeros(both), None if self.by_name else both)
        self.kept = {name: self._variable_like(tf, tensor) for name, tensor in self._batch.items()}
        keeps = self.by_name and _can_keep_all(self._step.variables)
        self.weights = [self._variable_like(tf, variable) for variable in self._step.variables] if keeps else []

    def _variable(self, first: Any, shape: Any, device: str | None = None) -> GraphVariable:
        return GraphVariable(first, shape, self.by_name, self.device if device is None else device)

    def _variable_like(self, tf: Any, tensor: Any) -> GraphVariable:
        first = tf.zeros(tensor.shape if self.in_xla else (0,), tensor.dtype)
        return self._variable(first, tensor.shape if self.in_xla else None)

    def _watched(self, tf: Any, total: Any) -> Any:
        """One number that is not finite where the loss or the gradients of the first kernel are not."""
        if not self.kernels:
            return total
        return total + _half_square(tf, sample(self._step.grads[self.kernels[0]]))

    def _half_square(self, tf: Any, grad: Any) -> Any:
        return _half_square(tf, grad)

    def _lay(self, tf: Any, total: Any) -> None:
        result = tf.cond(self._is_quiet(tf, self._watched(tf, total)), lambda: 0, lambda: self._answer(tf, total))
        if not self.in_xla:
            keep_closed(result)

    def _is_quiet(self, tf: Any, watched: Any) -> Any:
        """Nothing was asked, and nothing is bad. Both are known where the step runs, so nothing is waited for."""
        gate = self.gate.read()
        if self.in_xla:  # operations cost nothing there
            return tf.logical_and(tf.equal(gate, IDLE), tf.math.is_finite(watched))
        # One operation: the difference of two numbers is small only if neither is NaN or Inf.
        return tf.raw_ops.ApproximateEqual(x=watched, y=gate, tolerance=LARGEST)

    def _answer(self, tf: Any, total: Any) -> Any:
        """What was measured of the first bad step stays: the host, who sets the gate, has no say in that."""
        return tf.cond(self.out.read()[BAD] != 0.0, lambda: 0, lambda: self._measure(tf, total))

    def _measure(self, tf: Any, total: Any) -> int:
        clock = self._step.clock
        at = tf.cast(clock.read_value(), "float32") if clock is not None else tf.constant(ABSENT)
        measured = self._numbers(tf, total, at)
        self._keep_weights(tf, measured[BAD])
        asked = tf.not_equal(self.gate.read(), IDLE)
        # A bad step that comes before the last answer was read does not wipe it out.
        unread = tf.where(asked, NONE, self.out.read()[: self.size])
        written = [self.out.write(tf.concat([measured, unread], 0)), *self._keep_batch(tf)]
        # Of variables that are found by name TensorFlow keeps no order: the answer stands before it is said to.
        with tf.control_dependencies([asked, *written]):
            self.gate.write(tf.constant(IDLE))
        return 0

    def _numbers(self, tf: Any, total: Any, at: Any) -> Any:
        """Whether something is bad, the loss, the count, norms, units: in one vector."""
        grads = self._step.grads
        norms = [self._half_square(tf, grads[i]) for i in self.looked_at]
        lively = [_largest_by_unit(tf, grads[i]) for i in self.units]
        bad = tf.cast(tf.logical_not(tf.math.is_finite(tf.add_n([total, *norms]))), "float32")
        return tf.concat([tf.stack([bad, total, at, *norms]), *lively], 0)

    def _keep_batch(self, tf: Any) -> list[Any]:
        """The operations that do it."""
        written = []
        for name, held in self.kept.items():
            tensor = self._batch[name]
            small = tf.size(tensor, out_type="int64") * tensor.dtype.size <= MOST_BATCH
            is_whole = self.in_xla or tensor.shape.is_fully_defined()
            written.append(held.write(tensor if is_whole else tensor[: tf.where(small, tf.shape(tensor)[0], 0)]))
        return written

    def _keep_weights(self, tf: Any, bad: Any) -> None:
        """Those that the bad step started from: it has updated none yet. What is kept is not copied, but replaced."""
        if self.weights:
            tf.cond(bad != 0.0, self._write_weights, lambda: 0)

    def _write_weights(self) -> int:
        for held, variable in zip(self.weights, self._step.variables, strict=True):
            held.write(variable.read_value())
        return 0


def device_of(step: TracedStep) -> str:
    """Where the first kernel lies, and so where its gradient is made: CPU:0, GPU:0 …; "" where it can't be known."""
    tf = sys.modules["tensorflow"]
    kernels = [v for v, grad in zip(step.variables, step.grads, strict=True) if _is_kernel(tf, grad)]
    return _place((kernels or step.variables)[0])


def is_on_host(device: str) -> bool:
    return device in ("", HOST)


def _place(variable: Any) -> str:
    """/job:localhost/replica:0/task:0/device:GPU:0 → GPU:0."""
    return str(getattr(variable, "device", "") or "").rpartition("device:")[2]


def _can_keep_all(variables: list[Any]) -> bool:
    plain = sys.modules[VARIABLES].BaseResourceVariable
    if not all(isinstance(v, plain) and v.shape.is_fully_defined() for v in variables):
        return False
    return bool(sum(v.dtype.size * v.shape.num_elements() for v in variables) <= MOST_WEIGHTS)


def _in_xla(tf: Any) -> bool:
    util = sys.modules["tensorflow.python.ops.control_flow_util"]
    return bool(util.GraphOrParentsInXlaContext(tf.compat.v1.get_default_graph()))


def keep_closed(result: Any) -> None:
    """The branch stays a function of its own: inlined, each of its operations would cost a little in every step."""
    op = result.op
    while op.type == "Identity":
        op = op.inputs[0].op
    op._set_attr("_lower_using_switch_merge", sys.modules[ATTRIBUTES].AttrValue(b=False))


def _scalar(tf: Any, loss: Any) -> Any:
    losses = [tf.cast(part, "float32") for part in tf.nest.flatten(loss) if part is not None]
    parts = [part if part.shape.rank == 0 else tf.reduce_sum(part) for part in losses]
    return parts[0] if len(parts) == 1 else tf.add_n(parts)


def _half_square(tf: Any, grad: Any) -> Any:
    """Half the sum of squares, in one operation; of a sparse gradient, that of its rows."""
    return tf.nn.l2_loss(tf.cast(grad.values if hasattr(grad, "indices") else grad, "float32"))


def sample(grad: Any) -> Any:
    """Of a large gradient every k-th row, so that watching it costs nothing next to making it."""
    count = None if hasattr(grad, "indices") else grad.shape.num_elements()
    if count is None or count <= MOST_WATCHED or grad.shape[0] == 1:
        return grad
    return grad[:: -(-count // MOST_WATCHED)]


def _is_kernel(tf: Any, grad: Any) -> bool:
    """Of a table of weights; also a sparse one, of an embedding."""
    held = grad.values if hasattr(grad, "indices") else grad
    return isinstance(held, tf.Tensor) and held.dtype.is_floating and (held.shape.rank or 0) >= 2


def _largest_by_unit(tf: Any, grad: Any) -> Any:
    """The largest gradient of each unit: one that is 0 in every look takes no part."""
    return tf.cast(tf.reduce_max(tf.abs(grad), axis=list(range(grad.shape.rank - 1))), "float32")
