"""The catalogue of published sets, their instances and best known values.

A set is a CSV file in the folder `instances` and a table in `sets.toml`.
"""

import csv
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from islands.errors import UsageError
from islands.paths import data_folder
from islands.text import unknown


@dataclass(frozen=True)
class BestKnown:
    """The best known value of an instance; `status` is `optimal` or `best_known`."""

    value: float
    """An integer unless the instance has decimals."""
    status: str
    source: str


@dataclass(frozen=True)
class Entry:
    """One instance of a set; `constraints` is None if the problem has none."""

    set: str
    name: str
    problem: str
    size: int
    best_known: BestKnown | None
    file: str
    """The uncompressed published file, relative to the set's folder."""
    bytes: int
    sha256: str
    part: int | None = None
    """Index of the instance in its file, from 0, if the file contains several."""
    constraints: int | None = None
    format: str = ""
    """The format of its file, if it is not that of the set."""

    @property
    def full_name(self) -> str:
        """The unambiguous name, `set/name`."""
        return f"{self.set}/{self.name}"


@dataclass(frozen=True)
class InstanceSet:
    """A published set. `base` is the URL of its files, empty if they are not downloaded one by one.

    `format` is the format of its files; empty if it is recognised from each file. The files of a
    set that `is_generated` are written on first use.
    """

    name: str
    title: str
    home: str
    base: str
    pattern: str
    remarks: str
    entries: dict[str, Entry]
    format: str = ""
    is_generated: bool = False

    @property
    def is_embedded(self) -> bool:
        """Whether its files come with the program."""
        return not (self.home or self.is_generated)

    def url(self, file: str, base: str | None = None) -> str:
        """Return the address of a published file, or of its copy on the mirror `base`."""
        return f"{(base or self.base).rstrip('/')}/{self.pattern.format(file=file)}"


@dataclass(frozen=True)
class Catalogue:
    """All sets by name."""

    sets: dict[str, InstanceSet]

    def set(self, name: str) -> InstanceSet:
        """Return the set of that name."""
        if name not in self.sets:
            raise UsageError(unknown("set", name, self.sets))
        return self.sets[name]

    def entry(self, set_name: str, name: str) -> Entry | None:
        """Return an instance of a set, or None if it is unknown."""
        known = self.sets.get(set_name)
        return known.entries.get(name) if known else None

    def of_file(self, set_name: str, name: str, part: int | None) -> Entry | None:
        """Return the instance that a file of this set contains, or None."""
        entries = self.sets[set_name].entries.values() if set_name in self.sets else ()
        return next((e for e in entries if (Path(e.file).name, e.part) == (name, part)), None)

    def named(self, name: str) -> list[Entry]:
        """Return the instances with this name in all sets."""
        return [known.entries[name] for known in self.sets.values() if name in known.entries]

    def names(self) -> list[str]:
        """Return the full names of all instances, set by set."""
        return [e.full_name for known in self.sets.values() for e in known.entries.values()]


@cache
def catalogue() -> Catalogue:
    """Return the catalogue that comes with the program."""
    return read_catalogue(data_folder("instances"))


def read_catalogue(folder: Path) -> Catalogue:
    """Return the catalogue in a folder."""
    tables = tomllib.loads((folder / "sets.toml").read_text())
    return Catalogue(
        {
            name: InstanceSet(name=name, entries=_read_entries(folder / f"{name}.csv"), **table)
            for name, table in tables.items()
        }
    )


def _read_entries(path: Path) -> dict[str, Entry]:
    with path.open(newline="") as stream:
        return {row["name"]: _entry(path.stem, row) for row in csv.DictReader(stream)}


def _entry(set_name: str, row: dict[str, str]) -> Entry:
    known = BestKnown(int(row["value"]), row["status"], row["source"]) if row["value"] else None
    return Entry(
        set=set_name,
        name=row["name"],
        problem=row["problem"],
        size=int(row["size"]),
        constraints=_number(row.get("constraints")),
        format=row.get("format") or "",
        best_known=known,
        file=row["file"],
        part=_number(row.get("part")),
        bytes=int(row["bytes"]),
        sha256=row["sha256"],
    )


def _number(text: str | None) -> int | None:
    return int(text) if text else None
