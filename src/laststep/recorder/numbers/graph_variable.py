"""A variable of ours that a traced step writes and the host reads."""

from __future__ import annotations

import itertools
import sys
from typing import Any

VARIABLES = "tensorflow.python.ops.resource_variable_ops"
HOST = "CPU:0"
_numbers = itertools.count()


class GraphVariable:
    """Found by its name where that is possible: a variable that a function captures costs a little in each call.

    One with a name is never destroyed, since a step that we do not know of any more may still look for it; it is
    emptied instead.
    """

    def __init__(self, first: Any, shape: Any, by_name: bool, device: str = "") -> None:
        tf = sys.modules["tensorflow"]
        self._raw = tf.raw_ops
        self.dtype = first.dtype
        self._shape = tf.TensorShape(shape)
        self._name = f"laststep_variable_{next(_numbers)}" if by_name else ""
        self._variable: Any = None
        if by_name:
            self._held = self._handle()
            self.put(first)
        else:
            # Not tf.Variable: a tf.function lets nobody make one while it is traced for the second time.
            make = sys.modules[VARIABLES].ResourceVariable
            with tf.device(device or None):
                self._variable = make(first, dtype=first.dtype, shape=self._shape, trainable=False, name="laststep")
            self._held = self._variable.handle

    def _handle(self) -> Any:
        return self._raw.VarHandleOp(dtype=self.dtype, shape=self._shape, shared_name=self._name)

    def read(self) -> Any:
        """In a step."""
        if self._variable is not None:
            return self._variable.read_value()
        value = self._raw.ReadVariableOp(resource=self._handle(), dtype=self.dtype)
        value.set_shape(self._shape)
        return value

    def write(self, value: Any) -> Any:
        """In a step."""
        if self._variable is not None:
            return self._variable.assign(value, read_value=False)
        return self._raw.AssignVariableOp(resource=self._handle(), value=value)

    def add(self, value: Any) -> Any:
        """In a step."""
        if self._variable is not None:
            return self._variable.assign_add(value, read_value=False)
        return self._raw.AssignAddVariableOp(resource=self._handle(), value=value)

    def look(self) -> Any:
        """From the host."""
        return self._raw.ReadVariableOp(resource=self._held, dtype=self.dtype).numpy()

    def put(self, value: Any) -> None:
        """From the host."""
        tensor = sys.modules["tensorflow"].convert_to_tensor(value, self.dtype)
        self._raw.AssignVariableOp(resource=self._held, value=tensor)
