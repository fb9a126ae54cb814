"""Two equal runs write equal checkpoints, whatever the memory held that they received."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import islands

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
    ("demo/tsp", {"algorithm": "brkga", "reset": 90}),
    ("demo/tsp", {"algorithm": "eax", "population": 10}),
    ("demo/qap", {"algorithm": "tempering", "rungs": 2, "reset": 90, "migration.delay": 1}),
    ("demo/mkp", {"algorithm": "pso", "encoding": "keys", "infeasible": "linear"}),
    ("demo/mkp", {"algorithm": "ga", "encoding": "bits", "infeasible": "dynamic"}),
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
