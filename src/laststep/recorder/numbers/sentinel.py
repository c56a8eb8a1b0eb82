"""What is laid into a traced step to see its numbers: measured when asked, and at once when one is not finite."""

from __future__ import annotations

import sys
from typing import Any

IDLE, ASKED = 0.0, 1.0  # the gate: the host sets ASKED, the step answers with IDLE
ABSENT = -1.0  # in place of a count of steps
FIRST_NORM = 3  # in what the host reads: whether something is bad, the loss, the optimizer's count, norms, units
MOST_UNITS = 65536
MOST_LOOKED_AT = 24
MOST_BATCH = 16 << 20  # bytes
VARIABLES = "tensorflow.python.ops.resource_variable_ops"
RECORD = "tensorflow.python.eager.record"
ATTRIBUTES = "tensorflow.core.framework.attr_value_pb2"


class Sentinel:
    """One place where gradients are taken, in one traced function.

    In each step it costs a few scalar operations: is the loss finite, are the gradients of the first kernel, has
    somebody asked? Only then the norms of all gradients, the liveliest gradient of each unit, and the batch are
    copied, into variables of ours that the host reads when it likes. Nothing of the host's is written.
    """

    def __init__(self, sources: list[Any], grads: list[Any], loss: Any, batch: dict[str, Any], clock: Any) -> None:
        tf = sys.modules["tensorflow"]
        self._grads = grads
        self._clock = clock  # the optimizer's count of its steps, or None
        kernels = [i for i, g in enumerate(grads) if _is_kernel(tf, g)]
        # Whose gradients are looked at: each one costs a little in every step, so of many not those of biases.
        given = [i for i, g in enumerate(grads) if g is not None]
        self.looked_at = given if len(given) <= MOST_LOOKED_AT or not kernels else sorted({*kernels, given[-1]})
        self.kernels = [i for i in kernels if not hasattr(grads[i], "indices")]
        self.units = self._count_units(grads)
        self.on_gpu = bool(tf.config.list_logical_devices("GPU"))
        self.in_xla = _in_xla(tf)
        self.batch = {name: tensor for name, tensor in batch.items() if self._can_keep(tensor)}
        make = sys.modules[VARIABLES].ResourceVariable
        with tf.init_scope():
            self.gate = make(ASKED, dtype="float32", trainable=False, name="laststep_gate")
            size = FIRST_NORM + len(self.looked_at) + sum(self.units.values())
            self.out = make(tf.zeros((size,)), dtype="float32", trainable=False, name="laststep_out")
            self.kept = {name: self._room(tf, make, tensor) for name, tensor in self.batch.items()}
        with sys.modules[RECORD].stop_recording(), tf.name_scope("laststep"):
            self._lay(tf, loss)
        self._grads, self._clock, self.batch = [], None, {}

    def _count_units(self, grads: list[Any]) -> dict[int, int]:
        found: dict[int, int] = {}
        for i in self.kernels:
            count = int(grads[i].shape[-1])
            if sum(found.values()) + count <= MOST_UNITS:
                found[i] = count
        return found

    def _can_keep(self, tensor: Any) -> bool:
        """XLA cannot write what has no fixed shape into a variable."""
        return tensor.shape.is_fully_defined() if self.in_xla else tensor.shape.rank is not None

    def _room(self, tf: Any, make: Any, tensor: Any) -> Any:
        shape = tensor.shape if self.in_xla else tf.TensorShape(None)
        first = tf.zeros(tensor.shape if self.in_xla else (0,), tensor.dtype)
        return make(first, dtype=tensor.dtype, shape=shape, trainable=False, name="laststep_kept")

    def _lay(self, tf: Any, loss: Any) -> None:
        total = _scalar(tf, loss)
        watched = total
        if self.kernels:
            watched = total + _half_square(tf, self._grads[self.kernels[0]])
        gate = self.gate.read_value()
        wanted = self._is_wanted(tf, gate, watched)
        result = tf.cond(wanted, lambda: self._answer(tf, total), lambda: 0)
        if not self.in_xla:
            _keep_closed(result)

    def _is_wanted(self, tf: Any, gate: Any, watched: Any) -> Any:
        if self.in_xla:  # where NaN times 0 may well be 0, and operations cost nothing
            return tf.logical_or(tf.not_equal(gate, 0.0), tf.logical_not(tf.math.is_finite(watched)))
        # Anything times an idle gate is 0, unless it is NaN or Inf. On a GPU the host would have to wait for it.
        return tf.not_equal(gate if self.on_gpu else watched * gate, 0.0)

    def _answer(self, tf: Any, total: Any) -> Any:
        """What was measured of the first bad step stays: the host, who sets the gate, has no say in that."""
        return tf.cond(self.out.read_value()[0] != 0.0, lambda: 0, lambda: self._measure(tf, total))

    def _measure(self, tf: Any, total: Any) -> int:
        norms = [_half_square(tf, self._grads[i]) for i in self.looked_at]
        lively = [_liveliest(tf, self._grads[i]) for i in self.units]
        at = tf.cast(self._clock.read_value(), "float32") if self._clock is not None else tf.constant(ABSENT)
        bad = tf.cast(tf.logical_not(tf.math.is_finite(tf.add_n([total, *norms]))), "float32")
        self.out.assign(tf.concat([tf.stack([bad, total, at, *norms]), *lively], 0), read_value=False)
        for name, room in self.kept.items():
            tensor = self.batch[name]
            small = tf.size(tensor, out_type="int64") * tensor.dtype.size <= MOST_BATCH
            if self.in_xla or tensor.shape.is_fully_defined():
                room.assign(tensor, read_value=False)
            else:
                room.assign(tensor[: tf.where(small, tf.shape(tensor)[0], 0)], read_value=False)
        self.gate.assign(IDLE, read_value=False)
        return 0


def _in_xla(tf: Any) -> bool:
    util = sys.modules["tensorflow.python.ops.control_flow_util"]
    return bool(util.GraphOrParentsInXlaContext(tf.compat.v1.get_default_graph()))


def _keep_closed(result: Any) -> None:
    """The branch stays a function of its own: laid open, each of its operations would cost a little in every step."""
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


def _is_kernel(tf: Any, grad: Any) -> bool:
    """Of a table of weights; also a sparse one, of an embedding."""
    held = grad.values if hasattr(grad, "indices") else grad
    return isinstance(held, tf.Tensor) and held.dtype.is_floating and (held.shape.rank or 0) >= 2


def _liveliest(tf: Any, grad: Any) -> Any:
    """The largest gradient of each unit: one that is 0 in every look takes no part."""
    return tf.cast(tf.reduce_max(tf.abs(grad), axis=list(range(grad.shape.rank - 1))), "float32")
