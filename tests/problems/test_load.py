from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from islands.errors import InputError, UsageError
from islands.instances.qaplib import qaplib_text
from islands.instances.synthetic import grid_qap, tsplib_text, uniform_tsp
from islands.problems import load


@pytest.fixture(autouse=True)
def _no_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ISLANDS_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("ISLANDS_INSTANCES", raising=False)


def write(path: Path, n: int) -> str:
    path.parent.mkdir(exist_ok=True)
    path.write_text(tsplib_text(uniform_tsp(n, seed=1)))
    return str(path)


def test_the_embedded_instance_is_loaded() -> None:
    problem = load("demo/tsp")
    assert (problem.name, problem.instance, problem.size) == ("tsp", "demo/tsp", 120)
    assert problem.best_known is not None
    assert problem.best_known.status == "optimal"


def test_the_embedded_assignment_is_loaded() -> None:
    problem = load("demo/qap")
    assert (problem.name, problem.instance, problem.size) == ("qap", "demo/qap", 30)
    assert problem.gap(4664) == 0.0


def test_a_dat_file_is_one_of_qaplib_also_gzipped(tmp_path: Path) -> None:
    path = tmp_path / "own.dat.gz"
    path.write_bytes(gzip.compress(qaplib_text(grid_qap(2, 3, seed=1)[0]).encode()))
    problem = load(str(path))
    assert (problem.name, problem.instance, problem.size) == ("qap", str(path), 6)


def test_a_path_is_loaded_under_its_own_name(tmp_path: Path) -> None:
    path = write(tmp_path / "own.tsp", 9)
    problem = load(path)
    assert (problem.instance, problem.size, problem.best_known) == (path, 9, None)


def test_a_published_name_with_another_size_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "national" / "zi929.tsp", 9)
    with pytest.raises(InputError, match="has size 9, but national/zi929 has 929"):
        load(path)


def test_an_unknown_suffix_is_refused(tmp_path: Path) -> None:
    with pytest.raises(
        UsageError, match=r"the suffix '\.txt' is not known\. Known: \.tsp, \.tsp\.gz, \.dat, "
    ):
        load(write(tmp_path / "cities.txt", 9))


def test_a_published_instance_that_is_not_here_is_refused() -> None:
    with pytest.raises(InputError, match="Run `islands instances fetch tsplib`"):
        load("berlin52")
