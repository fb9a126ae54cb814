"""The public names: types of keyword arguments, docstrings, and their examples, which run."""

import doctest
import inspect
import re
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from mypy import api

import islands
from islands import keywords
from islands.configuration.fit import every_setting

ROOT = Path(__file__).parents[1]

RIGHT = """
from typing import Any
import islands
own: dict[str, Any] = {"setting_of_a_script": 3}
islands.solve("demo/tsp", algorithm="brkga", rho=0.7, migration="ring", interval=5, **own)
islands.solve("demo/tsp", record={"every": 10})
islands.solve("demo/mkp", infeasible="drop", improver={"name": "none"}, threads=2, gap=1)
islands.solve("demo/tsp", colonies=[dict(islands=4, algorithm="de"), "islands=2"])
islands.solve("demo/tsp", checkpoint={"every": "5m"}, migration={"topology": "ring"})
islands.Solver("demo/tsp", algorithm="ga", islands=3, crossover="order")
with islands.Session() as session:
    session.solve("demo/tsp", seed=3, seconds=5, rho=0.5, out="folder")
islands.solve_many(["demo/tsp"], seeds=[3], interval=2, stop="converged")
"""

WRONG = {
    'islands.solve("demo/tsp", intervall=5)': "intervall",
    'islands.solve("demo/tsp", record={"evry": 5})': "evry",
    'islands.solve("demo/tsp", rho=[0.7])': "rho",
    'islands.Solver("demo/tsp", crosover="order")': "crosover",
    'islands.Session().solve("demo/tsp", sed=3)': "sed",
    'islands.solve_many(["demo/tsp"], seds=[3])': "seds",
    'islands.iter_many(["demo/tsp"], verbose=True)': "verbose",
}
"""Calls, and the word that mypy rejects in each."""


def checked(path: Path, script: str) -> list[str]:
    """Return the errors of mypy in a script, which imports the package as it is here."""
    path.write_text(script, encoding="utf-8")
    settings = ("--config-file", str(ROOT / "pyproject.toml"))
    # The cache of the package makes seconds of a minute.
    cache = ("--cache-dir", str(ROOT / ".mypy_cache"))
    out, failure, _ = api.run([*settings, *cache, "--no-error-summary", str(path)])
    assert failure == ""
    return [line for line in out.splitlines() if ": error: " in line]


@pytest.mark.slow
def test_mypy_rejects_misspelt_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MYPYPATH", str(ROOT))
    assert checked(tmp_path / "right.py", RIGHT) == []
    errors = checked(tmp_path / "wrong.py", "\n".join(["import islands", *WRONG]))
    rejected = [(int(line.split(":")[1]) - 2, line) for line in errors]
    assert [number for number, _ in rejected] == [*range(len(WRONG))]
    for (_, line), word in zip(rejected, WRONG.values(), strict=True):
        assert re.search(rf'"{word}"', line), line


def test_every_setting_is_an_argument_of_solve() -> None:
    known = {*keywords.SolveKeywords.__annotations__}
    for name in ("improver", "migration", "record", "checkpoint"):
        group = getattr(keywords, f"{name.title()}Keywords")
        known |= {f"{name}.{key}" for key in group.__annotations__}
    named = {*inspect.signature(islands.solve).parameters}
    missing = {*every_setting()} - known - named
    assert missing == {"instance"}  # the problem


EXAMPLES = (
    *("solve", "resume", "read_run", "Session", "Solver", "solve_many", "iter_many"),
    *("load", "tsp", "qap", "mkp", "tsp_batch", "qap_batch", "mkp_batch"),
    *("permutation", "subset", "keys", "real", "check_problem", "qubo"),
    *("Result", "Progress", "IslandsError", "Topology", "Settings", "Struct", "Header"),
    *("Crossover", "Mutation", "Shape"),
    *("scipy.differential_evolution", "scipy.quadratic_assignment"),
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
