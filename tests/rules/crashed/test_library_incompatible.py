"""library-incompatible: the versions in use are evidence."""

from __future__ import annotations

import pytest

from laststep.record.events.process import Versions
from tests.rules.crashed.ended import ended, raised, says


def test_the_versions_in_use_are_told() -> None:
    error = raised("AttributeError", "module 'tensorflow' has no attribute 'Session'")
    diagnosis = ended(Versions(time=1.0, tensorflow="2.21.0", numpy="2.4.6", jax="unknown"), error)
    assert diagnosis.findings[0].rule == "library-incompatible"
    assert "in use: tensorflow 2.21.0, numpy 2.4.6" in says(diagnosis)


@pytest.mark.parametrize(
    ("arguments", "cause"),
    [
        ("{'lr': 0.001}", "This version of the library has no argument 'lr': it is called learning_rate now."),
        (
            "{'momentun': 0.9}",
            "Most likely the program, or a saved model, was made for another version of this library.",
        ),
    ],
)
def test_an_argument_that_was_renamed_is_named(arguments: str, cause: str) -> None:
    first = ended(raised("ValueError", f"Argument(s) not recognized: {arguments}")).findings[0]
    assert (first.rule, first.cause) == ("library-incompatible", cause)
