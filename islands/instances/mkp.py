"""Reads instances of the multidimensional knapsack problem, whichever format they have."""

from __future__ import annotations

from pathlib import Path

from islands.errors import InputError, UsageError
from islands.instances.drake import read_drake
from islands.instances.formats import recognised
from islands.instances.lines import Lines
from islands.instances.mkp_file import MkpFile
from islands.instances.numbers import Numbers
from islands.instances.orlib import read_orlib
from islands.instances.sac94 import read_sac94
from islands.paths import without_gz
from islands.text import unknown

__all__ = ["FORMATS", "MkpFile", "read_mkp"]

FORMATS = ("orlib", "sac94", "drake")


def read_mkp(path: Path, form: str | None = None, part: int | None = None) -> MkpFile:
    """Return an instance from a file, plain or gzipped; `part` is its number in a file of many.

    A format that is not named is recognised.
    """
    form = form or recognised(path)
    if form not in FORMATS:
        raise UsageError(f"{path}: {unknown('format of knapsacks', form, FORMATS)}")
    name = Path(without_gz(path.name)).stem
    with Lines.open(path) as lines:
        numbers = Numbers(lines)
        if form == "orlib":
            return read_orlib(numbers, name, part)
        if part:
            raise InputError(f"{path}:{part:02}: the file holds one problem. Name {path}")
        return read_sac94(numbers, name) if form == "sac94" else read_drake(numbers, name)
