"""What to write instead of a name that the present versions of Keras, TensorFlow and NumPy do not have."""

from __future__ import annotations

import re
from dataclasses import dataclass

from laststep.analysis.messages import Message, compiled, find_message
from laststep.analysis.old_names import (
    ARGUMENTS,
    AS_TENSORFLOW_1,
    ATTRIBUTES,
    BACKEND,
    BACKENDS,
    IMPORTS,
    IN_OPS,
    IN_TF_KERAS,
    INPUT_AND_OUTPUT,
    MOVED,
    NOT_ANYWHERE,
    NOT_JUST_LEFT_OUT,
    NUMPY,
    NUMPY_NAMES,
    OF_KERAS,
    OF_WORKERS,
    ONE_PROBABILITY,
    RENAMED,
    TENSORFLOW,
    TENSORFLOW_1,
    UNMISTAKABLE,
)
from laststep.analysis.rewrite import with_arguments, with_attribute, with_module
from laststep.record.run import Run

_SAID = compiled(
    r"(?:Argument\(s\) not recognized|[Uu]nrecognized keyword arguments?(?: passed to \w+)?): (?P<arguments>\{[^\n]+)",
    r"(?:\.)?(?P<function>\w+)\(\) got an unexpected keyword argument '(?P<argument>\w+)'",
    r"(?P<function>Dense|Dropout)\.__init__\(\) missing 1 required positional argument: '(?P<missing>units|rate)'",
    r"The `(?P<argument>save_format)` argument is deprecated in Keras 3",
    r"`np\.\w+` was (?:removed|a deprecated alias)",
    r"module '(?P<module>[\w.]+)' has no attribute '(?P<name>\w+)'",
    r"cannot import name '(?P<name>\w+)' from '(?P<module>[\w.]+)'",
    r"No module named '(?P<module>(?:tensorflow|keras)\.[\w.]+)'(?!; ')",
    r"`(?P<module>keras\.optimizers\.legacy)` is not supported",
    r"'(?P<kind>\w+)' object has no attribute '(?P<attribute>\w+)'",
    r"Invalid filepath extension for saving[^\n]*(?:\n[^\n]*)*?Received: filepath=(?P<model>\S+?)\.?(?:\s|$)",
    r"(?:filename|filepath provided) must end in `(?P<ending>\.keras|\.weights\.h5)`[^\n]*Received: "
    r"filepath=(?P<file>\S+)",
)
_FUNCTIONS = ("fit", "compile", "evaluate", "predict", "__init__", "save", "load_model", "Input")
# A path in quotes, without the ending of another format.
_ENDING = re.compile(r"""(["'])((?:(?!\1|\.(?:keras|h5|tf)\1).)+)(?:\.(?:keras|h5|tf))?\1""")
_LITERAL = re.compile(r"'(\w+)': ")


@dataclass(frozen=True)
class Replacement:
    """What the old name is, what to write instead, and the user's line with it."""

    old: str
    says: str
    change: str | None = None


@dataclass(frozen=True)
class Found:
    """A message about a name that is known to be of an older version."""

    message: Message
    replacement: Replacement


def find_old_name(run: Run) -> Found | None:
    """The error that ended the training, if it is about a name of an older version that has a known replacement."""
    message = find_message(run, *_SAID, console=False)
    replacement = _replacement(message, _units(run)) if message is not None else None
    return Found(message, replacement) if message is not None and replacement is not None else None


def _units(run: Run) -> int | None:
    """How many outputs the model has that was fitted."""
    shape = run.fit.began.model.output_shape if run.fit is not None else None
    last = re.search(r"(\d+)\)$", shape or "")
    return int(last[1]) if last else None


def _replacement(message: Message, units: int | None) -> Replacement | None:
    line = message.where.text if message.where is not None else ""
    if message.get("arguments"):
        known = [name for name in _LITERAL.findall(message["arguments"]) if name in ARGUMENTS]
        return renamed_argument(known[0], line) if known else None
    if message.get("argument"):
        is_known = message.get("function") in ("", *_FUNCTIONS)
        return renamed_argument(message["argument"], line) if is_known else None
    if message.get("missing"):
        old = {"units": "output_dim", "rate": "p"}[message["missing"]]
        return renamed_argument(old, line) if re.search(rf"\b{old}\s*=", line) else None
    if message.get("attribute"):
        return renamed_attribute(message["kind"], message["attribute"], line, units)
    if message.get("module"):
        return renamed_in_module(message["module"], message.get("name"), line)
    if message.get("model") or message.get("file"):
        return _renamed_file(message, line)
    return renamed_in_numpy(message.found.string, line)


def _renamed_file(message: Message, line: str) -> Replacement:
    """Keras 3 tells the format by the ending of the file's name."""
    path, ending = message.get("model") or message["file"], message.get("ending") or ".keras"
    new = re.sub(r"(?:\.weights)?\.(?:h5|hdf5|keras|ckpt|tf)$", "", path.rstrip("/")) + ending
    quoted = next((quote + path + quote for quote in "\"'" if quote + path + quote in line), None)
    change = line.replace(quoted, quoted.replace(path, new)) if quoted else repr(new)
    what = "weights in files that end in .weights.h5" if "weights" in ending else "models in files that end in .keras"
    return Replacement(f"format for the file {path}", f"Keras 3 saves {what}", change)


def renamed_argument(name: str, line: str) -> Replacement | None:
    """For a keyword argument that is not known any more."""
    if name not in ARGUMENTS:
        return None
    says, new = ARGUMENTS[name]
    names = {each: ARGUMENTS.get(each, ARGUMENTS[name])[1] for each in _together(name)}
    change = with_arguments(line, names) if name not in NOT_JUST_LEFT_OUT else None
    if name == "save_format" and (changed := with_arguments(line, {name: None})):
        change = _ENDING.sub(lambda path: f"{path[1]}{path[2]}.keras{path[1]}", changed, count=1)
    if change is None and new is not None:
        changed = re.sub(rf"(?<![\w.]){name}(?=\s*=[^=])", new, line)  # of a call that goes on in the next line
        change = changed if changed != line else f"{new}=…"
    return Replacement(f"argument {name!r}", says, change)


def _together(name: str) -> tuple[str, ...]:
    """Those that one stands beside and that go the same way."""
    return next((group for group in (OF_WORKERS, INPUT_AND_OUTPUT) if name in group), (name,))


def renamed_attribute(kind: str, name: str, line: str, units: int | None = None) -> Replacement | None:
    """For a method or an attribute that objects of Keras do not have any more."""
    if name not in ATTRIBUTES or not (name in UNMISTAKABLE or OF_KERAS.fullmatch(kind)):
        return None
    says, template = ATTRIBUTES[name]
    if name == "predict_classes" and units == 1:
        says, template = "predict gives the probability of class 1", ONE_PROBABILITY
    change = with_attribute(line, name, template)
    if change is not None and name.endswith("_generator"):
        change = with_arguments(change, dict.fromkeys(OF_WORKERS)) or change
    return Replacement(f"{kind}.{name}", says, change)


def renamed_in_module(module: str, name: str, line: str) -> Replacement | None:
    """For `module.name` as an error message has it, or for a module where the name is empty."""
    full = f"{module}.{name}" if name else module
    short = re.sub(r"^(?:keras\._tf_keras\.|tensorflow\.(?:python\.)?)(?=keras\b)", "", full)
    if short.startswith("keras.backend."):
        return _of_backend(full, short.split(".")[2], line)
    if short in RENAMED:
        new = RENAMED[short]
        return Replacement(full, f"it is called {new} now", _with_name(line, name, new))
    if short in MOVED:
        return Replacement(full, f"its content is in {MOVED[short]} now", _with_module(line, short, name))
    if module == "numpy" and name in NUMPY_NAMES:
        new = NUMPY_NAMES[name]
        return Replacement(full, f"it is np.{new} now", with_attribute(line, name, "{object}." + new))
    return _of_tensorflow(full, name, line) if module.startswith("tensorflow") else None


def renamed_in_numpy(message: str, line: str) -> Replacement | None:
    """NumPy's message says itself what to write."""
    found = NUMPY.search(message)
    if found is None:
        return None
    new = found["new"] or found["builtin"]
    template = new if found["builtin"] else "{object}." + new.removeprefix("np.")
    return Replacement(f"numpy.{found['old']}", f"it is {new} now", with_attribute(line, found["old"], template))


def _with_name(line: str, old: str, new: str) -> str | None:
    if "import" in line:
        return with_module(line, old, f"{new} as {old}")
    return with_attribute(line, old, "{object}." + new)


def _with_module(line: str, old: str, name: str) -> str | None:
    for pattern, text in IMPORTS:
        if pattern.search(line):
            return pattern.sub(text, line)
    old = max((each for each in MOVED if each.startswith(old) and each in line), key=len, default=old)
    new = MOVED[old]
    if new.startswith("tensorflow"):  # where it is a name, not a module, the module is the same but for its parent
        module = old.removesuffix(f".{name}") if not new.endswith(old) else old
        if line.lstrip().startswith(("from", "import")):
            return with_module(line, module, new)
        changed = with_module(line, module, new.replace("tensorflow", "tf"))
        return f"import tensorflow as tf\n{changed}" if changed else None
    changed = with_module(line, old, new)
    for known, other in RENAMED.items() if changed else ():
        module, _, name = known.rpartition(".")
        if module == new and re.search(rf"\bimport\b.*\b{name}\b", changed or ""):
            changed = _with_name(changed or "", name, other)
    return changed


def _of_backend(full: str, name: str, line: str) -> Replacement | None:
    if name in NOT_ANYWHERE:
        return Replacement(full, "there are no sessions, placeholders or learning phases any more")
    if name in IN_OPS:
        template = f"keras.ops.{name}({{arguments}})"
        return Replacement(full, f"it is keras.ops.{name} now", with_attribute(line, name, template, BACKENDS))
    if name not in IN_TF_KERAS:
        return None
    return Replacement(full, "it is in tensorflow.keras.backend only", BACKEND)


def _of_tensorflow(full: str, name: str, line: str) -> Replacement | None:
    if name in TENSORFLOW_1:
        return Replacement(full, f"it is TensorFlow 1: tf.compat.v1.{name}", AS_TENSORFLOW_1)
    if name in TENSORFLOW:
        new = TENSORFLOW[name]
        return Replacement(
            full, f"it is tf.{new} now", with_attribute(line, name, "{object}." + new, ("tf", "tensorflow"))
        )
    if name == "contrib":
        return Replacement(full, "it was part of TensorFlow 1 only")
    return None
