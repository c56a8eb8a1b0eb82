"""Keras does not support this distribution strategy."""

from __future__ import annotations

from laststep.analysis.finding import Remedy
from laststep.analysis.messages import answer, compiled, find_message
from laststep.record.run import Run
from laststep.rules.rule import Answer, Tier, rule

_STRATEGY = (
    r"(?:MultiWorkerMirrored|CollectiveAllReduce|ParameterServer\w*|CentralStorage|TPU|Mirrored|"
    r"OneDevice)\w*Strategy\w*"
)
MESSAGES = compiled(
    rf"(?P<strategy>{_STRATEGY})[^\n]*(?:not (?:yet )?(?:supported|implemented)|unsupported|is not compatible|"
    rf"does not support)",
    rf"(?:not (?:yet )?supported|unsupported|cannot be used|does not support|not "
    rf"implemented)[^\n]*(?P<strategy>{_STRATEGY})",
    r"you need to pass this dataset to ClusterCoordinator\.create_per_worker_dataset",
    r"(?:is )?not supported (?:for|with|under) (?:models compiled with )?tf\.distribute\.Strategy",
    r"`?merge_call`? called while defining a new graph or a tf\.function|merge_call called",
    r"Mixing different tf\.distribute\.Strategy objects|Variable \([^)]*\) was not created in the distribution "
    r"strategy scope",
    r"Trying to (?:create|place) (?:a )?variable[^\n]*(?:different|outside)[^\n]*strategy|Colocated variables "
    r"and their strategy|created in a different strategy scope",
    r"Tried to (?:run|call)[^\n]*in cross-replica context|(?:only|must) be called (?:in|inside) (?:a "
    r")?(?:replica|cross-replica) context|Method requires being in (?:cross-)?replica context",
    r"PerReplica[^\n]*(?:not (?:subscriptable|supported|iterable)|has no attribute|convert|unknown)|"
    r"convert[^\n]*PerReplica",
)


@rule(tier=Tier.ROOT)
def unsupported_strategy(run: Run) -> Answer:
    """This kind of distributed training is not supported here.

    What happened
        tf.distribute has several strategies; Keras 3 with TensorFlow supports MirroredStrategy and TPUStrategy
        in fit. Under MultiWorkerMirroredStrategy and ParameterServerStrategy its fit fails in the first step
        (keras-team/keras#20585). A model created outside the strategy's scope fails in the same way.

    How laststep knows
        The error of tf.distribute itself, and the strategy of the model.

    What to do
        For several machines: tf_keras (TF_USE_LEGACY_KERAS=1), whose fit works under
        MultiWorkerMirroredStrategy; or a custom training loop with strategy.run; or Keras on JAX with its own
        distribution.

    Not to be confused with
        peer-lost (another rank died), library-incompatible.
    """
    message = find_message(run, *MESSAGES, console=False)
    compiled_with = run.fit.began.strategy if run.fit is not None else None
    strategy = (message.get("strategy") if message else "") or compiled_with
    named = f" {strategy}" if strategy and strategy != "_DefaultDistributionStrategy" else " this distribution strategy"
    return answer(
        run,
        message,
        "no error came from tf.distribute",
        cause=f"This way of training does not support{named}.",
        remedies=(
            Remedy(
                "Use Keras 2's fit, which supports it", "pip install tf_keras; TF_USE_LEGACY_KERAS=1 python train.py"
            ),
            Remedy("Or write a custom loop with strategy.run; create model and optimizer in strategy.scope()"),
        ),
    )
