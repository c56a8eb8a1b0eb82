"""An image could not be decoded."""

from __future__ import annotations

from laststep.analysis.finding import Remedy
from laststep.analysis.messages import Message, answer, compiled, find_message
from laststep.analysis.program import is_dataset, name_of_inputs
from laststep.record.run import Run
from laststep.rules.rule import Answer, Tier, rule

MESSAGES = compiled(
    r"cannot identify image file <?(?P<file>[^>\n]+)|UnidentifiedImageError",
    r"Not a JPEG file|Not a PNG file|Unknown image file format|Expected image \(JPEG, PNG, or GIF\), got "
    r"(?P<kind>[\w ]+)|got unknown format starting with",
    r"Invalid JPEG data|jpeg::Uncompress failed|Invalid PNG data|Invalid GIF data|Trying to decode \w+ format "
    r"using a wrong op",
    r"image file is truncated|broken (?:PNG|data stream)|Truncated File Read|Premature end of JPEG",
    r"Input is empty\.(?=[\s\S]*(?i:decode|image))|unrecognized data stream contents when reading image",
    r"!_src\.empty\(\)|!ssize\.empty\(\)|!buf\.empty\(\)",
    r"(?i)(?:decode_?(?:image|jpeg|png|gif|bmp)|DecodeJpeg|DecodePng|DecodeImage)[^\n]*(?:invalid|failed|unknown|"
    r"corrupt)",
)
FIND_WITH_PILLOW = """\
for path in glob.glob("**/*.jpg", recursive=True):
    try: PIL.Image.open(path).convert("RGB")
    except OSError: print(path)"""
FIND = """\
for path in glob.glob("**/*.jpg", recursive=True):
    try: tf.io.decode_image(tf.io.read_file(path))
    except tf.errors.InvalidArgumentError: print(path)"""


@rule(tier=Tier.ROOT)
def undecodable_image(run: Run) -> Answer:
    """A file that should be an image could not be decoded.

    What happened
        One file is not an image that the decoder supports: truncated, empty, an HTML page saved as .jpg, a WebP
        or HEIC file with the wrong extension, a hidden file such as .DS_Store. One is enough to end training.

    How laststep knows
        The decoder's own error. TensorFlow does not say which file it was; PIL does.

    What to do
        Find the files with the code in the answer and remove them, or skip what cannot be decoded:
        dataset.ignore_errors() (it skips silently, so count first).

    Not to be confused with
        corrupt-record (the container is damaged), missing-file. "Corrupt JPEG data: extraneous bytes" alone is
        harmless: the image was decoded.
    """
    message = find_message(run, *MESSAGES)
    file = (message.get("file") if message else "").strip("'\" >")
    return answer(
        run,
        message,
        "no image decoder reported an error",
        cause=f"{file or 'A file'} could not be decoded as an image.",
        remedies=_remedies(run, message),
    )


def _remedies(run: Run, message: Message | None) -> tuple[Remedy, ...]:
    """With the decoder that the program uses: TensorFlow's, or Pillow's."""
    frames = message.event.frames if message is not None and message.event is not None else ()
    if any("/PIL/" in frame.file for frame in frames) or (message is not None and "PIL" in message.found.string):
        return (
            Remedy("Find the files that are not images", FIND_WITH_PILLOW, safe=True),
            Remedy("Or skip what cannot be decoded: catch PIL.UnidentifiedImageError and OSError around it"),
        )
    name = name_of_inputs(run) if run.fit is not None and is_dataset(run.fit.began.data) else None
    skip = f"{name} = {name}.ignore_errors(log_warning=True)" if name else None
    return (
        Remedy("Find the files that are not images", FIND, safe=True),
        Remedy("Or skip what cannot be decoded, with .ignore_errors() of the dataset", skip),
    )
