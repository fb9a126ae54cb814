"""Runs with host evaluation are bit-identical to runs with evaluation by kernels."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from problems_for_tests import NUMBERS, facilities, with_equals
from programs_for_tests import for_gpu, parts, require_compiles

import islands
from islands.backends.base import Backend, Block
from islands.instances.qaplib import QapFile
from islands.problems.base import Problem
from islands.problems.qap import Qap

PLACES = np.random.default_rng(5).integers(0, 999, (23, 2))
PROBLEMS: dict[str, Callable[[], Problem]] = {
    "tour": lambda: islands.tsp(PLACES, metric="EUC_2D"),
    "qap": lambda: facilities(13),
    "equals": lambda: Qap(QapFile("equals", None, 13, *with_equals(13))),
    "keys": lambda: NUMBERS["keys"](11),
    "vector": lambda: NUMBERS["vector"](11),
}
SETTINGS: dict[str, dict[str, Any]] = {
    "brkga": {"elite": 0.2},
    "de": {"adaptation": "jde"},
    "cellular": {"replacement": "elitist", "mutation": "gaussian", "mutation_rate": 0.5},
    "ga": {"replacement": "generational", "elite": 2},
    "pso": {"neighbourhood": "ring"},
}
NUMERIC = [(kind, name, kind, own) for kind in NUMBERS for name, own in SETTINGS.items()]
RUNS: list[tuple[str, str, str, dict[str, Any]]] = [
    ("tour", "brkga", "keys", {"elite": 0.2}),
    ("tour", "ga", "permutation", {}),
    ("tour", "cellular", "permutation", {"replacement": "elitist"}),
    ("qap", "de", "keys", {"adaptation": "jde"}),
    ("qap", "pso", "keys", {"neighbourhood": "ring"}),
    ("qap", "cellular", "keys", {"halo": True, "migration": "none"}),
    ("equals", "ga", "permutation", {}),
    *NUMERIC,
]


@pytest.mark.slow
@pytest.mark.parametrize(("problem", "algorithm", "encoding", "settings"), RUNS)
def test_host_evaluation_equals_kernel_evaluation(
    backend: Backend, problem: str, algorithm: str, encoding: str, settings: dict[str, Any]
) -> None:
    own: dict[str, Any] = {"algorithm": algorithm, "encoding": encoding, "improver": "none"}
    own |= {"islands": 4, "population": 16, "reset": 4, "interval": 5, "generations": 12, "seed": 7}
    own |= {"migration": "ring", "backend": backend.name, **settings}
    kernel, host = (
        islands.solve(PROBLEMS[problem](), decoding=decoding, **own) for decoding in ("", "host")
    )
    assert (host.digest, host.cost, host.evaluations) == (
        *(kernel.digest, kernel.cost, kernel.evaluations),
    )


@pytest.mark.gpu
@pytest.mark.parametrize(("problem", "algorithm", "encoding", "settings"), NUMERIC)
def test_programs_of_numbers_compile_for_gpus(
    problem: str, algorithm: str, encoding: str, settings: dict[str, Any]
) -> None:
    chosen = parts(NUMBERS[problem](9), algorithm, encoding, settings)
    require_compiles(for_gpu("program.cuh", chosen.macros(), Block(32, 32)))
    require_compiles(for_gpu("population.cuh", chosen.encoding_macros(), Block(32, 32)))
