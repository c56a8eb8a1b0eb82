"""The documents say what the program does: generated parts are fresh, names exist, links lead somewhere."""

from __future__ import annotations

import dataclasses
import hashlib
import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

from laststep import __version__
from laststep.analysis.finding import Confidence
from laststep.cli import _verbs
from laststep.record.redact import ENVIRONMENT_PREFIXES
from laststep.rules.rule import all_rules
from laststep.settings import Settings

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")


def script(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"docs_{name}", ROOT / "docs" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def read(name: str) -> str:
    return (ROOT / name).read_text()


def test_generated_pages_are_fresh():
    """If this fails: make docs"""
    assert [str(path.relative_to(ROOT)) for path in script("generate").stale()] == []


def test_a_changed_rule_would_be_noticed(monkeypatch):
    generate = script("generate")
    rule = all_rules()["early-stopping"]
    text = rule.explanation.replace("What to do\n    ", "What to do\n    Now: ")
    changed = dataclasses.replace(rule, explanation=text)
    monkeypatch.setattr(generate, "all_rules", lambda: {**all_rules(), "early-stopping": changed})
    assert [path.name for path in generate.stale()] == ["early-stopping.md"]


def test_the_published_names_are_the_rules():
    """If this fails: make docs"""
    published = read("docs/rules/names.txt").splitlines()
    assert published == [f"{rule.symptom} {rule.name}" for rule in all_rules().values()]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    targets = [target for target in LINK.findall(page.read_text()) if "://" not in target]
    assert [target for target in targets if not (page.parent / target).exists()] == []


@pytest.mark.parametrize("name", ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md", "docs/guide.md"])
def test_files_of_the_project_exist(name):
    named = re.findall(r"`((?:src|tests|docs|bench)/[\w./-]+)`", read(name))
    rooms = re.findall(r"`((?:record|recorder|logs|analysis|supervisor|rules|reports|numbers)/[\w./-]+)`", read(name))
    package = ROOT / "src" / "laststep"
    missing = [path for path in rooms if not any((base / path).exists() for base in (package, package / "recorder"))]
    assert [path for path in named if not (ROOT / path).exists()] + missing == []


def test_the_readme_s_first_screen_has_the_two_commands():
    screen = "\n".join(read("README.md").splitlines()[:40])
    for words in ("laststep run python train.py", "`make demo`", "`make test`", "300 MB", "minutes"):
        assert words in screen


def test_the_changelog_has_this_version():
    assert re.search(rf"^## {re.escape(__version__)} \(20\d\d-\d\d-\d\d\)$", read("CHANGELOG.md"), re.MULTILINE)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_no_paths_of_our_machines(page):
    text = page.read_text()
    named = [place for place in (str(ROOT), str(Path.home()), "/tmp/", "localhost", ".internal") if place in text]
    assert named == []


def test_the_readme_has_every_setting_in_its_three_forms():
    table = read("README.md").partition("## Settings")[2].partition("\n## ")[0]
    for setting in Settings.__annotations__:
        option = setting.replace("_", "-")
        row = next(line for line in table.splitlines() if f"`{option}`" in line)
        assert f"`--{option}" in row
        assert f"`LASTSTEP_{setting.upper()}`" in row


def test_the_readme_has_every_verb():
    for verb in _verbs():
        assert f"`laststep {verb}" in read("README.md")


def test_the_readme_names_the_variables_that_are_kept():
    for prefix in ENVIRONMENT_PREFIXES:
        assert f"`{prefix}`" in read("README.md")


def test_the_guide_has_the_confidence_words():
    for word in Confidence:
        assert f"| {word.name} | {word.meaning} |" in read("docs/guide.md")


def test_the_changelog_has_every_rule():
    assert [name for name in all_rules() if f"`{name}`" not in read("CHANGELOG.md")] == []


def test_the_tree_in_architecture_is_the_real_one():
    """Every name in it exists, and every file of the rooms that it shows in full is in it."""
    tree = read("ARCHITECTURE.md").partition("```\n")[2].partition("```")[0]
    folders: dict[int, Path] = {-1: ROOT}
    named: set[Path] = set()
    for line in tree.splitlines():
        depth = (len(line) - len(line.lstrip())) // 4
        for name in re.findall(r"(?<![\w<])[\w.-]+(?:/[\w.-]+)*/?(?=\s|$)", _names(line)):
            path = folders[depth - 1] / name
            assert path.exists(), line
            named.add(path.resolve())
            if name.endswith("/"):
                folders[depth] = path
    package = ROOT / "src" / "laststep"
    for room in ("", "record", "recorder", "logs", "analysis", "supervisor", "rules", "reports"):
        for path in (package / room).glob("*.py"):
            if not path.name.startswith("__"):
                assert path.resolve() in named, path
    for folder in package.iterdir():
        if (folder / "__init__.py").exists():
            assert folder.resolve() in named, folder


def _names(line: str) -> str:
    """The names that a line of the tree begins with; what follows two spaces is their description."""
    names = re.split(r"\s{2,}", line.strip())[0]
    return names.replace(" · ", " ")


def test_the_doors_in_architecture_are_the_ones_in_the_code():
    probes = "".join(path.read_text() for path in (ROOT / "src/laststep/recorder/probes").glob("*.py"))
    for door in (
        "_add_default_callbacks",
        "stop_training",
        "_process_traceback_frames",
        "_FrequentTracingDetectorManager",
        "_showwarnmsg_impl",
        "faulthandler",
    ):
        assert door in read("ARCHITECTURE.md")
        assert door in probes


def test_the_readme_s_answer_is_the_picture_s():
    page = read("docs/answer.txt")
    assert f"```text\n$ laststep why\n\n{page}```" in read("README.md")
    drawn = re.findall(r"<text [^>]*>([^<]*)</text>", read("docs/answer.svg"))
    unescaped = " ".join(drawn).replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
    assert unescaped.split() == f"$ laststep why\n{page}".split()


@pytest.mark.slow
def test_the_picture_is_what_laststep_says_today():
    """If this fails: make docs"""
    pytest.importorskip("tensorflow")
    picture = script("make_picture")
    today = picture.plain(picture.real_page())
    assert picture.same_words(today, read("docs/answer.txt")), today


def test_the_licence_is_the_standard_text():
    digest = hashlib.sha256((ROOT / "LICENSE").read_bytes()).hexdigest()
    assert digest == "cfc7749b96f63bd31c3c42b5c471bf756814053e847c10f3eb003417bc523d30"


def test_make_has_the_promised_targets():
    makefile = read("Makefile")
    for target in ("setup", "demo", "test-fast", "test", "test-all", "lint", "format", "bench", "docs", "dist"):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE)
    names = re.search(r"^DEMOS := (.+)$", makefile, re.MULTILINE)[1].split()
    assert len(names) == 3
    for name in names:
        assert (ROOT / "src/laststep/demos" / f"{name.replace('-', '_')}.py").exists()
