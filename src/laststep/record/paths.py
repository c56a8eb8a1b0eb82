"""Whose file it is, by its path alone. The training process loads this too, so it imports nothing but `re`."""

from __future__ import annotations

import re

# Any Python's standard library and packages, not only this one's: the record may come from another machine.
_INSTALLED = re.compile(
    r"(?:^|[/\\])(?:lib(?:64)?[/\\]python[23]\.\d+|site-packages|dist-packages)[/\\]|\\[Ll]ib\\(?!.*\\(?:src|code)\\)"
)
_PACKAGE = re.compile(r".*[/\\](?:site-packages|dist-packages)[/\\][^/\\]+[/\\]?")
_FRAMEWORKS = re.compile(
    r"(?:^|[/\\])(?:tensorflow[/\\]python|(?:tf_)?keras[/\\]src|numpy|absl|h5py|jax|torch|ml_dtypes|optree|wrapt)[/\\]"
)
_OURS = re.compile(r"(?:^|[/\\])laststep[/\\](?:record(?:er)?[/\\]|__init__\.py$)")
_DEMOS = re.compile(r"(?:^|[/\\])laststep[/\\]demos[/\\]")
_WITHOUT_FILE = ("<ipython-input", "<string>")  # of what has no file, only this is the user's


def package_folder(file: str) -> str:
    """The folder of the installed package that a file belongs to, or the file where it is a package by itself."""
    found = _PACKAGE.match(file)
    return found[0] if found else ""


def is_users_path(file: str, package: str = "") -> bool:
    """No library's file, nor Python's or ours. `package`: that of the program itself, where that is installed too."""
    if file.startswith("<") or "__autograph_generated_file" in file:
        return file.startswith(_WITHOUT_FILE)
    if _FRAMEWORKS.search(file) or _OURS.search(file):
        return False
    own = bool(package) and file.startswith(package)
    return bool(file) and (own or not _INSTALLED.search(file) or bool(_DEMOS.search(file)))
