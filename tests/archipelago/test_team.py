"""Ranks that share islands have the bits of a single rank; trials decide if sharing is faster."""

import threading
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from colonies_for_tests import copies, decide, require_copies
from small_runs import RUNS, evolve, made

from islands.algorithms.base import TeamExchanges
from islands.algorithms.brkga import Brkga, BrkgaSettings
from islands.algorithms.de import De, DeSettings
from islands.algorithms.ga import Ga, GaSettings
from islands.archipelago import team
from islands.archipelago.measure import ISLAND
from islands.archipelago.team import SlotExchange, Trial, divided
from islands.backends import choose
from islands.backends.cpu import CpuBackend
from islands.parallel import World
from islands.testing.ranks import on_ranks

ENDED = ISLAND.index("ended")
SMALL = [name for name in RUNS if name != "many cities"]
UNDIVIDED = [name for name in RUNS if "growth" in name]
"""Algorithms whose islands are not shared: the first member does all the work."""


def on(ranks: World, name: str, **given: Any) -> Any:
    return made(name, choose("cpu", 1), ranks, **given)


ONE: dict[str, Any] = {"islands": 1, "topology": "none"}


def run(name: str, ranks: World, **given: Any) -> tuple[Any, Any, Any, int]:
    """Return copies, digests, measures and evaluations after some generations and migrations."""
    mine = on(ranks, name, **given)
    evolve(name, mine)
    measures = mine.measure()
    return copies(mine), mine.digests(), measures, sum(each.evaluations for each in measures)


def require_bits(alone: Any, found: list[Any], has_copy: Callable[[Any], bool]) -> None:
    """Require the digests and measures of one rank, and its copies on the ranks that have them."""
    assert [each for rank in found for each in rank[1]] == alone[1]
    assert [each for rank in found for each in rank[2]] == alone[2]
    for rank in filter(has_copy, found):
        require_copies(alone[0], rank[0])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "is_shared"),
    [*((name, True) for name in SMALL), *((name, False) for name in SMALL[::4])],
)
def test_all_members_have_the_bits_of_one_rank(
    name: str, is_shared: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    decide(monkeypatch, shared=is_shared)
    alone, shares = run(name, World()), is_shared and name not in UNDIVIDED
    for size in (4, 7):
        found = on_ranks(size, lambda ranks: run(name, ranks))
        require_bits(alone, found, lambda rank: shares or rank[1])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("islands", "population", "sizes"),
    # Members without a pair of parents, and two teams.
    [(1, 8, (2, 5)), (2, 3, (5, 8)), (3, 8, (2, 10))],
)
def test_tours_that_all_ranks_share_begin_again_together(
    islands: int, population: int, sizes: tuple[int, ...]
) -> None:
    given = {"islands": islands, "population": population, "shares_all": True}
    alone = run("eax", World(), **given)
    assert all(fields["island"][ENDED] > 0 for fields in alone[0].values())
    for size in sizes:
        found = on_ranks(size, lambda ranks: run("eax", ranks, **given))
        require_bits(alone, found, lambda _: True)


def test_members_exchange_no_memory_that_nobody_has_written(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    empty = CpuBackend.empty

    def used(backend: CpuBackend, shape: tuple[int, ...], dtype: Any) -> Any:
        found = empty(backend, shape, dtype)  # as of another program
        found.reshape(-1).view(np.uint8)[:] = 0xA5
        return found

    monkeypatch.setattr(CpuBackend, "empty", used)
    alone = on(World(), "eax", **ONE)
    alone.start()
    before = alone.snapshot()
    sent, original = list[Any](), SlotExchange.run

    def noted(sharing: SlotExchange, step: TeamExchanges, generation: int) -> None:
        state, team = sharing._state, sharing._team
        mine = (team.first if generation == 0 else team.slots_by_member)[team.world.rank]
        for each in (*step.fields, *(step.renewed or ())):
            for rows in state.part(each, generation):
                sent.append(np.ascontiguousarray(rows[mine.start : mine.stop]).view(np.uint8))
        original(sharing, step, generation)

    monkeypatch.setattr(SlotExchange, "run", noted)

    def one(ranks: World) -> None:
        mine = on(ranks, "eax", **ONE)
        mine.restore(before, generation=0, migrations=0)
        mine.abandon()
        assert not mine.attempt(1)  # so that nothing is made

    on_ranks(2, one)
    assert sent
    assert not any((each == 0xA5).all() for each in sent if each.size)


@pytest.mark.slow
@pytest.mark.parametrize("by", [0, 1, 2])
@pytest.mark.parametrize("name", ["tsp", "eax", "memetic", "tempering", "swarm", "tabu", "order"])
def test_a_generation_that_one_member_abandons_is_undone_by_all(name: str, by: int) -> None:
    def one(ranks: World) -> tuple[Any, Any]:
        disturbed, straight = (on(ranks, name, **ONE) for _ in range(2))
        for mine in (disturbed, straight):
            mine.start()
            mine.advance(2)
        for generations in (1, 3):
            before = copies(disturbed)
            if ranks.rank == by:
                disturbed.abandon()
            assert not disturbed.attempt(generations)
            disturbed.undo()
            require_copies(before, copies(disturbed))
        assert disturbed.attempt(2)
        for mine in (disturbed, straight):
            mine.advance(3 if mine is disturbed else 5)
        return copies(disturbed), copies(straight)

    for disturbed, straight in on_ranks(3, one):
        require_copies(straight, disturbed)


@pytest.mark.slow
@pytest.mark.parametrize("by", [0, 2])
@pytest.mark.parametrize("name", ["tsp", "eax", "memetic", "tempering"])
def test_all_members_have_the_same_part_of_an_abandoned_generation_0(name: str, by: int) -> None:
    def one(ranks: World) -> tuple[bool, int, int, bytes]:
        mine = on(ranks, name, **ONE)
        mine.may_be_partial = True
        if ranks.rank == by:
            mine.abandon()
        mine.start()
        ((_, fields),) = copies(mine).items()
        complete = fields["calls"] > 0
        worst = fields["cost"][complete].max()
        assert complete[0]
        assert (fields["cost"][~complete] > worst).all()
        return mine.is_partial, int(complete.sum()), len(complete), fields["cost"].tobytes()

    found = on_ranks(3, one)
    assert len({*found}) == 1
    is_partial, complete, population, _ = found[0]
    assert is_partial
    assert complete < population


POPULATION = 256
STEADY = Ga(GaSettings(), POPULATION)
FEW = Ga(GaSettings(children=10), POPULATION)
GENERATIONAL = Ga(GaSettings(replacement="generational", elite=16), POPULATION)
BRKGA = Brkga(BrkgaSettings(), POPULATION)
DE = De(DeSettings(), POPULATION)


@pytest.mark.parametrize("members", [1, 2, 3, 4, 7])
@pytest.mark.parametrize(
    ("algorithm", "children"),
    [(STEADY, 128), (FEW, 10), (GENERATIONAL, 240), (BRKGA, POPULATION - BRKGA.kept()), (DE, 256)],
)
def test_members_make_equally_many_children(algorithm: Any, children: int, members: int) -> None:
    slots = divided(POPULATION, members, algorithm.copied())
    assert [slot for each in slots for slot in each] == list(range(POPULATION))
    # An individual is a child if its slot is not one of the first, which are only copied.
    made = [sum(slot >= POPULATION - children for slot in each) for each in slots]
    assert sum(made) == children
    assert max(made) - min(made) <= 1


LONGEST = 100
"""Generations after which a trial must be over."""


class Machine(threading.local):
    """The clock of each rank, and the time that its device still needs for pending launches."""

    now = 0.0
    launched = 0.0

    def synchronise(self) -> None:
        self.now, self.launched = self.now + self.launched, 0.0

    def perf_counter(self) -> float:
        return self.now


def tried(
    monkeypatch: pytest.MonkeyPatch, seconds: dict[int, dict[bool, float]], first: float = 0.0
) -> list[tuple[list[bool], Trial]]:
    """Run until the trials are over; return which generations each rank has shared.

    `seconds` are those of a generation by rank, shared or not; the first one of a turn takes
    `first` more.
    """
    machine = Machine()
    monkeypatch.setattr(team, "time", machine)

    def one(ranks: World) -> tuple[list[bool], Trial]:
        of_rank: Any = SimpleNamespace(world=ranks, backend=machine)
        trial, shared = Trial(of_rank), list[bool]()
        while not trial.is_over and len(shared) < LONGEST:
            assert not trial.is_alone
            shared.append(trial.is_shared())
            is_new = shared[-2:-1] != shared[-1:]
            machine.launched += seconds[ranks.rank][shared[-1]] + (first if is_new else 0.0)
            if shared[-1]:
                machine.synchronise()  # as an exchange does
            trial.generation_ended()
        return shared, trial

    return on_ranks(len(seconds), one)


@pytest.mark.parametrize(
    ("seconds", "is_shared"),
    [
        ({0: {True: 1.0, False: 1.1}, 1: {True: 1.0, False: 1.1}}, True),
        ({0: {True: 1.1, False: 1.0}, 1: {True: 1.1, False: 1.0}}, False),
        # The slowest rank counts.
        ({0: {True: 1.0, False: 1.1}, 1: {True: 1.2, False: 1.0}}, False),
        ({0: {True: 1.0, False: 0.9}, 1: {True: 0.8, False: 2.0}, 2: {True: 1, False: 1}}, True),
    ],
)
def test_all_ranks_decide_for_what_is_faster_on_the_slowest(
    monkeypatch: pytest.MonkeyPatch, seconds: dict[int, dict[bool, float]], is_shared: bool
) -> None:
    found = tried(monkeypatch, seconds)
    for shared, trial in found:
        assert trial.is_over
        assert shared == found[0][0], "ranks must exchange in the same generations"
        assert {*shared} == {True, False}
        assert trial.is_shared() == is_shared
        assert trial.is_alone != is_shared
        for way in (True, False):
            slowest = max(each[way] for each in seconds.values())
            assert trial.seconds_of(is_shared=way) == pytest.approx(slowest)


def test_the_first_generation_of_a_turn_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    one = {True: 0.5, False: 1.0}
    ((_, trial),) = tried(monkeypatch, {0: one}, first=50.0)
    for way, seconds in one.items():
        assert trial.seconds_of(is_shared=way) == pytest.approx(seconds)
