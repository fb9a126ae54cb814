"""Read the tables and other data of studies from TOML files beside the code that uses them.

A table has `columns`, and optionally lines of text `above` its header. A string is the name of a
column that is written to files but not printed; other columns list the arguments of `Column`, in
order or by name. "*NAME" stands for the columns listed under `shared`. A form is a Python format, a
template such as "{:.1f} ms", or the name of a function. A value is the path of an attribute (in a
column without a name, the name of a cell), a template with cells such as "{reached}/{runs}", or the
name of a function.
"""

import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from functools import cache
from operator import attrgetter, itemgetter
from pathlib import Path
from typing import Any

from islands.tables import Column, Table
from islands.text import count, gap

_ARGUMENTS = [field.name for field in fields(Column)]
_FUNCTIONS: Mapping[str, Callable[[Any], Any]] = {"count": count, "gap": gap}
"""Functions that every file may name."""


@cache
def described(path: Path) -> Mapping[str, Any]:
    """Return the contents of a file."""
    return tomllib.loads(path.read_text(encoding="utf-8"))


def table(path: Path, name: str, **functions: Callable[[Any], Any]) -> Table:
    """Return a table of a file; its columns refer to `functions` by name."""
    entry = described(path)[name]
    return Table(name, columns(path, entry["columns"], **functions), entry.get("above", ""))


def columns(
    path: Path, entries: Iterable[Any], **functions: Callable[[Any], Any]
) -> tuple[Column, ...]:
    """Return the columns of entries in a file."""
    shared = described(path).get("shared", {})
    return tuple(_column(entry, {**_FUNCTIONS, **functions}) for entry in spliced(entries, shared))


def spliced(entries: Iterable[Any], shared: Mapping[str, Any]) -> list[Any]:
    """Return entries with the shared lists in place of their names."""
    result = []
    for entry in entries:
        is_name = isinstance(entry, str) and entry.startswith("*")
        result += spliced(shared[entry[1:]], shared) if is_name else [entry]
    return result


def _column(entry: Any, functions: Mapping[str, Any]) -> Column:
    if isinstance(entry, str):
        return Column(entry)
    # The last arguments may be omitted.
    given = entry if isinstance(entry, dict) else dict(zip(_ARGUMENTS, entry, strict=False))
    return Column(**{"name": ""} | given | _computed(given, functions))


def _computed(given: Mapping[str, Any], functions: Mapping[str, Any]) -> dict[str, Any]:
    """Return the form and the value of a column, with functions in place of their names."""
    arguments, form, value = dict[str, Any](), given.get("form"), given.get("value")
    if form is not None:
        arguments["form"] = form.format if "{" in form else functions.get(form, form)
    if value is not None and "{" in value:
        arguments["value"] = value.format_map
    elif value is not None:
        get = attrgetter if given.get("name") else itemgetter
        arguments["value"] = functions.get(value) or get(value)
    return arguments
