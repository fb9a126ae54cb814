"""Where a run goes on: its newest checkpoint that is whole, on the same or other ranks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from islands.archipelago import Archipelago
from islands.errors import InputError
from islands.parallel import World
from islands.paths import reading
from islands.problems.base import Problem
from islands.run.checkpoint import digest, newest_first
from islands.run.epochs import Moment
from islands.run.folder import CHECKPOINTS, SETTINGS
from islands.run.manifest import Manifest, Part
from islands.run.recorder import records
from islands.run.schedule import Schedule
from islands.run.spec import RunSpec

if TYPE_CHECKING:
    import pyarrow as pa

    from islands.run.record import Record


@dataclass(frozen=True)
class Origin:
    """A checkpoint that the archipelago has taken over."""

    name: str
    moment: Moment
    earlier: Mapping[str, pa.Table]
    """The rows that each record of this rank begins with."""


def restore(
    run: Path,
    spec: RunSpec,
    problem: Problem,
    identity: str,
    world: World,
    archipelago: Archipelago,
    say: Callable[[str], None],
) -> Origin | None:
    """Restore the newest usable checkpoint, and say why newer ones are not; collective.

    Where there is none at all, there is nothing to go on from; where all are unusable, refuse.
    """
    names = world.bcast(world.agreed(lambda: newest_first(run) if world.rank == 0 else []))
    refused: list[str] = []
    for name in names:
        origin, fault = _tried(run, name, spec, problem, identity, archipelago)
        faults = [each for each in world.allgather(fault) if each is not None]
        if origin is not None and not faults:
            archipelago.meet()
            say(f"goes on from generation {origin.moment.generation}   {CHECKPOINTS}/{name}")
            return origin
        refused.append(f"{CHECKPOINTS}/{name}: {faults[0]}")
        say(f"refused {refused[-1]}")
    world.agreed(lambda: _require_one(run, refused))
    say("begins anew, as there is no checkpoint yet")
    return None


def _require_one(run: Path, refused: list[str]) -> None:
    if refused:
        raise InputError(
            f"{run}: no checkpoint can be used: {'; '.join(refused)}."
            f" Start again with: islands run --config {run / SETTINGS}"
        )


def _tried(
    run: Path,
    name: str,
    spec: RunSpec,
    problem: Problem,
    identity: str,
    archipelago: Archipelago,
) -> tuple[Origin | None, str | None]:
    checkpoint = run / CHECKPOINTS / name
    try:
        manifest = Manifest.read(checkpoint, identity)
        moment, mine = manifest.moment, archipelago.mine
        state = _joined([_part(checkpoint, *each) for each in _needed(manifest, mine)])
        kinds = {kind.folder: kind for kind in records(spec)}
        schedule = Schedule.of(spec)
        earlier = {
            folder: _earlier(run, kind, kind.schema(problem), manifest, mine, schedule)
            for folder, kind in kinds.items()
        }
        archipelago.restore(state, generation=moment.generation, migrations=manifest.migrations)
    except InputError as error:
        return None, str(error)
    return Origin(name, moment, earlier), None


def _needed(manifest: Manifest, mine: range) -> list[tuple[Part, slice]]:
    """Return the parts that hold islands of mine, with the places of these in them."""
    found = []
    for part in manifest.parts:
        first, stop = max(part.first, mine.start), min(part.first + part.islands, mine.stop)
        if first < stop:
            found.append((part, slice(first - part.first, stop - part.first)))
    if sum(place.stop - place.start for _, place in found) != len(mine):
        raise InputError(f"its files do not hold islands {mine.start} to {mine.stop - 1}")
    return found


def _part(checkpoint: Path, part: Part, place: slice) -> dict[str, NDArray[Any]]:
    path = checkpoint / part.file
    with reading(path):
        size = path.stat().st_size
    if size != part.bytes:
        raise InputError(f"{part.file}: has {size} bytes of {part.bytes}")
    if digest(path) != part.sha256:
        raise InputError(f"{part.file}: has not the content that was written")
    try:
        with np.load(path, allow_pickle=False) as arrays:
            return {name: arrays[name][place] for name in arrays.files}
    except (OSError, ValueError, BadZipFile) as error:
        raise InputError(f"{part.file}: cannot be read: {error}") from error


def _joined(parts: list[dict[str, NDArray[Any]]]) -> dict[str, NDArray[Any]]:
    if len({frozenset(part) for part in parts}) != 1:
        raise InputError("its files hold different arrays")
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def _earlier(
    run: Path,
    kind: type[Record],
    schema: pa.Schema,
    manifest: Manifest,
    mine: range,
    schedule: Schedule,
) -> pa.Table:
    """Return the rows of my islands that an uninterrupted run would have written by now."""
    import pyarrow as pa

    from islands.run.stream import first_rows

    folder = run / kind.folder
    tables = [
        first_rows(folder, rank, manifest.start, schema, part.rows.get(kind.folder, 0))
        for rank, part in enumerate(manifest.parts)
        if part.first < mine.stop and mine.start < part.first + part.islands
    ]
    table = pa.concat_tables(tables)
    island = table.column(kind.island).to_numpy()
    generation = table.column("generation").to_numpy()
    last = manifest.moment.generation - (1 if kind.is_of_now else 0)
    wanted = (island >= mine.start) & (island < mine.stop) & (generation <= last)
    table = table.filter(pa.array(wanted & schedule.visits(generation)))
    # The rows of each island are in order already, and stay so.
    return table.sort_by([("generation", "ascending"), (kind.island, "ascending")])
