"""The exchange of migrants among all islands: packed on the device, carried, and taken there."""

from __future__ import annotations

from typing import Any

import numpy as np

from islands.backends.arguments import Struct
from islands.backends.base import Backend, Call, Program
from islands.errors import UsageError
from islands.migration.base import TOPOLOGIES, MigrationSettings
from islands.parallel import World

_HEAD = 16
"""Bytes before the genes of a migrant: its cost, and a spare word."""


class Exchange:
    """Carries migrants between the islands of all ranks.

    On one rank they stay on the device. Between ranks they pass through host memory.
    """

    def __init__(
        self,
        settings: MigrationSettings,
        backend: Backend,
        world: World,
        *,
        islands: int,
        mine: range,
        population: int,
        kept: int,
    ) -> None:
        """Lay out buffers for `mine` of all `islands`, whose `kept` best are never replaced."""
        topology = TOPOLOGIES[settings.topology]
        # In every topology all islands receive from as many.
        self._degree = len(topology(0, islands))
        self._migrants = settings.migrants
        self._check(settings, islands, population, kept)
        self._backend, self._world = backend, world
        self._islands, self._mine = islands, mine
        self._sources = np.array([topology(island, islands) for island in mine], np.int32)
        self.active = self._degree > 0
        self.road = "none" if not self.active else "device" if world.size == 1 else "staged"
        self._before: list[Call] = []
        self._after: list[Call] = []

    def _check(self, settings: MigrationSettings, islands: int, population: int, kept: int) -> None:
        arriving, room = self._degree * settings.migrants, population - max(1, kept)
        if arriving > room:
            raise UsageError(
                f"migration {settings.topology} brings {arriving} migrants to each of {islands} "
                f"islands (migrants={settings.migrants}), but only {room} of "
                f"population={population} are not elite. "
                "Lower migrants or islands, or raise population"
            )

    def prepare(self, program: Program, archipelago: Struct, gene_bytes: int, rank: Call) -> None:
        """Bind the kernels to the archipelago's arrays; `rank` puts the islands in order again."""
        if not self.active:
            return
        row = _HEAD + gene_bytes
        self._emigrants = self._backend.empty((len(self._mine), self._migrants * row), np.uint8)
        self._immigrants = self._emigrants
        if self._world.size > 1:
            self._immigrants = self._backend.empty((self._islands, self._migrants * row), np.uint8)
        sources = self._backend.upload(self._sources)
        migrants, degree = np.int32(self._migrants), np.int32(self._degree)
        self._before = [
            self._call(program, "migrate_pack", archipelago, migrants, self._emigrants, each=1)
        ]
        arguments = (archipelago, migrants, degree, sources, self._immigrants)
        self._after = [self._call(program, "migrate_take", *arguments, each=self._degree), rank]

    def _call(self, program: Program, kernel: str, *arguments: Any, each: int) -> Call:
        blocks = len(self._mine) * self._migrants * each
        return self._backend.call(program, kernel, *arguments, blocks=blocks)

    def migrate(self) -> None:
        """Carry the migrants of all islands; collective over the ranks."""
        if not self.active:
            return
        self._backend.run(self._before)
        if self._world.size > 1:
            arrived = self._world.allgather_rows(self._backend.download(self._emigrants))
            self._backend.upload(arrived, self._immigrants)
        self._backend.run(self._after)
