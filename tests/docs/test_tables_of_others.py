"""The lines of docs/reports.md for other programs run where these are installed."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from pages import ROOT, blocks

from islands.cli import main

PAGE = ROOT / "docs" / "reports.md"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("exported")
    run = ["run", "demo/tsp", "--stop", "generations=20", "--backend", "cpu", "--quiet"]
    assert main([*run, "--set", "improver.name=none", "--out", str(folder / "second")]) == 0
    for form in ("csv", "parquet"):
        out = str(folder / f"trace.{form}")
        assert main(["export", str(folder / "second"), f"--{form}", out]) == 0
    return folder


@pytest.mark.parametrize("package", ["pandas", "polars", "duckdb"])
def test_the_lines_for_a_package_run(package: str, folder: Path) -> None:
    if find_spec(package) is None:
        pytest.skip(f"{package} is not installed")
    (block,) = (each for each in blocks(PAGE) if each.needs == package)
    done = subprocess.run(
        [sys.executable, "-c", block.text], cwd=folder, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert "20" in done.stdout
