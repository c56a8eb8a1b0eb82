"""A variable of ours that a traced step writes and the host reads."""

from __future__ import annotations

import itertools
import sys
from typing import Any

VARIABLES = "tensorflow.python.ops.resource_variable_ops"
_numbers = itertools.count()


class Room:
    """Found by its name where that is possible: a variable that a function is given costs a little in each call.

    A room with a name is never torn down, since a step that we do not know of any more may still look for it; it is
    emptied instead.
    """

    def __init__(self, first: Any, shape: Any, by_name: bool) -> None:
        tf = sys.modules["tensorflow"]
        self._raw = tf.raw_ops
        self.dtype = first.dtype
        self._shape = tf.TensorShape(shape)
        self._name = f"laststep_room_{next(_numbers)}" if by_name else ""
        self._variable: Any = None
        if by_name:
            self._held = self._handle()
            self.put(first)
        else:
            make = sys.modules[VARIABLES].ResourceVariable
            self._variable = make(first, dtype=first.dtype, shape=self._shape, trainable=False, name="laststep_room")
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

    def write(self, value: Any) -> None:
        """In a step."""
        if self._variable is not None:
            self._variable.assign(value, read_value=False)
        else:
            self._raw.AssignVariableOp(resource=self._handle(), value=value)

    def look(self) -> Any:
        """From the host."""
        return self._raw.ReadVariableOp(resource=self._held, dtype=self.dtype).numpy()

    def put(self, value: Any) -> None:
        """From the host."""
        tensor = sys.modules["tensorflow"].convert_to_tensor(value, self.dtype)
        self._raw.AssignVariableOp(resource=self._held, value=tensor)
