"""A stop request reaches all ranks through rank 0; islands are dealt to teams of ranks."""

from itertools import chain, product

import pytest
from fakes import FakeChannel

from islands.parallel import Deal, StopNotice, blocks
from islands.testing.ranks import FakeWorld, Shared

RANKS = 4


def notice(rank: int, *, takes_threads: bool = True) -> tuple[StopNotice, FakeChannel]:
    """Return the notice of a rank, and its channel to the others."""
    world, asked = FakeWorld(rank, Shared(RANKS, [])), list[FakeChannel]()

    def channel(_tag: int, sends: dict[int, object], _receives: object) -> FakeChannel:
        asked.append(FakeChannel(sends))
        return asked[0]

    world.takes_threads = lambda: takes_threads
    world.channel = channel
    made = StopNotice(world)
    return made, asked[0] if asked else FakeChannel(())


def test_rank_0_forwards_the_request_of_another_rank_once() -> None:
    made, channel = notice(0)
    made.listen()
    assert (made.is_requested, channel.pending) == (False, set())
    channel.has_arrived = {2}
    made.listen()
    assert (made.is_requested, channel.pending) == (True, {1, 2, 3})
    channel.pending.clear()
    made.listen()
    assert channel.pending == set()


@pytest.mark.parametrize("rank", [1, 3])
def test_other_ranks_tell_rank_0_alone(rank: int) -> None:
    made, channel = notice(rank)
    made.request()
    assert (made.is_requested, channel.pending) == (True, {0})
    heard, channel = notice(rank)
    channel.has_arrived = {0}
    heard.listen()
    assert heard.is_requested


def test_without_threads_in_mpi_a_request_stays_on_its_rank() -> None:
    made, channel = notice(0, takes_threads=False)
    made.request()
    made.listen()
    assert (made.is_requested, channel.pending) == (True, set())


LARGEST_TEAM = 8
DEALS = [
    Deal(islands, ranks, shares_all)
    for islands, ranks, shares_all in product(
        range(1, 10), [*range(1, 13), 16, 17, 25], [False, True]
    )
]


def test_teams_have_all_ranks_and_all_islands() -> None:
    for deal in DEALS:
        teams = {deal.team(rank): deal.held(rank) for rank in range(deal.ranks)}
        # A rank is in its own team, and all members say the same.
        assert all(rank in deal.team(rank) for rank in range(deal.ranks)), deal
        assert all({deal.team(rank) for rank in team} == {team} for team in teams), deal
        assert all({deal.held(rank) for rank in team} == {teams[team]} for team in teams), deal
        # Both ranks and islands are divided in order.
        assert list(chain(*teams)) == list(range(deal.ranks)), deal
        assert list(chain(*teams.values())) == list(range(deal.islands)), deal
        for lengths in (list(map(len, teams)), list(map(len, teams.values()))):
            assert min(lengths) > 0, deal
            assert max(lengths) - min(lengths) <= 1, deal
            assert lengths == sorted(lengths, reverse=True), deal
        assert (deal.teams, deal.largest_team) == (len(teams), max(map(len, teams))), deal


def test_the_first_rank_of_a_team_records_and_sends() -> None:
    for deal in DEALS:
        for island in range(deal.islands):
            having = [rank for rank in range(deal.ranks) if island in deal.held(rank)]
            recording = [rank for rank in range(deal.ranks) if island in deal.recorded(rank)]
            assert recording == having[:1] == [deal.sender(island)], deal
        assert all(deal.recorded(rank) in (deal.held(rank), range(0)) for rank in range(deal.ranks))


def test_only_ranks_beyond_the_islands_or_common_work_make_teams() -> None:
    for deal in DEALS:
        if deal.shares_all:
            assert deal.teams == min(-(-deal.ranks // LARGEST_TEAM), deal.islands), deal
        elif deal.ranks <= deal.islands:
            assert deal.largest_team == 1
            for rank in range(deal.ranks):
                dealt = blocks(deal.islands, deal.ranks, rank)
                assert deal.held(rank) == deal.recorded(rank) == dealt, deal
        else:
            assert deal.teams == deal.islands, deal


@pytest.mark.parametrize(("items", "groups"), [(0, 1), (7, 1), (7, 2), (8, 3), (64, 7), (2, 5)])
def test_blocks_are_consecutive_and_differ_by_one_item(items: int, groups: int) -> None:
    found = [blocks(items, groups, group) for group in range(groups)]
    assert list(chain(*found)) == list(range(items))
    assert {len(each) for each in found} <= {items // groups, -(-items // groups)}
