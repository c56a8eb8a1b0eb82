"""Python warnings that were shown to the user."""

from __future__ import annotations

import warnings
from typing import Any

from laststep.recorder import state
from laststep.recorder.patch import before

PROBE = "python_warnings"


def install() -> None:
    # Both the default route and catch_warnings call this function; `warnings.showwarning` itself stays untouched.
    before(PROBE, warnings, "_showwarnmsg_impl", _on_warning)


def _on_warning(message: Any) -> None:
    if state.current is not None:
        state.current.event(
            "warning",
            category=message.category.__name__,
            message=str(message.message)[:1000],
            file=message.filename,
            line=message.lineno,
        )
