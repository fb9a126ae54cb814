"""The names of many instances: by pattern, of a folder, and from a list."""

from __future__ import annotations

import glob
import sys
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from pathlib import Path

from islands.errors import UsageError
from islands.instances.catalogue import catalogue
from islands.paths import expanded, reading

LIST = "@"
"""Begins the name of a file with a list of instances."""
STANDARD_INPUT = "-"
_SOLUTIONS = (".tour", ".sln", ".sol", ".opt", ".py", ".md", ".csv")
"""Suffixes of files next to instances in their folders, which are none themselves."""


def listed(words: Iterable[str]) -> list[str]:
    """Return the names of all instances that the words of a command mean, each once.

    A word is a name; a pattern of files, or of names in the catalogue, such as
    `orlib/mknapcb1-*`; a folder; `@FILE`, a text file with a word on each line; or `-`, the same
    from standard input.
    """
    return list(dict.fromkeys(name for word in words for name in _named(word)))


def _named(word: str) -> Iterator[str]:
    if word == STANDARD_INPUT:
        yield from _of_lines(sys.stdin.read())
    elif word.startswith(LIST):
        path = expanded(word.removeprefix(LIST))
        with reading(path):
            text = path.read_text(encoding="utf-8")
        yield from _of_lines(text)
    elif (folder := expanded(word)).is_dir():
        yield from _files(folder)
    elif glob.has_magic(word) and not expanded(word).exists():
        yield from _matching(word)
    else:
        yield word


def _of_lines(text: str) -> Iterator[str]:
    for line in text.splitlines():
        word = line.strip()
        if word and not word.startswith("#"):
            yield from [word] if word.startswith((LIST, STANDARD_INPUT)) else _named(word)


def _files(folder: Path) -> Iterator[str]:
    with reading(folder):
        files = [str(each) for each in sorted(folder.iterdir()) if _may_be_instance(each)]
    if not files:
        raise UsageError(f"{folder}: has no files of instances. Name a folder that has some")
    yield from files


def _may_be_instance(path: Path) -> bool:
    is_hidden = path.name.startswith(".")
    return path.is_file() and not is_hidden and path.suffix.lower() not in _SOLUTIONS


def _matching(pattern: str) -> Iterator[str]:
    """Yield the files that match a pattern, or else the names in the catalogue."""
    path = expanded(pattern)
    found = Path(path.anchor).glob(str(path.relative_to(path.anchor)))
    files = [str(each) for each in sorted(found) if each.is_file()]
    names = files or [each for each in catalogue().names() if fnmatchcase(each, pattern)]
    if not names:
        raise UsageError(
            f"{pattern}: matches no file and no instance of the catalogue. See the names with:"
            " islands instances list"
        )
    yield from names
