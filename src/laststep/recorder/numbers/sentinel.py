"""What is laid into a traced step to see its numbers: measured when asked, and at once when one is not finite."""

from __future__ import annotations

import math
import sys
from typing import Any

from laststep.recorder.numbers.room import VARIABLES, Room

IDLE, ASKED = 0.0, math.inf  # the gate: the host sets ASKED, the step answers with IDLE
ABSENT = -1.0  # in place of a count of steps
NONE = -2.0  # in the same place: there was no answer before
COUNT = 2
FIRST_NORM = 3  # in what the host reads: whether something is bad, the loss, the optimizer's count, norms, units
MOST_UNITS = 65536
MOST_LOOKED_AT = 24
MOST_BATCH = 16 << 20  # bytes
MOST_WEIGHTS = 64 << 20
LARGEST = 3.4e38  # of float32, or nearly
RECORD = "tensorflow.python.eager.record"
ATTRIBUTES = "tensorflow.core.framework.attr_value_pb2"


class Sentinel:
    """One place where gradients are taken, in one traced function.

    In each step it costs a few scalar operations: is the loss finite, are the gradients of the first kernel, has
    somebody asked? Only then the norms of all gradients, the liveliest gradient of each unit, and the batch are
    copied, into variables of ours that the host reads when it likes. Nothing of the host's is written.
    """

    def __init__(
        self, sources: list[Any], grads: list[Any], loss: Any, batch: dict[str, Any], clock: Any, alone: bool
    ) -> None:
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
        # A name is looked for on the device where the step runs, and never by XLA: a function of the program's own,
        # that is traced without XLA, may later be called (`alone` says that it can't) by one that XLA compiles.
        self.by_name = alone and not self.in_xla and len(tf.config.list_logical_devices()) == 1
        self.batch = {name: tensor for name, tensor in batch.items() if self._can_keep(tensor)}
        self._sources = sources if self.by_name and _can_keep_all(sources) else []
        self.size = FIRST_NORM + len(self.looked_at) + sum(self.units.values())
        with tf.init_scope():
            self.gate = Room(tf.constant(ASKED), (), self.by_name)
            # The answer, and behind it one that nobody had read when it came: a variable more would cost in each step.
            both = (2 * self.size,)
            self.out = Room(tf.zeros(both), None if self.by_name else both, self.by_name)
            self.kept = {name: self._room(tf, tensor) for name, tensor in self.batch.items()}
            self.weights = [self._room(tf, variable) for variable in self._sources]
        with sys.modules[RECORD].stop_recording(), tf.name_scope("laststep"):
            self._lay(tf, loss)
        self._grads, self._clock, self.batch, self._sources = [], None, {}, []

    def leave(self) -> None:
        """Nobody looks any more: a step that still runs finds the flag of a bad one, and leaves its numbers alone."""
        if self.by_name:
            self.out.put([1.0])
            self.let_go()

    def let_go(self) -> None:
        """Of what was kept of a bad step; as long as its flag stands, nothing more is kept."""
        if self.by_name:
            for room in [*self.kept.values(), *self.weights]:
                room.put(sys.modules["tensorflow"].zeros((0,), room.dtype))

    def weights_then(self) -> list[Any]:
        """The weights that the first bad step started from; none where they were not kept."""
        values = [room.look() for room in self.weights]
        return values if all(value.size for value in values) else []

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

    def _room(self, tf: Any, tensor: Any) -> Room:
        first = tf.zeros(tensor.shape if self.in_xla else (0,), tensor.dtype)
        return Room(first, tensor.shape if self.in_xla else None, self.by_name)

    def _lay(self, tf: Any, loss: Any) -> None:
        total = _scalar(tf, loss)
        watched = total
        if self.kernels:
            watched = total + _half_square(tf, self._grads[self.kernels[0]])
        result = tf.cond(self._is_quiet(tf, watched), lambda: 0, lambda: self._answer(tf, total))
        if not self.in_xla:
            _keep_closed(result)

    def _is_quiet(self, tf: Any, watched: Any) -> Any:
        """Nobody asked, and nothing is bad."""
        gate = self.gate.read()
        if self.in_xla:  # operations cost nothing there
            return tf.logical_and(tf.equal(gate, IDLE), tf.math.is_finite(watched))
        if self.on_gpu:  # the host would have to wait for what is watched
            return tf.equal(gate, IDLE)
        # One operation: the difference of two numbers is small only if neither is NaN or Inf.
        return tf.raw_ops.ApproximateEqual(x=watched, y=gate, tolerance=LARGEST)

    def _answer(self, tf: Any, total: Any) -> Any:
        """What was measured of the first bad step stays: the host, who sets the gate, has no say in that."""
        return tf.cond(self.out.read()[0] != 0.0, lambda: 0, lambda: self._measure(tf, total))

    def _measure(self, tf: Any, total: Any) -> int:
        norms = [_half_square(tf, self._grads[i]) for i in self.looked_at]
        lively = [_liveliest(tf, self._grads[i]) for i in self.units]
        at = tf.cast(self._clock.read_value(), "float32") if self._clock is not None else tf.constant(ABSENT)
        bad = tf.cast(tf.logical_not(tf.math.is_finite(tf.add_n([total, *norms]))), "float32")
        self._keep_weights(tf, bad)
        asked = tf.not_equal(self.gate.read(), IDLE)
        # A bad step that comes before the last answer was read does not wipe it out.
        unread = tf.where(asked, NONE, self.out.read()[: self.size])
        self.out.write(tf.concat([tf.stack([bad, total, at, *norms]), *lively, unread], 0))
        for name, room in self.kept.items():
            tensor = self.batch[name]
            small = tf.size(tensor, out_type="int64") * tensor.dtype.size <= MOST_BATCH
            if self.in_xla or tensor.shape.is_fully_defined():
                room.write(tensor)
            else:
                room.write(tensor[: tf.where(small, tf.shape(tensor)[0], 0)])
        self.gate.write(tf.constant(IDLE))
        return 0

    def _keep_weights(self, tf: Any, bad: Any) -> None:
        """Those that the bad step started from: it has updated none yet. What is kept is not copied, but replaced."""
        if self.weights:
            tf.cond(bad != 0.0, self._write_weights, lambda: 0)

    def _write_weights(self) -> int:
        for room, variable in zip(self.weights, self._sources, strict=True):
            room.write(variable.read_value())
        return 0


def _can_keep_all(variables: list[Any]) -> bool:
    plain = sys.modules[VARIABLES].BaseResourceVariable
    if not all(isinstance(v, plain) and v.shape.is_fully_defined() for v in variables):
        return False
    return bool(sum(v.dtype.size * v.shape.num_elements() for v in variables) <= MOST_WEIGHTS)


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
