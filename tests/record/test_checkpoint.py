"""Checkpoints: what is on disk when one counts, and that equal runs write equal ones."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from starts_for_tests import checkpoints, start, streams

import islands
from islands.record.checkpoint import newest_first, next_start, remove_obsolete


def made(run: Path, *names: str) -> None:
    """Make checkpoints, and the streams of their starts."""
    (run / "trace").mkdir(exist_ok=True)
    for name in names:
        (run / "checkpoints" / name).mkdir(parents=True)
        (run / "checkpoints" / name / "manifest.json").touch()
        (run / "trace" / f"rank-000.{name.partition('.')[2]}.unfinished.arrows").touch()


def test_the_state_is_on_disk_before_it_gets_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synchronised, early = set[tuple[int, int]](), list[Path]()
    replace = Path.replace

    def fsync(number: int) -> None:
        found = os.fstat(number)
        synchronised.add((found.st_ino, found.st_size))

    def renamed(self: Path, target: Path) -> Path:
        found = self.stat()
        if target.suffix == ".npz" and (found.st_ino, found.st_size) not in synchronised:
            early.append(target)
        return replace(self, target)

    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(Path, "replace", renamed)
    start(tmp_path, 2, goes_on=False)
    assert checkpoints(tmp_path)
    assert early == []


def test_the_newest_checkpoint_is_that_of_the_latest_generation_and_start(tmp_path: Path) -> None:
    made(tmp_path, "000000000090.1", "000000000100.1", "000000000100.3", "000000000095.2")
    (tmp_path / "checkpoints/000000000200.4").mkdir()  # without a manifest
    assert newest_first(tmp_path) == [
        *("000000000100.3", "000000000100.1", "000000000095.2", "000000000090.1")
    ]
    assert next_start(tmp_path) == 5


def test_a_finished_run_keeps_the_checkpoints_of_its_last_start_only(tmp_path: Path) -> None:
    made(tmp_path, "000000000010.1", "000000000020.2", "000000000030.3", "000000000015.4")
    remove_obsolete(tmp_path, 3)
    assert checkpoints(tmp_path) == ["000000000030.3"]
    assert streams(tmp_path) == []


_PERTURB = -6  # M_PERTURB of the C library


@contextmanager
def memory_of(byte: int) -> Iterator[None]:
    """Let new memory hold a byte, where the C library can do this."""
    library = ctypes.CDLL(None)
    if not hasattr(library, "mallopt"):
        pytest.skip("this C library does not fill memory")
    library.mallopt(_PERTURB, byte)
    try:
        yield
    finally:
        library.mallopt(_PERTURB, 0)


# Archives and offered solutions exist before anything is written there.
RUNS: list[tuple[str, dict[str, Any]]] = [
    ("demo/tsp", {"algorithm": "eax", "population": 10}),
    ("demo/qap", {"algorithm": "tempering", "rungs": 2, "reset": 90, "migration.delay": 1}),
    ("demo/mkp", {"algorithm": "pso", "encoding": "keys", "infeasible": "linear"}),
    ("demo/mkp", {"algorithm": "cellular", "encoding": "bits", "infeasible": "linear"}),
]


@pytest.mark.parametrize(("problem", "options"), RUNS)
def test_equal_runs_write_equal_checkpoints(
    problem: str, options: dict[str, Any], tmp_path: Path
) -> None:
    found = []
    for byte in (85, 170):
        out = tmp_path / str(byte)
        usual: dict[str, Any] = {"islands": 16, "population": 12, "interval": 2, "generations": 3}
        usual |= {"backend": "cpu", "threads": 16}  # each has memory of its own
        with memory_of(byte):
            islands.solve(problem, out=out, seed=1, **(usual | options))
        (file,) = out.glob("checkpoints/*/rank-000.npz")
        with np.load(file) as saved:
            found.append({name: saved[name].tobytes() for name in saved.files})
    assert found[0].keys() == found[1].keys()
    assert [name for name in found[0] if found[0][name] != found[1][name]] == []
