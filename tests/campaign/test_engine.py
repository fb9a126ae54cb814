"""Cells are dealt to ranks; a signal to one ends the work on all, and loses no complete value."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path

import pytest

from islands.campaign import engine
from islands.campaign.engine import Campaign
from islands.campaign.ledger import Ledger
from islands.errors import RunError, Suspended, UsageError
from islands.parallel import World
from islands.run.signals import INTERRUPT
from islands.testing.ranks import on_ranks

SIGTERM = 2


@pytest.mark.parametrize(
    ("number", "raised"), [(INTERRUPT, KeyboardInterrupt), (SIGTERM, Suspended)]
)
def test_a_signal_after_complete_work_is_raised_before_the_next_piece(
    number: int, raised: type[BaseException], monkeypatch: pytest.MonkeyPatch
) -> None:
    heard = 0
    monkeypatch.setattr(engine, "received", lambda: heard)

    def interrupted(numbers: range) -> list[int]:
        nonlocal heard
        heard = number
        return list(numbers)

    def work(world: World) -> tuple[list[list[int]], int]:
        mine, done = Campaign(world), list[int]()
        assert mine.divided(3, list) == [[0], [1, 2]]
        complete = mine.divided(4, interrupted)
        with pytest.raises(raised):
            mine.divided(2, lambda _: done.append(1))
        with pytest.raises(raised):
            # Those of another table.
            Campaign(world).on_first(2, lambda _: done.append(1))
        return complete, len(done)

    assert on_ranks(2, work) == [([[0, 1], [2, 3]], 0)] * 2


def dealt_on(
    world: World,
    cells: Sequence[int],
    make: Callable[[int], dict[str, int]],
    is_wanted: Callable[[int], bool] = lambda _: True,
    campaign: Campaign | None = None,
) -> Iterator[tuple[int, object]]:
    """Yield each cell with its value, or with the message of its refusal."""
    campaign = campaign or Campaign(world)
    dealt = campaign.dealt(
        cells, lambda cell: {"cell": cell}, make, "cell {}".format, is_wanted=is_wanted
    )
    for each in dealt:
        yield each.cell, str(each.refusal) if each.made is None else each.made["value"]


def squared(cell: int) -> dict[str, int]:
    if cell == 3:
        raise UsageError("three is refused")
    return {"value": cell * cell}


@pytest.mark.parametrize("ranks", [1, 3])
def test_cells_have_the_same_results_and_order_on_any_number_of_ranks(
    ranks: int, tmp_path: Path
) -> None:
    wanted = [(0, 0), (1, 1), (2, 4), (3, "three is refused"), (4, 16)]
    made = set[tuple[int, int]]()

    def work(world: World) -> list[tuple[int, object]]:
        def make(cell: int) -> dict[str, int]:
            made.add((world.rank, cell))
            return squared(cell)

        campaign = Campaign(world)
        campaign.open(tmp_path)
        found = [*dealt_on(world, range(5), make, campaign=campaign)]
        campaign.close()
        return found

    assert on_ranks(ranks, work) == [wanted] * ranks
    assert sorted(cell for _, cell in made) == [0, 1, 2, 3, 4]
    assert {rank for rank, _ in made} == {*range(ranks)}
    # The ledger has them in order, and nothing but the refused cell is made again.
    with closing(Ledger(tmp_path)) as ledger:
        assert [asked["cell"] for asked, _ in ledger.entries()] == [0, 1, 2, 4]
    made.clear()
    assert on_ranks(1, work) == [wanted]
    assert made == {(0, 3)}


@pytest.mark.parametrize("ranks", [1, 3])
def test_cells_that_results_make_superfluous_are_left_out(ranks: int) -> None:
    def work(world: World) -> list[tuple[int, object]]:
        """Race: one cell of each ten decides whether the others are made."""
        lost = set[int]()
        found = list[tuple[int, object]]()
        for cell, value in dealt_on(
            world,
            [10, 20, 30, 11, 21, 31],
            lambda cell: {"value": cell},
            lambda cell: cell // 10 not in lost,
        ):
            found.append((cell, value))
            if cell == 20:
                lost.add(2)
        return found

    assert on_ranks(ranks, work) == [[(10, 10), (20, 20), (30, 30), (11, 11), (31, 31)]] * ranks


def test_an_error_of_one_rank_is_that_of_all_and_keeps_the_other_results(tmp_path: Path) -> None:
    def make(cell: int) -> dict[str, int]:
        if cell == 1:
            raise RunError("the check failed")
        return squared(cell)

    def work(world: World) -> bool:
        campaign = Campaign(world)
        campaign.open(tmp_path)
        with pytest.raises(RunError, match=r"^the check failed$"):
            list(dealt_on(world, range(3), make, campaign=campaign))
        campaign.close()
        return True

    assert on_ranks(2, work) == [True] * 2
    with closing(Ledger(tmp_path)) as ledger:
        assert [asked["cell"] for asked, _ in ledger.entries()] == [0]


@pytest.mark.parametrize("raised", [KeyboardInterrupt, Suspended])
def test_a_signal_to_one_rank_keeps_the_results_of_the_others(
    raised: type[BaseException], tmp_path: Path
) -> None:
    def make(cell: int) -> dict[str, int]:
        if cell == 3:
            raise raised
        return {"value": cell}

    def work(world: World) -> bool:
        campaign = Campaign(world)
        campaign.open(tmp_path)
        with pytest.raises(raised):
            list(dealt_on(world, range(6), make, campaign=campaign))
        campaign.close()
        return True

    assert on_ranks(2, work) == [True, True]
    with closing(Ledger(tmp_path)) as ledger:
        assert [asked["cell"] for asked, _ in ledger.entries()] == [0, 1, 2]
