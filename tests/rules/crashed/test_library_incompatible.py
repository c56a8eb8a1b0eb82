"""library-incompatible: the versions in use are told."""

from __future__ import annotations

from laststep.record.events.process import Versions
from tests.rules.crashed.ended import ended, raised, says


def test_the_versions_in_use_are_told() -> None:
    error = raised("AttributeError", "module 'tensorflow' has no attribute 'Session'")
    diagnosis = ended(Versions(time=1.0, tensorflow="2.21.0", numpy="2.4.6", jax="unknown"), error)
    assert diagnosis.findings[0].rule == "library-incompatible"
    assert "in use: tensorflow 2.21.0, numpy 2.4.6" in says(diagnosis)
