"""How TensorFlow runs at this moment: eagerly or tracing, alone or under a strategy."""

from __future__ import annotations

import sys

# Under these the variables that a step reads are where the step runs.
LOCAL = ("_DefaultDistributionStrategy", "OneDeviceStrategy", "MirroredStrategy")


def is_eager() -> bool:
    context = sys.modules.get("tensorflow.python.eager.context")
    return context is not None and bool(context.executing_eagerly())


def trains_alone() -> bool:
    """One replica, in this process: elsewhere a variable of ours could not be reached, or would count several times."""
    strategy = sys.modules["tensorflow"].distribute.get_strategy()
    return type(strategy).__name__ in LOCAL and strategy.num_replicas_in_sync == 1
