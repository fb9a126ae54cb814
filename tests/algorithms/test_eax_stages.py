"""Edge assembly crossover: the ends of phases, compared with the rules in Python."""

from __future__ import annotations

from dataclasses import astuple, dataclass
from typing import Any

import numpy as np
import pytest
from eax_for_tests import BLOCK, DONE, SINGLE, field, placed, tours

from islands.archipelago.measure import ISLAND
from islands.backends.base import Backend

NO_COST = np.iinfo(np.int64).max
POPULATION = 101
PLACES = placed(np.random.default_rng(1).integers(0, 100, (8, 2)))


@dataclass
class Stage:
    phase: int
    since: int
    idle: int
    best: int
    best_generation: int
    sleeps: int
    inherited: int
    failures: int


def following(last: Stage, made: int, before: Any, after: Any) -> Stage:
    """Return the stage after the generation `made`."""
    stage = Stage(*astuple(last))
    begins = stage.phase == DONE
    if begins:
        heir = int(after[0])
        failures = 0 if heir < last.inherited else last.failures + 1
        sleeps = failures == 2
        stage = Stage(SINGLE, made, 0, NO_COST, made, sleeps, heir, 0 if sleeps else failures)
    awake = slice(stage.sleeps, None)
    better = int((after[awake] < before[awake]).sum())
    if (best := int(after[awake].min())) < stage.best:
        stage.best, stage.best_generation = best, made
    # Fewer than a third of the population in 3 generations, or than a fiftieth in 5.
    share, most = (3, 3) if stage.phase == SINGLE else (50, 5)
    stage.idle = stage.idle + 1 if better < len(after) / share else 0
    lasted = made - stage.since
    is_idle = stage.idle >= most and (stage.phase == BLOCK or lasted >= 20)
    is_still = made - stage.best_generation >= 30 + lasted // 10
    if not begins and (is_idle or is_still):
        wakes = stage.phase == BLOCK and stage.sleeps
        stage.phase = SINGLE if wakes else stage.phase + 1
        stage.since, stage.best_generation, stage.idle = made, made, 0
        if wakes:
            stage.sleeps, stage.best = 0, NO_COST
    return stage


@pytest.mark.parametrize("generation", [0, pytest.param(3, marks=pytest.mark.slow)])
def test_phases_end_by_the_rules(generation: int, backend: Backend) -> None:
    random, islands, made = np.random.default_rng(generation), 1500, generation + 1
    mine = tours(backend, PLACES, population=POPULATION, islands=islands, children=1)
    mine.advance(generation)
    colony = mine._colonies[0]
    before = random.integers(1000, 2000, (islands, POPULATION))
    # Counts of better individuals near the limits, which are 101 / 3 and 101 / 50.
    counts = random.choice([0, 2, 3, 4, 33, 34, 35, 101], islands)
    is_better = random.random((islands, POPULATION)).argsort(axis=1) < counts[:, np.newaxis]
    after = before - is_better * random.integers(1, 5, (islands, POPULATION))
    lasted = random.choice([0, 1, 9, 10, 18, 19, 20, 21, 99, 100], islands)
    still = 30 + lasted // 10 - random.integers(-1, 3, islands)
    stages = [
        Stage(
            phase=int(random.integers(3)),
            since=made - int(lasted[i]),
            idle=int(random.integers(6)),
            best=int(after[i].min()) + int(random.integers(-1, 2)),
            best_generation=made - int(still[i]),
            sleeps=int(random.integers(2)),
            inherited=int(after[i, 0]) + int(random.integers(-1, 2)),
            failures=int(random.integers(2)),
        )
        for i in range(islands)
    ]
    saved = field(mine, "stage")
    saved[:] = [astuple(each) for each in stages]
    backend.upload(saved, colony.state.arrays["stage"])
    backend.upload(before, colony.state.part("cost", generation))
    backend.upload(after, colony.state.part("cost", made))
    ended = ISLAND.index("ended")
    earlier = field(mine, "island")[:, ended]
    backend.run(colony._launches.generation[0][3:4])
    found = field(mine, "stage").tolist()
    rules = zip(stages, before, after, strict=True)
    assert found == [list(astuple(following(last, made, a, b))) for last, a, b in rules]
    more = field(mine, "island")[:, ended] - earlier
    now_done = [phase == DONE for phase, *_ in found]
    assert more.tolist() == [
        is_done and last.phase != DONE for is_done, last in zip(now_done, stages, strict=True)
    ]
    assert 0 < more.sum() < islands
