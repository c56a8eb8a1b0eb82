"""How TensorFlow runs at the moment: eagerly or tracing, with one replica or under a strategy."""

from __future__ import annotations

import sys
from types import FrameType

from laststep.recorder.frames import PlaceFields, is_users, place, users_place

# With these, the variables that a step reads are on the device where the step runs.
LOCAL_STRATEGIES = ("_DefaultDistributionStrategy", "OneDeviceStrategy", "MirroredStrategy")


def is_eager() -> bool:
    context = sys.modules.get("tensorflow.python.eager.context")
    return context is not None and bool(context.executing_eagerly())


def line_now(frame: FrameType | None) -> PlaceFields | None:
    """The user's line that is executed or traced; for a function that AutoGraph rewrote, TensorFlow knows the lines."""
    stack = sys.modules.get("tensorflow.python.util.tf_stack")
    if stack is not None and not is_eager():
        for recorded in reversed(stack.extract_stack()):
            if is_users(recorded.filename):
                return place(recorded.filename, recorded.lineno)
    return users_place(frame)


def trains_alone() -> bool:
    """One replica, in this process: otherwise a variable of ours could be out of reach, or be counted several times."""
    strategy = sys.modules["tensorflow"].distribute.get_strategy()
    return type(strategy).__name__ in LOCAL_STRATEGIES and strategy.num_replicas_in_sync == 1
