"""Arithmetic of our own neither warns nor raises, whatever the program asks of NumPy: it measures what overflows."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


def silent(function: Callable[P, R]) -> Callable[P, R]:
    """A function that calculates with arrays. NumPy is there: the arrays are the program's."""

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        with sys.modules["numpy"].errstate(all="ignore"):
            return function(*args, **kwargs)

    return call
