"""Every remedy of every recorded scenario is about that program: code that parses, its own names, rates that fit."""

from __future__ import annotations

import ast
import builtins
import contextlib
import re
import textwrap
from collections.abc import Iterator

import pytest

from laststep.analysis.finding import Remedy
from laststep.record.events.numbers import Numbers
from laststep.record.run import Run
from tests.recordings import Recordings, read_archive

COMMANDS = (
    *("pip", "python", "nvidia-smi", "docker", "df", "ls", "curl", "ulimit", "renice", "gdb", "tmux", "export", "rm"),
    *("laststep", "grep", "dmesg"),
)
LIBRARIES = {"keras", "tf", "np", "tf_keras", "os", "multiprocessing", "glob", "PIL", "K"}
FIT_ONLY = re.compile(
    r"\bfit\(|\bcompile\(|steps_per_epoch|validation_(?:data|steps|split)|\bcallbacks\b|ModelCheckpoint|"
    r"BackupAndRestore|EarlyStopping|TerminateOnNaN"
)
PARSED_AS = ("{}", "{} pass", "call({})")  # statements, the head of a block, arguments
RATE = re.compile(r"\blearning_rate=([\d.e+-]+)")


@pytest.mark.parametrize("name", sorted(read_archive()))
def test_each_remedy_is_about_the_program(name: str, recordings: Recordings) -> None:
    diagnosis = recordings.answer(name).diagnosis
    source = recordings.runs[name]["train.py"].decode()
    remedies = [remedy for finding in diagnosis.findings for remedy in finding.remedies]
    wrong = [problem for remedy in remedies for problem in _problems(diagnosis.run, source, remedy)]
    assert wrong == [], "\n".join(wrong)


def _problems(run: Run, source: str, remedy: Remedy) -> Iterator[str]:
    yield from _of_the_code(source, remedy)
    trains_by_hand = not run.fits and run.training_seen
    if trains_by_hand and FIT_ONLY.search(f"{remedy.does} {remedy.change}"):
        yield f"only fit takes this: {remedy.does}: {remedy.change}"
    for rate in map(float, RATE.findall(remedy.change or "")):
        if not _goes_the_right_way(remedy.does, rate, _rates(run)):
            yield f"{remedy.does} to {rate}: it was {_rates(run)}"
    recorded = {name for fit in run.fits for epoch in fit.epochs for name in epoch.metrics}
    for monitor in re.findall(r"monitor=['\"](\w+)", remedy.change or ""):
        if monitor not in recorded:
            yield f"{monitor} is no metric of this fit"


def _of_the_code(source: str, remedy: Remedy) -> Iterator[str]:
    """A command, or Python with names that the program, a library or the code itself has."""
    if remedy.change is None:
        return
    code = "\n".join(line for line in textwrap.dedent(remedy.change).splitlines() if not _is_command(line))
    tree = _tree(code.replace("…", "...")) or _edited(source, remedy)
    if tree is None:
        yield f"no Python: {remedy.change}"
        return
    unknown = _used(tree) - _bound(tree) - _names_in(ast.parse(source)) - LIBRARIES - set(dir(builtins))
    if unknown:
        yield f"the program has no {', '.join(sorted(unknown))}: {remedy.change}"


def _edited(source: str, remedy: Remedy) -> ast.AST | None:
    """The program, where the change is a line of a call that goes over several."""
    if remedy.where is None or remedy.change is None:
        return None
    lines = source.splitlines()
    old = lines[remedy.where.line - 1]
    lines[remedy.where.line - 1] = textwrap.indent(remedy.change, old[: len(old) - len(old.lstrip())])
    with contextlib.suppress(SyntaxError):
        return ast.parse("\n".join(lines))
    return None


def _goes_the_right_way(does: str, rate: float, recorded: list[float]) -> bool:
    if not recorded:
        return True
    return rate < min(recorded) if "ower" in does else rate > max(recorded) if "aise" in does else True


def _tree(code: str) -> ast.AST | None:
    for form in PARSED_AS:
        with contextlib.suppress(SyntaxError):
            return ast.parse(form.format(code))
    return None


def _rates(run: Run) -> list[float]:
    """Of the fits as they began, and of the sampled steps."""
    began = [fit.began.optimizer.learning_rate for fit in run.fits]
    return [rate for rate in (*began, *(each.rate for each in run.all(Numbers))) if rate is not None and rate > 0]


def _is_command(text: str) -> bool:
    words = [word for word in text.split() if not re.fullmatch(r"[A-Z_]+=\S+", word)]
    return bool(words) and words[0].rsplit("/", 1)[-1] in COMMANDS


def _names_in(tree: ast.AST) -> set[str]:
    aliases = {name for node in ast.walk(tree) if isinstance(node, ast.alias)
               for name in (node.asname or node.name.split(".")[0],)}  # fmt: skip
    return _used(tree) | _bound(tree) | aliases


def _used(tree: ast.AST) -> set[str]:
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)} - {
        "call"
    }


def _bound(tree: ast.AST) -> set[str]:
    """Names that it sets itself, and those of its functions' arguments."""
    stored = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)}
    imported = {each.asname or each.name for node in ast.walk(tree)
                if isinstance(node, ast.Import | ast.ImportFrom) for each in node.names}  # fmt: skip
    return stored | imported | {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
