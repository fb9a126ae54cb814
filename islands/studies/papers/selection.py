"""Select the instances of tables by the names and patterns in `--only`."""

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from islands.errors import InputError, UsageError
from islands.instances.locate import VARIABLE, Index, Located
from islands.studies.papers.table import PaperTable
from islands.text import counted, either, nearest, unknown

_LISTED, _NEAR = 30, 5
"""Maximum number of names that a message lists: all names, or else only similar ones."""


@dataclass(frozen=True)
class Selection:
    """A table and its selected instances: available ones, and those whose files are missing."""

    table: type[PaperTable]
    available: list[Located]
    missing: list[str]


def select(tables: Sequence[type[PaperTable]], only: Sequence[str]) -> list[Selection]:
    """Return the tables with instances that match `only`; all instances if it is empty."""
    index = Index()
    instances = {table: table.instances(index) for table in tables}
    known = [instance.name for listed in instances.values() for instance in listed]
    for name in only:
        if not any(_matches(name, full) for full in known):
            raise UsageError(f"--only: {_unknown(name, known)}")
    picked = {
        table: [i for i in listed if not only or any(_matches(o, i.name) for o in only)]
        for table, listed in instances.items()
    }
    return [_checked(table, listed) for table, listed in picked.items() if listed or not only]


def _matches(pattern: str, full: str) -> bool:
    """Return whether a name or pattern matches a full name, or its part after the set."""
    return any(fnmatchcase(name, pattern) for name in (full, full.partition("/")[2]))


def _unknown(name: str, known: Sequence[str]) -> str:
    """Return the message for a name that matches no instance, with similar names."""
    short = [*dict.fromkeys(full.partition("/")[2] for full in known)]
    if len(short) <= _LISTED:
        return unknown("instance", name, short)
    near = nearest(name.rpartition("/")[2], short, _NEAR)
    hint = f"Did you mean {either(near)}?" if near else "None of their names is similar."
    return (
        f"unknown instance {name!r}: none of the {len(short)} instances of these tables. {hint}"
        " Specify some exactly or by a pattern, such as nug*"
    )


def _checked(table: type[PaperTable], picked: list[Located]) -> Selection:
    available = [instance for instance in picked if instance.path is not None]
    missing = [instance.name for instance in picked if instance.path is None]
    if missing and (table.needs_all or not available):
        set_name = missing[0].partition("/")[0]
        raise InputError(
            f"the table {table.name} needs {counted(len(missing), 'missing instance')}:"
            f" {', '.join(missing)}. Run `islands instances fetch {set_name}`, set {VARIABLE} to"
            f" a folder that contains a folder {set_name}, or select others with --only"
        )
    return Selection(table, available, missing)
