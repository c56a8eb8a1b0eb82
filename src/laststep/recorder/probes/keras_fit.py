"""Every fit of Keras 3 and tf_keras: its arguments, each step, each epoch, its end."""

from __future__ import annotations

import math
import sys
import time
import weakref
from types import FrameType, ModuleType
from typing import Any

from laststep.recorder import state
from laststep.recorder.ahead import more_follows
from laststep.recorder.describe import describe_fit, describe_model, learning_rate
from laststep.recorder.frames import handler_of, number, scalars, users_frame, users_place, users_stack
from laststep.recorder.guard import attempt, guard
from laststep.recorder.imports import when_imported
from laststep.recorder.numbers.tensor_statistics import bad_values
from laststep.recorder.patch import after

PROBE = "keras_fit"
MODULES = ("keras.src.callbacks.callback_list", "tf_keras.src.callbacks")
STEP, VALIDATION, EPOCH_END, START = (state.PHASE[name] for name in ("step", "validation", "epoch-end", "start"))
EVALUATE, PREDICT = state.PHASE["evaluate"], state.PHASE["predict"]
NAN = math.nan


def install() -> None:
    for name in MODULES:
        when_imported(PROBE, name, _patch_callback_list)


def _patch_callback_list(module: ModuleType) -> None:
    # Called while the list is created, after Keras has decided on asynchronous dispatch from the user's own callbacks
    # and before it passes model and parameters to all: no frame of ours stays on the stack.
    after(PROBE, module.CallbackList, "_add_default_callbacks", _add_callback)


def _add_callback(result: Any, callback_list: Any, *args: Any, **kwargs: Any) -> None:
    if state.current is not None:
        callback_list.callbacks.insert(0, Callback(state.current))


def _calling_frame(function: str, argument: str) -> FrameType | None:
    """The frame of the running fit or evaluate, whose locals hold its arguments. It is read, not kept."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and not (frame.f_code.co_name == function and argument in frame.f_locals):
        frame = frame.f_back
    return frame


class Callback:
    """First in the list, so that it sees the step after which another callback raises.

    Not a subclass of Keras's: nothing of the host is imported. The class must have a name that exists in tf_keras's
    callbacks module; otherwise tf_keras would time every hook.
    """

    async_safe = True  # otherwise Keras gives up its asynchronous dispatch
    _supports_tf_logs = True  # otherwise tf_keras copies the logs to the host in each step
    _chief_worker_only = None

    def __init__(self, recorder: state.Recorder) -> None:
        self.recorder = recorder
        self.fit = state.OpenFit()  # id 0 until a fit begins: the list may serve an evaluate or a predict alone
        self.params: Any = None
        self._model: Any = None
        self._epoch_began = 0.0
        self._epoch_batches = 0
        self._tested_batches = 0
        self._steps_before_epoch = 0
        self._steps_per_epoch = 0
        self._needs_model_facts = False
        self._learning_rate = NAN
        self._write_step: Any = None
        self._learning_rate_epoch = -1
        self._phase_before = 0  # before an evaluate or a predict, which may run in a callback
        self._saver = recorder.saver

    def set_model(self, model: Any) -> None:
        self._model = model

    def set_params(self, params: Any) -> None:
        self.params = params

    def _implements_train_batch_hooks(self) -> bool:
        return True

    def _implements_test_batch_hooks(self) -> bool:
        return True

    def _implements_predict_batch_hooks(self) -> bool:
        return False

    def on_train_begin(self, logs: Any = None) -> None:
        guard(PROBE, self._begin)

    def _begin(self) -> None:
        self.recorder.fits = self.fit.id = self.recorder.fits + 1
        self.recorder.open_fits.append(self.fit)
        frame = _calling_frame("fit", "callbacks")
        described = guard(PROBE, describe_fit, frame, self._model, self.params) or {}
        self._steps_per_epoch = int(described.get("steps") or 0)
        # A model that is built in its first step has no size yet.
        self._needs_model_facts = "parameters" not in (described.get("model") or {})
        new_model, _ = attempt(self._is_new_model)
        attempt(self._remember_arrays, frame)
        stack = users_stack(frame)
        described["more_follows"], _ = attempt(more_follows, stack)
        self.recorder.event("fit", id=self.fit.id, new_model=new_model, stack=stack, **described)
        self.recorder.mark(START, time.time())
        self._write_step = self.recorder.write_step
        if self._saver is not None:
            self._saver.catch_terminate()

    def _remember_arrays(self, frame: FrameType | None) -> None:
        """Weak references: to search the arrays for NaN and Inf if a step turns bad."""
        arguments = frame.f_locals if frame is not None else {}
        given = {name: arguments.get(name) for name in ("x", "y")}
        arrays = {name: weakref.ref(value) for name, value in given.items() if type(value).__name__ == "ndarray"}
        self.recorder.scanned = lambda: {name: bad_values(ref()) for name, ref in arrays.items() if ref() is not None}

    def _is_new_model(self) -> bool:
        seen = self._model in self.recorder.models
        self.recorder.models.add(self._model)
        return not seen

    def on_train_end(self, logs: Any = None) -> None:
        guard(PROBE, self._end)

    def _end(self) -> None:
        self.recorder.close_fit(self.fit)
        self._release_saver()
        self.recorder.event(
            "fit-end", id=self.fit.id, epoch=self.fit.epoch, steps=self.recorder.count, stop=self._stop_training()
        )

    def _stop_training(self) -> bool:
        return bool(vars(self._model).get("stop_training", False))

    def __del__(self) -> None:
        if self.fit in self.recorder.open_fits and not sys.is_finalizing():
            guard(PROBE, self._on_abandoned)

    def _on_abandoned(self) -> None:
        """fit was left by an exception that Keras does not filter (KeyboardInterrupt, SystemExit), which was caught."""
        self.recorder.close_fit(self.fit)
        self._release_saver()
        user_frame = users_frame(sys._getframe())  # None when the interpreter ends: then no code is on the stack
        handler = handler_of(user_frame) if user_frame is not None else None
        if handler is not None and handler[0] in ("KeyboardInterrupt", "SystemExit", "BaseException", ""):
            kind = handler[0] or "BaseException"
            self.recorder.event(
                "exception", left="fit", function="fit", type=kind, bases=[kind], message="", caught=handler[1],
                fit=self.fit.id, epoch=self.fit.epoch, batch=self.fit.batch, steps=self.recorder.count, frames=[],
            )  # fmt: skip

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        self.fit.epoch = epoch
        self.fit.batch = -1
        self._epoch_batches = 0
        self._steps_before_epoch = self.recorder.count
        self._epoch_began = self.recorder.last_end = now = time.time()
        guard(PROBE, self.recorder.mark, STEP, now)

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        guard(PROBE, self._end_epoch, epoch, logs)

    def _end_epoch(self, epoch: int, logs: Any) -> None:
        now = time.time()
        if math.isnan(self._learning_rate):  # Keras has just waited for the step's results
            self._learning_rate = learning_rate(getattr(self._model, "optimizer", None))
        if self._needs_model_facts:
            self._needs_model_facts = False
            self.recorder.event("model", fit=self.fit.id, **describe_model(self._model))
        self.recorder.event(
            "epoch",
            fit=self.fit.id,
            epoch=epoch,
            batches=self._epoch_batches,
            seconds=round(now - self._epoch_began, 6),
            learning_rate=None if math.isnan(self._learning_rate) else self._learning_rate,
            metrics=scalars(logs) if isinstance(logs, dict) else {},
        )
        self.recorder.mark(EPOCH_END, now)

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        guard(PROBE, self._end_batch, batch, logs)

    def _end_batch(self, batch: int, logs: Any) -> None:
        now = time.time()
        fit, recorder = self.fit, self.recorder
        if self._learning_rate_epoch != fit.epoch:  # once per epoch, after the other callbacks have set it
            self._learning_rate_epoch = fit.epoch
            self._learning_rate = learning_rate(getattr(self._model, "optimizer", None), may_wait=False)
        fit.batch = batch
        # By the index of the batch: Keras may dispatch these calls to several threads, and may run several batches at
        # once (steps_per_execution), fewer at the end of an epoch.
        done = min(batch + 1, self._steps_per_epoch) if self._steps_per_epoch else batch + 1
        if done > self._epoch_batches:
            self._epoch_batches = done
        # If several fits run concurrently, a common counter keeps their steps apart.
        number = self._steps_before_epoch + done if len(recorder.open_fits) == 1 else recorder.count + 1
        if number > recorder.count:
            recorder.count = number
        loss = logs.get("loss") if logs else None
        value = loss if type(loss) is float else cheap_number(loss)
        seconds = now - recorder.last_end
        self._write_step(number, now, seconds, value, self._learning_rate, fit.epoch, batch, fit.id)
        recorder.last_end = now
        for listener in recorder.at_step_end:
            listener(number, seconds, now)

    def on_test_begin(self, logs: Any = None) -> None:
        self._tested_batches = 0
        self._phase_before = self.recorder.phase
        guard(PROBE, self.recorder.mark, VALIDATION if self.fit.id else EVALUATE, time.time())

    def on_test_batch_end(self, batch: int, logs: Any = None) -> None:
        self.recorder.pulse += 1
        self.recorder.last_end = time.time()
        if type(batch) is int and batch >= self._tested_batches:
            self._tested_batches = batch + 1

    def on_test_end(self, logs: Any = None) -> None:
        guard(PROBE, self._end_test)

    def _end_test(self) -> None:
        frame = _calling_frame("evaluate", "steps")
        requested_steps = number(frame.f_locals["steps"]) if frame is not None else None
        if requested_steps and requested_steps != math.inf:
            fields = {
                "fit": self.fit.id,
                "epoch": self.fit.epoch,
                "batches": self._tested_batches,
                "asked": int(requested_steps),
            }
            self.recorder.event("validation", where=users_place(frame), **fields)
        self.recorder.mark(EPOCH_END if self.fit.id else self._phase_before, time.time())

    def on_predict_begin(self, logs: Any = None) -> None:
        self._phase_before = self.recorder.phase
        guard(PROBE, self.recorder.mark, PREDICT, time.time())

    def on_predict_end(self, logs: Any = None) -> None:
        guard(PROBE, self.recorder.mark, self._phase_before, time.time())

    def _do_nothing(self, *args: Any, **kwargs: Any) -> None:
        return None

    def on_predict_batch_end(self, batch: int, logs: Any = None) -> None:
        self.recorder.pulse += 1
        self.recorder.last_end = time.time()

    def _between_steps(self, *args: Any, **kwargs: Any) -> None:
        # Keras calls this in the training thread; the weights are those after the previous step.
        saver = self._saver
        if saver is not None and saver.is_wanted and self.fit.id:
            guard(PROBE, saver.save, self._model)

    def _release_saver(self) -> None:
        """The fit is over: do a requested save now, and give SIGTERM back to the program."""
        if self._saver is not None:
            self._saver.release_terminate()
            self._between_steps()

    on_train_batch_begin = on_test_batch_begin = _between_steps
    on_batch_begin = on_batch_end = on_predict_batch_begin = _do_nothing


def cheap_number(value: Any) -> float:
    """A float if it can be read without waiting: a tensor on the CPU, a Python or NumPy number; NaN otherwise."""
    if type(value).__name__ == "EagerTensor":
        return float(value) if value.device.endswith("CPU:0") and value.shape.rank == 0 else NAN
    plain = number(value)
    return NAN if plain is None else float(plain)
