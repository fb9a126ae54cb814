"""Ranks that share islands, and what each of them has."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from islands.archipelago import colony
from islands.archipelago.archipelago import Archipelago
from islands.archipelago.measure import INFEASIBLE, ISLAND, NONE
from islands.archipelago.team import Trial
from islands.backends.base import Backend
from islands.migration.transport import find
from islands.parallel import Deal, World

_GENOMES = {"genes", "archive", "offered"}
_ARCHIVED = ISLAND.index("archived")


def in_teams(
    ranks: World, backend: Backend, islands: int, *, shares_all: bool = False
) -> dict[str, Any]:
    """Return the arguments of `Archipelago` with which ranks share islands as in a run."""
    deal = Deal(islands, ranks.size, shares_all)
    team = ranks.split(deal.team(ranks.rank).start) if deal.largest_team > 1 else None
    return {"world": ranks, "transport": find(ranks, backend)[0], "deal": deal, "team": team}


def copies(mine: Archipelago) -> dict[int, dict[str, NDArray[Any]]]:
    """Return the kept arrays of each island of which a rank has a copy, by its number.

    Genomes are without the memory between them.
    """
    found: dict[int, dict[str, NDArray[Any]]] = {}
    for each in mine._colonies:
        saved = each.snapshot(mine.generation, is_copied=True)
        for name in _GENOMES & saved.keys():
            saved[name] = saved[name][..., : each.encoding.size]
        for place, island in enumerate(each.held.mine):
            found[island] = {name: rows[place] for name, rows in saved.items()}
    return found


def require_copies(
    alone: dict[int, dict[str, NDArray[Any]]], found: dict[int, dict[str, NDArray[Any]]]
) -> None:
    """Require that a rank has the same bits as a single rank, where anything is defined."""
    for island, fields in found.items():
        for name, rows in fields.items():
            if name == "archive" and fields["island"][_ARCHIVED] == NONE:
                continue
            is_defined = np.ones(len(rows), bool)
            if name == "offered":
                is_defined = fields["offered_cost"] != INFEASIBLE
            one, other = rows[is_defined], alone[island][name][is_defined]
            assert one.tobytes() == other.tobytes(), (island, name)


def decide(monkeypatch: pytest.MonkeyPatch, *, shared: bool) -> None:
    """Let trials alternate for a few generations, and then share all later ones, or none."""

    class Decided(Trial):
        def is_shared(self) -> bool:
            return shared if self.is_over else self._made % 2 == 0

        def generation_ended(self) -> None:
            self._made += 1
            self.is_over = self._made >= 4

    monkeypatch.setattr(colony, "Trial", Decided)
