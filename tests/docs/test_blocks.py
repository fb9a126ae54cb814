"""Run the blocks of README and docs, page by page in an empty folder.

Slow pages run only if ISLANDS_ALL_DOCS is set; test_commands.py parses their commands.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from pages import PAGES, ROOT, Block, blocks

_SHIM = '#!/bin/sh\nexec "{python}" -m islands "$@"\n'
_LONGEST = 120
"""Time limit of a block in seconds, on a busy machine."""
_SLOW = ("clusters", "results", "running", "tuning")


@pytest.fixture
def _empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Enter an empty folder, with `islands` and `python` on the PATH as after an installation."""
    programs, folder = tmp_path / "programs", tmp_path / "folder"
    programs.mkdir()
    folder.mkdir()
    (programs / "islands").write_text(_SHIM.format(python=sys.executable))
    (programs / "islands").chmod(0o755)
    (programs / "python").symlink_to(sys.executable)
    path = (programs, Path(sys.executable).parent, os.environ["PATH"])
    monkeypatch.setenv("PATH", os.pathsep.join(map(str, path)))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), *sys.path]))
    for name in [name for name in os.environ if name.startswith(("OMPI_", "PRTE_"))]:
        monkeypatch.delenv(name)
    monkeypatch.chdir(folder)


def run(block: Block) -> None:
    if block.file is not None:
        Path(block.file).write_text(block.text)
    line = ["sh", "-eu", "-c", block.text]
    if block.language == "python":
        line = [sys.executable, *([block.file] if block.file else ["-c", block.text])]
    ran = subprocess.run(line, capture_output=True, text=True, timeout=_LONGEST, check=False)
    assert ran.returncode == 0, f"{block.text}\n{ran.stdout[-2000:]}\n{ran.stderr[-2000:]}"


@pytest.mark.usefixtures("_empty_folder")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_blocks_of_a_page_run(page: Path) -> None:
    if page.stem in _SLOW and not os.environ.get("ISLANDS_ALL_DOCS"):
        pytest.skip("slow: set ISLANDS_ALL_DOCS=1 to run it")
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


def test_a_failing_block_is_detected() -> None:
    with pytest.raises(AssertionError, match="no file of this name"):
        run(Block("sh", "echo no file of this name >&2; false; true", None))
