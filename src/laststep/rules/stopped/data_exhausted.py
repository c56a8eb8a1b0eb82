"""The training data ran out."""

from __future__ import annotations

from laststep.analysis.batches import (
    Shortfall,
    count_batches,
    is_about_data,
    is_about_validation,
    ran_out_warnings,
    shortfall,
    training_data,
)
from laststep.analysis.finding import Confidence, Evidence, Finding, Remedy, measured, no
from laststep.analysis.messages import Message, compiled, find_message
from laststep.analysis.program import is_dataset, is_generator, name_of_data
from laststep.analysis.progress import fit_place, progress
from laststep.analysis.rewrite import with_arguments
from laststep.record.events.process import WarningShown
from laststep.record.events.training import Epoch
from laststep.record.place import Place
from laststep.record.run import Run
from laststep.rules.rule import Answer, Tier, rule

RAISED = compiled(
    r"OutOfRangeError[^\n]*: [^\n]*(?:End of sequence|insufficient elements|is closed)|\A(?:[\w.]+\.)?StopIteration\b",
    r"(?:Queue|queue) '[^']+' is closed and has insufficient elements \(requested (?P<wanted>\d+), current size "
    r"(?P<had>\d+)\)",
)


@rule(tier=Tier.ROOT)
def data_exhausted(run: Run) -> Answer:
    """The training data ran out before all requested batches had been delivered.

    What happened
        fit was given a number of steps per epoch, and the data held fewer than steps × epochs batches: no repeat(),
        a generator that ends, an iterator that an earlier fit had used up. Keras 3 then cuts that epoch short and
        continues with the next, with no more than one warning; tf_keras and Keras 2 end the training there. An epoch
        without data logs loss 0.0, which can even trigger EarlyStopping.

    How laststep knows
        By counting the batches requested and delivered in each epoch. The warning "Your input ran out of data" is no
        evidence, since Keras 3 also shows it for healthy data of unknown length. From a log alone: the progress bar at
        the moment of the warning, and epochs that took no time.

    What to do
        Repeat the data (dataset.repeat(), while True in the generator), or leave steps_per_epoch out: then an epoch
        is one pass over the data.

    Not to be confused with
        validation-data-exhausted, dataset-empty (there was no data from the start), early-stopping.
    """
    short = shortfall(run)
    if short is not None and (any(short.delivered) or len(run.fits) > 1 or short.fit.began.initial_epoch):
        return _finding(run, short)
    message = find_message(run, *RAISED, console=False)
    if message is not None and message.event is not None and is_about_data(run, message.event):
        return _raised(run, message)
    if run.is_log:
        warned = [w for w in ran_out_warnings(run) if not is_about_validation(run, w) and _ended_training(run, w)]
        if warned:
            return _warned(run, warned[0])
    counted = any(epoch.batches for fit in run.fits for epoch in fit.epochs) and not run.is_log and short is None
    if counted:
        return measured("every epoch got all requested batches")
    return no("nothing shows that an epoch was cut short")


def _ended_training(run: Run, warning: WarningShown) -> bool:
    """Keras 2 alone logs it; it stops there unless the log goes on."""
    return warning.category == "logged" and not any(epoch.time > warning.time for epoch in run.all(Epoch))


def _warned(run: Run, warning: WarningShown) -> Finding:
    quote = f"line {warning.at_line or 0:,}: “Your input ran out of data; interrupting training”"
    return Finding(
        cause="Keras ended the training because its data ran out.",
        confidence=Confidence.LIKELY,
        evidence=(Evidence(quote, (warning,)), progress(run)),
        remedies=(_repeat(run, None),),
    )


def _finding(run: Run, short: Shortfall) -> Finding:
    fit, got = short.fit, sum(short.delivered)
    went_on = fit.complete and not run.is_log
    cut = "an epoch was cut short, and training ended there"
    if went_on:
        cut = "some epochs were cut short, and Keras continued with the next one"
    evidence = [short.evidence()]
    if fit.asked and short.total > got:
        evidence.append(Evidence(f"{count_batches(short.total)} requested in total, {count_batches(got)} delivered"))
    if short.has_phantoms:
        evidence.append(Evidence("epochs without a batch log loss 0.0, which misleads callbacks that monitor the loss"))
    data = fit.began.data
    where = data.where or data.made_at or fit.began.where
    if short.was_used_before(run):
        evidence.append(Evidence("an earlier fit had consumed the same iterator, which does not start again"))
        where = fit.began.where
    return Finding(
        cause=f"The training data ran out: {cut}.",
        confidence=Confidence.CERTAIN if not run.is_log or ran_out_warnings(run) else Confidence.LIKELY,
        evidence=(*evidence, progress(run)),
        remedies=_remedies(run, short, where),
        where=where,
    )


def _remedies(run: Run, short: Shortfall, where: Place | None) -> tuple[Remedy, ...]:
    if short.was_used_before(run):
        return (Remedy("Create a new iterator for each fit, before this line", None, where),)
    length, at_fit = short.length, short.fit.began.where
    if length and length < short.asked:
        available = f"Or request what is available: the data holds {count_batches(length)}"
        fewer = Remedy(available, f"steps_per_epoch={length}", at_fit)
    else:
        without = with_arguments(at_fit.text, {"steps_per_epoch": None}) if at_fit is not None else None
        fewer = Remedy("Or leave steps_per_epoch out: an epoch is then one pass over the data", without, at_fit)
    data, name = short.fit.began.data, name_of_data(run, where)
    if is_generator(data):
        return (_repeat(run, where),)  # it does not start again: each epoch would take what the one before has left
    repeat = () if data.type and not is_dataset(data) and "Iterator" not in data.type else (_repeat(run, where),)
    if not short.has_phantoms or length != short.asked or not is_dataset(data):
        return (*repeat, fewer)
    cardinality = f"{name} = {name}.apply(tf.data.experimental.assert_cardinality({length}))" if name else None
    return (*repeat, Remedy("Or declare the length of the dataset", cardinality, where), fewer)


def _repeat(run: Run, where: Place | None) -> Remedy:
    data = training_data(run)
    if is_generator(data):
        return Remedy("Let the generator never end, with a loop around its own", "while True:", where)
    name = name_of_data(run, where) if is_dataset(data) else None
    if name is None:
        return Remedy("Repeat the dataset, before an iterator is made of it: .repeat()")
    return Remedy("Repeat the dataset", f"{name} = {name}.repeat()", where)


def _raised(run: Run, message: Message) -> Finding:
    """A loop of the program's own, or a generator under Keras 2, that asked for one batch more than there was."""
    return Finding(
        cause="The program requested another batch after the end of the data.",
        confidence=Confidence.CERTAIN,
        evidence=(message.evidence, progress(run)),
        remedies=(_repeat(run, message.where), Remedy("Or let the loop end with the data")),
        where=message.where or fit_place(run),
    )
