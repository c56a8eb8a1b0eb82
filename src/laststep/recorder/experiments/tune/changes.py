"""Which single changes of a pipeline are worth trying, which are not, and why."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from laststep.recorder.experiments.tune import elements
from laststep.recorder.experiments.tune.call_text import call_text, function_text
from laststep.recorder.experiments.tune.calls import Call, call_behind, rebuild, repeat_call, walk
from laststep.recorder.frames import PlaceFields
from laststep.recorder.guard import attempt

AUTOTUNE = -1
AUTOTUNE_TEXT = "tf.data.AUTOTUNE"
PYTHON_OPS = {"PyFunc", "PyFuncStateless", "EagerPyFunc"}
SEQUENTIAL = (None, 1)
COMPARED_EXAMPLES = 64  # examples
ORDER_NOTE = "examples come in another order"


@dataclass
class PipelineChange:
    """One edit: how it would be written, where, and the data that fit gets then."""

    says: str
    call: Call | None
    code: str
    data: Any
    note: str = ""
    fit: dict[str, Any] = field(default_factory=dict)  # arguments of fit that differ from the program's
    where: PlaceFields | None = None  # if there is no call
    risky: bool = False  # may hang: measured last


@dataclass
class SkippedChange:
    """An obvious change that is not tried here, and the reason."""

    says: str
    call: Call | None
    because: str


def changes_of(dataset: Any) -> Iterator[PipelineChange | SkippedChange]:
    """Everything to try on this dataset, except the cache, which has to be filled first."""
    for call in walk(dataset):
        for find in (_parallel_map, _parallel_files, _whole_batches):
            found, problem = attempt(find, dataset, call)
            if problem:
                yield SkippedChange(SAYS[find.__name__], call, f"it could not be built ({problem})")
            elif found is not None:
                yield found
    yield from _prefetch(dataset)


def _parallel_map(dataset: Any, call: Call) -> PipelineChange | SkippedChange | None:
    if call.method != "map" or call.argument("num_parallel_calls", 2) not in SEQUENTIAL:
        return None
    says = SAYS["_parallel_map"]
    by_itself = call.argument("num_parallel_calls", 2) is None and _is_automatic(dataset, "map_parallelization")
    if by_itself and not is_stateful(call):
        return SkippedChange(says, call, "TensorFlow does it by itself: no Python and nothing random in this map")
    code = call_text(call, f"num_parallel_calls={AUTOTUNE_TEXT}", without="num_parallel_calls")
    return PipelineChange(says, call, code, rebuild(dataset, call, _with(num_parallel_calls=AUTOTUNE)))


def _parallel_files(dataset: Any, call: Call) -> PipelineChange | None:
    says = SAYS["_parallel_files"]
    if call.method == "interleave" and call.argument("num_parallel_calls", 4) in SEQUENTIAL:
        code = call_text(call, f"num_parallel_calls={AUTOTUNE_TEXT}", without="num_parallel_calls")
        return PipelineChange(says, call, code, rebuild(dataset, call, _with(num_parallel_calls=AUTOTUNE)))
    if call.method == "flat_map" and _cardinality(call.input) != 1:
        code = call_text(call, f"num_parallel_calls={AUTOTUNE_TEXT}").replace(".flat_map(", ".interleave(")
        data = rebuild(dataset, call, lambda call: call.args[0].interleave(*call.args[1:], num_parallel_calls=AUTOTUNE))
        return PipelineChange(says, call, code, data, ORDER_NOTE)
    if (
        call.method.endswith("Dataset")
        and call.argument("num_parallel_reads", 3) in SEQUENTIAL
        and _has_many_files(call)
    ):
        code = call_text(call, f"num_parallel_reads={AUTOTUNE_TEXT}", without="num_parallel_reads")
        return PipelineChange(says, call, code, rebuild(dataset, call, _with(num_parallel_reads=AUTOTUNE)), ORDER_NOTE)
    return None


def _has_many_files(call: Call) -> bool:
    files = call.argument("filenames", 0)
    return not isinstance(files, (str, bytes)) and (not hasattr(files, "__len__") or len(files) > 1)


def _whole_batches(dataset: Any, call: Call) -> PipelineChange | SkippedChange | None:
    """map, then batch: in the opposite order, with the function vectorised."""
    mapped = call_behind(call.input) if call.method == "batch" else None
    if mapped is None or mapped.method != "map":
        return None
    says = SAYS["_whole_batches"]
    if ops_of(mapped) & PYTHON_OPS:
        return SkippedChange(says, mapped, "Python in the map takes one example at a time")
    data, problem = attempt(rebuild, dataset, call, lambda call: _vectorised(mapped, call))
    if data is None:
        return SkippedChange(says, mapped, f"TensorFlow can't vectorise this function ({_first_line(problem)})")
    if not is_stateful(mapped) and not _same_numbers(mapped, call):
        return SkippedChange(says, mapped, "the vectorised function gives different numbers")
    return PipelineChange(says, mapped, _vectorised_code(mapped, call), data, "instead of map, then batch")


def _same_numbers(mapped: Call, batch: Call) -> bool:
    """On a few examples, held so that an earlier shuffle does not matter."""
    few = mapped.args[0].take(COMPARED_EXAMPLES).cache()
    for _ in few:
        pass
    one_by_one = repeat_call(mapped, (few, *mapped.args[1:]))
    return elements.are_equal(repeat_call(batch, (one_by_one, *batch.args[1:])), _vectorised(mapped, batch, few), 1)


def _vectorised(mapped: Call, batch: Call, source: Any = None) -> Any:
    vectorized_map = sys.modules["tensorflow"].vectorized_map
    function, rest = mapped.argument("map_func", 1), dict(mapped.kwargs)
    rest.pop("map_func", None)

    def over_batch(*parts: Any) -> Any:
        one = parts[0] if len(parts) == 1 else parts
        each = function if len(parts) == 1 else lambda example: function(*example)
        return vectorized_map(each, one, fallback_to_while_loop=False)

    batched = repeat_call(batch, (mapped.args[0] if source is None else source, *batch.args[1:]))
    return batched.map(over_batch, *mapped.args[2:], **rest)


def _vectorised_code(mapped: Call, batch: Call) -> str:
    spec, function = mapped.input.element_spec, function_text(mapped)
    if type(spec) is not tuple:
        return f"{call_text(batch)}.map(lambda x: tf.vectorized_map({function}, x))"
    return f"{call_text(batch)}.map(lambda *x: tf.vectorized_map(lambda e: {function}(*e), x))"


def _prefetch(dataset: Any) -> Iterator[PipelineChange | SkippedChange]:
    last = call_behind(dataset)
    if last is not None and last.method == "prefetch":
        return
    says = "fetch the next batch meanwhile"
    if _is_automatic(dataset, "inject_prefetch"):
        yield SkippedChange(says, last, "TensorFlow adds a prefetch at the end by itself")
    else:
        yield PipelineChange(says, last, f".prefetch({AUTOTUNE_TEXT})", dataset.prefetch(AUTOTUNE))


def _is_automatic(dataset: Any, name: str) -> bool:
    """Whether TensorFlow makes this change automatically; the pipeline's options may forbid it."""
    options = dataset.options()
    chosen = options.experimental_optimization
    allowed = chosen.apply_default_optimizations is not False and getattr(chosen, name) is not False
    return allowed and options.autotune.enabled is not False


def _with(**more: Any) -> Callable[[Call], Any]:
    return lambda call: repeat_call(call, _positional_arguments(call, more), call.kwargs | more)


def _positional_arguments(call: Call, more: dict[str, Any]) -> tuple[Any, ...]:
    """Without the old value of an argument that is now passed by name."""
    positions = {"map": 2, "interleave": 4}
    position = positions.get(call.method, 3)
    return call.args[:position] if len(call.args) > position else call.args


def ops_of(call: Call) -> set[str]:
    """The operations in a stage's function, including its branches and loops."""
    function = getattr(call.dataset, "_map_func", None) or getattr(call.dataset, "_predicate", None)
    if function is None:
        return set()
    graph = function.function.graph.as_graph_def()
    return {node.op for node in graph.node} | {node.op for inner in graph.library.function for node in inner.node_def}


def is_stateful(call: Call) -> bool:
    """Contains Python or random operations: TensorFlow does not run such a function in parallel."""
    function = getattr(call.dataset, "_map_func", None) or getattr(call.dataset, "_predicate", None)
    return function is not None and bool(function.function.function_def.signature.is_stateful)


def _cardinality(dataset: Any) -> int:
    return int(dataset.cardinality().numpy())


def _first_line(problem: str) -> str:
    return problem.split("\n")[0][:70]


SAYS = {
    "_parallel_map": "run the map in parallel",
    "_parallel_files": "read several files at once",
    "_whole_batches": "map whole batches",
}
