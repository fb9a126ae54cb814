"""The manifest of a checkpoint: what it holds of which run. Without one, there is no checkpoint."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

import islands
from islands.errors import InputError
from islands.paths import published, reading
from islands.run.epochs import Moment
from islands.run.folder import MANIFEST
from islands.run.stop import Progress

FORMAT = 1


@dataclass(frozen=True)
class Part:
    """What one rank has written: the state of its islands, and the rows of its records by then."""

    first: int
    islands: int
    file: str
    bytes: int
    sha256: str
    rows: Mapping[str, int]


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
        values = _values(checkpoint / MANIFEST)
        if values["format"] != FORMAT:
            raise InputError(f"{MANIFEST}: is of format {values['format']}, not {FORMAT}")
        if values["run"] != run:
            raise InputError(
                f"{MANIFEST}: is of another run, with other settings or another instance"
            )
        if values.pop("sha256", None) != content_digest(values):
            raise InputError(f"{MANIFEST}: has not the content that was written")
        try:
            moment, before = values["moment"], values["moment"]["before"]
            return cls(
                run=run,
                start=values["start"],
                migrations=values["migrations"],
                moment=Moment(
                    generation=moment["generation"],
                    seconds=moment["seconds"],
                    before=Progress(**before) if before is not None else None,
                ),
                parts=tuple(Part(**part) for part in values["parts"]),
            )
        except (KeyError, TypeError) as error:
            raise InputError(f"{MANIFEST}: lacks or misnames {error}") from error


def _values(path: Path) -> dict[str, Any]:
    try:
        with reading(path):
            values = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise InputError(f"{MANIFEST}: is damaged or cut off: {error}") from error
    if not isinstance(values, dict) or not {"format", "run"} <= values.keys():
        raise InputError(f"{MANIFEST}: is no manifest of a checkpoint")
    return values


def content_digest(values: Mapping[str, Any]) -> str:
    """Return the SHA-256 of a manifest's values, but for that itself."""
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()
