"""NaN or Inf in the data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from laststep.analysis.finding import Confidence, Evidence, Finding, Remedy, measured, no
from laststep.analysis.learning.bad_step import bad_inputs, bad_site, bad_step_evidence, weights_were_bad
from laststep.analysis.learning.scale import data_place
from laststep.analysis.learning.site import Site
from laststep.analysis.program import names_of_arrays
from laststep.analysis.progress import progress
from laststep.record.events.numbers import BadValues
from laststep.record.run import Run
from laststep.rules.rule import Answer, Tier, rule
from laststep.text import format_count, format_value

ROLES = {"x": "the inputs", "y": "the targets", "sample_weight": "the sample weights"}
TERMINATE_ON_NAN = "TerminateOnNaN"
TERMINATE = Remedy("Stop training at the first NaN or Inf loss, with a callback", "keras.callbacks.TerminateOnNaN()",
                   safe=True)  # fmt: skip


@rule(tier=Tier.ROOT, sees=("inside",))
def bad_input_values(run: Run) -> Answer:
    """The data contains NaN or Inf, and they reached a training step.

    What happened
        A single NaN or Inf makes the loss of its batch NaN, then its gradients and, with the next update, every weight.
        Common sources are missing values, and a division by 0 or the logarithm of 0 in preprocessing. With relu layers
        on a CPU the loss may still look like a number while the weights are NaN already.

    How laststep knows
        It scans the batch of the first bad step and the arrays given to fit, and reports how many values are NaN or
        Inf, in which features and samples.

    What to do
        Inspect these rows. Fill or drop them before training (np.isfinite finds NaN and Inf; np.nanmean does not skip
        Inf), or fix the preprocessing step that produces them.

    Not to be confused with
        invalid-loss-math (the data is finite, the model or the loss produces the NaN), exploding-gradients.
    """
    site = bad_site(run)
    if site is None or site.bad_step is None:
        return no("no step had a NaN or Inf")
    in_batch, in_arrays = bad_inputs(site), site.bad_step.data
    # The batch was too large to be recorded, or is that of a later step: then the arrays decide.
    batch_unknown = not site.tensors or weights_were_bad(site)
    if not in_batch and not (batch_unknown and in_arrays):
        finite = f"the data of step {_step(site)}, the first with NaN or Inf, is finite"
        return measured(finite) if site.tensors else no("the data was not recorded")
    name, bad = next(iter((in_batch or in_arrays).items()))
    bad = in_arrays.get(name, bad)
    where = data_place(site, name)
    drop = Remedy("Fill or drop these values before training", _dropped(run, name), where, trial={"inputs": "finite"})
    return Finding(
        cause=f"{_role(name).capitalize()} contain {_kinds(bad)}: {_count(bad)}.",
        confidence=Confidence.CERTAIN if in_batch else Confidence.LIKELY,
        evidence=(*_evidence(site, in_batch, in_arrays), bad_step_evidence(site), progress(run)),
        remedies=(drop, *_stop_at_once(run)),
        where=where,
    )


def _evidence(site: Site, in_batch: Mapping[str, BadValues], in_arrays: Mapping[str, BadValues]) -> list[Evidence]:
    assert site.bad_step is not None
    arrays = [f"{_role(name)} given to fit: {_positions(bad, 'row')}" for name, bad in in_arrays.items()]
    batch = [f"{_role(name)} of step {_step(site)}: {_positions(bad, 'sample')}" for name, bad in in_batch.items()]
    return [Evidence(says, (site.bad_step,)) for says in arrays + batch]


def _positions(bad: BadValues, noun: str) -> str:
    """27 of 2,880 values are NaN, in feature 3; rows 9, 28, 57 …"""
    says = f"{_count(bad)} {'is' if _number(bad) == 1 else 'are'} {_kinds(bad)}"
    if bad.features and bad.shape and len(bad.features) < bad.shape[-1]:
        says += f", in {_list('feature', bad.features)}"
    return says + (f"; {_list(noun, bad.samples)}" if bad.samples else "")


def _number(bad: BadValues) -> int:
    return bad.nan + bad.inf


def _count(bad: BadValues) -> str:
    return f"{_number(bad):,} of {format_count(bad.of, 'value')}"


def _kinds(bad: BadValues) -> str:
    return " and ".join(kind for kind, number in (("NaN", bad.nan), ("Inf", bad.inf)) if number)


def _list(noun: str, items: Sequence[int]) -> str:
    listed = ", ".join(str(item) for item in items[:5]) + (" …" if len(items) > 5 else "")
    return f"{noun}{'' if len(items) == 1 else 's'} {listed}"


def _role(name: str) -> str:
    return ROLES.get(name.partition("/")[0], f"the values of {name}") if name else "the data"


def _dropped(run: Run, name: str) -> str | None:
    """The rows with such a value left out, of arrays that the program gives to fit by name."""
    names = names_of_arrays(run)
    if names is None or name.partition("/")[0] not in ("x", "y"):
        return None
    x, y = names
    bad = x if name.startswith("x") else y
    return f"keep = np.isfinite({bad}).reshape(len({bad}), -1).all(axis=1)\n{x}, {y} = {x}[keep], {y}[keep]"


def _stop_at_once(run: Run) -> tuple[Remedy, ...]:
    """The callback that ends a fit, unless it is there already."""
    used = {callback.class_name for callback in run.fit.began.callbacks} if run.fit is not None else {TERMINATE_ON_NAN}
    return () if TERMINATE_ON_NAN in used else (TERMINATE,)


def _step(site: Site) -> str:
    return format_value(site.bad_step.step) if site.bad_step is not None else "?"
