"""Runs in folders from Python: `islands.resume`, `islands.read_run`, and starting solutions."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import islands

SMALL: dict[str, Any] = {"islands": 2, "population": 32, "backend": "cpu", "improver": "none"}


def first_place(order: Any) -> float:
    return float(order[0])


@pytest.fixture
def kept(tmp_path: Path) -> islands.Result:
    return islands.solve("demo/mkp", generations=20, out=tmp_path / "a", seed=3, **SMALL)


@pytest.mark.slow
def test_a_read_run_has_its_result_and_its_records(kept: islands.Result) -> None:
    assert kept.folder is not None
    found = islands.read_run(kept.folder)
    assert json.loads(found.to_json()) == json.loads(kept.to_json())
    assert found.trace().equals(kept.trace())
    assert found.migrations().equals(kept.migrations())
    assert found.settings == kept.settings
    assert np.array_equal(found.solution, kept.solution)


@pytest.mark.slow
def test_the_problem_of_a_session_resumes_its_run(tmp_path: Path) -> None:
    def problem(size: int = 9) -> islands.Problem:
        return islands.permutation(size, function=first_place)

    islands.solve(problem(), generations=3, out=tmp_path / "b", **SMALL)
    whole = islands.solve(problem(), generations=6, **SMALL)
    with pytest.raises(islands.IslandsError, match="permutation-8: is not the problem of the run"):
        islands.resume(tmp_path / "b", generations=6, problem=problem(8))
    resumed = islands.resume(tmp_path / "b", generations=6, problem=problem())
    assert resumed.digest == whole.digest


def test_a_folder_without_a_finished_run_is_rejected(tmp_path: Path) -> None:
    for read in (islands.read_run, islands.resume):
        with pytest.raises(islands.IslandsError, match="nosuch: contains no run"):
            read(tmp_path / "nosuch")
    folder = tmp_path / "a"
    islands.solve("demo/mkp", generations=2, out=folder, **SMALL)
    (folder / "solution.parquet").unlink()
    with pytest.raises(islands.IslandsError, match=r"Continue it with islands\.resume\("):
        islands.read_run(folder)


@pytest.mark.slow
def test_a_search_starts_from_arrays(tmp_path: Path) -> None:
    good = islands.solve("demo/qap", generations=30, **SMALL)
    plain = islands.solve("demo/qap", generations=1, seed=9, **SMALL)
    assert plain.cost > good.cost
    solution = good.solution
    file = tmp_path / "best.json"
    file.write_text(json.dumps(solution.tolist()))
    starts = ([solution], solution, solution.tolist(), [solution.tolist()], np.array([solution]))
    for start in (*starts, file, [str(file)], [file, solution]):
        begun = islands.solve("demo/qap", generations=1, seed=9, start=start, **SMALL)
        assert begun.cost <= good.cost
    solver = islands.Solver("demo/qap", seed=9, start=[solution], **SMALL)
    assert solver.best(1)[0].cost == good.cost


@pytest.mark.slow
def test_no_seed_draws_one_that_repeats_the_run() -> None:
    first, second = (islands.solve("demo/qap", generations=2, seed=None, **SMALL) for _ in "ab")
    assert first.seed != second.seed
    again = islands.solve("demo/qap", generations=2, seed=first.seed, **SMALL)
    assert again.digest == first.digest
    assert islands.solve("demo/qap", generations=2, **SMALL).seed == 1
