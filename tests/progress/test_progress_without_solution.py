"""The progress of islands that have found no feasible solution yet."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from fakes import FakeProblem

from islands.archipelago.measure import IslandMeasure
from islands.configuration.stop import parse
from islands.display.screen import row
from islands.instances.catalogue import BestKnown
from islands.progress.progress import Moment, Progress, is_better
from islands.progress.tally import NO_SOLUTION, Tally, summarise
from islands.record.checkpoint import Manifest
from islands.run import request as request


def measured(cost: int | None, island: int, generation: int) -> IslandMeasure:
    return IslandMeasure(island, cost, 10, 0.0, 0, generation, 5)


def progress_of(*measures: IslandMeasure, before: Progress | None = None) -> Progress:
    problem = FakeProblem(BestKnown(4, "optimal", ""))
    ranks = [Tally.of([measure]) for measure in measures]
    return summarise(Tally.merged(ranks), 30, 1.5, 10, problem, before)


def test_islands_without_a_solution_do_not_hide_those_with_one() -> None:
    assert Tally.of([measured(None, 0, 0)]).best == NO_SOLUTION
    progress = progress_of(measured(None, 0, 0), measured(8, 1, 20), measured(None, 2, 0))
    assert (progress.cost, progress.island, progress.best_generation) == (8, 1, 20)
    assert progress.gap == 100.0


def test_without_a_solution_there_is_no_island() -> None:
    first = progress_of(measured(None, 0, 3), measured(None, 1, 5))
    assert (first.cost, first.island, first.best_generation, first.gap) == (None, None, 0, None)
    assert (first.mean, first.evaluations) == (1.0, 10)
    second = progress_of(measured(None, 0, 3), measured(9, 1, 25), before=first)
    assert (second.cost, second.island, second.best_generation) == (9, 1, 25)


def test_any_cost_is_better_than_none() -> None:
    for maximise in (False, True):
        assert is_better(0, None, maximise=maximise)
        assert not is_better(None, 0, maximise=maximise)
        assert not is_better(None, None, maximise=maximise)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("target=1e9", None),
        ("gap=1000%", None),
        ("best-known", None),
        ("optimum", None),
        ("stagnation=30", "no improvement for 30 generations"),
        ("stagnation=31", None),
        ("generations=30", "30 generations done"),
    ],
)
@pytest.mark.parametrize("maximise", [False, True])
def test_criteria_of_costs_are_not_satisfied(text: str, reason: str | None, maximise: bool) -> None:
    progress = replace(progress_of(measured(None, 0, 0)), maximise=maximise)
    assert parse(text).reason(progress) == reason


def test_the_table_shows_dashes_and_a_star_for_the_first_solution() -> None:
    first, second = progress_of(measured(None, 0, 0)), progress_of(measured(9, 0, 25))
    line = row(first, None)
    assert line.split()[:7] == ["30", "1.5s", "|", "-", "-", "-", "|"]
    assert len(line) == len(row(second, first))
    assert row(second, first)[0] == "*"


def test_a_manifest_stores_a_missing_cost(tmp_path: Path) -> None:
    before = progress_of(measured(None, 0, 0))
    manifest = Manifest("run", 1, 0, Moment(30, 1.5, before), ())
    manifest.write(tmp_path)
    assert Manifest.read(tmp_path, "run") == manifest
