"""Versions that do not go together."""

from __future__ import annotations

import re

from laststep.analysis.finding import Confidence, Evidence, Remedy
from laststep.analysis.messages import ECHOES, Message, answer, compiled, find_message
from laststep.record.run import Run
from laststep.rules.rule import Answer, rule

_LIBRARIES = (
    r"(?:tensorflow|tf_keras|keras|numpy|google\.protobuf|jax|jaxlib|h5py|ml_dtypes|tensorflow_\w+|pandas|"
    r"sklearn|scipy|PIL)"
)
SURE = compiled(
    r"incompatible Protobuf Gencode/Runtime|Descriptors (?:cannot(?: not)?|should not) be created directly|"
    r"'?MessageFactory'? object has no attribute|"
    r"cannot import name '?_?builder'? from 'google\.protobuf",
    r"numpy\.\w+ size changed|_ARRAY_API not found|numpy\.core\.(?:multiarray|umath) failed to import|compiled "
    r"using NumPy 1\.x cannot be run in",
    r"version `?(?P<library>GLIBC(?:XX)?|CXXABI)_(?P<wanted>[\d.]+)'? not found",
    r"undefined symbol: \w+|[Ss]ymbol not found:? '?\w+|The specified procedure could not be found",
    r"(?P<name>Keras) requires TensorFlow [\d.]+|Your currently installed version of Keras is Keras 3|Keras 3 "
    r"only supports V3|only supports V3 `\.keras`",
    r"File format not supported: filepath=|Unable to synchronously open object.*keras_version|bad marshal data|"
    r"unknown opcode",
    r"Unable to convert function return value to a Python type|incompatible with (?:this|the installed) version "
    r"of|requires (?:a )?(?:newer|older|different) version of",
    r"module compiled against API version",
    r"(?:built|compiled) (?:for|against|with) (?:a )?(?:different|another|newer) (?:version|Python)|incompatible "
    r"architecture|mach-o file, but is an incompatible",
)
# What is mostly written for another version, or comes from a file of one; it may also be a slip of the pen.
MAYBE = compiled(
    r"(?:Argument\(s\) not recognized|[Uu]nrecognized (?:keyword )?arguments?(?: passed to \w+)?): "
    r"?(?P<argument>[^\n]+)",
    r"Could not deserialize '|Error when deserializing class|Could not interpret optimizer identifier: <",
    r"The added layer must be an instance of class \w+\. (?:Received|Found)[^\n]*(?:keras|tensorflow)",
    r"Only instances of `?keras\.Layer`? can be added|'str' object has no attribute 'decode'",
    r"A KerasTensor (?:is symbolic|cannot be used as input to a TensorFlow function)|'KerasTensor' object has no attr",
)
# A name that this version does not have (any more): most likely written for another one.
GONE = compiled(
    rf"module '(?P<module>{_LIBRARIES}[\w.]*)' has no attribute '(?P<name>\w+)'",
    rf"cannot import name '?(?P<name>\w+)'? from '?(?P<module>{_LIBRARIES}[\w.]*)",
    rf"No module named '?(?P<module>{_LIBRARIES}\.[\w.]+)'?",
    r"(?:\.)?(?P<module>(?:fit|compile|evaluate|predict|__init__|save|load_model)\w*)\(\) got an unexpected "
    r"keyword argument '(?P<argument>\w+)'",
    r"`(?P<name>np\.\w+)` was (?:removed|a deprecated alias)",
    r"(?P<name>\w+) is (?:no longer supported|not supported in Keras 3|deprecated[^\n]*has been removed)",
)
KNOWN = {
    "contrib": "it was part of TensorFlow 1 only",
    "Session": "it is TensorFlow 1: tf.compat.v1.Session",
    "placeholder": "it is TensorFlow 1: tf.compat.v1.placeholder",
    "lr": "it is called learning_rate now",
    "decay": "use a learning rate schedule instead",
    "workers": "Keras 3 takes it in PyDataset(workers=…)",
    "use_multiprocessing": "Keras 3 takes it in PyDataset(use_multiprocessing=…)",
}


@rule(outranks=(*ECHOES, "missing-file", "corrupt-record"))
def library_incompatible(run: Run) -> Answer:
    """Packages, or the program and a package, do not go together in these versions.

    What happened
        A package was built for another version of a library (NumPy, protobuf, the C library), the program was
        written for another version of TensorFlow or Keras (Keras 2 and 3 differ in many names), or a saved model
        comes from one.

    How laststep knows
        The library's own words about versions; or a name or an argument that this version of a known library
        does not have, which is said as LIKELY only: it might be a slip of the pen.

    What to do
        `pip check`, then a fresh environment with versions that belong together. For programs of the Keras 2
        time: pip install tf_keras and TF_USE_LEGACY_KERAS=1, or change the one name that is shown.

    Not to be confused with
        gpu-libraries-unusable (CUDA and its libraries), unhandled-exception (a package that is not installed).
    """
    sure = find_message(run, *SURE)
    gone = find_message(run, *GONE, console=False)
    message = sure or gone or find_message(run, *MAYBE, console=False)
    return answer(
        run,
        message,
        "no library complained of another's version",
        cause=_cause(sure, gone),
        remedies=_remedies(message),
        more=_versions(run),
        confidence=Confidence.CERTAIN if sure else Confidence.LIKELY,
    )


def _cause(sure: Message | None, gone: Message | None) -> str:
    if sure is not None and sure.get("wanted"):
        return f"A library was built for {sure['library']} {sure['wanted']}, which this system does not have."
    if sure is not None:
        return "Libraries, or a saved model and a library, do not go together in these versions."
    if gone is None:
        return "Most likely the program, or a saved model, was written for another version of this library."
    name, module, argument = gone.get("name"), gone.get("module"), gone.get("argument")
    what = f"the argument {argument!r} of {module}" if argument else ".".join(filter(None, (module, name)))
    known = KNOWN.get(argument or name)
    return f"This version of the library has no {what}" + (f": {known}." if known else ".")


def _versions(run: Run) -> tuple[Evidence, ...]:
    event = run.last("versions")
    if event is None:
        return ()
    told = ", ".join(f"{name} {version}" for name, version in event.raw.items() if re.match(r"[\d.]+", str(version)))
    return (Evidence(f"in use: {told}"[:300], (event,)),) if told else ()


def _remedies(message: Message | None) -> tuple[Remedy, ...]:
    text = message.found.string if message else ""
    if "Descriptors cannot" in text:
        return (Remedy("Take a protobuf that fits", 'pip install "protobuf<=3.20.3"  # or a newer TensorFlow'),)
    if "NumPy 1.x" in text or ("numpy" in text and "size changed" in text):
        return (Remedy("Take a NumPy that fits, or a newer build of the package", 'pip install "numpy<2"'),)
    if "eras" in text:
        return (
            Remedy(
                "For a program or a model of the Keras 2 time, use it", "pip install tf_keras; TF_USE_LEGACY_KERAS=1"
            ),
            Remedy("See what else does not fit", "pip check", safe=True),
        )
    return (Remedy("See what does not fit, and make a fresh environment", "pip check", safe=True),)
