"""Fields that travel in the halo: each rank reads those of its neighbours' individuals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from test_traits import ISLANDS, TRAITS, made

from islands.algorithms import ALGORITHMS
from islands.algorithms.base import Shape
from islands.algorithms.cellular import Cellular, CellularSettings
from islands.backends import choose
from islands.backends.state import Field
from islands.migration import Migrant
from islands.parallel import World
from islands.testing.ranks import on_ranks


class TaggedCellular(Cellular):
    """The cellular algorithm with fields that its kernels do not use."""

    def fields(self, shape: Shape) -> dict[str, Field]:
        return super().fields(shape) | TRAITS


@pytest.mark.parametrize("size", [1, 2, 3, 5, 6, 12])
def test_all_ranks_of_a_team_read_the_ends_of_the_same_neighbours(
    size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(ALGORITHMS, "tagged", TaggedCellular)
    reach = 2

    def drawn(island: int, name: str, like: NDArray[Any]) -> NDArray[Any]:
        of = np.random.default_rng([island, *name.encode()])
        return of.integers(0, 250, like.shape[1:]).astype(like.dtype)

    def one(ranks: World) -> tuple[range, NDArray[np.uint8], Migrant]:
        islands = made(
            choose("cpu", 1), {"topology": "none"}, ranks=ranks, algorithm="tagged",
            settings=CellularSettings(halo=True, neighbours=2 * reach),
        )  # fmt: skip
        (colony,) = islands._colonies
        saved = colony.snapshot(0, is_copied=True)
        for name in TRAITS:
            rows = [drawn(island, name, saved[name]) for island in islands.held]
            saved[name] = np.stack(rows)
        islands.restore(saved, generation=0, migrations=0)
        islands.renew_halo()
        assert colony.halo is not None
        return islands.held, islands.backend.download(colony.halo.adjacent), colony.migrant

    for held, seen, migrant in on_ranks(size, one):
        for name, offset in migrant.offsets.items():
            like = np.zeros((1, *TRAITS[name].shape), TRAITS[name].dtype)
            near = held.start - 1, held.stop
            before, after = (drawn(island % ISLANDS, name, like) for island in near)
            place = slice(offset, offset + TRAITS[name].entry_bytes)
            carried = seen.reshape(2 * reach, migrant.bytes)[:, place]
            assert carried.tobytes() == before[-reach:].tobytes() + after[:reach].tobytes()
