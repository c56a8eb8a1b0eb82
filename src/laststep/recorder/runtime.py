"""How TensorFlow runs at this moment: eagerly or tracing, alone or under a strategy."""

from __future__ import annotations

import sys
from types import FrameType

from laststep.recorder.frames import Place, is_users, place, users_place

# Under these the variables that a step reads are where the step runs.
LOCAL = ("_DefaultDistributionStrategy", "OneDeviceStrategy", "MirroredStrategy")


def is_eager() -> bool:
    context = sys.modules.get("tensorflow.python.eager.context")
    return context is not None and bool(context.executing_eagerly())


def line_now(frame: FrameType | None) -> Place | None:
    """The user's own line that is run, or traced: where AutoGraph rewrote a function, TensorFlow knows its lines."""
    stack = sys.modules.get("tensorflow.python.util.tf_stack")
    if stack is not None and not is_eager():
        for seen in reversed(stack.extract_stack()):
            if is_users(seen.filename):
                return place(seen.filename, seen.lineno)
    return users_place(frame)


def trains_alone() -> bool:
    """One replica, in this process: elsewhere a variable of ours could not be reached, or would count several times."""
    strategy = sys.modules["tensorflow"].distribute.get_strategy()
    return type(strategy).__name__ in LOCAL and strategy.num_replicas_in_sync == 1
