"""`islands reproduce` goes on with the same command, also on another number of ranks."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from quick_plots import without_drawing

from islands.cli import main

pytest.importorskip("scipy")
pytest.importorskip("matplotlib")

LITERATURE = ["jardim2021/literature", "--only", "nug18", "had16", "--runs", "3"]
LITERATURE += ["--backend", "cpu", "--threads", "none", "--quiet", "--out"]


@pytest.fixture(scope="module", autouse=True)
def _without_drawing() -> Iterator[None]:
    """Draw no plots in this process; the ranks of these tests draw theirs."""
    with without_drawing():
        yield


def kept(folder: str) -> list[str]:
    path = Path(folder, "runs.jsonl")
    return path.read_text().splitlines() if path.exists() else []


@pytest.mark.slow
@pytest.mark.usefixtures("published")
def test_a_killed_experiment_without_a_folder_goes_on(capsys: pytest.CaptureFixture[str]) -> None:
    line = ["reproduce", *LITERATURE[:-2], "--generations", "150", "--quiet"]
    command = [sys.executable, "-m", "islands", *line]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        deadline = time.monotonic() + 100
        while not any(kept(str(each)) for each in Path("runs").glob("unfinished-jardim2021-*")):
            assert time.monotonic() < deadline
            time.sleep(0.01)
        process.kill()
    (folder,) = Path("runs").iterdir()
    found = len(kept(str(folder)))
    assert main([*line[:-1], "--json"]) == 0
    captured = capsys.readouterr()
    assert f"\n{found} result" in captured.err
    assert not Path("runs").exists()
    assert main([*line[:-1], "--json"]) == 0
    again = capsys.readouterr()
    assert "from earlier runs" not in again.err
    first, second = (json.loads(each.out)["tables"]["literature"] for each in (captured, again))
    tables = [[{**row, "seconds": 0} for row in each["rows"]] for each in (first, second)]
    assert tables[0] == tables[1]
    assert len(tables[0]) == 2
