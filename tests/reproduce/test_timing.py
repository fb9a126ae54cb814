from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from islands.parallel import World
from islands.reproduce.cells import Scaled
from islands.reproduce.experiment import Experiment
from islands.reproduce.timing import (
    cpu_cells,
    median_run,
    paper_seconds,
    scaled_facts,
    speedup_facts,
    time_columns,
    time_curves,
)
from islands.tables import line


def took(seconds: float, generations: int = 1000) -> Any:
    return SimpleNamespace(seconds=seconds, generations=generations)


class Fake(Experiment):
    """Its CPU computes 499 generations in 12 s with one thread before the limit."""

    def run(self, problem: Any, seed: int = 1, **options: Any) -> Any:
        assert options["backend"] == "cpu"
        assert options["stop"] == ["generations=1000", "seconds=2"]
        return took(12.0 / options["threads"], 499)


@pytest.fixture
def experiment() -> Experiment:
    return Fake("xavier2019", 1000, 1000, "cuda", "a GPU", (1, 4), None, World())


def test_a_complete_run_is_not_scaled(experiment: Experiment) -> None:
    assert paper_seconds(took(3.5), experiment) == 3.5
    assert not isinstance(paper_seconds(took(3.5), experiment), Scaled)


def test_a_shorter_run_is_scaled_by_its_generations(experiment: Experiment) -> None:
    # 91 of the paper's 1001 generations are computed, including generation 0.
    seconds = paper_seconds(took(9.1, 90), experiment)
    assert isinstance(seconds, Scaled)
    assert seconds == pytest.approx(100.1)


def test_the_median_of_several_runs_counts(experiment: Experiment) -> None:
    three, four = [took(3), took(1), took(2)], [took(4), took(3), took(1), took(2)]
    assert median_run(three, experiment).seconds == 2
    assert median_run(four, experiment).seconds == 2


def test_the_columns_of_the_cpu(experiment: Experiment) -> None:
    row = {"seconds": 0.5, "generations": 1000, **cpu_cells(experiment, None, 0.5)}  # type: ignore[arg-type]
    assert set(row) == {column.name for column in time_columns((1, 4))}
    assert row["cpu_4_seconds"] == pytest.approx(3 * 1001 / 500)
    assert row["speedup_cpu_4"] == pytest.approx(3 * 1001 / 500 / 0.5)
    assert row["cpu_4_generations"] == 499
    assert line(time_columns((1, 4)), row).split() == ["0.500", "~24.02", "~6.01", "48.0", "12.0"]
    assert list(time_curves(experiment)) == ["seconds", "cpu_1_seconds", "cpu_4_seconds"]


def test_the_mean_speedup_is_the_mean_of_ratios(experiment: Experiment) -> None:
    pytest.importorskip("scipy")
    rows = [
        {"seconds": 1.0, "cpu_1_seconds": 10.0, "cpu_4_seconds": Scaled(5.0)},
        {"seconds": 2.0, "cpu_1_seconds": 60.0, "cpu_4_seconds": Scaled(6.0)},
    ]
    facts = {fact.name: fact for fact in speedup_facts(rows, experiment, {4: 1.28})}
    assert facts["mean_speedup_cpu_1"].value == 20.0
    assert facts["mean_speedup_cpu_4"].value == 4.0
    assert facts["mean_speedup_cpu_4"].sentence.endswith("brkgaAPI with 4 threads: 1.28")
    assert "brkgaAPI" not in facts["mean_speedup_cpu_1"].sentence
    assert facts["wilcoxon_p_cpu_1"].value == 0.5
    assert "scaled_cells" not in facts  # once for each table
    assert [fact.value for fact in scaled_facts(rows, experiment)] == [2]
