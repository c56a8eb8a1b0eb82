"""callback-swallowed: an error that was caught, and one after which training was repeated."""

from __future__ import annotations

from tests.rules.runs import event, first, killed
from tests.written import written


def test_an_error_that_was_caught_and_tried_again_with_success_is_not_swallowed() -> None:
    place = {"file": "train.py", "line": 3, "text": "except ValueError:"}
    events = [
        event(1.0, "fit", id=1, epochs=2),
        event(
            2.0,
            "exception",
            left="fit",
            function="fit",
            type="ValueError",
            bases=["ValueError"],
            message="m",
            caught=place,
        ),
    ]
    end = event(10.0, "end", signal=None, code=0, pid=77, seconds=10.0)
    assert first(killed(*events, event(9.0, "exiting"), end=end))[0] == "callback-swallowed"
    again = [
        event(3.0, "fit", id=2, epochs=1),
        written(4.0, "epoch", {"fit": 2, "epoch": 0}, "recorder"),
        written(5.0, "fit-end", {"id": 2}, "recorder"),
    ]
    assert killed(*events, *again, event(9.0, "exiting"), end=end).findings == ()
