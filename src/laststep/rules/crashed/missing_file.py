"""A file or folder that the program opens does not exist."""

from __future__ import annotations

from laststep.analysis.finding import Confidence, Evidence, Finding, Remedy, measured
from laststep.analysis.messages import Message, answer, compiled, find_message
from laststep.analysis.progress import progress
from laststep.analysis.scripts import MissingScript, missing_script
from laststep.record.events.supervisor import Launch
from laststep.record.run import Run
from laststep.rules.rule import Answer, rule

MESSAGES = compiled(
    r"FileNotFoundError: [^\n]*?['\"](?P<file>[^'\"\n]+)['\"]",
    r"FileNotFoundError: [^\n]*",
    r"(?:NotFoundError|NOT_FOUND|Not found)[^\n]*?:? (?P<file>[^\s;:'\"]+); No such file or directory",
    r"^(?P<file>[^\s;:'\"]+); No such file or directory",  # below TensorFlow's "Graph execution error:"
    r"NewRandomAccessFile failed to Create/Open: (?P<file>.+?) : ",
    r"HTTP response code 404[^\n]*when reading (?P<file>\S+)",
    r"(?:NotFoundError|NOT_FOUND)[^\n]*No such file or directory[^\n]*",
    r"\[Errno 2\] [^\n]*?(?:: ['\"](?P<file>[^'\"\n]+)['\"])",
    r"\[Errno 2\] No such file or directory",
    r"unable to open file: name = '(?P<file>[^']+)', errno = 2",
    r"Failed to find any matching files for (?P<file>\S+)",
    r"File does not exist:? (?P<file>\S+)|NOT_FOUND: Failed to create a NewWriteableFile: (?P<made>\S+)",
    r"save_path is not a valid checkpoint: (?P<file>\S+)",
    r"SavedModel file does not exist at:? (?P<file>[^\s{]+)",
    r"File not found: filepath=(?P<file>[^\s.]+(?:\.\w+)*)",
    r"(?:No files matched|matched no files|Found no files|No file or directory found at|Could not find "
    r"directory)[^\n]*?(?P<file>[\w./\\*~-]+)?",
    r"(?P<file>[\w./\\~-]+): No such file or directory$",
)
_LIBRARY = compiled(r"\.so[.\d]*['\"]?: cannot open shared object|\.dll")


@rule()
def missing_file(run: Run) -> Answer:
    """A file or folder that the program opens does not exist.

    What happened
        The program, or TensorFlow on its behalf, opened a path that does not exist: another working folder, a
        path of another machine, a volume that is not mounted in the container, a file made by a step that did
        not run, or a checkpoint prefix used as a file name.

    How laststep knows
        The operating system's error (ENOENT), which contains the path.

    What to do
        Check the path as printed: a relative path starts at the folder in which the program was started. With
        tf.data a missing file is noticed only when it is read, perhaps hours into training: check that all
        files exist before it begins.

    Not to be confused with
        permission-denied (it exists and may not be read), dataset-empty (a pattern that matches nothing and
        raises no error), data-source-unreachable (a remote source).
    """
    script = missing_script(run)
    if script is not None:
        return _no_script(run, script)
    message = find_message(run, *MESSAGES)
    if message is not None and _LIBRARY[0].search(message.found.string):
        message = None  # a library that cannot be loaded has a rule of its own
    if message is not None and message.event is not None and message.event.file_exists:
        return measured("the file that Keras did not find exists")
    file = (message.get("file") or message.get("made")) if message else ""
    is_ambiguous = run.is_log and message is not None and ".keras` zip file" in message.found.string
    or_truncated = ", or is truncated (Keras reports both alike)" if is_ambiguous else ""
    return answer(
        run,
        message,
        "no file was missing",
        cause=f"{file or 'A file'} does not exist{or_truncated}.",
        remedies=_remedies(message, file),
        more=_relative(run, file),
        confidence=Confidence.LIKELY if is_ambiguous else Confidence.CERTAIN,
    )


def _no_script(run: Run, script: MissingScript) -> Finding:
    """Python itself was told to run what is not there."""
    name = script.path.rsplit("/", 1)[-1]
    meant = f": did you mean {' or '.join(script.similar)}?" if script.similar else "."
    change = (
        " ".join(script.similar[0] if _is(word, name) else word for word in run.command) if script.similar else None
    )
    return Finding(
        cause=f"There is no script {name}{meant}",
        confidence=Confidence.CERTAIN,
        evidence=(Evidence(f"Python could not open {script.path}"), progress(run)),
        remedies=(
            (Remedy("Run the script that is there", f"laststep run {change}"),)
            if change
            else (Remedy("Check the name, and the folder in which it is started"),)
        ),
        brief=f"there is no script {name}",
    )


def _is(word: str, name: str) -> bool:
    return word.rsplit("/", 1)[-1] == name


def _relative(run: Run, file: str) -> tuple[Evidence, ...]:
    began = run.first(Launch)
    if not file or file.startswith(("/", "~", "gs:", "s3:", "hdfs:")) or began is None or not run.cwd:
        return ()
    return (Evidence(f"the path is relative, and the program was started in {run.cwd}", (began,)),)


def _remedies(message: Message | None, file: str) -> tuple[Remedy, ...]:
    if message is not None and "matching files" in message.found.string:
        prefix = "Pass the checkpoint's prefix with its folder, not one of its files"
        return (Remedy(prefix, "tf.train.latest_checkpoint(folder)"),)
    check = f"assert os.path.exists({file!r})" if file else "assert all(map(os.path.exists, files))"
    return (Remedy("Fix the path, and check it before training begins", check),)
