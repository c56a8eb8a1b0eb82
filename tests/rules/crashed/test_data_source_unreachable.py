"""data-source-unreachable: the address is named."""

from __future__ import annotations

from tests.rules.crashed.ended import ended, raised

KERAS = "URL fetch failure on https://storage.org:8080/mnist.npz: None -- [Errno 111] Connection refused"


def test_the_whole_address_of_a_keras_download_is_named() -> None:
    first = ended(raised("Exception", KERAS)).findings[0]
    assert first.rule == "data-source-unreachable"
    assert first.cause == "https://storage.org:8080/mnist.npz could not be reached."
    assert first.remedies[0].change == "curl -sSfI https://storage.org:8080/mnist.npz"
