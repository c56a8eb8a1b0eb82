"""Operations inserted into a traced step to measure it: on request, and at once if a value is not finite."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass, field
from typing import Any

from laststep.recorder.numbers.exports import may_be_in_xla
from laststep.recorder.numbers.graph_variable import HOST_DEVICE, VARIABLES_MODULE, GraphVariable
from laststep.recorder.numbers.kept_step import max_batch_bytes

IDLE, REQUESTED = 0.0, math.inf  # the gate: the host writes REQUESTED, the step answers with IDLE
UNKNOWN_COUNT = -1.0  # in place of a step count
NO_ANSWER = -2.0  # in place of a step count: there was no earlier answer
BAD, LOSS, COUNT, FIRST_NORM = range(4)  # positions in the vector that the host reads; norms and units follow
MAX_UNITS = 65536  # of all kernels together
MAX_NORMS = 24  # of gradients, in one step; above that only those of kernels
MAX_WATCHED_ELEMENTS = 65536  # elements of a gradient that are summed in each step
MAX_COPIED_BATCH_BYTES = 16 << 20  # more where --keep-last-batch asks for more
MAX_COPIED_WEIGHT_BYTES = 64 << 20  # copied when a step is bad
MAX_FLOAT32 = 3.4e38  # of float32, approximately
RECORD_MODULE = "tensorflow.python.eager.record"
ATTR_VALUE_MODULE = "tensorflow.core.framework.attr_value_pb2"


@dataclass(frozen=True)
class Answer:
    """What one step measured."""

    is_bad: bool
    loss: float
    count: int  # steps before it, counted by the optimizer or the sentinel; negative if unknown
    norms: dict[int, float] = field(default_factory=dict)  # half the sum of squares, by index of the variable
    max_by_unit: dict[int, Any] = field(default_factory=dict)  # largest absolute gradient of each unit of a kernel
    batch: dict[str, Any] = field(default_factory=dict)
    weights: list[Any] = field(default_factory=list)  # before a bad step


@dataclass(frozen=True)
class TracedStep:
    """The step into which a sentinel is inserted: where gradients are taken, while it is traced."""

    variables: list[Any]
    grads: list[Any]
    loss: Any
    batch: dict[str, Any]
    iterations: Any  # the optimizer's step counter, or None
    scales_loss: bool  # gradients may overflow occasionally: the optimizer skips such a step
    is_keras: bool  # a program's function may later be called by one that XLA compiles; Keras's own cannot
    may_write_early: bool = False  # weights, before it has its data


class Sentinel:
    """One place where gradients are taken, in one traced function that runs on the host's CPU.

    In each step it costs a few scalar operations: is the loss finite, are the gradients of the first kernel finite, was
    a measurement requested? Only then are the norms of all gradients, the largest gradient of each unit and the batch
    copied into variables of ours, which the host reads at any time. Nothing of the host's is written.
    """

    counts_itself = False  # its answers contain the optimizer's count
    _has_read_bad_step = False

    def __init__(self, step: TracedStep) -> None:
        tf = sys.modules["tensorflow"]
        self._step = step
        self.device = device_of(step)
        self.in_xla = _in_xla(tf)
        grads = step.grads
        kernels = [i for i, g in enumerate(grads) if _is_kernel(tf, g) and self._is_on_step_device(i)]
        # Each norm costs a little in every step: if there are many gradients, those of biases are left out.
        present = [i for i, g in enumerate(grads) if g is not None and self._is_on_step_device(i)]
        present = [i for i in present if i in kernels or not _is_product(tf, grads[i])]
        self.measured = present if len(present) <= MAX_NORMS or not kernels else sorted({*kernels, present[-1]})
        self.kernels = [i for i in kernels if not hasattr(grads[i], "indices")]
        self.units = self._count_units(grads)
        # A named variable is looked up on the device where the step runs; XLA cannot look it up at all.
        self.is_outside_xla = not self.in_xla and (step.is_keras or not may_be_in_xla())
        self.by_name = self.is_outside_xla and len(tf.config.list_logical_devices()) == 1
        self._weights_ahead: list[Any] = []  # read before the branch
        self._batch = {name: tensor for name, tensor in step.batch.items() if self._can_keep(tensor)}
        self.size = FIRST_NORM + len(self.measured) + sum(self.units.values())
        with tf.init_scope():
            self._make_variables(tf)
        with sys.modules[RECORD_MODULE].stop_recording(), tf.name_scope("laststep"):
            self._insert(tf, _scalar(tf, step.loss))
        del self._step, self._batch, self._weights_ahead  # keep no tensor

    def collect(self) -> list[Answer]:
        """The answers of steps since the last call; none while a requested step has not run yet."""
        is_requested = float(self.gate.host_read()) == REQUESTED
        content = self.out.host_read()
        if is_requested and not content[BAD]:
            return []
        out, unread = content[: self.size], content[self.size :]
        earlier = [self._read(unread)] if unread[COUNT] != NO_ANSWER and not unread[BAD] else []
        last = self._read(out, self._kept_batch(), self._weights_before() if out[BAD] else [])
        self._has_read_bad_step = last.is_bad
        if last.is_bad:
            self._free_kept()
        return [*earlier, last]

    def request(self) -> None:
        """Request the numbers of the next step. A bad step that was read and did no harm is forgotten."""
        if self._has_read_bad_step:
            self.out.host_write(sys.modules["numpy"].zeros(2 * self.size, "float32"))
        self.gate.host_write(REQUESTED)

    def detach(self) -> None:
        """The host stops reading: a step that still runs finds the flag of a bad step and keeps nothing more."""
        if self.by_name:
            self.out.host_write([1.0])
            self._free_kept()

    def _free_kept(self) -> None:
        """Free what was kept of a bad step; while its flag is set, nothing more is kept."""
        if self.by_name:
            for variable in [*self.kept.values(), *self.weights]:
                variable.host_write(sys.modules["tensorflow"].zeros((0,), variable.dtype))

    def _weights_before(self) -> list[Any]:
        """The weights before the first bad step; empty if they were not kept."""
        values = [variable.host_read() for variable in self.weights]
        return values if all(value.size for value in values) else []

    def _kept_batch(self) -> dict[str, Any]:
        batch = {name: variable.host_read() for name, variable in self.kept.items()}
        return {name: values for name, values in batch.items() if values.size}

    def _read(self, out: Any, batch: dict[str, Any] | None = None, weights: list[Any] | None = None) -> Answer:
        max_by_unit, position = {}, FIRST_NORM + len(self.measured)
        for number, units in self.units.items():
            max_by_unit[number] = out[position : position + units]
            position += units
        norms = dict(zip(self.measured, (float(value) for value in out[FIRST_NORM:]), strict=False))
        return Answer(bool(out[BAD]), float(out[LOSS]), int(out[COUNT]), norms, max_by_unit, batch or {}, weights or [])

    def _is_on_step_device(self, number: int) -> bool:
        """Whether a variable is on the device of the step: other gradients would have to be copied in each step."""
        return self.device in ("", _device_name(self._step.variables[number]))

    def _count_units(self, grads: list[Any]) -> dict[int, int]:
        found: dict[int, int] = {}
        for i in self.kernels:
            count = int(grads[i].shape[-1])
            if sum(found.values()) + count <= MAX_UNITS:
                found[i] = count
        return found

    def _can_keep(self, tensor: Any) -> bool:
        """XLA cannot write a tensor without a fixed shape into a variable."""
        return bool(tensor.shape.is_fully_defined() if self.in_xla else tensor.shape.rank is not None)

    def _make_variables(self, tf: Any) -> None:
        self.gate = self._variable(tf.constant(REQUESTED), ())
        # The answer, followed by an earlier one that was not read in time: another variable would cost in each step.
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

    def _watched_sum(self, tf: Any, total: Any) -> Any:
        """A number that is not finite if the loss or the gradients of the first kernel are not finite."""
        if not self.kernels:
            return total
        return total + _half_square(tf, sample(self._step.grads[self.kernels[0]]))

    def _half_square(self, tf: Any, grad: Any) -> Any:
        return _half_square(tf, grad)

    def _insert(self, tf: Any, total: Any) -> None:
        count = self._read_count(tf)
        if self.weights and self._step.may_write_early:
            self._weights_ahead = self._read_weights()
        is_quiet = self._is_quiet(tf, self._watched_sum(tf, total))
        result = tf.cond(is_quiet, lambda: 0, lambda: self._answer(tf, total, count))
        if not self.in_xla:
            prevent_inlining(result)

    def _read_count(self, tf: Any) -> Any:
        """The optimizer's count, read outside the branch, which waits for data.

        Read inside, the optimizer would count this step only once there is data. In the last step of a dataset of
        unknown length there is none; Keras 3 counts that step all the same, and the numbers of Adam depend on it.
        """
        iterations = self._step.iterations
        return iterations.read_value() if iterations is not None else tf.constant(UNKNOWN_COUNT)

    def _is_quiet(self, tf: Any, watched: Any) -> Any:
        """Nothing was requested and nothing is bad. Both are known on the step's device, so nothing has to wait."""
        gate = self.gate.read()
        if self.in_xla:  # operations cost nothing there
            return tf.logical_and(tf.equal(gate, IDLE), tf.math.is_finite(watched))
        # One operation: the difference of two numbers is small only if neither is NaN or Inf.
        return tf.raw_ops.ApproximateEqual(x=watched, y=gate, tolerance=MAX_FLOAT32)

    def _answer(self, tf: Any, total: Any, count: Any) -> Any:
        """Keep the measurement of the first bad step, even if the host sets the gate again."""
        return tf.cond(self.out.read()[BAD] != 0.0, lambda: 0, lambda: self._measure(tf, total, count))

    def _measure(self, tf: Any, total: Any, count: Any) -> int:
        numbers = self._numbers(tf, total, tf.cast(count, "float32"))
        self._keep_weights(tf, numbers[BAD])
        is_requested = tf.not_equal(self.gate.read(), IDLE)
        # A bad step must not overwrite an earlier answer that has not been read.
        unread = tf.where(is_requested, NO_ANSWER, self.out.read()[: self.size])
        written = [self.out.write(tf.concat([numbers, unread], 0)), *self._keep_batch(tf)]
        # TensorFlow does not order operations on variables looked up by name: write the answer before closing the gate.
        with tf.control_dependencies([is_requested, *written]):
            self.gate.write(tf.constant(IDLE))
        return 0

    def _numbers(self, tf: Any, total: Any, count: Any) -> Any:
        """One vector: whether something is bad, the loss, the count, norms, units."""
        grads = self._step.grads
        norms = [self._half_square(tf, grads[i]) for i in self.measured]
        max_by_unit = [_max_by_unit(tf, grads[i]) for i in self.units]
        is_bad = tf.cast(tf.logical_not(tf.math.is_finite(tf.add_n([total, *norms]))), "float32")
        return tf.concat([tf.stack([is_bad, total, count, *norms]), *max_by_unit], 0)

    def _keep_batch(self, tf: Any) -> list[Any]:
        """The operations that copy the batch."""
        written, max_bytes = [], max(MAX_COPIED_BATCH_BYTES, max_batch_bytes())
        for name, variable in self.kept.items():
            tensor = self._batch[name]
            is_small = tf.size(tensor, out_type="int64") * tensor.dtype.size <= max_bytes
            is_fixed = self.in_xla or tensor.shape.is_fully_defined()
            written.append(variable.write(tensor if is_fixed else tensor[: tf.where(is_small, tf.shape(tensor)[0], 0)]))
        return written

    def _keep_weights(self, tf: Any, is_bad: Any) -> None:
        """Keep the weights before the bad step, which has not updated any yet; the tensors are not copied."""
        if self.weights:
            tf.cond(is_bad != 0.0, self._write_weights, lambda: 0)

    def _write_weights(self) -> int:
        for kept, value in zip(self.weights, self._weights_ahead or self._read_weights(), strict=True):
            kept.write(value)
        return 0

    def _read_weights(self) -> list[Any]:
        """Inside the branch if possible, where they cost nothing. A write that needs no data would then wait for it."""
        return [variable.read_value() for variable in self._step.variables]


def device_of(step: TracedStep) -> str:
    """The device of the first kernel, where its gradient is computed: CPU:0, GPU:0 …; "" if unknown."""
    tf = sys.modules["tensorflow"]
    kernels = [v for v, grad in zip(step.variables, step.grads, strict=True) if _is_kernel(tf, grad)]
    return _device_name((kernels or step.variables)[0])


def is_on_host(device: str) -> bool:
    return device in ("", HOST_DEVICE)


def _device_name(variable: Any) -> str:
    """/job:localhost/replica:0/task:0/device:GPU:0 → GPU:0."""
    return str(getattr(variable, "device", "") or "").rpartition("device:")[2]


def _can_keep_all(variables: list[Any]) -> bool:
    plain = sys.modules[VARIABLES_MODULE].BaseResourceVariable
    if not all(isinstance(v, plain) and v.shape.is_fully_defined() for v in variables):
        return False
    return bool(sum(v.dtype.size * v.shape.num_elements() for v in variables) <= MAX_COPIED_WEIGHT_BYTES)


def _in_xla(tf: Any) -> bool:
    util = sys.modules["tensorflow.python.ops.control_flow_util"]
    return bool(util.GraphOrParentsInXlaContext(tf.compat.v1.get_default_graph()))


def prevent_inlining(result: Any) -> None:
    """Keep the branch a function of its own: if inlined, each of its operations would cost a little in every step."""
    op = result.op
    while op.type == "Identity":
        op = op.inputs[0].op
    op._set_attr("_lower_using_switch_merge", sys.modules[ATTR_VALUE_MODULE].AttrValue(b=False))


def _scalar(tf: Any, loss: Any) -> Any:
    losses = [tf.cast(part, "float32") for part in tf.nest.flatten(loss) if part is not None]
    parts = [part if part.shape.rank == 0 else tf.reduce_sum(part) for part in losses]
    return parts[0] if len(parts) == 1 else tf.add_n(parts)


def _half_square(tf: Any, grad: Any) -> Any:
    """Half the sum of squares, in one operation; for a sparse gradient, of its rows."""
    return tf.nn.l2_loss(tf.cast(grad.values if hasattr(grad, "indices") else grad, "float32"))


def sample(grad: Any) -> Any:
    """Every k-th row of a large gradient, so that watching it costs nothing compared with computing it."""
    count = None if hasattr(grad, "indices") else grad.shape.num_elements()
    if count is None or count <= MAX_WATCHED_ELEMENTS or grad.shape[0] == 1:
        return grad
    return grad[:: -(-count // MAX_WATCHED_ELEMENTS)]


def _is_kernel(tf: Any, grad: Any) -> bool:
    """The gradient of a matrix of weights; also a sparse one, of an embedding."""
    dense = grad.values if hasattr(grad, "indices") else grad
    return isinstance(dense, tf.Tensor) and dense.dtype.is_floating and (dense.shape.rank or 0) >= 2


def _is_product(tf: Any, grad: Any) -> bool:
    """As that of BatchNormalization's gamma. TensorFlow multiplies its factors and the learning rate in another order
    if nothing else uses the product: used by us, the weights would differ in their last bits."""
    return isinstance(grad, tf.Tensor) and grad.op.type == "Mul"


def _max_by_unit(tf: Any, grad: Any) -> Any:
    """The largest absolute gradient of each unit: a unit with 0 in every measurement does not take part in training."""
    return tf.cast(tf.reduce_max(tf.abs(grad), axis=list(range(grad.shape.rank - 1))), "float32")
