"""A data file or a checkpoint is damaged."""

from __future__ import annotations

from laststep import text as words
from laststep.analysis.checkpoints import checkpoint_in
from laststep.analysis.finding import Evidence, Remedy
from laststep.analysis.messages import ECHOES, Message, answer, compiled, data_of, find_message
from laststep.record.run import Run
from laststep.rules.rule import Answer, rule

DAMAGED = compiled(
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
_MISSING = compiled(r"File not found: filepath=\S+")
FIND = """\
for path in files:
    good = 0
    try:
        for good, _ in enumerate(tf.data.TFRecordDataset(path), 1): pass
    except tf.errors.DataLossError:
        print(path, "breaks after record", good)"""


@rule(outranks=(*ECHOES, "missing-file", "dataset-empty"))
def corrupt_record(run: Run) -> Answer:
    """A data file or a checkpoint is damaged, cut off, or not of the kind that it was read as.

    What happened
        A record's checksum did not fit, a file ended in the middle, or a file of another kind was read: a gzip
        without compression_type="GZIP", an image as a TFRecord, a checkpoint whose copy broke off.

    How laststep knows
        The reader's own error. TensorFlow gives the byte where the record begins: at 0 the file is most likely
        no TFRecord at all, later on it was cut off or damaged.

    What to do
        Find the file and the record (the lines below do it), fetch the file again, and compare its size with the
        source's. Files that a killed program was writing are cut: write to another name and rename at the end. Of
        a checkpoint restore an earlier one; a damaged backup of BackupAndRestore has to be deleted.

    Not to be confused with
        undecodable-image (the record is fine, the image in it is not), missing-file.
    """
    message = find_message(run, *DAMAGED) or _called_missing(run)
    if message is None:
        return answer(run, None, "no reader complained of a damaged file")
    loaded = checkpoint_in(run, message)
    if loaded is not None:
        return answer(run, message, "", loaded.cause, loaded.remedies, where=loaded.where)
    file = _file(message)
    return answer(
        run,
        message,
        "",
        cause=f"{file or 'A data file'} is damaged or not of the kind it was read as{_at(message)}.",
        remedies=_remedies(message, file),
        more=_delivered(run),
    )


def _called_missing(run: Run) -> Message | None:
    """Keras 3 says "File not found" of a .keras file that is there and is no zip file."""
    message = find_message(run, *_MISSING, console=False)
    return message if message is not None and message.event is not None and message.event.get("file_exists") else None


def _file(message: Message) -> str:
    found = _FILE[0].search(message.found.string)
    return found["file"] if found else ""


def _at(message: Message) -> str:
    offset = message.get("offset")
    if not offset:
        return ""
    return " (not even its first record can be read)" if offset == "0" else f" (at byte {int(offset):,})"


def _delivered(run: Run) -> tuple[Evidence, ...]:
    if not run.steps:
        return ()
    data = data_of(run)
    stages = {stage["stage"]: stage for stage in data.get("stages") or []}
    batch = next((stage["batch_size"] for stage in stages.values() if stage.get("batch_size")), None)
    if batch and "Shuffle" not in stages and run.fit is not None and not run.fit.epochs:
        first = run.steps[-1].number * batch + 1
        told = f"the records {first:,} to {first + batch - 1:,}"
        return (Evidence(f"counted from the batches before it, it is one of {told}"),)
    return (Evidence(f"{words.count(run.steps[-1].number, 'step')} had been trained on what was read before it"),)


def _remedies(message: Message, file: str) -> tuple[Remedy, ...]:
    if message.get("offset") or ("DataLoss" in message.found.string and not file):
        find = Remedy("Find the file and the record", FIND, safe=True)
        if message.get("offset") == "0":
            kind = 'tf.data.TFRecordDataset(files, compression_type="GZIP")'
            return (Remedy("If the files are compressed, say so; make sure that they are TFRecords", kind), find)
        return (find, Remedy("Fetch that file again, or leave it out"))
    return (Remedy(f"Fetch or write {file or 'the file'} again; compare its size with the source's"),)
