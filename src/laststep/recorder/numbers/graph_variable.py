"""A variable of our own that a traced step writes and the host reads."""

from __future__ import annotations

import itertools
import sys
from typing import Any

VARIABLES_MODULE = "tensorflow.python.ops.resource_variable_ops"
HOST_DEVICE = "CPU:0"
_numbers = itertools.count()


class GraphVariable:
    """Looked up by name where possible, because a variable captured by a function costs a little in each call.

    A named variable is never destroyed, because a step unknown to us may still look it up; it is emptied instead.
    """

    def __init__(self, initial: Any, shape: Any, by_name: bool, device: str = "") -> None:
        tf = sys.modules["tensorflow"]
        self._raw = tf.raw_ops
        self.dtype = initial.dtype
        self._shape = tf.TensorShape(shape)
        self._name = f"laststep_variable_{next(_numbers)}" if by_name else ""
        self._variable: Any = None
        if by_name:
            self._host_handle = self._handle()
            self.host_write(initial)
        else:
            # Not tf.Variable: a tf.function may not create one while it is traced for the second time.
            create = sys.modules[VARIABLES_MODULE].ResourceVariable
            with tf.device(device or None):
                self._variable = create(
                    initial, dtype=initial.dtype, shape=self._shape, trainable=False, name="laststep"
                )
            self._host_handle = self._variable.handle

    def _handle(self) -> Any:
        return self._raw.VarHandleOp(dtype=self.dtype, shape=self._shape, shared_name=self._name)

    def read(self) -> Any:
        """Read in the traced step."""
        if self._variable is not None:
            return self._variable.read_value()
        value = self._raw.ReadVariableOp(resource=self._handle(), dtype=self.dtype)
        value.set_shape(self._shape)
        return value

    def write(self, value: Any) -> Any:
        """Write in the traced step."""
        if self._variable is not None:
            return self._variable.assign(value, read_value=False)
        return self._raw.AssignVariableOp(resource=self._handle(), value=value)

    def add(self, value: Any) -> Any:
        """Add in the traced step."""
        if self._variable is not None:
            return self._variable.assign_add(value, read_value=False)
        return self._raw.AssignAddVariableOp(resource=self._handle(), value=value)

    def host_read(self) -> Any:
        """The value, read by the host."""
        return self._raw.ReadVariableOp(resource=self._host_handle, dtype=self.dtype).numpy()

    def host_write(self, value: Any) -> None:
        """Set the value from the host."""
        tensor = sys.modules["tensorflow"].convert_to_tensor(value, self.dtype)
        self._raw.AssignVariableOp(resource=self._host_handle, value=tensor)
