"""Defaults follow the number of GPUs, and the settings of a run give the same run elsewhere."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest
from problems_for_tests import facilities, of_two_kinds

from islands.configuration.resolve import layers, resolve
from islands.configuration.spec import RunSpec
from islands.problems import load
from islands.problems.base import Problem

Patch = pytest.MonkeyPatch


def resolved(patch: Patch, ranks: int, problem: Problem, **options: Any) -> RunSpec:
    """Return what each of several ranks resolves, with a GPU for each unless options say CPUs."""
    patch.setenv("OMPI_COMM_WORLD_RANK", "0")
    patch.setenv("OMPI_COMM_WORLD_SIZE", str(ranks))
    return resolve(layers({"backend": "cuda", **options}), problem)


def sizes(spec: RunSpec) -> tuple[int, int]:
    return spec.general.islands, spec.general.population


@pytest.mark.parametrize("problem", [facilities(20), of_two_kinds(30, 9), load("demo/mkp")])
def test_independent_searches_have_islands_for_each_gpu(
    problem: Problem, monkeypatch: Patch
) -> None:
    islands, population = sizes(resolved(monkeypatch, 1, problem))
    for ranks in (2, 4):
        spec = resolved(monkeypatch, ranks, problem)
        assert sizes(spec) == (ranks * islands, population)
        assert spec.general.gpus == ranks
    assert sizes(resolved(monkeypatch, 4, problem, islands=3)) == (3, population)


@pytest.mark.parametrize("problem", [facilities(40), load("demo/tour")])
def test_gpus_share_the_islands_of_memetic_searches_and_long_tours(
    problem: Problem, monkeypatch: Patch
) -> None:
    ranks = (1, 2, 8, 9, 64)
    numbers = [resolved(monkeypatch, each, problem).general.islands for each in ranks]
    assert numbers == [1, 1, 1, 2, 8]


def test_ranks_on_cpus_never_count(monkeypatch: Patch) -> None:
    for problem in (facilities(20), facilities(40), load("demo/mkp")):
        alone, several = (resolved(monkeypatch, n, problem, backend="cpu") for n in (1, 4))
        assert alone == several


@pytest.mark.parametrize("problem", [facilities(20), load("demo/tour"), load("demo/mkp")])
def test_the_settings_of_several_gpus_are_the_same_on_any_ranks_and_devices(
    problem: Problem, tmp_path: Path, monkeypatch: Patch
) -> None:
    spec = resolved(monkeypatch, 4, problem)
    asked = resolved(monkeypatch, 1, problem, gpus=4)
    assert asked == spec
    file = tmp_path / "run.toml"
    file.write_text(spec.to_toml())
    for ranks, backend in ((1, "cpu"), (3, "cpu"), (2, "cuda"), (8, "cuda")):
        monkeypatch.setenv("OMPI_COMM_WORLD_SIZE", str(ranks))
        again = resolve(layers({"backend": backend}, file), problem)
        general = dataclasses.replace(again.general, backend="cuda")
        assert dataclasses.replace(again, general=general) == spec
