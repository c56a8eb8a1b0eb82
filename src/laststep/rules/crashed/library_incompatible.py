"""Incompatible versions."""

from __future__ import annotations

import re

from laststep.analysis.finding import Confidence, Evidence, Remedy
from laststep.analysis.messages import Message, answer, compiled, find_message
from laststep.analysis.replacements import Found, find_old_name
from laststep.record.events.process import Versions
from laststep.record.run import Run
from laststep.rules.rule import Answer, Tier, rule

_LIBRARIES = (
    r"(?:tensorflow|tf_keras|keras|numpy|google\.protobuf|jax|jaxlib|h5py|ml_dtypes|tensorflow_\w+|pandas|"
    r"sklearn|scipy|PIL)"
)
CERTAIN = compiled(
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
# Most often code for another version, or a file of one; it may also be a typo.
LIKELY = compiled(
    r"(?:Argument\(s\) not recognized|[Uu]nrecognized (?:keyword )?arguments?(?: passed to \w+)?): "
    r"?(?P<argument>[^\n]+)",
    r"Could not deserialize '|Error when deserializing class|Could not interpret optimizer identifier: <",
    r"The added layer must be an instance of class \w+\. (?:Received|Found)[^\n]*(?:keras|tensorflow)",
    r"Only instances of `?keras\.Layer`? can be added|'str' object has no attribute 'decode'",
    r"A KerasTensor (?:is symbolic|cannot be used as input to a TensorFlow function)|'KerasTensor' object has no attr",
)
# A name that this version does not have (any more): most likely code for another version.
REMOVED = compiled(
    rf"module '(?P<module>{_LIBRARIES}[\w.]*)' has no attribute '(?P<name>\w+)'",
    rf"cannot import name '?(?P<name>\w+)'? from '?(?P<module>{_LIBRARIES}[\w.]*)",
    rf"No module named '?(?P<module>{_LIBRARIES}\.[\w.]+)'?(?![\w.']|; ')",
    r"(?:\.)?(?P<module>(?:fit|compile|evaluate|predict|__init__|save|load_model)\w*)\(\) got an unexpected "
    r"keyword argument '(?P<argument>\w+)'",
    r"`(?P<name>np\.\w+)` was (?:removed|a deprecated alias)",
    r"(?P<name>\w+) is (?:no longer supported|not supported in Keras 3|deprecated[^\n]*has been removed)",
)
KERAS_2 = Remedy(
    "Or use Keras 2 (this works where the program imports tf.keras, not keras)",
    "pip install tf_keras; TF_USE_LEGACY_KERAS=1 python train.py",
)


@rule(tier=Tier.ROOT)
def library_incompatible(run: Run) -> Answer:
    """Two packages, or the program and a package, have incompatible versions.

    What happened
        A package was built for another version of a library (NumPy, protobuf, the C library), the program was
        written for another version of TensorFlow or Keras (Keras 2 and 3 differ in many names), or a saved
        model was made with another version.

    How laststep knows
        The library's own message about versions; or a name or argument that this version of a known library
        does not have. Where it is known what replaced it, the line is shown as it should be; any other name is
        reported as LIKELY only: it might be a typo.

    What to do
        Run `pip check`, then make a fresh environment with compatible versions. For programs written for Keras
        2: pip install tf_keras and TF_USE_LEGACY_KERAS=1, or change the one name that is shown.

    Not to be confused with
        gpu-libraries-unusable (CUDA and its libraries), missing-package (a package that is not installed).
    """
    certain = find_message(run, *CERTAIN)
    old = find_old_name(run)
    if old is not None and (certain is None or certain.event is old.message.event):
        return _old_name(run, old)
    removed = find_message(run, *REMOVED, console=False)
    message = certain or removed or find_message(run, *LIKELY, console=False)
    return answer(
        run,
        message,
        "no library reported an incompatible version",
        cause=_cause(certain, removed, message),
        remedies=_remedies(message),
        more=_versions(run),
        confidence=Confidence.CERTAIN if certain else Confidence.LIKELY,
    )


def _old_name(run: Run, found: Found) -> Answer:
    """A name that this version does not have, and that another one is known to replace."""
    old = found.replacement
    says = f"Replace it: {old.says}" if old.change is not None else f"Change this line: {old.says}"
    tf_keras = "tensorflow.keras" in old.old or "tf.keras" in (found.message.where.text if found.message.where else "")
    return answer(
        run,
        found.message,
        "",
        cause=f"This version of the library has no {old.old}: {old.says}.",
        remedies=(Remedy(says, old.change, found.message.where), *((KERAS_2,) if tf_keras else ())),
        more=_versions(run),
    )


def _cause(certain: Message | None, removed: Message | None, message: Message | None) -> str:
    if certain is not None and certain.get("wanted"):
        return f"A library was built for {certain['library']} {certain['wanted']}, which this system does not have."
    if certain is not None:
        return "Two libraries, or a saved model and a library, have incompatible versions."
    if removed is None:
        return "Most likely the program, or a saved model, was made for another version of this library."
    name, module, argument = removed.get("name"), removed.get("module"), removed.get("argument")
    what = f"argument {argument!r} of {module}" if argument else ".".join(filter(None, (module, name)))
    return f"This version of the library has no {what}."


def _versions(run: Run) -> tuple[Evidence, ...]:
    event = run.last(Versions)
    if event is None:
        return ()
    known = ", ".join(f"{name} {version}" for name, version in event.known.items() if re.match(r"[\d.]+", version))
    return (Evidence(f"in use: {known}"[:300], (event,)),) if known else ()


def _remedies(message: Message | None) -> tuple[Remedy, ...]:
    text = message.found.string if message else ""
    if "Descriptors cannot" in text:
        return (Remedy("Install a compatible protobuf", 'pip install "protobuf<=3.20.3"  # or a newer TensorFlow'),)
    if "NumPy 1.x" in text or ("numpy" in text and "size changed" in text):
        return (Remedy("Install a compatible NumPy, or a newer build of the package", 'pip install "numpy<2"'),)
    if "eras" in text:
        return (
            Remedy(
                "For a program or a model made for Keras 2, use Keras 2", "pip install tf_keras; TF_USE_LEGACY_KERAS=1"
            ),
            Remedy("Check for other incompatible packages", "pip check", safe=True),
        )
    return (Remedy("Check which packages are incompatible, and make a fresh environment", "pip check", safe=True),)
