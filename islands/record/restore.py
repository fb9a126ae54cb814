"""Find and restore the newest valid checkpoint, on any number of ranks.

Its state matters more than its records: if these are lost, the run continues without them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from islands.archipelago.archipelago import Archipelago
from islands.configuration.spec import RunSpec, Visits
from islands.errors import InputError
from islands.inside import inside, opened
from islands.parallel import World
from islands.paths import reading
from islands.problems.base import Problem
from islands.progress.progress import Moment
from islands.record.checkpoint import Manifest, RankFile, digest, newest_first
from islands.record.files import arrays_file
from islands.record.folder import CHECKPOINTS, SETTINGS
from islands.record.records import records
from islands.record.stream import Extent, first_rows, require_dense, rows_path
from islands.untrusted import MISMATCH, parsing

if TYPE_CHECKING:
    import pyarrow as pa

    from islands.record.records import Record


@dataclass(frozen=True)
class Origin:
    """The checkpoint that was restored."""

    name: str
    moment: Moment
    earlier: Mapping[str, pa.Table]
    """The initial rows of each record of this rank."""
    losses: Losses
    """The losses of all ranks' records."""


def restore(
    run: Path,
    spec: RunSpec,
    problem: Problem,
    identity: str,
    world: World,
    archipelago: Archipelago,
    say: Callable[[str], None],
) -> Origin | None:
    """Restore the newest usable checkpoint, and report why newer ones are not usable; collective.

    Use a checkpoint without its records only if there is no other. Return None if there is no
    checkpoint; refuse if all are unusable.
    """
    names = world.bcast(world.run_on_all(lambda: newest_first(run) if world.rank == 0 else []))
    refused: list[str] = []
    without_records: list[str] = []

    def tried(name: str, *, needs_records: bool) -> Origin | None:
        origin, fault = _tried(run, name, spec, problem, identity, archipelago)
        faults = [each for each in world.allgather(fault) if each is not None]
        if origin is not None and not faults:
            losses = shared_losses(origin.losses, world)
            if not (losses and needs_records):
                archipelago.renew_halo()
                say(f"resumed from generation {origin.moment.generation}   {CHECKPOINTS}/{name}")
                return replace(origin, losses=losses)
            without_records.append(name)
            say(f"skipped {CHECKPOINTS}/{name}, looking for one with records: {_first(losses)}")
            return None
        refused.append(f"{CHECKPOINTS}/{name}: {faults[0]}")
        say(f"refused {refused[-1]}")
        return None

    for name in names:
        if (origin := tried(name, needs_records=True)) is not None:
            return origin
    for name in without_records:
        if (origin := tried(name, needs_records=False)) is not None:
            for reason in origin.losses.values():
                say(f"no other checkpoint, so {reason}")
            return origin
    world.run_on_all(lambda: _require_one(run, refused))
    say("starts again, as there is no checkpoint yet")
    return None


def _first(losses: Losses) -> str:
    return next(iter(losses.values()))


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
    try:
        checkpoint = inside(run, CHECKPOINTS, name)
        with parsing(checkpoint):
            manifest = Manifest.read(checkpoint, identity)
            moment, mine = manifest.moment, archipelago.mine
            needed = _needed(manifest, archipelago.held)
            parts = [_part(checkpoint, each, archipelago) for each in needed]
            state = _joined(parts)
            archipelago.restore(state, generation=moment.generation, migrations=manifest.migrations)
    except InputError as error:
        return None, str(error)
    visits = Visits.of(spec)
    earlier = {
        kind.folder: earlier_rows(run, kind, kind.schema(problem), manifest, mine, visits)
        for kind in records(spec)
    }
    losses = {path: why for each in earlier.values() for path, why in each.losses.items()}
    rows = {folder: each.rows for folder, each in earlier.items()}
    return Origin(name, moment, rows, losses), None


def _needed(manifest: Manifest, mine: range) -> list[RankFile]:
    """Return the parts that contain islands of this rank."""
    found = [each for each in manifest.parts if _common(_islands_of(each), mine)]
    if sum(len(_common(_islands_of(each), mine)) for each in found) != len(mine):
        raise InputError(f"its files do not contain islands {mine.start} to {mine.stop - 1}")
    return found


def _islands_of(part: RankFile) -> range:
    return range(part.first, part.first + part.islands)


def _common(one: range, other: range) -> range:
    return range(max(one.start, other.start), min(one.stop, other.stop))


def _part(checkpoint: Path, part: RankFile, archipelago: Archipelago) -> dict[str, NDArray[Any]]:
    """Return the rows of this rank's islands of each array of a file."""
    path = inside(checkpoint, part.file)
    with reading(path):
        size = path.stat().st_size
    if size != part.bytes:
        raise InputError(f"{part.file}: has {size} bytes instead of {part.bytes}")
    with reading(path), opened(path) as stream:
        require_dense(path, stream)
    if digest(path) != part.sha256:
        raise InputError(f"{part.file}: {MISMATCH}")
    found = {}
    with arrays_file(path) as arrays:
        for name in arrays.files:
            # An array has a row for each island of its colony.
            rows = _common(_islands_of(part), archipelago.covered(name))
            if wanted := _common(rows, archipelago.held):
                found[name] = arrays[name][wanted.start - rows.start : wanted.stop - rows.start]
    return found


def _joined(parts: list[dict[str, NDArray[Any]]]) -> dict[str, NDArray[Any]]:
    """Return the arrays of several files, whose rows follow each other."""
    names = dict.fromkeys(name for part in parts for name in part)
    return {name: np.concatenate([part[name] for part in parts if name in part]) for name in names}


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
    visits: Visits,
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
    table = table.filter(pa.array(wanted & visits.include(generation)))
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
