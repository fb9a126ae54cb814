"""Where somebody else than a kernel judges, runs have the same bits as with kernels that judge."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from problems_for_tests import cities, facilities, knapsack
from ranks_for_tests import on_ranks

from islands.algorithms import ALGORITHMS
from islands.archipelago.archipelago import Archipelago
from islands.archipelago.parts import Parts
from islands.backends import choose
from islands.backends.base import Backend
from islands.errors import UsageError
from islands.improvers import ImproverSettings
from islands.migration import MigrationSettings
from islands.migration.transport import find
from islands.parallel import World, world
from islands.problems.base import Problem
from islands.solver import Solver

RUNS: list[tuple[str, str, dict[str, Any]]] = [
    ("brkga", "keys", {"elite": 0.2}),
    ("de", "keys", {"adaptation": "jde"}),
    ("pso", "keys", {"neighbourhood": "ring"}),
    ("cellular", "permutation", {"replacement": "elitist"}),
    ("cellular", "keys", {"halo": True}),
    ("ga", "permutation", {}),
    ("ga", "keys", {"replacement": "generational", "elite": 2}),
]


def made(
    backend: Backend,
    problem: Problem,
    algorithm: str,
    encoding: str,
    settings: dict[str, Any],
    decoding: str,
    ranks: World | None = None,
) -> Archipelago:
    kind, alone = ALGORITHMS[algorithm], ranks or World()
    topology = "none" if settings.get("halo") else "ring"
    given = problem.numbering() is None
    return Archipelago(
        problem=problem,
        algorithm=algorithm,
        encoding=encoding,
        settings=kind.completed(kind.Settings.build({"reset": 4, **settings}), encoding),
        population=16,
        islands=4,
        seed=7,
        migration=MigrationSettings.build({"topology": topology, "duplicates": "refuse"}),
        backend=backend,
        world=alone,
        transport=find(alone, backend)[0],
        decoding=decoding,
        warm_start=lambda: [np.arange(problem.size)] if given else [],
    )


def digests(islands: Archipelago) -> list[Any]:
    """Return all that a run of twelve generations shows, with restarts and a migration."""
    found: list[Any] = []
    islands.start()
    for generations in (0, 5, 7):
        islands.advance(generations)
        if generations == 5:
            islands.migrate()
        best = islands.best()
        found += [islands.digests(), islands.measure(), best.cost if best else None]
    return found


def problem_of(kind: str, folder: Path) -> Problem:
    return cities(23, folder) if kind == "tsp" else facilities(13)


@pytest.mark.parametrize("kind", ["tsp", "qap"])
@pytest.mark.parametrize(("algorithm", "encoding", "settings"), RUNS)
def test_the_host_judges_as_kernels_do(
    backend: Backend,
    kind: str,
    algorithm: str,
    encoding: str,
    settings: dict[str, Any],
    tmp_path: Path,
) -> None:
    problem = problem_of(kind, tmp_path)
    ways = [
        digests(made(backend, problem, algorithm, encoding, settings, way)) for way in ("", "host")
    ]
    assert ways[0] == ways[1]


@pytest.mark.parametrize(("algorithm", "encoding", "settings"), RUNS[3:6])
def test_on_several_ranks_too(
    algorithm: str, encoding: str, settings: dict[str, Any], tmp_path: Path
) -> None:
    def run(ranks: World) -> list[Any]:
        problem = problem_of("qap", tmp_path)
        islands = made(choose("cpu", 1), problem, algorithm, encoding, settings, "host", ranks)
        islands.start()
        islands.advance(6)
        islands.migrate()
        islands.advance(6)
        return islands.digests()

    ranks = [pair for found in on_ranks(2, run) for pair in found]
    assert sorted(ranks) == run(World())


def test_a_snapshot_of_one_way_goes_on_in_the_other(backend: Backend, tmp_path: Path) -> None:
    problem = problem_of("tsp", tmp_path)
    first, second = (made(backend, problem, "ga", "permutation", {}, way) for way in ("host", ""))
    first.start()
    first.advance(6)
    second.restore(first.snapshot(), generation=6, migrations=0)
    for islands in (first, second):
        islands.advance(6)
    assert first.digests() == second.digests()


def test_what_only_the_device_can_do_is_refused(tmp_path: Path) -> None:
    def parts(problem: Problem, algorithm: str, encoding: str, **changes: Any) -> None:
        kind = ALGORITHMS[algorithm]
        improver = ImproverSettings.build({"name": changes.pop("improver", "none")})
        Parts.of(problem, algorithm, encoding, kind.completed(kind.Settings(), encoding), improver,
                 population=16, block_memory=None, **changes)  # fmt: skip

    tsp = cities(9, tmp_path)
    with pytest.raises(UsageError, match="decoding=host with improver swap"):
        parts(tsp, "ga", "permutation", improver="swap", decoding="host")
    with pytest.raises(UsageError, match="decoding=host: which items are chosen is judged on"):
        parts(knapsack(9, 2), "ga", "bits", decoding="host")
    with pytest.raises(UsageError, match="decoding=plain: de takes host"):
        parts(tsp, "de", "keys", decoding="plain")
    with pytest.raises(UsageError, match="decoding=sorte: unknown choice"):
        Solver(tsp, decoding="sorte", backend="cpu")


def test_the_decoding_that_is_usual_stands_in_the_settings(tmp_path: Path) -> None:
    problem = cities(9, tmp_path)
    usual = {"brkga": "sorted", "de": "", "pso": ""}
    for algorithm, decoding in usual.items():
        solver = Solver(problem, algorithm=algorithm, backend="cpu", population=32, world=world())
        assert solver.spec.general.decoding == decoding


class SlowCities:
    """Makes a problem take a moment for each solution that it judges."""

    def __init__(self, problem: Problem, seconds: float) -> None:
        self._costs, self._seconds = problem.costs, seconds

    def __call__(self, solutions: Any) -> Any:
        time.sleep(self._seconds * len(solutions))
        return self._costs(solutions)


@pytest.mark.parametrize(("kind", "encoding"), [("brkga", "keys"), ("ga", "permutation")])
def test_a_judge_that_takes_long_leaves_when_it_is_told(
    backend: Backend, kind: str, encoding: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = cities(23, tmp_path)
    whole = made(backend, problem, kind, encoding, {}, "host")
    whole.start()
    monkeypatch.setattr(problem, "costs", SlowCities(problem, 0.05), raising=False)
    begun = made(backend, problem, kind, encoding, {}, "host")
    begun.may_be_partial = True
    threading.Timer(0.5, begun.give_up).start()
    began = time.perf_counter()
    begun.start()  # would take 3.2 s
    assert time.perf_counter() - began < 2
    assert begun.is_partial
    judged = begun.snapshot()["calls"] > 0
    assert 0 < judged.sum() == begun.made() < judged.size
    costs = whole.snapshot()["cost"]
    (best,) = begun.elite(1)
    assert best.cost == costs[judged].min()
    assert np.array_equal(begun.snapshot()["cost"][judged], costs[judged])


def test_a_generation_that_a_judge_leaves_can_be_withdrawn(
    backend: Backend, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = cities(23, tmp_path)
    monkeypatch.setattr(problem, "costs", SlowCities(problem, 0.02), raising=False)
    islands_ = made(backend, problem, "ga", "permutation", {}, "host")
    islands_.start()
    before = islands_.digests()
    threading.Timer(0.5, islands_.give_up).start()
    assert not islands_.attempt(1)
    islands_.withdraw()
    assert (islands_.digests(), islands_.generation) == (before, 0)
    monkeypatch.undo()
    straight = made(backend, problem, "ga", "permutation", {}, "host")
    straight.start()
    for each in (islands_, straight):
        each.advance(3)
    assert islands_.digests() == straight.digests()
