"""Speed benchmarks: what they count and check, and how they compare with earlier results."""

import sys
from itertools import permutations
from multiprocessing.pool import ThreadPool
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from results_for_tests import run_row
from standing_ranks import StandingRanks

import islands
from islands.backends.base import Backend
from islands.cli import main
from islands.errors import RunError
from islands.parallel import World
from islands.studies.bench import many, tabu
from islands.studies.bench.base import BenchRequest
from islands.studies.bench.quality_rows import changes


def test_the_benchmark_fails_on_a_wrong_cost_or_order(backend: Backend) -> None:
    search = tabu.TabuSearches(backend, 12, 2, 5)
    search.measured("kernel")
    search.check()
    costs, orders = search.costs["kernel"], search.orders["kernel"]
    search.costs["kernel"] = costs + np.array([0, 1])
    with pytest.raises(RunError, match=r"kernel, n=12: costs .* are not the exact"):
        search.check()
    search.costs["kernel"], search.orders["kernel"] = costs, 0 * orders
    with pytest.raises(RunError, match="not an assignment of random12"):
        search.check()


class _Backwards:
    """A rival whose tours visit the cities in the order of their numbers, from the last one."""

    def __init__(self, places: dict[int, list[float]]) -> None:
        self.count = len(places)

    def solve_tsp(self, runs: int) -> list[int]:
        assert runs == 1
        return [*range(self.count - 1, -1, -1), self.count - 1]


def request(**settings: object) -> BenchRequest:
    return BenchRequest(world=World(), backends=["cpu"], threads=2, **settings)  # type: ignore[arg-type]


@pytest.mark.slow
def test_methods_are_compared_with_each_other_and_a_rival(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(many, "_EFFORT", 6 * 49)
    monkeypatch.setattr(many, "_ASSIGNMENTS", 5)
    monkeypatch.setattr(many, "silent_processes", ThreadPool)
    monkeypatch.setattr(many, "version", lambda package: f"of {package}")
    monkeypatch.setitem(sys.modules, "elkai", SimpleNamespace(Coordinates2D=_Backwards))
    variants = ["population=20", "algorithm=ga encoding=permutation islands=1 population=2"]
    asked = request(cities=(7,), facilities=(4,), rivals=["lkh"], variant=variants)
    lkh, good, poor, *assigned = many.measure(asked)
    places = np.random.default_rng(7).integers(0, 1_000_000, (6, 7, 2)).astype(float)
    orders = np.array([(0, *each) for each in permutations(range(1, 7))])
    problems = [islands.tsp(each, "EUC_2D") for each in places]
    best = np.array([each.costs(orders).min() for each in problems])
    backwards = np.array([each.cost(np.arange(7)) for each in problems])
    assert lkh["method"] == "lkh, elkai of elkai"
    assert [each["instances"] for each in (lkh, good, poor)] == [6, 6, 6]
    assert lkh["at_best"] == (backwards == best).mean()
    assert (lkh["as_good"], lkh["more"]) == (1, 0)
    assert (good["at_best"], good["as_good"]) == (1, 1)
    assert good["more"] == pytest.approx((best / backwards - 1).mean())
    assert poor["at_best"] < 1
    assert [(each["problem"], each["instances"]) for each in assigned] == [("4 facilities", 5)] * 2
    assert assigned[0]["as_good"] is None
    assert all(each["rate"] == each["instances"] / each["seconds"] for each in (lkh, good, poor))


@pytest.mark.slow
def test_ranks_share_the_instances(standing_ranks: StandingRanks) -> None:
    line = ["-m", "islands", "bench", "many", "--facilities", "4", "--threads", "1", "--quiet"]
    found = standing_ranks.run(2, *line, "--backend", "cpu")
    assert found.returncode == 0, found.stderr
    (row,) = [each for each in found.stdout.splitlines() if "4 facilities" in each]
    assert row.startswith("2 x CPU, 1 thread")
    assert float(row.split("facilities")[1].split()[1]) > 0
    assert row.split("facilities")[1].split()[3] == "100.0%"


CPU = "CPU, 1 thread"


def test_runs_are_compared_by_gap_and_time() -> None:
    old = [
        run_row(seed=seed, course=((1.0, 202), (8.0 + seed, 200)), limit=20.0, device="GPU")
        for seed in range(6)
    ]
    new = [
        run_row(seed=seed, course=((0.5, 201), (2.0 + seed / 8, 200)), limit=5.0)
        for seed in range(6)
    ]
    other = [run_row(method="other", seed=seed) for seed in range(6)]
    (found,) = changes(old, [*new, *other])
    # After 5 seconds, the old runs are at 1 %, the new ones at the best known value.
    gaps = [found[f"gap_{name}"] for name in ("before", "now", "difference")]
    assert (found["limit"], gaps, found["target"]) == (5, [1, 0, -1], "best known")
    assert (found["seconds_before"], found["seconds_now"]) == (10.0, 2.25)
    assert found["seconds_ratio"] == pytest.approx(10 / 2.25)
    assert (found["a"], found["devices"]) == (1.0, ["GPU", CPU])
    assert 0 < found["p"] < 0.01
    (same,) = changes(new, new)
    assert (same["gap_difference"], same["seconds_ratio"], same["p"], same["a"]) == (0, 1, 1, 0.5)


QUALITY = ["bench", "quality", "--limit", "0.1", "--seeds", "1", "--backend", "cpu"]
QUALITY += ["--threads", "1", "--quiet"]
OTHERS = (
    [*QUALITY, "--of", "demo/mkp"],
    [*QUALITY, "--of", "demo/qap", "--variant", "algorithm=ga"],
    ["bench", "topologies", "--islands", "8"],
)


@pytest.mark.slow
def test_another_measurement_is_not_overwritten(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    out = ["--out", str(tmp_path)]
    assert main([*QUALITY, "--of", "demo/qap", *out]) == 0
    before = {each.name: each.read_bytes() for each in tmp_path.iterdir()}
    for other in OTHERS:
        assert main([*other, *out]) == 2
    assert {each.name: each.read_bytes() for each in tmp_path.iterdir()} == before
    more = [word if word != "1" else "2" for word in QUALITY]
    assert main([*more, "--of", "demo/qap", *out]) == 0


@pytest.mark.parametrize(
    "file", ["run.toml", "tune.tsv", "a-seed1/run.toml", "topologies.csv", "bench.json"]
)
def test_other_work_is_not_overwritten(file: str, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    pytest.importorskip("scipy")
    path = tmp_path / file
    path.parent.mkdir(exist_ok=True)
    path.write_text("")
    for line in (OTHERS[2], ["reproduce", "jardim2021", "--backend", "cpu"]):
        assert main([*line, "--out", str(tmp_path)]) == 2
    assert [each for each in tmp_path.rglob("*") if each.is_file()] == [path]
