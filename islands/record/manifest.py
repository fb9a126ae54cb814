"""The manifest of a checkpoint, which identifies its run and files and makes it valid."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

import islands
from islands.configuration.spec import FORMAT
from islands.errors import InputError
from islands.inside import inside
from islands.paths import published
from islands.progress.progress import Moment, Progress
from islands.record.folder import MANIFEST
from islands.record.stream import Extent
from islands.untrusted import MISMATCH, bounded_text, parsing, typed

LONGEST = 1 << 24
"""Bytes; those of 30000 ranks have fewer."""
_RANK_FILE = re.compile(r"rank-\d+\.npz")


@dataclass(frozen=True)
class RankFile:
    """The file of one rank: the state of its islands, and the extents of its records."""

    first: int
    islands: int
    file: str
    bytes: int
    sha256: str
    records: Mapping[str, Extent]


@dataclass(frozen=True)
class Manifest:
    """All data of a checkpoint except the states."""

    run: str
    """The identity of the run."""
    start: int
    """The number of the start that wrote it and the records that belong to it."""
    migrations: int
    moment: Moment
    parts: tuple[RankFile, ...]

    def write(self, checkpoint: Path) -> None:
        """Write the manifest, which makes the checkpoint valid."""
        values = {"format": FORMAT, "islands": islands.__version__, **asdict(self)}
        values["sha256"] = content_digest(values)
        with published(inside(checkpoint, MANIFEST)) as temporary:
            temporary.write_text(json.dumps(values, indent=1), encoding="utf-8")

    @classmethod
    def read(cls, checkpoint: Path, run: str) -> Self:
        """Return the manifest of a checkpoint of this run; refuse others."""
        path = checkpoint / MANIFEST
        with parsing(path):
            values = json.loads(bounded_text(path, LONGEST))
            if not isinstance(values, dict):
                raise InputError(f"{MANIFEST}: is not the manifest of a checkpoint")
            _require_own_format(values)
            if values.pop("sha256", None) != content_digest(values):
                raise InputError(f"{MANIFEST}: {MISMATCH}")
            _require_own_version(values)
            if values["run"] != run:
                raise InputError(
                    f"{MANIFEST}: belongs to a run with other settings or another instance"
                )
            return cls._of(values)

    @classmethod
    def _of(cls, values: Mapping[str, Any]) -> Self:
        moment = values["moment"]
        before = moment["before"]
        return cls(
            run=values["run"],
            start=_natural(values["start"]),
            migrations=_natural(values["migrations"]),
            moment=Moment(
                generation=_natural(moment["generation"]),
                seconds=float(moment["seconds"]),
                before=typed(Progress, before) if before is not None else None,
            ),
            parts=tuple(map(_rank_file, values["parts"])),
        )


def _require_own_format(values: Mapping[str, Any]) -> None:
    form = values.get("format")
    if form != FORMAT or isinstance(form, bool):
        raise InputError(f"{MANIFEST}: has format {form}, but the current format is {FORMAT}")


def _require_own_version(values: Mapping[str, Any]) -> None:
    """Refuse checkpoints of another minor version, whose kernels may differ."""
    written, own = str(values.get("islands")), islands.__version__
    if written.split(".")[:2] != own.split(".")[:2]:
        raise InputError(
            f"{MANIFEST}: was written by islands {written}, but this is islands {own}."
            " Resume with the version that wrote it"
        )


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


def content_digest(values: Mapping[str, Any]) -> str:
    """Return the SHA-256 of a manifest's other values."""
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()
