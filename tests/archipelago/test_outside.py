"""Runs with host evaluation have the same bits as runs with evaluation by kernels."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from colonies_for_tests import one_colony
from numpy.typing import NDArray
from problems_for_tests import NUMBERS, cities, facilities, with_equals
from programs_for_tests import for_gpu, parts, require_compiles

from islands.algorithms import ALGORITHMS
from islands.archipelago.archipelago import Archipelago
from islands.backends.base import Backend, Block
from islands.instances.qaplib import QapFile
from islands.migration import MigrationSettings
from islands.migration.transport import find
from islands.parallel import World
from islands.problems.base import Problem
from islands.problems.qap import Qap

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


def test_host_evaluation_of_renumbered_facilities_equals_kernel_evaluation(
    backend: Backend,
) -> None:
    problem = Qap(QapFile("equals", None, 13, *with_equals(13)))
    kernel, host = (
        digests(made(backend, problem, "ga", "permutation", {}, decoding))
        for decoding in ("", "host")
    )
    assert host == kernel


class SlowCosts:
    """Costs that take some time for each solution."""

    def __init__(self, problem: Problem, seconds: float) -> None:
        self._costs, self._seconds = problem.costs, seconds

    def __call__(self, solutions: Any) -> Any:
        time.sleep(self._seconds * len(solutions))
        return self._costs(solutions)


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


SETTINGS: dict[str, dict[str, Any]] = {
    "brkga": {"elite": 0.2},
    "de": {"adaptation": "jde"},
    "cellular": {"replacement": "elitist", "mutation": "gaussian", "mutation_rate": 0.5},
    "ga": {"replacement": "generational", "elite": 2},
    "pso": {"neighbourhood": "ring"},
}
each_run = pytest.mark.parametrize(
    ("algorithm", "kind"), [(algorithm, kind) for algorithm in SETTINGS for kind in NUMBERS]
)


def islands_of(
    backend: Backend,
    algorithm: str,
    kind: str,
    decoding: str = "",
    ranks: World | None = None,
    given: Sequence[NDArray[Any]] = (),
) -> Archipelago:
    part, ranks = ALGORITHMS[algorithm], ranks or World()
    settings = part.Settings.build({"reset": 4, **SETTINGS[algorithm]})
    return one_colony(
        problem=NUMBERS[kind](11),
        algorithm=algorithm,
        encoding=kind,
        settings=part.completed(settings, kind),
        population=16,
        islands=4,
        seed=7,
        migration=MigrationSettings.build({"topology": "ring", "duplicates": "refuse"}),
        backend=backend,
        world=ranks,
        transport=find(ranks, backend)[0],
        decoding=decoding,
        warm_start=lambda: given,
    )


@each_run
def test_host_evaluation_of_numbers_equals_kernel_evaluation(
    backend: Backend, algorithm: str, kind: str
) -> None:
    kernel, host = (
        digests(islands_of(backend, algorithm, kind, decoding)) for decoding in ("", "host")
    )
    assert host == kernel


@pytest.mark.gpu
@each_run
def test_programs_of_numbers_compile_for_gpus(algorithm: str, kind: str) -> None:
    chosen = parts(NUMBERS[kind](9), algorithm, kind, SETTINGS[algorithm])
    require_compiles(for_gpu("program.cuh", chosen.macros(), Block(32, 32)))
    require_compiles(for_gpu("population.cuh", chosen.encoding_macros(), Block(32, 32)))
