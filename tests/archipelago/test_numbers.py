"""Each algorithm on vectors and keys: evaluation by the host, ranks, snapshots, warm starts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from colonies_for_tests import one_colony
from numpy.typing import NDArray
from problems_for_tests import NUMBERS
from programs_for_tests import for_gpu, parts, require_compiles
from test_outside import digests

from islands.algorithms import ALGORITHMS
from islands.archipelago.archipelago import Archipelago
from islands.backends import choose
from islands.backends.base import Backend, Block
from islands.errors import InputError
from islands.migration import MigrationSettings
from islands.migration.transport import find
from islands.parallel import World
from islands.testing.ranks import on_ranks

GENERAL = [name for name, kind in ALGORITHMS.items() if not kind.uses_neighbours]

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


def test_all_algorithms_for_numbers_are_covered() -> None:
    assert set(SETTINGS) == {
        name
        for name, kind in ALGORITHMS.items()
        if {*kind.encodings} & {"keys", "vector"} and name != "tempering"
    }  # whose chains evaluate moves themselves: tests/algorithms/test_tempering_moves.py


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
def test_host_evaluation_equals_kernel_evaluation(
    backend: Backend, algorithm: str, kind: str
) -> None:
    kernel, host = (
        digests(islands_of(backend, algorithm, kind, decoding)) for decoding in ("", "host")
    )
    assert host == kernel


@each_run
def test_two_ranks_equal_one_rank(algorithm: str, kind: str) -> None:
    def run(ranks: World) -> list[Any]:
        islands = islands_of(choose("cpu", 1), algorithm, kind, ranks=ranks)
        islands.start()
        for _ in range(3):
            islands.advance(5)
            islands.migrate()
        islands.finish()
        return islands.digests()

    ranks = [pair for found in on_ranks(2, run) for pair in found]
    assert sorted(ranks) == run(World())


@each_run
def test_a_restored_snapshot_continues_the_run(backend: Backend, algorithm: str, kind: str) -> None:
    first, second = (islands_of(backend, algorithm, kind) for _ in range(2))
    first.start()
    first.advance(6)
    first.migrate()
    saved = first.snapshot()
    second.restore(saved, generation=6, migrations=1)
    for islands in (first, second):
        islands.advance(6)
        islands.migrate()
    assert first.digests() == second.digests()
    for wrong in (-0.25, 1.25, np.nan):
        damaged = saved | {"genes": saved["genes"].copy()}
        damaged["genes"][1, 2, 4] = wrong
        with pytest.raises(
            InputError, match=f"genes holds an invalid genome of the encoding {kind}"
        ):
            second.restore(damaged, generation=6, migrations=1)


@each_run
def test_all_genes_stay_inside_and_the_cost_falls(
    backend: Backend, algorithm: str, kind: str
) -> None:
    islands = islands_of(backend, algorithm, kind)
    islands.start()
    first = islands.best()
    for _ in range(5):
        islands.advance(20)
        islands.migrate()
        genes = islands.snapshot()["genes"]
        assert islands._encodings[0].holds(genes.reshape(-1, genes.shape[-1]))
    best = islands.best()
    assert first is not None
    assert best is not None
    assert best.cost == NUMBERS[kind](11).cost(best.solution) < first.cost / 5


@each_run
def test_given_solutions_are_the_first_individuals(
    backend: Backend, algorithm: str, kind: str
) -> None:
    problem = NUMBERS[kind](11)
    given = [problem.target, problem.low, (problem.low + problem.high) / 2]
    if kind == "keys":
        given = [np.minimum(each, 1 - 2**-24).astype(np.float32) for each in given]
    islands = islands_of(backend, algorithm, kind, given=given)
    islands.start()
    genes = islands.snapshot()["genes"]
    firsts = genes[:3, 0]
    for genome, solution in zip(firsts, given, strict=True):
        found = islands._encodings[0].decode(genome[np.newaxis])[0]
        assert np.allclose(found, solution, rtol=1e-14, atol=1e-14)
    best = islands.best()
    assert best is not None
    assert best.cost == 0


@pytest.mark.gpu
@each_run
def test_programs_of_numbers_compile_for_gpus(algorithm: str, kind: str) -> None:
    chosen = parts(NUMBERS[kind](9), algorithm, kind, SETTINGS[algorithm])
    require_compiles(for_gpu("program.cuh", chosen.macros(), Block(32, 32)))
    require_compiles(for_gpu("population.cuh", chosen.encoding_macros(), Block(32, 32)))
