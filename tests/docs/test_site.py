"""The site of the documentation: it has all pages and names, and is built if Sphinx is there."""

from __future__ import annotations

import doctest
import inspect
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from pages import ROOT

import islands
from islands.cli import COMMANDS

SITE = ROOT / "docs" / "site"
BUILD = SITE / "build"
NEEDED = ("furo", "myst_nb", "sphinx", "sphinx_copybutton")


def navigation(page: Path) -> list[str]:
    """Return the entries of the trees of contents of a page."""
    trees = re.findall(r"^\.\. toctree::\n((?: +.*\n|\n)*)", page.read_text(), re.MULTILINE)
    lines = [line.strip() for tree in trees for line in tree.splitlines()]
    return [line for line in lines if line and not line.startswith(":")]


def test_each_page_is_once_in_the_navigation() -> None:
    found = navigation(SITE / "index.rst")
    pages = [f"docs/{path.stem}" for path in (ROOT / "docs").glob("*.md")]
    assert sorted(each for each in found if each.startswith("docs/")) == sorted(pages)
    others = [each for each in found if not each.startswith(("docs/", "commands/", "gallery/"))]
    assert "reference/index" in others
    for name in others:
        assert (ROOT / f"{name}.md").is_file() or (SITE / f"{name}.rst").is_file(), name


def test_links_of_the_first_page_have_targets() -> None:
    text = (SITE / "index.rst").read_text(encoding="utf-8")
    linked = set(re.findall(r"<(\S+)>`", text))
    assert len(linked) > 5
    assert linked <= set(navigation(SITE / "index.rst"))
    for picture in re.findall(r"\.\. image:: (\S+)", text):
        assert (ROOT / picture).is_file()


def test_the_example_of_the_first_page_runs() -> None:
    failed, tried = doctest.testfile(str(SITE / "index.rst"), module_relative=False)
    assert (failed, tried > 0) == (0, True)


def test_each_public_name_is_once_in_the_reference() -> None:
    pages = {path.stem: path for path in (SITE / "reference").glob("*.rst")}
    assert sorted(navigation(pages.pop("index"))) == sorted(pages)
    named = re.compile(
        r"^\.\. (?:currentmodule:: (\S+)|auto(function|class|exception):: (\w+))", re.MULTILINE
    )
    found, module = [], ""
    for page in pages.values():
        for entered, kind, name in named.findall(page.read_text(encoding="utf-8")):
            module = entered or module
            if kind:
                found.append((f"{module}.{name}".removeprefix("islands."), kind))
    models = dict(inspect.getmembers(islands.models, inspect.isfunction))
    public = {name: getattr(islands, name) for name in islands.__all__ if name != "models"}
    public |= {f"models.{name}": each for name, each in models.items() if name not in public}
    assert sorted(found) == sorted((name, _kind(each)) for name, each in public.items())


def _kind(value: object) -> str:
    if not isinstance(value, type):
        return "function"
    return "exception" if issubclass(value, Exception) else "class"


def test_the_extra_has_what_the_build_needs() -> None:
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    (extra,) = re.findall(r"^docs = \[(.*)\]$", text, re.MULTILINE)
    assert tuple(sorted(re.findall(r'"([\w-]+)>=', extra.replace("-", "_")))) == NEEDED
    assert f"NEEDED = {NEEDED}".replace("'", '"') in BUILD.read_text(encoding="utf-8")


@pytest.mark.docs
def test_the_site_is_built_or_the_missing_packages_are_named(tmp_path: Path) -> None:
    ran = subprocess.run(
        [sys.executable, BUILD, tmp_path], capture_output=True, text=True, check=False
    )
    if missing := [name for name in NEEDED if find_spec(name) is None]:
        wanted = f"docs/site/build needs {', '.join(missing)}. Install: pip install '.[docs]'\n"
        assert (ran.returncode, ran.stderr) == (1, wanted)
        pytest.skip(f"{', '.join(missing)}: not installed. Install the extra docs")
    assert ran.returncode == 0, ran.stderr[-3000:]
    html = tmp_path / "html"
    page = (html / "docs" / "install.html").read_text(encoding="utf-8")
    assert 'src="../../versions.js"' in page
    assert f'VERSIONS?.includes("{islands.__version__}")' in page
    for name in COMMANDS:
        assert f"usage: islands {name} " in (html / "commands" / f"{name}.html").read_text()
    for example in (ROOT / "docs" / "examples").glob("*.py"):
        page = (html / "gallery" / f"{example.stem}.html").read_text(encoding="utf-8")
        if "\nproblem = " in example.read_text(encoding="utf-8"):
            assert f"{example.stem}.png" in page
            assert "Stopped: " in page
