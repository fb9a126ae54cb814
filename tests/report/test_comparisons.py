"""Pages that compare several runs: what they say."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from checked_pages import page, plain

from islands.errors import UsageError


@pytest.mark.slow
def test_several_runs_are_compared(methods: Path, tmp_path: Path) -> None:
    words = plain(page(methods))
    assert "12 runs" in words
    for heading in ("Gap over time", "Time to the target", "Tests", "Instances", "Runs"):
        assert heading in words
    assert "Friedman" not in words  # it needs three methods
    assert "6 problems (an instance with a seed)" in words
    one, other = sorted(methods.glob("ga-tsp-*"))[:2]
    assert "2 runs" in plain(page(one, other))
    with pytest.raises(UsageError, match="a run is named twice"):
        page(one, one)


@pytest.mark.slow
def test_a_damaged_run_among_several_is_left_out(methods: Path, tmp_path: Path) -> None:
    shutil.copytree(methods, tmp_path / "some")
    (tmp_path / "some" / "ga-tsp-1" / "trace" / "rank-000.parquet").write_bytes(b"PAR1")
    words = plain(page(tmp_path / "some"))
    assert "11 runs" in words
    assert "Left out:" in words
