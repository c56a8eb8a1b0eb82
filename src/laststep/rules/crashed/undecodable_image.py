"""An image could not be decoded."""

from __future__ import annotations

from laststep.analysis.finding import Remedy
from laststep.analysis.messages import answer, compiled, find_message
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
FIND = """\
for path in files:
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
        remedies=(
            Remedy("Find the files that are not images", FIND, safe=True),
            Remedy("Or skip what cannot be decoded", "dataset = dataset.ignore_errors(log_warning=True)"),
        ),
    )
