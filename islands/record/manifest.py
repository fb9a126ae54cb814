"""The manifest of a checkpoint: what it holds of which run. Without one, there is no checkpoint."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

import islands
from islands.errors import InputError
from islands.paths import published
from islands.progress.progress import Moment, Progress
from islands.record.folder import MANIFEST
from islands.record.stream import Extent
from islands.spec.spec import FORMAT
from islands.untrusted import MISMATCH, bounded_text, parsing, typed

_LONGEST = 1 << 28
_PART = re.compile(r"rank-\d+\.npz")


@dataclass(frozen=True)
class Part:
    """What one rank has written: the state of its islands, and how far its records go by then."""

    first: int
    islands: int
    file: str
    bytes: int
    sha256: str
    records: Mapping[str, Extent]


@dataclass(frozen=True)
class Manifest:
    """All of a checkpoint but the states themselves."""

    run: str
    """What tells this run from others."""
    start: int
    """Which start of the run wrote it, and the records that belong to it."""
    migrations: int
    moment: Moment
    parts: tuple[Part, ...]

    def write(self, checkpoint: Path) -> None:
        """Make the checkpoint count."""
        values = {"format": FORMAT, "islands": islands.__version__, **asdict(self)}
        values["sha256"] = content_digest(values)
        with published(checkpoint / MANIFEST) as temporary:
            temporary.write_text(json.dumps(values, indent=1), encoding="utf-8")

    @classmethod
    def read(cls, checkpoint: Path, run: str) -> Self:
        """Return the manifest of a checkpoint of this run; refuse any other."""
        path = checkpoint / MANIFEST
        with parsing(path):
            values = json.loads(bounded_text(path, _LONGEST))
            if not isinstance(values, dict):
                raise InputError(f"{MANIFEST}: is no manifest of a checkpoint")
            _require_own_format(values)
            if values.pop("sha256", None) != content_digest(values):
                raise InputError(f"{MANIFEST}: {MISMATCH}")
            _require_own_version(values)
            if values["run"] != run:
                raise InputError(
                    f"{MANIFEST}: is of another run, with other settings or another instance"
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
            parts=tuple(map(_part, values["parts"])),
        )


def _require_own_format(values: Mapping[str, Any]) -> None:
    form = values.get("format")
    if form != FORMAT or isinstance(form, bool):
        raise InputError(f"{MANIFEST}: is of format {form}, but this is format {FORMAT}")


def _require_own_version(values: Mapping[str, Any]) -> None:
    """Refuse what was written by a version with other kernels, which those of fixes have not."""
    written, own = str(values.get("islands")), islands.__version__
    if written.split(".")[:2] != own.split(".")[:2]:
        raise InputError(
            f"{MANIFEST}: was written by islands {written}, but this is islands {own}."
            " Resume with the version that wrote it"
        )


def _part(values: Mapping[str, Any]) -> Part:
    records = {name: typed(Extent, extent) for name, extent in values["records"].items()}
    part = typed(Part, values, records=records)
    if _PART.fullmatch(part.file) is None:
        raise ValueError(f"{part.file} is no file of a rank")
    for number in (part.first, part.islands, *(extent.rows for extent in records.values())):
        _natural(number)
    return part


def _natural(value: Any) -> int:
    if type(value) is not int or value < 0:
        raise ValueError(f"{value!r} is no whole number from 0")
    return value


def content_digest(values: Mapping[str, Any]) -> str:
    """Return the SHA-256 of a manifest's values, but for that itself."""
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()
