"""Checkpoints: `checkpoints/GENERATION.START/rank-000.npz`, valid when they have a manifest.

A run is started once, and again whenever it is resumed. These starts are numbered, and none of them
overwrites files of another one, so that a checkpoint and its records stay unchanged as long as they
are needed.
"""

import hashlib
import io
import json
import os
import re
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any, Self, cast

import numpy as np

import islands
from islands.archipelago.archipelago import Archipelago
from islands.configuration.spec import FORMAT
from islands.errors import InputError, UnwritableError
from islands.inside import inside, inside_all, opened
from islands.parallel import World
from islands.paths import publish, published, reading
from islands.progress.progress import Moment, Progress
from islands.record.folder import (
    CHECKPOINTS,
    MANIFEST,
    MIGRATIONS,
    TRACE,
    UNFINISHED,
    remove_checkpoint,
)
from islands.record.records import Record
from islands.record.stream import Extent, rank_and_start
from islands.untrusted import MISMATCH, bounded_text, content_digest, parsing, typed

LONGEST_MANIFEST = 1 << 24
"""Maximum number of bytes of a manifest: enough for more than 30000 ranks."""
_RANK_FILE = re.compile(r"rank-\d+\.npz")
_KEPT = 2
"""Number of checkpoints that a run keeps."""
_NAME = re.compile(r"([0-9]+)\.([0-9]+)")


@dataclass(frozen=True)
class RankFile:
    """The file of a rank with the state of its islands, and the extents of its records."""

    first: int
    islands: int
    file: str
    bytes: int
    sha256: str
    records: Mapping[str, Extent]

    @property
    def span(self) -> range:
        """The numbers of its islands."""
        return range(self.first, self.first + self.islands)


@dataclass(frozen=True)
class Manifest:
    """The content of a checkpoint, except its arrays."""

    run: str
    """The identity of the run."""
    start: int
    """The number of the start that wrote the checkpoint and its records."""
    migrations: int
    moment: Moment
    parts: tuple[RankFile, ...]

    def write(self, checkpoint: Path) -> None:
        """Write the manifest, which makes the checkpoint valid."""
        values = {"format": FORMAT, "islands": islands.__version__, **asdict(self)}
        values["sha256"] = content_digest(values)
        publish(inside(checkpoint, MANIFEST), json.dumps(values, indent=1))

    @classmethod
    def read(cls, checkpoint: Path, run: str) -> Self:
        """Return the manifest of a checkpoint of this run; reject others."""
        path = checkpoint / MANIFEST
        with parsing(path):
            values = json.loads(bounded_text(path, LONGEST_MANIFEST))
            if fault := _fault(values, run):
                raise InputError(f"{MANIFEST}: {fault}")
            moment = values["moment"]
            before = moment["before"]
            return cls(
                run=values["run"],
                start=_natural(values["start"]),
                migrations=_natural(values["migrations"]),
                moment=Moment(
                    generation=_natural(moment["generation"]),
                    seconds=float(moment["seconds"]),
                    before=None if before is None else typed(Progress, before),
                ),
                parts=tuple(map(_rank_file, values["parts"])),
            )


def _fault(values: Any, run: str) -> str:
    """Return why this run and version cannot use a manifest; an empty string if they can."""
    if not isinstance(values, dict):
        return "is not the manifest of a checkpoint"
    if type(values.get("format")) is not int or values["format"] != FORMAT:
        return f"has format {values.get('format')}, but the current format is {FORMAT}"
    if values.pop("sha256", None) != content_digest(values):
        return MISMATCH
    written, current = str(values.get("islands")), islands.__version__
    if written.split(".")[:2] != current.split(".")[:2]:  # the kernels may differ
        return (
            f"was written by islands {written}, but this is islands {current}. Resume with the"
            " version that wrote it"
        )
    if values["run"] != run:
        return "belongs to a run with other settings or another instance"
    return ""


def _rank_file(values: Mapping[str, Any]) -> RankFile:
    records = {name: typed(Extent, extent) for name, extent in values["records"].items()}
    part = typed(RankFile, values, records=records)
    if _RANK_FILE.fullmatch(part.file) is None:
        raise ValueError(f"{part.file} is not the file of a rank")
    for number in (part.first, part.islands, *(extent.rows for extent in records.values())):
        _natural(number)
    return part


def _natural(value: Any) -> int:
    if type(value) is not int or value < 0:
        raise ValueError(f"{value!r} is not a non-negative integer")
    return value


class Checkpoints:
    """Writes the checkpoints of one start of a run, and removes old ones."""

    def __init__(
        self,
        run: Path,
        identity: str,
        world: World,
        archipelago: Archipelago,
        records: Sequence[Record],
        start: int,
        resumed_from: str | None,
    ) -> None:
        self._run, self._identity, self._world = run, identity, world
        self._archipelago, self._records, self._start = archipelago, records, start
        self._kept = [resumed_from] if resumed_from is not None else []

    def keep(self, moment: Moment) -> None:
        """Write a checkpoint, and flush the records to disk; collective.

        Do nothing if this start has already written a checkpoint of this generation.
        """
        name = f"{moment.generation:012}.{self._start}"
        if name in self._kept:
            return
        folder = inside(self._run, CHECKPOINTS, name)
        parts = self._world.gather(self._world.run_on_all(lambda: self._write_arrays(folder)))
        migrations = self._archipelago.migrations
        manifest = Manifest(self._identity, self._start, migrations, moment, tuple(parts))
        self._world.from_first(lambda: manifest.write(folder))
        self._kept = [*self._kept, name][-_KEPT:]
        self._tidy()

    def _write_arrays(self, folder: Path) -> RankFile:
        extents = {record.folder: record.flushed() for record in self._records}
        path = folder / f"rank-{self._world.rank:03}.npz"
        with published(path) as temporary, temporary.open("wb") as stream:
            summed = HashingWriter(stream)
            # For mypy, `saved` could contain `allow_pickle`.
            saved = self._archipelago.snapshot(is_copied=False)
            np.savez(cast(IO[bytes], summed), **saved)  # type: ignore[arg-type]
            stream.flush()
            os.fsync(stream.fileno())
        mine = self._archipelago.recorded
        return RankFile(
            mine.start, len(mine), path.name, path.stat().st_size, summed.digest(), extents
        )

    def _tidy(self) -> None:
        if self._world.rank == 0:
            for checkpoint in inside_all(inside(self._run, CHECKPOINTS), "[0-9]*"):
                if checkpoint.name not in self._kept:
                    _remove(checkpoint)
            remove_streams(self._run, {*map(start_of, self._kept), self._start})


class HashingWriter(io.RawIOBase):
    """A stream that computes a checksum of what it writes, so that the file need not be read."""

    def __init__(self, to: IO[bytes]) -> None:
        self._to, self._sum = to, hashlib.sha256()

    def write(self, data: Any) -> int:
        """Write the data and update the checksum."""
        self._sum.update(data)
        return self._to.write(data)

    def digest(self) -> str:
        """Return the SHA-256 of the data written so far."""
        return self._sum.hexdigest()


def newest_first(run: Path) -> list[str]:
    """Return the names of checkpoints with a manifest, the newest first."""
    folder = inside(run, CHECKPOINTS)
    with reading(folder):
        names = [path.parent.name for path in folder.glob(f"*/{MANIFEST}")]
        return sorted(filter(_NAME.fullmatch, names), key=_order, reverse=True)


def next_start(run: Path) -> int:
    """Return the number of the next start, which is larger than that of any file in the folder."""
    names = [path.name for path in inside(run, CHECKPOINTS).glob("*")]
    starts = [start_of(name) for name in names if _NAME.fullmatch(name)]
    return 1 + max([*starts, *_starts_of_streams(run).values()], default=0)


def remove_obsolete(run: Path, start: int) -> None:
    """Remove what a finished run does not need: checkpoints of earlier starts, and streams."""
    for name in newest_first(run):
        if start_of(name) != start:  # the streams with its records are removed below
            _remove(inside(run, CHECKPOINTS, name))
    remove_streams(run, ())


def _remove(checkpoint: Path) -> None:
    """Remove a checkpoint, if possible; on NFS, this may fail until a later call."""
    with suppress(UnwritableError):
        remove_checkpoint(checkpoint)


def start_of(checkpoint: str) -> int:
    """Return the number of the start that wrote a checkpoint."""
    return _order(checkpoint)[1]


def remove_streams(run: Path, needed: Collection[int]) -> None:
    """Remove the streams of all starts except the needed ones, as far as possible."""
    for path, start in _starts_of_streams(run).items():
        if start not in needed:
            with suppress(OSError):
                path.unlink(missing_ok=True)


def digest(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with reading(path), opened(path) as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _order(name: str) -> tuple[int, int]:
    generation, _, start = name.partition(".")
    return int(generation), int(start)


def _starts_of_streams(run: Path) -> dict[Path, int]:
    folders = [inside(run, name) for name in (TRACE, MIGRATIONS)]
    paths = [path for folder in folders for path in folder.glob(f"rank-*{UNFINISHED}")]
    numbers = {path: rank_and_start(path.name) for path in paths}
    return {path: number[1] for path, number in numbers.items() if number is not None}
