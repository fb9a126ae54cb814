"""The record rows that a resumed run starts with: the same as an uninterrupted run would have.

The state matters more than its records: if these are lost, the run continues without them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from islands.configuration.spec import EpochSchedule
from islands.errors import InputError
from islands.inside import inside
from islands.parallel import World
from islands.record.manifest import Manifest
from islands.record.stream import Extent, first_rows, rows_path

if TYPE_CHECKING:
    import pyarrow as pa

    from islands.record.record import Record

_DAMAGED = ".damaged"
"""The suffix for files with unreadable rows, which nothing removes."""
_NONE = Extent(0, "")

Losses = Mapping[Path, str]
"""Record files that could not be read, and why."""


@dataclass(frozen=True)
class Earlier:
    """The readable rows of one record."""

    rows: pa.Table
    losses: Losses


def earlier_rows(
    run: Path,
    kind: type[Record],
    schema: pa.Schema,
    manifest: Manifest,
    mine: range,
    schedule: EpochSchedule,
) -> Earlier:
    """Return the rows of this rank's islands up to the checkpoint."""
    import pyarrow as pa

    folder = inside(run, kind.folder)
    tables, losses = [schema.empty_table()], {}
    for rank, part in enumerate(manifest.parts):
        if part.first < mine.stop and mine.start < part.first + part.islands:
            extent = part.records.get(kind.folder, _NONE)
            try:
                tables.append(first_rows(folder, rank, manifest.start, schema, extent))
            except InputError as error:
                last = part.first + part.islands - 1
                losses[rows_path(folder, rank, manifest.start)] = (
                    f"the {kind.folder} of islands {part.first} to {last} is lost up to generation"
                    f" {manifest.moment.generation}: {error}"
                )
    table = pa.concat_tables(tables)
    island = table.column(kind.island).to_numpy()
    generation = table.column("generation").to_numpy()
    last = manifest.moment.generation - (1 if kind.describes_state else 0)
    wanted = (island >= mine.start) & (island < mine.stop) & (generation <= last)
    table = table.filter(pa.array(wanted & schedule.visits(generation)))
    # The sort is stable: the rows of each island remain in order.
    order = [("generation", "ascending"), (kind.island, "ascending")]
    return Earlier(table.sort_by(order), losses)


def shared_losses(losses: Losses, world: World) -> Losses:
    """Return the losses of all ranks; collective."""
    return {path: why for each in world.allgather(dict(losses)) for path, why in each.items()}


def set_aside(losses: Losses) -> None:
    """Rename unreadable files so that they are not overwritten."""
    for path in losses:
        if path.exists():
            number = 1
            while (aside := path.with_name(f"{path.name}{_DAMAGED}-{number}")).exists():
                number += 1
            path.rename(aside)
