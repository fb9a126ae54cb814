"""The settings that are adjusted in a run with an improver."""

import argparse
import csv
import shlex
from pathlib import Path
from typing import Any

import pytest
from problems_for_tests import cities, facilities, knapsack, resolved

from islands.algorithms import ALGORITHMS
from islands.cli.run import add_run, of_arguments
from islands.configuration.fit import fitting
from islands.configuration.request import Request
from islands.configuration.resolve import resolve
from islands.improvers import improvers_for
from islands.problems import load
from islands.record.inputs import write_settings

BACKENDS = ("cpu", "cuda")
ORDERS = {"algorithm": "de", "improver": "tabu"}


PROBLEMS: dict[str, Any] = {
    **{f"tsp {n}": (cities, n) for n in (3, 929, 25_000)},
    **{f"qap {n}": (facilities, n) for n in (3, 100, 256)},
    **{f"mkp {n} x {m}": (knapsack, n, m) for n, m in ((6, 2), (100, 5), (500, 30), (2500, 100))},
}


@pytest.mark.parametrize("name", PROBLEMS)
def test_adjusted_settings_are_possible_for_all_parts_and_sizes(name: str) -> None:
    make, *size = PROBLEMS[name]
    problem = make(*size)
    near = problem.near is not None
    improvers = improvers_for(problem.solution_kind).items()
    for improver in [each for each, kind in improvers if near or not kind.uses_neighbours]:
        for algorithm, encoding in fitting(problem):
            if improver != "none" and not ALGORITHMS[algorithm].improves:
                continue
            for backend in BACKENDS:
                named = {"algorithm": algorithm, "encoding": encoding, "improver": improver}
                spec = resolved(problem, backend, **named)  # rejects what is not possible
                assert spec.improver.rate > 0
                if improver == "none":
                    assert not spec.adjusted


@pytest.mark.parametrize(
    "given", [{"population": 100}, {"population": 100, "improver.rate": 1.0, "improver.steps": 0}]
)
@pytest.mark.parametrize("kind", BACKENDS)
def test_given_settings_are_not_adjusted(given: dict[str, Any], kind: str, tmp_path: Path) -> None:
    spec = resolved(cities(929), kind, algorithm="ga", improver="two_opt", **given)
    config = tmp_path / "mine.toml"
    lines = "".join(f"{name} = {value}\n" for name, value in given.items())
    config.write_text(f'algorithm = "ga"\nbackend = "{kind}"\nimprover.name = "2opt"\n{lines}')
    assert resolve(Request.of({}, config), cities(929)).spec == spec
    found = spec.general.to_mapping()
    found |= {f"improver.{name}": value for name, value in spec.improver.to_mapping().items()}
    assert found.items() >= given.items()
    assert not any(f"{name} " in spec.adjusted for name in given)


@pytest.mark.parametrize("kind", BACKENDS)
def test_settings_repeat_the_run_on_both_backends(kind: str, tmp_path: Path) -> None:
    spec = resolved(cities(929), kind, algorithm="ga", improver="tabu")
    assert spec.adjusted
    write_settings(tmp_path, spec)
    for other in BACKENDS:
        again = resolve(Request.of({"backend": other}, tmp_path / "run.toml"), cities(929)).spec
        assert (again.adjusted, again.improver) == ("", spec.improver)
        assert again.general.population == spec.general.population


@pytest.mark.parametrize(
    ("options", "population"),
    [
        ({}, 16),
        ({"islands": 1}, 128),
        ({"migration": "ring", "migrants": 40}, 64),
        ({"algorithm": "brkga", "elite": 0.02}, 64),
        ({"algorithm": "ga", "replacement": "generational", "elite": 40}, 64),
        ({"algorithm": "ga", "children": 100}, 128),
        ({"algorithm": "pso", "neighbourhood": "ring", "neighbours": 20}, 32),
        ({"algorithm": "cellular", "grid": "torus", "radius": 2}, 64),
        ({"algorithm": "cellular", "neighbours": 40, "halo": True}, 32),
    ],
)
def test_populations_suffice_for_other_settings(options: dict[str, Any], population: int) -> None:
    spec = resolved(cities(400), **(ORDERS | options))
    assert spec.general.population == population


def test_colonies_keep_room_for_the_migrants_of_the_whole_run() -> None:
    one = "islands=8 algorithm=ga improver.name=two_opt encoding=permutation"
    alone = resolved(cities(5000), colonies=[one])
    assert alone.colonies[0].population == 16  # for 14 migrants from 7 islands
    spec = resolved(cities(5000), colonies=[one] * 4)
    assert [each.population for each in spec.colonies] == [64] * 4  # for 62 from 31


def test_defaults_of_problems_are_not_adjusted_on_a_gpu() -> None:
    problem = facilities(60)
    cpu, gpu = (resolved(problem, backend) for backend in BACKENDS)
    assert (gpu.improver.rate, gpu.adjusted) == (1, "")
    usual = {"algorithm": gpu.algorithm, "improver": gpu.improver.name}
    assert resolved(problem, "cuda", **usual) == gpu
    assert resolved(problem, "cpu", **usual) == cpu
    for problem in (cities(120), facilities(30), knapsack(100, 5), knapsack(2500, 100)):
        assert resolved(problem).adjusted == ""


@pytest.mark.parametrize("kind", BACKENDS)
def test_runs_with_known_digests_are_not_adjusted(kind: str) -> None:
    parser = argparse.ArgumentParser()
    add_run(parser)
    with Path(__file__).parents[1].joinpath("digests.csv").open(newline="") as stream:
        runs = [row["run"] for row in csv.DictReader(stream)]
    for run in runs:
        request = of_arguments(parser.parse_args([*shlex.split(run), "--backend", kind]))
        assert resolve(request, load(request.instance)).spec.adjusted == "", run
