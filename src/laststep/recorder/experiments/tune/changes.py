"""Which single changes of a pipeline are worth trying, which are not, and why not."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from laststep.recorder.experiments.tune import elements
from laststep.recorder.experiments.tune.call_text import function_written, written
from laststep.recorder.experiments.tune.calls import Call, again, made_by, rebuild, walk
from laststep.recorder.frames import Place
from laststep.recorder.guard import attempt

AUTOTUNE = -1
AUTO = "tf.data.AUTOTUNE"
PYTHON = {"PyFunc", "PyFuncStateless", "EagerPyFunc"}
NONE_OR_ONE = (None, 1)
COMPARED = 64  # examples
OTHER_ORDER = "examples come in another order"


@dataclass
class PipelineChange:
    """One edit: how it would be written, where, and the data that fit gets then."""

    says: str
    call: Call | None
    code: str
    data: Any
    note: str = ""
    fit: dict[str, Any] = field(default_factory=dict)  # other arguments than those the program gave
    where: Place | None = None  # of what has no call
    risky: bool = False  # may hang: comes last


@dataclass
class SkippedChange:
    """A change that people would think of, and why it is not tried here."""

    says: str
    call: Call | None
    because: str


def changes_of(dataset: Any) -> Iterator[PipelineChange | SkippedChange]:
    """Everything to try on this dataset, the cache apart (it has to be filled first)."""
    for call in walk(dataset):
        for look in (_parallel_map, _parallel_files, _whole_batches):
            found, trouble = attempt(look, dataset, call)
            if trouble:
                yield SkippedChange(SAYS[look.__name__], call, f"it could not be built ({trouble})")
            elif found is not None:
                yield found
    yield from _prefetch(dataset)


def _parallel_map(dataset: Any, call: Call) -> PipelineChange | SkippedChange | None:
    if call.method != "map" or call.argument("num_parallel_calls", 2) not in NONE_OR_ONE:
        return None
    says = SAYS["_parallel_map"]
    by_itself = call.argument("num_parallel_calls", 2) is None and _optimized(dataset, "map_parallelization")
    if by_itself and not is_stateful(call):
        return SkippedChange(says, call, "TensorFlow does it by itself: no Python and nothing random in this map")
    code = written(call, f"num_parallel_calls={AUTO}", without="num_parallel_calls")
    return PipelineChange(says, call, code, rebuild(dataset, call, _with(num_parallel_calls=AUTOTUNE)))


def _parallel_files(dataset: Any, call: Call) -> PipelineChange | None:
    says = SAYS["_parallel_files"]
    if call.method == "interleave" and call.argument("num_parallel_calls", 4) in NONE_OR_ONE:
        code = written(call, f"num_parallel_calls={AUTO}", without="num_parallel_calls")
        return PipelineChange(says, call, code, rebuild(dataset, call, _with(num_parallel_calls=AUTOTUNE)))
    if call.method == "flat_map" and _count(call.input) != 1:
        code = written(call, f"num_parallel_calls={AUTO}").replace(".flat_map(", ".interleave(")
        data = rebuild(dataset, call, lambda call: call.args[0].interleave(*call.args[1:], num_parallel_calls=AUTOTUNE))
        return PipelineChange(says, call, code, data, OTHER_ORDER)
    if call.method.endswith("Dataset") and call.argument("num_parallel_reads", 3) in NONE_OR_ONE and _many_files(call):
        code = written(call, f"num_parallel_reads={AUTO}", without="num_parallel_reads")
        return PipelineChange(says, call, code, rebuild(dataset, call, _with(num_parallel_reads=AUTOTUNE)), OTHER_ORDER)
    return None


def _many_files(call: Call) -> bool:
    files = call.argument("filenames", 0)
    return not isinstance(files, (str, bytes)) and (not hasattr(files, "__len__") or len(files) > 1)


def _whole_batches(dataset: Any, call: Call) -> PipelineChange | SkippedChange | None:
    """map, then batch: the other way round, the function vectorised."""
    mapped = made_by(call.input) if call.method == "batch" else None
    if mapped is None or mapped.method != "map":
        return None
    says = SAYS["_whole_batches"]
    if ops_of(mapped) & PYTHON:
        return SkippedChange(says, mapped, "Python in the map takes one example at a time")
    data, trouble = attempt(rebuild, dataset, call, lambda call: _vectorised(mapped, call))
    if data is None:
        return SkippedChange(says, mapped, f"TensorFlow can't vectorise this function ({_short(trouble)})")
    if not is_stateful(mapped) and not _same_numbers(mapped, call):
        return SkippedChange(says, mapped, "the vectorised function gives other numbers")
    return PipelineChange(says, mapped, _vectorised_code(mapped, call), data, "instead of map, then batch")


def _same_numbers(mapped: Call, batch: Call) -> bool:
    """On a few examples, held so that a shuffle before them does not matter."""
    few = mapped.args[0].take(COMPARED).cache()
    for _ in few:
        pass
    one_by_one = again(mapped, (few, *mapped.args[1:]))
    return elements.same(again(batch, (one_by_one, *batch.args[1:])), _vectorised(mapped, batch, few), 1)


def _vectorised(mapped: Call, batch: Call, source: Any = None) -> Any:
    vectorized_map = sys.modules["tensorflow"].vectorized_map
    function, rest = mapped.argument("map_func", 1), dict(mapped.kwargs)
    rest.pop("map_func", None)

    def over_batch(*parts: Any) -> Any:
        one = parts[0] if len(parts) == 1 else parts
        each = function if len(parts) == 1 else lambda example: function(*example)
        return vectorized_map(each, one, fallback_to_while_loop=False)

    batched = again(batch, (mapped.args[0] if source is None else source, *batch.args[1:]))
    return batched.map(over_batch, *mapped.args[2:], **rest)


def _vectorised_code(mapped: Call, batch: Call) -> str:
    spec, function = mapped.input.element_spec, function_written(mapped)
    if type(spec) is not tuple:
        return f"{written(batch)}.map(lambda x: tf.vectorized_map({function}, x))"
    return f"{written(batch)}.map(lambda *x: tf.vectorized_map(lambda e: {function}(*e), x))"


def _prefetch(dataset: Any) -> Iterator[PipelineChange | SkippedChange]:
    last = made_by(dataset)
    if last is not None and last.method == "prefetch":
        return
    says = "fetch the next batch meanwhile"
    if _optimized(dataset, "inject_prefetch"):
        yield SkippedChange(says, last, "TensorFlow adds a prefetch at the end by itself")
    else:
        yield PipelineChange(says, last, f".prefetch({AUTO})", dataset.prefetch(AUTOTUNE))


def _optimized(dataset: Any, name: str) -> bool:
    """Whether TensorFlow makes this change by itself; the pipeline's own options may forbid it."""
    options = dataset.options()
    chosen = options.experimental_optimization
    allowed = chosen.apply_default_optimizations is not False and getattr(chosen, name) is not False
    return allowed and options.autotune.enabled is not False


def _with(**more: Any) -> Callable[[Call], Any]:
    return lambda call: again(call, _positional(call, more), call.kwargs | more)


def _positional(call: Call, more: dict[str, Any]) -> tuple[Any, ...]:
    """Without the old value of an argument that is given by name now."""
    places = {"map": 2, "interleave": 4}
    place = places.get(call.method, 3)
    return call.args[:place] if len(call.args) > place else call.args


def ops_of(call: Call) -> set[str]:
    """The operations inside a stage's function, with those of its branches and loops."""
    function = getattr(call.dataset, "_map_func", None) or getattr(call.dataset, "_predicate", None)
    if function is None:
        return set()
    graph = function.function.graph.as_graph_def()
    return {node.op for node in graph.node} | {node.op for inner in graph.library.function for node in inner.node_def}


def is_stateful(call: Call) -> bool:
    """Python or something random in it: TensorFlow keeps such a function serial."""
    function = getattr(call.dataset, "_map_func", None) or getattr(call.dataset, "_predicate", None)
    return function is not None and bool(function.function.function_def.signature.is_stateful)


def _count(dataset: Any) -> int:
    return int(dataset.cardinality().numpy())


def _short(trouble: str) -> str:
    return trouble.split("\n")[0][:70]


SAYS = {
    "_parallel_map": "run the map in parallel",
    "_parallel_files": "read several files at once",
    "_whole_batches": "map whole batches",
}
