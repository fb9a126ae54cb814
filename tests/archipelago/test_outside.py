"""Runs with host evaluation have the same bits as runs with evaluation by kernels."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from colonies_for_tests import one_colony
from problems_for_tests import cities, facilities, knapsack, with_equals

from islands.algorithms import ALGORITHMS
from islands.archipelago.archipelago import Archipelago
from islands.archipelago.colonies import ColonySpec
from islands.archipelago.parts import ProgramParts
from islands.backends import choose
from islands.backends.base import Backend
from islands.errors import UsageError
from islands.improvers import ImproverSettings
from islands.instances.qaplib import QapFile
from islands.migration import MigrationSettings
from islands.migration.transport import find
from islands.parallel import World, world
from islands.problems.base import Problem
from islands.problems.qap import Qap
from islands.solver import Solver
from islands.testing.ranks import on_ranks

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
    kind, ranks = ALGORITHMS[algorithm], ranks or World()
    topology = "none" if settings.get("halo") else "ring"
    has_warm_start = not problem.layout.sorts_items
    return one_colony(
        problem=problem,
        algorithm=algorithm,
        encoding=encoding,
        settings=kind.completed(kind.Settings.build({"reset": 4, **settings}), encoding),
        population=16,
        islands=4,
        seed=7,
        migration=MigrationSettings.build({"topology": topology, "duplicates": "refuse"}),
        backend=backend,
        world=ranks,
        transport=find(ranks, backend)[0],
        decoding=decoding,
        warm_start=lambda: [np.arange(problem.size)] if has_warm_start else [],
    )


def digests(islands: Archipelago) -> list[Any]:
    """Return the results of a run of twelve generations, with restarts and a migration."""
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
def test_host_evaluation_equals_kernel_evaluation(
    backend: Backend,
    kind: str,
    algorithm: str,
    encoding: str,
    settings: dict[str, Any],
    tmp_path: Path,
) -> None:
    problem = problem_of(kind, tmp_path)
    kernel, host = (
        digests(made(backend, problem, algorithm, encoding, settings, decoding))
        for decoding in ("", "host")
    )
    assert host == kernel


@pytest.mark.parametrize("is_turned", [False, True])
def test_host_evaluation_of_renumbered_facilities_equals_kernel_evaluation(
    backend: Backend, *, is_turned: bool
) -> None:
    matrices = with_equals(13)
    problem = Qap(QapFile("equals", None, 13, *(matrices[::-1] if is_turned else matrices)))
    kernel, host = (
        digests(made(backend, problem, "ga", "permutation", {}, decoding))
        for decoding in ("", "host")
    )
    assert host == kernel


@pytest.mark.parametrize(("algorithm", "encoding", "settings"), RUNS[3:6])
def test_host_evaluation_on_two_ranks_equals_one_rank(
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


def test_a_snapshot_with_host_evaluation_continues_in_kernels(
    backend: Backend, tmp_path: Path
) -> None:
    problem = problem_of("tsp", tmp_path)
    first, second = (
        made(backend, problem, "ga", "permutation", {}, decoding) for decoding in ("host", "")
    )
    first.start()
    first.advance(6)
    second.restore(first.snapshot(), generation=6, migrations=0)
    for islands in (first, second):
        islands.advance(6)
    assert first.digests() == second.digests()


def test_combinations_that_need_kernel_evaluation_are_refused(tmp_path: Path) -> None:
    def parts(problem: Problem, algorithm: str, encoding: str, **changes: Any) -> None:
        kind = ALGORITHMS[algorithm]
        improver = ImproverSettings.build({"name": changes.pop("improver", "none")})
        settings = kind.completed(kind.Settings(), encoding)
        colony = ColonySpec(1, 16, algorithm, encoding, settings, improver, **changes)
        ProgramParts.of(colony, problem, None)

    tsp = cities(9, tmp_path)
    with pytest.raises(UsageError, match="decoding=host with improver swap"):
        parts(tsp, "ga", "permutation", improver="swap", decoding="host")
    with pytest.raises(UsageError, match="decoding=host: only kernels select the items of"):
        parts(knapsack(9, 2), "ga", "bits", decoding="host")
    with pytest.raises(UsageError, match="decoding=plain: de allows host"):
        parts(tsp, "de", "keys", decoding="plain")
    with pytest.raises(UsageError, match="decoding=sorte: unknown choice"):
        Solver(tsp, decoding="sorte", backend="cpu")


def test_the_default_decoding_appears_in_the_settings(tmp_path: Path) -> None:
    problem = cities(9, tmp_path)
    defaults = {"brkga": "sorted", "de": "", "pso": ""}
    for algorithm, decoding in defaults.items():
        solver = Solver(problem, algorithm=algorithm, backend="cpu", population=32, world=world())
        assert solver.spec.general.decoding == decoding


class SlowCosts:
    """Costs that take some time for each solution."""

    def __init__(self, problem: Problem, seconds: float) -> None:
        self._costs, self._seconds = problem.costs, seconds

    def __call__(self, solutions: Any) -> Any:
        time.sleep(self._seconds * len(solutions))
        return self._costs(solutions)


@pytest.mark.parametrize(("kind", "encoding"), [("brkga", "keys"), ("ga", "permutation")])
def test_slow_host_evaluation_of_generation_0_can_be_abandoned(
    backend: Backend, kind: str, encoding: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = cities(23, tmp_path)
    whole = made(backend, problem, kind, encoding, {}, "host")
    whole.start()
    monkeypatch.setattr(problem, "costs", SlowCosts(problem, 0.05), raising=False)
    begun = made(backend, problem, kind, encoding, {}, "host")
    begun.may_be_partial = True
    threading.Timer(0.5, begun.abandon).start()
    began = time.perf_counter()
    begun.start()  # would take 3.2 s
    assert time.perf_counter() - began < 2
    assert begun.is_partial
    is_evaluated = begun.snapshot()["calls"] > 0
    assert 0 < is_evaluated.sum() == begun.made() < is_evaluated.size
    costs = whole.snapshot()["cost"]
    (best,) = begun.elite(1)
    assert best.cost == costs[is_evaluated].min()
    assert np.array_equal(begun.snapshot()["cost"][is_evaluated], costs[is_evaluated])


def test_a_generation_abandoned_during_host_evaluation_can_be_undone(
    backend: Backend, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = cities(23, tmp_path)
    monkeypatch.setattr(problem, "costs", SlowCosts(problem, 0.02), raising=False)
    islands = made(backend, problem, "ga", "permutation", {}, "host")
    islands.start()
    before = islands.digests()
    threading.Timer(0.5, islands.abandon).start()
    assert not islands.attempt(1)
    islands.undo()
    assert (islands.digests(), islands.generation) == (before, 0)
    monkeypatch.undo()
    straight = made(backend, problem, "ga", "permutation", {}, "host")
    straight.start()
    for each in (islands, straight):
        each.advance(3)
    assert islands.digests() == straight.digests()
