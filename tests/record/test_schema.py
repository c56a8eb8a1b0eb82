"""Each recorded event is understood by the schema; whatever is damaged in a record, the rest is read and diagnosed."""

from __future__ import annotations

import ast
import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import laststep
from laststep.record.decode import decode
from laststep.record.event import Event
from laststep.record.events import KINDS, decode_event
from laststep.record.run import DamagedRun
from laststep.record.sample import Sample
from laststep.reports import json as json_report
from laststep.reports import terminal
from laststep.rules.diagnose import read_diagnosis
from tests.record.schema import JSON, encode, fields_of, lost, same, written
from tests.recordings import ARCHIVE, Files, Recordings, unpack

PACKAGE = Path(laststep.__file__).parent
each_kind = pytest.mark.parametrize("kind", KINDS)
FILES = ("supervisor", "recorder", "samples", "steps", "console")


def decoded(kind: str, fields: dict[str, Any]) -> Event:
    event = decode_event(kind, fields, time=1.0)
    assert event is not None
    return event


def lines_of(files: Files) -> Iterator[dict[str, Any]]:
    for name, content in files.items():
        if name.endswith(".jsonl"):
            for line in content.splitlines():
                yield json.loads(line)


def on_a_gpu() -> Iterator[tuple[str, Files]]:
    """Runs that were recorded beside a GPU."""
    folders = [path for path in ARCHIVE.parent.iterdir() if path.is_dir()]
    assert folders
    for folder in folders:
        yield folder.name, {path.name: path.read_bytes() for path in folder.iterdir()}


def test_each_recorded_event_is_understood(recordings: Recordings) -> None:
    """The recorder writes plain fields: what it writes is in the schema, by the same name and of that type."""
    wrong: dict[str, str] = {}
    seen = set()
    for name, files in [*recordings.runs.items(), *on_a_gpu()]:
        for line in lines_of(files):
            if "laststep" in line:
                continue
            kind = line.get("kind", "sample")
            seen.add(kind)
            read = decode(Sample, line) if kind == "sample" else decoded(kind, line["data"])
            for each in lost(line if kind == "sample" else line["data"], encode(read), kind):
                wrong.setdefault(each.partition(":")[0], f"{name}: {each}")
    assert wrong == {}
    assert len(seen) > len(KINDS) / 2, "most kinds are recorded"


def calls_that_write() -> Iterator[tuple[str, str, set[str]]]:
    """Of the whole source: where an event is written, its kind, and the fields that the call itself names."""
    for path in sorted(PACKAGE.rglob("*.py")):
        for call in ast.walk(ast.parse(path.read_text())):
            if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute) or not call.args:
                continue
            kind = call.args[0].value if isinstance(call.args[0], ast.Constant) else None
            if call.func.attr in ("event", "write") and isinstance(kind, str) and (call.keywords or len(call.args) > 1):
                tables = [each for each in call.args[1:] if isinstance(each, ast.Dict)]
                keys = {str(key.value) for each in tables for key in each.keys if isinstance(key, ast.Constant)}
                yield (
                    f"{path.name}:{call.lineno}",
                    kind,
                    keys | {each.arg for each in call.keywords if each.arg} - {"at"},
                )


def test_each_event_that_is_written_is_in_the_schema() -> None:
    """Also those of side runs, which no recording holds."""
    calls = list(calls_that_write())
    kinds = {kind for _, kind, _ in calls}
    assert {"side-run", "replayed", "profile"} <= kinds <= set(KINDS)
    known = {kind: {name for _, names, _ in fields_of(KINDS[kind]) for name in names} for kind in kinds}
    assert [(where, kind, names - known[kind]) for where, kind, names in calls if not names <= known[kind]] == []


@each_kind
@given(data=st.data())
@settings(max_examples=20)
def test_what_is_written_by_the_schema_is_read_as_it_is(kind: str, data: st.DataObject) -> None:
    fields = data.draw(written(KINDS[kind]))
    assert lost(fields, encode(decoded(kind, fields)), kind) == []


@each_kind
@given(data=st.data())
@settings(max_examples=60)
def test_a_torn_field_costs_no_other(kind: str, data: st.DataObject) -> None:
    fields = data.draw(written(KINDS[kind]))
    whole = encode(decoded(kind, fields))
    name = data.draw(st.sampled_from(sorted(whole)))
    torn = encode(decoded(kind, tear(fields, name, data)))
    # Names that one field had at different times are one field.
    others = [each for each in whole if each != name and not is_alias(kind, each, name)]
    assert [each for each in others if not same_json(whole[each], torn[each])] == []


def tear(fields: dict[str, Any], name: str, data: st.DataObject) -> dict[str, Any]:
    """One field is gone, is anything else, or is spoiled somewhere inside."""
    how = data.draw(st.sampled_from(["gone", "else", "inside"]))
    if how == "gone":
        return {each: value for each, value in fields.items() if each != name}
    if how == "else":
        return {**fields, name: data.draw(JSON)}
    spoiled = copy.deepcopy(fields)
    spoil_inside(spoiled.get(name), data)
    return spoiled


def spoil_inside(value: Any, data: st.DataObject) -> None:
    """Replace one of the values that this one holds, or that those hold."""
    while isinstance(value, (dict, list)) and value:
        keys: list[Any] = list(value) if isinstance(value, dict) else list(range(len(value)))
        key = data.draw(st.sampled_from(keys))
        if not isinstance(value[key], (dict, list)) or not value[key] or data.draw(st.booleans()):
            if isinstance(value, dict) and data.draw(st.booleans()):
                del value[key]
            else:
                value[key] = data.draw(JSON)
            return
        value = value[key]


def is_alias(kind: str, one: str, other: str) -> bool:
    return any(one in names and other in names for _, names, _ in fields_of(KINDS[kind]))


def same_json(one: Any, other: Any) -> bool:
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same_json(one[name], other[name]) for name in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same_json, one, other))
    return same(one, other)


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("torn")


@given(data=st.data())
@settings(max_examples=500)
def test_a_run_with_a_torn_event_is_diagnosed(recordings: Recordings, scratch: Path, data: st.DataObject) -> None:
    files = recordings.runs[data.draw(st.sampled_from(sorted(recordings.runs)))]
    journal = data.draw(st.sampled_from([each for each in sorted(files) if each.endswith(".jsonl")]))
    lines = files[journal].splitlines()
    at = data.draw(st.integers(0, len(lines) - 1))
    record = json.loads(lines[at])
    spoil_inside(record, data)
    lines[at] = json.dumps(record).encode()
    is_diagnosed({**files, journal: b"\n".join(lines) + b"\n"}, scratch)


@given(data=st.data())
@settings(max_examples=300)
def test_a_run_with_a_cut_file_is_diagnosed(recordings: Recordings, scratch: Path, data: st.DataObject) -> None:
    files = recordings.runs[data.draw(st.sampled_from(sorted(recordings.runs)))]
    file = data.draw(st.sampled_from([each for each in sorted(files) if each.startswith(FILES)]))
    kept = data.draw(st.integers(0, len(files[file])))
    is_diagnosed({**files, file: files[file][:kept]}, scratch)


def is_diagnosed(files: Files, scratch: Path) -> None:
    folder = scratch / "run"
    unpack(files, folder)
    try:
        diagnosis = read_diagnosis(folder)
    except DamagedRun as error:
        assert "holds no readable record" in str(error)  # noqa: PT017 - the one reason that there may be
        return
    finally:
        for path in folder.iterdir():
            path.unlink()
        folder.rmdir()
    assert [item for item in diagnosis.unchecked if "rule itself failed" in item.because] == []
    terminal.page(diagnosis, verbose=True)
    json.loads(json_report.page(diagnosis))
