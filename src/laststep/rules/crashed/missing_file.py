"""A file or folder is not where the program looks for it."""

from __future__ import annotations

from laststep.analysis.finding import Confidence, Evidence, Remedy, measured
from laststep.analysis.messages import ECHOES, Message, answer, compiled, find_message
from laststep.record.run import Run
from laststep.rules.rule import Answer, rule

SAID = compiled(
    r"FileNotFoundError: [^\n]*?['\"](?P<file>[^'\"\n]+)['\"]",
    r"FileNotFoundError: [^\n]*",
    r"(?:NotFoundError|NOT_FOUND|Not found)[^\n]*?:? (?P<file>[^\s;:'\"]+); No such file or directory",
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
_A_LIBRARY = compiled(r"\.so[.\d]*['\"]?: cannot open shared object|\.dll")


@rule(outranks=(*ECHOES, "dataset-empty"))
def missing_file(run: Run) -> Answer:
    """A file or folder is not where the program looks for it.

    What happened
        The program, or TensorFlow on its behalf, opened a path that does not exist: another working folder, a
        path of another machine, a volume that is not mounted in the container, a file that is made by a step that
        did not run, or a checkpoint prefix taken for a file.

    How laststep knows
        The operating system's error (ENOENT), with the path in it.

    What to do
        Look at the path as it is printed: a relative one counts from the folder in which the program was started.
        With tf.data a missing file shows itself only when its turn comes, perhaps hours into the training: check
        that all exist before it begins.

    Not to be confused with
        permission-denied (it is there and may not be read), dataset-empty (a pattern that matches nothing and
        raises no error), data-source-unreachable (a remote one).
    """
    message = find_message(run, *SAID)
    if message is not None and _A_LIBRARY[0].search(message.found.string):
        message = None  # a library that cannot be loaded has a rule of its own
    if message is not None and message.event is not None and message.event.get("file_exists"):
        return measured("the file that Keras did not find was there")
    file = (message.get("file") or message.get("made")) if message else ""
    unsure = run.is_log and message is not None and ".keras` zip file" in message.found.string
    return answer(
        run,
        message,
        "no file was missing",
        cause=f"{file or 'A file'} does not exist{', or is cut off (Keras says the same of both)' if unsure else ''}.",
        remedies=_remedies(message, file),
        more=_relative(run, file),
        confidence=Confidence.LIKELY if unsure else Confidence.CERTAIN,
    )


def _relative(run: Run, file: str) -> tuple[Evidence, ...]:
    began = run.first("run")
    if not file or file.startswith(("/", "~", "gs:", "s3:", "hdfs:")) or began is None or not run.cwd:
        return ()
    return (Evidence(f"the path is relative, and the program was started in {run.cwd}", (began,)),)


def _remedies(message: Message | None, file: str) -> tuple[Remedy, ...]:
    if message is not None and "matching files" in message.found.string:
        told = "Give the checkpoint's prefix, not one of its files, and the folder it is in"
        return (Remedy(told, "tf.train.latest_checkpoint(folder)"),)
    check = f"assert os.path.exists({file!r})" if file else "assert all(map(os.path.exists, files))"
    return (Remedy("Mend the path; let the program check it before training begins", check),)
