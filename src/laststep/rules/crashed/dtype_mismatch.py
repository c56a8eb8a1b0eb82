"""A tensor has a dtype that the operation does not accept."""

from __future__ import annotations

from laststep.analysis.argument_causes import ragged_error
from laststep.analysis.finding import Evidence, Remedy, no
from laststep.analysis.messages import Message, answer, compiled, find_message
from laststep.analysis.passed_layers import network_of
from laststep.analysis.shapes import fit_arguments
from laststep.record.run import Run
from laststep.rules.rule import Answer, rule

_TYPE = (
    r"(?:<dtype: ')?(?:tf\.)?(?P<{0}>(?:u?int|float|bfloat|complex|q?int)\d+|half|double|float|bool|string|"
    r"str\d*|object|variant|resource)(?:'>)?"
)
MESSAGES = compiled(
    rf"Value for attr '\w+' of {_TYPE.format('got')} is not in the list of allowed values: (?P<wanted>[\w, ]+)",
    r"cannot compute (?P<op>\w+) as input #\d+\(zero-based\) was expected to be an? (?P<wanted>\w+) tensor but "
    r"is an? (?P<got>\w+) tensor",
    r"Input '(?P<input>\w+)' of '(?P<op>\w+)' Op has type (?P<got>\w+) that does not match (?:expected )?type "
    r"(?:of )?(?P<wanted>\w+)",
    r"Tensor conversion requested dtype (?P<wanted>\w+) for Tensor with dtype (?P<got>\w+)",
    r"(?:Unsupported object type|Failed to convert a NumPy array to a Tensor \(Unsupported object type) (?P<got>\w+)",
    r"Invalid dtype: (?P<got>\w+)",
    r"Cast (?P<got>string|variant|\w+) to (?P<wanted>\w+) is not supported",
    r"could not convert string to float: (?P<value>(?!'--)[^\n]*)",
    r"Expected (?P<wanted>\w+)(?: passed to parameter '\w+' of op '(?P<op>\w+)')?, (?:but )?got "
    r"(?P<value>[^\n]{1,80}) of type '(?P<got>\w+)'",
    r"(?:Expected|expected) (?P<wanted>u?int\d*|float\d*|string|bool),? (?:but )?got (?P<got>[\w<>': ]+?)(?: of "
    r"type|\.|$| instead)",
    r"Can(?:'t|not) convert (?P<got>\w+) to (?P<wanted>\w+)|Cannot convert (?P<value>\S+) to EagerTensor of "
    r"dtype (?P<wanted2>\w+)",
    r"Type(?:s)? mismatch|must be of the same (?:d?type)|(?:dtypes?|types) (?:do|does) not match|have mismatched "
    r"types|Mismatch(?:ed)? (?:d?types?)",
    r"Data type mismatch|Data types don't match|Incompatible type conversion requested|Attempt to convert a "
    r"value \((?P<value>[^)]{1,60})\) with an unsupported type",
    r"can't convert np\.ndarray of type (?:numpy\.)?(?P<got>\w+)|setting an array element with a "
    r"sequence\.(?!.*inhomogeneous)",
    r"Failed to convert object of type|The dtype of the (?:source|target|input)[^\n]*(?:not compatible|differ|must)",
    r"Tensors? in list passed to '\w+' of '(?P<op>\w+)' Op have types \[(?P<got>[^\]]+)\] that don't all match",
)
C_TYPES = {"half": "float16", "float": "float32", "double": "float64"}  # as TensorFlow's kernels name them
OBJECT_TYPES = ("object", "str", "string", "float", "int", "list", "NoneType", "Timestamp", "dict", "bytes")


@rule()
def dtype_mismatch(run: Run) -> Answer:
    """An operation got a tensor of the wrong dtype: integers instead of floats, float64 instead of float32, or objects.

    What happened
        TensorFlow does not convert dtypes implicitly. NumPy defaults to float64 and int64, images are uint8,
        and a table with one text or one missing value becomes an object array, which cannot become a tensor.

    How laststep knows
        The op's own message: the dtype it got and the dtype it accepts.

    What to do
        Cast where the data enters: tf.cast(x, tf.float32), array.astype("float32"). For an object array, find
        the column that holds text or lists of different lengths, with df.dtypes.

    Not to be confused with
        shape-mismatch (the dtype is right, the shape is not; lists of different lengths can show as either).
    """
    message = find_message(run, *MESSAGES)
    if message is None:
        return answer(run, None, "no operation reported a wrong dtype")
    if ragged_error(network_of(run)) is not None:
        return no("the array holds objects of different lengths")
    got, wanted = message.get("got"), message.get("wanted") or message.get("wanted2")
    op = f"{message['op']}: " if message.get("op") else ""
    dtypes = f" ({op}got {got}{f', accepts {wanted[:80]}' if wanted else ''})" if got else ""
    return answer(
        run,
        message,
        "",
        cause=f"A value has a dtype that the operation does not accept{dtypes}.",
        remedies=_remedies(message, got, wanted),
        more=(*_value(message), *fit_arguments(run)),
    )


def _value(message: Message) -> tuple[Evidence, ...]:
    return (Evidence(f"the value was {message['value'].strip()}"),) if message.get("value") else ()


def _remedies(message: Message, got: str, wanted: str) -> tuple[Remedy, ...]:
    if got.rstrip("0123456789") in ("str", "string") or "convert string" in message.quote:
        return (Remedy("Encode text as numbers first, or with pandas.get_dummies", "keras.layers.StringLookup()"),)
    if (got in OBJECT_TYPES and got not in ("float", "int")) or "object type" in message.quote:
        return (
            Remedy(
                "An object array cannot become a tensor: convert it to numbers", 'x = np.asarray(x).astype("float32")'
            ),
        )
    return (Remedy("Cast it where it is made", f"x = tf.cast(x, tf.{_common_dtype(got, wanted)})", message.where),)


def _common_dtype(got: str, wanted: str) -> str:
    """What to cast to: the first that is accepted, and never floats to integers."""
    accepted = wanted.split(",")[0].strip()
    accepted, got = C_TYPES.get(accepted, accepted), C_TYPES.get(got, got)
    if "float" in got and "int" in accepted:
        return got
    return accepted if any(char.isdigit() for char in accepted) and "bfloat" not in accepted else "float32"
