"""The docstrings of the public names: each has one, and their examples run."""

from __future__ import annotations

import doctest
import inspect
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import islands

EXAMPLES = (
    *("solve", "resume", "read_run", "Session", "Solver", "solve_many", "iter_many"),
    *("load", "tsp", "qap", "mkp", "tsp_batch", "qap_batch", "mkp_batch"),
    *("permutation", "subset", "keys", "real", "check_problem", "qubo"),
    *("Result", "Progress", "IslandsError", "Topology", "Settings", "Struct", "Header"),
    *("Crossover", "Mutation", "Shape"),
    *(f"models.{name}" for name, _ in inspect.getmembers(islands.models, inspect.isfunction)),
)
WRITES = {"resume": ["short"], "read_run": ["kept"]}
"""The folders that the examples write, as they say; the others write none."""


@pytest.mark.parametrize("name", ["", *EXAMPLES])
def test_examples_run(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    documented: Any = attrgetter(name)(islands) if name else islands
    found = doctest.DocTestFinder(recurse=False).find(
        documented, name or "islands", globs={"islands": islands, "np": np}
    )
    examples = [example for test in found for example in test.examples]
    assert examples
    results = [doctest.DocTestRunner().run(test) for test in found]
    assert sum(result.failed for result in results) == 0
    assert [path.name for path in tmp_path.iterdir()] == WRITES.get(name, [])
