"""A data file or a checkpoint is damaged."""

from __future__ import annotations

from laststep.analysis.checkpoints import checkpoint_in
from laststep.analysis.finding import Evidence, Remedy
from laststep.analysis.messages import Message, answer, compiled, find_message
from laststep.record.run import Run
from laststep.rules.rule import Answer, rule
from laststep.text import format_count

MESSAGES = compiled(
    r"(?P<how>corrupted|truncated) record at (?P<offset>\d+)",
    r"(?:DataLossError\b'?>?[:,]|DATA_LOSS:) ?(?P<what>[^\n]*)",
    r"Can't parse serialized Example|Could not parse example input|Key: (?P<key>\S+)\.\s+Data types don't match",
    r"inflate\(\) failed|zlib\.error|Error -\d+ while decompressing|Compressed file ended before|incorrect "
    r"header check",
    r"BadGzipFile|Not a gzipped file|CRC check failed|BadZipFile|File is not a zip file|Bad CRC-32|Bad magic number",
    r"(?P<what>file signature not found|truncated file: eof|bad object header|bad heap|wrong B-tree|addr "
    r"overflow|inflate failed)",
    r"not an sstable|too short to be an sstable|Checksum does not match|block checksum mismatch",
    r"Read (?:less|fewer) bytes than requested",
    r"UnpicklingError|pickle data was truncated|EOFError: Ran out of input|Failed to interpret file .* as a pickle",
    r"(?:Failed|Unable) to read all data for array|EOF: reading array (?:data|header)|cannot mmap an empty file|"
    r"magic string is not correct",
    r"Error parsing (?:message|proto)|Invalid TFRecord|is not a TFRecord|DecodeError",
)
_FILE = compiled(
    r"(?P<file>[\w./\\:~-]*[\w-]+\.(?:tfrecords?|tfrec|h5|hdf5|keras|npz|npy|gz|zip|pkl|pickle|index|"
    r"data-\d+-of-\d+|ckpt\S*|csv|parquet)\b)"
)
_CALLED_MISSING = compiled(r"File not found: filepath=\S+")
FIND = """\
for path in tf.io.gfile.glob("*.tfrecord*"):
    good = 0
    try:
        for good, _ in enumerate(tf.data.TFRecordDataset(path), 1): pass
    except tf.errors.DataLossError:
        print(path, "breaks after record", good)"""


@rule()
def corrupt_record(run: Run) -> Answer:
    """A data file or checkpoint is damaged, truncated, or not in the format it was read as.

    What happened
        A record's checksum did not match, a file ended early, or a file of another format was read: a gzip file
        without compression_type="GZIP", an image as a TFRecord, a checkpoint whose copy was interrupted.

    How laststep knows
        The reader's own error. TensorFlow gives the byte offset of the record: at 0, the file is most likely
        not a TFRecord at all; at a later offset, it is truncated or damaged.

    What to do
        Find the file and the record (with the code in the answer), copy the file again, and compare its size
        with the source. A program that is killed while it writes leaves a truncated file: write to another name
        and rename it at the end. For a checkpoint, restore an earlier one. A damaged backup of BackupAndRestore
        must be deleted.

    Not to be confused with
        undecodable-image (the record is intact, the image in it is not), missing-file.
    """
    message = find_message(run, *MESSAGES) or _called_missing(run)
    if message is None:
        return answer(run, None, "no reader reported a damaged file")
    loaded = checkpoint_in(run, message)
    if loaded is not None:
        return answer(run, message, "", loaded.cause, loaded.remedies, where=loaded.where)
    file = _file(message)
    return answer(
        run,
        message,
        "",
        cause=f"{file or 'A data file'} is damaged, or not in the format it was read as{_at(message)}.",
        remedies=_remedies(message, file),
        more=_read_before(run),
    )


def _called_missing(run: Run) -> Message | None:
    """Keras 3 reports "File not found" for a .keras file that exists and is not a zip file."""
    message = find_message(run, *_CALLED_MISSING, console=False)
    return message if message is not None and message.event is not None and message.event.file_exists else None


def _file(message: Message) -> str:
    found = _FILE[0].search(message.found.string)
    return found["file"] if found else ""


def _at(message: Message) -> str:
    offset = message.get("offset")
    if not offset:
        return ""
    return " (not even its first record is readable)" if offset == "0" else f" (at byte {int(offset):,})"


def _read_before(run: Run) -> tuple[Evidence, ...]:
    if not run.steps:
        return ()
    stages = {stage.stage: stage for stage in run.fit.began.data.stages} if run.fit is not None else {}
    batch = next((stage.batch_size for stage in stages.values() if stage.batch_size), None)
    if batch and "Shuffle" not in stages and run.fit is not None and not run.fit.epochs:
        first = run.steps[-1].number * batch + 1
        records = f"the records {first:,} to {first + batch - 1:,}"
        return (Evidence(f"counted from the batches read before it, the damaged record is one of {records}"),)
    return (Evidence(f"{format_count(run.steps[-1].number, 'step')} were trained on the data read before it"),)


def _remedies(message: Message, file: str) -> tuple[Remedy, ...]:
    if message.get("offset") or ("DataLoss" in message.found.string and not file):
        find = Remedy("Find the file and the record", FIND, safe=True)
        if message.get("offset") == "0":
            kind = 'compression_type="GZIP"'
            return (
                Remedy(
                    "Set the compression of the TFRecordDataset, and check that the files are TFRecords",
                    kind,
                ),
                find,
            )
        return (find, Remedy("Copy that file again, or leave it out"))
    return (Remedy(f"Copy or write {file or 'the file'} again, and compare its size with the source"),)
