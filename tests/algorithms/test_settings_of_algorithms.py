"""Settings of the algorithms: rejected ones, derived numbers, published results, and GPUs."""

import math
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np
import pytest
from numpy_ga import DANTAS
from programs_for_tests import for_gpu, parts, require_compiles
from test_operators import FITTING, problem_for

from islands import solve
from islands.algorithms.brkga import Brkga, BrkgaSettings
from islands.algorithms.cellular import Cellular, CellularSettings
from islands.backends.base import Backend, Block
from islands.configuration.request import Request
from islands.configuration.resolve import resolve
from islands.engine.repeats import Repeats
from islands.engine.scheduler import Scheduler
from islands.errors import UsageError
from islands.parallel import World
from islands.problems import load

TORUS = {"grid": "torus"}


@pytest.mark.parametrize(
    ("settings", "population", "fewest"),
    [({}, 2, 3), ({"neighbours": 8}, 5, 2), (TORUS | {"width": 4}, 4, 3)],
)
def test_grid_of_all_slices_must_contain_a_neighbourhood(
    settings: dict[str, Any], population: int, fewest: int
) -> None:
    slices = Cellular(CellularSettings.build({"halo": True, **settings}), population, "keys")
    slices.require_islands(fewest)
    with pytest.raises(UsageError, match=f"islands={fewest - 1} x population={population}"):
        slices.require_islands(fewest - 1)


def test_the_bias_is_the_weight_of_the_rank_among_all_parents() -> None:
    weights = {
        "constant": [1, 1, 1],
        "linear": [1, 1 / 2, 1 / 3],
        "quadratic": [1, 1 / 4, 1 / 9],
        "cubic": [1, 1 / 8, 1 / 27],
        "exponential": [1, 1 / math.e, 1 / math.e**2],
        "logarithmic": [1 / math.log(2), 1 / math.log(3), 1 / math.log(4)],
    }
    for bias, (first, second, third) in weights.items():
        settings = BrkgaSettings.build({"parents": 3, "bias": bias})
        total = first + second + third
        shares = [int(word) / 2**32 for word in Brkga(settings, 50)._bias()]
        assert shares == pytest.approx([first / total, (first + second) / total], abs=1e-9), bias


def test_a_share_of_a_hundred_individuals_is_that_number() -> None:
    for percent in range(1, 50):
        shares = {"elite": percent / 100, "mutants": percent / 100}
        made = Brkga(BrkgaSettings.build(shares), 100)  # 0.29 * 100 is below 29
        assert (made.elite, made.mutants) == (percent, percent)


@pytest.mark.usefixtures("optimised")
@pytest.mark.published
@pytest.mark.slow
@pytest.mark.parametrize(("name", "gaps"), [("chr12c", (4.0, 24.0)), ("bur26a", (0.8, 1.6))])
def test_gaps_of_experiment_a_of_the_thesis(
    backend: Backend, published: Path, name: str, gaps: tuple[float, float]
) -> None:
    """Table 3 has mean gaps of 10.3 to 15.9 % and of 1.08 to 1.35 % for three versions."""
    problem = load(f"qaplib/{name}")
    first = resolve(Request.of({"preset": "jardim2021-a", "instance": f"qaplib/{name}"}), problem)
    plan = Repeats([first])
    cells = [(0, run) for run in range(3)]
    found = dict(Scheduler(plan, [backend], World(), places=3).run([cells]))
    runs = [each.result for each in found.values()]
    assert [each.evaluations for each in runs] == 3 * [1_025_024]
    gaps_of_runs = [each.gap for each in runs]
    assert gaps[0] < mean(gap for gap in gaps_of_runs if gap is not None) < gaps[1]


@pytest.mark.usefixtures("optimised")
@pytest.mark.published
@pytest.mark.slow
@pytest.mark.parametrize(
    ("instance", "islands", "gap"),
    [("1-00", 1, 4.0), ("1-00", 8, 2.0), ("3-00", 1, 5.1), ("3-00", 8, 6.0)],
)
def test_gaps_are_those_of_a_prototype(
    published: Path, instance: str, islands: int, gap: float
) -> None:
    one = {"islands": 1, "population": 4096, "migration": "none"} if islands == 1 else {}
    own: dict[str, Any] = {"preset": "dantas2014-cuda", "backend": "cpu", **one}
    found = [solve(f"orlib/mknapcb{instance}", seed=seed, **own).gap for seed in range(1, 6)]
    assert float(np.mean(found)) == pytest.approx(gap, abs=0.9)


@pytest.mark.gpu
@pytest.mark.parametrize("encoding", sorted(FITTING))
@pytest.mark.parametrize(
    "settings",
    [DANTAS, {"selection": "proportional"}, {"selection": "random", "duplicates": "accept"}],
    ids=str,
)
def test_the_genetic_algorithm_compiles_for_gpus(encoding: str, settings: dict[str, Any]) -> None:
    crossover = FITTING[encoding][0][0]
    chosen = parts(problem_for(encoding), "ga", encoding, settings | {"crossover": crossover})
    require_compiles(for_gpu("program.cuh", chosen.macros(), Block(32, 32)))
