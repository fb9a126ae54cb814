"""Archipelagos of one colony or of several, and of ranks that share islands."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from islands.algorithms import ALGORITHMS
from islands.archipelago import colony
from islands.archipelago.archipelago import Archipelago
from islands.archipelago.colonies import ColonySpec
from islands.archipelago.measure import INFEASIBLE, ISLAND, NONE
from islands.archipelago.team import Trial
from islands.backends import choose
from islands.backends.base import Backend
from islands.configuration.request import Request
from islands.configuration.resolve import resolve
from islands.configuration.resolved import Resolved
from islands.engine.build import islands_of
from islands.improvers import ImproverSettings
from islands.migration import MigrationSettings, Ranks
from islands.migration.transport import find
from islands.parallel import Deal, World
from islands.problems.base import Problem
from islands.settings import Settings

KEYS = "islands=2 algorithm=brkga population=20 elite=0.2 mutants=0.2"
ORDERS = "islands=3 algorithm=ga encoding=permutation population=16"
FREE = "islands=2 algorithm=de population=12 adaptation=jde"
SMALL: dict[str, Any] = {"stop": "generations=9", "improver": "none", "migrants": 2}


def resolved_of(problem: Problem, *colonies: str, **options: Any) -> Resolved:
    own = {"colonies": list(colonies)} if colonies else {}
    return resolve(Request.of({**SMALL, "migration": "ring", **own, **options}), problem)


def made(
    problem: Problem, *colonies: str, backend: Backend | None = None,
    ranks: World | None = None, **options: Any,
) -> Archipelago:  # fmt: skip
    ranks, backend = ranks or World(), backend or choose("cpu", 1)
    resolved = resolved_of(problem, *colonies, **options)
    return islands_of(resolved, ranks, backend, transport=find(ranks, backend)[0])


def evolved(archipelago: Archipelago, steps: int = 4) -> Archipelago:
    archipelago.start()
    for _ in range(steps):
        archipelago.advance(3)
        archipelago.migrate()
    return archipelago


def require_exact(archipelago: Archipelago, problem: Problem) -> int:
    """Require that all individuals have the cost of their solution; return their number."""
    saved, count = archipelago.snapshot(), 0
    for number, encoding in enumerate(archipelago._encodings):
        if f"{number}.genes" not in saved:  # on other ranks
            continue
        for genes, cost in zip(saved[f"{number}.genes"], saved[f"{number}.cost"], strict=True):
            solutions = problem.layout.from_device(encoding.decode(genes))
            assert encoding.holds(genes)
            assert np.array_equal(problem.evaluation.device_costs(solutions), cost)
            count += len(cost)
    return count


def one_colony(
    *,
    algorithm: str,
    encoding: str,
    settings: Settings,
    population: int,
    islands: int,
    improver: ImproverSettings | None = None,
    decoding: str = "",
    **others: Any,
) -> Archipelago:
    """Return the islands of this rank, by default alone; pass `others` to `Archipelago`."""
    none = MigrationSettings.build({"topology": "none"})
    others = {"migration": none, "ranks": Ranks(World(), Deal(islands, 1)), **others}
    names = algorithm, encoding
    colony = ColonySpec(
        islands, population, *names, settings, improver or ImproverSettings(), decoding
    )
    return Archipelago(colonies=[colony], **others)


def begun(
    algorithm: str,
    encoding: str,
    changes: dict[str, Any],
    *,
    sizes: dict[str, int],
    search: Mapping[str, Any] | None = None,
    given: Iterable[Any] = (),
    migration: Mapping[str, Any] | None = None,
    **others: Any,
) -> tuple[Archipelago, Any, dict[str, int]]:
    """Return islands that have started, their settings and their sizes; the latter leave `changes`.

    `search` has the settings of the improver, and `given` solutions to start from.
    """
    sizes = sizes | {name: changes.pop(name) for name in sizes if name in changes}
    settings = ALGORITHMS[algorithm].Settings.build(changes)
    others.setdefault("warm_start", lambda: [np.array(each, np.int64) for each in given])
    mine = one_colony(
        algorithm=algorithm, encoding=encoding, settings=settings,
        improver=ImproverSettings.build(search or {}),
        migration=MigrationSettings.build(migration or {"topology": "none"}), **sizes, **others,
    )  # fmt: skip
    mine.start()
    return mine, settings, sizes


_GENOMES = {"genes", "archive", "offered"}
_ARCHIVED = ISLAND.index("archived")


def in_teams(
    world: World,
    backend: Backend,
    islands: int,
    *,
    shares_all: bool = False,
    asynchronous: bool = False,
) -> Ranks:
    """Return the ranks of a run, which share islands if there are fewer islands."""
    deal = Deal(islands, world.size, shares_all)
    team = world.split(deal.team(world.rank).start) if deal.largest_team > 1 else None
    return Ranks(world, deal, find(world, backend)[0], team, asynchronous)


def copies(mine: Archipelago) -> dict[int, dict[str, NDArray[Any]]]:
    """Return the kept arrays of each island of which a rank has a copy, by its number.

    Genomes are without the memory between them.
    """
    found: dict[int, dict[str, NDArray[Any]]] = {}
    for each in mine._colonies:
        saved = each.snapshot(mine.generation, is_copied=True)
        for name in _GENOMES & saved.keys():
            saved[name] = saved[name][..., : each.encoding.size]
        for place, island in enumerate(each.held.numbers):
            found[island] = {name: rows[place] for name, rows in saved.items()}
    return found


def require_copies(
    alone: dict[int, dict[str, NDArray[Any]]], found: dict[int, dict[str, NDArray[Any]]]
) -> None:
    """Require that all defined values of a rank are bit-identical to those of a single rank."""
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
