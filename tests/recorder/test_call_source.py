"""The source of a call: which call of a line it is, its arguments, and how its result is used."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from laststep.recorder.call_source import Site, describe_call, site_of


class Layer:
    """Describes the call that makes it, as the recorder does."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.site = site_of(sys._getframe(1))

    def __call__(self, value: Any) -> Any:
        return value


LSTM = Dense = Bidirectional = Layer


def made(tmp_path: Path, body: str) -> list[Layer]:
    """The layers that a program makes, in order."""
    found: list[Layer] = []

    class Seen(Layer):
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            self.site = site_of(sys._getframe(1))
            found.append(self)

    class Model:
        def add(self, layer: Layer) -> None:
            pass

    path = tmp_path / f"train_{len(list(tmp_path.iterdir()))}.py"  # sources are cached by name
    path.write_text(body)
    names = {"LSTM": Seen, "Dense": Seen, "Bidirectional": Seen, "model": Model(), "__name__": "__main__"}
    exec(compile(body, str(path), "exec"), names)
    return found


def described(tmp_path: Path, body: str, at: int = 0) -> dict[str, Any]:
    found = describe_call(made(tmp_path, body)[at].site)
    assert found is not None
    return found


@pytest.mark.skipif(sys.version_info < (3, 11), reason="Python knows the spans of calls since 3.11")
def test_of_two_calls_on_a_line_it_is_the_one_that_made_the_layer(tmp_path: Path) -> None:
    assert described(tmp_path, "both = [LSTM(8), LSTM(16)]\n", 1)["arguments"][0]["text"] == "16"


FORMS = {
    "added": ("model.add(LSTM(8))\n", {"form": "added", "receiver": "model.add"}),
    "element": ("layers = [\n    LSTM(8),\n]\n", {"form": "element"}),
    "applied": ("x = 1\nx = LSTM(8)(x)\n", {"form": "applied"}),
    "assigned": ("lstm = LSTM(8)\n", {"form": "assigned"}),
}


@pytest.mark.parametrize("name", FORMS)
def test_how_the_result_is_used(name: str, tmp_path: Path) -> None:
    body, expected = FORMS[name]
    found = described(tmp_path, body)
    assert {key: found[key] for key in expected} == expected
    assert found["in_loop"] is False


def test_a_call_of_several_lines_is_whole_and_its_end_is_known(tmp_path: Path) -> None:
    found = described(tmp_path, "model.add(\n    LSTM(\n        8,\n        name='änder',\n    )\n)\n")
    assert (found["line"], found["lines"][0], found["close"]) == (2, "    LSTM(", [5, 4])
    name = found["arguments"][1]
    assert found["lines"][2][name["begin"] : name["end"]] == "'änder'", "columns are characters, not bytes"


def test_the_settings_of_a_wrapped_layer_are_those_of_the_inner_call(tmp_path: Path) -> None:
    found = described(tmp_path, "x = Bidirectional(LSTM(8))\n", 1)
    assert (found["name"], found["close"]) == ("LSTM", [1, 24])


def test_a_layer_kept_by_a_name_is_applied_where_the_name_is_called(tmp_path: Path) -> None:
    body = "class Net:\n    def __init__(self):\n        self.fc = Dense(3)\n    def call(self, x):\n"
    body += "        return self.fc(x)\nNet()\n"
    use = described(tmp_path, body)["use"]
    assert (use["line"], use["begins"], use["argument"]["text"]) == (5, 8, "x")
    twice = body.replace("return self.fc(x)", "return self.fc(self.fc(x))")
    assert "use" not in described(tmp_path, twice), "which of the two it is, is not known"


def test_layers_made_in_a_loop_say_so(tmp_path: Path) -> None:
    assert described(tmp_path, "for _ in range(2):\n    model.add(LSTM(8))\n")["in_loop"] is True


def test_without_its_span_only_a_single_call_of_that_name_is_taken(tmp_path: Path) -> None:
    path = tmp_path / f"train_{len(list(tmp_path.iterdir()))}.py"  # sources are cached by name
    path.write_text("x = LSTM(8)\ny = [LSTM(8), LSTM(9)]\n")
    found = describe_call(Site(str(path), 1, ()), "LSTM")
    assert found is not None
    assert found["line"] == 1
    assert describe_call(Site(str(path), 2, ()), "LSTM") is None
