"""Runs of differential evolution and their NumPy reference."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numbers_for_tests import NUMBERS
from numpy_de import NumpyDe
from numpy_improvers import NumpyLocalSearch
from one_colony import one_colony
from problems_for_tests import cities, facilities

from islands.algorithms.de import DeSettings
from islands.archipelago.archipelago import Archipelago
from islands.backends.base import Backend
from islands.improvers import ImproverSettings
from islands.migration import MigrationSettings
from islands.parallel import World
from islands.problems.base import Problem

PROBLEMS: dict[str, Callable[[int, Path], Problem]] = {
    "tsp": cities,
    "qap": lambda n, _: facilities(n, symmetric="neither", diagonal=True),
}


def both(
    backend: Backend,
    problem: Problem,
    *,
    topology: str = "none",
    migrants: int = 2,
    search: NumpyLocalSearch | None = None,
    warm_start: Any = tuple,
    **changes: Any,
) -> tuple[Archipelago, NumpyDe]:
    """Return a new archipelago and the reference."""
    rest = {"population": 20, "islands": 3, "seed": 5}
    rest |= {name: changes.pop(name) for name in list(changes) if name in rest}
    settings = DeSettings.build(changes)
    encoding = problem.solution_kind if problem.solution_kind in NUMBERS else "keys"
    improver = {"name": search.name, "rate": search.rate, "steps": 1} if search else {}
    mine = one_colony(
        problem=problem,
        algorithm="de",
        encoding=encoding,
        settings=settings,
        migration=MigrationSettings.build({"topology": topology, "migrants": migrants}),
        backend=backend,
        world=World(),
        improver=ImproverSettings.build(improver),
        warm_start=warm_start,
        **rest,
    )
    mine.start()
    reference = NumpyDe(
        problem.size, problem.costs, settings, assigns=problem.assigns, search=search,
        bounded=mine._encodings[0] if mine._encodings[0].bounded else None, **rest,
    )  # fmt: skip
    return mine, reference


def assert_same(mine: Archipelago, reference: NumpyDe) -> None:
    saved = mine.snapshot()
    assert saved["cost"].tolist() == [cost.tolist() for cost in reference.cost]
    assert (saved["genes"][:, :, : reference.n] == np.stack(reference.keys)).all()
    assert [measure.evaluations for measure in mine.measure()] == reference.calls
    if reference.adapts:
        rates = np.array(reference.rates, np.float32)
        assert (np.stack([saved["weight"], saved["crossover"]], axis=2) == rates).all()
