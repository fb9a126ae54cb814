"""Defaults depend on the structure of a problem, other settings, and the number of GPUs."""

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from problems_for_tests import facilities, of_two_kinds, resolved, uneven

from islands.configuration.request import Request
from islands.configuration.resolve import resolve
from islands.configuration.spec import RunSpec
from islands.instances.qaplib import QapFile
from islands.problems import load
from islands.problems.base import Problem
from islands.problems.qap import Qap

BACKENDS = ("cpu", "cuda")


def on_grid(side: int) -> Qap:
    """Return random flows between the places of a square grid."""
    n = side * side
    rows, columns = np.divmod(np.arange(n), side)
    distances = abs(np.subtract.outer(rows, rows)) + abs(np.subtract.outer(columns, columns))
    return Qap(QapFile(f"grid{n}", None, n, facilities(n).file.a, distances))


def chosen(spec: RunSpec) -> tuple[str, str, str]:
    return spec.algorithm, spec.encoding, spec.improver.name


TEMPERING = ("tempering", "permutation", "none")
MEMETIC = ("memetic", "permutation", "tabu")
CELLULAR = ("cellular", "permutation", "tabu")


@pytest.mark.parametrize(
    ("problem", "expected", "population", "steps", "topology"),
    [
        (facilities(20), TEMPERING, 64, 0, "ring"),
        (facilities(38), MEMETIC, 1056, 2000, "ring"),
        (facilities(76), TEMPERING, 64, 0, "none"),
        (facilities(111), TEMPERING, 16, 0, "none"),
        (uneven(40), MEMETIC, 66, 1000, "ring"),
        (on_grid(7), TEMPERING, 64, 0, "ring"),
    ],
    ids=lambda value: getattr(value, "instance", None),
)
def test_the_structure_and_the_size_choose_the_search(
    problem: Qap, expected: tuple[str, str, str], population: int, steps: int, topology: str
) -> None:
    cpu, gpu = (resolved(problem, backend) for backend in BACKENDS)
    assert chosen(cpu) == chosen(gpu) == expected
    assert (gpu.general.population, gpu.improver.steps) == (population, steps)
    assert gpu.migration.topology == topology
    assert resolved(problem, **gpu.to_mapping()).to_mapping() == gpu.to_mapping()


def test_a_choice_of_places_has_many_small_islands() -> None:
    rough = of_two_kinds(50, 40)  # its numbers are random, but there are only two kinds of items
    for problem in (of_two_kinds(30, 9), rough):
        cpu, gpu = (resolved(problem, backend) for backend in BACKENDS)
        assert chosen(cpu) == chosen(gpu) == TEMPERING
        assert (cpu.general.islands, gpu.general.islands) == (1, 88)
        for spec in (cpu, gpu):
            assert spec.general.population == 24
            assert spec.migration.topology == "none"
            assert (spec.settings.descent, spec.settings.sweeps) == (1, 4)
    assert chosen(resolved(rough, improver="tabu"))[2] == "tabu"


def test_an_improver_or_encoding_alone_selects_a_search_that_takes_it() -> None:
    small, rough = facilities(20), facilities(40)
    spec = resolved(small, "cuda", improver="tabu")
    assert chosen(spec) == CELLULAR
    assert (spec.general.population, spec.migration.interval) == (64, 10)
    assert resolved(small, "cuda", algorithm="cellular") == spec
    assert chosen(resolved(rough, improver="tabu")) == MEMETIC
    assert chosen(resolved(small, improver="swap")) == ("cellular", "permutation", "swap")
    assert chosen(resolved(small, encoding="keys")) == ("cellular", "keys", "none")
    assert chosen(resolved(small, algorithm="tempering")) == TEMPERING
    assert chosen(resolved(rough, algorithm="tempering")) == TEMPERING
    assert chosen(resolved(small, algorithm="ga")) == ("ga", "permutation", "none")


def test_a_population_that_tempering_does_not_take_selects_another_algorithm() -> None:
    problem = on_grid(3)
    assert resolved(problem, population=24).algorithm == "tempering"
    other = resolved(problem, population=100)
    assert other.general.population == 100
    assert other.algorithm != "tempering"
    assert other.adjusted.startswith(f"{other.algorithm}, since the default tempering does not")
    assert resolved(problem, population=100, rungs=10).algorithm == "tempering"


Patch = pytest.MonkeyPatch


def resolved_on(patch: Patch, ranks: int, problem: Problem, **options: Any) -> RunSpec:
    """Return the runs that ranks resolve, with a GPU per rank unless options select CPUs."""
    patch.setenv("OMPI_COMM_WORLD_RANK", "0")
    patch.setenv("OMPI_COMM_WORLD_SIZE", str(ranks))
    return resolved(problem, **{"backend": "cuda", **options})


def sizes(spec: RunSpec) -> tuple[int, int]:
    return spec.general.islands, spec.general.population


@pytest.mark.parametrize("problem", [facilities(20), of_two_kinds(30, 9), load("demo/mkp")])
def test_independent_searches_have_islands_per_gpu(problem: Problem, monkeypatch: Patch) -> None:
    islands, population = sizes(resolved_on(monkeypatch, 1, problem))
    for ranks in (2, 4):
        spec = resolved_on(monkeypatch, ranks, problem)
        assert sizes(spec) == (ranks * islands, population)
        assert spec.general.sized_for_gpus == ranks
    assert sizes(resolved_on(monkeypatch, 4, problem, islands=3)) == (3, population)


@pytest.mark.parametrize("problem", [facilities(40), load("demo/tour")])
def test_gpus_share_islands_of_memetic_runs_and_tours(problem: Problem, monkeypatch: Patch) -> None:
    ranks = (1, 2, 8, 9, 64)
    numbers = [resolved_on(monkeypatch, each, problem).general.islands for each in ranks]
    assert numbers == [1, 1, 1, 2, 8]


def test_ranks_on_cpus_never_count(monkeypatch: Patch) -> None:
    for problem in (facilities(20), facilities(40), load("demo/mkp")):
        alone, several = (resolved_on(monkeypatch, n, problem, backend="cpu") for n in (1, 4))
        assert alone == several


@pytest.mark.parametrize("problem", [facilities(20), load("demo/tour"), load("demo/mkp")])
def test_the_settings_of_several_gpus_are_the_same_on_any_ranks_and_devices(
    problem: Problem, tmp_path: Path, monkeypatch: Patch
) -> None:
    spec = resolved_on(monkeypatch, 4, problem)
    request = resolved_on(monkeypatch, 1, problem, sized_for_gpus=4)
    assert request == spec
    file = tmp_path / "run.toml"
    file.write_text(spec.to_toml())
    for ranks, backend in ((1, "cpu"), (3, "cpu"), (2, "cuda"), (8, "cuda")):
        monkeypatch.setenv("OMPI_COMM_WORLD_SIZE", str(ranks))
        again = resolve(Request.of({"backend": backend}, file), problem).spec
        general = dataclasses.replace(again.general, backend="cuda")
        assert dataclasses.replace(again, general=general) == spec


def test_files_of_before_have_an_earlier_name(tmp_path: Path) -> None:
    problem = facilities(20)
    spec = resolved(problem, "cuda", sized_for_gpus=4)
    file = tmp_path / "run.toml"
    file.write_text(spec.to_toml().replace("sized_for_gpus", "gpus"))
    assert resolve(Request.of({}, file), problem).spec == spec
