"""Pages agree with the program: settings, keys, links, the site, transcripts and saved scripts."""

import inspect
import json
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pyarrow.parquet as parquet
import pytest
from pages import PAGES, ROOT, blocks, prose
from scripts_for_tests import script

import islands
from islands.cli import COMMANDS, main

DOCS = ROOT / "docs"
SITE = DOCS / "site"
OTHERS = ("ARCHITECTURE", "CHANGELOG", "CONTRIBUTING")
ALL_PAGES = (*PAGES, *(ROOT / f"{name}.md" for name in OTHERS))
NEEDED = ("furo", "myst_nb", "sphinx", "sphinx_copybutton")


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.slow
def test_the_page_of_settings_is_up_to_date() -> None:
    assert script(DOCS / "generate").main(["--check"]) == 0, "run docs/generate"


def named(section: str) -> set[str]:
    """Return the names in the first column of the tables in a section of docs/results.md."""
    page = (DOCS / "results.md").read_text(encoding="utf-8")
    part = page.partition(f"## {section}\n")[2].partition("\n## ")[0]
    cells = re.findall(r"^\| (`.*?) \|", part, re.MULTILINE)
    return {name for cell in cells for name in re.findall(r"`(\w+)`", cell)}


@pytest.mark.slow
def test_every_key_and_column_of_a_run_is_named(tmp_path: Path) -> None:
    few = {"population": 8, "islands": 3, "interval": 2, "migration": "ring", "migrants": 1}
    result = islands.solve("demo/mkp", stop="generations=4", backend="cpu", out=tmp_path, **few)
    assert named("JSON") == set(json.loads(result.to_json()))
    files = [tmp_path / name / "rank-000.parquet" for name in ("trace", "migrations")]
    columns = [set(parquet.read_schema(file).names) for file in files]
    assert named("Records") == columns[0] | columns[1]


def test_links_and_pictures_have_targets() -> None:
    for page in ALL_PAGES:
        text = re.sub(r"`[^`]*`", "", prose(page))  # code contains no links
        for target, anchor in re.findall(r"\]\(([^)#:]*)(?:#([^)]*))?\)", text):
            path = (page.parent / target).resolve() if target else page
            assert path.exists(), f"{page.name}: {target}"
            assert not anchor or anchor in anchors(path), f"{page.name}: {target}#{anchor}"
        for source in re.findall(r'<img src="([^"]*)"', prose(page)):
            assert (page.parent / source).is_file(), f"{page.name}: {source}"


def anchors(page: Path) -> set[str]:
    heads = re.findall(r"^#+ (.*)$", prose(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


def test_each_public_name_is_once_in_the_reference() -> None:
    named = re.compile(r"^\.\. (?:currentmodule:: (\S+)|auto\w+:: (\w+))", re.MULTILINE)
    found, module = [], ""
    for page in (SITE / "reference").glob("*.rst"):
        for entered, name in named.findall(page.read_text(encoding="utf-8")):
            module = entered or module
            if name:
                found.append(f"{module}.{name}".removeprefix("islands."))
    members = inspect.getmembers(islands.models)
    models = [n for n, value in members if inspect.isfunction(value) or inspect.isclass(value)]
    others = {
        f"{module.__name__.removeprefix('islands.')}.{name}"
        for module in (islands.scipy, islands.shops, islands.frames, islands.space)
        for name, value in inspect.getmembers(module, inspect.isfunction)
        if value.__module__.startswith(module.__name__) and not name.startswith("_")
    }
    public = {*islands.__all__} - {"models", "scipy", "shops", "frames", "space"}
    named_once = {*public, *others, *(f"models.{n}" for n in models if n not in public)}
    assert sorted(found) == sorted(named_once)


@pytest.mark.docs
def test_the_site_is_built(tmp_path: Path) -> None:
    if missing := [name for name in NEEDED if find_spec(name) is None]:
        pytest.skip(f"{', '.join(missing)}: not installed. Install the extra docs")
    command = [sys.executable, SITE / "build", tmp_path]
    ran = subprocess.run(command, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr[-3000:]
    html = tmp_path / "html"
    assert "islands" in (html / "docs" / "install.html").read_text(encoding="utf-8")
    for name in COMMANDS:
        assert f"usage: islands {name} " in (html / "commands" / f"{name}.html").read_text()
    for example in (DOCS / "examples").glob("*.py"):
        page = (html / "gallery" / f"{example.stem}.html").read_text(encoding="utf-8")
        if "\nproblem = " in example.read_text(encoding="utf-8"):
            assert f"{example.stem}.png" in page
            assert "Stopped: " in page


@pytest.mark.slow
@pytest.mark.parametrize("package", ["pandas", "polars", "duckdb"])
def test_the_lines_for_a_package_read_exported_tables(package: str) -> None:
    if find_spec(package) is None:
        pytest.skip(f"{package} is not installed")
    run = ["run", "demo/tsp", "--stop", "generations=20", "--backend", "cpu", "--quiet"]
    assert main([*run, "--set", "improver.name=none", "--out", "second"]) == 0
    for form in ("csv", "parquet"):
        assert main(["export", "second", f"--{form}", f"trace.{form}"]) == 0
    (block,) = (each for each in blocks(DOCS / "reports.md") if each.needs == package)
    command = [sys.executable, "-c", block.text]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert "20" in done.stdout
