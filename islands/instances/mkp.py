"""Read instances of the multidimensional knapsack problem in any of their formats."""

from __future__ import annotations

from pathlib import Path

from islands.errors import InputError, UsageError
from islands.instances.formats import recognised
from islands.instances.lines import Lines
from islands.instances.mkp_file import MkpFile
from islands.instances.mkp_layouts import read_drake, read_sac94
from islands.instances.numbers import Numbers
from islands.instances.orlib import read_orlib
from islands.paths import without_gz
from islands.text import unknown

__all__ = ["FORMATS", "MkpFile", "read_mkp"]

FORMATS = ("orlib", "sac94", "drake")


def read_mkp(path: Path, form: str | None = None, part: int | None = None) -> MkpFile:
    """Return an instance from a file, plain or gzipped; `part` is its index in the file.

    Recognise the format if it is not given.
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
            raise InputError(f"{path}:{part:02}: the file contains one problem. Name {path}")
        return read_sac94(numbers, name) if form == "sac94" else read_drake(numbers, name)
