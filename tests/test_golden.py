"""The page is the product: whole answers, to the letter."""

from __future__ import annotations

import pytest

from tests.golden import NAMES, PAGES, WIDTHS, page_of, path_of
from tests.recordings import Recordings


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", NAMES)
def test_the_page_is_the_same(name: str, width: int, recordings: Recordings) -> None:
    """Where it is meant to change: make golden, and read the difference."""
    assert page_of(name, width, recordings) == path_of(name, width).read_text()


def test_there_are_no_others() -> None:
    assert {path.name for path in PAGES.iterdir()} == {path_of(name, width).name for name in NAMES for width in WIDTHS}
