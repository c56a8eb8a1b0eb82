"""Whose file it is: by its path, by the program's own package, and by what the record says."""

from __future__ import annotations

import os
import sys
from types import ModuleType, SimpleNamespace

import pytest

from laststep.record.events.shared import Frame, users_line
from laststep.record.paths import is_users_path, package_folder
from laststep.record.place import Place
from laststep.recorder import frames

SITE = "/venv/lib/python3.11/site-packages"


@pytest.mark.parametrize(
    "file,users",
    [
        ("/home/me/train.py", True),
        ("train.py", True),
        ("/home/me/lib/train.py", True),
        ("<string>", True),
        ("<ipython-input-3-abc>", True),
        ("<frozen runpy>", False),
        ("<stdin>", False),
        ("", False),
        ("/tmp/__autograph_generated_filex.py", False),
        ("/usr/lib/python3.11/queue.py", False),
        (f"{SITE}/mypackage/train.py", False),
        ("/usr/lib/python3/dist-packages/mypackage/train.py", False),
        ("C:\\Python311\\Lib\\queue.py", False),
        ("/opt/packages/keras/src/backend/tensorflow/trainer.py", False),
        ("/checkout/src/laststep/recorder/guard.py", False),
        ("/checkout/src/laststep/record/steps.py", False),
        ("/checkout/src/laststep/__init__.py", False),
        ("/checkout/src/laststep/demos/exploding_loss.py", True),
        (f"{SITE}/laststep/demos/exploding_loss.py", True),
        (f"{SITE}/laststep/supervisor/stall.py", False),
    ],
)
def test_whose_it_is_by_its_path_alone(file: str, users: bool) -> None:
    assert is_users_path(file) is users


@pytest.mark.parametrize(
    "file,folder",
    [
        (f"{SITE}/mypackage/train.py", f"{SITE}/mypackage/"),
        (f"{SITE}/mypackage/cli/train.py", f"{SITE}/mypackage/"),
        (f"{SITE}/train.py", f"{SITE}/train.py"),
        ("/usr/lib/python3/dist-packages/mypackage/train.py", "/usr/lib/python3/dist-packages/mypackage/"),
        ("C:\\Python311\\Lib\\site-packages\\mypackage\\train.py", "C:\\Python311\\Lib\\site-packages\\mypackage\\"),
        ("/usr/lib/python3.11/cProfile.py", ""),
        ("/home/me/train.py", ""),
        ("<frozen runpy>", ""),
    ],
)
def test_the_package_that_a_file_belongs_to(file: str, folder: str) -> None:
    assert package_folder(file) == folder


def test_the_programs_own_package_is_the_users_and_no_other() -> None:
    own = f"{SITE}/mypackage/"
    assert is_users_path(f"{SITE}/mypackage/cli/train.py", own)
    assert not is_users_path(f"{SITE}/mypackage_tools/train.py", own)
    assert not is_users_path(f"{SITE}/requests/api.py", own)
    assert not is_users_path(f"{SITE}/torch/nn/module.py", f"{SITE}/torch/"), "a framework is not the user's own"


@pytest.mark.parametrize("site", [SITE, frames._STDLIB + "site-packages"])
def test_a_module_run_from_an_installed_package(monkeypatch: pytest.MonkeyPatch, site: str) -> None:
    """Without a virtual environment the packages lie below the standard library."""
    main = ModuleType("__main__")
    main.__spec__ = SimpleNamespace(origin=f"{site}/mypackage/train.py")  # type: ignore[assignment]
    monkeypatch.setitem(sys.modules, "__main__", main)
    frames.is_users.cache_clear()
    try:
        assert frames.is_users(f"{site}/mypackage/data/load.py")
        assert not frames.is_users(f"{site}/requests/api.py")
        assert not frames.is_users(os.__file__)
    finally:
        frames.is_users.cache_clear()


def test_the_line_that_stopped_a_fit_says_whose_it_is() -> None:
    assert frames.code_place(sys._getframe())["is_users"] is True


def test_what_the_record_says_counts_more_than_the_path() -> None:
    installed, own = f"{SITE}/mypackage/train.py", "/home/me/train.py"
    assert Frame(file=installed, line=3, is_users=True).is_users_own
    assert not Frame(file=own, line=3, is_users=False).is_users_own
    assert [Frame(file=file, line=3).is_users_own for file in (installed, own)] == [False, True]
    assert [Place(file, 3).is_users_own for file in (installed, own)] == [False, True]
    assert Place(installed, 3, is_users=True).is_users_own


def test_the_users_innermost_line() -> None:
    library = Frame(file=f"{SITE}/requests/api.py", line=9, function="get")
    unknown = Frame(file="/home/me/load.py", line=0, function="outer")
    mine = Frame(file="/home/me/train.py", line=7, function="train", text="fit()")
    assert users_line([library, unknown, mine]) == Place("/home/me/train.py", 7, "fit()", is_users=True)
    assert users_line([library, unknown]) is None
    assert users_line([]) is None
