"""The stages of a tf.data pipeline, from its end to its source."""

from __future__ import annotations

import ast
import math
from typing import Any

from laststep.recorder.frames import is_users, parse_source, place
from laststep.recorder.guard import attempt

MAX_STAGES = 30
PYTHON_OPS = {"PyFunc", "EagerPyFunc", "PyFuncStateless", "GeneratorDataset"}
READ_OPS = {"ReadFile"}
DECODE_OPS = {"DecodePng", "DecodeJpeg", "DecodeImage", "DecodeAndCropJpeg", "DecodeBmp", "DecodeGif", "DecodeWav"}


def describe_stages(dataset: Any) -> list[dict[str, Any]]:
    """The kind of each stage, its sizes and settings, and what is known about its function."""
    stages: list[dict[str, Any]] = []
    while dataset is not None and len(stages) < MAX_STAGES:
        attributes = vars(dataset)
        name = type(dataset).__name__.strip("_")
        stage = {"stage": name.removesuffix("V2").removesuffix("Dataset"), "bytes": _bytes_of(dataset.element_spec)}
        names = ("buffer_size", "batch_size", "drop_remainder", "num_parallel_calls", "cycle_length", "count")
        sizes = {size: _small_number(attributes.get(f"_{size}")) for size in names}
        stage |= {size: value for size, value in sizes.items() if value is not None}
        functions, _ = attempt(dataset._functions)
        for wrapped in (functions or [])[:1]:
            description, _ = attempt(_describe_function, wrapped)
            stage |= description or {}
        stages.append(stage)
        dataset = attributes.get("_input_dataset")
    return stages


def _describe_function(wrapped: Any) -> dict[str, Any]:
    kinds = {operation.type for operation in wrapped.function.graph.get_operations()}
    function = _generator_in(wrapped._func) or wrapped._func
    code = getattr(function, "__code__", None)
    description: dict[str, Any] = {
        "python": bool(kinds & PYTHON_OPS),
        "generator": "GeneratorDataset" in kinds,
        "random": any("Random" in kind and not kind.startswith("Stateless") for kind in kinds),
        "reads": bool(kinds & READ_OPS),
        "decodes": bool(kinds & DECODE_OPS),
    }
    if code is not None and is_users(code.co_filename):
        description["function"] = code.co_name
        description["where"] = place(code.co_filename, code.co_firstlineno)
        description["called_at"] = _passed_at(code.co_filename, code.co_name)
    return {name: value for name, value in description.items() if value}


def _generator_in(function: Any, depth: int = 3) -> Any:
    """from_generator keeps the user's function in the closure of its own, one or two functions deep."""
    for cell in (getattr(function, "__closure__", None) or ()) if depth else ():
        generator = getattr(cell.cell_contents, "_generator", None)
        found = generator if callable(generator) else _generator_in(cell.cell_contents, depth - 1)
        if found is not None:
            return found
    return None


def _passed_at(filename: str, name: str) -> dict[str, Any] | None:
    """The line that passes this function to a dataset's method: ds.map(load)."""
    for node in ast.walk(parse_source(filename)):
        if isinstance(node, ast.Call) and any(isinstance(arg, ast.Name) and arg.id == name for arg in node.args):
            return place(filename, getattr(node.func, "end_lineno", None) or node.lineno)
    return None


def _small_number(value: Any) -> int | None:
    """The value of a constant that is already on the CPU."""
    if type(value).__name__ == "EagerTensor" and value.shape.rank == 0 and value.device.endswith("CPU:0"):
        return int(value)
    return int(value) if isinstance(value, (bool, int)) else None


def _bytes_of(spec: Any) -> int | None:
    """Of one element of a dataset; None if a part of it has no fixed size."""
    if isinstance(spec, (tuple, list)) or hasattr(spec, "values"):
        parts = [_bytes_of(part) for part in (spec.values() if hasattr(spec, "values") else spec)]
        return None if None in parts else sum(part for part in parts if part)
    shape, size = getattr(spec, "shape", None), getattr(getattr(spec, "dtype", None), "size", 0)
    if shape is None or shape.rank is None or None in shape.as_list() or not size:
        return None
    return int(size) * int(math.prod(shape.as_list()))
