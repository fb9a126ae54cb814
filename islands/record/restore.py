"""Restore the newest valid checkpoint, on any number of ranks.

If the records of a checkpoint are lost, the run continues without them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from islands.archipelago.archipelago import Archipelago
from islands.configuration.resolved import Resolved
from islands.errors import InputError
from islands.inside import inside
from islands.parallel import World
from islands.paths import reading
from islands.progress.progress import Moment
from islands.record.checkpoint import Manifest, RankFile, digest, newest_first
from islands.record.files import arrays_file
from islands.record.folder import CHECKPOINTS, how_to_repeat
from islands.record.records import kinds_of
from islands.record.stream import Extent, first_rows, rows_path
from islands.untrusted import MISMATCH, parsing

if TYPE_CHECKING:
    import pyarrow as pa

    from islands.record.records import Record


Losses = Mapping[Path, str]
"""Files of records that could not be read, and the reasons."""
_DAMAGED = ".damaged"
"""The suffix of files with unreadable rows, which are never removed."""


@dataclass(frozen=True)
class Origin:
    """The checkpoint from which a run was restored."""

    name: str
    moment: Moment
    earlier: Mapping[str, pa.Table]
    """The rows of this rank's records up to the checkpoint."""
    losses: Losses
    """The losses of the records of all ranks."""


def restore(
    run: Path,
    resolved: Resolved,
    identity: str,
    world: World,
    archipelago: Archipelago,
    say: Callable[[str], None],
) -> Origin | None:
    """Restore the newest usable checkpoint, and report why newer ones are unusable; collective.

    Prefer checkpoints whose records are intact. Return None if there is no checkpoint; raise an
    error if none of them is usable.
    """
    names = world.from_first(lambda: newest_first(run))
    rejected: list[str] = []
    without_records: list[str] = []

    def attempt(name: str, *, needs_records: bool) -> Origin | None:
        origin, fault = None, None
        try:
            origin = _restored(run, name, resolved, identity, archipelago)
        except InputError as error:
            fault = str(error)
        faults = [reason for reason in world.allgather(fault) if reason is not None]
        if origin is None or faults:
            rejected.append(f"{CHECKPOINTS}/{name}: {faults[0]}")
            say(f"rejected {rejected[-1]}")
            return None
        gathered = world.allgather(origin.losses)
        losses = {path: reason for rank_losses in gathered for path, reason in rank_losses.items()}
        if losses and needs_records:
            without_records.append(name)
            first = next(iter(losses.values()))
            say(f"skipped {CHECKPOINTS}/{name}, looking for one with records: {first}")
            return None
        archipelago.renew_halo()
        say(f"resumed from generation {origin.moment.generation}   {CHECKPOINTS}/{name}")
        return replace(origin, losses=losses)

    for name in names:
        if (origin := attempt(name, needs_records=True)) is not None:
            return origin
    for name in without_records:
        if (origin := attempt(name, needs_records=False)) is not None:
            for reason in origin.losses.values():
                say(f"no other checkpoint, so {reason}")
            return origin
    world.run_on_all(lambda: _require_none(run, rejected))
    say("starts again, as there is no checkpoint yet")
    return None


def _require_none(run: Path, rejected: list[str]) -> None:
    if rejected:
        raise InputError(
            f"{run}: no checkpoint can be used: {'; '.join(rejected)}."
            f" Start again with: {how_to_repeat(run)}"
        )


def _restored(
    run: Path,
    name: str,
    resolved: Resolved,
    identity: str,
    archipelago: Archipelago,
) -> Origin:
    """Restore the islands of this rank; return the checkpoint with the losses of this rank."""
    checkpoint = inside(run, CHECKPOINTS, name)
    with parsing(checkpoint):
        manifest = Manifest.read(checkpoint, identity)
        moment, held = manifest.moment, archipelago.held
        needed = [file for file in manifest.parts if _common(file.span, held)]
        if sum(len(_common(file.span, held)) for file in needed) != len(held):
            raise InputError(f"its files do not contain islands {held.start} to {held.stop - 1}")
        parts = [_part(checkpoint, file, archipelago) for file in needed]
        names = dict.fromkeys(name for part in parts for name in part)
        # Files are ordered by island.
        state = {
            name: np.concatenate([part[name] for part in parts if name in part]) for name in names
        }
        archipelago.restore(state, generation=moment.generation, migrations=manifest.migrations)
    rows: dict[str, pa.Table] = {}
    losses: dict[Path, str] = {}
    for kind in kinds_of(resolved.spec):
        rows[kind.folder], lost = _earlier_rows(run, kind, resolved, manifest, archipelago.recorded)
        losses |= lost
    return Origin(name, moment, rows, losses)


def _common(one: range, other: range) -> range:
    return range(max(one.start, other.start), min(one.stop, other.stop))


def _part(checkpoint: Path, part: RankFile, archipelago: Archipelago) -> dict[str, NDArray[Any]]:
    """Return the arrays of a file, restricted to the islands of this rank."""
    path = inside(checkpoint, part.file)
    with reading(path):
        size = path.stat().st_size
    if size != part.bytes:
        raise InputError(f"{part.file}: has {size} bytes instead of {part.bytes}")
    if digest(path) != part.sha256:
        raise InputError(f"{part.file}: {MISMATCH}")
    arrays = {}
    with arrays_file(path) as stored:
        for name in stored.files:
            # An array has a row for each island of its colony.
            rows = _common(part.span, archipelago.covered(name))
            if needed := _common(rows, archipelago.held):
                arrays[name] = stored[name][needed.start - rows.start : needed.stop - rows.start]
    return arrays


def _earlier_rows(
    run: Path,
    kind: type[Record],
    resolved: Resolved,
    manifest: Manifest,
    mine: range,
) -> tuple[pa.Table, Losses]:
    """Return the rows of this rank's islands up to the checkpoint, and the losses."""
    import pyarrow as pa

    folder, schema = inside(run, kind.folder), kind.schema(resolved.problem)
    tables, losses, until = [schema.empty_table()], {}, manifest.moment.generation
    for rank, part in enumerate(manifest.parts):
        if _common(part.span, mine):
            extent = part.records.get(kind.folder, Extent(0, ""))
            try:
                tables.append(first_rows(folder, rank, manifest.start, schema, extent))
            except InputError as error:
                losses[rows_path(folder, rank, manifest.start)] = (
                    f"the {kind.folder} of islands {part.span[0]} to {part.span[-1]} is lost up"
                    f" to generation {until}: {error}"
                )
    table = pa.concat_tables(tables)
    island, generation = (table.column(name).to_numpy() for name in (kind.island, "generation"))
    wanted = (island >= mine.start) & (island < mine.stop)
    wanted &= generation <= (until - 1 if kind.describes_state else until)
    wanted &= resolved.spec.visits.include(generation)
    return kind.ordered(table.filter(pa.array(wanted))), losses


def set_aside(losses: Losses) -> None:
    """Rename unreadable files so that they are not overwritten."""
    for path in filter(Path.exists, losses):
        names = (f"{path.name}{_DAMAGED}-{number}" for number in count(1))
        path.rename(next(new for new in map(path.with_name, names) if not new.exists()))
