"""Find the file of an instance by its name: `set/name`, a short name, or a path.

Search order: paths; the folders in `ISLANDS_INSTANCES`; the user's cache, where `islands instances
fetch` puts files; the embedded instances.
"""

import os
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from itertools import chain
from pathlib import Path

from islands.errors import InputError, UsageError
from islands.instances import generated
from islands.instances.catalogue import Entry, catalogue
from islands.instances.formats import FOUND_BY_NAME
from islands.paths import (
    cache_folder,
    data_folder,
    expanded,
    files_in,
    reading,
    suffix_of,
    without_gz,
)
from islands.text import nearest

VARIABLE = "ISLANDS_INSTANCES"

_DIGITS = 9


@dataclass(frozen=True)
class Located:
    """An instance found by name; `path` is None if it is published but its file is missing."""

    name: str
    path: Path | None
    entry: Entry | None
    """None for an instance that is not in the catalogue."""
    part: int | None = None
    """Index of the instance in its file, from 0, if the name gives one."""

    def file(self) -> Path:
        """Return the path; generate a missing file, or raise an error that says how to get it."""
        if self.path is None:
            set_name = self.name.partition("/")[0]
            if self.entry and catalogue().set(set_name).is_generated:
                return generated.file_of(self.entry)
            file = f"{set_name}/{Path(self.entry.file).name}" if self.entry else self.name
            known = catalogue().sets.get(set_name)
            get_it = f"Run `islands instances fetch {set_name}`, "
            if known is not None and not known.base:
                get_it = f"Get it from {known.home}, "
            raise InputError(
                f"the file of {self.name} is missing. {get_it}"
                f"or set {VARIABLE} to a folder that contains {file}{_absent_folders()}"
            )
        return self.path


class Index:
    """All files in the searched folders, by set and file name."""

    def __init__(self) -> None:
        self.files: dict[tuple[str, str], Path] = {}
        sets: dict[str, str] = {}  # by folder, as many files share a few folders
        for folder in _folders():
            for name, path in files_in(folder):
                parent = str(path).rpartition(os.sep)[0]
                if parent not in sets:
                    sets[parent] = set_of(path)
                self.files.setdefault((sets[parent], name), path)
        for instances in catalogue().sets.values():
            if instances.is_embedded:
                for entry in instances.entries.values():
                    self.files[instances.name, entry.file] = _embedded_file(entry)

    def of_entry(self, entry: Entry) -> Path | None:
        """Return the file of an instance of the catalogue, or None."""
        names = (entry.file, Path(entry.file).name)
        return next((self.files[entry.set, n] for n in names if (entry.set, n) in self.files), None)

    def others(self) -> dict[str, Path]:
        """Return the files that are not in the catalogue, by full name.

        Files that would have the same name keep their suffixes.
        """
        known = _published()
        unlisted = {
            (set_name, file): path
            for (set_name, file), path in self.files.items()
            if file.lower().endswith(FOUND_BY_NAME) and (set_name, file) not in known
        }
        taken = Counter([*catalogue().names(), *(_stem(*key) for key in unlisted)])
        return {
            _stem(*key) if taken[_stem(*key)] == 1 else "/".join(key): path
            for key, path in unlisted.items()
        }


@cache
def _published() -> frozenset[tuple[str, str]]:
    """Return the set and the name of each file of the catalogue, with and without its folder."""
    entries = chain.from_iterable(known.entries.values() for known in catalogue().sets.values())
    return frozenset((e.set, name) for e in entries for name in (e.file, Path(e.file).name))


class Finder:
    """Finds instances by their names, and caches the list of the files in the searched folders."""

    def __init__(self) -> None:
        self._seen: _Seen | None = None

    def find(self, instance: str, *, refresh: bool = True) -> Located:
        """Return the instance with this name; with `refresh`, also if its file is new."""
        path = expanded(instance)
        with reading(instance):
            if path.is_file():
                return _of_path(path, instance, None)
            file, part = split_part(path)
            if part is not None and file.is_file():
                return _of_path(file, instance, part)
            file_name, colon, title = path.name.rpartition(":")
            if colon and file_name and path.with_name(file_name).is_file():
                raise UsageError(
                    f"{instance}: {title!r} is not the number of a problem. Specify one by its"
                    f" position in the file, such as {instance[: -len(title) - 1]}:00"
                )
        if (embedded := _embedded(instance)) is not None:
            return embedded
        is_new = self._seen is None
        matches = self._matches(instance)
        if not matches and not is_new and refresh:
            self._seen = None
            matches = self._matches(instance)
        assert self._seen is not None, "the names were read to find matches"
        seen = self._seen
        set_name, _, name = instance.partition("/")
        if not matches and (unlisted := seen.index.files.get((set_name, name))):
            return Located(instance, unlisted, None)
        if not matches:
            raise _not_found(instance, path, seen.names)
        if len(matches) > 1:
            listed = ", ".join(matches)
            if not seen.stems.keys().isdisjoint(matches):
                raise UsageError(
                    f"{instance!r} matches several files: {listed}. Specify one of them"
                )
            raise UsageError(f"{instance!r} is in several sets. Specify one of {listed}")
        set_name, _, name = matches[0].partition("/")
        entry = catalogue().entry(set_name, name)
        if entry is None:
            return Located(matches[0], seen.others[matches[0]], None)
        return Located(entry.full_name, seen.index.of_entry(entry), entry)

    def _matches(self, instance: str) -> list[str]:
        if self._seen is None:
            self._seen = _Seen()
        stems = self._seen.stems
        # A stem that several files share, and that is not a name itself, matches all of them.
        return [
            name for name in self._seen.names if _is_called(instance, name, stems.get(name, name))
        ]


class _Seen:
    """The names of all instances, and the files in the searched folders."""

    def __init__(self) -> None:
        self.index = Index()
        self.others = self.index.others()
        self.names = [*catalogue().names(), *self.others]
        known = set(self.names)
        suffixed = (name for name in self.others if name.lower().endswith(FOUND_BY_NAME))
        stems = ((name, _stem(*name.split("/", 1))) for name in suffixed)
        self.stems = {name: stem for name, stem in stems if stem not in known}


def find(instance: str) -> Located:
    """Return the instance with this name."""
    return Finder().find(instance)


def _embedded(instance: str) -> Located | None:
    """Return the embedded instance with this full name; files in the folders cannot replace it."""
    set_name, _, name = instance.partition("/")
    entry = catalogue().entry(set_name, name)
    if entry is None or not catalogue().set(set_name).is_embedded:
        return None
    return Located(entry.full_name, _embedded_file(entry), entry)


def _embedded_file(entry: Entry) -> Path:
    return data_folder("instances") / entry.file


def _is_called(instance: str, *names: str) -> bool:
    """Return whether `instance` is one of these full names, with or without its set."""
    return any(instance in (name, name.partition("/")[2]) for name in names)


def split_part(path: Path) -> tuple[Path, int | None]:
    """Return the file and the number that `FILE:00` names, or `path` and None."""
    file, colon, number = path.name.rpartition(":")
    if not (file and colon and number.isascii() and number.isdigit() and len(number) <= _DIGITS):
        return path, None
    return path.with_name(file), int(number)


def set_of(path: Path) -> str:
    """Return the nearest parent folder with the name of a set, else the nearest parent."""
    parents = [parent.name for parent in path.absolute().parents]
    return next((name for name in parents if name in catalogue().sets), parents[0])


def _of_path(path: Path, instance: str, part: int | None) -> Located:
    set_name = set_of(path)
    entry = catalogue().of_file(set_name, without_gz(path.name), part)
    # Files of the embedded set are not named after their instances.
    if entry is not None and catalogue().set(set_name).is_embedded:
        entry = None
    return Located(entry.full_name if entry else instance, path, entry, part)


def _not_found(instance: str, path: Path, names: list[str]) -> InputError | UsageError:
    if instance and path.is_dir():
        return InputError(f"{instance}: is a folder. Specify an instance or its file")
    if instance and path.exists():
        return InputError(f"{instance}: is not a regular file. Specify the file of an instance")
    if suffix_of(split_part(path)[0].name) in FOUND_BY_NAME or instance.startswith(("/", ".", "~")):
        return InputError(f"{instance}: no such file. Correct the path, or specify an instance")
    near = _near(instance, names)
    hint = f" Did you mean {' or '.join(near)}?" if near else ""
    return UsageError(
        f"unknown instance {instance!r}.{hint} "
        f"`islands instances list` shows all; or give the path of a file{_absent_folders()}"
    )


def _near(instance: str, names: list[str]) -> list[str]:
    """Return a few full names similar to `instance`, with or without its set."""
    in_other_sets = [name for name in names if name.partition("/")[2] == Path(instance).name]
    if in_other_sets:
        return in_other_sets
    parts = [name for name in names if f"/{name}".rpartition("-")[0].endswith(f"/{instance}")]
    if instance and parts:
        return parts[:2]
    short = {name if "/" in instance else name.partition("/")[2]: name for name in names}
    return [short[near] for near in nearest(instance, short, 2)]


def _folders() -> Iterator[Path]:
    for name in os.environ.get(VARIABLE, "").split(os.pathsep):
        if name and _is_folder(Path(name)):
            yield Path(name)
    # A cache that cannot be created contains no instances.
    with suppress(InputError):
        yield cache_folder("instances")


def _absent_folders() -> str:
    """Return a note on searched paths that are not folders."""
    named = os.environ.get(VARIABLE, "").split(os.pathsep)
    absent = [name for name in named if name and not _is_folder(Path(name))]
    return f" ({VARIABLE} contains {', '.join(absent)}, not a folder)" if absent else ""


def _is_folder(path: Path) -> bool:
    """Return whether `path` is an accessible folder."""
    try:
        return path.is_dir()
    except OSError:
        return False


def _stem(set_name: str, file: str) -> str:
    return f"{set_name}/{Path(file).stem}"
